//! Collective operations.

use common::conformance::Items;
use common::conformance::items::UNWRITTEN;

use super::bench::{Bench, Stop, clean_margin, expect_packed};
use super::operations::Gathered;
use super::subject::{Dense, Subject};
use crate::checked::Item;

pub fn bcast(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let is_root = bench.rank == 0;
    let typed = if is_root { bench.filled(subject, data, salt) } else { bench.blank(subject, data) };
    // SAFETY: the bench has made the memory of the type.
    unsafe { bench.world.bcast((typed.address, subject.count(), &subject.datatype), 0) }?;
    match is_root {
        true => typed.expect_unchanged(data)?,
        false => typed.expect(data, &data.gathered(&data.filled(salt)))?,
    }
    Ok(())
}

/// The items of all ranks, one block after the other, which must not overlap.
fn disjoint_of_all_ranks<'a>(bench: &Bench<'_>, subject: &'a Subject) -> Result<&'a Items, Stop> {
    let ranks = bench.world.size()? as u32;
    let all = subject.of_all_ranks.get_or_init(|| Items::of(&subject.layout, subject.items * ranks));
    if bench.has_room(all) && all.are_disjoint() { Ok(all) } else { Err(Stop::Unsuitable) }
}

/// Every rank sends a contiguous type to rank 1, which receives the type.
pub fn gather(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    gather_to(bench, subject, salt, Some(1))
}

/// Every rank sends a contiguous type to all, which receive the type.
pub fn all_gather(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    gather_to(bench, subject, salt, None)
}

/// No rank sends an item, and rank 1 receives items of a type without data: both have the same type signature.
pub fn nothing_from_others(bench: &Bench<'_>, subject: &Subject, _: u64) -> Result<(), Stop> {
    if subject.items == 0 || !subject.data.values.is_empty() {
        return Err(Stop::Unsuitable);
    }
    let (none, typed) = (Dense::of(&[], &bench.own)?, bench.blank(subject, &subject.data));
    // SAFETY: nothing is sent, and the type has no data.
    unsafe {
        let from = (typed.address.cast_const(), none.count, &none.datatype);
        bench.world.gather_typed(from, (typed.address, subject.count(), &subject.datatype), 1)
    }?;
    Ok(typed.expect_unchanged(&subject.data)?)
}

fn gather_to(bench: &Bench<'_>, subject: &Subject, salt: u64, root: Option<usize>) -> Result<(), Stop> {
    let all = disjoint_of_all_ranks(bench, subject)?;
    let packed = all.gathered(&all.filled(salt));
    let mine = packed.len() / bench.world.size()?;
    let part = bench.packed_source(subject, &packed[bench.rank * mine..][..mine]);
    let typed = bench.blank(subject, all);
    let from = (part.start().cast_const(), subject.dense.count, &subject.dense.datatype);
    let to = (typed.address, subject.count(), &subject.datatype);
    // SAFETY: the part has the sent data, and the bench has made the memory of the type.
    unsafe {
        match root {
            Some(root) => bench.world.gather_typed(from, to, root),
            None => bench.world.all_gather_typed(from, to),
        }
    }?;
    match root.is_none_or(|root| root == bench.rank) {
        true => typed.expect(all, &packed)?,
        false => typed.expect_unchanged(all)?,
    }
    Ok(())
}

/// Odd ranks send a contiguous type to rank 1, which receives the type; the others send nothing.
pub fn gather_v(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    gather_some(bench, subject, salt, Some(1))
}

/// The same to all ranks.
pub fn all_gather_v(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    gather_some(bench, subject, salt, None)
}

/// Blocks of ranks are in descending order in memory, and those of even ranks are empty.
fn gather_some(bench: &Bench<'_>, subject: &Subject, salt: u64, root: Option<usize>) -> Result<(), Stop> {
    let (all, ranks) = (disjoint_of_all_ranks(bench, subject)?, bench.world.size()?);
    let mut packed = all.gathered(&all.filled(salt));
    let mine = packed.len() / ranks;
    let block = |rank: usize| (ranks - 1 - rank) * mine;
    let part = bench.packed_source(subject, &packed[block(bench.rank)..][..mine]);
    let sends = |rank: usize| rank % 2 == 1;
    for rank in (0..ranks).filter(|rank| !sends(*rank)) {
        packed[block(rank)..][..mine].fill(UNWRITTEN);
    }
    let typed = bench.blank(subject, all);
    let count = if sends(bench.rank) { subject.dense.count } else { 0 };
    let from = (part.start().cast_const(), count, &subject.dense.datatype);
    let blocks: Vec<_> = (0..ranks)
        .map(|rank| {
            (if sends(rank) { subject.count() } else { 0 }, (ranks - 1 - rank) as i32 * subject.count())
        })
        .collect();
    // SAFETY: the part has the sent data, and the bench has made the memory of the type for the blocks of all ranks.
    unsafe { bench.world.gather_blocks(from, (typed.address, &blocks, &subject.datatype), root) }?;
    match root.is_none_or(|root| root == bench.rank) {
        true => typed.expect(all, &packed)?,
        false => typed.expect_unchanged(all)?,
    }
    Ok(())
}

/// A reduction by exclusive or, which this program does value by value: predefined operations take predefined types only (MPI-4.1,
/// section 6.9.2).
pub fn reduce(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    const ROOT: usize = 1;
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let of_rank = |rank: usize| salt + ((rank as u64) << 20);
    let mut reduced = vec![0; data.bytes()];
    for rank in 0..bench.world.size()? {
        let packed = data.gathered(&data.filled(of_rank(rank)));
        reduced.iter_mut().zip(packed).for_each(|(sum, byte)| *sum ^= byte);
    }
    let (from, to) = (bench.filled(subject, data, of_rank(bench.rank)), bench.blank(subject, data));
    let one = &data.values[..data.values.len() / (subject.items as usize).max(1)];
    let places =
        one.iter().map(|value| (value.displacement as isize, value.element.size() as usize)).collect();
    let item = Item { places, extent: subject.layout.extent() as isize };
    // SAFETY: the bench has made both memories of the type, whose bytes the item describes.
    unsafe {
        let ends = (from.address.cast_const(), to.address, subject.count());
        bench.world.reduce_by_exclusive_or(ends, &subject.datatype, item, ROOT)
    }?;
    match bench.rank == ROOT {
        true => to.expect(data, &reduced)?,
        false => to.expect_unchanged(data)?,
    }
    Ok(from.expect_unchanged(data)?)
}

/// Rank 1 sends the type, a block of items to every rank, which receives a contiguous type. Nothing may be read twice (MPI-4.1, section
/// 6.6), so that the items must not overlap either.
pub fn scatter(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    const ROOT: usize = 1;
    let all = disjoint_of_all_ranks(bench, subject)?;
    let typed = bench.filled(subject, all, salt);
    let packed = all.gathered(&all.filled(salt));
    let mine = packed.len() / bench.world.size()?;
    let part = bench.packed_target(subject, mine);
    // SAFETY: the bench has filled the memory of the type, and the part has room for a block.
    unsafe {
        let to = (part.start(), subject.dense.count, &subject.dense.datatype);
        let from = (typed.address.cast_const(), subject.count(), &subject.datatype);
        bench.world.scatter_typed(from, to, ROOT)
    }?;
    expect_packed(&packed[bench.rank * mine..][..mine], &part.read())?;
    clean_margin(part)?;
    Ok(typed.expect_unchanged(all)?)
}

/// Every rank sends a contiguous type to each, which receives the type.
pub fn all_to_all(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    all_to_all_on(bench, subject, salt, false)
}

/// The same between neighbours on a graph, on which all ranks are neighbours of each.
pub fn neighbor_all_to_all(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    all_to_all_on(bench, subject, salt, true)
}

fn all_to_all_on(bench: &Bench<'_>, subject: &Subject, salt: u64, is_graph: bool) -> Result<(), Stop> {
    let all = disjoint_of_all_ranks(bench, subject)?;
    let ranks = bench.world.size()?;
    let of_rank = |rank: usize| all.gathered(&all.filled(salt + ((rank as u64) << 20)));
    let mine = all.bytes() / ranks;
    let received: Vec<u8> =
        (0..ranks).flat_map(|rank| of_rank(rank)[bench.rank * mine..][..mine].to_vec()).collect();
    let (part, typed) = (bench.packed_source(subject, &of_rank(bench.rank)), bench.blank(subject, all));
    let from = (part.start().cast_const(), subject.dense.count, &subject.dense.datatype);
    let to = (typed.address, subject.count(), &subject.datatype);
    let comm = if is_graph { bench.everyone()? } else { bench.world };
    // SAFETY: the part has the sent data, and the bench has made the memory of the type.
    unsafe { comm.all_to_all_typed(from, to, is_graph) }?;
    Ok(typed.expect(all, &received)?)
}

/// How many items this rank sends to the other of its pair, and how many it receives.
fn counts(bench: &Bench<'_>, subject: &Subject) -> (i32, i32) {
    match bench.pair.map(|pair| pair.place) {
        Some(0) => (subject.count(), 0),
        Some(_) => (0, subject.dense.count),
        None => (0, 0),
    }
}

/// Even ranks send the type to odd ones, and all other messages are empty.
pub fn all_to_all_w(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let (sent, received) = counts(bench, subject);
    let peer = bench.pair.map_or(bench.rank, |pair| pair.peer);
    let part = bench.packed_target(subject, subject.data.bytes());
    // SAFETY: the bench has filled the memory of the type, and the part has room for its data.
    unsafe {
        let to = (part.start(), received, &subject.dense.datatype);
        bench.world.all_to_one((from, sent, &subject.datatype), to, peer)
    }?;
    clean_margin(part)?;
    Ok(bench.is_place(1).then(|| part.read()))
}

/// The same between neighbours on a graph.
pub fn neighbor_all_to_all_w(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let (sent, received) = counts(bench, subject);
    let part = bench.packed_target(subject, subject.data.bytes());
    // SAFETY: the bench has filled the memory of the type, and the part has room for its data.
    unsafe {
        let to = (part.start(), received, &subject.dense.datatype);
        bench.other()?.neighbor_to_one((from, sent, &subject.datatype), to)
    }?;
    clean_margin(part)?;
    Ok(bench.is_place(1).then(|| part.read()))
}

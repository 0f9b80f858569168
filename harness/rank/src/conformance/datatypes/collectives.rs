//! Collective operations of two processes.

use common::conformance::Items;

use super::bench::{Bench, Stop, clean_margin, expect_packed};
use super::operations::Gathered;
use super::subject::{Dense, Subject};

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

/// The items of all ranks, one block after the other.
fn of_all_ranks(bench: &Bench<'_>, subject: &Subject) -> Result<Items, Stop> {
    let all = Items::of(&subject.layout, subject.items * bench.world.size()? as u32);
    if bench.has_room(2 * all.span_bytes()) { Ok(all) } else { Err(Stop::Unsuitable) }
}

/// The same, for memory that is received into.
fn received_by_all(bench: &Bench<'_>, subject: &Subject) -> Result<Items, Stop> {
    let all = of_all_ranks(bench, subject)?;
    if all.are_disjoint() { Ok(all) } else { Err(Stop::Unsuitable) }
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
    let all = received_by_all(bench, subject)?;
    let packed = all.gathered(&all.filled(salt));
    let mine = packed.len() / bench.world.size()?;
    let part = bench.packed_source(subject, &packed[bench.rank * mine..][..mine]);
    let typed = bench.blank(subject, &all);
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
        true => typed.expect(&all, &packed)?,
        false => typed.expect_unchanged(&all)?,
    }
    Ok(())
}

/// Rank 1 sends the type, a block of items to every rank, which receives a contiguous type.
pub fn scatter(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    const ROOT: usize = 1;
    let all = of_all_ranks(bench, subject)?;
    let typed = bench.filled(subject, &all, salt);
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
    Ok(typed.expect_unchanged(&all)?)
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
    let all = received_by_all(bench, subject)?;
    let ranks = bench.world.size()?;
    let of_rank = |rank: usize| all.gathered(&all.filled(salt + ((rank as u64) << 20)));
    let mine = all.bytes() / ranks;
    let received: Vec<u8> =
        (0..ranks).flat_map(|rank| of_rank(rank)[bench.rank * mine..][..mine].to_vec()).collect();
    let (part, typed) = (bench.packed_source(subject, &of_rank(bench.rank)), bench.blank(subject, &all));
    let from = (part.start().cast_const(), subject.dense.count, &subject.dense.datatype);
    let to = (typed.address, subject.count(), &subject.datatype);
    let comm = if is_graph { bench.everyone()? } else { bench.world };
    // SAFETY: the part has the sent data, and the bench has made the memory of the type.
    unsafe { comm.all_to_all_typed(from, to, is_graph) }?;
    Ok(typed.expect(&all, &received)?)
}

/// Rank 0 sends the type to rank 1, and all other messages are empty.
pub fn all_to_all_w(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let (sent, received) = if bench.rank == 0 { (subject.count(), 0) } else { (0, subject.dense.count) };
    let part = bench.packed_target(subject, subject.data.bytes());
    // SAFETY: the bench has filled the memory of the type, and the part has room for its data.
    unsafe {
        let to = (part.start(), received, &subject.dense.datatype);
        bench.world.all_to_one((from, sent, &subject.datatype), to, 1 - bench.rank.min(1))
    }?;
    clean_margin(part)?;
    Ok((bench.rank == 1).then(|| part.read()))
}

/// The same between neighbours on a graph.
pub fn neighbor_all_to_all_w(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let (sent, received) = if bench.rank == 0 { (subject.count(), 0) } else { (0, subject.dense.count) };
    let part = bench.packed_target(subject, subject.data.bytes());
    // SAFETY: the bench has filled the memory of the type, and the part has room for its data.
    unsafe {
        let to = (part.start(), received, &subject.dense.datatype);
        bench.other()?.neighbor_to_one((from, sent, &subject.datatype), to)
    }?;
    clean_margin(part)?;
    Ok((bench.rank == 1).then(|| part.read()))
}

//! One-sided communication between the ranks of each pair. The type describes the target, or the origin if the name says so.

use super::bench::{Bench, Stop, clean_margin};
use super::operations::Gathered;
use super::subject::{Dense, Subject};
use crate::checked::{CallError, Group, Window};

/// How an epoch begins and ends.
#[derive(Clone, Copy)]
enum Epoch {
    Fence,
    Lock,
    Post,
}

/// Bytes from the start of a window over the data to the address of the type; `None` if the address is in front of the data, which a
/// window cannot have.
fn displacement(subject: &Subject) -> Result<usize, Stop> {
    usize::try_from(-subject.data.span.0).map_err(|_| Stop::Unsuitable)
}

/// A window over `bytes` of the rank with place `target` in each pair, which the other one accesses in one epoch.
fn with_window(
    bench: &Bench<'_>,
    target: usize,
    (start, bytes): (*mut u8, usize),
    epoch: Epoch,
    access: impl FnOnce(&Window, usize) -> Result<(), CallError>,
) -> Result<(), Stop> {
    let is_target = bench.is_place(target);
    // The rank whose memory this one accesses.
    let accessed = bench.pair.filter(|_| !is_target).map(|pair| pair.peer);
    // SAFETY: the bench has made this memory, which nothing else uses until the window is freed.
    let window = unsafe { Window::over(start, if is_target { bytes } else { 0 }, bench.world) }?;
    match epoch {
        Epoch::Fence => {
            window.fence()?;
            if let Some(target) = accessed {
                access(&window, target)?;
            }
            window.fence()?;
        }
        Epoch::Lock => {
            bench.world.barrier()?;
            if let Some(target) = accessed {
                window.lock(target)?;
                access(&window, target)?;
                window.unlock(target)?;
            }
            bench.world.barrier()?;
        }
        Epoch::Post => {
            if let Some(pair) = bench.pair {
                let peer = Group::with_rank(bench.world, pair.peer)?;
                match accessed {
                    None => {
                        window.post(&peer)?;
                        window.wait()?;
                    }
                    Some(target) => {
                        window.start(&peer)?;
                        access(&window, target)?;
                        window.complete()?;
                    }
                }
                peer.free()?;
            }
        }
    }
    // Freeing the window synchronises, so that loads of the target see the new data.
    Ok(window.free()?)
}

fn put_in(
    bench: &Bench<'_>,
    subject: &Subject,
    (packed, to): (&[u8], *mut u8),
    epoch: Epoch,
) -> Result<bool, Stop> {
    let place = displacement(subject)?;
    let memory = (to.wrapping_sub(place), subject.data.span_bytes());
    let (part, Dense { datatype, count }) = (bench.packed_source(subject, packed), &subject.dense);
    with_window(bench, 1, memory, epoch, |window, target| {
        // SAFETY: the part has the data until the end of the epoch, and the window has the memory of the type.
        unsafe {
            let from = (part.start().cast_const(), (*count).into(), datatype);
            window.put(from, target, (place, subject.count().into(), &subject.datatype))
        }
    })?;
    Ok(bench.is_place(1))
}

pub fn put(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    put_in(bench, subject, (packed, to), Epoch::Fence)
}

pub fn put_locked(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    put_in(bench, subject, (packed, to), Epoch::Lock)
}

pub fn put_posted(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    put_in(bench, subject, (packed, to), Epoch::Post)
}

pub fn put_origin(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let part = bench.packed_target(subject, subject.data.bytes());
    let Dense { datatype, count } = &subject.dense;
    with_window(bench, 1, (part.start(), part.bytes()), Epoch::Fence, |window, target| {
        // SAFETY: the bench has filled the memory of the type, and the window has room for its data.
        unsafe {
            let from = (from, subject.count().into(), &subject.datatype);
            window.put(from, target, (0, (*count).into(), datatype))
        }
    })?;
    clean_margin(part)?;
    Ok(bench.is_place(1).then(|| part.read()))
}

pub fn get(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let place = displacement(subject)?;
    let memory = (from.cast_mut().wrapping_sub(place), subject.data.span_bytes());
    let part = bench.packed_target(subject, subject.data.bytes());
    let Dense { datatype, count } = &subject.dense;
    with_window(bench, 0, memory, Epoch::Fence, |window, target| {
        // SAFETY: the part has room for the data, and the window has the memory of the type.
        unsafe {
            let to = (part.start(), (*count).into(), datatype);
            window.get(to, target, (place, subject.count().into(), &subject.datatype))
        }
    })?;
    clean_margin(part)?;
    Ok(bench.is_place(1).then(|| part.read()))
}

pub fn get_origin(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    let (part, Dense { datatype, count }) = (bench.packed_source(subject, packed), &subject.dense);
    with_window(bench, 0, (part.start(), part.bytes()), Epoch::Fence, |window, target| {
        // SAFETY: the bench has made the memory of the type, and the window has the data.
        unsafe {
            let to = (to, subject.count().into(), &subject.datatype);
            window.get(to, target, (0, (*count).into(), datatype))
        }
    })?;
    Ok(bench.is_place(1))
}

/// Accumulating needs a type that is made of one predefined type (MPI-4.1, section 12.3.4).
fn expect_one_type(subject: &Subject) -> Result<(), Stop> {
    subject.layout.only_element().map(|_| ()).ok_or(Stop::Unsuitable)
}

pub fn accumulate(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    expect_one_type(subject)?;
    let place = displacement(subject)?;
    let memory = (to.wrapping_sub(place), subject.data.span_bytes());
    let (part, Dense { datatype, count }) = (bench.packed_source(subject, packed), &subject.dense);
    with_window(bench, 1, memory, Epoch::Fence, |window, target| {
        let from = (part.start().cast_const(), *count, datatype);
        // SAFETY: the part has the data until the end of the epoch, and the window has the memory of the type.
        unsafe { window.replace(from, target, (place, subject.count(), &subject.datatype)) }
    })?;
    Ok(bench.is_place(1))
}

pub fn get_accumulate(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    expect_one_type(subject)?;
    let place = displacement(subject)?;
    if !subject.data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let memory = (from.cast_mut().wrapping_sub(place), subject.data.span_bytes());
    let part = bench.packed_target(subject, subject.data.bytes());
    let Dense { datatype, count } = &subject.dense;
    with_window(bench, 0, memory, Epoch::Fence, |window, target| {
        let to = (part.start(), *count, datatype);
        // SAFETY: the part has room for the data, and the window has the memory of the type.
        unsafe { window.get_without_change(to, target, (place, subject.count(), &subject.datatype)) }
    })?;
    clean_margin(part)?;
    Ok(bench.is_place(1).then(|| part.read()))
}

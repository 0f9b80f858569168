//! How much memory a rank needs, and how much there is.

use std::sync::LazyLock;

use apps::{Arrays, MicroApp, Side, WireOrder};

use crate::proc;

/// Bytes of a wire buffer for a message: an eighth and a page more, because some libraries' `MPI_Pack` writes more than
/// the data. `None` if it exceeds the address space.
pub fn wire_bytes(message_bytes: u64) -> Option<u64> {
    message_bytes.checked_add(message_bytes / 8)?.checked_add(4096)
}

/// Memory that a rank needs, in bytes: the arrays, two wire buffers, and data for verification (the expected packed
/// bytes, and the places of segments on both sides). `None` if it exceeds the address space. If the value exceeds this
/// machine's memory, it is only a lower bound.
pub fn rank_bytes(app: &MicroApp) -> Option<u64> {
    /// Read only once: it bounds a count, and reading it takes longer than most counts.
    static AVAILABLE: LazyLock<u64> = LazyLock::new(|| available_bytes().unwrap_or(u64::MAX));
    rank_bytes_here(app, *AVAILABLE)
}

fn rank_bytes_here(app: &MicroApp, available: u64) -> Option<u64> {
    /// Bytes per segment on both sides: offset and length.
    const PLACES_BYTES: u64 = 2 * 16;
    let arrays = Arrays::footprint_bytes(&app.arrays)? as u64;
    let size = app.message_bytes();
    let buffers = wire_bytes(size)?.checked_mul(2)?.checked_add(size.checked_mul(2)?)?;
    let without = arrays.checked_add(buffers)?;
    let room = available.saturating_sub(without) / PLACES_BYTES;
    let segments = app.send.listed_segments().unwrap_or_else(|| counted_segments(app, room));
    without.checked_add(segments.checked_mul(PLACES_BYTES)?)
}

/// The segments of a message, counted only up to one more than there is room for, because counting takes time.
fn counted_segments(app: &MicroApp, room: u64) -> u64 {
    let most = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(1);
    app.message(Side::Send, WireOrder::Ddt).segments().take(most).count() as u64
}

/// Refuses this number of ranks on one machine if they need more memory than is available.
pub fn check_bytes(of_rank: Option<u64>, ranks: usize, available: u64) -> Result<(), String> {
    let needed = of_rank.and_then(|bytes| bytes.checked_mul(ranks as u64));
    if needed.is_some_and(|needed| needed <= available) {
        return Ok(());
    }
    let (needed, available) = (amount(needed), gib(available));
    Err(format!("{ranks} ranks need {needed} of memory on this machine, which has {available} available"))
}

/// Refuses an engine's comparison whose single process needs too much memory: that of a rank, and as much again for the plain
/// copies. The copies have the size of the message, and touch no more lines than the arrays and the packed buffer have.
///
/// # Errors
/// The memory needed and the memory available.
pub fn check_engine(app: &MicroApp, available: u64) -> Result<(), String> {
    check_one(rank_bytes(app).and_then(|bytes| bytes.checked_mul(2)), available)
}

/// Refuses a layout if its index lists cannot be drawn with the memory of this machine, or its segments cannot be listed.
///
/// # Errors
/// The memory needed and the memory available.
pub fn check_layout(app: &MicroApp, available: u64) -> Result<(), String> {
    /// Bytes per index entry: the index, its displacement, and both in the layout while it is built. Measured: 43 if strides are counted.
    const ENTRY_BYTES: u64 = 44;
    /// Bytes per segment: offset and length, in a list and in one of twice the length while the list grows.
    const SEGMENT_BYTES: u64 = 48;
    /// Counting this many takes two seconds.
    const MOST_SEGMENTS: u64 = 1 << 26;
    if let Some(entries) = app.send.listed_segments() {
        return check_one(entries.checked_mul(ENTRY_BYTES), available);
    }
    let most = MOST_SEGMENTS.min(available / SEGMENT_BYTES);
    if counted_segments(app, most) > most {
        return Err(format!("has more than {most} segments, and no more can be listed here"));
    }
    Ok(())
}

/// Refuses memory that one process cannot have.
fn check_one(needed: Option<u64>, available: u64) -> Result<(), String> {
    if needed.is_some_and(|needed| needed <= available) {
        return Ok(());
    }
    Err(format!("{} of memory are needed; {} are available", amount(needed), gib(available)))
}

/// An amount of bytes as readable text; `None` means more than the address space.
pub fn amount(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "more than can be addressed".to_owned(), gib)
}

fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// Memory available without swapping, in bytes; `None` if the system does not report it.
pub fn available_bytes() -> Option<u64> {
    let available = proc::value("/proc/meminfo", "MemAvailable")?;
    available.strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layout: &str) -> MicroApp {
        let mut values = apps::LAYOUT.set(apps::LAYOUT.quick_set().name).unwrap();
        values.assign("send", layout).unwrap();
        apps::LAYOUT.build(&values, apps::Context { ranks: 2, seed: 1 }).unwrap()
    }

    #[test]
    fn segments_are_counted_as_far_as_there_is_room_for_their_places() {
        let app = of("vector(1000,1,2,double)");
        let all = rank_bytes_here(&app, u64::MAX).unwrap();
        assert!(all > 1000 * 32 && rank_bytes(&app) == Some(all));
        let some = rank_bytes_here(&app, all - 500 * 32).unwrap();
        assert!(some > all - 500 * 32 && some < all, "{some} of {all}");
        assert!(check_layout(&app, 1000 * 48).is_ok() && check_layout(&app, 999 * 48).is_err());
        // Two thousand million blocks. They are not counted, because the arrays by themselves are too large.
        let app = of("vector(2000000000,1,2,double)");
        assert!(rank_bytes_here(&app, 1 << 30).unwrap() > 48 << 30);
    }
}

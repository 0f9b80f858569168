//! How much memory a rank needs, and how much there is.

use std::sync::LazyLock;

use apps::{Arrays, MicroApp, Piece, Side, WireOrder};

use crate::packing::{Location, Packing};
use crate::proc;

/// The memory that methods need of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    pub arrays: bool,
    /// A buffer for the packed message that is sent.
    pub outgoing: bool,
    /// One for the packed message that is received.
    pub incoming: bool,
    /// Whether `MPI_Pack` is called: some libraries write more than the data.
    pub packs_by_mpi: bool,
}

impl Buffers {
    /// Those of all methods.
    pub const ALL: Self = Self { arrays: true, outgoing: true, incoming: true, packs_by_mpi: true };

    /// Those of a message that is packed and unpacked in these ways.
    pub const fn needed_by(send: Packing, receive: Packing) -> Self {
        Self {
            arrays: !(matches!(send.location(), Location::Wire)
                && matches!(receive.location(), Location::Wire)),
            outgoing: !send.is_typed(),
            incoming: !receive.is_typed(),
            packs_by_mpi: matches!(send, Packing::Mpi),
        }
    }

    /// Those of either.
    pub const fn or(self, other: Self) -> Self {
        Self {
            arrays: self.arrays || other.arrays,
            outgoing: self.outgoing || other.outgoing,
            incoming: self.incoming || other.incoming,
            packs_by_mpi: self.packs_by_mpi || other.packs_by_mpi,
        }
    }

    /// Bytes of the buffer to send and of the one to receive: a page more than the message, in which stray
    /// writes are seen, and an eighth for `MPI_Pack`. `None` if they exceed the address space.
    pub fn wire_bytes(self, message_bytes: u64) -> Option<[u64; 2]> {
        let reserve = if self.packs_by_mpi { message_bytes / 8 } else { 0 };
        let bytes = message_bytes.checked_add(reserve)?.checked_add(4096)?;
        Some([self.outgoing, self.incoming].map(|is_needed| if is_needed { bytes } else { 0 }))
    }
}

/// The host, in a message.
pub const MACHINE: &str = "this machine";

/// Memory that a rank needs, in bytes: the arrays and wire buffers of its methods, and the places of segments. `None` if it exceeds the address space. If the value exceeds this machine's memory, it is only a lower bound.
pub fn rank_bytes(app: &MicroApp, buffers: Buffers) -> Option<u64> {
    /// Read only once: it bounds a count, and reading it takes longer than most counts.
    static AVAILABLE: LazyLock<u64> = LazyLock::new(|| available_bytes().unwrap_or(u64::MAX));
    rank_bytes_here(app, buffers, *AVAILABLE)
}

fn rank_bytes_here(app: &MicroApp, buffers: Buffers, available: u64) -> Option<u64> {
    /// Bytes per segment: offset and length on both sides while links are made, and half a row in the links
    /// of both sides, for methods from arrays to arrays, to the wire and from it.
    const PLACES_BYTES: u64 = 2 * 16 + 4 * 16;
    let arrays = if buffers.arrays { Arrays::footprint_bytes(&app.arrays)? as u64 } else { 0 };
    let [outgoing, incoming] = buffers.wire_bytes(app.message_bytes())?;
    let without = arrays.checked_add(outgoing)?.checked_add(incoming)?;
    let room = available.saturating_sub(without) / PLACES_BYTES;
    let segments = app.send.listed_segments().unwrap_or_else(|| at_most_segments(app, room));
    without.checked_add(segments.checked_mul(PLACES_BYTES)?)
}

/// The segments of a message. Counting many takes too long: then the most that it can have, one for each value.
fn at_most_segments(app: &MicroApp, room: u64) -> u64 {
    /// Counting this many takes half a second.
    const MOST_COUNTED: u64 = 1 << 24;
    match counted_segments(app, room.min(MOST_COUNTED)) {
        counted if counted <= MOST_COUNTED => counted,
        _ => {
            let message = app.message(Side::Send, WireOrder::Ddt);
            let of_piece = |piece: &Piece| {
                let value_bytes = piece.layout.uniform().map_or(1, |element| element.size());
                piece.layout.size() / value_bytes
            };
            message.pieces.iter().map(of_piece).fold(0, u64::saturating_add)
        }
    }
}

/// The segments of a message, counted only up to one more than there is room for, because counting takes time.
fn counted_segments(app: &MicroApp, room: u64) -> u64 {
    let most = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(1);
    app.message(Side::Send, WireOrder::Ddt).segments().take(most).count() as u64
}

/// Refuses this number of ranks in one place, such as `this machine`, if they need more memory than is available there.
///
/// # Errors
/// The memory needed and the memory available.
pub fn check_bytes(of_rank: Option<u64>, ranks: usize, place: &str, available: u64) -> Result<(), String> {
    let needed = of_rank.and_then(|bytes| bytes.checked_mul(ranks as u64));
    if needed.is_some_and(|needed| needed <= available) {
        return Ok(());
    }
    let (needed, available) = (amount(needed), gib(available));
    let who = if ranks == 1 { "1 rank needs".to_owned() } else { format!("{ranks} ranks need") };
    Err(format!("{who} {needed} of memory on {place}, which has {available} available"))
}

/// Memory that the single process of an engine's comparison needs, in bytes: that of a rank, and as much again for the plain copies. The
/// copies have the size of the message, and touch no more lines than the arrays and the packed buffer have.
pub fn engine_bytes(app: &MicroApp) -> Option<u64> {
    rank_bytes(app, Buffers::ALL).and_then(|bytes| bytes.checked_mul(2))
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
    use crate::kinds::pingpong::methods::buffers;

    fn of(layout: &str) -> MicroApp {
        let mut values = apps::LAYOUT.set(apps::LAYOUT.quick_set().name).unwrap();
        values.assign("send", layout).unwrap();
        apps::LAYOUT.build(&values, apps::Context { ranks: 2, seed: 1 }).unwrap()
    }

    #[test]
    fn segments_are_counted_as_far_as_there_is_room_for_their_places() {
        let app = of("vector(1000,1,2,double)");
        let all = rank_bytes_here(&app, Buffers::ALL, u64::MAX).unwrap();
        assert!(all > 1000 * 40 && rank_bytes(&app, Buffers::ALL) == Some(all));
        let some = rank_bytes_here(&app, Buffers::ALL, all - 500 * 40).unwrap();
        assert!(some > all - 500 * 40 && some < all, "{some} of {all}");
        assert!(check_layout(&app, 1000 * 48).is_ok() && check_layout(&app, 999 * 48).is_err());
        // Two thousand million blocks. They are not counted, because the arrays by themselves are too large.
        let app = of("vector(2000000000,1,2,double)");
        assert!(rank_bytes_here(&app, Buffers::ALL, 1 << 30).unwrap() > 48 << 30);
        // There is room for their places: they are not counted either.
        assert!(rank_bytes_here(&app, Buffers::ALL, u64::MAX).unwrap() > 2_000_000_000 * 40);
    }

    #[test]
    fn memory_is_in_proportion_to_the_methods() {
        let app = of("vector(2200,262144,262145,float)");
        let message: u64 = 2200 * 262_144 * 4;
        // Each rank has an array to send and one to receive into, or none; with `MPI_Pack` an eighth more of each buffer.
        for (names, messages) in [
            ("ddt", 2.0),
            ("ddt:halves put_ddt", 2.0),
            ("reference", 2.0),
            ("packed_to_ddt", 3.0),
            ("reference ddt", 4.0),
            ("loop", 4.0),
            ("mpi_pack", 4.25),
        ] {
            let methods: Vec<String> = names.split(' ').map(str::to_owned).collect();
            let found = rank_bytes(&app, buffers(&methods)).unwrap() as f64 / message as f64;
            assert!((found - messages).abs() < 1.0 / 16.0, "{names}: {found}");
        }
    }
}

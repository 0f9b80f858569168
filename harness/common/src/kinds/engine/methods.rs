//! The methods of the comparison: our pack engine, the hand-written loops, `MPI_Pack`, and two plain copies.
//! The rank program implements them.

use super::PackingOrder;
use crate::kinds::pingpong::methods::{BY_COPIES, COPIES, PACK};
use crate::model::{LOOP, MethodInfo, MethodRow, OWN, Place, find_method, info, infos};
use crate::packing::{Packing, Staged};

/// The method that all others are compared with.
pub const ENGINE: &str = "engine";
pub use crate::model::{MANUAL, MANUAL_TUNED};
/// The MPI's own packing, with the datatype.
pub const MPI_PACK: &str = "mpi_pack";
/// A copy of as many bytes as are packed.
pub const MEMCPY: &str = "memcpy";
/// A copy that touches as many cache lines as packing: no packing is faster.
pub const BOUND: &str = "bound";

/// The work of a method in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineTask {
    /// Packs and unpacks the message in this way.
    Packs(Packing),
    /// Copies as many bytes as the message has.
    CopiesMessage,
    /// Copies as many bytes as needed to touch the cache lines that packing and unpacking touch.
    CopiesLines,
}

/// Rows, with the memory in which each is possible.
const fn complete<const N: usize>(mut rows: [MethodRow<EngineTask>; N]) -> [MethodRow<EngineTask>; N] {
    let mut row = 0;
    while row < N {
        if let EngineTask::Packs(packing) = rows[row].made_of {
            rows[row].info = packing.only_where_possible(rows[row].info);
        }
        row += 1;
    }
    rows
}

/// All methods, in report order. The copies do not go from arrays to arrays.
const ROWS: &[MethodRow<EngineTask>] = {
    use EngineTask::{CopiesLines, CopiesMessage, Packs};
    &complete([
        info(ENGINE, "our pack engine: the layout compiled").made_of(Packs(Packing::Engine)),
        info("engine:mapped", "the same on a device into memory of the host that it sees")
            .made_of(Packs(Packing::Staged(Staged::Mapped))),
        info("engine:staged", "packed on a device, then copied to the host")
            .made_of(Packs(Packing::Staged(Staged::Engine))),
        info(COPIES, BY_COPIES).made_of(Packs(Packing::Staged(Staged::Copies))),
        info(OWN, "your loop; with --pack FILE").on_request().made_of(Packs(Packing::Own)),
        info(MANUAL, "the application's loops").by_hand().made_of(Packs(Packing::ByHand)),
        info(MANUAL_TUNED, "these loops tuned by an expert").by_hand().made_of(Packs(Packing::Tuned)),
        info(LOOP, "a generic (interpreted) loop over the datatype's nesting; always for `layout`")
            .on_request()
            .made_of(Packs(Packing::Looped)),
        info(MPI_PACK, "MPI_Pack and MPI_Unpack with the datatype").needs(PACK).made_of(Packs(Packing::Mpi)),
        info("mpi_pack:staged", "the same from memory of a device into that of the host")
            .needs(PACK)
            .made_of(Packs(Packing::Staged(Staged::Mpi))),
        info(MEMCPY, "a copy of as many contiguous bytes").partial().made_of(CopiesMessage),
        // A device does not read whole lines.
        info(BOUND, "a copy that touches as many cache lines as packing must")
            .partial()
            .only_in(Place::Host)
            .made_of(CopiesLines),
    ])
};

/// Their descriptions.
pub const METHODS: &[MethodInfo] = &infos::<_, { ROWS.len() }>(ROWS);

/// The task of the method called `name`.
pub fn task(name: &str) -> Result<EngineTask, String> {
    Ok(find_method(ROWS, "method", name)?.made_of)
}

/// The methods that can pack in this order: if loop and datatype differ, the loop has only its own order, and
/// the user's that of the datatype.
pub fn in_order(order: PackingOrder, orders_differ: bool) -> impl Iterator<Item = &'static MethodInfo> {
    let is_of = move |method: &MethodInfo| match order {
        PackingOrder::Manual => method.name != OWN,
        PackingOrder::Ddt => !method.by_hand,
    };
    METHODS.iter().filter(move |method| !orders_differ || is_of(method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_has_no_other_order_than_its_own() {
        assert_eq!(in_order(PackingOrder::Ddt, true).count(), 10);
        assert_eq!(in_order(PackingOrder::Ddt, false).count(), 12);
        assert_eq!(in_order(PackingOrder::Manual, true).count(), 11);
    }
}

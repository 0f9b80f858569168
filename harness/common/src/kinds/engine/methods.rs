//! What is compared: our pack engine, the hand-written loops, `MPI_Pack`, and two plain copies. The rank program implements
//! them.

use super::PackingOrder;
use crate::kinds::pingpong::methods::PACK;
use crate::model::{LOOP, LOOPS, MethodInfo};

/// The method that all others are compared with.
pub const ENGINE: &str = "engine";
/// The application's loops, as it has them.
pub const MANUAL: &str = LOOPS[0];
/// The application's loops, as an expert tunes them.
pub const MANUAL_TUNED: &str = LOOPS[1];
/// The MPI's own packing, with the datatype.
pub const MPI_PACK: &str = "mpi_pack";
/// A copy of as many bytes as are packed.
pub const MEMCPY: &str = "memcpy";
/// A copy of as many cache lines as packing touches: nothing that packs is faster.
pub const BOUND: &str = "bound";

/// All methods, in report order. The copies are no ways from arrays to arrays.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::new(ENGINE, "our pack engine: the layout compiled"),
    MethodInfo::new(MANUAL, "the application's loops, as it has them").by_hand(),
    MethodInfo::new(MANUAL_TUNED, "these loops as an expert tunes them").by_hand(),
    MethodInfo::new(LOOP, "a plain loop over the datatype's nest, interpreted; of `layout` always")
        .on_request(),
    MethodInfo::new(MPI_PACK, "MPI_Pack and MPI_Unpack with the datatype").needs(PACK),
    MethodInfo::new(MEMCPY, "a copy of as many bytes in one piece").partial(),
    MethodInfo::new(BOUND, "a copy that touches as many cache lines as packing must").partial(),
];

/// Those that can pack in this order: where loop and datatype differ, the loop has only its own.
pub fn in_order(order: PackingOrder, orders_differ: bool) -> impl Iterator<Item = &'static MethodInfo> {
    let loops_can = order == PackingOrder::Manual || !orders_differ;
    METHODS.iter().filter(move |method| loops_can || !method.by_hand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_has_no_other_order_than_its_own() {
        assert_eq!(in_order(PackingOrder::Ddt, true).count(), 5);
        assert_eq!(in_order(PackingOrder::Ddt, false).count(), 7);
        assert_eq!(in_order(PackingOrder::Manual, true).count(), 7);
    }
}

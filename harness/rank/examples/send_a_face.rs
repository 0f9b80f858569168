//! The face of a Fortran array `real(8) :: a(102,102,52)`, packed by the pack engine and sent with the crate `mpi`.
//!
//! With two ranks: each sends its last interior layer along x, and receives the other's into its lower halo.

use std::error::Error;

use bytemuck::cast_slice;
use datatypes::{Element, Layout, Order};
use kernels::compile;
use mpi::traits::Communicator;

/// Extents as declared, with a halo of one point on each side.
const SIZES: [i64; 3] = [102, 102, 52];

/// The interior of the layer at this index of x.
fn layer(x: i64) -> Result<Layout, datatypes::LayoutError> {
    let [_, y, z] = SIZES;
    Layout::subarray(&SIZES, &[1, y - 2, z - 2], &[x, 1, 1], Order::Fortran, &Layout::named(Element::Double))
}

fn main() -> Result<(), Box<dyn Error>> {
    let universe = mpi::initialize().ok_or("MPI was initialised before")?;
    let world = universe.world();
    if world.size() != 2 {
        return Err("start it with two ranks: mpiexec -n 2".into());
    }
    let (rank, other) = (world.rank(), world.process_at_rank(1 - world.rank()));

    let mut a = vec![f64::from(rank); SIZES.iter().product::<i64>() as usize];
    let (last, halo) = (compile(&layer(SIZES[0] - 2)?, 1)?, compile(&layer(0)?, 1)?);
    let (mut sent, mut received) = (vec![0_u8; last.size()], vec![0_u8; halo.size()]);

    last.pack(cast_slice(&a), 0, &mut sent)?;
    mpi::point_to_point::send_receive_into(&sent[..], &other, &mut received[..], &other);
    halo.unpack(&received, bytemuck::cast_slice_mut(&mut a), 0)?;

    // a(1,2,2) is the first point of the halo that has come.
    let first = (SIZES[0] * SIZES[1] + SIZES[0]) as usize;
    assert_eq!((a[first], a[first + 1]), (f64::from(1 - rank), f64::from(rank)));
    println!("rank {rank}: {} bytes have come", received.len());
    Ok(())
}

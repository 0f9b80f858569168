//! Layouts compiled to short programs that pack and unpack them: our own datatype engine.
//!
//! [`compile`] converts a [`Layout`](datatypes::Layout) to a normal form (runs merged, nests collapsed, indexed lists
//! of one block length separated from irregular ones), checks its bounds, and chooses a kernel for each shape:
//!
//! - blocks of one size at one distance, within any number of loops; the kernel handles two of them;
//! - the same, if neighbours in memory are far apart in the stream (a transposition): several rows at once;
//! - blocks of one size at listed places;
//! - runs whose places depend on one list of indices (records by index), with one 4-byte number per record; all values of
//!   a record at once if they are a position and single values;
//! - other runs whose lengths recur (records), column by column;
//! - other runs, one by one.
//!
//! Blocks of common sizes have kernels whose size is a compile-time constant, because a call of `memcpy` costs more
//! than a short copy. For blocks of up to 8 bytes, usual distances of up to 64 bytes are constants too.
//!
//! For each [class](Class) of operations and size of blocks, a table has the [`Way`] to copy them: the instruction set, the
//! C library's `memcpy`, the instruction `rep movsb`, writing past the caches, prefetching, masked stores, or gathering. There
//! are tables for Zen 4, Zen 5 and recent Intel Xeons; that of Zen 4 is a guess for all others. [`Program::explain`] shows
//! the choices. `ddtbench engine --tune` measures the ways with the messages of [`Trial`]; this crate does not measure.
//!
//! # Use
//!
//! The x face of a Fortran array `real(8) :: a(6,5,4)`, without the halo of one point on each side:
//!
//! ```
//! # use datatypes as ddtbench_datatypes;
//! use ddtbench_datatypes::{Element, Layout, Order};
//! use ddtbench_kernels::compile;
//!
//! # let a: Vec<f64> = (0..6 * 5 * 4).map(f64::from).collect();
//! # let array: Vec<u8> = a.iter().flat_map(|value| value.to_ne_bytes()).collect();
//! let face = Layout::subarray(&[6, 5, 4], &[1, 3, 2], &[4, 1, 1], Order::Fortran, &Layout::named(Element::Double))?;
//!
//! let program = compile(&face, 1)?;
//! let mut packed = vec![0; program.size()];
//! program.pack(&array, 0, &mut packed)?;
//!
//! # let values: Vec<f64> = packed.chunks(8).map(|value| f64::from_ne_bytes(value.try_into().unwrap())).collect();
//! # // a(5,2,2), a(5,3,2), ...
//! # assert_eq!(values, [40.0, 46.0, 52.0, 70.0, 76.0, 82.0]);
//! let mut other = vec![0; array.len()];
//! program.unpack(&packed, &mut other, 0)?;
//! # assert_eq!(other[8 * 40..8 * 41], array[8 * 40..8 * 41]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Packed data can be sent by any library. `harness/rank/examples/send_a_face.rs` sends it with the crate
//! `mpi`, on which this crate does not depend.
//!
//! # Guarantees
//!
//! - **Bytes written.** Packing writes all bytes of the packed buffer, and no others. Unpacking writes only bytes of
//!   the layout: gaps are not even written with their old values. After an error nothing was written.
//! - **Bytes read.** Nothing is read outside of the two buffers.
//! - **Aliasing.** The borrows keep array and packed buffer apart. A layout may contain a byte several times: packing
//!   repeats it, and when unpacking the last one in packed order stays.
//! - **Alignment.** Both buffers and all displacements may have any.
//! - **Threads.** A program is immutable, so threads can share it. It starts none, and takes no lock.
//! - **Memory.** Packing and unpacking allocate nothing. A program has 4 bytes for each listed block, or for each record
//!   of records by index; and some 100 for each run of more than 1 KiB if lengths differ.
//!
//! # Cost
//!
//! Compiling costs 1 to 2 µs for nested loops, 2 ns more for each block of an index list, and 14 if their
//! lengths differ. It pays if a layout is used several times. For both sides of the 22 messages of `ddtbench
//! engine` (preset `quick`, warm caches, Zen 4), it took as long as was saved by
//!
//! - 0.1 to 13 transfers (median 5) compared with the `MPI_Pack` of MPICH 5.0.2, except for one contiguous run, where
//!   there is nothing to save;
//! - 3 to 120 transfers (median 15) compared with the application's loop, in the 16 of 20 messages where the engine is
//!   faster than that loop.
//!
//! [`PlainLoop`] runs the same normal form with plain loops, for comparison.
//!
//! [`datatypes::interpret`] defines the correct result. Every test compares with it.

#[macro_use(named)]
extern crate datatypes;

mod block_copy;
mod bounds;
#[cfg(any(test, feature = "fuzzing"))]
mod check;
pub mod device;
mod explain;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
#[cfg(target_arch = "x86_64")]
mod gather;
mod indexed_records;
mod loops;
mod normal_form;
mod operation;
mod plain_loop;
mod program;
mod records;
mod run;
mod select;
mod small_strides;
mod survey;
mod tuning;
mod way;

pub use plain_loop::PlainLoop;
pub use program::{CompileError, Program, RunError, compile};
pub use tuning::{Class, Direction, Trial};
pub use way::Way;

#[cfg(test)]
mod tests;

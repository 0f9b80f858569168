//! Layouts compiled to short programs that pack and unpack them: our own datatype engine.
//!
//! [`compile`] converts a [`Layout`](datatypes::Layout) to a normal form (runs merged, nests collapsed, indexed lists
//! of one block length separated from irregular ones), checks its bounds, and chooses a kernel for each shape:
//!
//! - blocks of one size at one distance, within any number of loops; the kernel handles two of them;
//! - the same, if neighbours in memory are far apart in the stream (a transposition): several rows at once;
//! - blocks of one size at listed places;
//! - runs whose lengths recur (records), column by column;
//! - other runs, one by one.
//!
//! Blocks of common sizes have kernels whose size is a compile-time constant, because a call of `memcpy` costs more
//! than a short copy. Long blocks have our own copy, because the C library's is slow at some alignments. Messages
//! that do not fit into any cache are written past the caches. Instruction sets are chosen at run time.
//! [`Program::explain`] shows the choices.
//!
//! The x face of a Fortran array `real(8) :: a(6,5,4)`, without the halo of one point on each side, packed and
//! unpacked into another array:
//!
//! ```
//! # use datatypes as ddtbench_datatypes;
//! use ddtbench_datatypes::{Element, Layout, Order};
//! use ddtbench_kernels::compile;
//!
//! let face = Layout::subarray(&[6, 5, 4], &[1, 3, 2], &[4, 1, 1], Order::Fortran, &Layout::named(Element::Double))?;
//! let program = compile(&face, 1)?;
//!
//! let a: Vec<f64> = (0..6 * 5 * 4).map(f64::from).collect();
//! let bytes: Vec<u8> = a.iter().flat_map(|value| value.to_ne_bytes()).collect();
//! let mut packed = vec![0; program.size()];
//! program.pack(&bytes, 0, &mut packed)?;
//!
//! let values: Vec<f64> = packed.chunks(8).map(|value| f64::from_ne_bytes(value.try_into().unwrap())).collect();
//! // a(5,2,2), a(5,3,2), ...
//! assert_eq!(values, [40.0, 46.0, 52.0, 70.0, 76.0, 82.0]);
//!
//! let mut other = vec![0; bytes.len()];
//! program.unpack(&packed, &mut other, 0)?;
//! assert_eq!(other[8 * 40..8 * 41], bytes[8 * 40..8 * 41]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Packed data can be sent by any library; `harness/rank/examples/send_a_face.rs` sends it with the crate `mpi`.
//!
//! [`PlainLoop`] runs the same normal form with plain loops, for comparison.
//!
//! [`datatypes::interpret`] defines the correct result. Every test compares with it.

mod block_copy;
mod bounds;
#[cfg(any(test, feature = "fuzzing"))]
mod check;
mod explain;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod loops;
mod normal_form;
mod operation;
mod plain_loop;
mod program;
mod records;
mod run;
mod select;
mod survey;

pub use plain_loop::PlainLoop;
pub use program::{CompileError, Program, RunError, compile};

#[cfg(test)]
mod tests;

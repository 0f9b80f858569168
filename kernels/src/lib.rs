//! Layouts compiled to short programs that pack and unpack them: our own datatype engine.
//!
//! [`compile`] brings a [`Layout`](datatypes::Layout) to a normal form (runs merged, nests collapsed, indexed lists
//! of one block length told from irregular ones), proves its bounds, and chooses a kernel for each shape:
//!
//! - blocks of one size at one distance, within any number of loops; two of them are the kernel's;
//! - the same, where neighbours in memory are far apart in the stream (a transposition): several rows at once;
//! - blocks of one size at listed places;
//! - runs whose lengths recur (records), column by column;
//! - other runs, one by one.
//!
//! Blocks of common sizes have kernels whose size is a compile-time constant, since a call of `memcpy` costs more
//! than a short copy; long ones have a copy of our own, since the C library's is slow at some alignments. Messages that
//! no cache holds are written past the caches. Instruction sets are chosen at run time. [`Program::explain`] tells what
//! was chosen.
//!
//! What it must do is defined by [`datatypes::interpret`], with which every test compares.

mod block_copy;
mod bounds;
#[cfg(any(test, feature = "fuzzing"))]
mod check;
pub mod compute;
mod explain;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
pub mod gate;
mod loops;
mod normal_form;
mod operation;
mod program;
mod records;
mod run;
mod select;
mod survey;
mod sync;

pub use program::{CompileError, Program, RunError, compile};

#[cfg(test)]
mod tests;

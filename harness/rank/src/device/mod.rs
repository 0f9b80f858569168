//! Memory on a device: its driver, loaded at run time; buffers, each the twin of host memory; and the pack engine's kernels.
//!
//! The program fills and compares host memory only. What a method reads is copied to the twin before, and what it wrote is copied back
//! after, outside of all times. HIP and Level Zero would be other tables of the functions in `driver.rs`.

mod buffer;
mod driver;
mod engine;
mod packer;
mod rows;

pub use buffer::{Buffer, StagedBytes, Staging};
pub use driver::{available_bytes, copies, copy, facts, open, synchronize, use_here};
pub use packer::DevicePacker;
pub use rows::{Direction, Rows};

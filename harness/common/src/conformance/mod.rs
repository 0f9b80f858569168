//! Conformance of an MPI's datatypes: the tested operations, cases, and what the standard expects of them.
//!
//! `ddtbench` makes cases and passes them to the rank program in batches; the rank program tries each
//! operation on each case and reports faults. Both use these types.
//!
//! Only correct programs are tried. The rules, with sections of MPI-4.1:
//!
//! - Entries that are received do not overlap, over all items (5.1.11, 12.3, 14.4.1), nor those that a scatter sends (6.6).
//! - Both ends have the same type signature, and `MPI_BYTE` matches itself only (3.3.1).
//! - The address of each item is in the same storage as its data (5.1.12).
//! - Elements are counted with the datatype of the receive (5.1.11).
//! - Types of accumulate functions and of file views are made of one predefined type, also in members without data (12.3.4, 14.1.1).
//! - A file view has displacements that are not negative and that ascend; its holes are multiples of the elementary type (14.1.1, 14.3).
//! - The target buffer is within the window (12.3.1).
//! - Partitions of both sides have the same size in total (4.2.1).
//! - Parts of a subarray are not empty (5.1.3), and the blocks of a distributed array cover it (5.1.4).
//!
//! If implementers read the standard in several ways, all results are accepted, here and wherever a method is
//! verified: see [`datatypes::Reported`].

pub mod case;
pub mod contents;
pub mod form;
pub mod items;
pub mod operation;

pub use case::{Batch, Case, FIRST_FIXED, Fault, FaultKind, Progress, partitions};
pub use contents::{Combiner, Contents};
pub use items::Items;
pub use operation::{Need, OPERATIONS, Operation};

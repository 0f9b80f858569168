//! The meaning of derived datatypes, without an MPI.
//!
//! A [`Layout`] is our description of an MPI datatype: a tree of MPI's own constructors, checked when it is
//! made. The words are the standard's (MPI-4.1, chapter 5):
//!
//! - **type map**: the sequence of (predefined type, byte displacement) pairs of a datatype;
//! - **type signature**: the same sequence without the displacements ([`Layout::signature`]);
//! - **size**: bytes of data, without gaps ([`Layout::size`]);
//! - **lower bound**, **upper bound**, **extent**: start and end of a copy, and the distance of copies ([`Layout::lower_bound`],
//!   [`Layout::extent`]); **true** bounds depend only on the data;
//! - **segment**: one contiguous run of bytes ([`Segment`]);
//! - **flatten**: turn a layout into its segments, in type-map order; a segment that starts at the end of the last one is merged
//!   into it ([`Layout::segments`], [`Layout::flatten`]).
//!
//! All displacements, bounds and extents are in bytes unless a name says otherwise; they are signed, as in MPI. [`interpret`]
//! packs and unpacks by a literal reading of the type map: it is slow, and the oracle for everything fast.
//!
//! A column of a C array of 4 x 3 doubles:
//!
//! ```
//! use ddtbench_datatypes::{Element, Layout};
//!
//! let column = Layout::vector(4, 1, 3, &Layout::named(Element::Double))?;
//! assert_eq!((column.size(), column.extent()), (32, 80));
//! let starts: Vec<i64> = column.segments().map(|segment| segment.offset).collect();
//! assert_eq!(starts, [0, 24, 48, 72]);
//! # Ok::<(), ddtbench_datatypes::LayoutError>(())
//! ```
#![forbid(unsafe_code)]

#[doc(hidden)]
#[macro_use]
pub mod named;

mod bounds;
mod check;
mod code;
mod construction;
mod constructor;
mod cut;
mod disjoint;
mod distributed;
mod element;
mod equivalent;
mod error;
mod features;
pub mod interpret;
mod layout;
mod loop_in_c;
mod reported;
mod segments;
mod signature;
mod simpler;
mod statistics;
mod steps;
mod text;
mod typemap;
pub mod unusual;

pub use bounds::Bounds;
pub use code::Language;
pub use construction::Construction;
pub use constructor::{Argument, Constructor, Nest, Order, Part};
pub use cut::{Placed, Repetition};
pub use distributed::{DistributedArray, Distribution};
pub use element::Element;
pub use equivalent::Equivalent;
pub use error::{LayoutError, PackError};
pub use features::Feature;
pub use layout::{Layout, MAX_DEPTH};
pub use loop_in_c::{InArray, loop_in_c};
pub use reported::{LowerAndExtent, Reported};
pub use segments::{ElementRun, Segment};
pub use signature::joined_types;
pub use statistics::{Spread, Statistics};
pub use text::{
    DeclaredArrays, DeclaredName, Definitions, ListForm, NamedList, SIGNATURES, TextError, TextReader,
    declared_arrays, index_list, is_program, no_such, program, repeated_index, similar,
};
pub use typemap::{Entry, TypeMap};

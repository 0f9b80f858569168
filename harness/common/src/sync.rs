//! The primitives of [`gate`](crate::gate). The rank program's tests compile the gate a second time with those of
//! `loom`.

pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::{hint, thread};

//! What [`gate`](crate::gate) is made of. The rank program's tests compile the gate once more over `loom`, which has the same.

pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::{hint, thread};

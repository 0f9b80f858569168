//! Records which kernels have really run. Each notes its own address, so that it cannot be confused with another.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::select::{indexed, strided, transposed};
use crate::way::Way;

thread_local! {
    /// Per thread: every test has its own thread.
    static RAN: RefCell<HashSet<*const ()>> = RefCell::default();
}

/// Called by each kernel, with its address.
pub(crate) fn note(kernel: *const ()) {
    RAN.with_borrow_mut(|ran| ran.insert(kernel));
}

/// Whether a kernel has run on this thread.
pub(super) fn has(kernel: *const ()) -> bool {
    RAN.with_borrow(|ran| ran.contains(&kernel))
}

/// The kernels of one way for one size of block.
pub(super) fn all(bytes: usize, way: Way) -> [(&'static str, *const ()); 6] {
    let (strided, transposed, indexed) = (strided(bytes, way), transposed(bytes, way), indexed(bytes, way));
    [
        ("pack strided", strided.pack as *const ()),
        ("unpack strided", strided.unpack as *const ()),
        ("pack transposed", transposed.pack as *const ()),
        ("unpack transposed", transposed.unpack as *const ()),
        ("pack indexed", indexed.pack as *const ()),
        ("unpack indexed", indexed.unpack as *const ()),
    ]
}

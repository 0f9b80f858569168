//! Records which kernels have really run. Each notes its own address, so that it cannot be confused with another.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::select::Kernels;

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

/// All kernels for one size of block. Without `..`, so that a new kind cannot be forgotten here.
pub(super) fn all(kernels: &Kernels) -> [(&'static str, *const ()); 6] {
    let Kernels { strided, transposed, indexed, sizes: _, level: _ } = *kernels;
    [
        ("pack strided", strided.pack as *const ()),
        ("unpack strided", strided.unpack as *const ()),
        ("pack transposed", transposed.pack as *const ()),
        ("unpack transposed", transposed.unpack as *const ()),
        ("pack indexed", indexed.pack as *const ()),
        ("unpack indexed", indexed.unpack as *const ()),
    ]
}

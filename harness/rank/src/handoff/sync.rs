//! The building blocks of hand-offs: the standard library's atomics and cells, with the interface of `loom`'s cells.

pub use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
pub use std::{hint, thread};

/// [`std::cell::UnsafeCell`], whose value is only accessible within a call.
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// The value's address, to read from.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// The value's address, to read from and write to.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

//! Values that threads take turns with.

use super::sync::UnsafeCell;

/// A value that one thread at a time may change, which barriers and atomic counters see to.
pub struct Slot<T>(UnsafeCell<T>);

// SAFETY: whoever calls `get` vouches that no other thread has the value meanwhile, so that it is handed over (`Send`);
// `share` lends it to several threads at once (`Sync`).
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// No other thread may use it until the reference is gone, and what it did before must be visible here: there was a
    /// barrier or an atomic operation in between.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "that there is one reference at a time is what the caller vouches for"
    )]
    pub unsafe fn get(&self) -> &mut T {
        // SAFETY: the caller vouches that this is the only reference.
        self.0.with_mut(|value| unsafe { &mut *value })
    }

    /// The value, for what several threads may do at once.
    ///
    /// # Safety
    /// No thread may have it by [`Slot::get`] until the reference is gone.
    #[inline]
    pub unsafe fn share(&self) -> &T {
        // SAFETY: the caller vouches that nobody changes it.
        self.0.with(|value| unsafe { &*value })
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

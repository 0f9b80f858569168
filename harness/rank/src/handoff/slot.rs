//! Values that threads use in turn.

use super::sync::UnsafeCell;

/// A value that one thread at a time may change; barriers and atomic counters ensure this.
pub struct Slot<T>(UnsafeCell<T>);

// SAFETY: callers of `get` guarantee that no other thread uses the value in the meantime, so it is handed
// over (`Send`); `share` lends it to several threads at once (`Sync`).
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// No other thread may use it as long as the reference exists, and their earlier changes must be visible
    /// here: there was a barrier or an atomic operation in between.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "that there is one reference at a time is what the caller vouches for"
    )]
    pub unsafe fn get(&self) -> &mut T {
        // SAFETY: the caller guarantees that this is the only reference.
        self.0.with_mut(|value| unsafe { &mut *value })
    }

    /// The value, for uses that are permitted to several threads at once.
    ///
    /// # Safety
    /// No thread may use it by [`Slot::get`] as long as the reference exists.
    #[inline]
    pub unsafe fn share(&self) -> &T {
        // SAFETY: the caller guarantees that it does not change.
        self.0.with(|value| unsafe { &*value })
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

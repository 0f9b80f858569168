//! The bytes that several copies occupy: checked once, so that the loops need not check.

use datatypes::Layout;

use crate::{CompileError, RunError};

/// All bytes of data of some copies of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Bytes of data.
    pub size: usize,
    /// First byte of data, from displacement 0 of the first copy.
    lower: i64,
    /// One past the last byte of data.
    upper: i64,
}

impl Reach {
    /// The bounds of `count` copies, one extent apart.
    ///
    /// # Errors
    /// If they reach beyond the address space.
    pub fn from_layout(layout: &Layout, count: u64) -> Result<Self, CompileError> {
        Self::within_memory(layout, count).ok_or(CompileError { count, size: layout.size() })
    }

    fn within_memory(layout: &Layout, count: u64) -> Option<Self> {
        let size = usize::try_from(i128::from(layout.size()) * i128::from(count)).ok()?;
        isize::try_from(size).ok()?;
        if size == 0 {
            return Some(Self { size, lower: 0, upper: 0 });
        }
        let last = i128::from(layout.extent()) * i128::from(count - 1);
        let lower = i128::from(layout.true_lower_bound()) + last.min(0);
        let upper = i128::from(layout.true_upper_bound()) + last.max(0);
        isize::try_from(upper - lower).ok()?;
        Some(Self { size, lower: i64::try_from(lower).ok()?, upper: i64::try_from(upper).ok()? })
    }

    /// Refuses an array that does not contain all data, from its byte `origin` on, and a buffer with another
    /// length than the data.
    #[inline]
    pub fn check(&self, array_bytes: usize, origin: i64, packed_bytes: usize) -> Result<(), RunError> {
        // An offset that overflows is also outside.
        let from = origin.checked_add(self.lower).is_some_and(|from| from >= 0);
        let to = origin.checked_add(self.upper).is_some_and(|to| to as u64 <= array_bytes as u64);
        match packed_bytes == self.size && (self.size == 0 || from && to) {
            true => Ok(()),
            false => Err(self.refusal(array_bytes, origin, packed_bytes)),
        }
    }

    #[cold]
    fn refusal(&self, array_bytes: usize, origin: i64, packed_bytes: usize) -> RunError {
        if packed_bytes != self.size {
            let reason = format!("the packed buffer has {packed_bytes} bytes instead of {}", self.size);
            return RunError(reason.into());
        }
        let [from, to] = [self.lower, self.upper].map(|bound| i128::from(origin) + i128::from(bound));
        RunError(format!("bytes {from} to {to} of the array are needed, which has {array_bytes}").into())
    }
}

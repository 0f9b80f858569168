//! Counts beyond `int`: the functions of MPI-4 with the suffix `_c`, if the loaded MPI has them.

use std::ffi::c_int;
use std::sync::LazyLock;

use mpi::ffi;

use super::error::int;
use super::{CallError, symbols};

/// A count, as functions with the suffix `_c` take it.
pub type Count = ffi::MPI_Count;

/// The largest count that is passed as an `int`. Tests make it smaller, because two GiB of data take too long.
static LARGEST: LazyLock<Count> = LazyLock::new(|| {
    let given = std::env::var("DDTBENCH_LARGEST_COUNT").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(c_int::MAX.into())
});

/// A count as an `int`, for a call that has a form with the suffix `_c`.
#[inline]
pub fn small(call: &'static str, argument: &'static str, value: Count) -> Result<c_int, CallError> {
    if value <= *LARGEST {
        int(call, argument, value)
    } else {
        Err(CallError::TooLarge { call, argument, value })
    }
}

/// The function `name`, a `call` with the suffix `_c`, for an argument that its usual form has refused.
///
/// # Safety
/// As for [`symbols::function`].
pub unsafe fn function<F: Copy>(name: &'static str, refused: CallError) -> Result<F, CallError> {
    let CallError::TooLarge { call, argument, value } = refused else { return Err(refused) };
    // SAFETY: guaranteed by the caller.
    unsafe { symbols::function(name) }.ok_or(CallError::NoLargeCount { call, argument, value })
}

/// Refuses a count that neither of these functions takes, `call` or, for large counts, `large`.
pub fn check_count(call: &'static str, large: &'static str, count: Count) -> Result<(), CallError> {
    match small(call, "count", count) {
        Err(CallError::TooLarge { call, argument, value }) if !symbols::missing(&[large]).is_empty() => {
            Err(CallError::NoLargeCount { call, argument, value })
        }
        _ => Ok(()),
    }
}

/// The type of an argument. In C, pointers to all types are the same, so that arguments define the type of a function.
macro_rules! inferred {
    ($argument:expr) => {
        _
    };
}

/// Calls a function with the suffix `_c`, in an unsafe block: `call_large!(refused, "MPI_Send_c", (arguments))`.
macro_rules! call_large {
    ($refused:expr, $name:expr, ($($argument:expr),* $(,)?)) => {{
        let name: &'static str = $name;
        let function: unsafe extern "C" fn($($crate::checked::large::inferred!($argument)),*) -> c_int =
            $crate::checked::large::function(name, $refused)?;
        $crate::checked::check(name, function($($argument),*))
    }};
}

/// Calls a function, in an unsafe block, or if one of these counts does not fit in an `int`, the one with the
/// suffix `_c`: `call_counted!(count; MPI_Send(address, count, ...))`.
macro_rules! call_counted {
    ($($count:ident),+; $function:ident($($argument:expr),* $(,)?)) => {{
        let small = |name, count| $crate::checked::large::small(stringify!($function), name, count);
        match (|| Ok(($(small(stringify!($count), $count)?,)+)))() {
            Ok(($($count,)+)) => call!($function($($argument),*)),
            Err(refused) => call_large!(refused, concat!(stringify!($function), "_c"), ($($argument),*)),
        }
    }};
}

pub(super) use {call_counted, call_large, inferred};

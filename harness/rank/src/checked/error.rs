//! MPI's return codes as errors that name the call.

use std::ffi::{c_char, c_int};

use common::model::Outcome;
use datatypes::Element;
use mpi::ffi;

use crate::device;

/// An MPI call that failed, or could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// MPI returned an error code.
    #[error("{call} failed with code {code}: {text}")]
    Failed {
        /// The MPI function.
        call: &'static str,
        code: c_int,
        /// `MPI_Error_string` of the code.
        text: String,
    },
    /// MPI reported success, but the received data cannot be the data that was sent.
    #[error("{call} received {detail}")]
    WrongData {
        /// The MPI function.
        call: &'static str,
        /// The difference from the expected data.
        detail: String,
    },
    /// An argument does not fit in the C interface.
    #[error("{call}: {argument} = {value} does not fit in the C type int that this interface has for it")]
    TooLarge {
        /// The MPI function.
        call: &'static str,
        /// The argument's MPI name.
        argument: &'static str,
        value: i64,
    },
    /// The same, and the function of MPI-4 that takes it is missing.
    #[error("{call}: {argument} = {value} does not fit in the C type int, and this MPI has no {call}_c")]
    NoLargeCount {
        /// The MPI function.
        call: &'static str,
        /// The argument's MPI name.
        argument: &'static str,
        value: i64,
    },
    /// MPI refuses a datatype, with data that is not in usual memory.
    #[error("{call} refuses datatypes here: {text}")]
    NoDatatypes {
        /// The MPI function.
        call: &'static str,
        /// `MPI_Error_string` of its code.
        text: String,
    },
    /// A function that not every MPI has.
    #[error("this MPI lacks {name}")]
    NoFunction { name: &'static str },
    /// The set-up is not possible here.
    #[error("{reason}")]
    NotPossible { reason: String },
    /// A type that not every MPI has.
    #[error("this MPI has no type for values of type {element}")]
    NoType { element: Element },
}

impl CallError {
    /// Whether it is not available here, which is the same on all ranks.
    pub const fn is_lack(&self) -> bool {
        matches!(
            self,
            Self::NoLargeCount { .. }
                | Self::TooLarge { .. }
                | Self::NoFunction { .. }
                | Self::NotPossible { .. }
                | Self::NoType { .. }
        )
    }

    /// The outcome for the method that made the call.
    pub fn outcome(&self, detail: String) -> Outcome {
        match self {
            Self::WrongData { .. } => Outcome::WrongData { detail },
            _ if self.is_lack() || matches!(self, Self::NoDatatypes { .. }) => {
                Outcome::NotAvailable { reason: detail }
            }
            _ => Outcome::MpiError { detail },
        }
    }
}

/// `Ok` for `MPI_SUCCESS`, otherwise the error with its text.
#[inline]
pub fn check(call: &'static str, code: c_int) -> Result<(), CallError> {
    if code == ffi::MPI_SUCCESS as c_int { Ok(()) } else { Err(failed(call, code)) }
}

#[cold]
fn failed(call: &'static str, code: c_int) -> CallError {
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: the buffer has the length that the standard requires, and both pointers live through the call.
    let known = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    let text = match known == ffi::MPI_SUCCESS as c_int {
        true => String::from_utf8_lossy(&text[..length as usize]).into_owned(),
        false => "no text for this code".to_owned(),
    };
    let mut class = 0;
    // SAFETY: the pointer lives through the call.
    let is_of_type = unsafe { ffi::MPI_Error_class(code, &mut class) } == ffi::MPI_SUCCESS as c_int
        && class == ffi::MPI_ERR_TYPE as c_int;
    if is_of_type && device::facts().is_some() {
        return CallError::NoDatatypes { call, text };
    }
    CallError::Failed { call, code, text }
}

/// `value` as a C `int`.
pub fn int(call: &'static str, argument: &'static str, value: i64) -> Result<c_int, CallError> {
    c_int::try_from(value).map_err(|_| CallError::TooLarge { call, argument, value })
}

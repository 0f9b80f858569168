//! Errors of layouts and of packing.

/// Why a constructor refused its arguments: the constructor, the argument, its value, and valid values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LayoutError(pub(crate) String);

/// Why bytes could not be packed or unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PackError(pub(crate) String);

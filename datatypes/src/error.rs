//! What can be wrong with a layout or a pack.

/// Why a constructor refused its arguments: which constructor, which argument, which value, what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LayoutError(pub(crate) String);

/// Why bytes could not be packed or unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PackError(pub(crate) String);

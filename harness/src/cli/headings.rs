//! The groups of flags in help.

pub(super) const WHAT: &str = "What is measured";
pub(super) const WHERE: &str = "Where it runs";
pub(super) const HOW_LONG: &str = "How long, and how sure";
pub(super) const RESULTS: &str = "Results";

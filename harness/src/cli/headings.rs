//! Groups of flags in help.

pub(super) const WHAT: &str = "Tests and methods";
pub(super) const WHERE: &str = "MPIs and launcher";
pub(super) const HOW_LONG: &str = "Duration and precision";
pub(super) const RESULTS: &str = "Results";

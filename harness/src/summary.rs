//! From the events of a case to the lines of the summary.

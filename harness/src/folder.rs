//! The run folder: what is kept, and when.

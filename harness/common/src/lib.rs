//! What both programs need, `ddtbench` and the rank program: the types of a result, and statistics.
//!
//! No tables, pages, files or processes: a rank program is built once for each MPI, and this is most of what it is built of.

pub mod model;
pub mod stats;

//! Everything about a run but the MPI calls: plans, records, statistics, reports, and starting rank programs.
//!
//! The rank program sends [`event`]s; [`stats`] and [`report`] make figures and text of what they hold, and
//! know neither files nor processes; [`mpi`] finds, installs, builds for and starts the MPIs of this machine.

pub mod event;
pub mod methods;
pub mod mpi;
pub mod record;
pub mod report;
pub mod stats;

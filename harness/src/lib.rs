//! Everything about a run but the MPI calls: plans, records, statistics, reports, and starting rank programs.
//!
//! The rank program sends [`event`]s; [`summary`] makes [`record`]s of them by [`stats`], and [`report`] makes
//! text of records; neither knows files or processes. [`mpi`] finds, installs, builds for and starts the MPIs of
//! this machine; [`run`] walks through a [`plan`] and keeps what comes back in a [`folder`].

pub mod agreement;
pub mod earlier;
pub mod engine;
pub mod event;
pub mod experiment;
pub mod folder;
pub mod halo;
pub mod load;
pub mod memory;
pub mod methods;
pub mod mpi;
pub mod partitioned;
pub mod phase;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod stats;
pub mod summary;
pub mod times;

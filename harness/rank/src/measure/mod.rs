//! The timed loops and the code around them. They produce numbers; except for the stopping rule, nothing is computed or printed here.

pub mod block;
pub mod cache;
mod calibrate;
mod clock_exchange;
pub mod creation;
mod disturbance;
pub mod experiment;
pub mod job;
pub mod local_clock;
pub mod message_links;
pub mod offset;
pub mod run_case;
pub mod schedule;
pub mod session;
pub mod state;
pub mod sync;
mod tree;
pub mod verification;

//! Conformance of datatypes: random layouts, every operation on each, and one finding for each cause.
//!
//! 1. [`Campaign`] takes the layouts of the corpus, generates cases, lets processes try them in batches ([`Worker`]), and collects hits. A crash or a hang is a hit, and
//!    a new process continues with the next operation.
//! 2. The reduction shrinks one hit of each kind, and leaves out all hits that contain the shrunk layout.
//! 3. Longer campaigns follow without the layouts that were found, which could hide other faults.
//! 4. Each finding becomes a C program ([`program`]), which is compiled and run before it is shown ([`confirmation`]).
//!
//! All steps that start processes fail if none begins, twice, or if the user wants to stop.

mod baseline;
mod campaign;
mod causes;
pub mod confirmation;
mod corpus;
mod finding;
mod library;
mod limit;
mod list;
mod matrix;
mod page;
pub mod program;
mod properties;
mod reduction;
mod report;
mod session;
mod trial;
mod upstream;
mod worker;

pub use campaign::{Campaign, Coverage};
pub use finding::{Confirmation, Finding, Hit};
pub use list::{FindingList, ListedFinding, Replayed};
pub use report::{MpiReport, Reports};
pub use session::{ELSEWHERE, Session, SessionPlan};
pub use worker::Worker;

//! The library and the program `ddtbench` without an MPI. One binary; each module says what it holds.

mod features; // what tests are built of
mod layers; // which module uses which
mod pages; // links and lengths of the documentation
mod proportion; // work that grows as the cases do
mod streams; // standard streams that are closed or full
mod terminal; // widths of printed text

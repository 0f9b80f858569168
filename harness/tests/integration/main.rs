//! The library and the program `ddtbench` without an MPI. One binary; the head of each module describes it.

mod budget; // lines of code per folder
mod completions; // values that a shell completes
mod features; // features with which tests are compiled
mod glossary; // terms in the output
mod layers; // dependencies between modules
mod made_up; // plans and records with any number of cases
mod pages; // links and lengths of the documentation
mod proportion; // work that grows with the number of cases
mod quotes; // output and pictures in the documentation
mod sentences; // numbers in sentences against their tables
mod streams; // standard streams that are closed or full
mod terminal; // widths of printed text

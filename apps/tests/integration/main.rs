//! What applications send, checked against itself and against the original suite. One binary; each module says what it holds.

mod conformance; // every test, every parameter set: loops, layouts and places
mod halo; // exchanges between many ranks, all of them in one process
mod halo_sets; // named sets of exchanges
mod halo_values; // what users give to exchanges
mod my_array; // the commands of docs/my-array.md
mod original_sizes; // bytes and runs of DDTBench 1.2
mod refusals; // values that an application could not have

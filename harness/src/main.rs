//! The program `ddtbench`.

fn main() {}

//! Shows how often the 95% intervals include the right value, and how often results are marked: for made-up series
//! whose median is known, and for windows of recorded runs. Prints tables; docs/evidence/statistics.md has them.
//!
//!     cargo bench -p ddtbench --bench coverage

mod made_up;
mod recorded;
#[path = "../recorded/launches.rs"]
mod recorded_launches;
mod tally;

/// Launches of a default run.
const LAUNCHES: usize = 6;

fn main() {
    println!(
        "Shares in percent. width: median, relative to an interval that knows the variation and covers 95%."
    );
    println!("plain: covered by the interval that takes blocks for independent.");
    made_up::print();
    recorded::print();
}

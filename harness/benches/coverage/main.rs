//! How often the 95% intervals hold what they claim to: on made-up series whose truth is known, and on windows of
//! long recorded runs. Prints tables; docs/evidence/statistics.md has them.
//!
//!     cargo bench -p ddtbench --bench coverage

mod launches;
mod made_up;
mod oracle;
mod recorded;
#[path = "../recorded/launches.rs"]
mod recorded_launches;
mod tally;

fn main() {
    println!("Shares in percent. width: median, over that of an interval that knows rho and holds 95%.");
    println!("plain: covered by the interval that takes blocks for independent.");
    made_up::print();
    recorded::print();
    launches::print();
}

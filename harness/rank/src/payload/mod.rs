//! The payload: which bytes travel along which links, and whether the right ones arrived. All kinds of experiments fill, change and
//! check their messages here, so a figure is only printed if its bytes were right.
//!
//! Every byte that a rank sends has a number in the whole run, its source, and its value depends on the source and on the [`Version`]
//! of the data. All sent bytes change before each repetition. So bytes that were not sent, were sent from the wrong place, or are left
//! over from an earlier transfer, differ from the expected ones.
//!
//! After each repetition a rank looks at a few bytes of each message that it received ([`Spots`]); sometimes, and after each block, at
//! all of them ([`Places::wrong`]); and when a method is verified, at all memory ([`Moved::changed`]). [`Checks`] counts these, and keeps the
//! first error.

mod check;
mod checks;
mod data;
mod link;
mod moved;

pub use check::{ArrivalProbe, Mismatch, Spots, some_place};
pub use checks::Checks;
pub use data::{Version, mixed, source_of, source_of_arrays, source_of_outgoing};
pub use link::{Link, Places, Run, Runs, Wrong};
pub use moved::Moved;

//! Layouts against the standard. One binary; each module says what it holds.

mod edges; // the ends of 64 bits, huge and empty layouts
mod equivalent; // other descriptions of one type map
mod errors; // refused arguments, and their messages
mod extremes; // random trees with arguments of any size
mod loop_in_c; // loops in C, compiled and run
mod pack; // the oracle: bytes that it moves, and bytes that it does not change
mod pool; // what the random layouts cover
mod program; // structs of C programs, against the compiler
mod properties; // everything derived, against the type map, on random trees
mod reported; // bounds that MPIs report
mod standard; // type maps worked out by hand, from the standard's examples
mod text; // tree and statistics

use ddtbench_datatypes::{Element, Layout};

/// Random layouts with fixed seeds: `trees(n)` are the same on every machine.
fn trees(count: u64) -> impl Iterator<Item = (u64, Layout)> {
    (0..count).map(|seed| {
        let depth = 1 + (seed % 6) as u32;
        let entries = [20, 200, 2000][(seed % 3) as usize];
        (seed, ddtbench_datatypes::pool::random_layout(seed, depth, entries))
    })
}

fn named(element: Element) -> Layout {
    Layout::named(element)
}

/// The layout and all below it.
fn visit(layout: &Layout, see: &mut impl FnMut(&Layout)) {
    see(layout);
    layout.constructor().children().iter().for_each(|child| visit(child, see));
}

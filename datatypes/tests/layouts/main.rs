//! Layouts against the standard. One binary; each module says what it holds.

mod edges; // the ends of 64 bits, huge and empty layouts
mod equivalent; // other descriptions of one type map
mod errors; // refused arguments, and their messages
mod extremes; // random trees with arguments of any size
mod loop_in_c; // loops in C, compiled and run
mod pack; // the oracle: bytes that it moves, and bytes that it does not change
mod program; // structs of C programs, against the compiler
mod properties; // everything derived, against the type map, on random trees
mod reported; // bounds that MPIs report
mod standard; // type maps worked out by hand, from the standard's examples
mod text; // tree and statistics

use std::process::{self, Command};
use std::{env, fs, thread};

use ddtbench_datatypes::unusual::unusual_layout;
use ddtbench_datatypes::{Element, Layout};

/// Random layouts with fixed seeds, of few values: `trees(n)` are the same on every machine.
fn trees(count: usize) -> impl Iterator<Item = (u64, Layout)> {
    let all = (0..).map(|seed| (seed, unusual_layout(seed, 1 + (seed % 6) as u32)));
    let is_small = |(_, layout): &(u64, Layout)| layout.runs().map(|run| run.count).sum::<u64>() <= 300;
    all.filter(is_small).take(count)
}

fn named(element: Element) -> Layout {
    Layout::named(element)
}

/// The layout and all below it.
fn visit(layout: &Layout, see: &mut impl FnMut(&Layout)) {
    see(layout);
    layout.constructor().children().iter().for_each(|child| visit(child, see));
}

/// The output of a C program.
fn output_of(code: &str, options: &[&str]) -> Vec<u8> {
    let folder = env::temp_dir().join(format!("ddtbench-{}-{:?}", process::id(), thread::current().id()));
    fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("program.c"), folder.join("program"));
    fs::write(&source, code).unwrap();
    let compiled = Command::new("cc").args(options).arg("-o").arg(&binary).arg(&source).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let out = Command::new(&binary).output().unwrap().stdout;
    fs::remove_dir_all(&folder).unwrap();
    out
}

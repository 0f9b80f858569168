//! Planning and reporting take work in proportion to the cases: four times as many cases, four times as many
//! allocations. Unlike times, allocations are the same in every run; code that reads all cases for each case
//! makes some for each of them, since names and values of cases are texts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use ddtbench::experiments::launches::over_launches;
use ddtbench::experiments::{self, Kind};
use ddtbench::model::Record;
use ddtbench::plan::Plan;
use ddtbench::report::compared::Compared;
use ddtbench::report::html::html;
use ddtbench::report::pictures::{self, Results};

use crate::made_up::{plan, records};

/// Counts what the current thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all is done by the system's allocator; the count is a plain number of the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no count any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: what the caller promises of the layout is what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the place is of `alloc`, which is the system's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of some work.
fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    let before = ALLOCATIONS.get();
    black_box(work());
    ALLOCATIONS.get() - before
}

/// Enough that what each case takes outweighs what all share, and more than a picture shows.
const CASES: usize = 300;

/// By how much four times the work may be more than that: tables grow by doubling.
const SLACK: f64 = 1.15;

#[track_caller]
fn expect_in_proportion(what: &str, work: impl Fn(usize)) {
    let [one, four] = [CASES, 4 * CASES].map(|cases| allocations(|| work(cases)));
    let ratio = four as f64 / one as f64;
    assert!(
        ratio < 4.0 * SLACK,
        "{what}: {one} allocations of {CASES} cases, {ratio:.2} times as many of four times these"
    );
}

/// All that a run shows of its records.
fn report(kind: Kind, launches: &[Record]) {
    let over = over_launches(launches, Some(0.01));
    let form = experiments::of_kind(kind).table_format;
    let results = Results {
        form,
        over: &over,
        all: &over,
        launches,
        accounts: &[],
        figure: None,
        changes: &[],
        has_titles: true,
    };
    let drawn = pictures::all(&results);
    assert!(!drawn.is_empty(), "{}: no picture of it", kind.name());
    black_box(html(form, &over, &drawn, "", &Compared::default()));
    black_box((
        experiments::of_kind(kind).answer(&over, Some(80), None),
        experiments::of_kind(kind).table(&over, None),
    ));
}

#[test]
fn planning_is_in_proportion() {
    let [one, four] = [CASES, 4 * CASES].map(plan);
    expect_in_proportion("planning", |cases| {
        let text = if cases == CASES { &one } else { &four };
        let checked = Plan::parse(text).expect("it is a plan").check().expect("it can be run");
        assert_eq!(checked.cases.len(), cases);
        black_box(checked.expected_s());
    });
}

#[test]
fn reporting_is_in_proportion() {
    type Params = fn(usize) -> String;
    let sweeps: [(&str, &str, Params); 6] = [
        // One parameter, two of which one has few values, all of them in each case.
        ("pingpong", "strided", |i| format!("count=16 stride={}", i + 2)),
        ("pingpong", "subarray", |i| format!("shape={}x{} face=x+", i % 20 + 2, i / 20 + 2)),
        ("halo", "nas_mg", |i| format!("nx={} ny=4", i + 2)),
        ("engine", "strided", |i| format!("count={} stride={}", i % 7 + 1, i + 2)),
        ("partitioned", "contiguous", |i| format!("bytes={} partitions={}", 64 * (i / 8 + 1), i % 8 + 1)),
        ("overlap", "ibcast", |i| format!("communication_us={} computation_us={}", i / 16 + 1, i % 16 + 1)),
    ];
    for (kind, test, params) in sweeps {
        let kind = Kind::find(kind).expect("there is such a kind");
        let [one, four] = [CASES, 4 * CASES].map(|cases| records(kind, test, params, cases));
        expect_in_proportion(&format!("{} {test}", kind.name()), |cases| {
            report(kind, if cases == CASES { &one } else { &four });
        });
    }
}

//! The hand-offs with `loom`: each test runs for every order in which the threads can take their steps, with
//! every value that the memory model permits a load to return. Reading a value while another thread may be
//! writing it is an error, and so is a thread that waits forever.

use loom::sync::Arc;
use loom::thread;

/// Replaces [`super::sync`].
mod sync {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    pub use loom::{hint, thread};
}

#[path = "counters.rs"]
mod counters;
#[path = "gate.rs"]
mod gate;
#[path = "ready_times.rs"]
mod ready_times;
#[path = "slot.rs"]
#[expect(dead_code, reason = "not all of it is handed over")]
mod slot;

use counters::Counters;
use gate::Gate;
use ready_times::ReadyTimes;
use slot::Slot;

/// Number of times a thread may lose its core without need. A few reveal most bugs, and more would take forever.
const PREEMPTIONS: usize = 3;

/// Runs `work` on this number of threads in every order, all with the value from `made`.
fn explore<T: Send + Sync + 'static>(
    threads: usize,
    made: impl Fn() -> T + Sync + Send + 'static,
    work: fn(usize, &T),
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        let made = Arc::new(made());
        let others: Vec<_> = (1..threads)
            .map(|number| {
                let made = Arc::clone(&made);
                thread::spawn(move || work(number, &made))
            })
            .collect();
        work(0, &made);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// Partitions of one run, one per thread, and how often the run was completed.
struct PartitionRun {
    counters: Counters,
    partitions: Vec<Slot<u32>>,
    sent: Slot<u32>,
}

#[test]
fn the_last_to_mark_sees_what_all_others_wrote() {
    const THREADS: usize = 3;
    let made = || PartitionRun {
        counters: Counters::new(std::slice::from_ref(&(0..THREADS))),
        partitions: (0..THREADS).map(|_| Slot::new(0)).collect(),
        sent: Slot::new(0),
    };
    explore(THREADS, made, |number, PartitionRun { counters, partitions, sent }| {
        // SAFETY: the thread's own partition.
        unsafe { *partitions[number].get() = 7 };
        if let Some(run) = counters.mark(number) {
            assert_eq!(run, 0);
            // SAFETY: all are marked, and threads do not write partitions that they have marked.
            assert!(partitions.iter().all(|partition| unsafe { *partition.share() } == 7));
            // SAFETY: only one thread is the last.
            unsafe { *sent.get() += 1 };
            // SAFETY: as above.
            assert_eq!(unsafe { *sent.share() }, 1);
        }
    });
}

/// The structure of `aggregated:adaptive`, with a number instead of each request: how often it was started.
struct SharedTransfer {
    gate: Gate,
    partitions: Vec<Slot<u32>>,
    ready_times: ReadyTimes,
    mapping: Slot<Mapping>,
}

struct Mapping {
    counters: Counters,
    runs: Vec<std::ops::Range<usize>>,
    started: Vec<Slot<u32>>,
}

impl Mapping {
    fn new(runs: Vec<std::ops::Range<usize>>) -> Self {
        Self { counters: Counters::new(&runs), started: runs.iter().map(|_| Slot::new(0)).collect(), runs }
    }
}

#[test]
fn a_mapping_changes_between_two_transfers() {
    let made = || SharedTransfer {
        // For two threads: with more, loom would try how two waiting ones let each other run forever. A
        // waiting thread lets the other run at once: spinning reveals nothing.
        gate: Gate::new(2, 0),
        partitions: (0..2).map(|_| Slot::new(0)).collect(),
        ready_times: ReadyTimes::new(2, 2),
        mapping: Slot::new(Mapping::new(vec![0..1, 1..2])),
    };
    explore(2, made, |number, transfers| {
        let SharedTransfer { gate, partitions, ready_times, mapping } = transfers;
        for transfer in 1..=2 {
            if number == 0 {
                // SAFETY: the other thread waits at the gate.
                let mapping = unsafe { mapping.get() };
                if transfer == 2 {
                    *mapping = Mapping::new(std::iter::once(0..2).collect());
                }
                mapping.counters.reset();
                // SAFETY: as above.
                unsafe { ready_times.begin() };
            }
            gate.pass();
            // SAFETY: each thread has its own partition.
            unsafe { *partitions[number].get() = transfer };
            // SAFETY: no thread changes the mapping between the gates.
            let Mapping { counters, runs, started } = unsafe { mapping.share() };
            // SAFETY: with the thread's own number.
            unsafe { ready_times.note(number, number, f64::from(transfer)) };
            if let Some(run) = counters.mark(number) {
                // SAFETY: all partitions of the run are marked.
                let are_written = |at: usize| unsafe { *partitions[at].share() } == transfer;
                assert!(runs[run].clone().all(are_written));
                // SAFETY: only one thread completes a run.
                unsafe { *started[run].get() += 1 };
            }
            // SAFETY: as above.
            unsafe { ready_times.spend(number, 0.5) };
            gate.pass();
            if number == 0 {
                // SAFETY: the other thread only has to wait at the next gate.
                let Mapping { started, .. } = unsafe { mapping.get() };
                // SAFETY: as above.
                assert!(started.iter().all(|started| unsafe { *started.share() } == 1));
                assert_eq!(ready_times.all_s(), [f64::from(transfer); 2]);
            }
        }
    });
}

//! Several threads of a rank that call MPI for the same message at the same time.

use super::exchange::{Transfers, at_once, in_order};
use super::message::{Incoming, Outgoing, Shape};
use crate::checked::CallError;
use crate::checked::threads::SharedMessage;
use crate::conformance::context::{CheckContext, Stop};
use crate::payload::Version;

/// Transfers for each number of threads.
const TRANSFERS: u32 = 25;

/// A multiple of all numbers of threads.
const PARTITIONS: usize = 32;

/// Runs `work` in this number of threads at once, and returns the first error.
fn in_threads<E: Send>(threads: usize, work: impl Fn(usize) -> Result<(), E> + Sync) -> Result<(), E> {
    std::thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        started.into_iter().try_for_each(|thread| thread.join().expect("a thread of a check panicked"))
    })
}

pub fn pready(context: &CheckContext<'_>) -> Result<(), Stop> {
    for threads in [4, 8] {
        let what = format!("{threads} threads");
        let exchange = Transfers::equal(context, &what, Shape::bytes(PARTITIONS, 1024));
        let send = |outgoing: &mut Outgoing, generation| {
            let (content, version) = (&outgoing.content, Version::of_fill(generation));
            let message = SharedMessage::new(&outgoing.message, context.multiple());
            Ok(in_threads(threads, |thread| {
                (thread..PARTITIONS).step_by(threads).try_for_each(|partition| {
                    // SAFETY: the thread's own partition, which is not ready yet.
                    unsafe { content.fill(partition, version) };
                    message.ready(partition)
                })
            })?)
        };
        Transfers { count: TRANSFERS, ..exchange }.run(send, at_once)?;
    }
    Ok(())
}

/// The result of a thread that tests partitions.
enum Found {
    Error(CallError),
    Wrong(String),
}

pub fn parrived(context: &CheckContext<'_>) -> Result<(), Stop> {
    const THREADS: usize = 4;
    let exchange = Transfers::equal(context, "4 threads", Shape::bytes(PARTITIONS, 1024));
    let receive = |incoming: &mut Incoming, generation| {
        let (content, version) = (&incoming.content, Version::of_fill(generation));
        let message = SharedMessage::new(&incoming.message, context.multiple());
        let found = in_threads(THREADS, |thread| {
            (thread..PARTITIONS).step_by(THREADS).try_for_each(|partition| {
                while !message.arrived(partition).map_err(Found::Error)? {
                    std::thread::yield_now();
                }
                // SAFETY: MPI has reported that the partition arrived; the check looks for a false report.
                unsafe { content.compare(partition, version) }.map_err(Found::Wrong)
            })
        });
        match found {
            Ok(()) => {}
            Err(Found::Error(error)) => return Err(error.into()),
            Err(Found::Wrong(wrong)) => context.count("4 threads, when it was said to be there", Err(wrong)),
        }
        Ok(())
    };
    Transfers { count: TRANSFERS, ..exchange }.run(in_order, receive)
}

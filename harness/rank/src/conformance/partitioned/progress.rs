//! MPI may progress while partitions are not ready yet: it must send none of them.

use std::time::Duration;

use super::exchange::Transfers;
use super::marking::eight;
use super::message::{Outgoing, Shape};
use crate::conformance::context::{CheckContext, Stop};

/// The call that lets MPI progress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressCall {
    Status,
    Probe,
    Barrier,
    Test,
}

/// Calls that do not change the request come first.
const WAYS: [(ProgressCall, &str); 4] = [
    (ProgressCall::Status, "MPI_Request_get_status"),
    (ProgressCall::Probe, "MPI_Iprobe"),
    (ProgressCall::Barrier, "MPI_Barrier"),
    (ProgressCall::Test, "MPI_Test"),
];

/// Transfers in each way.
const TRANSFERS: u32 = 13;

const COMPLETE: &str = "said to be complete before all partitions are ready";

/// Consecutive calls: an MPI that sends too early does so in the first few.
const CALLS: usize = 20;

/// Lets MPI progress on the sender; `None` if it reports that the message, which is not ready, is complete.
fn give(context: &CheckContext<'_>, outgoing: &mut Outgoing, way: ProgressCall) -> Result<Option<()>, Stop> {
    for _ in 0..CALLS {
        let is_complete = match way {
            ProgressCall::Status => outgoing.message.request().status()?,
            ProgressCall::Test => outgoing.message.request().test()?,
            ProgressCall::Probe => {
                context.comm.probe_any()?;
                false
            }
            // The receiver takes part once.
            ProgressCall::Barrier => return Ok(Some(context.comm.barrier()?)),
        };
        if is_complete {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

/// Lets MPI progress when the first `partitions` are ready, of `bytes` each, in the requested ways.
fn progress(
    context: &CheckContext<'_>,
    bytes: usize,
    partitions: usize,
    is_asked: impl Fn(ProgressCall) -> bool,
) -> Result<(), Stop> {
    for (way, what) in WAYS.into_iter().filter(|(way, _)| is_asked(*way)) {
        // Errors other than lost requests must be reported before a request is lost.
        if way == ProgressCall::Test && !context.is_right()? {
            break;
        }
        context.work(what);
        let early = format!("{what}: not complete yet");
        let exchange =
            Transfers { count: TRANSFERS, ..Transfers::equal(context, what, Shape::bytes(8, bytes)) };
        exchange.run(
            |outgoing, generation| {
                (0..partitions).try_for_each(|partition| outgoing.ready(partition, generation))?;
                let is_complete = give(context, outgoing, way)?.is_none();
                let right = if is_complete { Err(COMPLETE.to_owned()) } else { Ok(()) };
                match way {
                    // The request is lost.
                    ProgressCall::Test if is_complete => {
                        return Err(context.wrong(&early, COMPLETE.to_owned()));
                    }
                    ProgressCall::Test | ProgressCall::Status => context.count(&early, right),
                    ProgressCall::Probe | ProgressCall::Barrier => {}
                }
                Ok(outgoing.ready_from(partitions, generation)?)
            },
            |_, _| {
                if way == ProgressCall::Barrier {
                    context.comm.barrier()?;
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Bytes of a partition, by the end of the check's name: one that fits in a header, one of a page, and one too large to be sent at once.
fn bytes(context: &CheckContext<'_>) -> usize {
    match context.name.rsplit('_').next() {
        Some("8b") => 8,
        Some("4kib") => 4096,
        _ => 1 << 16,
    }
}

pub fn before_first(context: &CheckContext<'_>) -> Result<(), Stop> {
    progress(context, bytes(context), 0, |way| way != ProgressCall::Barrier)
}

pub fn barrier(context: &CheckContext<'_>) -> Result<(), Stop> {
    progress(context, bytes(context), 0, |way| way == ProgressCall::Barrier)
}

pub fn between(context: &CheckContext<'_>) -> Result<(), Stop> {
    progress(context, bytes(context), 4, |_| true)
}

pub fn on_receiver(context: &CheckContext<'_>) -> Result<(), Stop> {
    /// The receiver starts long before any partition is ready.
    const LATE: Duration = Duration::from_millis(1);
    for (way, name) in WAYS.into_iter().filter(|(way, _)| *way != ProgressCall::Barrier) {
        Transfers { count: TRANSFERS, ..Transfers::equal(context, name, eight()) }.run(
            |outgoing, generation| {
                std::thread::sleep(LATE);
                Ok(outgoing.ready_from(0, generation)?)
            },
            |incoming, _| {
                match way {
                    ProgressCall::Status => while !incoming.message.request().status()? {},
                    ProgressCall::Test => while !incoming.message.request().test()? {},
                    ProgressCall::Probe | ProgressCall::Barrier => {
                        for _ in 0..CALLS {
                            context.comm.probe_any()?;
                        }
                    }
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

//! MPI gets time to work while partitions are not ready yet: it must send none of them.

use std::time::Duration;

use super::exchange::Exchange;
use super::marking::eight;
use super::message::{Incoming, Outgoing, Shape};
use super::stage::{Seen, Stage, Stop};

/// How MPI gets time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Status,
    Probe,
    Barrier,
    Test,
}

/// With what leaves the request alone first.
const WAYS: [(Way, &str); 4] = [
    (Way::Status, "MPI_Request_get_status"),
    (Way::Probe, "MPI_Iprobe"),
    (Way::Barrier, "MPI_Barrier"),
    (Way::Test, "MPI_Test"),
];

/// Transfers in each way.
const TRANSFERS: u32 = 13;

const COMPLETE: &str = "said to be complete before all partitions are ready";

/// Calls in a row: what an MPI sends too early, it does in the first few.
const CALLS: usize = 20;

/// Gives MPI time on the sender; `None` where it says that the message, which is not ready, is complete.
fn give(stage: &Stage<'_>, outgoing: &mut Outgoing, way: Way) -> Result<Option<()>, Stop> {
    for _ in 0..CALLS {
        let is_complete = match way {
            Way::Status => outgoing.message.request().status()?,
            Way::Test => outgoing.message.request().test()?,
            Way::Probe => {
                stage.comm.probe_any()?;
                false
            }
            // The receiver joins in once.
            Way::Barrier => return Ok(Some(stage.comm.barrier()?)),
        };
        if is_complete {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

/// Gives MPI time when the first `partitions` are ready, of `bytes` each, in the ways that are asked for.
fn progress(
    stage: &Stage<'_>,
    bytes: usize,
    partitions: usize,
    is_asked: impl Fn(Way) -> bool,
) -> Result<Seen, Stop> {
    let shape = Shape::bytes(8, bytes);
    for (way, name) in WAYS.into_iter().filter(|(way, _)| is_asked(*way)) {
        let what = name.to_owned();
        // What can be told apart from lost requests is told before one is lost.
        if way == Way::Test && !stage.is_right()? {
            break;
        }
        stage.work(&what);
        let early = format!("{what}: not complete yet");
        let mut send = |outgoing: &mut Outgoing, generation| {
            outgoing.start()?;
            (0..partitions).try_for_each(|partition| outgoing.ready(partition, generation))?;
            let is_complete = give(stage, outgoing, way)?.is_none();
            let right = if is_complete { Err(COMPLETE.to_owned()) } else { Ok(()) };
            match way {
                // The request is lost.
                Way::Test if is_complete => return Err(stage.wrong(&early, COMPLETE.to_owned())),
                Way::Test | Way::Status => stage.count(&early, right),
                Way::Probe | Way::Barrier => {}
            }
            outgoing.ready_from(partitions, generation)?;
            Ok(outgoing.wait()?)
        };
        let mut receive = |incoming: &mut Incoming, _| {
            incoming.start()?;
            if way == Way::Barrier {
                stage.comm.barrier()?;
            }
            Ok(incoming.wait()?)
        };
        let exchange = Exchange::equal(stage, &what, shape.clone());
        Exchange { transfers: TRANSFERS, ..exchange }.run(stage, &mut send, &mut receive)?;
    }
    Ok(Seen::fine())
}

/// Sizes of a partition: in a header, of a page, and beyond what is sent at once.
const SIZES: [usize; 3] = [8, 4096, 1 << 16];

fn before_first(stage: &Stage<'_>, bytes: usize) -> Result<Seen, Stop> {
    progress(stage, bytes, 0, |way| way != Way::Barrier)
}

fn barrier(stage: &Stage<'_>, bytes: usize) -> Result<Seen, Stop> {
    progress(stage, bytes, 0, |way| way == Way::Barrier)
}

fn between(stage: &Stage<'_>, bytes: usize) -> Result<Seen, Stop> {
    progress(stage, bytes, 4, |_| true)
}

/// A probe for each size.
macro_rules! of_sizes {
    ($work:ident: $($name:ident),*) => { of_sizes!(@ $work 0, $($name),*); };
    (@ $work:ident $number:expr, $name:ident $(, $more:ident)*) => {
        pub fn $name(stage: &Stage<'_>) -> Result<Seen, Stop> {
            $work(stage, SIZES[$number])
        }
        of_sizes!(@ $work $number + 1 $(, $more)*);
    };
    (@ $work:ident $number:expr) => {};
}

of_sizes!(before_first: before_first_8b, before_first_4kib, before_first_64kib);
of_sizes!(barrier: barrier_8b, barrier_4kib, barrier_64kib);
of_sizes!(between: between_8b, between_4kib, between_64kib);

pub fn on_receiver(stage: &Stage<'_>) -> Result<Seen, Stop> {
    /// The receiver is at it long before anything is ready.
    const LATE: Duration = Duration::from_millis(1);
    for (way, name) in WAYS.into_iter().filter(|(way, _)| *way != Way::Barrier) {
        let mut send = |outgoing: &mut Outgoing, generation| {
            outgoing.start()?;
            std::thread::sleep(LATE);
            outgoing.ready_from(0, generation)?;
            Ok(outgoing.wait()?)
        };
        let mut receive = |incoming: &mut Incoming, _| {
            incoming.start()?;
            match way {
                Way::Status => while !incoming.message.request().status()? {},
                Way::Test => while !incoming.message.request().test()? {},
                Way::Probe | Way::Barrier => {
                    for _ in 0..CALLS {
                        stage.comm.probe_any()?;
                    }
                }
            }
            Ok(incoming.wait()?)
        };
        let exchange = Exchange::equal(stage, name, eight());
        Exchange { transfers: TRANSFERS, ..exchange }.run(stage, &mut send, &mut receive)?;
    }
    Ok(Seen::fine())
}

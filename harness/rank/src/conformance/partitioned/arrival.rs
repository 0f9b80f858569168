//! Partitions tested with `MPI_Parrived`, and when they arrive.

use std::time::{Duration, Instant};

use super::exchange::Transfers;
use super::marking::{eight, unequal as transfers};
use super::message::Shape;
use crate::conformance::context::{CheckContext, Stop};
use crate::payload::Version;

/// Transfers of each shape; the sender pauses in each.
const TRANSFERS: u32 = 10;

/// Pause between two partitions, so that one that is reported too early is detected.
const PAUSE: Duration = Duration::from_micros(300);

/// Maximum time for a sent partition to arrive, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn equal(context: &CheckContext<'_>) -> Result<(), Stop> {
    for shape in [Shape::bytes(8, 8), eight()] {
        watched(Transfers::equal(context, "8/8", shape))?;
    }
    Ok(())
}

pub fn unequal(context: &CheckContext<'_>) -> Result<(), Stop> {
    transfers(context, watched)
}

/// Sends slowly, and compares each partition as soon as it is reported as arrived.
fn watched(exchange: Transfers<'_>) -> Result<(), Stop> {
    let (context, what) = (exchange.context, exchange.what);
    Transfers { count: TRANSFERS, ..exchange }.run(
        |outgoing, generation| {
            for partition in 0..outgoing.partitions() {
                std::thread::sleep(PAUSE);
                outgoing.ready(partition, generation)?;
            }
            Ok(())
        },
        |incoming, generation| {
            let begin = Instant::now();
            let mut left: Vec<usize> = (0..incoming.partitions()).collect();
            while !left.is_empty() {
                let mut still = Vec::new();
                for partition in left {
                    if !incoming.message.arrived(partition)? {
                        still.push(partition);
                        continue;
                    }
                    // SAFETY: MPI has reported that the partition arrived; the check looks for a false report.
                    let right = unsafe { incoming.content.compare(partition, Version::of_fill(generation)) };
                    let early = |wrong| format!("MPI_Parrived said that it is there: {wrong}");
                    context.count(what, right.map_err(early));
                }
                left = still;
                if !left.is_empty() && begin.elapsed() > PATIENCE {
                    let seconds = PATIENCE.as_secs();
                    let wrong = format!("MPI_Parrived of partitions {left:?} is not true within {seconds} s");
                    return Err(context.wrong(what, wrong));
                }
            }
            Ok(())
        },
    )
}

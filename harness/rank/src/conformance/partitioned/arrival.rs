//! Partitions tested with `MPI_Parrived`, and when they arrive.

use std::time::{Duration, Instant};

use super::exchange::Transfers;
use super::marking::{UNEQUAL, UNEQUAL_BYTES, eight};
use super::message::{Incoming, Outgoing, Shape};
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
        watched(context, &Transfers { count: TRANSFERS, ..Transfers::equal(context, "8/8", shape) })?;
    }
    Ok(())
}

pub fn unequal(context: &CheckContext<'_>) -> Result<(), Stop> {
    for (send, receive) in UNEQUAL {
        let shape = |partitions| Shape::bytes(partitions, UNEQUAL_BYTES / partitions);
        let what = format!("{send}/{receive}");
        let exchange = Transfers { receive: shape(receive), ..Transfers::equal(context, &what, shape(send)) };
        watched(context, &Transfers { count: TRANSFERS, ..exchange })?;
    }
    Ok(())
}

/// Sends slowly, and compares each partition as soon as it is reported as arrived.
fn watched(context: &CheckContext<'_>, exchange: &Transfers<'_>) -> Result<(), Stop> {
    let mut send = |outgoing: &mut Outgoing, generation| {
        outgoing.start()?;
        for partition in 0..outgoing.partitions() {
            std::thread::sleep(PAUSE);
            outgoing.ready(partition, generation)?;
        }
        Ok(outgoing.wait()?)
    };
    let mut receive = |incoming: &mut Incoming, generation| {
        incoming.start()?;
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
                context.count(exchange.what, right.map_err(early));
            }
            left = still;
            if !left.is_empty() && begin.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                let wrong = format!("MPI_Parrived of partitions {left:?} is not true within {seconds} s");
                return Err(context.wrong(exchange.what, wrong));
            }
        }
        Ok(incoming.wait()?)
    };
    exchange.run(context, &mut send, &mut receive)
}

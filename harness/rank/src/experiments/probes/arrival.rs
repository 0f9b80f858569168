//! Partitions looked at by `MPI_Parrived`, and when they arrive.

use std::time::{Duration, Instant};

use common::model::Seen;

use super::context::{Observation, ProbeContext, Stop};
use super::exchange::{self, ProbeExchange};
use super::marking::{UNEQUAL, UNEQUAL_BYTES, eight};
use super::message::{Incoming, Outgoing, Shape};

/// Transfers of each shape: the sender pauses in each.
const TRANSFERS: u32 = 10;

/// Between two partitions, so that one that is said to be there too early is caught.
const PAUSE: Duration = Duration::from_micros(300);

/// Within this, a partition that was sent is there, on a machine however busy.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn equal(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    for shape in [Shape::bytes(8, 8), eight()] {
        watched(
            context,
            &ProbeExchange { transfers: TRANSFERS, ..ProbeExchange::equal(context, "8/8", shape) },
        )?;
    }
    Ok(Observation::fine())
}

pub fn unequal(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    for (send, receive) in UNEQUAL {
        let shape = |partitions| Shape::bytes(partitions, UNEQUAL_BYTES / partitions);
        let what = format!("{send}/{receive}");
        let exchange =
            ProbeExchange { receive: shape(receive), ..ProbeExchange::equal(context, &what, shape(send)) };
        watched(context, &ProbeExchange { transfers: TRANSFERS, ..exchange })?;
    }
    Ok(Observation::fine())
}

/// Sends slowly, and compares each partition as soon as it is said to be there.
fn watched(context: &ProbeContext<'_>, exchange: &ProbeExchange<'_>) -> Result<(), Stop> {
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
                // SAFETY: MPI has said that the partition is there; that it may be wrong is what is looked for.
                let right = unsafe { incoming.content.compare(partition, incoming.pattern(generation)) };
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

pub fn early_delivery(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    /// The sender waits for so long without calling MPI, and the receiver looks for a part of it.
    const WAIT: Duration = Duration::from_millis(100);
    const LOOK: Duration = Duration::from_millis(70);
    const TRANSFERS: u32 = 5;
    let (mut is_early, mut details) = (false, Vec::new());
    for (size, bytes) in [("8 B", 8), ("64 KiB", 1 << 16), ("1 MiB", 1 << 20)] {
        let exchange = ProbeExchange {
            transfers: TRANSFERS,
            ..ProbeExchange::equal(context, size, Shape::bytes(4, bytes))
        };
        let mut times = Vec::new();
        let mut send = |outgoing: &mut Outgoing, generation| {
            // SAFETY: the message is not started yet.
            unsafe { outgoing.content.fill(0, outgoing.pattern(generation)) };
            context.comm.barrier()?;
            outgoing.start()?;
            outgoing.message.ready(0)?;
            std::thread::sleep(WAIT);
            outgoing.ready_from(1, generation)?;
            Ok(outgoing.wait()?)
        };
        let mut receive = |incoming: &mut Incoming, generation: u32| {
            // SAFETY: the message is not started yet.
            unsafe { incoming.poison() };
            context.comm.barrier()?;
            let begin = Instant::now();
            incoming.message.request().start()?;
            while begin.elapsed() < LOOK {
                if incoming.message.arrived(0)? {
                    times.push(begin.elapsed());
                    // SAFETY: MPI has said that the partition is there.
                    let right = unsafe { incoming.content.compare(0, incoming.pattern(generation)) };
                    context.count(size, right);
                    break;
                }
            }
            Ok(incoming.wait()?)
        };
        exchange.run(context, &mut send, &mut receive)?;
        is_early |= !times.is_empty();
        let time = times
            .iter()
            .min()
            .map(|time| format!(", {:.0} µs after the receiver's start at best", time.as_secs_f64() * 1e6));
        details.push(format!("{size}: {} of {TRANSFERS}{}", times.len(), time.unwrap_or_default()));
    }
    if context.rank == exchange::SENDER {
        return Ok(Observation::fine());
    }
    let outcome = if is_early { Seen::Yes } else { Seen::No };
    Ok(Observation::new(outcome, format!("partitions of {}", details.join("; "))))
}

//! Many requests, many partitions, none of anything, and very much.

use std::time::{Duration, Instant};

use common::memory;
use common::model::check::{Answer, CheckOutcome};

use super::exchange::{self, TAG, Transfers};
use super::message::{Incoming, Outgoing, Shape};
use crate::conformance::context::{CheckContext, Stop};

pub fn many_requests(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    requests(context, [256, 2000])
}

pub fn very_many_requests(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    requests(context, [2000, 20000])
}

fn requests(context: &CheckContext<'_>, counts: [usize; 2]) -> Result<Answer, Stop> {
    const TRANSFERS: u32 = 3;
    let shape = Shape::bytes(2, 8);
    let mut details = Vec::new();
    let mut took = Duration::ZERO;
    for requests in counts {
        let what = format!("{requests} requests");
        context.work(&what);
        let _heartbeat = context.heartbeat(&what, took, counts[0], requests);
        let (mut initialised_s, mut transferred_s) = (0.0, 0.0);
        let begin = Instant::now();
        if context.rank == 0 {
            let new = |i| Outgoing::new(context.comm, 1, TAG + i, &shape, 0);
            let mut all = (0..requests).map(new).collect::<Result<Vec<_>, _>>()?;
            initialised_s += begin.elapsed().as_secs_f64();
            for _ in 0..TRANSFERS {
                let generation = context.next_generation();
                let begin = Instant::now();
                all.iter_mut().try_for_each(Outgoing::start)?;
                all.iter().try_for_each(|outgoing| outgoing.ready_from(0, generation))?;
                all.iter_mut().try_for_each(Outgoing::wait)?;
                transferred_s = begin.elapsed().as_secs_f64();
            }
            all.into_iter().try_for_each(Outgoing::free)?;
        } else {
            let new = |i| Incoming::new(context.comm, 0, TAG + i, &shape, 0);
            let mut all = (0..requests).map(new).collect::<Result<Vec<_>, _>>()?;
            for _ in 0..TRANSFERS {
                let generation = context.next_generation();
                all.iter_mut().try_for_each(Incoming::start)?;
                all.iter_mut().try_for_each(Incoming::wait)?;
                // SAFETY: waited for above.
                let right = all.iter().try_for_each(|incoming| unsafe { incoming.compare(generation) });
                context.count(&what, right);
            }
            all.into_iter().try_for_each(Incoming::free)?;
        }
        took = begin.elapsed();
        let (one_us, all_ms) = (initialised_s / requests as f64 * 1e6, transferred_s * 1e3);
        details.push(format!("{requests}: {one_us:.1} µs to initialise one, {all_ms:.2} ms for all"));
    }
    Ok(if context.rank == 0 {
        Answer::new(CheckOutcome::Passed, details.join("; "))
    } else {
        Answer::passed()
    })
}

pub fn many_partitions(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    const TRANSFERS: u32 = 2;
    const COUNTS: [usize; 2] = [4096, 65536];
    let mut details = Vec::new();
    let mut took = Duration::ZERO;
    for partitions in COUNTS {
        let what = format!("{partitions} partitions");
        context.work(&what);
        let begin = Instant::now();
        let _heartbeat = context.heartbeat(&what, took, COUNTS[0], partitions);
        let mut took_s = 0.0;
        let mut send = |outgoing: &mut Outgoing, generation| {
            context.comm.barrier()?;
            exchange::send(outgoing, generation)
        };
        let mut receive = |incoming: &mut Incoming, generation| {
            context.comm.barrier()?;
            let begin = Instant::now();
            exchange::receive(incoming, generation)?;
            took_s = begin.elapsed().as_secs_f64();
            Ok(())
        };
        let exchange = Transfers::equal(context, &what, Shape::bytes(partitions, 8));
        Transfers { count: TRANSFERS, ..exchange }.run(context, &mut send, &mut receive)?;
        took = begin.elapsed();
        details.push(format!("{partitions}: {:.2} ms", took_s * 1e3));
    }
    Ok(if context.rank == 0 {
        Answer::passed()
    } else {
        Answer::new(CheckOutcome::Passed, details.join("; "))
    })
}

pub fn zero_count(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    Transfers { count: 10, ..Transfers::equal(context, "no elements", Shape::bytes(4, 0)) }
        .plainly(context)?;
    Ok(Answer::passed())
}

pub fn large_message(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    const PARTITIONS: usize = 4;
    const BYTES: usize = 3 << 30;
    /// Both ranks have the message, and an MPI may keep a copy on each side.
    const NEEDED: usize = 4 * BYTES;
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let available = memory::available_bytes().map_or(0.0, |bytes| bytes as f64);
    let available = context.comm.minima(&[available])?[0];
    if available < NEEDED as f64 {
        let (needed, available) = (gib(NEEDED as f64), gib(available));
        let reason = format!("{needed:.0} GiB of memory are needed, {available:.1} GiB are available");
        return Ok(Answer::new(CheckOutcome::Skipped, reason));
    }
    // Each step has the limit to itself: on a busy machine memory is slow.
    let mut send = |outgoing: &mut Outgoing, generation| {
        context.work("starting");
        outgoing.start()?;
        for partition in 0..PARTITIONS {
            outgoing.ready(partition, generation)?;
            context.work(&format!("sending partition {partition}"));
        }
        outgoing.wait()?;
        context.work("comparing");
        Ok(())
    };
    let exchange = Transfers::equal(context, "3 GiB", Shape::bytes(PARTITIONS, BYTES / PARTITIONS));
    Transfers { count: 1, ..exchange }.send_by(context, &mut send)?;
    Ok(Answer::passed())
}

//! Many requests, many partitions, empty ones, and very large ones.

use std::time::{Duration, Instant};

use common::memory;
use common::model::check::{Answer, CheckOutcome};

use super::exchange::{self, TAG, Transfers, receive_all};
use super::message::{Incoming, Outgoing, Shape};
use crate::conformance::context::{CheckContext, Stop};

pub fn many_requests(context: &CheckContext<'_>) -> Result<(), Stop> {
    requests(context, [256, 2000])
}

pub fn very_many_requests(context: &CheckContext<'_>) -> Result<(), Stop> {
    requests(context, [2000, 20000])
}

fn requests(context: &CheckContext<'_>, counts: [usize; 2]) -> Result<(), Stop> {
    let mut details = Vec::new();
    let mut took = Duration::ZERO;
    for requests in counts {
        let what = format!("{requests} requests");
        context.work(&what);
        let _heartbeat = context.heartbeat(&what, took, counts[0], requests);
        let (begin, mut initialised, mut transferred) = (Instant::now(), None, Duration::ZERO);
        let mut send = |all: &mut [(&mut Outgoing, u32)]| {
            initialised.get_or_insert_with(|| begin.elapsed());
            let begin = Instant::now();
            all.iter_mut().try_for_each(|(outgoing, _)| outgoing.start())?;
            all.iter().try_for_each(|(outgoing, generation)| outgoing.ready_from(0, *generation))?;
            all.iter_mut().try_for_each(|(outgoing, _)| outgoing.wait())?;
            transferred = begin.elapsed();
            Ok(())
        };
        let exchange = Transfers::equal(context, &what, Shape::bytes(2, 8));
        let exchange = Transfers { tags: (TAG..TAG + requests).collect(), count: 3, ..exchange };
        exchange.together(context, &mut send, &mut receive_all)?;
        took = begin.elapsed();
        let one_us = initialised.unwrap_or_default().as_secs_f64() / requests as f64 * 1e6;
        let all_ms = transferred.as_secs_f64() * 1e3;
        details.push(format!("{requests}: {one_us:.1} µs to initialise one, {all_ms:.2} ms for all"));
    }
    if context.rank == 0 {
        context.answer(Answer::new(CheckOutcome::Passed, details.join("; ")));
    }
    Ok(())
}

pub fn many_partitions(context: &CheckContext<'_>) -> Result<(), Stop> {
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
    if context.rank > 0 {
        context.answer(Answer::new(CheckOutcome::Passed, details.join("; ")));
    }
    Ok(())
}

pub fn zero_count(context: &CheckContext<'_>) -> Result<(), Stop> {
    Transfers { count: 10, ..Transfers::equal(context, "no elements", Shape::bytes(4, 0)) }.plainly(context)
}

pub fn large_message(context: &CheckContext<'_>) -> Result<(), Stop> {
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
        context.answer(Answer::new(CheckOutcome::Skipped, reason));
        return Ok(());
    }
    // The time limit applies to each step separately: on a busy machine memory is slow.
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
    Transfers { count: 1, ..exchange }.send_by(context, &mut send)
}

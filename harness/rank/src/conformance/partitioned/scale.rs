//! Many requests, many partitions, empty ones, and very large ones.

use std::time::{Duration, Instant};

use common::memory;
use common::model::check::{Answer, CheckOutcome};

use super::exchange::{TAG, Transfers, receive_all, send_all};
use super::message::{Outgoing, Shape};
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
        let exchange = Transfers::equal(context, &what, Shape::bytes(2, 8));
        let exchange = Transfers { tags: (TAG..TAG + requests).collect(), count: 3, ..exchange };
        let send = |all: &mut [(&mut Outgoing, u32)]| {
            initialised.get_or_insert_with(|| begin.elapsed());
            let begin = Instant::now();
            send_all(all)?;
            transferred = begin.elapsed();
            Ok(())
        };
        exchange.together(send, receive_all)?;
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
        let exchange = Transfers::equal(context, &what, Shape::bytes(partitions, 8));
        Transfers { count: TRANSFERS, ..exchange }.together(
            |all| {
                context.comm.barrier()?;
                send_all(all)
            },
            |all| {
                context.comm.barrier()?;
                let begin = Instant::now();
                receive_all(all)?;
                took_s = begin.elapsed().as_secs_f64();
                Ok(())
            },
        )?;
        took = begin.elapsed();
        details.push(format!("{partitions}: {:.2} ms", took_s * 1e3));
    }
    if context.rank > 0 {
        context.answer(Answer::new(CheckOutcome::Passed, details.join("; ")));
    }
    Ok(())
}

pub fn zero_count(context: &CheckContext<'_>) -> Result<(), Stop> {
    Transfers { count: 10, ..Transfers::equal(context, "no elements", Shape::bytes(4, 0)) }.plainly()
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
    let exchange = Transfers::equal(context, "3 GiB", Shape::bytes(PARTITIONS, BYTES / PARTITIONS));
    let send = |all: &mut [(&mut Outgoing, u32)]| {
        let (outgoing, generation) = &mut all[0];
        context.work("starting");
        outgoing.start()?;
        for partition in 0..PARTITIONS {
            outgoing.ready(partition, *generation)?;
            context.work(&format!("sending partition {partition}"));
        }
        outgoing.wait()?;
        context.work("comparing");
        Ok(())
    };
    Transfers { count: 1, ..exchange }.together(send, receive_all)
}

//! Many requests, many partitions, none of anything, and very much.

use std::time::{Duration, Instant};

use ddtbench::memory;
use ddtbench::partitioned::probe::Outcome;

use super::exchange::{self, Exchange, TAG};
use super::message::{Incoming, Outgoing, Shape};
use super::stage::{Seen, Stage, Stop};

pub fn many_requests(stage: &Stage<'_>) -> Result<Seen, Stop> {
    requests(stage, [256, 2000])
}

pub fn very_many_requests(stage: &Stage<'_>) -> Result<Seen, Stop> {
    requests(stage, [2000, 20000])
}

fn requests(stage: &Stage<'_>, counts: [usize; 2]) -> Result<Seen, Stop> {
    const TRANSFERS: u32 = 3;
    let shape = Shape::bytes(2, 8);
    let mut details = Vec::new();
    let mut took = Duration::ZERO;
    for requests in counts {
        let what = format!("{requests} requests");
        stage.work(&what);
        let _patience = stage.be_patient(&what, took, counts[0], requests);
        let (mut initialised_s, mut transferred_s) = (0.0, 0.0);
        let begin = Instant::now();
        if stage.rank == 0 {
            let new = |i| Outgoing::new(stage.comm, 1, TAG + i, &shape, 0);
            let mut all = (0..requests).map(new).collect::<Result<Vec<_>, _>>()?;
            initialised_s += begin.elapsed().as_secs_f64();
            for _ in 0..TRANSFERS {
                let generation = stage.next_generation();
                let begin = Instant::now();
                all.iter_mut().try_for_each(Outgoing::start)?;
                all.iter().try_for_each(|outgoing| outgoing.ready_from(0, generation))?;
                all.iter_mut().try_for_each(Outgoing::wait)?;
                transferred_s = begin.elapsed().as_secs_f64();
            }
            all.into_iter().try_for_each(Outgoing::free)?;
        } else {
            let new = |i| Incoming::new(stage.comm, 0, TAG + i, &shape, 0);
            let mut all = (0..requests).map(new).collect::<Result<Vec<_>, _>>()?;
            for _ in 0..TRANSFERS {
                let generation = stage.next_generation();
                all.iter_mut().try_for_each(Incoming::start)?;
                all.iter_mut().try_for_each(Incoming::wait)?;
                // SAFETY: waited for above.
                let right = all.iter().try_for_each(|incoming| unsafe { incoming.compare(generation) });
                stage.count(&what, right);
            }
            all.into_iter().try_for_each(Incoming::free)?;
        }
        took = begin.elapsed();
        let (one_us, all_ms) = (initialised_s / requests as f64 * 1e6, transferred_s * 1e3);
        details.push(format!("{requests}: {one_us:.1} µs to initialise one, {all_ms:.2} ms for all"));
    }
    Ok(if stage.rank == 0 { Seen::new(Outcome::Passed, details.join("; ")) } else { Seen::fine() })
}

pub fn many_partitions(stage: &Stage<'_>) -> Result<Seen, Stop> {
    const TRANSFERS: u32 = 2;
    const COUNTS: [usize; 2] = [4096, 65536];
    let mut details = Vec::new();
    let mut took = Duration::ZERO;
    for partitions in COUNTS {
        let what = format!("{partitions} partitions");
        stage.work(&what);
        let begin = Instant::now();
        let _patience = stage.be_patient(&what, took, COUNTS[0], partitions);
        let mut took_s = 0.0;
        let mut send = |outgoing: &mut Outgoing, generation| {
            stage.comm.barrier()?;
            exchange::send(outgoing, generation)
        };
        let mut receive = |incoming: &mut Incoming, generation| {
            stage.comm.barrier()?;
            let begin = Instant::now();
            exchange::receive(incoming, generation)?;
            took_s = begin.elapsed().as_secs_f64();
            Ok(())
        };
        let exchange = Exchange::equal(stage, &what, Shape::bytes(partitions, 8));
        Exchange { transfers: TRANSFERS, ..exchange }.run(stage, &mut send, &mut receive)?;
        took = begin.elapsed();
        details.push(format!("{partitions}: {:.2} ms", took_s * 1e3));
    }
    Ok(if stage.rank == 0 { Seen::fine() } else { Seen::new(Outcome::Passed, details.join("; ")) })
}

pub fn zero_count(stage: &Stage<'_>) -> Result<Seen, Stop> {
    Exchange { transfers: 10, ..Exchange::equal(stage, "no elements", Shape::bytes(4, 0)) }.plainly(stage)?;
    Ok(Seen::fine())
}

pub fn large_message(stage: &Stage<'_>) -> Result<Seen, Stop> {
    const PARTITIONS: usize = 4;
    const BYTES: usize = 3 << 30;
    /// Both ranks have the message, and an MPI may keep a copy on each side.
    const NEEDED: usize = 4 * BYTES;
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let available = memory::available_bytes().map_or(0.0, |bytes| bytes as f64);
    let available = stage.comm.minima(&[available])?[0];
    if available < NEEDED as f64 {
        let (needed, available) = (gib(NEEDED as f64), gib(available));
        let reason = format!("{needed:.0} GiB of memory are needed, {available:.1} GiB are available");
        return Ok(Seen::new(Outcome::Skipped, reason));
    }
    // Each step has the limit to itself: on a busy machine memory is slow.
    let mut send = |outgoing: &mut Outgoing, generation| {
        stage.work("starting");
        outgoing.start()?;
        for partition in 0..PARTITIONS {
            outgoing.ready(partition, generation)?;
            stage.work(&format!("sending partition {partition}"));
        }
        outgoing.wait()?;
        stage.work("comparing");
        Ok(())
    };
    let exchange = Exchange::equal(stage, "3 GiB", Shape::bytes(PARTITIONS, BYTES / PARTITIONS));
    Exchange { transfers: 1, ..exchange }.send_by(stage, &mut send)?;
    Ok(Seen::fine())
}

//! Requests started together, by some ranks, with oneself, in a ring, before the other side is there, or never.

use std::time::Duration;

use datatypes::Element;

use super::exchange::{self, Exchange, TAG, TRANSFERS};
use super::marking::{both_ways, eight, free, to_and_from};
use super::message::{Incoming, Outgoing, Shape};
use super::stage::{Seen, Stage, Stop};
use crate::checked::{Datatype, partitioned};

pub fn startall_sends(stage: &Stage<'_>) -> Result<Seen, Stop> {
    let tags = [TAG, TAG + 1];
    if stage.rank == 0 {
        let new = |tag| Outgoing::new(stage.comm, 1, tag, &eight(), 0);
        let [mut first, mut second] = [new(tags[0])?, new(tags[1])?];
        for _ in 0..TRANSFERS {
            let generations = tags.map(|_| stage.next_generation());
            partitioned::start_all(&mut [&mut first.message, &mut second.message])?;
            first.ready_from(0, generations[0])?;
            second.ready_from(0, generations[1])?;
            first.wait()?;
            second.wait()?;
        }
        first.free()?;
        second.free()?;
    } else {
        let new = |tag| Incoming::new(stage.comm, 0, tag, &eight(), 0);
        let mut both = [new(tags[0])?, new(tags[1])?];
        for _ in 0..TRANSFERS {
            let generations = tags.map(|_| stage.next_generation());
            both.iter_mut().try_for_each(Incoming::start)?;
            both.iter_mut().try_for_each(Incoming::wait)?;
            for ((incoming, generation), what) in both.iter().zip(generations).zip(["first", "second"]) {
                // SAFETY: waited for above.
                stage.count(what, unsafe { incoming.compare(generation) });
            }
        }
        both.into_iter().try_for_each(Incoming::free)?;
    }
    Ok(Seen::fine())
}

pub fn startall_send_and_receive(stage: &Stage<'_>) -> Result<Seen, Stop> {
    let peer = 1 - stage.rank;
    let (mut outgoing, mut incoming) = to_and_from(stage, peer, peer)?;
    for _ in 0..TRANSFERS {
        both_ways(stage, "both ways", &mut outgoing, &mut incoming, |outgoing, incoming| {
            // SAFETY: the message is not started yet.
            unsafe { incoming.poison() };
            Ok(partitioned::start_all(&mut [&mut outgoing.message, &mut incoming.message])?)
        })?;
    }
    free(outgoing, incoming)
}

/// Started one by one.
fn start(outgoing: &mut Outgoing, incoming: &mut Incoming) -> Result<(), Stop> {
    incoming.start()?;
    Ok(outgoing.start()?)
}

pub fn ring(stage: &Stage<'_>) -> Result<Seen, Stop> {
    let ranks = stage.comm.size()?;
    let (next, previous) = ((stage.rank + 1) % ranks, (stage.rank + ranks - 1) % ranks);
    let (mut outgoing, mut incoming) = to_and_from(stage, next, previous)?;
    for _ in 0..20 {
        both_ways(stage, "ring", &mut outgoing, &mut incoming, start)?;
    }
    free(outgoing, incoming)
}

pub fn self_communication(stage: &Stage<'_>) -> Result<Seen, Stop> {
    let alone = stage.comm.this_process()?;
    for (what, comm, rank) in [("MPI_COMM_WORLD", stage.comm, stage.rank), ("MPI_COMM_SELF", &alone, 0)] {
        stage.work(what);
        for receive in [eight(), Shape::bytes(4, 2 * 4096)] {
            let what = format!("{what}, 8/{}", receive.partitions);
            let mut outgoing = Outgoing::new(comm, rank, TAG, &eight(), stage.rank)?;
            let mut incoming = Incoming::new(comm, rank, TAG, &receive, stage.rank)?;
            for _ in 0..20 {
                both_ways(stage, &what, &mut outgoing, &mut incoming, start)?;
            }
            free(outgoing, incoming)?;
        }
    }
    Ok(Seen::fine())
}

pub fn self_communication_alone(stage: &Stage<'_>) -> Result<Seen, Stop> {
    // The other rank has no partitioned request at all.
    if stage.rank > 0 {
        return Ok(Seen::fine());
    }
    let mut outgoing = Outgoing::new(stage.comm, 0, TAG, &eight(), 0)?;
    let mut incoming = Incoming::new(stage.comm, 0, TAG, &eight(), 0)?;
    for _ in 0..20 {
        both_ways(stage, "rank 0 with itself", &mut outgoing, &mut incoming, start)?;
    }
    free(outgoing, incoming)
}

pub fn receiver_waits_first(stage: &Stage<'_>) -> Result<Seen, Stop> {
    /// Time for a receiver to come to its wait.
    const LATE: Duration = Duration::from_millis(100);
    for _ in 0..3 {
        if stage.rank == 0 {
            std::thread::sleep(LATE);
        }
        Exchange { transfers: 1, ..Exchange::equal(stage, "late sender", eight()) }.plainly(stage)?;
    }
    Ok(Seen::fine())
}

pub fn not_freed(stage: &Stage<'_>) -> Result<Seen, Stop> {
    for i in 0..10 {
        let (tag, generation) = (TAG + i, stage.next_generation());
        // Dropping them frees nothing.
        if stage.rank == 0 {
            let mut outgoing = Outgoing::new(stage.comm, 1, tag, &eight(), 0)?;
            exchange::send(&mut outgoing, generation)?;
        } else {
            let mut incoming = Incoming::new(stage.comm, 0, tag, &eight(), 0)?;
            exchange::receive(&mut incoming, generation)?;
            // SAFETY: waited for above.
            stage.count("used once", unsafe { incoming.compare(generation) });
        }
    }
    Ok(Seen::fine())
}

pub fn late_receiver(stage: &Stage<'_>) -> Result<Seen, Stop> {
    /// Time for a sender to go on, if it wrongly could.
    const LATE: Duration = Duration::from_millis(100);
    let (byte, mut word) = (Datatype::predefined(Element::Byte), [0u8]);
    for _ in 0..3 {
        let generation = stage.next_generation();
        if stage.rank == 0 {
            let mut outgoing = Outgoing::new(stage.comm, 1, TAG, &eight(), 0)?;
            outgoing.start()?;
            outgoing.ready_from(0, generation)?;
            // Only now may the receiver begin: had one of these waited for it, both would wait for ever.
            // SAFETY: one byte.
            unsafe { stage.comm.send(word.as_ptr(), 1, &byte, 1)? };
            outgoing.wait()?;
            outgoing.free()?;
        } else {
            // SAFETY: one byte.
            unsafe { stage.comm.receive(word.as_mut_ptr(), 1, &byte, 0)? };
            std::thread::sleep(LATE);
            let mut incoming = Incoming::new(stage.comm, 0, TAG, &eight(), 0)?;
            incoming.start()?;
            incoming.wait()?;
            // SAFETY: waited for above.
            stage.count("late", unsafe { incoming.compare(generation) });
            incoming.free()?;
        }
    }
    Ok(Seen::fine())
}

pub fn free_without_start(stage: &Stage<'_>) -> Result<Seen, Stop> {
    for _ in 0..10 {
        match stage.rank {
            0 => Outgoing::new(stage.comm, 1, TAG, &eight(), 0)?.free()?,
            _ => Incoming::new(stage.comm, 0, TAG, &eight(), 0)?.free()?,
        }
    }
    for (what, tag) in [("a message with another tag", TAG + 1), ("a message with the same tag", TAG)] {
        stage.work(what);
        let exchange = Exchange { tag, transfers: 3, ..Exchange::equal(stage, what, eight()) };
        exchange.plainly(stage)?;
    }
    Ok(Seen::fine())
}

//! Requests that are started together, on some ranks only, with oneself, in a ring, before the other side exists, or never.

use std::time::Duration;

use super::exchange::{self, TAG, TRANSFERS, Transfers, receive_all};
use super::marking::{both_ways, eight, free, to_and_from};
use super::message::{Incoming, Outgoing, Shape};
use crate::checked::request::{self, RequestList};
use crate::conformance::context::{CheckContext, Stop};

pub fn startall_sends(context: &CheckContext<'_>) -> Result<(), Stop> {
    let both = Transfers { tags: vec![TAG, TAG + 1], ..Transfers::equal(context, "both", eight()) };
    let mut send = |all: &mut [(&mut Outgoing, u32)]| {
        RequestList::for_up_to(all.len())
            .start_all(|start| all.iter_mut().for_each(|(outgoing, _)| start(outgoing.message.request())))?;
        all.iter().try_for_each(|(outgoing, generation)| outgoing.ready_from(0, *generation))?;
        Ok(all.iter_mut().try_for_each(|(outgoing, _)| outgoing.wait())?)
    };
    both.together(context, &mut send, &mut receive_all)
}

pub fn startall_send_and_receive(context: &CheckContext<'_>) -> Result<(), Stop> {
    let peer = 1 - context.rank;
    let (mut outgoing, mut incoming) = to_and_from(context, peer, peer)?;
    for _ in 0..TRANSFERS {
        both_ways(context, "both ways", &mut outgoing, &mut incoming, |outgoing, incoming| {
            // SAFETY: the message is not started yet.
            unsafe { incoming.poison() };
            Ok(RequestList::for_up_to(2).start_all(|start| {
                start(outgoing.message.request());
                start(incoming.message.request());
            })?)
        })?;
    }
    free(outgoing, incoming)
}

/// Starts the receive and then the send, by `MPI_Start` each.
fn start(outgoing: &mut Outgoing, incoming: &mut Incoming) -> Result<(), Stop> {
    incoming.start()?;
    Ok(outgoing.start()?)
}

pub fn ring(context: &CheckContext<'_>) -> Result<(), Stop> {
    let ranks = context.comm.size()?;
    let (next, previous) = ((context.rank + 1) % ranks, (context.rank + ranks - 1) % ranks);
    let (mut outgoing, mut incoming) = to_and_from(context, next, previous)?;
    for _ in 0..20 {
        both_ways(context, "ring", &mut outgoing, &mut incoming, start)?;
    }
    free(outgoing, incoming)
}

pub fn self_communication(context: &CheckContext<'_>) -> Result<(), Stop> {
    let alone = context.comm.this_process()?;
    for (what, comm, rank) in [("MPI_COMM_WORLD", context.comm, context.rank), ("MPI_COMM_SELF", &alone, 0)] {
        context.work(what);
        for receive in [eight(), Shape::bytes(4, 2 * 4096)] {
            let what = format!("{what}, 8/{}", receive.partitions);
            let mut outgoing = Outgoing::new(comm, rank, TAG, &eight(), context.rank)?;
            let mut incoming = Incoming::new(comm, rank, TAG, &receive, context.rank)?;
            for _ in 0..20 {
                both_ways(context, &what, &mut outgoing, &mut incoming, start)?;
            }
            free(outgoing, incoming)?;
        }
    }
    Ok(())
}

pub fn self_communication_alone(context: &CheckContext<'_>) -> Result<(), Stop> {
    // The other rank has no partitioned request.
    if context.rank > 0 {
        return Ok(());
    }
    let mut outgoing = Outgoing::new(context.comm, 0, TAG, &eight(), 0)?;
    let mut incoming = Incoming::new(context.comm, 0, TAG, &eight(), 0)?;
    for _ in 0..20 {
        both_ways(context, "rank 0 with itself", &mut outgoing, &mut incoming, start)?;
    }
    free(outgoing, incoming)
}

pub fn receiver_waits_first(context: &CheckContext<'_>) -> Result<(), Stop> {
    /// Time for a receiver to reach its wait.
    const LATE: Duration = Duration::from_millis(100);
    for _ in 0..3 {
        if context.rank == 0 {
            std::thread::sleep(LATE);
        }
        Transfers { count: 1, ..Transfers::equal(context, "late sender", eight()) }.plainly(context)?;
    }
    Ok(())
}

pub fn not_freed(context: &CheckContext<'_>) -> Result<(), Stop> {
    for i in 0..10 {
        let (tag, generation) = (TAG + i, context.next_generation());
        // Dropping them does not free them.
        if context.rank == 0 {
            let mut outgoing = Outgoing::new(context.comm, 1, tag, &eight(), 0)?;
            exchange::send(&mut outgoing, generation)?;
        } else {
            let mut incoming = Incoming::new(context.comm, 0, tag, &eight(), 0)?;
            exchange::receive(&mut incoming, generation)?;
            // SAFETY: waited for above.
            context.count("used once", unsafe { incoming.compare(generation) });
        }
    }
    Ok(())
}

pub fn late_receiver(context: &CheckContext<'_>) -> Result<(), Stop> {
    /// Time for a sender to continue, if it wrongly could.
    const LATE: Duration = Duration::from_millis(100);
    for _ in 0..3 {
        if context.rank > 0 {
            context.comm.pass_token(false, 0, 0)?;
            std::thread::sleep(LATE);
        }
        let mut send = |outgoing: &mut Outgoing, generation| {
            outgoing.start()?;
            outgoing.ready_from(0, generation)?;
            // Only now may the receiver begin: if the sender had waited for it, both would wait forever.
            context.comm.pass_token(true, 1, 0)?;
            Ok(outgoing.wait()?)
        };
        Transfers { count: 1, ..Transfers::equal(context, "late", eight()) }.send_by(context, &mut send)?;
    }
    Ok(())
}

pub fn free_without_start(context: &CheckContext<'_>) -> Result<(), Stop> {
    for _ in 0..10 {
        match context.rank {
            0 => Outgoing::new(context.comm, 1, TAG, &eight(), 0)?.free()?,
            _ => Incoming::new(context.comm, 0, TAG, &eight(), 0)?.free()?,
        }
    }
    for (what, tag) in [("a message with another tag", TAG + 1), ("a message with the same tag", TAG)] {
        context.work(what);
        let exchange = Transfers { tags: vec![tag], count: 3, ..Transfers::equal(context, what, eight()) };
        exchange.plainly(context)?;
    }
    Ok(())
}

pub fn proc_null(context: &CheckContext<'_>) -> Result<(), Stop> {
    context.work("initialising a send");
    let mut outgoing = Outgoing::new(context.comm, request::proc_null(), TAG, &eight(), context.rank)?;
    context.work("initialising a receive");
    let mut incoming = Incoming::new(context.comm, request::proc_null(), TAG, &eight(), context.rank)?;
    for _ in 0..10 {
        let generation = context.next_generation();
        context.work("a send");
        outgoing.start()?;
        outgoing.ready_from(0, generation)?;
        outgoing.wait()?;
        context.work("a receive");
        incoming.start()?;
        incoming.wait()?;
        // SAFETY: waited for above.
        context.count("a receive", unsafe { incoming.untouched_from(0) });
    }
    outgoing.free()?;
    Ok(incoming.free()?)
}

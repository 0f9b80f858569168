//! Requests that are started together, on some ranks only, with oneself, in a ring, before the other side exists, or never.

use std::time::Duration;

use super::exchange::{TAG, TRANSFERS, Transfers, at_once, receive_all, send_all};
use super::marking::eight;
use super::message::{Incoming, Outgoing, Shape};
use crate::checked::request::{self, RequestList};
use crate::conformance::context::{CheckContext, Stop};

pub fn startall_sends(context: &CheckContext<'_>) -> Result<(), Stop> {
    let both = Transfers { tags: vec![TAG, TAG + 1], ..Transfers::equal(context, "both", eight()) };
    both.together(
        |all| {
            RequestList::for_up_to(all.len()).start_all(|start| {
                all.iter_mut().for_each(|(outgoing, _)| start(outgoing.message.request()));
            })?;
            all.iter().try_for_each(|(outgoing, generation)| outgoing.ready_from(0, *generation))?;
            Ok(all.iter_mut().try_for_each(|(outgoing, _)| outgoing.wait())?)
        },
        receive_all,
    )
}

/// A send to and a receive from other ranks of the world, of eight partitions.
fn to_and_from(context: &CheckContext<'_>, to: usize, from: usize) -> Result<(Outgoing, Incoming), Stop> {
    let outgoing = Outgoing::new(context.comm, to, TAG, &eight(), context.rank)?;
    let incoming = Incoming::new(context.comm, from, TAG, &eight(), from)?;
    Ok((outgoing, incoming))
}

/// Sends while receiving, this many times with requests that are started in the given way; compares, and frees both.
fn both_ways(
    context: &CheckContext<'_>,
    what: &str,
    (mut outgoing, mut incoming): (Outgoing, Incoming),
    times: u32,
    start: impl Fn(&mut Outgoing, &mut Incoming) -> Result<(), Stop>,
) -> Result<(), Stop> {
    for _ in 0..times {
        let generation = context.next_generation();
        start(&mut outgoing, &mut incoming)?;
        outgoing.ready_from(0, generation)?;
        outgoing.wait()?;
        incoming.wait()?;
        // SAFETY: waited for above.
        context.count(what, unsafe { incoming.compare(generation) });
    }
    outgoing.free()?;
    Ok(incoming.free()?)
}

pub fn startall_send_and_receive(context: &CheckContext<'_>) -> Result<(), Stop> {
    let peer = 1 - context.rank;
    let both = to_and_from(context, peer, peer)?;
    both_ways(context, "both ways", both, TRANSFERS, |outgoing, incoming| {
        // SAFETY: the message is not started yet.
        unsafe { incoming.poison() };
        Ok(RequestList::for_up_to(2).start_all(|start| {
            start(outgoing.message.request());
            start(incoming.message.request());
        })?)
    })
}

/// Starts the receive and then the send, by `MPI_Start` each.
fn start(outgoing: &mut Outgoing, incoming: &mut Incoming) -> Result<(), Stop> {
    incoming.start()?;
    Ok(outgoing.start()?)
}

pub fn ring(context: &CheckContext<'_>) -> Result<(), Stop> {
    let ranks = context.comm.size()?;
    let (next, previous) = ((context.rank + 1) % ranks, (context.rank + ranks - 1) % ranks);
    both_ways(context, "ring", to_and_from(context, next, previous)?, 20, start)
}

pub fn self_communication(context: &CheckContext<'_>) -> Result<(), Stop> {
    let alone = context.comm.this_process()?;
    for (what, comm, rank) in [("MPI_COMM_WORLD", context.comm, context.rank), ("MPI_COMM_SELF", &alone, 0)] {
        context.work(what);
        for receive in [eight(), Shape::bytes(4, 2 * 4096)] {
            let what = format!("{what}, 8/{}", receive.partitions);
            let outgoing = Outgoing::new(comm, rank, TAG, &eight(), context.rank)?;
            let incoming = Incoming::new(comm, rank, TAG, &receive, context.rank)?;
            both_ways(context, &what, (outgoing, incoming), 20, start)?;
        }
    }
    Ok(())
}

pub fn self_communication_alone(context: &CheckContext<'_>) -> Result<(), Stop> {
    // The other rank has no partitioned request.
    if context.rank > 0 {
        return Ok(());
    }
    both_ways(context, "rank 0 with itself", to_and_from(context, 0, 0)?, 20, start)
}

pub fn receiver_waits_first(context: &CheckContext<'_>) -> Result<(), Stop> {
    /// Time for a receiver to reach its wait.
    const LATE: Duration = Duration::from_millis(100);
    for _ in 0..3 {
        if context.rank == 0 {
            std::thread::sleep(LATE);
        }
        Transfers { count: 1, ..Transfers::equal(context, "late sender", eight()) }.plainly()?;
    }
    Ok(())
}

pub fn not_freed(context: &CheckContext<'_>) -> Result<(), Stop> {
    for i in 0..10 {
        let (tag, generation) = (TAG + i, context.next_generation());
        // Dropping them does not free them.
        if context.rank == 0 {
            let mut outgoing = Outgoing::new(context.comm, 1, tag, &eight(), 0)?;
            send_all(&mut [(&mut outgoing, generation)])?;
        } else {
            let mut incoming = Incoming::new(context.comm, 0, tag, &eight(), 0)?;
            receive_all(&mut [(&mut incoming, generation)])?;
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
        let send = |outgoing: &mut Outgoing, generation| {
            outgoing.ready_from(0, generation)?;
            // Only now may the receiver begin: if the sender had waited for it, both would wait forever.
            Ok(context.comm.pass_token(true, 1, 0)?)
        };
        Transfers { count: 1, ..Transfers::equal(context, "late", eight()) }.run(send, at_once)?;
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
        exchange.plainly()?;
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

//! What the standard forbids or leaves open, and `MPI_PROC_NULL`, which it allows.

use common::model::Seen;

use super::context::{Observation, ProbeContext, Stop, refused};
use super::exchange::TAG;
use super::marking::eight;
use super::message::{Incoming, Outgoing, Shape};
use crate::checked::request;

fn accepted(detail: impl Into<String>) -> Observation {
    Observation::new(Seen::Accepted, detail)
}

/// What a comparison says, in a few words.
fn data(right: Result<(), String>) -> String {
    right.map_or_else(|wrong| format!("the data is wrong ({wrong})"), |()| "the data is right".to_owned())
}

pub fn zero_partitions(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    let shape = Shape::bytes(0, 8);
    context.work("initialising");
    if context.rank == 0 {
        let mut outgoing = Outgoing::new(context.comm, 1, TAG, &shape, 0).map_err(refused)?;
        context.work("exchange");
        outgoing.start().and_then(|()| outgoing.wait()).map_err(refused)?;
        outgoing.free().map_err(refused)?;
        return Ok(accepted("no error, and it completes"));
    }
    let mut incoming = Incoming::new(context.comm, 0, TAG, &shape, 0).map_err(refused)?;
    incoming.start().and_then(|()| incoming.wait()).map_err(refused)?;
    incoming.free().map_err(refused)?;
    Ok(Observation::fine())
}

pub fn proc_null(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
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
    incoming.free()?;
    Ok(Observation::fine())
}

pub fn any_source(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    match Incoming::new(context.comm, request::any_source(), TAG, &eight(), context.rank) {
        Err(error) => Ok(Observation::new(Seen::Refused, error.to_string())),
        Ok(incoming) => {
            incoming.free()?;
            Ok(accepted("MPI_Precv_init returns no error"))
        }
    }
}

pub fn receive_larger_than_send(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    const PARTITIONS: usize = 4;
    const BYTES: usize = 100;
    let generation = context.next_generation();
    if context.rank == 0 {
        let shape = Shape::bytes(PARTITIONS, BYTES);
        let mut outgoing = Outgoing::new(context.comm, 1, TAG, &shape, 0).map_err(refused)?;
        outgoing.start().map_err(refused)?;
        outgoing.ready_from(0, generation).map_err(refused)?;
        outgoing.wait().map_err(refused)?;
        outgoing.free().map_err(refused)?;
        return Ok(Observation::fine());
    }
    let shape = Shape::bytes(PARTITIONS, 2 * BYTES);
    let mut incoming = Incoming::new(context.comm, 0, TAG, &shape, 0).map_err(refused)?;
    incoming.start().map_err(refused)?;
    let Incoming { message, datatype, .. } = &mut incoming;
    let count = message.request().wait_and_count(datatype).map_err(refused)?;
    let sent = PARTITIONS * BYTES;
    let count = count.map_or("no count".to_owned(), |count| format!("a count of {count}"));
    // What was sent fills the first half of the partitions.
    let pattern = incoming.pattern(generation);
    let compare = |partition| {
        // SAFETY: waited for above.
        unsafe { incoming.content.compare(partition, pattern) }
    };
    let right = (0..PARTITIONS / 2).try_for_each(compare);
    // SAFETY: as above.
    let right = data(right.and_then(|()| unsafe { incoming.untouched_from(PARTITIONS / 2) }));
    incoming.free().map_err(refused)?;
    Ok(accepted(format!("no error, {count} where {sent} were sent; {right}")))
}

pub fn double_pready(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    marked_wrongly(context, |outgoing, generation| {
        outgoing.start()?;
        outgoing.ready(0, generation)?;
        outgoing.message.ready(0).map_err(refused)?;
        outgoing.ready_from(1, generation).map_err(refused)
    })
}

pub fn pready_before_start(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    marked_wrongly(context, |outgoing, generation| {
        outgoing.ready(0, generation).map_err(refused)?;
        outgoing.start().map_err(refused)?;
        // An MPI that heeds what came before the start may be reading the partition: it is not written again.
        outgoing.message.ready(0).map_err(refused)?;
        outgoing.ready_from(1, generation).map_err(refused)
    })
}

pub fn pready_out_of_range(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    marked_wrongly(context, |outgoing, generation| {
        outgoing.start()?;
        outgoing.message.ready(outgoing.partitions()).map_err(refused)?;
        outgoing.ready_from(0, generation).map_err(refused)
    })
}

pub fn cancel_inactive(context: &ProbeContext<'_>) -> Result<Observation, Stop> {
    if context.rank == 0 {
        Outgoing::new(context.comm, 1, TAG, &eight(), 0)?.free()?;
        return Ok(Observation::fine());
    }
    let mut incoming = Incoming::new(context.comm, 0, TAG, &eight(), 0)?;
    let seen = match incoming.message.request().cancel() {
        Err(error) => Observation::new(Seen::Refused, error.to_string()),
        Ok(()) => accepted("MPI_Cancel returns no error"),
    };
    incoming.free()?;
    Ok(seen)
}

/// A transfer of which partitions are marked wrongly by `mark`.
fn marked_wrongly(
    context: &ProbeContext<'_>,
    mark: impl Fn(&mut Outgoing, u32) -> Result<(), Stop>,
) -> Result<Observation, Stop> {
    let generation = context.next_generation();
    if context.rank == 0 {
        let mut outgoing = Outgoing::new(context.comm, 1, TAG, &eight(), 0)?;
        mark(&mut outgoing, generation)?;
        context.work("waiting");
        outgoing.wait().map_err(refused)?;
        outgoing.free().map_err(refused)?;
        return Ok(Observation::fine());
    }
    let mut incoming = Incoming::new(context.comm, 0, TAG, &eight(), 0)?;
    incoming.start()?;
    incoming.wait().map_err(refused)?;
    // SAFETY: waited for above.
    let right = data(unsafe { incoming.compare(generation) });
    incoming.free().map_err(refused)?;
    Ok(accepted(format!("no error; {right}")))
}

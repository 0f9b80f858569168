//! Partitions marked ready in every way; the receiver waits for the whole message.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::exchange::{TAG, TRANSFERS, Transfers};
use super::message::{Incoming, Outgoing, Shape};
use crate::conformance::context::{CheckContext, Stop};
use crate::payload::Version;

/// Eight partitions of several KiB: too much for a message header, little enough to be fast.
pub fn eight() -> Shape {
    Shape::bytes(8, 4096)
}

/// Small and larger partitions.
fn sizes() -> [Shape; 3] {
    [Shape::bytes(8, 8), eight(), Shape::bytes(8, 1 << 17)]
}

pub fn equal_counts(context: &CheckContext<'_>) -> Result<(), Stop> {
    for shape in sizes() {
        Transfers::equal(context, "8/8", shape).plainly(context)?;
    }
    Ok(())
}

pub fn any_order(context: &CheckContext<'_>) -> Result<(), Stop> {
    let mut random = Pcg64::seed_from_u64(1);
    let mut shuffled: Vec<usize> = (0..8).collect();
    shuffled.shuffle(&mut random);
    let orders = [
        ("backwards", vec![7, 6, 5, 4, 3, 2, 1, 0]),
        ("interleaved", vec![0, 2, 4, 6, 1, 3, 5, 7]),
        ("random", shuffled),
    ];
    for (name, order) in orders {
        Transfers::equal(context, name, eight()).send_by(context, &mut |outgoing, generation| {
            outgoing.start()?;
            order.iter().try_for_each(|&partition| outgoing.ready(partition, generation))?;
            Ok(outgoing.wait()?)
        })?;
    }
    Ok(())
}

pub fn duplicated_communicator(context: &CheckContext<'_>) -> Result<(), Stop> {
    let comm = context.comm.duplicate()?;
    Transfers { comm: &comm, ..Transfers::equal(context, "8/8", eight()) }.plainly(context)
}

pub fn reinitialised(context: &CheckContext<'_>) -> Result<(), Stop> {
    for _ in 0..TRANSFERS {
        Transfers { count: 1, ..Transfers::equal(context, "8/8", eight()) }.plainly(context)?;
    }
    Ok(())
}

/// Numbers of partitions on the sending and the receiving side: divided, multiplied, neither, all to one.
pub const UNEQUAL: [(usize, usize); 5] = [(8, 4), (6, 4), (8, 1), (1, 8), (4, 8)];

/// Bytes of a message; divisible by all numbers of [`UNEQUAL`].
pub const UNEQUAL_BYTES: usize = 24 * 1024;

pub fn unequal_counts(context: &CheckContext<'_>) -> Result<(), Stop> {
    for (send, receive) in UNEQUAL {
        let shape = |partitions| Shape::bytes(partitions, UNEQUAL_BYTES / partitions);
        let what = format!("{send}/{receive}");
        let exchange = Transfers { receive: shape(receive), ..Transfers::equal(context, &what, shape(send)) };
        exchange.plainly(context)?;
    }
    Ok(())
}

pub fn range(context: &CheckContext<'_>) -> Result<(), Stop> {
    Transfers::equal(context, "ranges of 3 and 5", eight()).send_by(context, &mut |outgoing, generation| {
        outgoing.start()?;
        for (first, last) in [(5, 7), (0, 4)] {
            fill(outgoing, first..=last, generation);
            outgoing.message.ready_range(first, last).expect("was looked up before")?;
        }
        Ok(outgoing.wait()?)
    })
}

pub fn list(context: &CheckContext<'_>) -> Result<(), Stop> {
    Transfers::equal(context, "lists of 3 and 5", eight()).send_by(context, &mut |outgoing, generation| {
        outgoing.start()?;
        for list in [&[6, 1, 3][..], &[7, 0, 5, 2, 4]] {
            fill(outgoing, list.iter().map(|&partition| partition as usize), generation);
            outgoing.message.ready_list(list)?;
        }
        Ok(outgoing.wait()?)
    })
}

fn fill(outgoing: &Outgoing, partitions: impl IntoIterator<Item = usize>, generation: u32) {
    let version = Version::of_fill(generation);
    // SAFETY: started, and none of these is ready yet; one thread uses the whole message.
    partitions.into_iter().for_each(|partition| unsafe { outgoing.content.fill(partition, version) });
}

/// Sends to rank `to` while receiving from rank `from`, with requests that were started one by one; compares.
pub fn both_ways(
    context: &CheckContext<'_>,
    what: &str,
    outgoing: &mut Outgoing,
    incoming: &mut Incoming,
    start: impl Fn(&mut Outgoing, &mut Incoming) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let generation = context.next_generation();
    start(outgoing, incoming)?;
    outgoing.ready_from(0, generation)?;
    outgoing.wait()?;
    incoming.wait()?;
    // SAFETY: waited for above.
    context.count(what, unsafe { incoming.compare(generation) });
    Ok(())
}

/// Frees the requests of both directions.
pub fn free(outgoing: Outgoing, incoming: Incoming) -> Result<(), Stop> {
    outgoing.free()?;
    Ok(incoming.free()?)
}

/// Two requests of eight partitions, to and from other ranks of the world.
pub fn to_and_from(context: &CheckContext<'_>, to: usize, from: usize) -> Result<(Outgoing, Incoming), Stop> {
    let outgoing = Outgoing::new(context.comm, to, TAG, &eight(), context.rank)?;
    let incoming = Incoming::new(context.comm, from, TAG, &eight(), from)?;
    Ok((outgoing, incoming))
}

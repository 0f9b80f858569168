//! Partitions marked ready in every way; the receiver waits for the whole message.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::exchange::{TRANSFERS, Transfers, at_once};
use super::message::{Outgoing, Shape};
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
    sizes().into_iter().try_for_each(|shape| Transfers::equal(context, "8/8", shape).plainly())
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
        let send = |outgoing: &mut Outgoing, generation| {
            Ok(order.iter().try_for_each(|&partition| outgoing.ready(partition, generation))?)
        };
        Transfers::equal(context, name, eight()).run(send, at_once)?;
    }
    Ok(())
}

pub fn duplicated_communicator(context: &CheckContext<'_>) -> Result<(), Stop> {
    let comm = context.comm.duplicate()?;
    Transfers { comm: &comm, ..Transfers::equal(context, "8/8", eight()) }.plainly()
}

pub fn reinitialised(context: &CheckContext<'_>) -> Result<(), Stop> {
    let once = Transfers { count: 1, ..Transfers::equal(context, "8/8", eight()) };
    (0..TRANSFERS).try_for_each(|_| once.plainly())
}

pub fn unequal_counts(context: &CheckContext<'_>) -> Result<(), Stop> {
    unequal(context, |exchange| exchange.plainly())
}

/// Transfers with numbers of partitions on the sending and the receiving side: divided, multiplied, neither, all to one.
pub fn unequal(
    context: &CheckContext<'_>,
    run: impl Fn(Transfers<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    for (send, receive) in [(8, 4), (6, 4), (8, 1), (1, 8), (4, 8)] {
        /// Bytes of a message; divisible by all of these numbers.
        const BYTES: usize = 24 * 1024;
        let shape = |partitions| Shape::bytes(partitions, BYTES / partitions);
        let what = format!("{send}/{receive}");
        run(Transfers { receive: shape(receive), ..Transfers::equal(context, &what, shape(send)) })?;
    }
    Ok(())
}

pub fn range(context: &CheckContext<'_>) -> Result<(), Stop> {
    let send = |outgoing: &mut Outgoing, generation| {
        for (first, last) in [(5, 7), (0, 4)] {
            fill(outgoing, first..=last, generation);
            outgoing.message.ready_range(first, last).expect("was looked up before")?;
        }
        Ok(())
    };
    Transfers::equal(context, "ranges of 3 and 5", eight()).run(send, at_once)
}

pub fn list(context: &CheckContext<'_>) -> Result<(), Stop> {
    let send = |outgoing: &mut Outgoing, generation| {
        for list in [&[6, 1, 3][..], &[7, 0, 5, 2, 4]] {
            fill(outgoing, list.iter().map(|&partition| partition as usize), generation);
            outgoing.message.ready_list(list)?;
        }
        Ok(())
    };
    Transfers::equal(context, "lists of 3 and 5", eight()).run(send, at_once)
}

fn fill(outgoing: &Outgoing, partitions: impl IntoIterator<Item = usize>, generation: u32) {
    let version = Version::of_fill(generation);
    // SAFETY: started, and none of these is ready yet; one thread uses the whole message.
    partitions.into_iter().for_each(|partition| unsafe { outgoing.content.fill(partition, version) });
}

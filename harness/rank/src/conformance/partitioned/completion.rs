//! How messages are told apart and completed: by their order, beside plain messages of the same tag, and what is said of
//! them.

use common::model::check::Answer;
use datatypes::Element;

use super::exchange::{TAG, Transfers};
use super::marking::eight;
use super::message::{Incoming, Outgoing};
use crate::checked::request::{self, Status};
use crate::checked::{Datatype, Envelope, Request};
use crate::conformance::context::{CheckContext, Stop};
use crate::pattern::Pattern;

/// Transfers of each kind.
const TRANSFERS: u32 = 20;

pub fn two_requests_of_one_tag(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    // Messages match in the order in which both sides initialise.
    if context.rank == 0 {
        let new = || Outgoing::new(context.comm, 1, TAG, &eight(), 0);
        let mut both = [new()?, new()?];
        for _ in 0..TRANSFERS {
            for outgoing in &mut both {
                outgoing.start()?;
                outgoing.ready_from(0, context.next_generation())?;
            }
            both.iter_mut().try_for_each(Outgoing::wait)?;
        }
        both.into_iter().try_for_each(Outgoing::free)?;
    } else {
        let new = || Incoming::new(context.comm, 0, TAG, &eight(), 0);
        let mut both = [new()?, new()?];
        for _ in 0..TRANSFERS {
            both.iter_mut().try_for_each(Incoming::start)?;
            both.iter_mut().try_for_each(Incoming::wait)?;
            for (incoming, what) in both.iter().zip(["first", "second"]) {
                // SAFETY: waited for above.
                context.count(what, unsafe { incoming.compare(context.next_generation()) });
            }
        }
        both.into_iter().try_for_each(Incoming::free)?;
    }
    Ok(Answer::passed())
}

pub fn waitall_with_point_to_point(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    /// Bytes of the plain message: as many as the partitions have.
    const BYTES: usize = 8 * 4096;
    let byte = Datatype::predefined(Element::Byte);
    let envelope = |peer| Envelope { count: BYTES, datatype: &byte, peer, tag: TAG, comm: context.comm };
    // What belongs to a request that has failed may still be used: never given back.
    let plain = Box::leak(vec![0u8; BYTES].into_boxed_slice());
    if context.rank == 0 {
        let mut outgoing = Outgoing::new(context.comm, 1, TAG, &eight(), 0)?;
        for _ in 0..TRANSFERS {
            let (generation, of_plain) = (context.next_generation(), context.next_generation());
            Pattern::new(0, of_plain).write(0, plain);
            outgoing.start()?;
            outgoing.ready_from(0, generation)?;
            // SAFETY: all bytes of the message, which stay as they are until both are complete.
            let mut other = unsafe { Request::send(plain.as_ptr(), envelope(1)) }?;
            request::wait_all(vec![outgoing.message.request(), &mut other])?;
        }
        outgoing.free()?;
    } else {
        let mut incoming = Incoming::new(context.comm, 0, TAG, &eight(), 0)?;
        for _ in 0..TRANSFERS {
            let (generation, of_plain) = (context.next_generation(), context.next_generation());
            incoming.start()?;
            // SAFETY: all bytes of the message, which are left alone until both are complete.
            let mut other = unsafe { Request::receive(plain.as_mut_ptr(), envelope(0)) }?;
            request::wait_all(vec![incoming.message.request(), &mut other])?;
            // SAFETY: as above.
            context.count("partitioned", unsafe { incoming.compare(generation) });
            let wrong = Pattern::new(0, of_plain).first_difference(0, plain);
            context.count("plain", wrong.map_or(Ok(()), |at| Err(format!("byte {at}"))));
        }
        incoming.free()?;
    }
    Ok(Answer::passed())
}

pub fn status_fields(context: &CheckContext<'_>) -> Result<Answer, Stop> {
    let elements = eight().partitions * eight().count;
    let expected = Status { source: 0, tag: TAG as i32, count: Some(elements), is_cancelled: false };
    Transfers { count: TRANSFERS, ..Transfers::equal(context, "data", eight()) }.receive_by(
        context,
        &mut |incoming, _| {
            incoming.start()?;
            let Incoming { message, datatype, .. } = incoming;
            let status = message.request().wait_for_status(datatype)?;
            let right = status == expected;
            context.count("status", if right { Ok(()) } else { Err(format!("{status:?}")) });
            Ok(())
        },
    )?;
    Ok(Answer::passed())
}

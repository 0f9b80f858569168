//! How messages are matched and completed: by their order, next to plain messages with the same tag, and with the right status.

use common::packing::Form;
use datatypes::Element;

use super::exchange::{TAG, Transfers, receive_all, send_all};
use super::marking::eight;
use super::message::Incoming;
use crate::checked::request::{RequestList, Status};
use crate::checked::{Datatype, Envelope, Request};
use crate::conformance::context::{CheckContext, Stop};
use crate::payload::{Version, source_of};

/// Transfers of each kind.
const TRANSFERS: u32 = 20;

pub fn two_requests_of_one_tag(context: &CheckContext<'_>) -> Result<(), Stop> {
    // Messages match in the order in which both sides initialise them.
    let both =
        Transfers { tags: vec![TAG; 2], count: TRANSFERS, ..Transfers::equal(context, "both", eight()) };
    both.together(
        |all| {
            for (outgoing, generation) in &mut *all {
                outgoing.start()?;
                outgoing.ready_from(0, *generation)?;
            }
            Ok(all.iter_mut().try_for_each(|(outgoing, _)| outgoing.wait())?)
        },
        receive_all,
    )
}

pub fn waitall_with_point_to_point(context: &CheckContext<'_>) -> Result<(), Stop> {
    /// Bytes of the plain message: as many as the partitions have.
    const BYTES: usize = 8 * 4096;
    let byte = Datatype::predefined(Element::Byte);
    let complete = |one: &mut Request, is_sent: bool, address| {
        let peer = usize::from(is_sent);
        let envelope = Envelope { count: BYTES, datatype: &byte, peer, tag: TAG, comm: context.comm };
        // SAFETY: all bytes of the message, which are not changed or used until both are complete.
        let mut other = unsafe { Request::of_message(Form::Nonblocking, is_sent, address, envelope) }?;
        RequestList::for_up_to(2).wait_all(|wait| [&mut *one, &mut other].into_iter().for_each(wait))
    };
    // MPI may still use the memory of a failed request, so the memory is never freed.
    let [sent, received] = [(); 2].map(|()| Box::leak(vec![0u8; BYTES].into_boxed_slice()));
    let exchange = Transfers { count: TRANSFERS, ..Transfers::equal(context, "partitioned", eight()) };
    exchange.together(
        |all| {
            let (outgoing, generation) = &mut all[0];
            Version::of_fill(context.next_generation()).write(source_of(0, 0, 0), sent);
            outgoing.start()?;
            outgoing.ready_from(0, *generation)?;
            Ok(complete(outgoing.message.request(), true, sent.as_mut_ptr())?)
        },
        |all| {
            let incoming = &mut all[0].0;
            let of_plain = context.next_generation();
            incoming.start()?;
            complete(incoming.message.request(), false, received.as_mut_ptr())?;
            let wrong = Version::of_fill(of_plain).first_difference(source_of(0, 0, 0), received);
            context.count("plain", wrong.map_or(Ok(()), |at| Err(format!("byte {at}"))));
            Ok(())
        },
    )
}

pub fn status_fields(context: &CheckContext<'_>) -> Result<(), Stop> {
    let elements = eight().partitions * eight().count;
    let expected = Status { source: 0, tag: TAG as i32, count: Some(elements), is_cancelled: false };
    let exchange = Transfers { count: TRANSFERS, ..Transfers::equal(context, "data", eight()) };
    exchange.together(send_all, |all| {
        let incoming = &mut *all[0].0;
        incoming.start()?;
        let Incoming { message, datatype, .. } = incoming;
        let status = message.request().wait_for_status(datatype)?;
        let right = status == expected;
        context.count("status", if right { Ok(()) } else { Err(format!("{status:?}")) });
        Ok(())
    })
}

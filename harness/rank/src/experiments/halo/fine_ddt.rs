//! `partitioned_ddt`: each thread's share of a message is a partition, described by a datatype over the face; nothing is
//! packed. One request where the face is cut evenly at both ends, else a request for each share.

use apps::WireOrder;

use super::links::{Link, StageLinks};
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::{CallError, Comm, Envelope, Partitioned, TeamCalls};
use crate::handoff::Slot;
use crate::mechanism::Role;

/// A request with its datatype.
struct TypedRequest {
    request: Slot<Partitioned>,
    datatype: crate::checked::Datatype,
}

/// The requests of one message.
enum MessageRequests {
    Whole(TypedRequest),
    /// `None` where a share is empty.
    Shares(Vec<Option<TypedRequest>>),
}

struct StageRequests {
    sends: Vec<MessageRequests>,
    receives: Vec<MessageRequests>,
}

pub struct FineTyped {
    stages: Vec<StageRequests>,
    _comm: Comm,
}

impl FineTyped {
    pub fn new(parts: Parts<'_>, _: TeamCalls) -> Result<Self, CallError> {
        let comm = parts.comm.duplicate()?;
        let all = |links: &[Link], role| {
            links.iter().map(|link| requests(parts, &comm, link, role)).collect::<Result<Vec<_>, _>>()
        };
        let stage = |stage: &StageLinks| {
            Ok(StageRequests {
                sends: all(&stage.sends, Role::Sender)?,
                receives: all(&stage.receives, Role::Receiver)?,
            })
        };
        let stages = parts.links.stages.iter().map(stage).collect::<Result<_, CallError>>()?;
        Ok(Self { stages, _comm: comm })
    }

    /// # Safety
    /// No other thread is within the method.
    unsafe fn each(
        &self,
        stage: usize,
        call: impl Fn(&mut Partitioned) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let StageRequests { sends, receives } = &self.stages[stage];
        // SAFETY: as the caller vouches.
        let call = |request: &TypedRequest| call(unsafe { request.request.get() });
        for requests in receives.iter().chain(sends) {
            match requests {
                MessageRequests::Whole(request) => call(request)?,
                MessageRequests::Shares(shares) => shares.iter().flatten().try_for_each(call)?,
            }
        }
        Ok(())
    }
}

/// One end of a message. Both ends see whether both are even, and do the same.
fn requests(parts: Parts<'_>, comm: &Comm, link: &Link, role: Role) -> Result<MessageRequests, CallError> {
    let mine = link.cut.partition(WireOrder::Ddt, &parts.memory.displacements);
    let theirs = link.far.cut(parts.threads).partition(WireOrder::Ddt, &parts.displacements[link.peer]);
    let request = |typed: Typed, partitions: usize, tag: usize| {
        let address = parts.memory.address(typed.origin_bytes);
        let (peer, tag) = (link.peer, link.tag * parts.threads + tag);
        let envelope = Envelope { count: 1, datatype: &typed.datatype, peer, tag, comm };
        // SAFETY: the partitions lie within the arrays, which outlive the method; threads change no share that they have
        // marked, and nobody uses what is received before the stage ends.
        let request = unsafe {
            match role {
                Role::Sender => Partitioned::send(address, partitions, envelope),
                Role::Receiver => Partitioned::receive(address, partitions, envelope),
            }
        }?;
        Ok(TypedRequest { request: Slot::new(request), datatype: typed.datatype })
    };
    if let Some((origin_bytes, layout)) = mine.filter(|_| theirs.is_some()) {
        return Ok(MessageRequests::Whole(request(
            Typed::with(origin_bytes, &layout, comm)?,
            parts.threads,
            0,
        )?));
    }
    let share = |(number, part)| {
        let typed = Typed::of(part, &parts.memory.displacements, comm)?;
        typed.map(|typed| request(typed, 1, number)).transpose()
    };
    Ok(MessageRequests::Shares(
        link.cut.parts.iter().enumerate().map(share).collect::<Result<_, CallError>>()?,
    ))
}

impl HaloMethod for FineTyped {
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no thread is here.
        unsafe { self.each(stage, |request| request.request().start()) }
    }

    #[inline]
    unsafe fn ready(&self, stage: usize, send: usize, thread: usize) -> Result<(), CallError> {
        match &self.stages[stage].sends[send] {
            // SAFETY: nobody starts or waits meanwhile, and requests let threads mark partitions at once.
            MessageRequests::Whole(request) => unsafe { request.request.share() }.ready(thread),
            MessageRequests::Shares(shares) => match &shares[thread] {
                // SAFETY: as above.
                Some(request) => unsafe { request.request.share() }.ready(0),
                None => Ok(()),
            },
        }
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.each(stage, |request| request.request().wait()) }
    }

    fn messages(&self) -> Option<usize> {
        let of = |requests: &MessageRequests| match requests {
            MessageRequests::Whole(_) => 1,
            MessageRequests::Shares(shares) => shares.iter().flatten().count(),
        };
        Some(self.stages.iter().flat_map(|stage| &stage.sends).map(of).sum())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        for requests in
            self.stages.into_iter().flat_map(|stage| stage.sends.into_iter().chain(stage.receives))
        {
            let all = match requests {
                MessageRequests::Whole(request) => vec![Some(request)],
                MessageRequests::Shares(shares) => shares,
            };
            for TypedRequest { request, datatype } in all.into_iter().flatten() {
                request.into_inner().free()?;
                datatype.free()?;
            }
        }
        Ok(())
    }
}

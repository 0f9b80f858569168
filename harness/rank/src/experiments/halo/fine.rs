//! `partitioned`, `fine`, `aggregated`: each thread marks its share of a message when it has packed it. A share is a
//! partition of the packed message: a partition of one MPI-4 request if all shares are equal, otherwise of a separate
//! request; or a partition in our own layer, which merges shares into persistent messages that are worth sending.
//! `partitioned_ddt` does the same with shares in the arrays, each described by a datatype.

use apps::{Face, WireOrder};
use common::fine_grained::aggregation::{Aggregation, Over};
use common::kinds::halo::methods::FineTransport;
use common::kinds::partitioned::methods::Marking;

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::{typed_layout, typed_message, typed_partitions};
use crate::checked::{CallError, Comm, TeamCalls};
use crate::mechanism::merged::Merged;
use crate::mechanism::messages::PartitionMessages;
use crate::mechanism::partitioned::Native;
use crate::mechanism::{Channel, Mechanism, Role};
use crate::memory::Region;

struct MessageTransfers<'a> {
    /// One transfer for all shares, or one for each; `None` if a share is empty.
    mechanisms: Vec<Option<Box<dyn Mechanism + 'a>>>,
    is_whole: bool,
}

impl<'a> MessageTransfers<'a> {
    fn whole(mechanism: impl Mechanism + 'a) -> Self {
        Self { mechanisms: vec![Some(Box::new(mechanism))], is_whole: true }
    }
}

pub struct Fine<'a> {
    /// The sent and the received messages of each stage.
    stages: Vec<[Vec<MessageTransfers<'a>>; 2]>,
    /// The communicator of the requests with datatypes, whose tags are the same as those of the other requests.
    _comm: Option<Comm>,
}

impl<'a> Fine<'a> {
    pub fn new(parts: &'a Parts, transport: FineTransport, calls: TeamCalls) -> Result<Self, CallError> {
        let is_typed = transport == FineTransport::PartitionedDatatypes;
        let comm = is_typed.then(|| parts.comm.duplicate()).transpose()?;
        let transfers = |link: &'a HaloMessage, role| match &comm {
            Some(comm) => typed_transfers(parts, comm, link, role, calls),
            None => transfers(parts, link, role, transport, calls),
        };
        let all = |links: &'a [HaloMessage], role| {
            links.iter().map(|link| transfers(link, role)).collect::<Result<Vec<_>, _>>()
        };
        let stage = |stage: &'a super::links::StageLinks| {
            Ok([all(&stage.sends, Role::Sender)?, all(&stage.receives, Role::Receiver)?])
        };
        let stages = parts.links.stages.iter().map(stage).collect::<Result<_, CallError>>()?;
        Ok(Self { stages, _comm: comm })
    }

    fn each(
        &self,
        stage: usize,
        call: impl Fn(&dyn Mechanism) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let messages = self.stages[stage].iter().rev().flatten();
        let mut all = messages.flat_map(|transfers| transfers.mechanisms.iter().flatten());
        all.try_for_each(|mechanism| call(&**mechanism))
    }
}

/// One end of a message.
fn transfers<'a>(
    parts: &'a Parts,
    link: &'a HaloMessage,
    role: Role,
    transport: FineTransport,
    calls: TeamCalls,
) -> Result<MessageTransfers<'a>, CallError> {
    let memory = match role {
        Role::Sender => parts.memory.outgoing,
        Role::Receiver => parts.memory.incoming,
    };
    let channel = |start: usize, partitions: Vec<std::ops::Range<usize>>, tag: usize| Channel {
        // The other methods each have a separate communicator.
        comm: &parts.comm,
        peer: link.peer,
        // Tags of a message's shares are consecutive.
        tag: link.tag * parts.threads + tag,
        role,
        // SAFETY: the message's part of the wire buffer, which outlives the method; threads pack only shares
        // that are not ready yet, and unpack only data that has arrived.
        memory: unsafe {
            let bytes = partitions.iter().map(std::ops::Range::len).sum();
            Region::new(memory.at(link.wire.start + start), bytes)
        },
        receive_partitions: partitions.len(),
        of_thread: (0..partitions.len()).map(|share| vec![share]).collect(),
        partitions,
        calls: Ok(calls),
        starts_all: false,
        byte: &parts.byte,
    };
    let shares = &link.cut.ranges;
    let whole = channel(0, shares.clone(), 0);
    match transport {
        FineTransport::Partitioned | FineTransport::PartitionedDatatypes => {}
        FineTransport::Fine => {
            return Ok(MessageTransfers::whole(PartitionMessages::opened_by_one(&whole, calls)?));
        }
        FineTransport::Aggregated(grouping) => {
            let aggregation = Aggregation { grouping, over: Over::Persistent };
            let runs = aggregation.units(shares.len(), (whole.memory.bytes() / shares.len()) as u64);
            let transport = PartitionMessages::opened_by_one(&whole.merged(&runs), calls)?;
            return Ok(MessageTransfers::whole(Merged::new(&runs, transport)));
        }
    }
    if Native::refusal(&whole).is_none() {
        return Ok(MessageTransfers::whole(Native::new(&whole, Marking::OneByOne, calls)?));
    }
    let share = |(number, range): (usize, &std::ops::Range<usize>)| {
        if range.is_empty() {
            return Ok(None);
        }
        let one = channel(range.start, std::iter::once(0..range.len()).collect(), number);
        Ok(Some(Box::new(Native::new(&one, Marking::OneByOne, calls)?) as Box<dyn Mechanism + 'a>))
    };
    let mechanisms = shares.iter().enumerate().map(share).collect::<Result<_, CallError>>()?;
    Ok(MessageTransfers { mechanisms, is_whole: false })
}

/// One end of a message with datatypes: one request if the face is divided evenly at both ends, otherwise one
/// for each share. Both ends know whether both are even, so they do the same.
fn typed_transfers<'a>(
    parts: &'a Parts,
    comm: &Comm,
    link: &HaloMessage,
    role: Role,
    calls: TeamCalls,
) -> Result<MessageTransfers<'a>, CallError> {
    let mine = link.cut.partition(WireOrder::Ddt, &parts.displacements[parts.rank]);
    let theirs = link.far.cut(parts.threads).partition(WireOrder::Ddt, &parts.displacements[link.peer]);
    let transfer = |typed, partitions| typed_partitions(parts, comm, (link, role), typed, partitions, calls);
    if let Some((origin_bytes, layout)) = mine.filter(|_| theirs.is_some()) {
        let typed = typed_layout(origin_bytes, &layout, comm)?;
        return Ok(MessageTransfers::whole(transfer(typed, (parts.threads, 0))?));
    }
    let share = |(number, part): (usize, &Face)| {
        let typed = typed_message(&part.message(WireOrder::Ddt), &parts.displacements[parts.rank], comm)?;
        let made = (typed.count > 0).then(|| transfer(typed, (1, number))).transpose()?;
        Ok(made.map(|made| Box::new(made) as Box<dyn Mechanism + 'a>))
    };
    let mechanisms = link.cut.parts.iter().enumerate().map(share).collect::<Result<_, CallError>>()?;
    Ok(MessageTransfers { mechanisms, is_whole: false })
}

impl HaloMethod for Fine<'_> {
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no thread is here, and no transfer is in progress.
        self.each(stage, |mechanism| unsafe { mechanism.start() })
    }

    #[inline]
    unsafe fn ready(&self, stage: usize, send: usize, thread: usize) -> Result<(), CallError> {
        let MessageTransfers { mechanisms, is_whole } = &self.stages[stage][0][send];
        // A share with a separate message is its only partition.
        let (which, partition) = if *is_whole { (0, thread) } else { (thread, 0) };
        let Some(mechanism) = &mechanisms[which] else { return Ok(()) };
        // SAFETY: the thread's own share, once in a stage.
        unsafe { mechanism.ready(partition, partition) }
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: all shares are ready, and no thread is here. None of these mechanisms needs `close`.
        self.each(stage, |mechanism| unsafe { mechanism.wait() })
    }

    fn messages(&self) -> usize {
        let sends = self.stages.iter().flat_map(|[sends, _]| sends);
        let mechanisms = sends.flat_map(|transfers| transfers.mechanisms.iter().flatten());
        mechanisms.map(|mechanism| mechanism.messages().unwrap_or(1)).sum()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        let all = self.stages.into_iter().flatten().flatten();
        let mut mechanisms = all.flat_map(|transfers| transfers.mechanisms).flatten();
        mechanisms.try_for_each(|mechanism| mechanism.free())
    }
}

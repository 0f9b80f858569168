//! `persistent`: a persistent send and receive per partition on one communicator. The send is started by the thread
//! that finishes the partition, and the receive by the same thread of the receiver, as in mode `SendPersistent` of the
//! HLRS benchmark. Also `many`, the same with a communicator per thread.

use common::packing::Form;

use super::{Channel, Mechanism, Role};
use crate::checked::request::StartList;
use crate::checked::{CallError, Comm, Request, TeamCalls};
use crate::handoff::Slot;

/// Persistent requests, one per message; each message is a range of the channel's message.
pub struct Requests {
    role: Role,
    requests: Vec<Slot<Request>>,
    /// By thread, if several requests are started by one call.
    lists: Option<Vec<Slot<StartList>>>,
}

impl Requests {
    /// For messages of these bytes of the channel, each on a communicator; tags are their numbers.
    pub fn new<'a>(
        channel: &Channel<'a>,
        messages: impl Iterator<Item = (std::ops::Range<usize>, &'a Comm)>,
    ) -> Result<Self, CallError> {
        let request = |(number, (range, comm)): (usize, (std::ops::Range<usize>, &'a Comm))| {
            let (address, envelope) = (channel.at(range.start), channel.envelope(range.len(), number, comm));
            // SAFETY: bytes of the message, which the channel's region guarantees.
            let request =
                unsafe { Request::of(Form::Persistent, channel.role == Role::Sender, address, envelope) };
            Ok(Slot::new(request?))
        };
        let requests: Vec<_> = messages.enumerate().map(request).collect::<Result<_, CallError>>()?;
        let list = |_| Slot::new(StartList::for_up_to(requests.len()));
        let lists = channel.starts_all.then(|| (0..channel.of_thread.len().max(1)).map(list).collect());
        Ok(Self { role: channel.role, requests, lists })
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Starts all receives.
    ///
    /// # Safety
    /// None of them is active, and no other thread uses any of them.
    pub unsafe fn start_receives(&self) -> Result<(), CallError> {
        if self.role == Role::Sender {
            return Ok(());
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.start_all(0, || 0..self.requests.len()) }
    }

    /// Starts some requests.
    ///
    /// # Safety
    /// They are different, none of them is active, and no other thread uses any of them in the meantime, or calls this with the same
    /// `thread`.
    pub unsafe fn start_all<I: Iterator<Item = usize>>(
        &self,
        thread: usize,
        messages: impl Fn() -> I,
    ) -> Result<(), CallError> {
        if messages().next().is_none() {
            return Ok(());
        }
        // SAFETY: guaranteed by the caller.
        let requests = || messages().map(|message| unsafe { self.requests[message].get() });
        match &self.lists {
            // SAFETY: as above.
            Some(lists) => unsafe { lists[thread].get() }.start_all(|start| requests().for_each(start)),
            None => requests().try_for_each(Request::start),
        }
    }

    /// Starts one request.
    ///
    /// # Safety
    /// It is not active, and no other thread uses it in the meantime.
    #[inline]
    pub unsafe fn start(&self, number: usize) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.requests[number].get() }.start()
    }

    /// Waits for one request.
    ///
    /// # Safety
    /// No other thread uses it in the meantime.
    pub unsafe fn wait(&self, number: usize) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.requests[number].get() }.wait()
    }

    /// Waits for all requests.
    ///
    /// # Safety
    /// No other thread uses any of them in the meantime.
    pub unsafe fn wait_all(&self) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        (0..self.requests.len()).try_for_each(|number| unsafe { self.wait(number) })
    }

    pub fn free(self) -> Result<(), CallError> {
        self.requests.into_iter().try_for_each(|request| request.into_inner().free())
    }
}

pub struct Persistent {
    /// The partitions whose receives each thread starts; `None` if one thread starts them all.
    opens: Option<Vec<Vec<usize>>>,
    /// Whether each thread waits for its own partitions.
    waits: bool,
    requests: Requests,
    _comms: Vec<Comm>,
}

impl Persistent {
    /// Each thread of the receiver starts its own receives.
    pub fn new(channel: &Channel<'_>, calls: TeamCalls) -> Result<Self, CallError> {
        Ok(Self { opens: Some(channel.of_thread.clone()), ..Self::opened_by_one(channel, calls)? })
    }

    /// The same with a communicator for each thread, so that threads need not share an MPI's data per communicator; on
    /// both sides each thread waits for its own partitions.
    ///
    /// "Pt2Pt many" of Gillis et al., "Quantifying the performance benefits of partitioned communication in MPI", ICPP 2023.
    pub fn many(channel: &Channel<'_>, _: TeamCalls) -> Result<Self, CallError> {
        let comms =
            channel.of_thread.iter().map(|_| channel.comm.duplicate()).collect::<Result<Vec<_>, _>>()?;
        let threads = channel.threads();
        let messages =
            channel.partitions.iter().zip(threads).map(|(range, thread)| (range.clone(), &comms[thread]));
        let requests = Requests::new(channel, messages)?;
        Ok(Self { opens: Some(channel.of_thread.clone()), waits: true, requests, _comms: comms })
    }

    /// All receives are started by [`Mechanism::start`].
    pub fn opened_by_one(channel: &Channel<'_>, _: TeamCalls) -> Result<Self, CallError> {
        let messages = channel.partitions.iter().map(|range| (range.clone(), channel.comm));
        let requests = Requests::new(channel, messages)?;
        Ok(Self { opens: None, waits: false, requests, _comms: Vec::new() })
    }

    /// The partitions of a thread that starts or waits for its own.
    fn of_thread(&self, thread: usize) -> impl Iterator<Item = usize> {
        self.opens.iter().flat_map(move |of_thread| of_thread[thread].iter().copied())
    }
}

impl Mechanism for Persistent {
    unsafe fn start(&self) -> Result<(), CallError> {
        // SAFETY: no transfer is in progress, and no thread is here.
        if self.opens.is_some() { Ok(()) } else { unsafe { self.requests.start_receives() } }
    }

    unsafe fn open(&self, thread: usize) -> Result<(), CallError> {
        // SAFETY: the requests of the thread's own partitions, after a start.
        unsafe { self.requests.start_all(thread, || self.of_thread(thread)) }
    }

    unsafe fn finish(&self, thread: usize) -> Result<(), CallError> {
        let mut own = self.of_thread(thread).filter(|_| self.waits);
        // SAFETY: the thread's own partitions.
        own.try_for_each(|partition| unsafe { self.requests.wait(partition) })
    }

    fn tests_arrival(&self) -> bool {
        self.waits
    }

    unsafe fn arrived(&self, _: usize, partition: usize) -> Result<bool, CallError> {
        // SAFETY: the thread's own partition.
        unsafe { self.requests.wait(partition) }.map(|()| true)
    }

    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: the thread's own partition, once in a transfer.
        unsafe { self.requests.start(partition) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.requests.wait_all() }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.requests.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.requests.free()
    }
}

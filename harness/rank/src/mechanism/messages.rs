//! `persistent`: a persistent send and receive per partition on one communicator. The send is started by the thread
//! that finishes the partition, and the receive by the same thread of the receiver, as in mode `SendPersistent` of the
//! HLRS benchmark. Also `many`, the same with a communicator per thread; `isend`, with nonblocking messages; and `single`, one message
//! of all partitions, the bulk-synchronous baseline for comparisons.

use common::kinds::partitioned::methods::Polling;
use common::packing::Form;

use super::{Channel, Mechanism, Role};
use crate::carrier::Repeated;
use crate::checked::request::RequestList;
use crate::checked::{CallError, Comm, Request, TeamCalls};
use crate::handoff::Slot;

/// Messages that are ranges of the channel's message.
pub struct ChannelMessages {
    role: Role,
    messages: Vec<Slot<Repeated>>,
    /// By thread, if several requests are started by one call.
    lists: Option<Vec<Slot<RequestList>>>,
}

impl ChannelMessages {
    /// For messages of these bytes of the channel, each on a communicator, which must outlive them; tags are their numbers.
    pub fn new<'a>(
        channel: &Channel<'a>,
        form: Form,
        messages: impl Iterator<Item = (std::ops::Range<usize>, &'a Comm)>,
    ) -> Result<Self, CallError> {
        let message = |(number, (range, comm)): (usize, (std::ops::Range<usize>, &'a Comm))| {
            let (address, envelope) = (channel.at(range.start), channel.envelope(range.len(), number, comm));
            let is_sent = channel.role == Role::Sender;
            // SAFETY: bytes of the message, which the channel's region guarantees.
            Ok(Slot::new(unsafe { Repeated::message(form, is_sent, address, envelope) }?))
        };
        let messages: Vec<_> = messages.enumerate().map(message).collect::<Result<_, CallError>>()?;
        let list = |_| Slot::new(RequestList::for_up_to(messages.len()));
        let starts_all = channel.starts_all && form == Form::Persistent;
        let lists = starts_all.then(|| (0..channel.of_thread.len().max(1)).map(list).collect());
        Ok(Self { role: channel.role, messages, lists })
    }

    pub fn len(&self) -> usize {
        self.messages.len()
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
        unsafe { self.start_all(0, || 0..self.messages.len()) }
    }

    /// Starts some messages.
    ///
    /// # Safety
    /// They are different, none of them is active, and no other thread uses any of them in the meantime, or
    /// calls this with the same `thread`.
    pub unsafe fn start_all<I: Iterator<Item = usize>>(
        &self,
        thread: usize,
        messages: impl Fn() -> I,
    ) -> Result<(), CallError> {
        if messages().next().is_none() {
            return Ok(());
        }
        match &self.lists {
            // SAFETY: guaranteed by the caller.
            Some(lists) => unsafe { lists[thread].get() }
                // SAFETY: as above.
                .start_all(|start| messages().for_each(|message| start(unsafe { self.request(message) }))),
            // SAFETY: as above.
            None => messages().try_for_each(|message| unsafe { self.start(message) }),
        }
    }

    /// Starts one message.
    ///
    /// # Safety
    /// It is not active, and no other thread uses it in the meantime.
    #[inline]
    pub unsafe fn start(&self, number: usize) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.messages[number].get() }.start()
    }

    /// The request of one message.
    ///
    /// # Safety
    /// No other thread uses it in the meantime.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "as for `Slot::get`")]
    unsafe fn request(&self, number: usize) -> &mut Request {
        // SAFETY: guaranteed by the caller.
        unsafe { self.messages[number].get() }.request()
    }

    /// Waits for one message.
    ///
    /// # Safety
    /// No other thread uses it in the meantime.
    pub unsafe fn wait(&self, number: usize) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.request(number) }.wait()
    }

    /// Waits for all messages.
    ///
    /// # Safety
    /// No other thread uses any of them in the meantime.
    pub unsafe fn wait_all(&self) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        (0..self.messages.len()).try_for_each(|number| unsafe { self.wait(number) })
    }

    pub fn free(self) -> Result<(), CallError> {
        self.messages.into_iter().try_for_each(|message| message.into_inner().free())
    }
}

pub struct PartitionMessages {
    /// The partitions whose receives each thread starts; `None` if one thread starts them all.
    opens: Option<Vec<Vec<usize>>>,
    /// Whether each thread waits for its own partitions.
    waits: bool,
    /// Whether the only message is sent at the end.
    is_single: bool,
    messages: ChannelMessages,
    polling: Polling,
    /// For `MPI_Testall`.
    list: Slot<RequestList>,
    _comms: Vec<Comm>,
}

impl PartitionMessages {
    fn new(channel: &Channel<'_>, form: Form, polling: Polling, comms: Vec<Comm>) -> Result<Self, CallError> {
        let threads = channel.threads();
        let comm = |thread: usize| comms.get(thread).unwrap_or(channel.comm);
        let ranges = channel.partitions.iter().zip(threads);
        let messages =
            ChannelMessages::new(channel, form, ranges.map(|(range, of)| (range.clone(), comm(of))))?;
        let list = Slot::new(RequestList::for_up_to(messages.len()));
        Ok(Self { opens: None, waits: false, is_single: false, messages, polling, list, _comms: comms })
    }

    /// `single`: one message of all partitions, started when all threads have finished, which do not call MPI.
    pub fn single(channel: &Channel<'_>) -> Result<Self, CallError> {
        let whole = channel.merged(std::slice::from_ref(&(0..channel.partitions.len())));
        let message = Self::new(&whole, Form::Persistent, Polling::Never, Vec::new())?;
        Ok(Self { is_single: true, ..message })
    }

    /// Each thread of the receiver starts its own receives.
    pub fn persistent(channel: &Channel<'_>, calls: TeamCalls) -> Result<Self, CallError> {
        Ok(Self { opens: Some(channel.of_thread.clone()), ..Self::opened_by_one(channel, calls)? })
    }

    /// The same with a communicator for each thread, so that threads need not share an MPI's data per
    /// communicator; on both sides each thread waits for its own partitions.
    ///
    /// "Pt2Pt many" of Gillis et al., "Quantifying the performance benefits of partitioned communication in MPI", ICPP 2023.
    pub fn many(channel: &Channel<'_>, _: TeamCalls) -> Result<Self, CallError> {
        let comms = channel.of_thread.iter().map(|_| channel.comm.duplicate()).collect::<Result<_, _>>()?;
        let messages = Self::new(channel, Form::Persistent, Polling::Never, comms)?;
        Ok(Self { opens: Some(channel.of_thread.clone()), waits: true, ..messages })
    }

    /// All receives are started by [`Mechanism::start`].
    pub fn opened_by_one(channel: &Channel<'_>, _: TeamCalls) -> Result<Self, CallError> {
        Self::new(channel, Form::Persistent, Polling::Never, Vec::new())
    }

    /// The same with nonblocking messages. Polling is that of the modes `IsendTest` and `IsendTestall` of the
    /// HLRS benchmark (Schneewind and Niethammer, EuroMPI 2024).
    pub fn nonblocking(channel: &Channel<'_>, polling: Polling, _: TeamCalls) -> Result<Self, CallError> {
        Self::new(channel, Form::Nonblocking, polling, Vec::new())
    }

    /// The partitions of a thread that starts or waits for its own.
    fn of_thread(&self, thread: usize) -> impl Iterator<Item = usize> {
        self.opens.iter().flat_map(move |of_thread| of_thread[thread].iter().copied())
    }
}

impl Mechanism for PartitionMessages {
    unsafe fn start(&self) -> Result<(), CallError> {
        // SAFETY: no transfer is in progress, and no thread is here.
        if self.opens.is_some() { Ok(()) } else { unsafe { self.messages.start_receives() } }
    }

    unsafe fn open(&self, thread: usize) -> Result<(), CallError> {
        // SAFETY: the messages of the thread's own partitions, after a start.
        unsafe { self.messages.start_all(thread, || self.of_thread(thread)) }
    }

    unsafe fn finish(&self, thread: usize) -> Result<(), CallError> {
        let mut own = self.of_thread(thread).filter(|_| self.waits);
        // SAFETY: the thread's own partitions.
        own.try_for_each(|partition| unsafe { self.messages.wait(partition) })
    }

    fn tests_arrival(&self) -> bool {
        self.waits
    }

    unsafe fn arrived(&self, _: usize, partition: usize) -> Result<bool, CallError> {
        // SAFETY: the thread's own partition.
        unsafe { self.messages.wait(partition) }.map(|()| true)
    }

    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        if self.is_single {
            return Ok(());
        }
        // SAFETY: the thread's own partition, once in a transfer.
        unsafe { self.messages.start(partition) }?;
        match self.polling {
            // SAFETY: as above.
            Polling::OnceEach => unsafe { self.messages.request(partition) }.status().map(drop),
            Polling::Never | Polling::UntilAll => Ok(()),
        }
    }

    unsafe fn close(&self) -> Result<(), CallError> {
        let starts = self.is_single && self.messages.role == Role::Sender;
        // SAFETY: all partitions are ready, and no thread is here.
        if starts { unsafe { self.messages.start(0) } } else { Ok(()) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        if (self.polling, self.messages.role) != (Polling::UntilAll, Role::Sender) {
            // SAFETY: no other thread is here.
            return unsafe { self.messages.wait_all() };
        }
        // SAFETY: as above.
        let request = |number| unsafe { self.messages.request(number) };
        let all = 0..self.messages.len();
        // SAFETY: as above.
        unsafe { self.list.get() }.test_until_complete(|test| all.clone().map(request).for_each(test))
    }

    fn messages(&self) -> Option<usize> {
        Some(self.messages.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.messages.free()
    }
}

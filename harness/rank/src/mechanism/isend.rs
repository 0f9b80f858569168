//! `isend`: an `MPI_Isend` per partition, by the thread that finishes it, into receives that are posted at the start. Polling
//! is that of the modes `IsendTest` and `IsendTestall` of the HLRS benchmark (Schneewind and Niethammer, EuroMPI 2024).

use common::kinds::partitioned::methods::Polling;

use super::{Channel, Mechanism, Role};
use crate::checked::request::RequestList;
use crate::checked::{CallError, Request, TeamCalls};
use crate::handoff::Slot;

pub struct Isend<'a> {
    channel: Channel<'a>,
    requests: Vec<Slot<Request>>,
    polling: Polling,
    list: Slot<RequestList>,
}

impl<'a> Isend<'a> {
    pub fn new(channel: Channel<'a>, polling: Polling, _: TeamCalls) -> Self {
        let requests = channel.partitions.iter().map(|_| Slot::new(Request::null(channel.comm))).collect();
        let list = Slot::new(RequestList::of(channel.partitions.len()));
        Self { channel, requests, polling, list }
    }
}

impl Mechanism for Isend<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        if self.channel.role == Role::Sender {
            return Ok(());
        }
        for (partition, request) in self.requests.iter().enumerate() {
            let (address, envelope) = self.channel.partition(partition);
            // SAFETY: no thread is here. The partition is not used until the wait, as the channel's region guarantees.
            unsafe { *request.get() = Request::receive(address, envelope)? };
        }
        Ok(())
    }

    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let (address, envelope) = self.channel.partition(partition);
        // SAFETY: the partition's own thread, which guarantees that it does not change until the wait.
        let request = unsafe { self.requests[partition].get() };
        // SAFETY: as above.
        *request = unsafe { Request::send(address, envelope) }?;
        match self.polling {
            Polling::OnceEach => request.status().map(drop),
            Polling::Never | Polling::UntilAll => Ok(()),
        }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        let mut requests = self.requests.iter().map(|request| unsafe { request.get() });
        match (self.polling, self.channel.role) {
            // SAFETY: as above.
            (Polling::UntilAll, Role::Sender) => unsafe { self.list.get() }.test_until_complete(requests),
            _ => requests.try_for_each(Request::wait),
        }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.requests.len())
    }
}

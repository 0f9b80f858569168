//! `partitioned`: MPI-4's own partitioned transfer. Partitions are marked one by one, or by each thread in
//! one list; the receiver's threads may test each partition, with or without a polling loop for progress. A
//! thread for that at the sender is in `progress_thread.rs`.

use std::ffi::c_int;

use common::kinds::partitioned::methods::Marking;

use super::{Channel, Mechanism, Role};
use crate::carrier::MessageData;
use crate::checked::{CallError, Partitioned, TeamCalls};
use crate::handoff::Slot;

pub struct Native {
    role: Role,
    marking: Marking,
    request: Slot<Partitioned>,
    /// The data of a partition, the datatype of which is freed with it.
    data: Option<MessageData>,
    /// For each thread, its list for marking.
    lists: Vec<Vec<c_int>>,
    /// Number of messages, if it is known how the partitions are sent.
    partitions: usize,
    receive_partitions: usize,
}

/// Why partitions of these bytes, with this number at the receiver, cannot be those of one request, if they cannot.
fn refusal(partitions: &[std::ops::Range<usize>], received: usize, bytes: usize) -> Option<String> {
    let first = partitions[0].len();
    let of_one_size = "those of an MPI request are of one size";
    let count = partitions.len();
    if let Some(other) = partitions.iter().map(std::ops::Range::len).find(|&bytes| bytes != first) {
        return Some(format!(
            "{bytes} bytes in {count} partitions are some of {first} and some of {other} bytes: {of_one_size}"
        ));
    }
    (!bytes.is_multiple_of(received))
        .then(|| format!("{bytes} bytes in {received} partitions at the receiver: {of_one_size}"))
}

impl Native {
    /// Why this channel cannot use MPI's partitioned communication, if it cannot.
    pub fn refusal(channel: &Channel<'_>) -> Option<String> {
        refusal(&channel.partitions, channel.receive_partitions, channel.memory.bytes())
    }

    /// A request over the whole message.
    pub fn new(channel: &Channel<'_>, marking: Marking, _: TeamCalls) -> Result<Self, CallError> {
        let partitions = match channel.role {
            Role::Sender => channel.partitions.len(),
            Role::Receiver => channel.receive_partitions,
        };
        let envelope = channel.envelope(channel.memory.bytes() / partitions, 0, channel.comm);
        // SAFETY: the whole message, which the channel's region guarantees.
        let request = unsafe {
            Partitioned::new(channel.role == Role::Sender, channel.memory.start(), partitions, envelope)
        }?;
        let list = |partitions: &Vec<usize>| partitions.iter().map(|&partition| partition as c_int).collect();
        Ok(Self {
            role: channel.role,
            marking,
            request: Slot::new(request),
            data: None,
            lists: channel.of_thread.iter().map(list).collect(),
            partitions: channel.partitions.len(),
            receive_partitions: channel.receive_partitions,
        })
    }

    /// A request whose partitions have a datatype, marked one by one.
    pub fn typed(request: Partitioned, data: MessageData, role: Role, _: TeamCalls) -> Self {
        let (request, data) = (Slot::new(request), Some(data));
        let (lists, partitions, receive_partitions) = (Vec::new(), 0, 0);
        Self { role, marking: Marking::OneByOne, request, data, lists, partitions, receive_partitions }
    }

    /// Reads the status of the request, which also progresses it.
    ///
    /// # Safety
    /// During a transfer: no thread starts the request or waits for it in the meantime.
    pub unsafe fn poll(&self) -> Result<bool, CallError> {
        // SAFETY: the request permits threads to read its status at the same time.
        unsafe { self.request.share() }.status()
    }

    /// The partitions of the receiver that include bytes of one of the sender's.
    fn covering(&self, partition: usize) -> std::ops::RangeInclusive<usize> {
        let (sent, received) = (self.partitions, self.receive_partitions);
        partition * received / sent..=((partition + 1) * received - 1) / sent
    }
}

impl Mechanism for Native {
    unsafe fn start(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.request.get() }.request().start()
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: no thread starts or waits in the meantime, and the request permits threads to mark partitions at the same time.
        let request = unsafe { self.request.share() };
        if self.marking != Marking::Lists {
            return request.ready(partition);
        }
        let list = &self.lists[thread];
        if list.last() != Some(&(partition as c_int)) {
            return Ok(());
        }
        request.ready_list(list)
    }

    fn tests_arrival(&self) -> bool {
        self.role == Role::Receiver && matches!(self.marking, Marking::Asking | Marking::AskingAndPolling)
    }

    #[inline]
    unsafe fn arrived(&self, thread: usize, partition: usize) -> Result<bool, CallError> {
        // SAFETY: as above.
        let request = unsafe { self.request.share() };
        // Only one thread polls. If the whole message is complete, all partitions have arrived.
        if self.marking == Marking::AskingAndPolling && thread == 0 && request.status()? {
            return Ok(true);
        }
        for partition in self.covering(partition) {
            if !request.arrived(partition)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.request.get() }.request().wait()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.request.into_inner().free()?;
        self.data.map_or(Ok(()), |mut data| data.free())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_partitions_are_refused_with_the_reason() {
        assert_eq!(refusal(&[0..3, 3..6], 3, 6), None);
        assert_eq!(refusal(&[0..0, 0..0], 3, 0), None);
        assert!(refusal(&[0..3, 3..5], 2, 5).unwrap().contains("5 bytes in 2 partitions"));
        assert!(refusal(&[0..3, 3..6], 4, 6).unwrap().contains("4 partitions at the receiver"));
    }
}

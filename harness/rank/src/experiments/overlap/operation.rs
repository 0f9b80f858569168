//! Operations on contiguous bytes: nonblocking and persistent collectives, and a message between two ranks.

use common::kinds::overlap::methods;
use common::kinds::overlap::operations::{Collective, Operation, OperationTransfer};
use common::packing::Form;
use datatypes::Element;

use super::sums::Numbers;
use super::traffic::Traffic;
use crate::carrier::Repeated;
use crate::checked::collective::CollectiveCall;
use crate::checked::{CallError, Comm, Datatype, Envelope};
use crate::memory::{POISON, Wire};
use crate::payload::{Checks, Link, Mismatch, Moved, Places, Run, Runs, Spots, Version, Wrong, source_of};

/// An operation with its memory, on all ranks.
pub struct OperationTraffic {
    rank: usize,
    transfer: OperationTransfer,
    /// The communicator of the operation, which is not used for anything else.
    comm: Comm,
    /// The ring, for operations between neighbours.
    ring: Option<Comm>,
    ranks: usize,
    /// Bytes of a block.
    block: usize,
    send: Wire,
    receive: Wire,
    /// The blocks; others send none if numbers are added.
    moved: Moved,
    /// The places looked at after each repetition since the last fill.
    looks: Spots,
    /// The numbers, if they are added.
    numbers: Option<Numbers>,
    checks: Checks,
    /// The type of a value: numbers if they are added, otherwise bytes.
    datatype: Datatype,
}

/// Blocks that a rank sends and receives.
struct BlockCounts {
    sends: usize,
    receives: usize,
    /// Numbers of received blocks, their senders, and their numbers in these ranks' memory.
    arrivals: Vec<(usize, usize, usize)>,
}

impl BlockCounts {
    fn on_rank(transfer: OperationTransfer, rank: usize, ranks: usize) -> Self {
        use Collective::{
            Allgather, Allreduce, Alltoall, Barrier, Bcast, Gather, NeighborAlltoall, Reduce, Scatter,
        };
        let is_root = rank == 0;
        let from_all = |from: usize| (0..ranks).map(|sender| (sender, sender, from)).collect();
        let at_root = |blocks: usize| if is_root { blocks } else { 0 };
        let (sends, receives, arrivals) = match transfer {
            OperationTransfer::Message if rank % 2 == 1 => (0, 1, vec![(0, rank - 1, 0)]),
            OperationTransfer::Message => (1, 0, Vec::new()),
            OperationTransfer::Collective(collective) => match collective {
                // The root sends from the memory into which the others receive.
                Bcast if is_root => (1, 0, Vec::new()),
                Bcast => (0, 1, vec![(0, 0, 0)]),
                // Sums are compared separately.
                Reduce => (1, at_root(1), Vec::new()),
                Allreduce => (1, 1, Vec::new()),
                Allgather => (1, ranks, from_all(0)),
                Alltoall => (ranks, ranks, from_all(rank)),
                Gather => (1, at_root(ranks), if is_root { from_all(0) } else { Vec::new() }),
                Scatter => (at_root(ranks), 1, vec![(0, 0, rank)]),
                Barrier => (0, 0, Vec::new()),
                NeighborAlltoall => {
                    let neighbours = ring(rank, ranks);
                    // This rank's position among a neighbour's own neighbours.
                    let place =
                        |sender| ring(sender, ranks).iter().position(|&peer| peer == rank).unwrap_or(0);
                    let arrivals =
                        neighbours.iter().enumerate().map(|(i, &sender)| (i, sender, place(sender)));
                    (neighbours.len(), neighbours.len(), arrivals.collect())
                }
            },
        };
        Self { sends, receives, arrivals }
    }
}

/// The ranks before and after one on a ring: two, or one if both are the same.
fn ring(rank: usize, ranks: usize) -> Vec<usize> {
    let (before, after) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    if before == after { vec![after] } else { vec![before, after] }
}

impl OperationTraffic {
    /// An operation with this number of bytes in a block; for sums, in the vector of numbers of type
    /// `element`, rounded up to whole numbers.
    pub fn new(world: &Comm, operation: &Operation, element: Element, bytes: usize) -> anyhow::Result<Self> {
        let transfer = operation.transfer;
        let (comm, rank) = (world.duplicate()?, world.rank()?);
        let ranks = comm.size()?;
        let numbers = operation.adds().then(|| Numbers::new(element));
        let datatype = Datatype::predefined(if operation.adds() { element } else { Element::Byte });
        let block = numbers.as_ref().map_or(bytes, |numbers| bytes.next_multiple_of(numbers.bytes()));
        let ring = match transfer {
            OperationTransfer::Collective(Collective::NeighborAlltoall) => {
                let neighbours = ring(rank, ranks);
                Some(comm.graph(&neighbours, &neighbours)?)
            }
            _ => None,
        };
        let shape = BlockCounts::on_rank(transfer, rank, ranks);
        let [mut send, mut receive] = [shape.sends, shape.receives].map(|blocks| Wire::new(blocks * block));
        let places = |memory, at, bytes, source| {
            // SAFETY: buffers are not moved with their owner, and are only used while no operation is in progress.
            unsafe { Places::new(memory, Runs::from_runs([Run { at, bytes, source }])) }
        };
        let sends = vec![places(send.region(), 0, send.len(), source_of(rank, 0, 0))];
        let memory = receive.region();
        let link = |&(at, peer, from): &(usize, usize, usize)| {
            let places = places(memory, at * block, block, source_of(peer, 0, from * block));
            Link { peer, tag: 0, places }
        };
        let receives = shape.arrivals.iter().map(link).collect();
        Ok(Self {
            rank,
            transfer,
            comm,
            ring,
            ranks,
            block,
            moved: Moved { sends, receives, padded: None },
            looks: Spots::default(),
            send,
            receive,
            numbers,
            checks: Checks::default(),
            datatype,
        })
    }

    /// Writes the data to send.
    fn write(&mut self, version: Version) {
        match &self.numbers {
            Some(numbers) => numbers.write(&mut self.send, self.rank, version),
            None => self.moved.write(version),
        }
    }

    /// The operation, to be started repeatedly.
    fn repeated(&mut self, form: Form) -> Result<Repeated, CallError> {
        let (mut send, receive) = (self.send.base(), self.receive.base());
        if self.transfer == OperationTransfer::Collective(Collective::Bcast) && self.send.is_empty() {
            send = receive;
        }
        let count = self.block / self.numbers.as_ref().map_or(1, Numbers::bytes);
        let comm = self.ring.as_ref().unwrap_or(&self.comm);
        // SAFETY: the memory has as many blocks as the operation uses on this rank, and is not read or written between start and wait.
        unsafe {
            match self.transfer {
                OperationTransfer::Collective(collective) => {
                    let block = (count, &self.datatype);
                    let call = CollectiveCall::blocks(collective, comm, [send, receive], block);
                    Repeated::collective(Some(form), call)
                }
                OperationTransfer::Message => {
                    let (is_sent, peer) = (self.rank.is_multiple_of(2), self.rank ^ 1);
                    let envelope = Envelope { count, datatype: &self.datatype, peer, tag: 0, comm };
                    Repeated::message(form, is_sent, if is_sent { send } else { receive }, envelope)
                }
            }
        }
    }
}

impl Traffic for OperationTraffic {
    type Active = Repeated;

    fn make(&mut self, method: &str) -> anyhow::Result<Repeated> {
        let form = methods::transfer(method).map_err(anyhow::Error::msg)?.operation;
        Ok(self.repeated(form.unwrap_or(Form::Nonblocking))?)
    }

    fn fill(&mut self, _: &mut Repeated) -> Result<(), CallError> {
        let version = self.checks.fill();
        self.write(version);
        self.receive.fill(POISON);
        self.looks = self.moved.looks(version.generation);
        Ok(())
    }

    fn renew(&mut self, _: &mut Repeated) -> Result<(), CallError> {
        let version = self.checks.change();
        self.write(version);
        Ok(())
    }

    fn start(&mut self, transfer: &mut Repeated) -> Result<(), CallError> {
        transfer.start()
    }

    fn test(&mut self, transfer: &mut Repeated) -> Result<bool, CallError> {
        transfer.test()
    }

    fn wait(&mut self, transfer: &mut Repeated) -> Result<(), CallError> {
        transfer.wait()
    }

    fn synchronises(&self) -> bool {
        self.transfer == OperationTransfer::Collective(Collective::Barrier)
    }

    fn checks(&mut self) -> &mut Checks {
        &mut self.checks
    }

    fn look(&mut self) {
        let version = self.checks.version;
        self.checks.look(match &self.numbers {
            Some(numbers) => numbers.look(&self.receive, self.ranks, version),
            None => self.looks.wrong(version).map(|(_, wrong)| wrong.in_buffer()),
        });
    }

    fn wrong(&mut self) -> Option<Mismatch> {
        let version = self.checks.version;
        let of_block =
            |(link, wrong): (&Link, Wrong)| format!("block from rank {}: {}", link.peer, wrong.in_buffer());
        let wrong = match &self.numbers {
            Some(numbers) => numbers.wrong(&self.receive, self.ranks, version),
            None => self.moved.wrong(version).map(of_block),
        };
        let [sent, received] = [&mut self.send, &mut self.receive].map(Wire::stray_byte);
        wrong.or(received).or(sent)
    }

    fn teardown(&mut self, transfer: Repeated) -> Result<(), CallError> {
        transfer.free()
    }
}

#[cfg(test)]
mod tests {
    use common::kinds::overlap::operations::OPERATIONS;

    use super::*;

    #[test]
    fn what_is_received_is_what_somebody_sends() {
        for operation in OPERATIONS {
            for ranks in [2, 4, 6] {
                for rank in 0..ranks {
                    let shape = BlockCounts::on_rank(operation.transfer, rank, ranks);
                    for &(at, sender, from) in &shape.arrivals {
                        assert!(
                            from < BlockCounts::on_rank(operation.transfer, sender, ranks).sends,
                            "{} {rank}",
                            operation.name
                        );
                        assert!(at < shape.receives);
                    }
                }
            }
        }
    }

    #[test]
    fn a_ring_of_two_has_one_neighbour_each() {
        assert_eq!((ring(0, 2), ring(1, 2)), (vec![1], vec![0]));
        assert_eq!((ring(0, 3), ring(2, 3)), (vec![2, 1], vec![1, 0]));
    }
}

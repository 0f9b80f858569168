//! The data shared by a ping-pong's loops.

use apps::{MicroApp, Side, WireOrder};
use common::packing::{Ends, Location};
use datatypes::Element;

use super::cache::Eviction;
use super::clock::Clock;
use super::sync::Sync;
use crate::checked::{CallError, Comm, Datatype};
use crate::expected::Stream;
use crate::memory::Memory;
use crate::method::{Method, Setup};
use crate::padding::{data_spans, without_padding};
use crate::pattern::Pattern;
use crate::regions::Regions;
use crate::spans::Span;
use crate::spots::Spots;
use crate::stamps::Stamps;

/// One ping-pong on all ranks.
pub struct Session<'a> {
    /// All ranks of the run.
    pub world: &'a Comm,
    pub clock: Clock,
    /// The exchange, on the pair's communicator or on all ranks'.
    pub setup: &'a Setup<'a>,
    pub pair: usize,
    /// The lines to evict between repetitions; `None` if caches stay warm.
    pub eviction: Option<Eviction>,
    /// The relation between the memory that is sent and the memory that is received into.
    pub regions: Regions,
    /// The stamps that are rewritten before each repetition.
    pub renewal: Renewal,
    /// The common time of both ranks of a pair; `None` if all ranks begin together.
    pub sync: Option<Sync>,
    /// Number of the last generation of data; equal on all ranks.
    pub generation: u32,
    /// Number of the last repetition whose data was rewritten, from 1 in each generation; equal on all ranks.
    pub repetition: u32,
    /// The places that are checked after each repetition of a block.
    pub spots: Spots,
}

impl Session<'_> {
    /// Whether this process's clock counts: the origin of a pair, or rank 0 of an all-to-all.
    pub fn is_origin(&self) -> bool {
        self.setup.me == 0
    }

    /// Begins a new generation of data, on all ranks.
    pub fn next_generation(&mut self) {
        self.generation += 1;
        self.repetition = 0;
        self.spots = Spots::default();
    }

    /// Fills all memory with data of a new generation. Wire buffers are poisoned, except for a message that is sent from there.
    pub fn fill(&mut self, memory: &mut Memory, ends: Ends) -> Pattern {
        self.next_generation();
        let mine = Pattern::new(self.setup.me, self.generation);
        if memory.has_arrays {
            mine.write(0, memory.arrays.memory_mut());
        }
        memory.poison_wire();
        if ends.from == Location::Wire {
            self.write_message(memory, ends, mine);
        }
        mine
    }

    /// Writes the message to send from the wire buffer, with the data `mine` of the arrays.
    pub fn write_message(&self, memory: &mut Memory, ends: Ends, mine: Pattern) {
        let message = self.setup.app.message(Side::Send, ends.order);
        let mut stream = Stream::of(&message, &memory.arrays, mine);
        stream.read(&mut memory.outgoing[..self.setup.message_bytes]);
    }

    /// Prepares the next repetition, outside of all times: the send data is rewritten, caches are evicted in cold mode,
    /// and the ranks meet. Afterwards the origin begins, and its peer has just begun to wait.
    pub fn renew(&mut self, memory: &mut Memory, method: &mut dyn Method) -> Result<(), CallError> {
        let ends = method.ends();
        if !ends.is_renewed && self.eviction.is_none() {
            return self.rewrite(memory, method);
        }
        // A peer whose send has returned may be early: its preparation must not disturb the origin's last repetition.
        self.wait_for(0)?;
        self.rewrite(memory, method)?;
        if let Some(eviction) = &self.eviction {
            eviction.evict(self.setup, memory, ends.from);
        }
        self.meet()
    }

    /// Rewrites the send data, with values that no earlier repetition had.
    #[inline]
    pub fn rewrite(&mut self, memory: &mut Memory, method: &mut dyn Method) -> Result<(), CallError> {
        let ends = method.ends();
        if !ends.is_renewed {
            self.spots.spoil(memory);
            return Ok(());
        }
        self.repetition += 1;
        self.spots.put_back(memory, Pattern::new(self.setup.me, self.generation));
        self.renewal.write(memory, ends, self.sent_by(self.setup.me));
        method.settle()
    }

    /// The data that `rank` wrote before the last repetition, or its initial data if it wrote none.
    pub fn sent_by(&self, rank: usize) -> Pattern {
        Pattern::sent(rank, self.generation, self.repetition)
    }

    /// The origin of a pair continues when its peer is ready. In an all-to-all all continue together, after a barrier.
    pub fn meet(&self) -> Result<(), CallError> {
        if self.setup.is_all_to_all() { self.setup.comm.barrier() } else { self.wait_for(1) }
    }

    /// In a pair, one rank waits for the other, number `rank` of the two, which sends a message without bytes.
    fn wait_for(&self, rank: usize) -> Result<(), CallError> {
        if self.setup.is_all_to_all() {
            return Ok(());
        }
        let (mut nothing, byte) = ([0_u8; 1], Datatype::predefined(Element::Byte));
        match self.setup.me == rank {
            // SAFETY: no bytes are sent from a live address.
            true => unsafe { self.setup.comm.send(nothing.as_ptr(), 0, &byte, self.setup.peer()) },
            // SAFETY: no bytes are received to a live address.
            false => unsafe { self.setup.comm.receive(nothing.as_mut_ptr(), 0, &byte, self.setup.peer()) },
        }
    }

    /// The common time of both ranks of a pair, in seconds.
    #[inline]
    pub fn now_s(&self) -> Option<f64> {
        self.sync.as_ref().map(Sync::now_s)
    }
}

/// The stamps that are rewritten before each repetition: their places, and the methods that use them.
pub struct Renewal {
    /// The runs that are sent from the arrays.
    pub arrays: Stamps,
    /// The runs that an all-to-all sends on its way back; empty for other exchanges.
    pub turned: Stamps,
    /// The runs of the wire buffer to send.
    pub wire: Stamps,
}

impl Renewal {
    /// For an exchange with this memory.
    pub fn new(app: &MicroApp, setup: &Setup<'_>, memory: &mut Memory) -> Self {
        let message = app.message(Side::Send, WireOrder::Ddt);
        let arrays = Stamps::of(data_spans(&message, &memory.arrays));
        let turned = if setup.is_all_to_all() {
            memory.arrays.swap(0, 1);
            let turned = Stamps::of(data_spans(&message, &memory.arrays));
            memory.arrays.swap(0, 1);
            turned
        } else {
            Stamps::of([])
        };
        // Blocks of an all-to-all may be smaller than a line: each is a separate message.
        let bytes = setup.message_bytes / setup.blocks();
        let blocks = (0..setup.blocks()).map(|block| Span { offset: block * bytes, bytes });
        let wire = Stamps::of(blocks.flat_map(|block| without_padding(setup.element, block)));
        Self { arrays, turned, wire }
    }

    /// Writes the stamps of `pattern` into the memory that a method with these ends sends.
    #[inline]
    fn write(&self, memory: &mut Memory, ends: Ends, pattern: Pattern) {
        match ends.from {
            Location::Wire => self.wire.write(&mut memory.outgoing, pattern),
            Location::Arrays => {
                self.arrays.write(memory.arrays.memory_mut(), pattern);
                if ends.to == Location::Wire {
                    // The way back sends data that did not arrive on the way there.
                    self.turned.write(memory.arrays.memory_mut(), pattern);
                }
            }
        }
    }
}

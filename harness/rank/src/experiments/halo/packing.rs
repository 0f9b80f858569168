//! Packing of shares and unpacking of messages: by the application's loops, by plain loops over the datatypes' nests, or by our own
//! pack engine.

use kernels::{PlainLoop, Program, RunError};

use super::links::{HaloMemory, Link, Links};
use apps::WireOrder;
use apps::halo::Face;

/// By what a method packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackingKind {
    /// Not at all: MPI is given datatypes, or nothing is to be packed.
    None,
    /// The application's loops, as it has them; where nobody wrote any, the plain ones.
    Loops,
    /// The application's loops, tuned by hand.
    TunedLoops,
    /// Plain loops over the datatypes' nests.
    PlainLoops,
    /// Our own pack engine, whose programs are compiled once.
    Engine,
}

/// A face's layout, analysed once.
enum Packer {
    Plain(PlainLoop),
    Engine(Program),
}

impl Packer {
    fn pack(&self, array: &[u8], origin: i64, packed: &mut [u8]) -> Result<(), RunError> {
        match self {
            Self::Plain(plain) => plain.pack(array, origin, packed),
            Self::Engine(program) => program.pack(array, origin, packed),
        }
    }

    fn unpack(&self, packed: &[u8], array: &mut [u8], origin: i64) -> Result<(), RunError> {
        match self {
            Self::Plain(plain) => plain.unpack(packed, array, origin),
            Self::Engine(program) => program.unpack(packed, array, origin),
        }
    }
}

/// A face's packer, with the byte from array 0 that it starts from; `None` for an empty one.
type Compiled = Option<(i64, Packer)>;

/// Packs the shares of a rank's messages, and unpacks what arrives.
pub struct Packing {
    kind: PackingKind,
    /// Of each stage, each message, each thread.
    shares: Vec<Vec<Vec<Compiled>>>,
    /// Likewise, in the same parts: LAMMPS' datatypes put the values of a whole face and of its parts in different orders.
    arrivals: Vec<Vec<Vec<Compiled>>>,
}

/// Why a program cannot be refused its memory.
const PROVED: &str = "a face lies within the arrays' memory, which the verification before timing has shown";

impl Packing {
    /// For the messages of a rank.
    pub fn new(kind: PackingKind, links: &Links, memory: &HaloMemory) -> Self {
        let kind = match kind {
            PackingKind::Loops if !links.has_loops => PackingKind::PlainLoops,
            kind => kind,
        };
        let is_plain = kind == PackingKind::PlainLoops;
        let compiled = |face: &Face| {
            let message = face.message(WireOrder::Ddt);
            (!message.pieces.is_empty()).then(|| {
                let (origin, layout) = message.datatype(&memory.displacements);
                let packer = match is_plain {
                    true => PlainLoop::of(&layout, 1).map(Packer::Plain),
                    false => kernels::compile(&layout, 1).map(Packer::Engine),
                };
                (origin, packer.expect("the arrays lie in memory, hence in the address space"))
            })
        };
        let is_compiled = is_plain || kind == PackingKind::Engine;
        let stages = || links.stages.iter().filter(|_| is_compiled);
        let parts = |link: &Link| link.cut.parts.iter().map(compiled).collect();
        Self {
            kind,
            shares: stages().map(|stage| stage.sends.iter().map(parts).collect()).collect(),
            arrivals: stages().map(|stage| stage.receives.iter().map(parts).collect()).collect(),
        }
    }

    /// By what it packs.
    pub fn kind(&self) -> PackingKind {
        self.kind
    }

    /// Whether there is anything to do.
    pub fn packs(&self) -> bool {
        self.kind != PackingKind::None
    }

    /// Packs a thread's share of a message.
    ///
    /// # Safety
    /// Nobody changes the arrays meanwhile, nobody but the caller packs this share, and MPI does not use its place in the
    /// wire buffer: what was sent from there before is complete.
    pub unsafe fn pack(
        &self,
        memory: &HaloMemory,
        (stage, send, thread): (usize, usize, usize),
        link: &Link,
    ) {
        let (part, range) = (&link.cut.parts[thread], &link.cut.ranges[thread]);
        let range = link.wire.start + range.start..link.wire.start + range.end;
        // SAFETY: as the caller vouches.
        let (arrays, packed) = unsafe { (memory.arrays.share(), memory.outgoing(range)) };
        match self.kind {
            PackingKind::None => {}
            PackingKind::Loops => part.pack(arrays, packed),
            PackingKind::TunedLoops => part.pack_tuned(arrays, packed),
            PackingKind::PlainLoops | PackingKind::Engine => {
                if let Some((origin, packer)) = &self.shares[stage][send][thread] {
                    packer.pack(arrays.memory(), memory.start as i64 + origin, packed).expect(PROVED);
                }
            }
        }
    }

    /// Unpacks a message.
    ///
    /// # Safety
    /// Nobody else uses the arrays meanwhile, and the message has arrived: MPI does not write its place in the wire buffer.
    pub unsafe fn unpack(&self, memory: &HaloMemory, (stage, receive): (usize, usize), link: &Link) {
        // SAFETY: as the caller vouches.
        let (arrays, packed) = unsafe { (memory.arrays.get(), memory.incoming(link.wire.clone())) };
        match self.kind {
            PackingKind::None => {}
            PackingKind::Loops => link.face.unpack(packed, arrays),
            PackingKind::TunedLoops => link.face.unpack_tuned(packed, arrays),
            PackingKind::PlainLoops | PackingKind::Engine => {
                for (part, range) in self.arrivals[stage][receive].iter().zip(&link.cut.ranges) {
                    if let Some((origin, packer)) = part {
                        let origin = memory.start as i64 + origin;
                        packer.unpack(&packed[range.clone()], arrays.memory_mut(), origin).expect(PROVED);
                    }
                }
            }
        }
    }
}

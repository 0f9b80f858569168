//! The ends of a message, each treated in one of eight ways: as it lies in a wire buffer, through the application's
//! own loop or its tuned form, through a plain loop over the datatype's nest, through `MPI_Pack`, through our own pack engine, or as a derived datatype,
//! as the application describes it or otherwise.

use std::ffi::c_int;

use apps::{Side, WireOrder};
use datatypes::Equivalent;
use kernels::{PlainLoop, Program};

use super::{Endpoint, Ends, Location, Setup};
use crate::checked::{CallError, Datatype};
use crate::memory::Memory;

/// How one end of the message is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Packed already, or to be left packed.
    Wire,
    /// The application's loop packs or unpacks it.
    ByHand,
    /// The tuned form of that loop does.
    Tuned,
    /// `MPI_Pack` or `MPI_Unpack` with the datatype.
    MpiPacked,
    /// A plain loop over the nest of the datatype's layout does.
    Looped,
    /// Our own engine packs or unpacks it, with the datatype's layout.
    Compiled,
    /// MPI is given the datatype.
    Typed,
    /// MPI is given the same type map by other constructors.
    Described(Equivalent),
}

impl End {
    fn is_typed(self) -> bool {
        matches!(self, Self::MpiPacked | Self::Typed | Self::Described(_))
    }

    fn is_created(self) -> bool {
        self.is_typed() || self == Self::Compiled
    }

    /// Whether it is written by hand, and so has no other order than its own.
    pub fn is_loop(self) -> bool {
        matches!(self, Self::ByHand | Self::Tuned)
    }

    /// Whether our side unpacks it.
    pub fn is_ours(self) -> bool {
        self.is_loop() || matches!(self, Self::Looped | Self::Compiled)
    }

    fn is_explicit(self) -> bool {
        self.is_ours() || self == Self::MpiPacked
    }

    fn location(self) -> Location {
        if self == Self::Wire { Location::Wire } else { Location::Arrays }
    }
}

/// Why a layout can be compiled.
const IN_MEMORY: &str = "the arrays lie in memory, hence in the address space";

/// Why a program cannot be refused its memory.
const PROVED: &str =
    "a message lies within the arrays' memory, which the verification before timing has shown";

/// Packs and unpacks a message within one process.
pub struct Packer<'a> {
    setup: &'a Setup<'a>,
    order: WireOrder,
    pub(super) send: EndState,
    pub(super) receive: EndState,
    /// Bytes that `MPI_Pack` may need; the message where it is not called.
    pack_bytes: usize,
}

/// One end: how, where, and its datatype or program between create and free.
pub struct EndState {
    pub(super) how: End,
    /// Of an end that goes by the datatype.
    endpoint: Option<Endpoint>,
    /// Blocks that a program packs at once.
    blocks: usize,
    /// As many as were made and not freed; the last is used.
    datatypes: Vec<Datatype>,
    programs: Vec<Program>,
    /// Of an end that a loop packs: it is there from the start, as a hand-written one is.
    plain_loop: Option<PlainLoop>,
}

impl EndState {
    fn new(
        setup: &Setup<'_>,
        memory: &Memory,
        how: End,
        side: Side,
        order: WireOrder,
    ) -> Result<Self, CallError> {
        let description = if let End::Described(way) = how { Some(way) } else { None };
        let make = || setup.endpoint(side, order, &memory.arrays, description);
        let has_layout = how.is_created() || how == End::Looped;
        let endpoint = has_layout.then(make).transpose()?;
        let (datatypes, programs) = (Vec::new(), Vec::new());
        let plain_loop = endpoint.as_ref().filter(|_| how == End::Looped);
        let plain_loop = plain_loop
            .map(|endpoint| PlainLoop::of(&endpoint.layout, setup.blocks() as u64).expect(IN_MEMORY));
        Ok(Self { how, endpoint, blocks: setup.blocks(), datatypes, programs, plain_loop })
    }

    fn create(&mut self) -> Result<(), CallError> {
        if self.how.is_typed() {
            self.datatypes.push(self.endpoint().recipe.create()?);
        }
        if self.how == End::Compiled {
            let program = kernels::compile(&self.endpoint().layout, self.blocks as u64);
            self.programs.push(program.expect(IN_MEMORY));
        }
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.programs.pop();
        self.datatypes.pop().map_or(Ok(()), Datatype::free)
    }

    #[inline]
    fn endpoint(&self) -> &Endpoint {
        self.endpoint.as_ref().expect("an end that goes by the datatype has one")
    }

    /// Byte of the arrays' memory that displacement 0 of the block of `peer` stands for.
    #[inline]
    pub(super) fn offset(&self, memory: &Memory, peer: usize) -> usize {
        self.endpoint().offset(&memory.arrays, peer)
    }

    #[inline]
    fn plain_loop(&self) -> &PlainLoop {
        self.plain_loop.as_ref().expect("an end that is looped has one")
    }

    #[inline]
    fn program(&self) -> &Program {
        self.programs.last().expect("created before use")
    }

    #[inline]
    pub(super) fn datatype(&self) -> &Datatype {
        self.datatypes.last().expect("created before use")
    }
}

impl<'a> Packer<'a> {
    /// For one setup and its memory. The application's loop has the order [`WireOrder::Manual`] and no other.
    pub fn new(
        setup: &'a Setup<'a>,
        memory: &Memory,
        send: End,
        receive: End,
        order: WireOrder,
    ) -> anyhow::Result<Self> {
        let send = EndState::new(setup, memory, send, Side::Send, order)?;
        let receive = EndState::new(setup, memory, receive, Side::Receive, order)?;
        let mut pack_bytes = setup.message_bytes;
        if send.how == End::MpiPacked {
            let datatype = send.endpoint().recipe.create()?;
            pack_bytes = setup.comm.pack_size(setup.blocks() as c_int, &datatype)?;
            datatype.free()?;
            anyhow::ensure!(
                pack_bytes <= memory.outgoing.len(),
                "MPI_Pack_size asks for {pack_bytes} bytes for a message of {}",
                setup.message_bytes
            );
        }
        Ok(Self { setup, order, send, receive, pack_bytes })
    }

    /// What it does at both ends.
    pub fn ends(&self) -> Ends {
        Ends {
            from: self.send.how.location(),
            to: self.receive.how.location(),
            order: self.order,
            creates: self.send.how.is_created() || self.receive.how.is_created(),
            packs: self.send.how.is_explicit(),
            unpacks: self.receive.how.is_explicit(),
            is_renewed: true,
        }
    }

    /// Makes what its ends need: datatypes or programs.
    pub fn create(&mut self) -> Result<(), CallError> {
        self.send.create()?;
        self.receive.create()
    }

    /// Frees the datatypes or programs that were made last.
    pub fn free(&mut self) -> Result<(), CallError> {
        self.send.free()?;
        self.receive.free()
    }

    /// Gathers the message into the buffer of what is sent.
    #[inline]
    pub fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        match self.send.how {
            End::ByHand => {
                self.setup.app.pack(&memory.arrays, &mut memory.outgoing[..self.setup.message_bytes]);
                Ok(())
            }
            End::Tuned => {
                self.setup.app.pack_tuned(&memory.arrays, &mut memory.outgoing[..self.setup.message_bytes]);
                Ok(())
            }
            End::Looped => {
                let origin = self.send.offset(memory, 0) as i64;
                let packed = &mut memory.outgoing[..self.setup.message_bytes];
                self.send.plain_loop().pack(memory.arrays.memory(), origin, packed).expect(PROVED);
                Ok(())
            }
            End::MpiPacked => {
                let address = memory.read_from(self.send.offset(memory, 0));
                let (blocks, datatype) = (self.setup.blocks() as c_int, self.send.datatype());
                let packed = &mut memory.outgoing[..self.pack_bytes];
                // SAFETY: the layout lies within the arrays' memory, which apps' conformance tests and the
                // verification before timing have shown.
                unsafe { self.setup.comm.pack(address, blocks, datatype, packed) }.map(drop)
            }
            End::Compiled => {
                let origin = self.send.offset(memory, 0) as i64;
                let packed = &mut memory.outgoing[..self.setup.message_bytes];
                self.send.program().pack(memory.arrays.memory(), origin, packed).expect(PROVED);
                Ok(())
            }
            End::Wire | End::Typed | End::Described(_) => Ok(()),
        }
    }

    /// Scatters the message from the buffer of what was received.
    #[inline]
    pub fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        match self.receive.how {
            End::ByHand => {
                self.setup.app.unpack(&memory.incoming[..self.setup.message_bytes], &mut memory.arrays);
                Ok(())
            }
            End::Tuned => {
                self.setup.app.unpack_tuned(&memory.incoming[..self.setup.message_bytes], &mut memory.arrays);
                Ok(())
            }
            End::Looped => {
                let origin = self.receive.offset(memory, 0) as i64;
                let packed = &memory.incoming[..self.setup.message_bytes];
                self.receive.plain_loop().unpack(packed, memory.arrays.memory_mut(), origin).expect(PROVED);
                Ok(())
            }
            End::MpiPacked => {
                let address = memory.write_to(self.receive.offset(memory, 0));
                let (blocks, datatype) = (self.setup.blocks() as c_int, self.receive.datatype());
                let packed = &memory.incoming[..self.setup.message_bytes];
                // SAFETY: as in `pack`, on memory that is borrowed mutably.
                unsafe { self.setup.comm.unpack(packed, address, blocks, datatype) }
            }
            End::Compiled => {
                let origin = self.receive.offset(memory, 0) as i64;
                let packed = &memory.incoming[..self.setup.message_bytes];
                self.receive.program().unpack(packed, memory.arrays.memory_mut(), origin).expect(PROVED);
                Ok(())
            }
            End::Wire | End::Typed | End::Described(_) => Ok(()),
        }
    }
}

//! Send and receive, with each end in one of five ways: as it lies in a wire buffer, through the application's
//! own loop, through `MPI_Pack`, through our own pack engine, or as a derived datatype.

use std::ffi::c_int;

use apps::{Side, WireOrder};
use kernels::Program;

use super::{Endpoint, Ends, Method, Place, Setup};
use crate::checked::error::int;
use crate::checked::{CallError, Datatype};
use crate::memory::Memory;
use crate::spans::spans;

/// How one end of the message is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Packed already, or to be left packed.
    Wire,
    /// The application's loop packs or unpacks it; where the application receives straight into its array, so does
    /// this.
    ByHand,
    /// `MPI_Pack` or `MPI_Unpack` with the datatype.
    MpiPacked,
    /// Our own engine packs or unpacks it, with the datatype's layout.
    Compiled,
    /// MPI is given the datatype.
    Typed,
}

impl End {
    fn is_typed(self) -> bool {
        matches!(self, Self::MpiPacked | Self::Typed)
    }

    fn is_created(self) -> bool {
        self.is_typed() || self == Self::Compiled
    }

    fn place(self) -> Place {
        if self == Self::Wire { Place::Wire } else { Place::Arrays }
    }
}

/// Why a program cannot be refused its memory.
const PROVED: &str =
    "a message lies within the arrays' memory, which the verification before timing has shown";

/// A two-sided method.
pub struct TwoSided<'a> {
    setup: &'a Setup<'a>,
    send: EndState,
    receive: EndState,
    /// Byte of the arrays' memory where packed bytes are received that need no unpacking.
    in_place: Option<usize>,
    /// Bytes that `MPI_Pack` may need; the message where the method does not call it.
    pack_bytes: usize,
    /// Type and count of one packed block.
    packed: Datatype,
    packed_count: c_int,
}

/// One end: how, where, and its datatype or program between create and free.
struct EndState {
    how: End,
    endpoint: Endpoint,
    /// Blocks that a program packs at once.
    blocks: usize,
    datatype: Option<Datatype>,
    program: Option<Program>,
}

impl EndState {
    fn new(setup: &Setup<'_>, memory: &Memory, how: End, side: Side) -> Result<Self, CallError> {
        let endpoint = setup.endpoint(side, &memory.arrays)?;
        Ok(Self { how, endpoint, blocks: setup.blocks(), datatype: None, program: None })
    }

    fn create(&mut self) -> Result<(), CallError> {
        if self.how.is_typed() {
            self.datatype = Some(self.endpoint.recipe.create()?);
        }
        if self.how == End::Compiled {
            let program = kernels::compile(&self.endpoint.layout, self.blocks as u64);
            self.program = Some(program.expect("the arrays lie in memory, hence in the address space"));
        }
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.program = None;
        self.datatype.take().map_or(Ok(()), Datatype::free)
    }

    #[inline]
    fn program(&self) -> &Program {
        self.program.as_ref().expect("created before use")
    }

    #[inline]
    fn datatype(&self) -> &Datatype {
        self.datatype.as_ref().expect("created before use")
    }
}

impl<'a> TwoSided<'a> {
    pub fn new(setup: &'a Setup<'a>, memory: &Memory, send: End, receive: End) -> anyhow::Result<Self> {
        let by_mpi = send == End::MpiPacked;
        let (packed, packed_count) = match by_mpi {
            true => {
                (Datatype::packed(), int("MPI_Send", "count", (setup.message_bytes / setup.blocks()) as i64)?)
            }
            false => (Datatype::predefined(setup.element), setup.block_elements()?),
        };
        let send = EndState::new(setup, memory, send, Side::Send)?;
        let receive = EndState::new(setup, memory, receive, Side::Receive)?;
        let mut pack_bytes = setup.message_bytes;
        if by_mpi {
            let datatype = send.endpoint.recipe.create()?;
            pack_bytes = setup.comm.pack_size(setup.blocks() as c_int, &datatype)?;
            datatype.free()?;
            anyhow::ensure!(
                pack_bytes <= memory.outgoing.len(),
                "MPI_Pack_size asks for {pack_bytes} bytes for a message of {}",
                setup.message_bytes
            );
        }
        let in_place = (receive.how == End::ByHand && setup.app.receives_in_place())
            .then(|| setup.app.message(Side::Receive, WireOrder::Manual))
            .and_then(|message| spans(&message, &memory.arrays).next().map(|span| span.offset));
        Ok(Self { setup, send, receive, in_place, pack_bytes, packed, packed_count })
    }

    /// Address, count and type of what is sent to `peer`.
    #[inline]
    fn source(&self, memory: &Memory, peer: usize) -> (*const u8, c_int, &Datatype) {
        match self.send.how {
            End::Typed => {
                let offset = self.send.endpoint.offset(&memory.arrays, peer);
                (memory.read_from(offset), 1, self.send.datatype())
            }
            _ => (memory.outgoing.as_ptr(), self.packed_count, &self.packed),
        }
    }

    /// Address, count and type of what is received from `peer`.
    #[inline]
    fn target(&self, memory: &mut Memory, peer: usize) -> (*mut u8, c_int, &Datatype) {
        match self.receive.how {
            End::Typed => {
                let offset = self.receive.endpoint.offset(&memory.arrays, peer);
                (memory.write_to(offset), 1, self.receive.datatype())
            }
            _ => {
                let address = match self.in_place {
                    Some(offset) => memory.write_to(offset),
                    None => memory.incoming.as_mut_ptr(),
                };
                (address, self.packed_count, &self.packed)
            }
        }
    }
}

impl Method for TwoSided<'_> {
    fn ends(&self) -> Ends {
        let by_hand = self.send.how == End::ByHand;
        Ends {
            from: self.send.how.place(),
            to: self.receive.how.place(),
            order: if by_hand { WireOrder::Manual } else { WireOrder::Ddt },
            creates: self.send.how.is_created() || self.receive.how.is_created(),
            packs: matches!(self.send.how, End::ByHand | End::MpiPacked | End::Compiled),
            unpacks: match self.receive.how {
                End::ByHand => self.in_place.is_none(),
                End::MpiPacked | End::Compiled => true,
                End::Wire | End::Typed => false,
            },
        }
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.send.create()?;
        self.receive.create()
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.send.free()?;
        self.receive.free()
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        match self.send.how {
            End::ByHand => {
                self.setup.app.pack(&memory.arrays, &mut memory.outgoing[..self.setup.message_bytes]);
                Ok(())
            }
            End::MpiPacked => {
                let offset = self.send.endpoint.offset(&memory.arrays, 0);
                let address = memory.read_from(offset);
                let (blocks, datatype) = (self.setup.blocks() as c_int, self.send.datatype());
                let packed = &mut memory.outgoing[..self.pack_bytes];
                // SAFETY: the layout lies within the arrays' memory, which apps' conformance tests and the
                // verification before timing have shown.
                unsafe { self.setup.comm.pack(address, blocks, datatype, packed) }.map(drop)
            }
            End::Compiled => {
                let origin = self.send.endpoint.offset(&memory.arrays, 0) as i64;
                let packed = &mut memory.outgoing[..self.setup.message_bytes];
                let result = self.send.program().pack(memory.arrays.memory(), origin, packed);
                result.expect(PROVED);
                Ok(())
            }
            End::Wire | End::Typed => Ok(()),
        }
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let (address, count, datatype) = self.source(memory, 0);
        // SAFETY: as in `pack`; a packed block lies within the wire buffer.
        unsafe { self.setup.comm.send(address, count, datatype, self.setup.peer()) }
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let (address, count, datatype) = self.target(memory, 0);
        // SAFETY: as in `send`, on memory that is borrowed mutably.
        unsafe { self.setup.comm.receive(address, count, datatype, self.setup.peer()) }
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let (to, target_count, target_type) = self.target(memory, 0);
        let (from, source_count, source_type) = self.source(memory, 0);
        // SAFETY: as in `send` and `receive`; blocks follow each other one extent apart at both ends.
        unsafe {
            self.setup.comm.all_to_all((from, source_count, source_type), (to, target_count, target_type))
        }
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        match self.receive.how {
            End::ByHand if self.in_place.is_some() => Ok(()),
            End::ByHand => {
                self.setup.app.unpack(&memory.incoming[..self.setup.message_bytes], &mut memory.arrays);
                Ok(())
            }
            End::MpiPacked => {
                let offset = self.receive.endpoint.offset(&memory.arrays, 0);
                let address = memory.write_to(offset);
                let (blocks, datatype) = (self.setup.blocks() as c_int, self.receive.datatype());
                let packed = &memory.incoming[..self.setup.message_bytes];
                // SAFETY: as in `pack`, on memory that is borrowed mutably.
                unsafe { self.setup.comm.unpack(packed, address, blocks, datatype) }
            }
            End::Compiled => {
                let origin = self.receive.endpoint.offset(&memory.arrays, 0) as i64;
                let packed = &memory.incoming[..self.setup.message_bytes];
                let result = self.receive.program().unpack(packed, memory.arrays.memory_mut(), origin);
                result.expect(PROVED);
                Ok(())
            }
            End::Wire | End::Typed => Ok(()),
        }
    }
}

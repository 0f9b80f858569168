//! Packing: one end of a message, or a part of it, in each of the ways of [`Packing`].

use std::ffi::c_int;

use apps::{Arrays, Face, Loops, Piece, Side, WireOrder};
use common::packing::{Packing, Staged};
use kernels::{PlainLoop, Program};

use crate::carrier::MessageData;
use crate::checked::{CallError, Comm};
use crate::device::{DevicePacker, StagedBytes};
use crate::own_loop::OwnLoop;

/// Why a layout can always be compiled.
const IN_MEMORY: &str = "the arrays are in memory, hence in the address space";

/// Why a program's memory is always accepted.
const PROVED: &str = "a message is within the arrays' memory, as verified before timing";

/// Packs or unpacks one end of a message.
pub struct Packer<'a> {
    how: Packing,
    comm: &'a Comm,
    /// Blocks that are packed at once.
    blocks: usize,
    /// For an end that is packed by its layout; `None` also if there is nothing to pack.
    endpoint: Option<Piece>,
    means: Means<'a>,
}

/// The code that packs. Of lists, the last one is used: the others were created before and are not freed.
enum Means<'a> {
    Nothing,
    /// The application's loops, which exist from the start, as the two below.
    Loops(Loops, &'a Face),
    Own(OwnLoop),
    PlainLoop(PlainLoop),
    Programs(Vec<Program>),
    Mpi(MessageData),
    /// For data on a device, with the datatype if MPI packs it.
    Device(DevicePacker, Option<MessageData>),
}

impl<'a> Packer<'a> {
    /// A face of a halo, or a thread's share of it; `displacements` are those of the arrays. Its datatype or
    /// program is not created yet. `own` loads the user's loop.
    pub fn of_face(
        how: Packing,
        face: &'a Face,
        displacements: &[i64],
        comm: &'a Comm,
        own: impl FnOnce() -> OwnLoop,
    ) -> Result<Self, CallError> {
        let message = face.message(WireOrder::Ddt);
        let endpoint = (!message.pieces.is_empty()).then(|| {
            let (origin_bytes, layout) = message.datatype(displacements);
            Piece { array: 0, origin_bytes, layout }
        });
        Self::new(how, face, comm, 1, endpoint, own)
    }

    /// One end of a message, or of its blocks for all peers, if they are packed at once.
    pub fn new(
        how: Packing,
        face: &'a Face,
        comm: &'a Comm,
        blocks: usize,
        endpoint: Option<Piece>,
        own: impl FnOnce() -> OwnLoop,
    ) -> Result<Self, CallError> {
        let means = match (how, endpoint.as_ref().map(|endpoint| &endpoint.layout)) {
            (Packing::ByHand, _) => Means::Loops(Loops::Plain, face),
            (Packing::Tuned, _) => Means::Loops(Loops::Tuned, face),
            (Packing::Own, _) => Means::Own(own()),
            (Packing::Looped, Some(layout)) => {
                Means::PlainLoop(PlainLoop::from_layout(layout, blocks as u64).expect(IN_MEMORY))
            }
            (Packing::Engine, Some(_)) => Means::Programs(Vec::new()),
            (Packing::Mpi | Packing::Staged(Staged::Mpi), Some(layout)) => {
                Means::Mpi(MessageData::derived(0, blocks, layout, comm)?)
            }
            _ => Means::Nothing,
        };
        Ok(Self { how, comm, blocks, endpoint, means })
    }

    /// The same on a device, with the packed message from this byte of its buffer on, and the memory where it
    /// is staged if it is. Its datatype or program is not created yet.
    pub fn on_device(self, begin: usize, staging: Option<StagedBytes>) -> Self {
        let layout = self.endpoint.as_ref().map(|endpoint| (&endpoint.layout, endpoint.origin_bytes));
        let staging = staging.filter(|_| matches!(self.how, Packing::Staged(_)));
        let device = DevicePacker::new(self.how, layout, self.blocks as u64, begin, staging);
        let data = if let Means::Mpi(data) = self.means { Some(data) } else { None };
        Self { means: Means::Device(device, data), ..self }
    }

    pub fn is_on_device(&self) -> bool {
        matches!(self.means, Means::Device(..))
    }

    /// The memory where the message is staged between host and device, if it is.
    #[inline]
    pub fn staging(&self) -> Option<*mut u8> {
        if let Means::Device(device, _) = &self.means { device.staging() } else { None }
    }

    #[inline]
    pub fn how(&self) -> Packing {
        self.how
    }

    /// Creates a datatype or a program, if it packs with one. Repeated calls add more of them: the last one is used.
    pub fn create(&mut self) -> Result<(), CallError> {
        match (&mut self.means, &self.endpoint) {
            (Means::Programs(programs), Some(endpoint)) => {
                let program = kernels::compile(&endpoint.layout, self.blocks as u64);
                programs.push(program.expect(IN_MEMORY));
            }
            (Means::Device(device, None), _) => device.create(),
            (Means::Mpi(data) | Means::Device(_, Some(data)), _) => data.create()?,
            _ => {}
        }
        Ok(())
    }

    /// Frees the one that was created last.
    pub fn free(&mut self) -> Result<(), CallError> {
        match &mut self.means {
            Means::Programs(programs) => drop(programs.pop()),
            Means::Device(device, None) => device.free(),
            Means::Mpi(data) | Means::Device(_, Some(data)) => data.free()?,
            _ => {}
        }
        Ok(())
    }

    /// Byte of the arrays' memory that corresponds to displacement 0.
    #[inline]
    fn offset(&self, arrays: &Arrays) -> usize {
        let Piece { array, origin_bytes, .. } =
            self.endpoint.as_ref().expect("an end that goes by the layout has one");
        let start = arrays.place(*array).start as i64 + origin_bytes;
        usize::try_from(start).expect("a message starts within the arrays' memory")
    }

    /// Bytes that packing this number of bytes may need.
    pub fn pack_bytes(&mut self, bytes: usize) -> Result<usize, CallError> {
        let Means::Mpi(data) = &mut self.means else { return Ok(bytes) };
        data.create()?;
        let needed = self.comm.pack_size(self.blocks as c_int, data.datatype(), bytes)?;
        data.free()?;
        Ok(needed)
    }

    /// Gathers the bytes from the arrays, if it packs from there.
    #[inline]
    pub fn pack(&self, arrays: &Arrays, packed: &mut [u8]) -> Result<(), CallError> {
        match &self.means {
            Means::Nothing | Means::Device(..) => {}
            Means::Loops(loops, face) => face.pack(*loops, arrays, packed),
            Means::Own(own) => own.pack(arrays, packed),
            Means::PlainLoop(plain_loop) => {
                plain_loop.pack(arrays.memory(), self.offset(arrays) as i64, packed).expect(PROVED);
            }
            Means::Programs(programs) => {
                let program = programs.last().expect("created before use");
                program.pack(arrays.memory(), self.offset(arrays) as i64, packed).expect(PROVED);
            }
            Means::Mpi(data) => {
                let address = arrays.memory().as_ptr().wrapping_add(self.offset(arrays));
                let packed = (packed.as_mut_ptr(), packed.len());
                // SAFETY: the layout is within the arrays' memory, as verified by apps' conformance tests and before timing.
                unsafe { self.comm.pack(address, self.blocks as c_int, data.datatype(), packed) }?;
            }
        }
        Ok(())
    }

    /// Scatters the bytes to the arrays, if it unpacks to there.
    #[inline]
    pub fn unpack(&self, packed: &[u8], arrays: &mut Arrays) -> Result<(), CallError> {
        match &self.means {
            Means::Nothing | Means::Device(..) => {}
            Means::Loops(loops, face) => face.unpack(*loops, packed, arrays),
            Means::Own(own) => own.unpack(packed, arrays),
            Means::PlainLoop(plain_loop) => {
                let origin = self.offset(arrays) as i64;
                plain_loop.unpack(packed, arrays.memory_mut(), origin).expect(PROVED);
            }
            Means::Programs(programs) => {
                let (program, origin) =
                    (programs.last().expect("created before use"), self.offset(arrays) as i64);
                program.unpack(packed, arrays.memory_mut(), origin).expect(PROVED);
            }
            Means::Mpi(data) => {
                let address = arrays.memory_mut().as_mut_ptr().wrapping_add(self.offset(arrays));
                let packed = (packed.as_ptr(), packed.len());
                // SAFETY: as in `pack`, on memory that is borrowed mutably.
                unsafe { self.comm.unpack(packed, address, self.blocks as c_int, data.datatype()) }?;
            }
        }
        Ok(())
    }

    /// Packs or unpacks on a device, between `base`, the start of the arrays' memory, and these packed bytes.
    ///
    /// # Safety
    /// This is memory for this message, which nothing else uses.
    #[inline]
    pub unsafe fn run_on_device(
        &self,
        side: Side,
        (arrays, base): (&Arrays, *mut u8),
        (packed, bytes): (*mut u8, usize),
    ) -> Result<(), CallError> {
        let Means::Device(device, data) = &self.means else { unreachable!("data on the host") };
        let Some(data) = data else {
            // The start of the array that addresses count from.
            let start = self.endpoint.as_ref().map_or(0, |endpoint| arrays.place(endpoint.array).start);
            // SAFETY: guaranteed by the caller.
            unsafe { device.run(side, base.wrapping_add(start), packed) };
            return Ok(());
        };
        let packed = (device.staging().unwrap_or(packed), bytes);
        let (address, count) = (base.wrapping_add(self.offset(arrays)), self.blocks as c_int);
        // SAFETY: guaranteed by the caller.
        unsafe {
            match side {
                Side::Send => self.comm.pack(address, count, data.datatype(), packed),
                Side::Receive => {
                    self.comm.unpack((packed.0.cast_const(), bytes), address, count, data.datatype())
                }
            }
        }
    }
}

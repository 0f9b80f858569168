//! Packing: one end of a message, or a part of it, in each of the ways of [`Packing`].

use std::ffi::c_int;

use apps::{Arrays, Face, Loops, Piece, Side, WireOrder};
use common::packing::{Packing, Staged};
use kernels::{PlainLoop, Program};

use crate::carrier::MessageData;
use crate::checked::{CallError, Comm, Datatype};
use crate::device::{DevicePacker, StagedBytes};
use crate::own_loop::OwnLoop;

/// Why a layout can always be compiled.
const IN_MEMORY: &str = "the arrays are in memory, hence in the address space";

/// Why a program's memory is always accepted.
const PROVED: &str = "a message is within the arrays' memory, as verified before timing";

/// Packs or unpacks one end of a message.
pub struct Packer<'a> {
    how: Packing,
    /// The application's loops belong to it.
    face: &'a Face,
    comm: &'a Comm,
    /// Blocks that are packed at once.
    blocks: usize,
    /// For an end that is packed by its layout; `None` also if there is nothing to pack.
    endpoint: Option<Piece>,
    /// The datatype, if MPI packs it.
    data: Option<MessageData>,
    /// All that were created and not freed; the last one is used.
    programs: Vec<Program>,
    /// It exists from the start, like a hand-written loop.
    plain_loop: Option<PlainLoop>,
    /// The user's loop.
    own: Option<OwnLoop>,
    /// For data on a device.
    device: Option<DevicePacker>,
}

impl<'a> Packer<'a> {
    /// A face of a halo, or a thread's share of it; `displacements` are those of the arrays. Its datatype or program is not created yet.
    pub fn of_face(
        how: Packing,
        face: &'a Face,
        displacements: &[i64],
        comm: &'a Comm,
        own: Option<OwnLoop>,
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
        own: Option<OwnLoop>,
    ) -> Result<Self, CallError> {
        let layout = endpoint.as_ref().map(|endpoint| &endpoint.layout);
        let of_mpi = layout.filter(|_| matches!(how, Packing::Mpi | Packing::Staged(Staged::Mpi)));
        let data = of_mpi.map(|layout| MessageData::derived(0, blocks, layout, comm)).transpose()?;
        let of_loop = layout.filter(|_| how == Packing::Looped);
        let plain_loop =
            of_loop.map(|layout| PlainLoop::from_layout(layout, blocks as u64).expect(IN_MEMORY));
        let (programs, device) = (Vec::new(), None);
        Ok(Self { how, face, comm, blocks, endpoint, data, programs, plain_loop, own, device })
    }

    /// The same on a device, with the packed message from this byte of its buffer on, and the memory where it
    /// is staged if it is. Its datatype or program is not created yet.
    pub fn on_device(self, begin: usize, staging: Option<StagedBytes>) -> Self {
        let layout = self.endpoint.as_ref().map(|endpoint| (&endpoint.layout, endpoint.origin_bytes));
        let staging = staging.filter(|_| matches!(self.how, Packing::Staged(_)));
        let device = Some(DevicePacker::new(self.how, layout, self.blocks as u64, begin, staging));
        Self { device, ..self }
    }

    pub fn is_on_device(&self) -> bool {
        self.device.is_some()
    }

    /// The memory where the message is staged between host and device, if it is.
    #[inline]
    pub fn staging(&self) -> Option<*mut u8> {
        self.device.as_ref().and_then(DevicePacker::staging)
    }

    #[inline]
    pub fn how(&self) -> Packing {
        self.how
    }

    /// Creates a datatype or a program, if it packs with one. Repeated calls add more of them: the last one is used.
    pub fn create(&mut self) -> Result<(), CallError> {
        self.data.as_mut().map_or(Ok(()), MessageData::create)?;
        if let Some(device) = &mut self.device {
            device.create();
        } else if let (Packing::Engine, Some(endpoint)) = (self.how, &self.endpoint) {
            let program = kernels::compile(&endpoint.layout, self.blocks as u64);
            self.programs.push(program.expect(IN_MEMORY));
        }
        Ok(())
    }

    /// Frees the one that was created last.
    pub fn free(&mut self) -> Result<(), CallError> {
        self.programs.pop();
        self.device.iter_mut().for_each(DevicePacker::free);
        self.data.as_mut().map_or(Ok(()), MessageData::free)
    }

    /// The datatype that was created last.
    #[inline]
    fn datatype(&self) -> &Datatype {
        self.data.as_ref().expect("MPI packs a datatype").datatype()
    }

    /// Byte of the arrays' memory that corresponds to displacement 0.
    #[inline]
    fn offset(&self, arrays: &Arrays) -> usize {
        let Piece { array, origin_bytes, .. } =
            self.endpoint.as_ref().expect("an end that goes by the layout has one");
        let start = arrays.place(*array).start as i64 + origin_bytes;
        usize::try_from(start).expect("a message starts within the arrays' memory")
    }

    /// Bytes that `MPI_Pack` may need for this number of bytes of data.
    pub fn pack_bytes(&mut self, bytes: usize) -> Result<usize, CallError> {
        self.create()?;
        let needed = self.comm.pack_size(self.blocks as c_int, self.datatype(), bytes)?;
        self.free()?;
        Ok(needed)
    }

    /// Gathers the bytes from the arrays, if it packs from there.
    #[inline]
    pub fn pack(&self, arrays: &Arrays, packed: &mut [u8]) -> Result<(), CallError> {
        match self.how {
            Packing::ByHand => self.face.pack(Loops::Plain, arrays, packed),
            Packing::Tuned => self.face.pack(Loops::Tuned, arrays, packed),
            Packing::Own => self.own.as_ref().expect("made for this packing").pack(arrays, packed),
            Packing::Looped => {
                if let Some(plain_loop) = &self.plain_loop {
                    plain_loop.pack(arrays.memory(), self.offset(arrays) as i64, packed).expect(PROVED);
                }
            }
            Packing::Engine => {
                if let Some(program) = self.programs.last() {
                    program.pack(arrays.memory(), self.offset(arrays) as i64, packed).expect(PROVED);
                }
            }
            Packing::Mpi => {
                let address = arrays.memory().as_ptr().wrapping_add(self.offset(arrays));
                // SAFETY: the layout is within the arrays' memory, as verified by apps' conformance tests and before timing.
                unsafe {
                    let packed = (packed.as_mut_ptr(), packed.len());
                    self.comm.pack(address, self.blocks as c_int, self.datatype(), packed)
                }?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The same on a device, or unpacking there: between `base`, where the arrays' memory begins, and `packed` with these bytes.
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
        let device = self.device.as_ref().expect("made for a device");
        let Some(data) = &self.data else {
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

    /// Scatters the bytes to the arrays, if it unpacks to there.
    #[inline]
    pub fn unpack(&self, packed: &[u8], arrays: &mut Arrays) -> Result<(), CallError> {
        match self.how {
            Packing::ByHand => self.face.unpack(Loops::Plain, packed, arrays),
            Packing::Tuned => self.face.unpack(Loops::Tuned, packed, arrays),
            Packing::Own => self.own.as_ref().expect("made for this packing").unpack(packed, arrays),
            Packing::Looped => {
                if let Some(plain_loop) = &self.plain_loop {
                    let origin = self.offset(arrays) as i64;
                    plain_loop.unpack(packed, arrays.memory_mut(), origin).expect(PROVED);
                }
            }
            Packing::Engine => {
                if let Some(program) = self.programs.last() {
                    let origin = self.offset(arrays) as i64;
                    program.unpack(packed, arrays.memory_mut(), origin).expect(PROVED);
                }
            }
            Packing::Mpi => {
                let address = arrays.memory_mut().as_mut_ptr().wrapping_add(self.offset(arrays));
                // SAFETY: as in `pack`, on memory that is borrowed mutably.
                unsafe {
                    let packed = (packed.as_ptr(), packed.len());
                    self.comm.unpack(packed, address, self.blocks as c_int, self.datatype())
                }?;
            }
            _ => {}
        }
        Ok(())
    }
}

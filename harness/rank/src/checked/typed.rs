//! Calls that only the conformance checks of datatypes need: queries, and packing at any position.

use std::ffi::c_int;

use datatypes::Reported;
use mpi::ffi;
use mpi::ffi::MPI_Aint;

use super::{CallError, Comm, Datatype, error::int};

/// One end of a transfer: the address, the number of items, and their type.
pub type End<'a, P> = (P, c_int, &'a Datatype);

impl Datatype {
    /// `MPI_Type_size`, `MPI_Type_get_extent` and `MPI_Type_get_true_extent`.
    pub fn reported(&self) -> Result<Reported, CallError> {
        let mut size: c_int = 0;
        let (mut lower_bound, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        let (mut true_lower_bound, mut true_extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a live type; the pointers live through the calls.
        unsafe {
            call!(MPI_Type_size(self.raw(), &mut size))?;
            call!(MPI_Type_get_extent(self.raw(), &mut lower_bound, &mut extent))?;
            call!(MPI_Type_get_true_extent(self.raw(), &mut true_lower_bound, &mut true_extent))?;
        }
        Ok(Reported {
            size: size.into(),
            lower_bound: wide(lower_bound),
            extent: wide(extent),
            true_lower_bound: wide(true_lower_bound),
            true_extent: wide(true_extent),
        })
    }

    pub fn duplicate(&self) -> Result<Self, CallError> {
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_DATATYPE_NULL };
        // SAFETY: a live type; the pointer lives through the call.
        unsafe { call!(MPI_Type_dup(self.raw(), &mut raw)) }?;
        // SAFETY: the call has created the type, and nothing else owns it.
        Ok(unsafe { Self::owned(raw) })
    }
}

/// The type of MPI_Aint depends on the bindings.
#[allow(clippy::unnecessary_cast)]
fn wide(address: MPI_Aint) -> i64 {
    address as i64
}

impl Comm {
    /// `MPI_Pack` at a position of `room` bytes, which is moved.
    ///
    /// # Safety
    /// The data must be readable, and `packed` writable for `room` bytes.
    pub unsafe fn pack_at(
        &self,
        (from, count, datatype): End<'_, *const u8>,
        (packed, room): (*mut u8, usize),
        position: &mut c_int,
    ) -> Result<(), CallError> {
        let (room, comm) = (int("MPI_Pack", "outsize", room as i64)?, self.raw());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe { call!(MPI_Pack(from.cast(), count, datatype.raw(), packed.cast(), room, position, comm)) }
    }
}

//! Calls that only the conformance checks of datatypes need: queries, and packing at any position.

use std::ffi::c_int;

use common::conformance::contents::Integer;
use common::conformance::{Combiner, Contents};
use datatypes::Reported;
use mpi::ffi;
use mpi::ffi::MPI_Aint;

use super::datatype::CONSTANTS;
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

    /// `MPI_Type_get_envelope` and `MPI_Type_get_contents`.
    pub fn contents(&self) -> Result<Contents, CallError> {
        let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
        // SAFETY: a live type; the pointers live through the call.
        unsafe {
            let (integers, addresses, types) = (&mut integers, &mut addresses, &mut types);
            call!(MPI_Type_get_envelope(self.raw(), integers, addresses, types, &mut combiner))
        }?;
        // SAFETY: a list of constants.c with this length.
        let numbers = unsafe { &ffi::RSMPI_COMBINERS };
        let place = numbers.iter().position(|number| *number == combiner);
        let combiner = place.map_or(Combiner::Other, |place| Combiner::ALL[place]);
        let (mut lists, mut children) =
            ((vec![0 as c_int; integers as usize], vec![0 as MPI_Aint; addresses as usize]), Vec::new());
        if combiner != Combiner::Named {
            // SAFETY: null handles to be overwritten.
            children = vec![unsafe { ffi::RSMPI_DATATYPE_NULL }; types as usize];
            let (first, second) = (lists.0.as_mut_ptr(), lists.1.as_mut_ptr());
            // SAFETY: a live type and lists of the lengths that are passed.
            unsafe {
                let children = children.as_mut_ptr();
                call!(MPI_Type_get_contents(self.raw(), integers, addresses, types, first, second, children))
            }?;
        }
        for mut child in children {
            if !is_named(child)? {
                // SAFETY: the call above has given the handle to us.
                unsafe { call!(MPI_Type_free(&mut child)) }?;
            }
        }
        let (integers, addresses) = lists;
        Ok(Contents {
            combiner,
            integers: with_constants(combiner, &integers),
            addresses: addresses.into_iter().map(wide).collect(),
            types: types as usize,
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

fn is_named(raw: ffi::MPI_Datatype) -> Result<bool, CallError> {
    let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
    // SAFETY: a live type; the pointers live through the call.
    unsafe {
        let (integers, addresses, types) = (&mut integers, &mut addresses, &mut types);
        call!(MPI_Type_get_envelope(raw, integers, addresses, types, &mut combiner))
    }?;
    // SAFETY: a list of constants.c, the first of which is MPI_COMBINER_NAMED.
    Ok(combiner == unsafe { ffi::RSMPI_COMBINERS[0] })
}

/// Integer arguments, those that are constants by name: the order of arrays, and how they are distributed.
fn with_constants(combiner: Combiner, integers: &[c_int]) -> Vec<Integer> {
    let constant = |names: std::ops::Range<usize>, value: c_int| {
        let named = CONSTANTS[names].iter().find(|(number, _)| *number == value);
        named.map_or(Integer::Number(value.into()), |(_, name)| Integer::Constant(name))
    };
    // An array has its number of dimensions as the third argument, and then lists of as many.
    let dims = integers.get(2).map_or(0, |dims| *dims as usize);
    let last = integers.len().wrapping_sub(1);
    let kind = |place: usize| match combiner {
        Combiner::Subarray | Combiner::Darray if place == last => 0..2,
        Combiner::Darray if (3 + dims..3 + 2 * dims).contains(&place) => 2..5,
        Combiner::Darray if (3 + 2 * dims..3 + 3 * dims).contains(&place) => 5..6,
        _ => 0..0,
    };
    integers.iter().enumerate().map(|(place, value)| constant(kind(place), *value)).collect()
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

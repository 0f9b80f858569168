//! `MPI_Reduce` of a derived datatype by a function of this program.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use mpi::ffi;
use mpi::ffi::MPI_Datatype;

use super::{CallError, Comm, Datatype};

#[derive(Debug, Default)]
pub struct Item {
    /// The displacement and the bytes of each value.
    pub places: Vec<(isize, usize)>,
    /// Bytes from an item to the next.
    pub extent: isize,
}

/// The item of the reduction that is running. MPI passes only a handle to the function.
static ITEM: Mutex<Item> = Mutex::new(Item { places: Vec::new(), extent: 0 });

/// Combines the values of some items, byte by byte.
unsafe extern "C" fn exclusive_or(
    from: *mut c_void,
    to: *mut c_void,
    length: *mut c_int,
    _: *mut MPI_Datatype,
) {
    let item = ITEM.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: MPI passes the address of the number of items.
    let items = unsafe { *length } as isize;
    for number in 0..items {
        for (at, bytes) in &item.places {
            let start = number * item.extent + at;
            for place in start..start + *bytes as isize {
                // SAFETY: MPI passes items of the type, to which these bytes belong.
                unsafe { *to.cast::<u8>().offset(place) ^= *from.cast::<u8>().offset(place) };
            }
        }
    }
}

impl Comm {
    /// `MPI_Reduce` by exclusive or of the bytes of each value.
    ///
    /// # Safety
    /// The sent data must be readable and the received data writable; `item` must describe an item of the datatype.
    pub unsafe fn reduce_by_exclusive_or(
        &self,
        (from, to, count): (*const u8, *mut u8, c_int),
        datatype: &Datatype,
        item: Item,
        root: usize,
    ) -> Result<(), CallError> {
        *ITEM.lock().unwrap_or_else(PoisonError::into_inner) = item;
        let (mut operation, commutes) = (MaybeUninit::<ffi::MPI_Op>::uninit(), 1);
        // SAFETY: a function of the right type, which lives as long as the program; the pointer lives through the call.
        unsafe { call!(MPI_Op_create(Some(exclusive_or), commutes, operation.as_mut_ptr())) }?;
        // SAFETY: set by the call above.
        let mut operation = unsafe { operation.assume_init() };
        let (from, to, of, root) = (from.cast(), to.cast(), datatype.raw(), root as c_int);
        // SAFETY: the caller guarantees the memory; handles are live.
        let reduced = unsafe { call!(MPI_Reduce(from, to, count, of, operation, root, self.raw())) };
        // SAFETY: the handle that was created above.
        unsafe { call!(MPI_Op_free(&mut operation)) }?;
        reduced
    }
}

//! The operations of the conformance checks of datatypes: C statements in a library, which use what [`Shared`] has.

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use common::conformance::Contents;
use mpi::ffi;
use mpi::ffi::MPI_Aint;

use super::datatype::number;
use super::{Comm, Datatype};

/// The function of an operation, which uses [`Shared`].
#[derive(Clone, Copy)]
pub struct OperationCall(unsafe extern "C" fn());

/// `struct bench` of bench.h, field by field: memory, numbers and functions of an operation.
#[repr(C)]
pub struct Shared {
    /// The first argument of all functions but the last.
    pub state: *mut c_void,
    pub memory: *mut u8,
    pub kept: *mut u8,
    pub packed: *mut u8,
    pub values: *mut u8,
    pub expected: *mut u8,
    pub file: *const c_char,
    pub handles: Handles,
    pub all: c_long,
    pub origin: c_long,
    pub bytes: c_long,
    pub block: c_long,
    pub from: c_long,
    pub span: c_long,
    pub extent: c_long,
    pub lower_bound: c_long,
    pub right_addresses: *const MPI_Aint,
    pub right_integers: *const c_int,
    pub items: c_int,
    pub value_count: c_int,
    pub count: c_int,
    pub whole: c_int,
    pub partitions: c_int,
    pub rank: c_int,
    pub ranks: c_int,
    pub tag: c_int,
    pub combiner: c_int,
    pub integers: c_int,
    pub addresses: c_int,
    pub types: c_int,
    pub fill: extern "C" fn(*mut c_void, c_int),
    pub blank: extern "C" fn(*mut c_void),
    pub arrive: extern "C" fn(*mut c_void, *const u8),
    pub place: extern "C" fn(*mut c_void),
    pub keep: extern "C" fn(*mut c_void),
    pub reverse: extern "C" fn(*mut c_void, *mut u8),
    pub guarded: extern "C" fn(*mut c_void, c_long) -> *mut u8,
    pub compare: extern "C" fn(*mut c_void, *const c_char, *const u8, *const u8, c_long),
    pub compare_number: extern "C" fn(*mut c_void, *const c_char, c_long, c_long),
    pub failed: extern "C" fn(*mut c_void, *const c_char, c_int),
    /// Gives a type to be freed; its result is not 0 if that fails.
    pub make: extern "C" fn(*mut c_void, *mut RawDatatype) -> c_int,
    /// A reduction: the values to combine, the result, the number of items and the type.
    pub exclusive_or: extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut c_void),
}

/// A handle as in C.
pub type RawDatatype = ffi::MPI_Datatype;

/// The arguments of a constructor, as numbers of this MPI.
#[derive(Default)]
pub struct Arguments {
    pub combiner: c_int,
    pub integers: Vec<c_int>,
    pub addresses: Vec<MPI_Aint>,
    pub types: c_int,
}

impl Arguments {
    /// `None` if one is too large for `MPI_Type_get_contents`, or if there are too many for the stack.
    pub fn new(contents: &Contents) -> Option<Self> {
        if contents.integers.len().max(contents.addresses.len()) > 1 << 16 {
            return None;
        }
        // SAFETY: a list of constants.c with this length.
        let combiners = unsafe { &ffi::RSMPI_COMBINERS };
        let integers = contents.integers.iter().map(|integer| number(integer).try_into().ok());
        Some(Self {
            combiner: combiners[contents.combiner as usize],
            integers: integers.collect::<Option<_>>()?,
            addresses: contents.addresses.iter().map(|address| *address as MPI_Aint).collect(),
            types: contents.types.try_into().ok()?,
        })
    }
}

/// The types and the communicator.
#[repr(C)]
pub struct Handles {
    datatype: ffi::MPI_Datatype,
    dense: ffi::MPI_Datatype,
    element: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
}

impl Handles {
    /// The type of the case, the contiguous one, that of its first value, and the ranks that take part.
    pub fn new(datatype: &Datatype, dense: &Datatype, element: &Datatype, comm: &Comm) -> Self {
        Self { datatype: datatype.raw(), dense: dense.raw(), element: element.raw(), comm: comm.raw() }
    }
}

/// The library of all operations.
pub struct Operations {
    library: *mut c_void,
    shared: *mut *mut Shared,
}

impl Operations {
    /// Loads the library; `None` if the loader cannot.
    pub fn load(path: &Path) -> Option<Self> {
        let name = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: a C string; the library has no constructors, and is never unloaded.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) };
        // SAFETY: a loaded library, or null, for which nothing is found.
        let shared = (!library.is_null()).then(|| unsafe { libc::dlsym(library, c"bench".as_ptr()) })?;
        (!shared.is_null()).then_some(Self { library, shared: shared.cast() })
    }

    /// The function of an operation; `None` if the MPI's header lacks a function that it calls.
    pub fn find(&self, name: &str) -> Option<OperationCall> {
        let name = CString::new(format!("run_{name}")).ok()?;
        // SAFETY: a loaded library and a C string.
        let address = unsafe { libc::dlsym(self.library, name.as_ptr()) };
        if address.is_null() {
            return None;
        }
        // SAFETY: all functions with these names have no parameters and no result.
        Some(OperationCall(unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(address) }))
    }

    /// Does an operation.
    ///
    /// # Safety
    /// Memory, handles and functions of `shared` must be as bench.h describes them, and live until the call returns.
    pub unsafe fn run(&self, operation: OperationCall, shared: &mut Shared) {
        // SAFETY: a variable of the library with this type; the caller guarantees the rest.
        unsafe {
            *self.shared = shared;
            (operation.0)();
            *self.shared = ptr::null_mut();
        }
    }
}

//! The tool information interface, by which a library reports its settings (MPI-4.1, 15.3).

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;

use mpi::ffi;

use super::{CallError, check};

/// The types of numbers, each with the text of one in the first bytes of a buffer.
const NUMBERS: [fn(u64) -> String; 7] = [
    |bits| (bits as i32).to_string(),
    |bits| (bits as u32).to_string(),
    |bits| bits.cast_signed().to_string(),
    |bits| bits.to_string(),
    |bits| bits.to_string(),
    |bits| f64::from_bits(bits).to_string(),
    |bits| (bits as u8).to_string(),
];

/// The interface between its own initialisation and finalisation, which are separate from MPI's.
pub struct ToolInformation(());

impl ToolInformation {
    pub fn initialize() -> Result<Self, CallError> {
        let mut provided = 0;
        // SAFETY: it may be called at any time, and the pointer lives through the call.
        unsafe { call!(MPI_T_init_thread(ffi::RSMPI_THREAD_SINGLE, &mut provided)) }?;
        Ok(Self(()))
    }

    /// The current control variables, by name; those of closed components are gone.
    pub fn variables(&self) -> Result<Vec<Variable<'_>>, CallError> {
        let mut count = 0;
        // SAFETY: the interface is initialised while `self` lives, and the pointer lives through the call.
        unsafe { call!(MPI_T_cvar_get_num(&mut count)) }?;
        (0..count).filter_map(|index| self.variable(index).transpose()).collect()
    }

    /// A control variable by its index; `None` if it is gone.
    fn variable(&self, index: c_int) -> Result<Option<Variable<'_>>, CallError> {
        /// Longer than any name in MPICH, Open MPI and Intel MPI; a longer one would be truncated.
        const NAME_BYTES: usize = 256;
        let mut name = [0_u8; NAME_BYTES];
        let (mut length, mut bind, mut scope) = (NAME_BYTES as c_int, 0, 0);
        // SAFETY: a static of constants.c that never changes; here it is only an initial value to be overwritten.
        let mut datatype = unsafe { ffi::RSMPI_CHAR };
        // SAFETY: the name's length is given with it, the other pointers live through the call, and the standard ignores null ones.
        let code = unsafe {
            ffi::MPI_T_cvar_get_info(
                index,
                name.as_mut_ptr().cast::<c_char>(),
                &mut length,
                null_mut(),
                &mut datatype,
                null_mut(),
                null_mut(),
                null_mut(),
                &mut bind,
                &mut scope,
            )
        };
        if code == ffi::MPI_T_ERR_INVALID_INDEX as c_int {
            return Ok(None);
        }
        check("MPI_T_cvar_get_info", code)?;
        let name = text(&name);
        Ok(Some(Variable { _interface: self, index, name, datatype, bind, scope }))
    }
}

impl Drop for ToolInformation {
    fn drop(&mut self) {
        // SAFETY: it was initialised once by this value, whose handles are freed.
        let finalized = unsafe { call!(MPI_T_finalize()) };
        // The result does not matter any more.
        let _: Result<(), CallError> = finalized;
    }
}

pub struct Variable<'a> {
    _interface: &'a ToolInformation,
    index: c_int,
    pub name: String,
    datatype: ffi::MPI_Datatype,
    bind: c_int,
    scope: c_int,
}

impl Variable<'_> {
    /// Whether it cannot be set.
    pub fn is_constant(&self) -> bool {
        // SAFETY: a static of constants.c that never changes.
        self.scope == unsafe { ffi::RSMPI_T_SCOPE_CONSTANT }
    }

    /// Its value, if it is a text or a number for the whole process.
    pub fn value(&self) -> Result<Option<String>, CallError> {
        // SAFETY: statics of constants.c that never change.
        let (character, numbers, no_object) =
            unsafe { (ffi::RSMPI_CHAR, ffi::RSMPI_NUMBERS, ffi::RSMPI_T_BIND_NO_OBJECT) };
        let is_text = self.datatype == character;
        let number = numbers.iter().position(|number| *number == self.datatype);
        if self.bind != no_object || !(is_text || number.is_some()) {
            return Ok(None);
        }
        let (mut handle, mut count) = (null_mut(), 0);
        // SAFETY: the interface is initialised; a variable without an object ignores the pointer to one; the
        // others live through the call.
        unsafe { call!(MPI_T_cvar_handle_alloc(self.index, null_mut(), &mut handle, &mut count)) }?;
        // A number takes up to eight bytes and a character one: there is enough space for either, aligned for both.
        let mut values = vec![0_u64; usize::try_from(count).unwrap_or(0).max(1)];
        // SAFETY: the buffer has space for as many elements of the type as the handle has.
        let read = unsafe { call!(MPI_T_cvar_read(handle, values.as_mut_ptr().cast())) };
        // SAFETY: the handle was allocated above, and is not used afterwards.
        let freed = unsafe { call!(MPI_T_cvar_handle_free(&mut handle)) };
        read.and(freed)?;
        // The first bytes of a number are its lowest: MPIs do not support processors on which they are not.
        let number = number.map(|number| NUMBERS[number](values[0]));
        Ok(Some(number.unwrap_or_else(|| text(bytemuck::cast_slice(&values)))))
    }
}

/// The text before the first NUL.
fn text(bytes: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes);
    String::from_utf8_lossy(text).into_owned()
}

//! The user's loop: `pack` and `unpack` in a shared object that `ddtbench` has compiled from a C or Fortran file.
//!
//! In C they are `void pack(const void *array, void *message, int tag)` and `void unpack(const void *message, void *array, int tag)`.
//! The tag is that of a halo's message and 0 elsewhere; functions without this parameter ignore it, as calling conventions pass it in a
//! separate register. In Fortran they are subroutines with these arguments. The array is the address that MPI would get; if a message
//! has several arrays, it is a table of their addresses, in the order of their first data.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, anyhow};
use apps::{Arrays, Face, WireOrder};

static LOADED: OnceLock<[Function; 2]> = OnceLock::new();

/// The functions of a file in C.
const NEEDED: &str =
    "void pack(const void *array, void *message) and void unpack(const void *message, void *array)";

/// The most arrays of a message: more than any test has.
const MOST_ARRAYS: usize = 64;

/// A function of the user.
#[derive(Clone, Copy)]
enum Function {
    C(InC),
    Fortran(InFortran),
}

type InC = unsafe extern "C" fn(*const c_void, *mut c_void, c_int);
type InFortran = unsafe extern "C" fn(*const c_void, *mut c_void, *const c_int);

impl Function {
    /// # Safety
    /// The function only uses memory of the caller that it may use.
    #[inline]
    unsafe fn call(self, from: *const c_void, to: *mut c_void, tag: c_int) {
        match self {
            // SAFETY: guaranteed by the caller.
            Self::C(function) => unsafe { function(from, to, tag) },
            // SAFETY: as above.
            Self::Fortran(function) => unsafe { function(from, to, &raw const tag) },
        }
    }
}

/// Loads the functions of a shared object.
pub fn load(file: &Path) -> anyhow::Result<()> {
    let refusal = || format!("--pack {}", file.display());
    let name = CString::new(file.as_os_str().as_bytes()).with_context(refusal)?;
    // SAFETY: the name is NUL-terminated. The user wants the code that loading runs to be run.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: the call above has failed, and no other thread loads libraries.
        let reason = unsafe { CStr::from_ptr(libc::dlerror()) };
        return Err(anyhow!("{}", reason.to_string_lossy())).with_context(refusal);
    }
    let symbol = |name: &CStr| {
        // SAFETY: the library was loaded, and is never closed.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    let function = |c: &CStr, fortran: &CStr| {
        // SAFETY: the interfaces that the head of this file requires; nothing can check them.
        let found =
            symbol(c).map(|address| Function::C(unsafe { std::mem::transmute::<*mut c_void, InC>(address) }));
        let found = found.or_else(|| {
            let address = symbol(fortran)?;
            // SAFETY: as above.
            Some(Function::Fortran(unsafe { std::mem::transmute::<*mut c_void, InFortran>(address) }))
        });
        found
            .ok_or_else(|| anyhow!("has no function `{}`; it needs {NEEDED}", c.to_string_lossy()))
            .with_context(refusal)
    };
    let both = [function(c"pack", c"pack_")?, function(c"unpack", c"unpack_")?];
    LOADED.get_or_init(|| both);
    Ok(())
}

/// The user's loop for one end of a message.
pub struct OwnLoop {
    /// Each of the message's arrays, and the byte of it whose address the loop gets.
    arrays: Vec<(usize, usize)>,
    tag: c_int,
}

impl OwnLoop {
    /// For a face; if it `is_described` only by a datatype, the loop gets the address of displacement 0.
    ///
    /// # Panics
    /// If no loop was loaded.
    pub fn new(face: &Face, is_described: bool, tag: usize) -> Self {
        assert!(LOADED.get().is_some(), "the method `own` is refused without --pack");
        let mut arrays: Vec<(usize, usize)> = Vec::new();
        for piece in face.message(WireOrder::Ddt).pieces {
            if arrays.iter().all(|known| known.0 != piece.array) {
                arrays.push((piece.array, if is_described { piece.origin_bytes as usize } else { 0 }));
            }
        }
        assert!(arrays.len() <= MOST_ARRAYS, "{} arrays", arrays.len());
        Self { arrays, tag: tag as c_int }
    }

    #[inline]
    pub fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        // The table is read-only for this function.
        let base = arrays.memory().as_ptr().cast_mut();
        // SAFETY: the user's loop reads arrays and writes a message; verification shows what else it writes.
        self.with_arrays(arrays, base, |array| unsafe {
            loaded()[0].call(array, packed.as_mut_ptr().cast(), self.tag);
        });
    }

    #[inline]
    pub fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let base = arrays.base();
        // SAFETY: the user's loop reads a message and writes arrays; verification shows what else it writes.
        self.with_arrays(arrays, base, |array| unsafe {
            loaded()[1].call(packed.as_ptr().cast(), array, self.tag);
        });
    }

    /// Calls a function with the address of the array, or of the table of arrays.
    #[inline]
    fn with_arrays(&self, arrays: &Arrays, base: *mut u8, call: impl FnOnce(*mut c_void)) {
        let address = |&(array, byte): &(usize, usize)| {
            base.wrapping_add(arrays.place(array).start + byte).cast::<c_void>()
        };
        match &self.arrays[..] {
            [] => return,
            [one] => return call(address(one)),
            _ => {}
        }
        let mut table = [std::ptr::null_mut::<c_void>(); MOST_ARRAYS];
        for (entry, array) in table.iter_mut().zip(&self.arrays) {
            *entry = address(array);
        }
        call(table.as_mut_ptr().cast());
    }
}

fn loaded() -> &'static [Function; 2] {
    LOADED.get().expect("`new` has checked it")
}

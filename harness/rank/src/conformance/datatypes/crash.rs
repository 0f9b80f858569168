//! The place of a crash: the function of a library, usually the MPI's. Crashes of one cause have the same one.

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io::{self, Cursor, Write};
use std::mem::{self, MaybeUninit};
use std::os::fd::IntoRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use common::conformance::Batch;

/// Without `SIGABRT`: what notices a fault and calls `abort` is the same for many causes.
const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// Calls that are looked at.
const FRAMES: usize = 32;

/// Bytes of a place: a name in C++ can be longer, and is cut.
const LENGTH: usize = 256;

/// Libraries that others call with wrong arguments, and parts of the names of an MPI's functions of this kind.
const OF_SYSTEM: &str = "libc.so libm.so ld-linux linux-vdso libpthread libdl.so librt.so libgcc_s libstdc++";
const COPIES: [&str; 3] = ["memcpy", "memmove", "memset"];

/// The file that a crash writes to.
static FILE: AtomicI32 = AtomicI32::new(-1);

/// A signal's handler, which gets the registers.
type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::ucontext_t);

unsafe extern "C" {
    fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void;
}

/// From now on, a crash of this process writes its place to a file.
///
/// # Errors
/// If the file cannot be created.
pub fn watch(path: &Path) -> io::Result<()> {
    FILE.store(File::create(path)?.into_raw_fd(), Ordering::Relaxed);
    let mut frame = ptr::null_mut();
    // SAFETY: one pointer is written; the first call loads the unwinder, which a signal's handler must not.
    unsafe { libc::backtrace(&raw mut frame, 1) };
    for signal in SIGNALS {
        // SAFETY: all zeros are a `sigaction` without flags and with an empty set of signals.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = note as Handler as usize;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_SIGINFO;
        // SAFETY: `action` is whole, and the handler neither allocates nor locks.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
    Ok(())
}

/// Writes the place; then the signal ends the process as it would have without it.
extern "C" fn note(signal: c_int, _: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    let mut frames = [ptr::null_mut(); FRAMES];
    // SAFETY: the system passes the registers.
    let caller = caller_of_no_function(unsafe { &(*context).uc_mcontext });
    let depth = match caller {
        Some(caller) => {
            frames[0] = caller;
            1
        }
        // SAFETY: so many pointers are written at most.
        None => unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as c_int) },
    };
    // An address within the function: its first one may belong to the function before it.
    let own = Call::at((note as *mut c_void).wrapping_byte_add(1)).map(|call| call.base);
    let calls = frames[..depth.max(0) as usize].iter().filter_map(|&frame| Call::at(frame));
    let mut of_libraries = calls.filter(|call| Some(call.base) != own && !call.is_of_system());
    let mut place = [0; LENGTH];
    let mut text = Cursor::new(&mut place[..]);
    if let Some(call) = of_libraries.next() {
        // A text that is too long is cut.
        let _ = call.write(&mut text);
    }
    let length = text.position() as usize;
    // SAFETY: `length` bytes of `place` are written to a file of this process; the signal waits until this function has returned.
    unsafe {
        libc::write(FILE.load(Ordering::Relaxed), place.as_ptr().cast(), length);
        libc::raise(signal);
    }
}

/// The address to which a call returns that has gone to no code, such as by a pointer to a function that was overwritten: the unwinder
/// cannot go on from there.
#[cfg(target_arch = "x86_64")]
fn caller_of_no_function(registers: &libc::mcontext_t) -> Option<*mut c_void> {
    let [at, stack] = [libc::REG_RIP, libc::REG_RSP].map(|register| registers.gregs[register as usize]);
    let mut info = MaybeUninit::uninit();
    // SAFETY: the address is only compared with the tables of libraries.
    let is_code = unsafe { libc::dladdr(at as *const c_void, info.as_mut_ptr()) } != 0;
    // SAFETY: the call has written the address there.
    (!is_code).then(|| unsafe { *(stack as *const *mut c_void) })
}

#[cfg(not(target_arch = "x86_64"))]
fn caller_of_no_function(_: &libc::mcontext_t) -> Option<*mut c_void> {
    None
}

/// A function that was being called.
struct Call {
    /// The address where its library begins.
    base: *mut c_void,
    /// The file of the library, without folders.
    library: &'static [u8],
    function: *mut c_void,
    /// Its name, if the library shows it.
    name: Option<&'static CStr>,
}

impl Call {
    /// The function around an address; `None` if that is in no library.
    fn at(address: *mut c_void) -> Option<Self> {
        // SAFETY: the function only compares the address with the tables of libraries.
        let function = unsafe { _Unwind_FindEnclosingFunction(address) };
        let mut info = MaybeUninit::uninit();
        // SAFETY: the same, and `info` is written if the result is not 0.
        if function.is_null() || unsafe { libc::dladdr(function, info.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: `dladdr` has written it, and its texts are those of a loaded library.
        let (info, path): (libc::Dl_info, _) = unsafe {
            let info: libc::Dl_info = info.assume_init();
            (info, CStr::from_ptr(info.dli_fname).to_bytes())
        };
        let library = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        let is_named = info.dli_saddr == function && !info.dli_sname.is_null();
        // SAFETY: as above.
        let name = is_named.then(|| unsafe { CStr::from_ptr(info.dli_sname) });
        Some(Self { base: info.dli_fbase, library, function, name })
    }

    fn is_of_system(&self) -> bool {
        let begins = |name: &str| self.library.starts_with(name.as_bytes());
        let name = self.name.map_or(&[][..], CStr::to_bytes);
        let is_copy = |copy: &str| name.windows(copy.len()).any(|part| part == copy.as_bytes());
        OF_SYSTEM.split_whitespace().any(begins) || begins(Batch::LIBRARY) || COPIES.into_iter().any(is_copy)
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self.name {
            Some(name) => out.write_all(name.to_bytes()),
            None => {
                out.write_all(self.library)?;
                write!(out, "+{:#x}", self.function as usize - self.base as usize)
            }
        }
    }
}

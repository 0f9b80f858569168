//! Which functions the loaded MPI has, asked of the loader and not of `MPI_VERSION`, which libraries misstate.

use std::ffi::{CString, c_void};

/// Functions that the environment declares missing, separated by commas: lets tests and bug reports see what
/// happens on an MPI without them.
const HIDDEN: &str = "DDTBENCH_HIDE_SYMBOLS";

/// The functions among `needed` that the loaded MPI lacks.
pub fn missing(needed: &[&'static str]) -> Vec<&'static str> {
    let hidden = std::env::var(HIDDEN).unwrap_or_default();
    let is_hidden = |name: &str| hidden.split(',').any(|hidden| hidden.trim() == name);
    needed.iter().copied().filter(|name| is_hidden(name) || !exists(name)).collect()
}

/// A function of the loaded MPI as a pointer of type `F`; `None` where it is missing.
///
/// # Safety
/// `F` must be the type of a pointer to a C function with the interface that the function of this name has.
pub unsafe fn function<F: Copy>(name: &'static str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a pointer to a function") };
    if !missing(&[name]).is_empty() {
        return None;
    }
    let address = address(name)?;
    // SAFETY: of a pointer's size, and the caller vouches for its type.
    Some(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
}

fn exists(name: &str) -> bool {
    address(name).is_some()
}

fn address(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated; RTLD_DEFAULT searches what is loaded already and runs no code.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

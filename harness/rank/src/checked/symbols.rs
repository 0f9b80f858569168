//! The functions of the loaded MPI, according to the loader and not to `MPI_VERSION`, which some libraries misstate.

use std::ffi::{CString, c_void};

/// Functions to treat as missing, from the environment, separated by commas: for tests and bug reports about MPIs without them.
const HIDDEN: &str = "DDTBENCH_HIDE_SYMBOLS";

/// The functions among `needed` that the loaded MPI lacks.
pub fn missing(needed: &[&'static str]) -> Vec<&'static str> {
    let hidden = std::env::var(HIDDEN).unwrap_or_default();
    let is_hidden = |name: &str| hidden.split(',').any(|hidden| hidden.trim() == name);
    needed.iter().copied().filter(|name| is_hidden(name) || !exists(name)).collect()
}

/// A function of the loaded MPI as a pointer of type `F`; `None` if it is missing.
///
/// # Safety
/// `F` must be the pointer type for the C interface of the function with this name.
pub unsafe fn function<F: Copy>(name: &'static str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a pointer to a function") };
    if !missing(&[name]).is_empty() {
        return None;
    }
    let address = address(name)?;
    // SAFETY: the value has a pointer's size, and the caller guarantees its type.
    Some(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
}

fn exists(name: &str) -> bool {
    address(name).is_some()
}

fn address(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated; RTLD_DEFAULT searches only loaded libraries and runs no code.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

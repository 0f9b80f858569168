//! Which functions the loaded MPI has, asked of the loader and not of `MPI_VERSION`, which libraries misstate.

use std::ffi::CString;

/// Functions that the environment declares missing, separated by commas: lets tests and bug reports see what
/// happens on an MPI without them.
const HIDDEN: &str = "DDTBENCH_HIDE_SYMBOLS";

/// The functions among `needed` that the loaded MPI lacks.
pub fn missing(needed: &[&'static str]) -> Vec<&'static str> {
    let hidden = std::env::var(HIDDEN).unwrap_or_default();
    let is_hidden = |name: &str| hidden.split(',').any(|hidden| hidden.trim() == name);
    needed.iter().copied().filter(|name| is_hidden(name) || !exists(name)).collect()
}

fn exists(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: the name is NUL-terminated; RTLD_DEFAULT searches what is loaded already and runs no code.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}

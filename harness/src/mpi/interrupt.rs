//! Handles Ctrl-C and similar signals. By default they end the program immediately, also while it waits for a
//! file or for standard input. After [`hold`], the first signal sets a flag that is checked while waiting for
//! a process, and the second one ends the program.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The exit code of a stopped program, also after an orderly end.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Whether a signal ends the program immediately.
static AT_ONCE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn flag() -> &'static Arc<AtomicBool> {
    REQUESTED.get_or_init(Arc::default)
}

fn at_once() -> &'static Arc<AtomicBool> {
    AT_ONCE.get_or_init(|| Arc::new(AtomicBool::new(true)))
}

/// Starts to handle SIGINT, SIGTERM and SIGHUP. Call this once, at the start of the program.
///
/// An ignored signal stays ignored, such as SIGHUP under `nohup`. SIGCHLD does not: the system would forget
/// how processes have ended.
pub fn watch() -> io::Result<()> {
    // SAFETY: the default action is not a function of this program, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        signal_hook::flag::register_conditional_shutdown(signal, EXIT_CODE.into(), Arc::clone(at_once()))?;
        // The order matters: at the first signal, this action must see the flag unset.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag()))?;
        signal_hook::flag::register(signal, Arc::clone(flag()))?;
    }
    Ok(())
}

/// Call this before starting work that needs an orderly end: processes, files. From then on, check [`requested`].
pub fn hold() {
    at_once().store(false, Ordering::SeqCst);
}

/// Whether a signal was received after [`hold`].
pub fn requested() -> bool {
    flag().load(Ordering::SeqCst)
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero `sigaction` is a valid value, and with a null new action the call only fills `old`.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut old) == 0 && old.sa_sigaction == libc::SIG_IGN
    }
}

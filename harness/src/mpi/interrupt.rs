//! Ctrl-C and its relatives. While nothing is under way that must be ended in order, they end the program at once, also where it
//! waits for a file or for standard input. From [`hold`] on the first sets a flag, which whoever waits for a process looks at, and the
//! second ends at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The exit code of a program that was stopped, also where it has ended in order.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Whether nothing is under way.
static AT_ONCE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn flag() -> &'static Arc<AtomicBool> {
    REQUESTED.get_or_init(Arc::default)
}

fn at_once() -> &'static Arc<AtomicBool> {
    AT_ONCE.get_or_init(|| Arc::new(AtomicBool::new(true)))
}

/// Begins to watch for SIGINT, SIGTERM and SIGHUP. To be called once, at the start of the program.
///
/// A signal that is ignored, as SIGHUP is under `nohup`, stays ignored.
pub fn watch() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        signal_hook::flag::register_conditional_shutdown(signal, EXIT_CODE.into(), Arc::clone(at_once()))?;
        // The order matters: at the first signal the flag is still down when this action looks at it.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag()))?;
        signal_hook::flag::register(signal, Arc::clone(flag()))?;
    }
    Ok(())
}

/// Something begins that is ended in order: a process, files that are written. From here on whoever is at work looks at
/// [`requested`].
pub fn hold() {
    at_once().store(false, Ordering::SeqCst);
}

/// Whether a signal has come since [`hold`].
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

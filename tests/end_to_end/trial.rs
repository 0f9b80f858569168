//! Trials: those that have the machine to themselves, and those beside which others run.

use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Completion, Trial};

/// One by one, on the main thread: with a thread that ends, the system ends what it has started, as the nodes of Slurm, which several
/// trials use.
pub const AT_ONCE: usize = 1;

/// Who holds it has all processors: two jobs at once would wait for each other in every message.
static PROCESSORS: Mutex<()> = Mutex::new(());

/// A trial that fails by panicking, as tests do.
pub fn alone(name: impl Into<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    beside_others(name, || on_all_processors(check))
}

/// The same without ranks that exchange messages. It mostly waits, or is work for one processor.
pub fn beside_others(name: impl Into<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        check();
        Ok(())
    })
}

/// A trial as [`alone`], or where the machine lacks what it needs, as is known beforehand or said by the check, one that is told not
/// to be run, and why.
pub fn unless(
    lack: Option<&str>,
    name: String,
    check: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Trial {
    let lack = lack.map(str::to_owned);
    Trial::ignorable_test(name, move || {
        let ended = lack.map_or_else(|| on_all_processors(check), Err);
        Ok(match ended {
            Ok(()) => Completion::Completed,
            Err(reason) => Completion::ignored_with(format!("not run, since {reason}")),
        })
    })
}

fn on_all_processors<T>(check: impl FnOnce() -> T) -> T {
    // A trial that has failed leaves nothing behind that the next one would rest on.
    let _held = PROCESSORS.lock().unwrap_or_else(PoisonError::into_inner);
    check()
}

//! Trials: those that have the machine to themselves, and those beside which others run.

use std::fs::File;
use std::io::Write as _;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    let name = name.into();
    Trial::test(name.clone(), move || {
        let _clock = Clock::start(name);
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
    Trial::ignorable_test(name.clone(), move || {
        let _clock = Clock::start(name);
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

/// The variable that names a file for the time of each trial: a line of seconds, seconds of all processors, and name.
const TIMES: &str = "DDTBENCH_TEST_TIMES";

/// Writes when it is dropped, so that trials that fail have a time as well.
struct Clock {
    name: String,
    begun: Instant,
    used: Duration,
}

impl Clock {
    fn start(name: String) -> Self {
        Self { name, begun: Instant::now(), used: used_by_children() }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        static FILE: LazyLock<Option<File>> = LazyLock::new(|| {
            let path = std::env::var_os(TIMES)?;
            Some(File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        });
        let Some(mut file) = FILE.as_ref() else { return };
        let used = used_by_children().saturating_sub(self.used);
        let (begun, used) = (self.begun.elapsed().as_secs_f64(), used.as_secs_f64());
        // Nothing that is tested depends on it.
        let _ = file.write_all(format!("{begun:.2}\t{used:.2}\t{}\n", self.name).as_bytes());
    }
}

/// What all children that have ended have used of processors, with their own.
fn used_by_children() -> Duration {
    // SAFETY: all bits zero are such a value.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: the call writes to what it is given, which lives as long as the call.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

//! Ends the process before an MPI's growing memory exhausts the machine's.
//!
//! Open MPI 5's one-sided operations with gaps have grown beyond 12 GB on the original's largest sets. In an
//! all-to-all (`fft2d`, 256 x 256) a process of Open MPI 5.0.11 was seen to grow by 370 MB per second without
//! end, and to keep the memory when the window was freed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use common::model::Outcome;
use common::model::event::Event;

use crate::output;

/// How often the memory is checked: growth of 10 GB/s, faster than pages can be cleared, exceeds the limit by half a gigabyte at most.
const PERIOD: Duration = Duration::from_millis(50);

/// Growth that a process may always have: what libraries reserve for their own buffers.
const LEAST_ALLOWANCE_BYTES: u64 = 1 << 28;

/// Exit code of a process that the guard ended.
const EXIT_CODE: i32 = 3;

/// Watches this process from another thread during its lifetime.
pub struct MemoryGuard {
    stop: Arc<AtomicBool>,
    method: Arc<Mutex<String>>,
    watcher: Option<JoinHandle<()>>,
}

impl MemoryGuard {
    /// Watches from now on. All processes of this host together may grow by a quarter of the memory that is
    /// free now, and this one by its part of that. `None` if the system does not report it.
    pub fn watch(processes_of_host: usize) -> Option<Self> {
        // SAFETY: the call takes a constant, and changes nothing.
        let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let resident_bytes = move || {
            let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
            Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * page_bytes)
        };
        let start = resident_bytes()?;
        let share = common::memory::available_bytes()? / 4 / processes_of_host.max(1) as u64;
        let allowance = share.max(LEAST_ALLOWANCE_BYTES);
        let (stop, method) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(String::new())));
        let (stopped, working_on) = (Arc::clone(&stop), Arc::clone(&method));
        let watcher = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                if resident_bytes().is_some_and(|now| now > start + allowance) {
                    leave(&working_on.lock().unwrap_or_else(PoisonError::into_inner), allowance);
                }
                std::thread::park_timeout(PERIOD);
            }
        });
        Some(Self { stop, method, watcher: Some(watcher) })
    }

    /// Sets the method to blame for growth.
    pub fn works_on(&self, method: &str) {
        method.clone_into(&mut self.method.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for MemoryGuard {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            // A panic in the watcher has already been printed.
            let _ = watcher.join();
        }
    }
}

fn leave(method: &str, allowance: u64) -> ! {
    let detail = format!(
        "memory guard: the MPI made the process grow by more than {:.1} GiB beyond arrays and buffers",
        allowance as f64 / f64::from(1 << 30)
    );
    output::print_event(&Event::Ended { method: method.to_owned(), outcome: Outcome::Crashed { detail } });
    // SAFETY: ends the process at once; MPI's exit handlers must not run while the other thread is within MPI.
    unsafe { libc::_exit(EXIT_CODE) }
}

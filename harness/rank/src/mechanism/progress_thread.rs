//! `partitioned:progress_thread`: MPI's partitioned transfer with a thread at the sender that only progresses it.
//!
//! The mode `PsendProgressThreaded` of the HLRS benchmark (Schneewind and Niethammer, EuroMPI 2024): from the
//! start to the last partition the thread reads the request's status, sleeps for 100 us, and reads it again.
//! Unlike in HLRS's code, the end does not wait for the sleep. The thread shares the cores of its rank.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use common::kinds::partitioned::methods::Marking;

use super::partitioned::Native;
use super::{Channel, Mechanism, Role};
use crate::checked::threads::ThreadMultiple;
use crate::checked::{CallError, TeamCalls};

/// Pause between two readings of the request's status, as in the HLRS benchmark.
const SLEEP: Duration = Duration::from_micros(100);

pub struct ProgressThread {
    native: Arc<Native>,
    /// At the sender.
    thread: Option<Poller>,
}

impl ProgressThread {
    /// The transfer, and the sender's thread.
    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "what the poller does with it is vouched for where it is lent"
    )]
    pub fn new(channel: &Channel<'_>, calls: TeamCalls, multiple: ThreadMultiple) -> Result<Self, CallError> {
        let native = Arc::new(Native::new(channel, Marking::ProgressThread, calls)?);
        let thread = (channel.role == Role::Sender).then(|| Poller::new(Arc::clone(&native), multiple));
        Ok(Self { native, thread })
    }
}

impl Mechanism for ProgressThread {
    unsafe fn start(&self) -> Result<(), CallError> {
        // SAFETY: the caller's guarantees are passed on; the poller is idle.
        unsafe { self.native.start() }?;
        self.thread.iter().for_each(|thread| thread.set(Task::Poll));
        Ok(())
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: the caller's guarantees are passed on; the poller only reads the request's status in the meantime.
        unsafe { self.native.ready(thread, partition) }
    }

    unsafe fn close(&self) -> Result<(), CallError> {
        self.thread.as_ref().map_or(Ok(()), Poller::pause)
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: the caller's guarantees are passed on; the poller has been idle since the close.
        unsafe { self.native.wait() }
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        drop(self.thread);
        let native = Arc::into_inner(self.native).expect("the poller has ended");
        Box::new(native).free()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Idle,
    Poll,
    End,
}

/// The task, and the error of a call.
struct State {
    task: Task,
    error: Option<CallError>,
}

/// Shared by both threads. The lock is held during each call, so no thread is in MPI after the task has changed.
struct SharedTask {
    state: Mutex<State>,
    changed: Condvar,
}

impl SharedTask {
    /// A thread that panicked ends the process, so its data is never read.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The request, lent to the poller.
struct LentMechanism(Arc<Native>);

// SAFETY: the poller only reads the request's status, which any thread may under MPI_THREAD_MULTIPLE, and
// only between start and close; it drops the `Arc` when it ends, before the request is freed.
unsafe impl Send for LentMechanism {}

impl LentMechanism {
    fn native(&self) -> &Native {
        &self.0
    }
}

/// A thread that reads the status of a request.
struct Poller {
    shared: Arc<SharedTask>,
    thread: Option<JoinHandle<()>>,
}

impl Poller {
    fn new(native: Arc<Native>, _: ThreadMultiple) -> Self {
        let state = Mutex::new(State { task: Task::Idle, error: None });
        let shared = Arc::new(SharedTask { state, changed: Condvar::new() });
        let (lent, its) = (LentMechanism(native), Arc::clone(&shared));
        let thread = thread::spawn(move || poll(lent.native(), &its));
        Self { shared, thread: Some(thread) }
    }

    fn set(&self, task: Task) {
        self.shared.locked().task = task;
        self.shared.changed.notify_one();
    }

    /// Returns when the thread has left MPI.
    fn pause(&self) -> Result<(), CallError> {
        self.set(Task::Idle);
        self.shared.locked().error.take().map_or(Ok(()), Err)
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.set(Task::End);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}

/// The poller's loop.
fn poll(native: &Native, shared: &SharedTask) {
    let mut state = shared.locked();
    loop {
        state = match state.task {
            Task::Idle => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Task::Poll => {
                // SAFETY: between start and close, when no thread uses the request exclusively: both change the task under the lock.
                if let Err(error) = unsafe { native.poll() } {
                    state.error = Some(error);
                }
                let slept = shared.changed.wait_timeout(state, SLEEP);
                slept.unwrap_or_else(PoisonError::into_inner).0
            }
            Task::End => return,
        };
    }
}

//! Trials: those that have the machine to themselves, those that run at the same time, and those that only `-- --ignored` runs.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Completion, Trial};

/// Room for trials that run at the same time. Waiting trials enter in the order of their arrival.
pub struct Room {
    state: Mutex<RoomState>,
    changed: Condvar,
}

struct RoomState {
    free: usize,
    /// The number of the next arrival, and of the next trial to enter.
    coming: usize,
    entering: usize,
}

/// Processors that a trial needs. Ranks that exchange messages need all of them: the ranks of two jobs would
/// wait for each other in every message.
static PROCESSORS: Room = Room::with_places(ALL);

/// Enough for a pair of ranks.
const ALL: usize = 2;

/// Room for trials that mostly wait.
pub static BESIDE: Room = Room::with_places(3);

impl Room {
    pub const fn with_places(places: usize) -> Self {
        let state = RoomState { free: places, coming: 0, entering: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, RoomState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `check` as soon as this many places are free.
    fn hold<T>(&'static self, places: usize, check: impl FnOnce() -> T) -> T {
        let mut state = self.state();
        let number = state.coming;
        state.coming += 1;
        let must_wait = |state: &mut RoomState| state.entering != number || state.free < places;
        let mut state = self.changed.wait_while(state, must_wait).unwrap_or_else(PoisonError::into_inner);
        state.free -= places;
        state.entering += 1;
        drop(state);
        self.changed.notify_all();
        let _held = Held { room: self, places };
        check()
    }
}

/// Places that are given back when this is dropped, also after a panic.
struct Held {
    room: &'static Room,
    places: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.room.state().free += self.places;
        self.room.changed.notify_all();
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// Ranks that exchange messages.
    AllProcessors,
    /// A single process that computes.
    OneProcessor,
    /// Almost nothing: it mostly waits, or ends at once.
    Waiting,
}

/// A trial that fails by panicking, as tests do.
pub fn trial(need: Need, name: impl Into<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    let (room, places) = match need {
        Need::AllProcessors => (&PROCESSORS, ALL),
        Need::OneProcessor => (&PROCESSORS, 1),
        Need::Waiting => (&BESIDE, 1),
    };
    Trial::test(name, move || {
        if need == Need::Waiting {
            // SAFETY: touches no memory of ours. Its processes inherit it, so that ranks of other trials do not wait for them.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 10) };
        }
        room.hold(places, check);
        Ok(())
    })
}

pub fn alone(name: impl Into<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    trial(Need::AllProcessors, name, check)
}

/// A trial that mostly waits.
pub fn beside_others(name: impl Into<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    trial(Need::Waiting, name, check)
}

/// A trial that runs only on request, with `-- --ignored`, one at a time of those with this room.
pub fn when_asked(
    room: &'static Room,
    lack: Option<&str>,
    name: String,
    check: impl FnOnce() + Send + 'static,
) -> Trial {
    let checked = || {
        check();
        Ok(())
    };
    unless(room, lack, name, checked).with_ignored_flag(true)
}

/// If the machine lacks a requirement, known beforehand or found by the check, the trial is reported as not run, with the reason.
pub fn unless(
    room: &'static Room,
    lack: Option<&str>,
    name: String,
    check: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Trial {
    let lack = lack.map(str::to_owned);
    Trial::ignorable_test(name, move || {
        let ended = lack.map_or_else(|| room.hold(1, check), Err);
        Ok(match ended {
            Ok(()) => Completion::Completed,
            Err(reason) => Completion::ignored_with(format!("not run, since {reason}")),
        })
    })
}

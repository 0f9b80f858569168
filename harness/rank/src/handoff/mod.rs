//! Data that the threads of a rank hand to each other without locks: values that they use in turn, counters that identify the
//! last thread, times that are written by one thread and read by another. Barriers order the rest.
//!
//! All of it is written for [`sync`], so that the tests can compile it again with `loom`, which tries every order in
//! which threads can run, and every value that the memory model permits an atomic load to return (`model.rs`).

pub mod counters;
pub mod gate;
#[cfg(test)]
mod model;
pub mod ready_times;
pub mod slot;
mod sync;

pub use counters::Counters;
pub use gate::Gate;
pub use ready_times::ReadyTimes;
pub use slot::Slot;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_not_late_by_what_its_thread_spent_on_others() {
        let times = ReadyTimes::new(3, 2);
        // SAFETY: one thread.
        unsafe {
            times.begin();
            times.note(0, 0, 1.0);
            times.spend(0, 0.25);
            times.note(0, 1, 2.0);
            times.note(1, 2, 2.0);
        }
        assert_eq!(times.all_s(), [1.0, 1.75, 2.0]);
        // SAFETY: as above.
        unsafe {
            times.begin();
            times.note(0, 0, 3.0);
        }
        assert_eq!(times.all_s(), [3.0, 1.75, 2.0]);
    }
}

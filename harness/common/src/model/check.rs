//! Checks: questions about an MPI's correctness; a separate process answers each.

use serde::{Deserialize, Serialize};

/// A question about an MPI's correctness. An MPI that conforms to the standard passes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name on the command line, in results, and in the records that depend on it.
    pub name: &'static str,
    pub question: &'static str,
    pub ranks: usize,
    /// Whether it can also be run manually with any number of processes, from 2 on.
    pub any_ranks: bool,
    /// Threads per rank that call MPI at the same time.
    pub threads: usize,
}

impl Check {
    const fn new(name: &'static str, question: &'static str) -> Self {
        Self { name, question, ranks: 2, any_ranks: false, threads: 1 }
    }

    const fn ranks(self, ranks: usize) -> Self {
        Self { ranks, ..self }
    }

    const fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

// Each partition size has a separate process, so that a hang with one size does not hide the others.
const BEFORE_FIRST: &str = "the sender gives MPI time between MPI_Start and MPI_Pready";
const BARRIER: &str = "a barrier of both ranks between MPI_Start and MPI_Pready";
const BETWEEN: &str = "the sender gives MPI time when half of the partitions are ready";

/// The checks of partitioned communication, in the order in which they are run and shown.
pub const PARTITIONED: &[Check] = &[
    Check::new("equal_counts", "8 partitions on both sides, marked ready in order"),
    Check::new("any_order", "partitions marked ready backwards, interleaved and at random"),
    Check::new("duplicated_communicator", "on a duplicate of MPI_COMM_WORLD"),
    Check::new("reinitialised", "50 times initialised, used once and freed"),
    Check::new("unequal_counts", "different numbers of partitions on the two sides, completed as a whole"),
    Check::new("parrived_equal", "MPI_Parrived for each partition, which is read as soon as it has arrived"),
    Check::new("parrived_unequal", "the same with different numbers of partitions on the two sides"),
    Check::new("gapless_datatype", "partitions of derived datatypes whose extent is their size"),
    Check::new("datatype_with_gaps", "partitions of vectors, indexed, padded and resized datatypes"),
    Check::new("pready_threads", "partitions marked ready by 4 and by 8 threads at the same time").threads(8),
    Check::new("parrived_threads", "MPI_Parrived from 4 threads at the same time").threads(4),
    Check::new("pready_range", "several partitions marked ready by one MPI_Pready_range"),
    Check::new("pready_list", "several partitions marked ready by one MPI_Pready_list"),
    Check::new("progress_before_first_pready_8b", BEFORE_FIRST),
    Check::new("progress_before_first_pready_4kib", BEFORE_FIRST),
    Check::new("progress_before_first_pready_64kib", BEFORE_FIRST),
    Check::new("barrier_before_first_pready_8b", BARRIER),
    Check::new("barrier_before_first_pready_4kib", BARRIER),
    Check::new("barrier_before_first_pready_64kib", BARRIER),
    Check::new("progress_between_preadys_8b", BETWEEN),
    Check::new("progress_between_preadys_4kib", BETWEEN),
    Check::new("progress_between_preadys_64kib", BETWEEN),
    Check::new("progress_on_receiver", "the receiver tests for completion before any partition is ready"),
    Check::new("startall_sends", "two sends started by one MPI_Startall"),
    Check::new("startall_send_and_receive", "a send and a receive started by one MPI_Startall"),
    Check::new("some_ranks_only", "a third rank of the communicator has no partitioned request").ranks(3),
    Check::new("self_communication", "every rank with itself, on MPI_COMM_WORLD and on MPI_COMM_SELF"),
    Check::new("self_communication_alone", "one rank with itself; the other has no partitioned request"),
    Check::new("two_requests_of_one_tag", "two messages between the same ranks with one tag match in order"),
    Check::new("waitall_with_point_to_point", "one MPI_Waitall, with a plain message of the same tag"),
    Check::new("status_fields", "MPI_Wait returns the sender, the tag and the number of elements"),
    Check::new("many_requests", "256 and 2000 messages at the same time"),
    Check::new("very_many_requests", "20000 messages at the same time"),
    Check::new("many_partitions", "4096 and 65536 partitions of 8 bytes"),
    Check::new("zero_count", "partitions without elements"),
    Check::new("proc_null", "to and from MPI_PROC_NULL: completes at once, and the memory is unchanged"),
    Check::new(
        "late_receiver",
        "the receiver initialises only after the sender has marked all partitions ready",
    ),
    Check::new("receiver_waits_first", "the receiver is in MPI_Wait before the sender initialises"),
    Check::new("not_freed_at_finalize", "MPI_Finalize returns, with requests that were used and not freed"),
    Check::new("free_without_start", "initialised and freed without a start; the next message is right"),
    Check::new("large_message", "3 GiB in 4 partitions, if there is enough memory"),
    Check::new("ring", "4 ranks, each sending to the next and receiving from the previous one").ranks(4),
];

/// The checks for times that begin on one rank and end on another.
pub const CLOCKS: &[Check] = &[Check {
    any_ranks: true,
    ..Check::new("clocks", "no synchronised clock is further off than its messages allow").ranks(4)
}];

/// The check called `name`.
pub fn find<'a>(checks: impl IntoIterator<Item = &'a Check>, name: &str) -> Result<&'a Check, String> {
    let mut names = Vec::new();
    for check in checks {
        if check.name.eq_ignore_ascii_case(name) {
            return Ok(check);
        }
        names.push(check.name);
    }
    Err(apps::no_such("check", name, &names))
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CheckOutcome {
        /// All results were right.
        Passed = "passed",
        /// Wrong data, an error, or a partition that never arrives.
        Failed = "failed",
        Crashed = "crashed",
        /// The process printed nothing for longer than the limit.
        #[serde(rename = "timed out")]
        TimedOut = "timed out",
        /// The MPI lacks a function or the thread level.
        #[serde(rename = "not available")]
        NotAvailable = "not available",
        /// This machine has too little memory.
        Skipped = "skipped",
    }
}

impl CheckOutcome {
    /// Whether the MPI does not conform, so that results which depend on the check are invalid.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Crashed | Self::TimedOut)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub outcome: CheckOutcome,
    /// More about it; may be empty.
    pub note: String,
}

impl Answer {
    pub fn new(outcome: CheckOutcome, note: impl Into<String>) -> Self {
        Self { outcome, note: note.into() }
    }

    /// The answer that all results were right.
    pub fn passed() -> Self {
        Self::new(CheckOutcome::Passed, "")
    }

    /// The outcome, with the note if there is one.
    pub fn text(&self) -> String {
        let outcome = self.outcome.name();
        if self.note.is_empty() { outcome.to_owned() } else { format!("{outcome}: {}", self.note) }
    }
}

/// A report of the rank program about a check: one JSON object per line of its standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum CheckEvent {
    /// A stage begins. Anything that goes wrong before the next event went wrong in this stage.
    Working { stage: String },
    /// The answer so far.
    Answered {
        /// The answer, unless a later one follows.
        answer: Answer,
        /// Time since the check began. Launchers may print the lines of two ranks in the wrong order.
        seconds: f64,
    },
    /// The text of `MPI_Get_library_version`, and the file of the library.
    Library { version: String, path: Option<String> },
    /// The path of messages between ranks, such as `shm`.
    Transport { name: String },
    /// This is the last event; the process is about to exit.
    Done,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_check_has_its_own_name_which_a_record_can_cite() {
        let all = || PARTITIONED.iter().chain(CLOCKS);
        let names: HashSet<_> = all().map(|check| check.name).collect();
        assert_eq!(names.len(), all().count());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        for check in all() {
            assert!(check.name.chars().all(is_plain) && !check.question.is_empty(), "{}", check.name);
            assert!((2..=4).contains(&check.ranks), "{}", check.name);
            assert_eq!(find(all(), check.name), Ok(check));
        }
        assert!(find(all(), "equal_count").unwrap_err().contains("equal_counts"));
    }
}

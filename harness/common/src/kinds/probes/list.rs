//! The probes: what is asked of an MPI's partitioned communication and of what measurements rest on, one behaviour each, and
//! what can be seen.

use crate::model::{Outcome, Record, Seen};

/// What a probe's outcome means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// A correct program: an MPI that does not pass does not conform, and figures that rest on this are invalid.
    Conformance,
    /// A program that the standard does not allow, or whose meaning it leaves open: whatever happens is told, and no
    /// failure. An error that is returned is best.
    Misuse,
    /// What a conforming MPI may do or leave: told, and no failure.
    Question,
}

/// One behaviour that is looked at, by a process of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name on the command line, in results, and in the detail of records that rest on it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Processes.
    pub ranks: usize,
    /// Whether by hand there may be any other number of them, from 2 on.
    pub any_ranks: bool,
    /// Threads of a rank that call MPI at the same time.
    pub threads: usize,
    /// What its outcome means.
    pub kind: ProbeKind,
    /// What a conforming MPI does.
    pub expected: &'static str,
}

impl Probe {
    const fn new(name: &'static str, about: &'static str) -> Self {
        let expected = "the right data arrives, every time";
        Self { name, about, ranks: 2, any_ranks: false, threads: 1, kind: ProbeKind::Conformance, expected }
    }

    const fn ranks(self, ranks: usize) -> Self {
        Self { ranks, ..self }
    }

    const fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    const fn question(self, expected: &'static str) -> Self {
        Self { kind: ProbeKind::Question, expected, ..self }
    }

    const fn misuse(self, expected: &'static str) -> Self {
        Self { kind: ProbeKind::Misuse, expected, ..self }
    }
}

// Each size of a partition has a process of its own: where one hangs, the others are still seen.
const BEFORE_FIRST: &str = "the sender gives MPI time between MPI_Start and MPI_Pready";
const BARRIER: &str = "a barrier of both ranks between MPI_Start and MPI_Pready";
const BETWEEN: &str = "the sender gives MPI time when half of the partitions are ready";

/// All probes, in the order in which they are run and shown.
pub const PROBES: &[Probe] = &[
    Probe::new("equal_counts", "8 partitions on both sides, marked ready in order"),
    Probe::new("any_order", "partitions marked ready backwards, interleaved and at random"),
    Probe::new("duplicated_communicator", "on a duplicate of MPI_COMM_WORLD"),
    Probe::new("reinitialised", "50 times initialised, used once and freed"),
    Probe::new("unequal_counts", "other numbers of partitions on the two sides, waited for as a whole"),
    Probe::new("parrived_equal", "each partition looked at by MPI_Parrived, read at once when it is there"),
    Probe::new("parrived_unequal", "the same with other numbers of partitions on the two sides"),
    Probe::new("gapless_datatype", "partitions of derived datatypes whose extent is their size"),
    Probe::new("datatype_with_gaps", "partitions of vectors, indexed, padded and resized datatypes"),
    Probe::new("pready_threads", "partitions marked ready by 4 and by 8 threads at the same time").threads(8),
    Probe::new("parrived_threads", "partitions looked at by 4 threads at the same time").threads(4),
    Probe::new("pready_range", "several partitions marked ready by one MPI_Pready_range"),
    Probe::new("pready_list", "several partitions marked ready by one MPI_Pready_list"),
    Probe::new("early_delivery", "one partition is ready, the sender calls no MPI: does it arrive?")
        .question("either; without it, nothing is sent while others are computed"),
    Probe::new("progress_before_first_pready_8b", BEFORE_FIRST),
    Probe::new("progress_before_first_pready_4kib", BEFORE_FIRST),
    Probe::new("progress_before_first_pready_64kib", BEFORE_FIRST),
    Probe::new("barrier_before_first_pready_8b", BARRIER),
    Probe::new("barrier_before_first_pready_4kib", BARRIER),
    Probe::new("barrier_before_first_pready_64kib", BARRIER),
    Probe::new("progress_between_preadys_8b", BETWEEN),
    Probe::new("progress_between_preadys_4kib", BETWEEN),
    Probe::new("progress_between_preadys_64kib", BETWEEN),
    Probe::new("progress_on_receiver", "the receiver tests for completion while nothing is ready yet"),
    Probe::new("startall_sends", "two sends started by one MPI_Startall"),
    Probe::new("startall_send_and_receive", "a send and a receive started by one MPI_Startall"),
    Probe::new("some_ranks_only", "a third rank of the communicator has nothing to do with it").ranks(3),
    Probe::new("self_communication", "every rank with itself, on MPI_COMM_WORLD and on MPI_COMM_SELF"),
    Probe::new(
        "self_communication_alone",
        "one rank with itself, while the others have nothing to do with it",
    ),
    Probe::new(
        "two_requests_of_one_tag",
        "two messages between the same ranks with one tag, matched in order",
    ),
    Probe {
        expected: "the messages do not match each other's receives",
        ..Probe::new("waitall_with_point_to_point", "one MPI_Waitall, with a plain message of the same tag")
    },
    Probe {
        expected: "the sender, the tag and the number of elements",
        ..Probe::new("status_fields", "what MPI_Wait says of a message that was received")
    },
    Probe::new("many_requests", "256 and 2000 messages at the same time"),
    Probe::new("very_many_requests", "20000 messages at the same time"),
    Probe::new("many_partitions", "4096 and 65536 partitions of 8 bytes"),
    Probe::new("zero_count", "partitions without elements"),
    Probe::new("zero_partitions", "messages of no partitions")
        .misuse("the standard's list of arguments allows 0, and says no more: completes, or an error"),
    Probe {
        expected: "completes at once and leaves the memory alone",
        ..Probe::new("proc_null", "to and from MPI_PROC_NULL")
    },
    Probe::new("any_source", "MPI_Precv_init from MPI_ANY_SOURCE")
        .misuse("an error; wildcards are forbidden"),
    Probe::new("receive_larger_than_send", "a receive of twice the bytes of its send").misuse("an error"),
    Probe::new("double_pready", "a partition marked ready twice").misuse("an error"),
    Probe::new("pready_before_start", "a partition marked ready before MPI_Start").misuse("an error"),
    Probe::new("pready_out_of_range", "a partition marked ready that there is not").misuse("an error"),
    Probe::new("cancel_inactive", "MPI_Cancel of a receive that is not active").misuse("an error"),
    Probe {
        expected: "initialising, starting and marking do not wait for the other side",
        ..Probe::new("late_receiver", "the receiver initialises only after the sender has marked all ready")
    },
    Probe::new("receiver_waits_first", "the receiver is in MPI_Wait before the sender initialises"),
    Probe {
        expected: "no error, and MPI_Finalize comes back",
        ..Probe::new("not_freed_at_finalize", "requests that were used and are not freed before MPI_Finalize")
    },
    Probe {
        expected: "no error, and the next message is right",
        ..Probe::new("free_without_start", "initialised and freed without having been started")
    },
    Probe::new("large_message", "3 GiB in 4 partitions, where there is memory for it"),
    Probe::new("ring", "4 ranks, each sending to the next and receiving from the one before").ranks(4),
    Probe {
        any_ranks: true,
        expected: "no time is farther off than the way of the messages allows that it rests on",
        ..Probe::new("clocks", "how well the clocks of all ranks are brought to one time").ranks(4)
    },
];

/// The probe called `name`.
///
/// # Errors
/// That there is none, and the names that there are.
pub fn find(name: &str) -> Result<&'static Probe, String> {
    PROBES.iter().find(|probe| probe.name == name).ok_or_else(|| {
        let names: Vec<_> = PROBES.iter().map(|probe| probe.name).collect();
        format!("no probe is called {name:?}; there are {}", names.join(", "))
    })
}

/// Whether an MPI does not conform where a probe saw this, so that no figure that rests on it is valid.
pub fn is_failure(record: &Record) -> bool {
    is_failure_of(&record.case.test, &record.outcome)
}

/// The same of a probe's name and its outcome.
pub fn is_failure_of(probe: &str, outcome: &Outcome) -> bool {
    let has_failed = matches!(
        outcome,
        Outcome::Seen { what: Seen::Failed, .. } | Outcome::Crashed { .. } | Outcome::TimedOut { .. }
    );
    has_failed && find(probe).is_ok_and(|probe| probe.kind == ProbeKind::Conformance)
}

/// The first of the probes `needed` that failed, in the `records` of one MPI. What rests on them is invalid then. One
/// that was not run has not failed.
pub fn failed<'a>(records: impl Iterator<Item = &'a Record> + Clone, needed: &[&str]) -> Option<&'a Record> {
    needed
        .iter()
        .find_map(|name| records.clone().find(|record| record.case.test == *name && is_failure(record)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::Case;

    fn record(probe: &str, outcome: &str) -> Record {
        let case = Case { test: probe.to_owned(), ..Case::default() };
        Record { case: case.into(), outcome: Outcome::from_label(outcome).unwrap(), ..Record::default() }
    }

    #[test]
    fn every_probe_has_its_own_name_which_a_record_can_cite() {
        let names: HashSet<_> = PROBES.iter().map(|probe| probe.name).collect();
        assert_eq!(names.len(), PROBES.len());
        for probe in PROBES {
            assert!(
                probe.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{}",
                probe.name
            );
            assert!((2..=4).contains(&probe.ranks) && !probe.about.is_empty(), "{}", probe.name);
            assert_eq!(find(probe.name), Ok(probe));
        }
        assert!(find("equal_count").unwrap_err().contains("equal_counts"));
    }

    #[test]
    fn only_correct_programs_make_an_mpi_fail() {
        let records = [
            record("double_pready", "crashed"),
            record("early_delivery", "no"),
            record("equal_counts", "passed"),
            record("pready_list", "not available"),
            record("datatype_with_gaps", "failed"),
            record("startall_sends", "timed out"),
        ];
        let failed = |needed: &[&str]| failed(records.iter(), needed).map(|record| &*record.case.test);
        let all: Vec<_> = records.iter().map(|record| &*record.case.test).collect();
        assert_eq!(failed(&all), Some("datatype_with_gaps"));
        assert_eq!(failed(&["startall_sends", "ring"]), Some("startall_sends"));
        assert_eq!(failed(&["double_pready", "equal_counts", "pready_list", "ring"]), None);
    }
}

//! Checks of partitioned communication.

mod arrival;
mod completion;
mod datatypes;
mod exchange;
mod marking;
mod message;
mod progress;
mod scale;
mod starting;
mod threads;

use common::fine_grained::functions::PARTITIONED;

use super::CheckFunction;

/// The check that only passes after `MPI_Finalize` has returned.
pub const NOT_FREED: &str = "not_freed_at_finalize";

/// The function of each check.
pub const FUNCTIONS: &[(&str, CheckFunction)] = &[
    ("equal_counts", marking::equal_counts),
    ("any_order", marking::any_order),
    ("duplicated_communicator", marking::duplicated_communicator),
    ("reinitialised", marking::reinitialised),
    ("unequal_counts", marking::unequal_counts),
    ("parrived_equal", arrival::equal),
    ("parrived_unequal", arrival::unequal),
    ("gapless_datatype", datatypes::gapless),
    ("datatype_with_gaps", datatypes::with_gaps),
    ("pready_threads", threads::pready),
    ("parrived_threads", threads::parrived),
    ("pready_range", marking::range),
    ("pready_list", marking::list),
    ("progress_before_first_pready_8b", progress::before_first),
    ("progress_before_first_pready_4kib", progress::before_first),
    ("progress_before_first_pready_64kib", progress::before_first),
    ("barrier_before_first_pready_8b", progress::barrier),
    ("barrier_before_first_pready_4kib", progress::barrier),
    ("barrier_before_first_pready_64kib", progress::barrier),
    ("progress_between_preadys_8b", progress::between),
    ("progress_between_preadys_4kib", progress::between),
    ("progress_between_preadys_64kib", progress::between),
    ("progress_on_receiver", progress::on_receiver),
    ("startall_sends", starting::startall_sends),
    ("startall_send_and_receive", starting::startall_send_and_receive),
    ("some_ranks_only", marking::equal_counts),
    ("self_communication", starting::self_communication),
    ("self_communication_alone", starting::self_communication_alone),
    ("two_requests_of_one_tag", completion::two_requests_of_one_tag),
    ("waitall_with_point_to_point", completion::waitall_with_point_to_point),
    ("status_fields", completion::status_fields),
    ("many_requests", scale::many_requests),
    ("very_many_requests", scale::very_many_requests),
    ("many_partitions", scale::many_partitions),
    ("zero_count", scale::zero_count),
    ("proc_null", starting::proc_null),
    ("late_receiver", starting::late_receiver),
    ("receiver_waits_first", starting::receiver_waits_first),
    (NOT_FREED, starting::not_freed),
    ("free_without_start", starting::free_without_start),
    ("large_message", scale::large_message),
    ("ring", starting::ring),
];

/// MPI functions that a check calls, except those that every MPI has.
pub fn needed_functions(check: &str) -> Vec<&'static str> {
    let more: &[&str] = match check {
        "pready_range" => &["MPI_Pready_range"],
        "pready_list" => &["MPI_Pready_list"],
        _ => &[],
    };
    [PARTITIONED, more].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_function() {
        let names: Vec<_> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        let checks = common::model::check::PARTITIONED;
        assert_eq!(names, checks.iter().map(|check| check.name).collect::<Vec<_>>());
    }
}

//! The operations, one row each: a function that calls MPI. What is common to them, such as filling and comparing memory, is in
//! [`OperationRun::run`].

use super::bench::{Bench, Stop, WrongBytes, expect_packed};
use super::subject::Subject;
use super::{collectives, files, messages, one_sided, packing, types};

/// The bytes that this rank has received; `None` on a rank that gets none.
pub type Gathered = Result<Option<Vec<u8>>, Stop>;

/// How an operation is tried.
pub enum OperationRun {
    /// It compares by itself.
    Inspect(fn(&Bench<'_>, &Subject, u64) -> Result<(), Stop>),
    /// From memory described by the type to contiguous bytes.
    Gather(fn(&Bench<'_>, &Subject, *const u8) -> Gathered),
    /// From contiguous bytes to memory described by the type; `false` on a rank that gets nothing.
    Scatter(fn(&Bench<'_>, &Subject, &[u8], *mut u8) -> Result<bool, Stop>),
}

/// The functions of [`OPERATIONS`](common::conformance::OPERATIONS), by name. The first one, `bounds`, is part of making a [`Subject`].
pub const FUNCTIONS: &[(&str, OperationRun)] = &[
    ("pack", OperationRun::Gather(packing::pack)),
    ("pack_items", OperationRun::Gather(packing::pack_items)),
    ("unpack", OperationRun::Scatter(packing::unpack)),
    ("unpack_items", OperationRun::Scatter(packing::unpack_items)),
    ("pack_external", OperationRun::Inspect(packing::pack_external)),
    ("unpack_external", OperationRun::Inspect(packing::unpack_external)),
    ("send_to_self", OperationRun::Gather(messages::send_to_self)),
    ("receive_from_self", OperationRun::Scatter(messages::receive_from_self)),
    ("typed_to_typed", OperationRun::Inspect(messages::typed_to_typed)),
    ("element_count", OperationRun::Inspect(messages::element_count)),
    ("short_message", OperationRun::Inspect(messages::short_message)),
    ("equivalent", OperationRun::Inspect(types::equivalent)),
    ("duplicate", OperationRun::Gather(types::duplicate)),
    ("freed_while_active", OperationRun::Inspect(messages::freed_while_active)),
    ("contents", OperationRun::Inspect(types::contents)),
    ("life_cycle", OperationRun::Inspect(types::life_cycle)),
    ("persistent", OperationRun::Inspect(messages::persistent)),
    ("probe", OperationRun::Inspect(messages::probe)),
    ("file_memory", OperationRun::Inspect(files::memory)),
    ("file_view", OperationRun::Inspect(files::view)),
    ("send", OperationRun::Gather(messages::send)),
    ("receive", OperationRun::Scatter(messages::receive)),
    ("sendrecv_replace", OperationRun::Inspect(messages::replace)),
    ("partitioned", OperationRun::Inspect(messages::partitioned)),
    ("put", OperationRun::Scatter(one_sided::put)),
    ("put_locked", OperationRun::Scatter(one_sided::put_locked)),
    ("put_posted", OperationRun::Scatter(one_sided::put_posted)),
    ("put_origin", OperationRun::Gather(one_sided::put_origin)),
    ("get", OperationRun::Gather(one_sided::get)),
    ("get_origin", OperationRun::Scatter(one_sided::get_origin)),
    ("accumulate", OperationRun::Scatter(one_sided::accumulate)),
    ("get_accumulate", OperationRun::Gather(one_sided::get_accumulate)),
    ("bcast", OperationRun::Inspect(collectives::bcast)),
    ("gather", OperationRun::Inspect(collectives::gather)),
    ("nothing_from_others", OperationRun::Inspect(collectives::nothing_from_others)),
    ("allgather", OperationRun::Inspect(collectives::all_gather)),
    ("scatter", OperationRun::Inspect(collectives::scatter)),
    ("alltoall", OperationRun::Inspect(collectives::all_to_all)),
    ("neighbor_alltoall", OperationRun::Inspect(collectives::neighbor_all_to_all)),
    ("alltoallw", OperationRun::Gather(collectives::all_to_all_w)),
    ("neighbor_alltoallw", OperationRun::Gather(collectives::neighbor_all_to_all_w)),
    ("gatherv", OperationRun::Inspect(collectives::gather_v)),
    ("allgatherv", OperationRun::Inspect(collectives::all_gather_v)),
    ("reduce", OperationRun::Inspect(collectives::reduce)),
];

impl OperationRun {
    /// Tries it with new data.
    pub fn run(&self, bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
        let data = &subject.data;
        match self {
            Self::Inspect(inspect) => inspect(bench, subject, salt),
            Self::Gather(gather) => {
                let typed = bench.filled(subject, data, salt);
                let expected = data.gathered(&data.filled(salt));
                if let Some(found) = gather(bench, subject, typed.address)? {
                    expect_packed(&expected, &found)?;
                }
                Ok(typed.expect_unchanged(data)?)
            }
            Self::Scatter(scatter) => {
                // Receiving needs values that do not overlap (MPI-4.1, section 5.1.11).
                if !data.are_disjoint() {
                    return Err(Stop::Unsuitable);
                }
                let packed = data.gathered(&data.filled(salt));
                let typed = bench.blank(subject, data);
                match scatter(bench, subject, &packed, typed.address)? {
                    true => typed.expect(data, &packed)?,
                    false => typed.expect_unchanged(data)?,
                }
                Ok(())
            }
        }
    }
}

/// A position or a length that MPI has returned.
pub fn expect_length(call: &str, expected: usize, found: usize) -> Result<(), Stop> {
    if expected == found {
        return Ok(());
    }
    let detail = format!("{call} leaves the position at {found} instead of {expected}");
    Err(WrongBytes::value(detail).into())
}

#[cfg(test)]
mod tests {
    use common::conformance::OPERATIONS;

    use super::*;

    #[test]
    fn every_operation_has_its_function() {
        let names: Vec<_> = OPERATIONS.iter().skip(1).map(|operation| operation.name).collect();
        assert_eq!(FUNCTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
        assert_eq!(OPERATIONS[0].name, "bounds");
    }
}

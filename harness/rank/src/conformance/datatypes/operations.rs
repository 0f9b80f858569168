//! The operations, one row each: a function that calls MPI. What is common to them, such as filling and comparing memory, is in
//! [`Run::run`].

use super::bench::{Bench, Stop, Wrong, expect_packed};
use super::subject::Subject;
use super::{collectives, files, messages, one_sided, packing, types};

/// The bytes that this rank has received; `None` on a rank that gets none.
pub type Gathered = Result<Option<Vec<u8>>, Stop>;

/// How an operation is tried.
pub enum Run {
    /// It compares by itself.
    Inspect(fn(&Bench<'_>, &Subject, u64) -> Result<(), Stop>),
    /// From memory described by the type to contiguous bytes.
    Gather(fn(&Bench<'_>, &Subject, *const u8) -> Gathered),
    /// From contiguous bytes to memory described by the type; `false` on a rank that gets nothing.
    Scatter(fn(&Bench<'_>, &Subject, &[u8], *mut u8) -> Result<bool, Stop>),
}

/// The functions of [`OPERATIONS`](common::conformance::OPERATIONS), by name. The first one, `bounds`, is part of making a [`Subject`].
pub const FUNCTIONS: &[(&str, Run)] = &[
    ("pack", Run::Gather(packing::pack)),
    ("pack_items", Run::Gather(packing::pack_items)),
    ("unpack", Run::Scatter(packing::unpack)),
    ("unpack_items", Run::Scatter(packing::unpack_items)),
    ("pack_external", Run::Inspect(packing::pack_external)),
    ("unpack_external", Run::Inspect(packing::unpack_external)),
    ("send_to_self", Run::Gather(messages::send_to_self)),
    ("receive_from_self", Run::Scatter(messages::receive_from_self)),
    ("typed_to_typed", Run::Inspect(messages::typed_to_typed)),
    ("element_count", Run::Inspect(messages::element_count)),
    ("short_message", Run::Inspect(messages::short_message)),
    ("equivalent", Run::Inspect(types::equivalent)),
    ("duplicate", Run::Gather(types::duplicate)),
    ("freed_while_active", Run::Inspect(messages::freed_while_active)),
    ("contents", Run::Inspect(types::contents)),
    ("life_cycle", Run::Inspect(types::life_cycle)),
    ("persistent", Run::Inspect(messages::persistent)),
    ("probe", Run::Inspect(messages::probe)),
    ("file_memory", Run::Inspect(files::memory)),
    ("file_view", Run::Inspect(files::view)),
    ("send", Run::Gather(messages::send)),
    ("receive", Run::Scatter(messages::receive)),
    ("sendrecv_replace", Run::Inspect(messages::replace)),
    ("partitioned", Run::Inspect(messages::partitioned)),
    ("put", Run::Scatter(one_sided::put)),
    ("put_locked", Run::Scatter(one_sided::put_locked)),
    ("put_posted", Run::Scatter(one_sided::put_posted)),
    ("put_origin", Run::Gather(one_sided::put_origin)),
    ("get", Run::Gather(one_sided::get)),
    ("get_origin", Run::Scatter(one_sided::get_origin)),
    ("accumulate", Run::Scatter(one_sided::accumulate)),
    ("get_accumulate", Run::Gather(one_sided::get_accumulate)),
    ("bcast", Run::Inspect(collectives::bcast)),
    ("gather", Run::Inspect(collectives::gather)),
    ("nothing_from_others", Run::Inspect(collectives::nothing_from_others)),
    ("allgather", Run::Inspect(collectives::all_gather)),
    ("scatter", Run::Inspect(collectives::scatter)),
    ("alltoall", Run::Inspect(collectives::all_to_all)),
    ("neighbor_alltoall", Run::Inspect(collectives::neighbor_all_to_all)),
    ("alltoallw", Run::Gather(collectives::all_to_all_w)),
    ("neighbor_alltoallw", Run::Gather(collectives::neighbor_all_to_all_w)),
    ("gatherv", Run::Inspect(collectives::gather_v)),
    ("allgatherv", Run::Inspect(collectives::all_gather_v)),
    ("reduce", Run::Inspect(collectives::reduce)),
];

impl Run {
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
    Err(Wrong::value(detail).into())
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

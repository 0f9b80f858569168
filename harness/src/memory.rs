//! Whether what is to be run fits into this machine's memory.

use std::collections::HashSet;

use apps::{Arrays, MicroApp, Side, WireOrder};
use procfs::{Current, Meminfo};

use crate::plan::Plan;

/// Bytes of a wire buffer for a message: an eighth and a page more, for libraries whose `MPI_Pack` writes more
/// than the data. `None` beyond the address space.
pub fn wire_bytes(message_bytes: u64) -> Option<u64> {
    message_bytes.checked_add(message_bytes / 8)?.checked_add(4096)
}

/// Memory that a rank needs, in bytes: the arrays, two wire buffers, and what verification makes of the message: the
/// packed bytes that must arrive, and the places of its segments on both sides. `None` beyond the address space.
pub fn rank_bytes(app: &dyn MicroApp) -> Option<u64> {
    /// Offset and length.
    const PLACE_BYTES: u64 = 16;
    let arrays = Arrays::footprint_bytes(&app.arrays())? as u64;
    let message = app.message(Side::Send, WireOrder::Ddt);
    let places = message.segments().count() as u64 * 2 * PLACE_BYTES;
    let buffers = wire_bytes(message.size())?.checked_mul(2)?.checked_add(message.size().checked_mul(2)?)?;
    arrays.checked_add(buffers)?.checked_add(places)
}

/// Refuses what `ranks` on one machine cannot have.
///
/// # Errors
/// What they need and what there is.
pub fn check_ranks(app: &dyn MicroApp, ranks: usize, available: u64) -> Result<(), String> {
    check_bytes(rank_bytes(app), ranks, available)
}

fn check_bytes(of_rank: Option<u64>, ranks: usize, available: u64) -> Result<(), String> {
    let needed = of_rank.and_then(|bytes| bytes.checked_mul(ranks as u64));
    if needed.is_some_and(|needed| needed <= available) {
        return Ok(());
    }
    let (needed, available) = (words(needed), gib(available));
    Err(format!("{ranks} ranks need {needed} of memory on this machine, which has {available} available"))
}

/// Refuses a plan with a case that needs more memory than there is.
///
/// # Errors
/// The case, what it needs and what there is.
pub fn check(plan: &Plan) -> Result<(), String> {
    let Some(available) = available_bytes() else { return Ok(()) };
    (0..plan.cases.len()).try_for_each(|i| check_against(plan, i, available, machines()))
}

fn check_against(plan: &Plan, i: usize, available: u64, machines: usize) -> Result<(), String> {
    let case = plan.case(i, "");
    check_bytes(plan.rank_bytes(i), plan.ranks.div_ceil(machines), available)
        .map_err(|reason| format!("{} {}: {reason}", case.test, case.params))
}

/// Refuses what the engine's comparison cannot have in its one process: what a rank has, and as much again for the
/// plain copies. Those are of the message, and of no more lines than the arrays and the packed buffer have.
///
/// # Errors
/// What is needed and what there is.
pub fn check_engine(app: &dyn MicroApp, available: u64) -> Result<(), String> {
    let needed = rank_bytes(app).and_then(|bytes| bytes.checked_mul(2));
    if needed.is_some_and(|needed| needed <= available) {
        return Ok(());
    }
    Err(format!("{} of memory are needed; {} are available", words(needed), gib(available)))
}

/// An amount of bytes as text for people; `None` is more than can be addressed.
pub fn words(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "more than can be addressed".to_owned(), gib)
}

fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// Memory that can be had without swapping, in bytes; `None` where the system does not tell.
pub fn available_bytes() -> Option<u64> {
    Meminfo::current().ok()?.mem_available
}

/// Machines of the scheduler's allocation; 1 without one.
fn machines() -> usize {
    let slurm = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"].iter().find_map(|name| std::env::var(name).ok());
    let slurm = slurm.and_then(|nodes| nodes.parse().ok());
    let pbs = || {
        let hosts = std::fs::read_to_string(std::env::var_os("PBS_NODEFILE")?).ok()?;
        Some(hosts.lines().collect::<HashSet<_>>().len())
    };
    slurm.or_else(pbs).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlannedCase;

    #[test]
    fn a_case_that_is_too_large_is_refused_with_figures() {
        let case = PlannedCase { test: "contiguous".to_owned(), ..PlannedCase::default() };
        let mut plan = Plan { cases: vec![case], ..Plan::default() };
        plan.check().unwrap();
        let needed = 2 * rank_bytes(&*plan.app(0)).unwrap();
        assert_eq!(check_against(&plan, 0, needed, 1), Ok(()));
        let error = check_against(&plan, 0, needed - 1, 1).unwrap_err();
        assert!(
            error.contains("contiguous") && error.contains("2 ranks") && error.contains("GiB"),
            "{error}"
        );
        assert_eq!(check_against(&plan, 0, needed - 1, 2), Ok(()), "one rank on each");
    }
}

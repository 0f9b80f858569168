//! Whether the cases of a plan fit into this machine's memory.

use std::collections::HashSet;

use apps::{Arrays, Side, WireOrder};

use crate::plan::Plan;

/// Memory that the ranks on one machine need, in bytes; `None` beyond the address space.
///
/// Per rank the arrays and two wire buffers with an eighth to spare, as the rank program allocates them.
pub fn needed_bytes(plan: &Plan, i: usize, machines: usize) -> Option<u64> {
    let app = plan.app(i);
    let arrays = Arrays::footprint_bytes(&app.arrays())? as u64;
    let wire = app.message(Side::Send, WireOrder::Manual).size();
    let rank = arrays.checked_add(wire.checked_mul(9)? / 4)?;
    rank.checked_mul(plan.ranks.div_ceil(machines) as u64)
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
    let needed = needed_bytes(plan, i, machines);
    if needed.is_some_and(|needed| needed <= available) {
        return Ok(());
    }
    let case = plan.case(i, "");
    let needed = needed.map_or_else(|| "more than can be addressed".to_owned(), gib);
    Err(format!(
        "{} {}: {} ranks need {needed} of memory on this machine, which has {} available",
        case.test,
        case.params,
        plan.ranks,
        gib(available)
    ))
}

fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// Memory that can be had without swapping.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
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
        let needed = needed_bytes(&plan, 0, 1).unwrap();
        assert_eq!(check_against(&plan, 0, needed, 1), Ok(()));
        let error = check_against(&plan, 0, needed - 1, 1).unwrap_err();
        assert!(
            error.contains("contiguous") && error.contains("2 ranks") && error.contains("GiB"),
            "{error}"
        );
        assert_eq!(check_against(&plan, 0, needed - 1, 2), Ok(()), "one rank on each");
    }
}

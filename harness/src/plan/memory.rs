//! Whether the cases of a plan fit into the machines' memory.

use std::collections::HashSet;

use super::CheckedPlan;
use common::memory::{MACHINE, available_bytes, check_bytes};

/// Refuses a plan with a case that needs more memory than the machines have.
///
/// # Errors
/// The case, the memory that it needs, and the available memory.
pub fn check(plan: &CheckedPlan) -> Result<(), String> {
    let Some(available) = available_bytes() else { return Ok(()) };
    (0..plan.cases.len()).try_for_each(|i| check_against(plan, i, available, machines()))
}

fn check_against(plan: &CheckedPlan, i: usize, available: u64, machines: usize) -> Result<(), String> {
    let case = &plan.cases[i];
    let ranks = plan.plan.ranks().div_ceil(machines);
    check_bytes(case.rank_bytes, ranks, MACHINE, available)
        .map_err(|reason| format!("{} {}: {reason}", plan.plan.cases[i].test, case.params))
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
    use crate::experiments::planned::PlannedCase;
    use crate::plan::Plan;

    #[test]
    fn a_case_that_is_too_large_is_refused_with_figures() {
        let case = PlannedCase { test: "contiguous".to_owned(), ..PlannedCase::default() };
        let methods = vec!["reference".to_owned()];
        let plan = Plan { cases: vec![case], methods, ..Plan::default() }.check().unwrap();
        let needed = 2 * plan.cases[0].rank_bytes.unwrap();
        assert_eq!(check_against(&plan, 0, needed, 1), Ok(()));
        let error = check_against(&plan, 0, needed - 1, 1).unwrap_err();
        assert!(
            error.contains("contiguous") && error.contains("2 ranks") && error.contains("GiB"),
            "{error}"
        );
        assert_eq!(check_against(&plan, 0, needed - 1, 2), Ok(()), "one rank on each");

        let methods = vec!["reference".to_owned(), "reference:copied".to_owned()];
        let plan = Plan { methods, ..plan.plan }.check().unwrap();
        let buffers = 2 * 2 * plan.cases[0].message.bytes;
        assert!(
            check_against(&plan, 0, needed + buffers - 1, 1).is_err(),
            "a method with buffers of its own"
        );
        assert_eq!(check_against(&plan, 0, needed + buffers, 1), Ok(()));
    }
}

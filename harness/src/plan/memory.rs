//! Whether the cases of a plan fit into the machines' memory.

use std::collections::HashSet;

use super::CheckedPlan;
use common::memory::{MACHINE, available_bytes, check_bytes};

/// The plan without cases that need more memory than the machines have, if the user did not name them.
///
/// # Errors
/// A named case, or the only one: the memory that it needs, and the available memory.
pub fn fit(plan: CheckedPlan) -> Result<CheckedPlan, String> {
    fit_into(plan, available_bytes().unwrap_or(u64::MAX), machines())
}

fn fit_into(mut plan: CheckedPlan, available: u64, machines: usize) -> Result<CheckedPlan, String> {
    for i in (0..plan.cases.len()).rev() {
        let Err(reason) = check_against(&plan, i, available, machines) else { continue };
        if !plan.plan.origin.unnamed.contains(&i) || plan.cases.len() == 1 {
            return Err(reason);
        }
        plan.plan.cases.remove(i);
        plan.cases.remove(i);
        plan.notes.push(format!("left out: {reason}"));
    }
    Ok(plan)
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
    use crate::experiments::selection::Selection;
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

    #[test]
    fn a_case_that_is_too_large_is_left_out_if_nobody_named_it() {
        let sweep = |test: &str| {
            let mut sweep: Selection = toml::from_str("preset = 'quick'").unwrap();
            sweep.tests.extend((!test.is_empty()).then(|| test.to_owned()));
            Plan { sweeps: vec![sweep], ..Plan::default() }.check().unwrap()
        };
        let all = sweep("");
        let mut bytes: Vec<u64> = all.cases.iter().map(|case| 2 * case.rank_bytes.unwrap()).collect();
        bytes.sort_unstable();
        let (largest, count) = (bytes[bytes.len() - 1], bytes.len());
        let fitting = fit_into(all, largest - 1, 1).unwrap();
        let fits = bytes.iter().filter(|bytes| **bytes < largest).count();
        assert_eq!([fitting.cases.len(), fitting.plan.cases.len()], [fits; 2]);
        assert_eq!(fitting.notes.iter().filter(|note| note.starts_with("left out: ")).count(), count - fits);
        assert!(fit_into(sweep(""), 1, 1).unwrap_err().contains("2 ranks need"), "none is left");
        assert!(fit_into(sweep("nas_lu_y"), 1, 1).unwrap_err().starts_with("nas_lu_y "));
    }
}

//! In which order cases are measured: launch by launch, in each all cases in an order drawn anew, and of each case all MPIs
//! before the next, so that what is compared was measured within seconds.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::Run;
use crate::model::conditions::Cache;

/// What one process of the rank program measures, or several, where one dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Number of the plan's case.
    pub case: usize,
    /// Whether caches are warm or cold.
    pub cache: Cache,
    /// Number of the MPI.
    pub target: usize,
    /// The launch, from 0.
    pub launch: usize,
}

impl Run<'_> {
    /// All that is measured, in its order. The first launch has the plan's order of cases, which people read along.
    pub fn units(&self) -> Vec<Unit> {
        let plan = &self.plan.plan;
        let mut random = Pcg64::seed_from_u64(plan.seed);
        let mut units = Vec::new();
        for launch in 0..plan.launches() {
            let caches = |case: usize| plan.caches.iter().map(move |&cache| (case, cache));
            let mut cases: Vec<(usize, Cache)> = (0..plan.cases.len()).flat_map(caches).collect();
            let mut targets: Vec<usize> = (0..self.targets.len()).collect();
            if launch > 0 {
                cases.shuffle(&mut random);
            }
            for (case, cache) in cases {
                if launch > 0 {
                    targets.shuffle(&mut random);
                }
                units.extend(targets.iter().map(|&target| Unit { case, cache, target, launch }));
            }
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::experiments::planned::PlannedCase;
    use crate::mpi::Installation;
    use crate::plan::Plan;
    use crate::run::Target;

    #[test]
    fn each_launch_has_every_case_and_mpis_stay_together() {
        let case = |test: &str| PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
        let cases = ["wrf_x_vec", "nas_lu_y", "nas_mg_x", "contiguous"].map(case).to_vec();
        let caches = vec![Cache::Warm, Cache::Cold];
        let plan = Plan { cases, caches, launches: Some(3), ..Plan::default() }.check().unwrap();
        let target = |variant: &str| Target {
            installation: Installation::fake("mpiexec"),
            variant: variant.to_owned(),
            program: "ddtbench-rank".into(),
        };
        let targets = [target(""), target("a"), target("b")];
        let run = Run { plan: &plan, targets: &targets };
        let units = run.units();
        assert_eq!(units.len(), 4 * 2 * 3 * 3);
        assert_eq!(units.iter().collect::<HashSet<_>>().len(), units.len());
        for (i, together) in units.chunks(3).enumerate() {
            let one = |unit: &Unit| (unit.case, unit.cache, unit.launch);
            assert!(together.iter().all(|unit| one(unit) == one(&together[0])));
            assert_eq!(together[0].launch, i / 8);
        }
        let order = |launch: usize| -> Vec<_> {
            let of = units.iter().filter(|unit| unit.launch == launch && unit.target == 0);
            of.map(|unit| (unit.case, unit.cache)).collect()
        };
        let planned: Vec<_> = (0..4).flat_map(|case| [(case, Cache::Warm), (case, Cache::Cold)]).collect();
        assert_eq!(order(0), planned, "the plan's own order");
        assert!(order(1) != order(2) && order(1) != planned, "drawn anew");
        assert_eq!(run.units(), units, "by the seed");
    }
}

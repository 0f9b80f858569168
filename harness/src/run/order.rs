//! The order of measurement: launch by launch. Within a launch, cases are in random order, and each case runs
//! on all MPIs before the next case, so that compared results are measured within seconds.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::Run;
use crate::model::Record;
use crate::model::conditions::Conditions;
use crate::mpi::Target;
use crate::plan::CheckedPlan;

/// The work of one process of the rank program, or of several if one crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Number of the plan's case.
    pub case: usize,
    /// Whether caches are warm or cold, and the memory.
    pub conditions: Conditions,
    /// Number of the MPI.
    pub target: usize,
    /// The launch, from 0.
    pub launch: usize,
}

impl Run<'_> {
    /// All units in measured order. It is not the plan's order, in which similar cases are neighbours:
    /// changes of the machine in its first minute would always affect the same cases.
    pub fn units(&self) -> Vec<Unit> {
        let plan = &self.plan.plan;
        let mut random = Pcg64::seed_from_u64(plan.seed);
        let mut units = Vec::new();
        for launch in 0..plan.launches() {
            let conditions = |case: usize| plan.conditions().map(move |conditions| (case, conditions));
            let mut cases: Vec<(usize, Conditions)> = (0..plan.cases.len()).flat_map(conditions).collect();
            let mut targets: Vec<usize> = (0..self.targets.len()).collect();
            cases.shuffle(&mut random);
            for (case, conditions) in cases {
                targets.shuffle(&mut random);
                units.extend(targets.iter().map(|&target| Unit { case, conditions, target, launch }));
            }
        }
        units
    }

    /// Sorts records into the plan's order, for people: by case, cache mode, MPI. Records that are equal in
    /// these stay in the order of launches.
    pub fn in_plan_order(&self, records: &mut [Record]) {
        let mpis: Vec<String> = self.targets.iter().map(Target::label).collect();
        in_plan_order(self.plan, &mpis, records);
    }
}

/// The same for a run with these names of MPIs in tables.
pub fn in_plan_order(plan: &CheckedPlan, mpis: &[String], records: &mut [Record]) {
    let tests = plan.plan.cases.iter().map(|case| case.test.clone());
    let cases: HashMap<(String, String), usize> = tests
        .zip(&plan.cases)
        .enumerate()
        .map(|(i, (test, case))| ((test, case.params.clone()), i))
        .collect();
    // Records that are not in the plan come last.
    records.sort_by_cached_key(|Record { case, .. }| {
        let place = cases.get(&(case.test.clone(), case.params.clone())).copied().unwrap_or(usize::MAX);
        let conditions = plan.plan.conditions().position(|conditions| conditions == case.conditions());
        let mpi = mpis.iter().position(|mpi| *mpi == case.mpi_label());
        (place, conditions.unwrap_or(usize::MAX), mpi.unwrap_or(usize::MAX))
    });
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::experiments::planned::PlannedCase;
    use crate::model::conditions::Cache;
    use crate::mpi::Installation;
    use crate::plan::Plan;

    #[test]
    fn each_launch_has_every_case_and_mpis_stay_together() {
        let case = |test: &str| PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
        let cases = ["wrf_x_vec", "nas_lu_y", "nas_mg_x", "contiguous"].map(case).to_vec();
        let caches = vec![Cache::Warm, Cache::Cold];
        let plan = Plan { cases, caches, launches: Some(3), ..Plan::default() }.check().unwrap();
        let target = |variant: &str| Target {
            variant: variant.to_owned(),
            ..Target::fake(Installation::fake("mpiexec"), "ddtbench-rank")
        };
        let targets = [target(""), target("a"), target("b")];
        let run = Run { plan: &plan, targets: &targets };
        let units = run.units();
        assert_eq!(units.len(), 4 * 2 * 3 * 3);
        assert_eq!(units.iter().collect::<HashSet<_>>().len(), units.len());
        for (i, together) in units.chunks(3).enumerate() {
            let one = |unit: &Unit| (unit.case, unit.conditions, unit.launch);
            assert!(together.iter().all(|unit| one(unit) == one(&together[0])));
            assert_eq!(together[0].launch, i / 8);
        }
        let order = |launch: usize| -> Vec<_> {
            let of = units.iter().filter(|unit| unit.launch == launch && unit.target == 0);
            of.map(|unit| (unit.case, unit.conditions.cache)).collect()
        };
        let planned: Vec<_> = (0..4).flat_map(|case| [(case, Cache::Warm), (case, Cache::Cold)]).collect();
        let orders = [order(0), order(1), order(2)];
        assert!(orders.iter().all(|order| *order != planned), "also the first launch's is drawn");
        assert!(orders[0] != orders[1] && orders[1] != orders[2], "a new random order");
        let first_mpis: HashSet<_> = units[..8 * 3].chunks(3).map(|units| units[0].target).collect();
        assert!(first_mpis.len() > 1, "MPIs take turns in being the first");
        assert_eq!(run.units(), units, "by the seed");

        let record = |unit: &Unit| Record {
            case: run.case(*unit).into(),
            launch: Some(unit.launch),
            ..Record::default()
        };
        let mut records: Vec<_> = units.iter().map(record).collect();
        run.in_plan_order(&mut records);
        let found: Vec<_> = records
            .chunks(3)
            .map(|launches| {
                assert!(launches.iter().map(|record| record.launch).eq([Some(0), Some(1), Some(2)]));
                let case = &launches[0].case;
                (case.test.as_str(), case.cache, case.mpi_variant.as_str())
            })
            .collect();
        let tests = ["wrf_x_vec", "nas_lu_y", "nas_mg_x", "contiguous"].into_iter();
        let expected = tests.flat_map(|test| {
            [Cache::Warm, Cache::Cold]
                .into_iter()
                .flat_map(move |cache| ["", "a", "b"].map(|variant| (test, cache, variant)))
        });
        assert!(found.iter().copied().eq(expected), "{found:?}");
    }
}

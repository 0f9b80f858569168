//! From words on a command line to cases of overlap.

use apps::Preset;

use super::operations::{OPERATIONS, Traffic};
use super::prepared::PreparedOverlap;
use super::setting::PARAMETERS;
use crate::experiments::parameter::{Flag, Sweep, choices, place};
use crate::experiments::planned::{PlannedCase, Selected, Text};
use crate::experiments::{Prepared, Setup};

/// What is measured where no test is named: one from the root, one to all with arithmetic, one between all, one between two.
const QUICK: [&str; 4] = ["ibcast", "iallreduce", "ialltoall", "isend"];
/// The collectives of the paper, with all that its text and its captions name.
const PAPER: [&str; 5] = ["ibcast", "ireduce", "iallgather", "iallreduce", "ialltoall"];

/// Times of the grid's axes in microseconds: powers of two from half a millisecond on.
fn times(count: u32) -> Vec<String> {
    (0..count).map(|power| (500_u64 << power).to_string()).collect()
}

/// Times up to about a second, as the paper has them.
const PAPER_TIMES: u32 = 12;
/// Those of preset `default`: up to 16 ms.
const DEFAULT_TIMES: u32 = 6;

/// What the user selects.
#[derive(Clone, Debug)]
pub struct OverlapSelection {
    /// Names of operations, tests and exchanges.
    pub tests: Vec<String>,
    /// How large the grid is.
    pub preset: Preset,
    /// Named sets of tests.
    pub sets: Vec<String>,
    /// Single values; what follows without a name is another value of the name before.
    pub params: Vec<String>,
    /// Values of what a case says besides.
    pub conditions: Sweep,
}

impl OverlapSelection {
    /// The cases, for these ranks and this seed.
    ///
    /// # Errors
    /// An unknown name, a refused value, a selection of nothing.
    pub fn cases(&self, setup: Setup) -> Result<Selected, String> {
        let mut selected = Selected::default();
        let sets = self.sets.iter().map(|set| Some(set.as_str()));
        let sets: Vec<Option<&str>> = if self.sets.is_empty() { vec![None] } else { sets.collect() };
        for (test, set) in
            self.tests().into_iter().flat_map(|test| sets.iter().map(move |set| (test.clone(), *set)))
        {
            for params in self.combinations(&test, set)? {
                let params = params.into_iter().map(|(name, value)| (name, Text(value))).collect();
                let set = set.map(str::to_owned);
                let case = PlannedCase { test: test.clone(), set, params, methods: Vec::new() };
                selected.add(PreparedOverlap::of(&case, setup)?.planned());
            }
        }
        Ok(selected)
    }

    fn tests(&self) -> Vec<String> {
        if !self.tests.is_empty() {
            return self.tests.clone();
        }
        let names: &[&str] = match self.preset {
            Preset::Quick => &QUICK,
            Preset::Default => &OPERATIONS.iter().map(|operation| operation.name).collect::<Vec<_>>(),
            Preset::Full => &PAPER,
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// All parameters of a test, one combination each. Without times, those of the preset.
    fn combinations(&self, test: &str, set: Option<&str>) -> Result<Vec<Vec<(String, String)>>, String> {
        let choices = choices(&self.params, "computation_us=4ms")?;
        let is_single = |name: &str| choices[0].iter().any(|(single, _)| single == name);
        let is_swept = |name: &str| self.conditions.names().any(|given| given == name);
        let is_twice = |name| is_single(name) && is_swept(name);
        if let Some(Flag { name, long, .. }) =
            PARAMETERS.iter().map(|own| &own.flag).find(|flag| is_twice(flag.name))
        {
            return Err(format!("{name} is given by -p and by --{long}: leave one of them out"));
        }
        let is_given = |name: &str| is_single(name) || is_swept(name);
        let mut grid = Vec::new();
        if Traffic::find(test, set)?.is_sized() && !is_given("bytes") && !is_given("communication_us") {
            grid.push(("communication_us", self.times()));
        }
        // What has its bytes is computed beside for as long as it takes itself.
        if !is_given("matrix_order") && !is_given("computation_us") && !grid.is_empty() {
            grid.push(("computation_us", self.times()));
        }
        let conditions = Sweep::of(grid).with(&self.conditions).product(|name| place(PARAMETERS, name));
        let with = |choice: &Vec<(String, String)>, conditions: &Vec<(&str, String)>| {
            let conditions = conditions.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            choice.iter().cloned().chain(conditions).collect()
        };
        let of_choice = |choice| conditions.iter().map(move |conditions| with(choice, conditions));
        Ok(choices.iter().flat_map(of_choice).collect())
    }

    /// The times of either axis.
    fn times(&self) -> Vec<String> {
        match self.preset {
            // A corner of the grid that takes less than two minutes.
            Preset::Quick => vec!["500".to_owned(), "2000".to_owned()],
            Preset::Default => times(DEFAULT_TIMES),
            Preset::Full => times(PAPER_TIMES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(tests: &[&str], params: &[&str], preset: Preset) -> Result<Selected, String> {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        OverlapSelection {
            tests: words(tests),
            preset,
            sets: Vec::new(),
            params: words(params),
            conditions: Sweep::default(),
        }
        .cases(Setup { ranks: 2, seed: 1 })
    }

    #[test]
    fn a_preset_is_a_grid_and_what_is_given_is_not_swept() {
        let count =
            |tests: &[&str], params: &[&str], preset| selection(tests, params, preset).unwrap().cases.len();
        assert_eq!(count(&[], &[], Preset::Quick), 4 * 4);
        assert_eq!(count(&["ibcast"], &[], Preset::Full), 144);
        assert_eq!(count(&["ibcast"], &["bytes=1MiB"], Preset::Quick), 1);
        assert_eq!(count(&["ibcast"], &["bytes=1MiB", "computation_us=1ms", "2ms"], Preset::Quick), 2);
        assert_eq!(count(&["nas_lu_y", "halo:nas_mg", "ibarrier"], &[], Preset::Quick), 3);
        assert_eq!(count(&["ibcast"], &["communication_us=1ms", "computation_us=1ms"], Preset::Quick), 1);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (test, param) in
            [("ibcst", "bytes=1"), ("nas_lu_y", "communication_us=1ms"), ("ibcast", "computation_us=1h")]
        {
            let error = selection(&[test], &[param], Preset::Quick).unwrap_err();
            assert!(error.contains(test) || error.contains(param.split('=').next().unwrap()), "{error}");
        }
    }
}

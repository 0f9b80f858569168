//! A plan whose cases are ready to be measured.

use crate::experiments::Prepared;
use crate::experiments::planned::PlannedCase;
use crate::model::Case;
use crate::model::conditions::Cache;

use super::Plan;

/// A plan that was checked, with its cases: nothing of it is parsed or built again.
#[derive(Debug)]
pub struct CheckedPlan {
    /// The plan, its cases with all their values.
    pub plan: Plan,
    /// The cases, in the plan's order.
    pub cases: Vec<Prepared>,
    /// Sets that its sweeps left out, and why.
    pub notes: Vec<String>,
}

impl CheckedPlan {
    /// The methods of case `i`, in the plan's order.
    pub fn methods_of(&self, i: usize) -> Vec<String> {
        let chosen = &self.plan.cases[i].methods;
        let is_chosen = |method: &&String| chosen.is_empty() || chosen.contains(method);
        let methods = self.plan.methods.iter().filter(is_chosen);
        methods.filter(|method| self.cases[i].has(method)).cloned().collect()
    }

    /// The sets that sweeps left out, and which methods that were asked for a test does not have, and why, a sentence for each; what is usual goes without saying.
    pub fn left_out(&self) -> Vec<String> {
        let mut usual = self.plan.clone();
        usual.use_usual_methods();
        let mut sentences = self.notes.clone();
        if usual.methods == self.plan.methods {
            return sentences;
        }
        for (planned, case) in self.plan.cases.iter().zip(&self.cases) {
            let chosen = if planned.methods.is_empty() { &self.plan.methods } else { &planned.methods };
            let missing = case.lacks(chosen);
            let sentence = format!("{} is measured without {}", planned.test, missing.join(", "));
            if !missing.is_empty() && !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences
    }

    /// The cases, each with all values as results have them.
    pub fn named_cases(&self) -> Vec<(&PlannedCase, &str)> {
        self.plan.cases.iter().zip(self.cases.iter().map(|case| &*case.params)).collect()
    }

    /// What a case lasts at most in a launch, in seconds, its start left out: the time of all methods.
    pub fn expected_s(&self) -> f64 {
        let methods = (0..self.plan.cases.len()).map(|case| self.methods_of(case).len()).max().unwrap_or(0);
        methods as f64 * self.plan.limits.max_time_s / self.plan.launches() as f64
    }

    /// Case `i` as results name it, as far as that is known before it was measured.
    pub fn case(&self, i: usize, cache: Cache) -> Case {
        let planned = &self.plan.cases[i];
        Case {
            experiment: self.plan.experiment,
            test: planned.test.clone(),
            set: planned.set.clone().unwrap_or_default(),
            params: self.cases[i].params.clone(),
            ranks: self.plan.ranks(),
            cache,
            ..Case::default()
        }
    }

    /// The names of all parameters that are numbers, in the order in which cases have them.
    pub fn number_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.cases.iter().flat_map(|case| case.numbers()).map(|(name, _)| name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

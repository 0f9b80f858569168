//! A plan whose cases are ready to be measured.

use crate::experiments::Prepared;
use crate::experiments::planned::PlannedCase;
use crate::model::conditions::{Conditions, MemoryKind};
use crate::model::{CUSTOM, Case};
use crate::report::names::{work, work_names};

use super::Plan;

/// A checked plan with its cases: nothing is parsed or built again.
#[derive(Debug)]
pub struct CheckedPlan {
    /// The plan, whose cases have all values.
    pub plan: Plan,
    /// The cases, in the plan's order.
    pub cases: Vec<Prepared>,
    /// Sets and cases that were left out, with reasons.
    pub notes: Vec<String>,
}

impl CheckedPlan {
    /// The methods of case `i` with data in this memory, in the plan's order.
    pub fn methods_of(&self, i: usize, memory: MemoryKind) -> Vec<String> {
        let chosen = &self.plan.cases[i].methods;
        let is_chosen = |method: &&String| chosen.is_empty() || chosen.contains(method);
        let methods = self.plan.methods.iter().filter(is_chosen);
        let can = |method: &&String| self.cases[i].has(method) && self.plan.experiment.can_in(memory, method);
        methods.filter(can).cloned().collect()
    }

    /// Sentences: the sets that sweeps left out, and the requested methods that a test does not have, with reasons.
    pub fn left_out(&self) -> Vec<String> {
        let mut usual = self.plan.clone();
        usual.use_usual_methods();
        let mut sentences = self.notes.clone();
        // Nobody asked for the usual ones.
        if usual.methods.iter().all(|method| self.plan.methods.contains(method)) {
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

    /// Longest duration of a case in a launch in seconds, without starting it: the time of all methods.
    pub fn expected_s(&self) -> f64 {
        let of_case =
            |case| self.plan.memories.iter().map(move |memory| self.methods_of(case, *memory).len());
        let methods = (0..self.plan.cases.len()).flat_map(of_case).max().unwrap_or(0);
        methods as f64 * self.plan.limits.max_time_s / self.plan.launches() as f64
    }

    /// Case `i` as results name it, as far as known before it is measured.
    pub fn case(&self, i: usize, Conditions { cache, memory }: Conditions) -> Case {
        let planned = &self.plan.cases[i];
        Case {
            experiment: self.plan.experiment,
            test: planned.test.clone(),
            set: planned.set.clone().unwrap_or_default(),
            params: self.cases[i].params.clone(),
            ranks: self.plan.ranks(),
            cache,
            memory,
            ..Case::default()
        }
    }

    /// The name of each case for the user: the test, its set, and the values that distinguish it from others.
    pub fn names(&self) -> Vec<String> {
        let cases: Vec<Case> =
            (0..self.cases.len()).map(|case| self.case(case, Conditions::default())).collect();
        let names = work_names(&cases.iter().collect::<Vec<_>>());
        let name = |case: &Case| {
            let name = &names[&work(case)];
            let has_set = case.set == CUSTOM || name != &case.test;
            if has_set { name.clone() } else { format!("{name} {}", case.set).trim_end().to_owned() }
        };
        cases.iter().map(name).collect()
    }

    /// The names of all numeric parameters, in the order of the cases.
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

//! From words on a command line to cases of halo exchanges.

use std::collections::BTreeMap;

use apps::Preset;
use apps::halo::{HALOS, HaloTest};

use super::{HaloCase, PARAMETERS};
use crate::experiments::Setup;
use crate::experiments::parameter::{Flag, Sweep, choices, place};
use crate::experiments::planned::{PlannedCase, Selected, Text};
use crate::model::CUSTOM;

/// What the user selects; all exchanges if none is named.
#[derive(Clone, Debug)]
pub struct HaloSelection {
    /// Names of exchanges.
    pub tests: Vec<String>,
    /// Which of their sets.
    pub preset: Preset,
    /// One named set instead.
    pub set: Option<String>,
    /// Single values, as `d1=34`; what follows without a name is another value of the name before.
    pub params: Vec<String>,
    /// Values of what a case says besides.
    pub conditions: Sweep,
}

impl HaloSelection {
    /// The cases, for these ranks and this seed.
    ///
    /// # Errors
    /// An unknown name, a refused value, ranks that an exchange which was named cannot have, a selection of nothing.
    pub fn cases(&self, setup: Setup) -> Result<Selected, String> {
        let mut selected = Selected::default();
        for test in self.chosen()? {
            for set in self.sets(test)? {
                for params in self.combinations()? {
                    let case = HaloCase::parse(test.name, Some(set), &params)?;
                    match case.build(setup.ranks, setup.seed) {
                        Ok(_) => {
                            let values = self.params.is_empty();
                            let params = case.pairs().into_iter();
                            let case = PlannedCase {
                                test: test.name.to_owned(),
                                set: Some(if values { set } else { CUSTOM }.to_owned()),
                                params: params.map(|(name, value)| (name, Text(value))).collect(),
                                methods: Vec::new(),
                            };
                            selected.add(case);
                        }
                        // What another number of ranks could have is no mistake where all were asked for.
                        Err(reason) if self.tests.is_empty() => {
                            let note = format!("left out: {} {set}: {reason}", test.name);
                            if !selected.notes.contains(&note) {
                                selected.notes.push(note);
                            }
                        }
                        Err(reason) => return Err(reason),
                    }
                }
            }
        }
        match selected.cases.is_empty() {
            true => Err(format!("nothing is left to run; {}", selected.notes.join("; "))),
            false => Ok(selected),
        }
    }

    fn chosen(&self) -> Result<Vec<&'static HaloTest>, String> {
        if self.tests.is_empty() && !self.params.is_empty() {
            return Err("single values (-p) need the TEST that they are for".to_owned());
        }
        match self.tests.is_empty() {
            true => Ok(HALOS.iter().collect()),
            false => {
                let found = self.tests.iter().map(|name| apps::halo::find(name));
                found.collect::<Result<_, _>>().map_err(|error| error.to_string())
            }
        }
    }

    fn sets(&self, test: &'static HaloTest) -> Result<Vec<&str>, String> {
        match &self.set {
            Some(name) => {
                test.set(name).map_err(|error| error.to_string())?;
                Ok(vec![name])
            }
            None if !self.params.is_empty() => Ok(vec![test.quick_set().name]),
            None => Ok(test.sets_of(self.preset).map(|set| set.name).collect()),
        }
    }

    /// All parameters that were given, one combination of the conditions each.
    fn combinations(&self) -> Result<Vec<BTreeMap<String, String>>, String> {
        let choices = choices(&self.params, "d1=34")?;
        let is_single = |name: &str| choices[0].iter().any(|(single, _)| single == name);
        let is_twice = |name| is_single(name) && self.conditions.names().any(|given| given == name);
        if let Some(Flag { name, long, .. }) =
            PARAMETERS.iter().map(|own| &own.flag).find(|flag| is_twice(flag.name))
        {
            return Err(format!("{name} is given by -p and by --{long}: leave one of them out"));
        }
        let conditions = self.conditions.product(|name| place(PARAMETERS, name));
        let with = |choice: &Vec<(String, String)>, conditions: &Vec<(&str, String)>| {
            let conditions = conditions.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            choice.iter().cloned().chain(conditions).collect()
        };
        let of_choice = |choice| conditions.iter().map(move |conditions| with(choice, conditions));
        Ok(choices.iter().flat_map(of_choice).collect())
    }
}

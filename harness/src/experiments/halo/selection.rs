//! From words on a command line to cases of halo exchanges.

use std::collections::BTreeMap;

use apps::Preset;
use apps::halo::{HALOS, HaloTest, LAYOUT};

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
    /// Named sets instead.
    pub sets: Vec<String>,
    /// Single values, as `d1=34`; what follows without a name is another value of the name before.
    pub params: Vec<String>,
    /// Layouts besides, or alone where no exchange is named: parameters of the exchange `layout`.
    pub layouts: Vec<PlannedCase>,
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
        let combinations = self.combinations()?;
        for test in self.chosen()? {
            for set in self.sets(test)? {
                let name = if self.params.is_empty() { set } else { CUSTOM };
                for params in &combinations {
                    match planned(test, set, name, params, setup) {
                        Ok(case) => selected.add(case),
                        // What another number of ranks could have is no mistake where all were asked for.
                        Err(CaseError::Ranks(reason)) if self.tests.is_empty() => {
                            let note = format!("left out: {} {set}: {reason}", test.name);
                            if !selected.notes.contains(&note) {
                                selected.notes.push(note);
                            }
                        }
                        Err(CaseError::Values(reason) | CaseError::Ranks(reason)) => return Err(reason),
                    }
                }
            }
        }
        for layout in &self.layouts {
            let given = layout.given().map(|(name, text)| (name.to_owned(), text.to_owned()));
            let given: BTreeMap<String, String> = given.collect();
            for params in &combinations {
                if let Some(name) = params.keys().find(|name| given.contains_key(*name)) {
                    return Err(format!("{name} is given by -p and by --layout: leave one of them out"));
                }
                let all = given.clone().into_iter().chain(params.clone()).collect();
                let case = planned(&LAYOUT, LAYOUT.quick_set().name, CUSTOM, &all, setup);
                selected.add(case.map_err(|(CaseError::Values(reason) | CaseError::Ranks(reason))| reason)?);
            }
        }
        match selected.cases.is_empty() {
            true => Err(format!("nothing is left to run; {}", selected.notes.join("; "))),
            false => Ok(selected),
        }
    }

    fn chosen(&self) -> Result<Vec<&'static HaloTest>, String> {
        if self.tests.is_empty() && !self.layouts.is_empty() {
            return Ok(Vec::new());
        }
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
        if self.sets.is_empty() {
            return match self.params.is_empty() {
                true => Ok(test.sets_of(self.preset).map(|set| set.name).collect()),
                false => Ok(vec![test.quick_set().name]),
            };
        }
        self.sets.iter().try_for_each(|name| test.set(name).map(drop)).map_err(|error| error.to_string())?;
        Ok(self.sets.iter().map(String::as_str).collect())
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

/// What is wrong with a case: its values, or that the ranks cannot have it.
enum CaseError {
    Values(String),
    Ranks(String),
}

/// The case of an exchange, called `name`, whose values start from a set.
fn planned(
    test: &HaloTest,
    set: &str,
    name: &str,
    params: &BTreeMap<String, String>,
    setup: Setup,
) -> Result<PlannedCase, CaseError> {
    let case = HaloCase::parse(test.name, Some(set), params).map_err(CaseError::Values)?;
    case.build(setup.ranks, setup.seed).map_err(CaseError::Ranks)?;
    Ok(PlannedCase {
        test: test.name.to_owned(),
        set: Some(name.to_owned()),
        params: case.pairs().into_iter().map(|(name, value)| (name, Text(value))).collect(),
        methods: Vec::new(),
    })
}

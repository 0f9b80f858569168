//! A case, ready to be measured; or to be calibrated first.

use super::methods::METHODS;
use super::operations::Traffic;
use super::{OverlapCase, OverlapSetting};
use crate::experiments::planned::{PlannedCase, Text, set_name};
use crate::experiments::{Context, Prepared, ProcessSettings};
use crate::model::CUSTOM;
use crate::model::event::MessageFacts;

/// A case with its values.
#[derive(Debug)]
pub struct PreparedOverlap {
    planned: PlannedCase,
    case: OverlapCase,
    message: MessageFacts,
    rank_bytes: Option<u64>,
    /// Methods by which it can be communicated.
    methods: Vec<&'static str>,
}

impl PreparedOverlap {
    /// That of a planned case.
    ///
    /// # Errors
    /// An unknown test, set or parameter, a value that cannot be, or ranks that it cannot have.
    pub fn of(planned: &PlannedCase, setup: Context) -> Result<Self, String> {
        let case = OverlapCase::parse(&planned.test, planned.named_set(), planned.given())?;
        let built = case.build(setup)?;
        let set = match &case.traffic {
            Traffic::Operation(_) => CUSTOM.to_owned(),
            Traffic::Message(test, values) => set_name(test, planned.set.as_deref(), values),
            Traffic::Exchange(test, values) => set_name(test, planned.set.as_deref(), values),
        };
        let params = case.pairs().into_iter().map(|(name, value)| (name, Text(value))).collect();
        Ok(Self {
            planned: PlannedCase { set: Some(set), params, ..planned.clone() },
            message: case.message(&built, setup.ranks),
            rank_bytes: case.rank_bytes(&built, setup.ranks),
            methods: METHODS.iter().map(|row| row.name).filter(|name| case.has(&built, name)).collect(),
            case,
        })
    }
}

impl Prepared for PreparedOverlap {
    fn planned(&self) -> PlannedCase {
        self.planned.clone()
    }

    fn params(&self) -> String {
        self.case.to_string()
    }

    fn arguments(&self) -> Vec<String> {
        self.planned.arguments()
    }

    fn message(&self) -> MessageFacts {
        self.message
    }

    fn process_settings(&self) -> ProcessSettings {
        let OverlapSetting { configuration, .. } = self.case.setting;
        ProcessSettings { threads: self.case.setting.cores(), configuration, ..ProcessSettings::default() }
    }

    fn has(&self, method: &str) -> bool {
        self.methods.contains(&method)
    }

    fn rank_bytes(&self, _methods: &[String]) -> Option<u64> {
        self.rank_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_the_methods_of_what_it_communicates() {
        let prepared = |test: &str| {
            let params = [("matrix_order", "8")].map(|(name, text)| (name.to_owned(), Text(text.to_owned())));
            let case = PlannedCase { test: test.to_owned(), params: params.into(), ..PlannedCase::default() };
            PreparedOverlap::of(&case, Context { ranks: 4, seed: 1 }).unwrap()
        };
        let methods = |test| {
            let prepared = prepared(test);
            METHODS.iter().map(|row| row.name).filter(|name| prepared.has(name)).collect::<Vec<_>>()
        };
        assert_eq!(methods("ibcast"), ["nonblocking", "persistent"]);
        assert!(methods("nas_lu_y").contains(&"mpi_pack") && !methods("nas_lu_y").contains(&"nonblocking"));
        // What is by hand, nobody has written for a layout.
        let all = ["reference", "loop", "mpi_pack", "engine", "ddt", "persistent_ddt"];
        assert_eq!(methods("layout"), all);
        assert!(methods("halo:layout").contains(&"loop") && !methods("halo:layout").contains(&"manual"));
        assert!(methods("halo:nas_mg").contains(&"ineighbor_alltoallw"));
        assert!(
            prepared("ibcast").case.needs_calibration() && !prepared("nas_lu_y").case.needs_calibration()
        );
    }
}

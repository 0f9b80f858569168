//! Prepares a case for measuring, or for calibration.

use super::operations::Traffic;
use super::{OverlapCase, OverlapSetting};
use crate::experiments::planned::{PlannedCase, set_name};
use crate::experiments::{Context, Prepared, ProcessSettings};
use crate::model::CUSTOM;

/// The case with all values, for these methods.
///
/// # Errors
/// If a test, set or parameter is unknown, or a value or the number of ranks is invalid.
pub fn prepare(planned: &PlannedCase, methods: &[String], setup: Context) -> Result<Prepared, String> {
    let case = OverlapCase::parse(&planned.test, planned.named_set(), planned.given())?;
    let built = case.build(setup)?;
    let set = match &case.traffic {
        Traffic::Operation(_) => CUSTOM.to_owned(),
        Traffic::Message(test, values) => set_name(test, planned.set.as_deref(), values),
        Traffic::Exchange(test, values) => set_name(test, planned.set.as_deref(), values),
    };
    let planned = PlannedCase { set: Some(set), ..planned.clone() }.with(case.pairs());
    let lacking = methods.iter().filter(|method| !case.has(&built, method));
    let OverlapSetting { configuration, .. } = case.setting;
    let (message, rank_bytes) = (case.message(&built, setup.ranks), case.rank_bytes(&built, setup.ranks));
    Ok(Prepared {
        process_settings: ProcessSettings {
            threads: case.setting.cores(),
            configuration,
            ..ProcessSettings::default()
        },
        lacking: lacking.map(|method| (method.clone(), "")).collect(),
        ..Prepared::new(planned, case.to_string(), move || message, rank_bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::super::methods::METHODS;
    use super::*;

    #[test]
    fn a_case_has_the_methods_of_what_it_communicates() {
        let prepared = |test: &str| {
            let case = PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
            let case = case.with([("matrix_order", "8".to_owned())]);
            let methods: Vec<String> = METHODS.iter().map(|row| row.name.to_owned()).collect();
            prepare(&case, &methods, Context { ranks: 4, seed: 1 }).unwrap()
        };
        let methods = |test| {
            let prepared = prepared(test);
            METHODS.iter().map(|row| row.name).filter(|name| prepared.has(name)).collect::<Vec<_>>()
        };
        assert_eq!(methods("ibcast"), ["nonblocking", "persistent"]);
        assert!(methods("nas_lu_y").contains(&"mpi_pack") && !methods("nas_lu_y").contains(&"nonblocking"));
        // A layout has no hand-written methods.
        let all = ["reference", "loop", "mpi_pack", "engine", "ddt", "persistent_ddt"];
        assert_eq!(methods("layout"), all);
        assert!(methods("halo:layout").contains(&"loop") && !methods("halo:layout").contains(&"manual"));
        assert!(methods("halo:nas_mg").contains(&"ineighbor_alltoallw"));
    }
}

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

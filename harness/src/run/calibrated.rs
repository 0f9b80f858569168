//! Calibration on the first MPI of a run before its cases can be measured: finds the sizes that take given times.

use std::path::Path;

use super::{Observer, Run, RunError, put_long_values};
use crate::experiments::Kind;
use crate::experiments::overlap::calibration::OverlapCalibration;
use crate::experiments::planned::Selected;
use crate::model::calibration::CalibratedSize;
use crate::model::conditions::Conditions;
use crate::model::event::Event;
use crate::mpi::{MpiError, Target};
use crate::plan::{CheckedPlan, Plan};

use super::Unit;

/// The cases of a plan with their sizes. `None` if none was missing, or if the user wants to stop. `dir` is
/// the folder of the run.
///
/// # Errors
/// If the rank program cannot be started, or does not find a size.
pub fn calibrated(
    plan: &Plan,
    target: &Target,
    dir: &Path,
    observer: &mut dyn Observer,
) -> Result<Option<Selected>, RunError> {
    if plan.experiment != Kind::Overlap {
        return Ok(None);
    }
    let Some(calibration) = OverlapCalibration::from_cases(&plan.cases) else { return Ok(None) };
    let cases = calibration.requests(&plan.methods, plan.context()).map_err(RunError::Calibration)?;
    let planned = cases.iter().map(|case| case.planned.clone()).collect();
    let plan = Plan { launches: Some(1), cases: planned, ..plan.clone() };
    let mut checked = CheckedPlan { plan, cases, notes: Vec::new() };
    put_long_values(&mut checked, dir)?;
    let run = Run { plan: &checked, targets: std::slice::from_ref(target) };
    let mut sizes = Vec::new();
    for case in 0..checked.cases.len() {
        let unit = Unit { case, conditions: Conditions::default(), target: 0, launch: 0 };
        let name = run.case(unit).test;
        observer.note(&format!("finding sizes: {name}"));
        let mut listener = Listener { observer: &mut *observer, sizes: Vec::new() };
        match run.finish(unit, None, &mut listener) {
            Err(RunError::Mpi(MpiError::Interrupted)) => return Ok(None),
            Err(error) => return Err(error),
            Ok((methods, None)) => return Err(run.never_began(unit, &methods, "twice")),
            Ok((methods, Some(_))) => {
                let details = methods.iter().filter_map(|method| method.outcome.detail());
                let details: Vec<&str> = details.collect();
                // A method that fails here fails again when it is measured, and is reported then.
                if listener.sizes.is_empty() {
                    let why = format!("no sizes were found for {name}: {}", details.join("; "));
                    return Err(RunError::Calibration(why));
                }
            }
        }
        sizes.push(listener.sizes);
    }
    Ok(Some(calibration.frozen(&sizes)))
}

/// Collects reported sizes, and passes on messages.
struct Listener<'a> {
    observer: &'a mut dyn Observer,
    sizes: Vec<CalibratedSize>,
}

impl Observer for Listener<'_> {
    fn received(&mut self, event: &Event) {
        if let Event::Size(size) = event {
            self.sizes.push(*size);
        }
    }

    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }
}

//! Runs a case from its first event to its last, for any kind of experiment.

use common::limits::Limits;
use common::model::Case;
use common::model::event::{Event, Hello};
use common::model::load::Load;

use super::experiment::ScheduledCase;
use super::schedule;

/// Measures `methods`, and reports their results: as events, or as a table of `case`. Collective.
/// Calls of MPI that fail before the end of the measurements end the job.
pub fn run_case<'a>(
    mut experiment: impl ScheduledCase<'a>,
    hello: Hello,
    methods: &[String],
    limits: Limits,
    case: Case,
) -> anyhow::Result<u8> {
    let kind = case.experiment;
    experiment.job().guard_memory();
    let waits_for_cores = Load::from_hello(&hello).is_some_and(|load| load.runnable_threads > load.cores);
    experiment.job().reporter.report(&Event::Hello(Box::new(hello)));
    let begun = experiment.job().begin(waits_for_cores);
    let measured = begun.and_then(|()| schedule::run(&mut experiment, kind, methods, limits));
    if let Err(error) = measured {
        experiment.job().abort(&error);
    }
    experiment.job().finish()?;
    let reporter = &mut experiment.job().reporter;
    reporter.table(&case, limits.rule);
    Ok(reporter.exit_code())
}

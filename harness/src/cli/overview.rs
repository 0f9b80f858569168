//! The best of each MPI of a run or of several, next to each other, in each state of the machine.

use std::fs;
use std::path::Path;

use anyhow::Context;
use ddtbench::compare::{ComparisonUnit, Overview, Settings, Side, Weights};
use ddtbench::model::Record;
use ddtbench::report::compared::Compared;
use ddtbench::report::names::{distinct, grouped};

/// From so many MPIs on, their best methods next to each other are the answer, and come before all else.
const SEVERAL: usize = 3;

/// Reads the weights of tests.
///
/// # Errors
/// The mistake in the file, with its key.
pub(super) fn weights(file: &Path) -> anyhow::Result<Weights> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| name.clone())?;
    Weights::parse(&name, &text).map_err(anyhow::Error::msg)
}

/// The best of each MPI; an MPI of several runs is a side in each of them.
///
/// # Errors
/// A weight without a test.
pub(super) fn overviews(launches: &[Record], weights: Option<&Weights>) -> anyhow::Result<Vec<Overview>> {
    let runs = distinct(launches.iter().map(|record| record.case.run.as_str()));
    let sides = grouped(launches, |record| (record.case.mpi_label(), record.case.run.as_str()));
    let is_in_several = |label: &str| sides.keys().filter(|(other, _)| other == label).count() > 1;
    let name = |label: &str, run: &str| match runs.len() > 1 && is_in_several(label) {
        true => format!("{label}, {run}"),
        false => label.to_owned(),
    };
    let side = |((label, run), records): (&(String, &str), &Vec<&Record>)| {
        Side::from_records(&name(label, run), records.iter().copied(), ComparisonUnit::Launch)
    };
    let sides: Vec<Side> = sides.iter().map(side).collect();
    Overview::of_states(&sides, &Settings::default(), weights).map_err(anyhow::Error::msg)
}

/// Adds them as the first sections, if there are several MPIs or weights; their pictures are always added.
pub(super) fn add<'a>(compared: &mut Compared<'a>, overviews: &'a [Overview]) {
    let is_answer =
        |overview: &&Overview| overview.sides.len() >= SEVERAL || !overview.means.weights.is_empty();
    compared.sections.splice(0..0, Overview::sections(overviews.iter().filter(is_answer)));
    compared.changes.extend(overviews.iter().flat_map(Overview::marks));
}

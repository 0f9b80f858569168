//! The table of the fastest copies on this processor: measured once, or again by `ddtbench engine --tune`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, anyhow};
use common::tuning::{Processor, Row, Table, Tuned, measure};
use ddtbench::mpi::Project;

use super::output::{self, log};

/// The folder of the tables, with one for this processor: it is measured if there is none that can be used. `None` if it
/// cannot be stored; then the tables that are shipped are used.
pub(super) fn ready(project: &Project) -> Option<PathBuf> {
    let folder = project.tuning_folder();
    let processor = Processor::this()?;
    match stored(&folder, &processor) {
        Ok(Some(_)) => return Some(folder),
        Ok(None) => {}
        Err(reason) => log(&format!("warning: ignored: {reason}")),
    }
    match measured(&folder, &processor) {
        Ok(_) => Some(folder),
        Err(error) => {
            log(&format!("warning: fastest copies not stored: {error:#}"));
            None
        }
    }
}

/// The table that was measured on this processor, if there is one.
///
/// # Errors
/// If there is a table that cannot be used.
pub(super) fn known() -> Result<Option<Tuned>, String> {
    let (Ok(project), Some(processor)) = (Project::locate(), Processor::this()) else { return Ok(None) };
    stored(&project.tuning_folder(), &processor)
}

fn stored(folder: &Path, processor: &Processor) -> Result<Option<Tuned>, String> {
    let table = Table::read(folder, processor).map_err(|error| error.to_string())?;
    table.map(|table| table.tuned()).transpose()
}

fn measured(folder: &Path, processor: &Processor) -> anyhow::Result<Table> {
    let start = Instant::now();
    let table = Table::new(processor, measure());
    table.write(folder, processor).with_context(|| folder.display().to_string())?;
    let changed = table.rows.iter().filter(|row| row.is_changed()).count();
    log(&format!(
        "measured the fastest copies on this processor in {:.1} s: {changed} of {} differ from those that are shipped",
        start.elapsed().as_secs_f64(),
        table.rows.len()
    ));
    Ok(table)
}

/// Measures again, stores the table and prints it.
pub(super) fn execute() -> anyhow::Result<ExitCode> {
    let project = Project::locate()?;
    let processor =
        Processor::this().ok_or_else(|| anyhow!("the system does not describe this processor"))?;
    let table = measured(&project.tuning_folder(), &processor)?;
    let lines: String = table.rows.iter().map(line).collect();
    output::print_text(&format!("{}\n{lines}", processor.model))?;
    Ok(ExitCode::SUCCESS)
}

/// `* engine, one run of 1025 to 4096 bytes, pack: memcpy, 90.5 GB/s; next: 32-byte vectors, 75.8`
fn line(row: &Row) -> String {
    let Row { part, class, direction, way, bytes_per_s, next, .. } = row;
    let next = next.as_ref().map(|(way, bytes_per_s)| format!("; next: {way}, {:.1}", bytes_per_s / 1e9));
    let mark = if row.is_changed() { "*" } else { " " };
    let next = next.unwrap_or_default();
    format!("{mark} {part}, {class}, {direction}: {way}, {:.1} GB/s{next}\n", bytes_per_s / 1e9)
}

//! The tables of the fastest copies that this process uses.

use std::path::Path;
use std::sync::OnceLock;

use common::tuning::{Processor, Table, Tuned};
use kernels::Tuning;

/// The engine's table, and where it came from.
static USED: OnceLock<(Tuning, String)> = OnceLock::new();

/// Uses the tables in a folder that were measured on this processor. Called before anything is compiled or packed.
pub fn read(folder: Option<&Path>) {
    let (Tuned { engine, loops }, source) = match folder.map_or(Ok(None), of_this_processor) {
        Ok(Some(tuned)) => tuned,
        Ok(None) => (Tuned::default(), "shipped".to_owned()),
        Err(reason) => (Tuned::default(), format!("shipped; ignored: {reason}")),
    };
    loops.install();
    let _ = USED.set((engine, source));
}

/// The tables, and their description.
fn of_this_processor(folder: &Path) -> Result<Option<(Tuned, String)>, String> {
    let Some(processor) = Processor::this() else { return Ok(None) };
    let table = Table::read(folder, &processor).map_err(|error| error.to_string())?;
    let described = |table: Table| {
        let changes: Vec<String> = table.changes().collect();
        let source = match changes.is_empty() {
            true => "measured on this processor: as shipped".to_owned(),
            false => format!("measured on this processor: {}", changes.join("; ")),
        };
        Ok((table.tuned()?, source))
    };
    table.map(described).transpose()
}

fn used() -> &'static (Tuning, String) {
    USED.get_or_init(|| (Tuning::shipped(), "shipped".to_owned()))
}

/// The table for the pack engine.
pub fn engine() -> &'static Tuning {
    &used().0
}

/// Whether the tables are those that are shipped, or were measured, with the differences; and why a file was ignored.
pub fn source() -> &'static str {
    &used().1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_table_is_ignored_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let processor = Processor::this().expect("a processor that the system describes");
        assert!(of_this_processor(folder.path()).unwrap().is_none());
        std::fs::write(Table::path(folder.path(), &processor), "{").unwrap();
        let reason = of_this_processor(folder.path()).unwrap_err();
        assert!(reason.contains("damaged: "), "{reason}");
    }
}

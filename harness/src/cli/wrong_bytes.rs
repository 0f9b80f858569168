//! The next step if methods moved wrong bytes: the layout as a file, and the command that finds the operation at fault.

use std::fs;
use std::path::Path;

use anyhow::Context;
use apps::{Layouts, Side, WireOrder};
use ddtbench::experiments::pingpong;
use ddtbench::model::{OWN, Record};
use ddtbench::mpi::{Source, Target, Variant};
use ddtbench::plan::CheckedPlan;

/// Commands that are shown; the others differ in the MPI or the layout only.
const MOST: usize = 3;

/// Writes the layouts of cases with wrong bytes to the folder, and returns commands that try all operations on them.
pub fn commands(
    checked: &CheckedPlan,
    targets: &[Target],
    over: &[Record],
    folder: &Path,
) -> anyhow::Result<Vec<String>> {
    let mut commands: Vec<String> = Vec::new();
    for (number, (planned, params)) in checked.named_cases().into_iter().enumerate() {
        let is_wrong = |record: &&Record| {
            let case = &record.case;
            record.outcome.is_wrong()
                && record.method != OWN
                && case.test == planned.test
                && *case.params == *params
        };
        let mut of_mpis: Vec<(&str, &str)> = over
            .iter()
            .filter(is_wrong)
            .map(|record| (&*record.case.mpi, &*record.case.mpi_variant))
            .collect();
        of_mpis.dedup();
        if of_mpis.is_empty() || commands.len() == MOST {
            continue;
        }
        // Layouts that cannot be written as text, and those of other kinds of experiments, have no file.
        let Some(text) = pingpong::message(planned, checked.plan.context()).ok().and_then(|app| {
            let side = |side| {
                Layouts::from_message(&app.message(side, WireOrder::Ddt)).ok().map(|all| all.to_string())
            };
            let (sent, received) = (side(Side::Send)?, side(Side::Receive)?);
            Some(if sent == received { sent } else { format!("{sent}\n+ {received}") })
        }) else {
            continue;
        };
        let file = folder.join(format!("{}-{}.layout", planned.test, number + 1));
        fs::write(&file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
        let of_mpi = |(mpi, variant): (&str, &str)| {
            let target =
                targets.iter().find(|target| target.installation.name == mpi && target.variant == variant);
            let known = target.map(|target| &target.installation);
            let name = match known {
                Some(known) if known.source == Source::MpiccVariable => known.mpicc.display().to_string(),
                _ => mpi.to_owned(),
            };
            let is_own = |own: &&Variant| own.name == variant && own.is_of(mpi);
            let flag = checked.plan.variants.iter().find(is_own).map_or_else(String::new, |own| {
                format!(" --variant '{}:{}'", own.name, own.settings().collect::<Vec<_>>().join(","))
            });
            format!("ddtbench conform --mpi {name}{flag} --replay {}", file.display())
        };
        commands.extend(of_mpis.into_iter().map(of_mpi));
        commands.truncate(MOST);
    }
    Ok(commands)
}

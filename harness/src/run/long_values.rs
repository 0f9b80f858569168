//! Values that are too long for a command line. Ranks read them from files in the folder of the run.

use std::path::Path;

use crate::folder::{self, FolderError};
use crate::plan::CheckedPlan;

/// Maximum bytes of an argument: Linux allows 128 KiB, and launchers add quotes and names.
const MOST: usize = 100_000;

/// Writes long values to files in the folder of the run, `dir`, and passes the files to the rank program: `send=@FILE`.
///
/// # Errors
/// If a file cannot be written.
pub fn put_long_values(plan: &mut CheckedPlan, dir: &Path) -> Result<(), FolderError> {
    for (i, case) in plan.cases.iter_mut().enumerate() {
        for argument in case.arguments.iter_mut().filter(|argument| argument.len() > MOST) {
            let Some((name, value)) = argument.split_once('=') else { continue };
            let file = folder::keep_value(dir, &format!("{}-{name}.txt", i + 1), value)?;
            *argument = format!("{name}=@{}", file.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::planned::PlannedCase;
    use crate::plan::Plan;

    #[test]
    fn only_long_values_are_put_into_files() {
        let layout = |count: usize| {
            let send = format!("indexed_block(1,[{}0],double)", "9,".repeat(count));
            let params = [("send", send), ("receive", format!("contiguous({},double)", count + 1))];
            PlannedCase { test: "layout".to_owned(), ..PlannedCase::default() }.with(params)
        };
        let mut plan = Plan { cases: vec![layout(10), layout(60_000)], ..Plan::default() }.check().unwrap();
        let dir = tempfile::tempdir().unwrap();
        put_long_values(&mut plan, dir.path()).unwrap();
        let value = |case: usize, name: &str| {
            let prefix = format!("{name}=");
            plan.cases[case].arguments.iter().find_map(|text| text.strip_prefix(&prefix)).unwrap().to_owned()
        };
        assert_eq!(value(0, "send"), plan.plan.cases[0].params["send"]);
        assert_eq!(value(1, "receive"), "contiguous(60001,double)");
        let file = value(1, "send");
        let text = std::fs::read_to_string(file.strip_prefix('@').unwrap()).unwrap();
        assert_eq!(text, plan.plan.cases[1].params["send"]);
    }
}

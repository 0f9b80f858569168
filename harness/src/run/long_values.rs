//! Values that are too long for a command line. Ranks read them from files in the folder of the run.

use std::path::Path;

use crate::folder::{self, FolderError};
use crate::plan::CheckedPlan;

/// Maximum bytes of an argument: Linux allows 128 KiB, and launchers add quotes and names.
const MOST: usize = 100_000;

/// Writes long values to files in the folder of the run, `dir`, and passes the files to the rank program: `send=@FILE`.
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

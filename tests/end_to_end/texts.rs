//! Texts of commands and their output: after a line `# TITLE` the command after `$ `, then its output.
//! `SNAPSHOTS=overwrite cargo test --release -p ddtbench-tests -- FILTER` writes the current output.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use snapbox::{Assert, Data, RedactedValue, Redactions};

use super::setup::root;

/// Values that differ between machines and runs: the placeholder in the texts, and a pattern with the value as the group `redacted`.
const DIFFERS: [(&str, &str); 3] = [
    ("[AVAILABLE]", r"(?<redacted>[0-9.]+ GiB) (are )?available"),
    // From the launcher's exit code, or from what it prints.
    ("[KILLED]", r"crashed: (?<redacted>.*(SIGKILL|signal 9).*)"),
    ("[MPIS]", r"no MPI is called `\S+`; known: (?<redacted>.+?)\. "),
];

/// The files of a folder next to this one.
pub fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = root().join("tests/end_to_end").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("it can be read").path()).filter(|path| path.is_file()).collect()
}

pub fn name_of(text: &Path) -> String {
    text.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

/// Fails unless each command of a text prints the expected output. `begin` is called with each title, and
/// decides whether the commands below it run.
pub fn expect_as_in(text: &Path, mut begin: impl FnMut(&str) -> bool, print: impl Fn(&str) -> String) {
    let expected = fs::read_to_string(text).expect("it can be read");
    let mut printed = String::new();
    let mut is_typed = true;
    for line in expected.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            is_typed = begin(title);
        }
        match line.strip_prefix("$ ") {
            Some(command) if is_typed => printed += &format!("{line}\n{}\n", print(command)),
            _ if !is_typed || line.starts_with("# ") => printed += &format!("{line}\n"),
            _ => {}
        }
    }
    let mut redactions = Redactions::new();
    for (placeholder, pattern) in DIFFERS {
        let value = RedactedValue::from(Regex::new(pattern).expect("a pattern"));
        redactions.insert(placeholder, value).expect("a placeholder");
    }
    Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false)
        .redact_with(redactions)
        .eq(printed, Data::read_from(text, None));
}

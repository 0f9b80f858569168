//! What must be refused: at once, with exit code 2 and a message that names what is wrong, and leaving nothing.
//!
//! `refusals/` has a text per command: what is typed, and all that is printed then. They are typed in a copy of `refusals/files/`.
//! `SNAPSHOTS=overwrite cargo test --release -p ddtbench-tests refused` writes what is printed now.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use regex::Regex;
use snapbox::{Assert, Data, RedactedValue, Redactions};

use super::job::{everything_in, run};
use super::setup::{ddtbench, root};
use super::trial::beside_others;

/// What differs between machines: its placeholder in the texts, and a pattern with it as the group `redacted`.
const OF_THE_MACHINE: [(&str, &str); 2] = [
    ("[AVAILABLE]", r"(?<redacted>[0-9.]+ GiB) (are )?available"),
    ("[MPIS]", r"no MPI is called `\S+`; there are: (?<redacted>[^.]+)\."),
];

pub fn trials() -> Vec<Trial> {
    let texts = files_in(&root().join("tests/end_to_end/refusals"));
    let refused = texts.into_iter().map(|text| {
        let name = text.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        beside_others(format!("refused::{name}"), move || as_in(&text))
    });
    let state = beside_others("refused::a file for what is installed and built", a_state_that_is_a_file);
    refused.chain([state]).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("it can be read").path()).filter(|path| path.is_file()).collect()
}

/// Fails unless each command of a text is refused, in the words there.
fn as_in(text: &Path) {
    let expected = fs::read_to_string(text).expect("it can be read");
    let typed = expected.lines().filter(|line| line.starts_with("# ") || line.starts_with("$ "));
    let printed: String = typed
        .map(|line| match line.strip_prefix("$ ddtbench ") {
            Some(command) => format!("{line}\n{}\n", refused(&shlex::split(command).expect("whole quotes"))),
            None => format!("{line}\n"),
        })
        .collect();
    let mut redactions = Redactions::new();
    for (placeholder, pattern) in OF_THE_MACHINE {
        let value = RedactedValue::from(Regex::new(pattern).expect("a pattern"));
        redactions.insert(placeholder, value).expect("a placeholder");
    }
    Assert::new().action_env("SNAPSHOTS").redact_with(redactions).eq(printed, Data::read_from(text, None));
}

/// What `ddtbench` prints where it refuses; it must leave the folder that it runs in as it was.
fn refused(arguments: &[String]) -> String {
    let dir = tempfile::tempdir().unwrap();
    for file in files_in(&root().join("tests/end_to_end/refusals/files")) {
        fs::copy(&file, dir.path().join(file.file_name().expect("a file has a name"))).unwrap();
    }
    // A folder of somebody's own.
    fs::create_dir(dir.path().join("mine")).unwrap();
    fs::write(dir.path().join("mine/thesis.txt"), "the only copy").unwrap();
    let before = everything_in(dir.path());
    let ended = run(ddtbench(dir.path()).args(arguments)).expect_code(2);
    assert!(ended.err.starts_with("error:") && ended.out.is_empty(), "{ended}");
    assert_eq!(everything_in(dir.path()), before, "{ended}");
    assert_eq!(fs::read_to_string(dir.path().join("mine/thesis.txt")).unwrap(), "the only copy");
    ended.err
}

fn a_state_that_is_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let ended = run(ddtbench(dir.path()).arg("doctor").env("DDTBENCH_STATE", "/dev/null")).expect_code(2);
    ended.expect_err(&["/dev/null is not a folder", "DDTBENCH_STATE"]);
}

//! Refusals: at once, with exit code 2 and a message that names the error, and without leaving any file.
//!
//! `refusals/` has the commands and their complete output. They are typed in a copy of `refusals/files/`.

use std::fs;

use libtest_mimic::Trial;

use super::job::{everything_in, run};
use super::setup::ddtbench;
use super::texts::{expect_as_in, files_in, name_of};
use super::trial::beside_others;
use super::typed::typed;

pub fn trials() -> Vec<Trial> {
    let refused = files_in("refusals").into_iter().map(|text| {
        beside_others(format!("refused::{}", name_of(&text)), move || expect_as_in(&text, |_| true, refused))
    });
    let state = beside_others("refused::a file as the folder of MPIs", a_state_that_is_a_file);
    refused.chain([state]).collect()
}

/// Output of `ddtbench` when it refuses; its working directory must stay as it was.
fn refused(command: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    for file in files_in("refusals/files") {
        fs::copy(&file, dir.path().join(file.file_name().expect("a file has a name"))).unwrap();
    }
    // A folder of the user.
    fs::create_dir(dir.path().join("mine")).unwrap();
    fs::write(dir.path().join("mine/thesis.txt"), "the only copy").unwrap();
    let before = everything_in(dir.path());
    let line = command.strip_prefix("ddtbench ").expect("a command of ddtbench");
    let ended = run(&mut typed(dir.path(), line)).expect_code(2);
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

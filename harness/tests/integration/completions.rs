//! Values that a shell completes, asked for as bash does.

use std::process::Command;

/// The values for the last word of a command line, without flags.
fn offered(line: &str) -> Vec<String> {
    let index = line.split(' ').count() - 1;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index.to_string());
    let output = command.arg("--").args(line.split(' ')).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|word| !word.starts_with('-')).map(|word| word.trim_end().to_owned()).collect()
}

#[test]
fn values_that_are_known_are_offered() {
    for (line, expected) in [
        ("ddtbench figure hlrs-", &["hlrs-3", "hlrs-4", "hlrs-5", "hlrs-6"][..]),
        ("ddtbench run nas_lu_y -m ddt,packed_to_d", &["ddt,packed_to_ddt"]),
        ("ddtbench run -p receive_st", &["receive_start="]),
        ("ddtbench --set 408x", &["408x408"]),
        ("ddtbench halo nas_", &["nas_lu", "nas_mg"]),
        ("ddtbench overlap iredu", &["ireduce"]),
        ("ddtbench list partitioned:par", &["partitioned:parrived", "partitioned:parrived_progress"]),
    ] {
        assert_eq!(offered(line), expected, "{line}");
    }
}

#[test]
fn every_shell_has_a_script_that_asks_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
        let output = command.env("COMPLETE", shell).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("COMPLETE") && script.contains("ddtbench"), "{shell}: {script}");
    }
}

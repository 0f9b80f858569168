//! Commands that are typed on every MPI, and their results: `typed/` has a text per theme.
//!
//! Each title begins in a new folder with the files of `typed/files/` and `examples/loops/`. A measurement
//! with `ddtbench` shows its exit code and the outcome of each method; its results are in `out`, its output
//! is in `printed` and `errors`. The rank program shows its exit code and its output. `FAULTY_MPI` before
//! either makes the MPI wrong on purpose: each fault must be found and named, and affect only its method.
//!
//! Any other command is typed into a shell. It shows its output, and errors without messages about progress. The shell knows the name of
//! the MPI (`MPI`), its wrapper and its launcher, and the library of faults; `./rows` shows columns of a table.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use ddtbench::experiments::Kind;
use libtest_mimic::Trial;
use tempfile::TempDir;

use super::faulty_mpi;
use super::job::run;
use super::results::Row;
use super::setup::{self, MPIS, Mpi, like_ddtbench};
use super::texts::{expect_as_in, files_in, name_of};
use super::trial::beside_others;
use super::typed::{Kept, Measuring, mpiexec, words};

pub fn trials() -> Vec<Trial> {
    let texts = files_in("typed");
    let on = |name: &'static str, text: &PathBuf, mpi: fn(&'static str) -> &'static Mpi| {
        let text = text.clone();
        // Most of them abort, hang, or end at once.
        beside_others(format!("{name}::typed::{}", name_of(&text)), move || as_in(&text, mpi(name)))
    };
    let of_device = texts.iter().filter(|text| name_of(text) == "device");
    let intel = of_device.map(|text| on(INTEL, text, |_| setup::intel()));
    MPIS.into_iter()
        .flat_map(|name| texts.iter().map(move |text| on(name, text, setup::mpi)))
        .chain(intel)
        .collect()
}

/// The MPI that takes memory of a device.
const INTEL: &str = "impi";

/// A title can begin with the name of an MPI; its commands then run only on that one. Others do not run on Intel MPI.
fn as_in(text: &Path, mpi: &Mpi) {
    // Some commands use both.
    for name in MPIS {
        setup::mpi(name);
    }
    let folder = RefCell::new(Rc::new(tempfile::tempdir().unwrap()));
    let begin = |title: &str| {
        let new = tempfile::tempdir().unwrap();
        for file in [files_in("typed/files"), files_in("../../examples/loops")].concat() {
            fs::copy(&file, new.path().join(file.file_name().expect("a file has a name"))).unwrap();
        }
        folder.replace(Rc::new(new));
        let mut named = MPIS.into_iter().chain([INTEL]).filter(|name| title.starts_with(name));
        named.next().map_or(mpi.name != INTEL, |name| name == mpi.name)
    };
    expect_as_in(text, begin, |command| what_comes_of(mpi, command, &folder.borrow()));
}

fn what_comes_of(mpi: &Mpi, command: &str, folder: &Rc<TempDir>) -> String {
    let words = words(command);
    let variables: Vec<_> = words.iter().map_while(|word| word.split_once('=')).collect();
    let (program, arguments) = words[variables.len()..].split_first().expect("a program");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_measured = |line: &[&str]| {
        let is_kind = Kind::ALL.iter().any(|kind| line.first() == Some(&kind.row().command));
        is_kind && !line.iter().any(|word| ["--mpi", "--resume", "--dry-run", "|"].contains(word))
    };
    match (&**program, &arguments[..]) {
        ("ddtbench", line) if is_measured(line) => {
            let line = shlex::try_join(line.iter().copied()).expect("no zero bytes");
            let measuring = Measuring::within(mpi, line, Rc::clone(folder));
            let measuring = variables.iter().fold(measuring, |measuring, &variable| match variable {
                ("FAULTY_MPI", fault) => measuring.fault(fault),
                (name, value) if name.starts_with("FAULTY_MPI_") => measuring.ranks_see(name, value),
                (name, value) => measuring.env(name, value),
            });
            let kept = measuring.ends_in(&[0, 1, 2]);
            fs::write(folder.path().join("printed"), &kept.ended.out).unwrap();
            fs::write(folder.path().join("errors"), &kept.ended.err).unwrap();
            match kept.ended.code {
                Some(2) => format!("exit code 2\n{}", kept.ended.error()),
                _ => ends_of(&kept),
            }
        }
        ("mpiexec", ["-n", ranks, "ddtbench-rank", line @ ..]) => {
            printed(mpiexec(mpi, mpi, ranks).envs(variables).args(line))
        }
        ("ddtbench-rank", line) => printed(mpi.command(&mpi.rank_program).args(line)),
        _ => {
            let mut shell = like_ddtbench("sh", folder.path());
            shell.env("MPI", mpi.name).env("MPIEXEC", &mpi.mpiexec).env("WRAPPER", &mpi.mpicc);
            if mpi.name != INTEL {
                shell.env("FAULTY", faulty_mpi::library(mpi));
            }
            run(shell.args(["-c", command])).shown().replace(&*folder.path().to_string_lossy(), "DIR")
        }
    }
}
/// The outcomes of a run's methods. A method without figures has no phases.
fn ends_of(kept: &Kept) -> String {
    assert!(kept.ended.out.contains("results: "), "{}", kept.ended);
    let cases: BTreeSet<_> = kept.summary.0.iter().map(|row| [row.get("test"), row.get("params")]).collect();
    let end = |row: &Row| {
        let [test, params, method, outcome, detail] =
            ["test", "params", "method", "outcome", "detail"].map(|column| row.get(column));
        // With its parameters if a test has several cases.
        let is_only = cases.iter().filter(|case| case[0] == test).count() == 1;
        let case = if is_only { test.to_owned() } else { format!("{test} {params}") };
        if row.is_measured() {
            assert!(row.has_figures(), "{row:?}");
            return format!("{case} {method}: measured\n");
        }
        let of_method = kept.summary.with(&[("test", test), ("params", params), ("method", method)]);
        assert!(of_method.len() == 1 && row.number("median_s").is_none(), "{of_method:?}");
        format!("{case} {method}: {outcome}: {}\n", detail.replace('\n', " | "))
    };
    let ends: BTreeSet<String> = kept.summary.ends().into_iter().map(end).collect();
    format!("exit code {}\n{}", kept.ended.code.expect("it has one"), ends.into_iter().collect::<String>())
}

/// Output of the rank program: its table, and its errors among the output of the launcher.
fn printed(command: &mut Command) -> String {
    let ended = run(command);
    let errors = ended.err.lines().filter(|line| line.contains("error:")).map(|line| format!("{line}\n"));
    format!("exit code {}\n{}{}", ended.code.expect("it has one"), ended.out, errors.collect::<String>())
}

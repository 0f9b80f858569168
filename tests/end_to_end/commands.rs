//! Commands that are typed on every MPI, and their results: `typed/` has a text per theme.
//!
//! A text for `ddtbench` has the exit code and the outcome of each method; a text for the rank program has the exit
//! code and its output. Variables at the start of a command are set for the ranks. `FAULTY_MPI` makes the MPI wrong
//! on purpose: each fault must be found and named, and affect only its method.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use super::job::run;
use super::results::Row;
use super::setup::{self, MPIS, Mpi};
use super::texts::{expect_as_in, files_in, name_of};
use super::trial::beside_others;
use super::typed::{Kept, Measuring, mpiexec, words};

pub fn trials() -> Vec<Trial> {
    let texts = files_in("typed");
    let on = |name: &'static str| {
        texts.iter().cloned().map(move |text| {
            // Most of them abort, hang, or end at once.
            beside_others(format!("{name}::typed::{}", name_of(&text)), move || {
                as_in(&text, setup::mpi(name))
            })
        })
    };
    MPIS.into_iter().flat_map(on).collect()
}

/// A title can begin with the name of an MPI; its commands then run only on that one.
fn as_in(text: &Path, mpi: &Mpi) {
    let is_of_it = |title: &str| MPIS.iter().all(|name| *name == mpi.name || !title.starts_with(name));
    expect_as_in(text, is_of_it, |command| what_comes_of(mpi, command));
}

fn what_comes_of(mpi: &Mpi, command: &str) -> String {
    let words = words(command);
    let variables: Vec<_> = words.iter().map_while(|word| word.split_once('=')).collect();
    let (program, arguments) = words[variables.len()..].split_first().expect("a program");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match (&**program, &arguments[..]) {
        ("ddtbench", line) => {
            let line = shlex::try_join(line.iter().copied()).expect("no zero bytes");
            let measuring =
                variables.iter().fold(Measuring::on(mpi, line), |measuring, &variable| match variable {
                    ("FAULTY_MPI", fault) => measuring.fault(fault),
                    (name, value) => measuring.ranks_see(name, value),
                });
            ends_of(&measuring.ends_in(&[0, 1]))
        }
        ("mpiexec", ["-n", ranks, "ddtbench-rank", line @ ..]) => {
            printed(mpiexec(mpi, mpi, ranks).envs(variables).args(line))
        }
        ("ddtbench-rank", line) => printed(mpi.command(&mpi.rank_program).args(line)),
        _ => panic!("no command: {command}"),
    }
}

/// The outcomes of a run's methods. A method without figures has no phases.
fn ends_of(kept: &Kept) -> String {
    assert!(kept.ended.out.contains("results: "), "{}", kept.ended);
    let end = |row: &Row| {
        let [test, params, method, outcome, detail] =
            ["test", "params", "method", "outcome", "detail"].map(|column| row.get(column));
        if row.is_measured() {
            assert!(row.number("median_s") > Some(0.0), "{row:?}");
            return format!("{test} {method}: measured\n");
        }
        let of_method = kept.summary.with(&[("test", test), ("params", params), ("method", method)]);
        assert!(of_method.len() == 1 && row.number("median_s").is_none(), "{of_method:?}");
        format!("{test} {method}: {outcome}: {}\n", detail.replace('\n', " | "))
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

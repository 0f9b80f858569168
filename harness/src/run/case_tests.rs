use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::event::{Block, Outcome};
use crate::folder::{self, Folder};
use crate::mpi::Installation;
use crate::plan::PlannedCase;
use crate::record::{Case, Phase};
use crate::run::{End, Environment};
use crate::times::Times;

/// Stands in for a launcher: measures each method in no time, but is killed at `mpi_pack`, hangs at `ddt`, and
/// finds wrong data with `put_ddt`.
const LAUNCHER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = --method ] && methods=$(echo "$2" | tr , ' '); shift; done
echo "$methods" >> "${0%/*}/starts"
cat "${0%/*}/hello"
for m in $methods; do
    printf '{"event":"working","method":"%s","stage":"measure"}\n' "$m"
    case $m in
        mpi_pack) echo "it hurts" >&2; kill -9 $$;;
        ddt) exec sleep 1000;;
        put_ddt) printf '{"event":"ended","method":"%s","outcome":{"outcome":"wrong_data","detail":"byte 7"}}\n' "$m"; continue;;
    esac
    for round in 0 1 2 3 4 5 6 7; do
        sed "s/METHOD/$m/; s/\"block\":0/\"block\":$round/" "${0%/*}/block"
    done
    printf '{"event":"ended","method":"%s","outcome":{"outcome":"converged"}}\n' "$m"
done
echo '{"event":"done"}'
"#;

/// Rounds of each of its processes.
const ROUNDS: usize = 8;

#[derive(Default)]
struct Silent(Vec<String>);

impl Observer for Silent {
    fn begins(&mut self, _: usize, _: usize, _: &str) {}
    fn method_ended(&mut self, _: &str) {}
    fn note(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
    fn ended(&mut self, _: &[Measured], _: Duration) {}
    fn skipped(&mut self, case: &Case) {
        self.0.push(format!("skipped {}", case.test));
    }
}

fn fake_mpi(folder: &Path) -> Installation {
    let mpiexec = folder.join("launch");
    std::fs::write(&mpiexec, LAUNCHER).unwrap();
    std::fs::set_permissions(&mpiexec, std::fs::Permissions::from_mode(0o755)).unwrap();
    let hello = Hello { library_version: "fake 1".to_owned(), ..Hello::default() };
    let block = Block {
        method: "METHOD".to_owned(),
        batch: 1,
        times: Times::from([(Phase::RoundTrip, vec![1e-6; 9])]),
        ..Block::default()
    };
    for (name, event) in [("hello", Event::Hello(Box::new(hello))), ("block", Event::Block(block))] {
        std::fs::write(folder.join(name), serde_json::to_string(&event).unwrap() + "\n").unwrap();
    }
    Installation::fake(mpiexec)
}

fn plan(tests: &[&str]) -> Plan {
    let case = |&test: &&str| PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
    let mut plan = Plan { cases: tests.iter().map(case).collect(), ..Plan::default() };
    plan.limits.timeout_s = 1.0;
    plan.check().unwrap();
    plan
}

#[test]
fn methods_that_crash_or_hang_take_no_other_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let (mpi, plan) = (fake_mpi(folder.path()), plan(&["wrf_x_vec"]));
    let run = Run { plan: &plan, installation: &mpi, program: Path::new("ddtbench-rank") };
    let mut observer = Silent::default();
    let finished = run.finish(0, &mut observer).unwrap();
    let Finished::Case(methods, hello) = finished else { panic!("{finished:?}") };

    assert_eq!(hello.unwrap().library_version, "fake 1");
    let names: Vec<_> = methods.iter().map(|method| method.method.clone()).collect();
    assert_eq!(names, plan.methods);
    let of = |name: &str| methods.iter().find(|method| method.method == name).unwrap();
    let Outcome::Crashed { detail } = &of("mpi_pack").outcome else { panic!("{:?}", of("mpi_pack")) };
    assert!(detail.contains("SIGKILL") && detail.contains("it hurts"), "{detail}");
    let Outcome::TimedOut { detail } = &of("ddt").outcome else { panic!("{:?}", of("ddt")) };
    assert!(detail.contains("1 s"), "{detail}");
    assert_eq!(of("put_ddt").outcome.label(), "wrong data");
    let failed = ["mpi_pack", "ddt", "put_ddt"];
    for name in plan.methods.iter().filter(|name| !failed.contains(&name.as_str())) {
        assert_eq!((&of(name).outcome, of(name).blocks.len()), (&Outcome::Converged, ROUNDS), "{name}");
    }
    let starts = std::fs::read_to_string(folder.path().join("starts")).unwrap();
    let starts: Vec<_> = starts.lines().map(|line| line.split(' ').count()).collect();
    let after = |name: &str| plan.methods.iter().rev().take_while(|method| *method != name).count();
    let left = [plan.methods.len(), after("mpi_pack"), after("ddt")];
    assert_eq!(starts, left, "each process gets what has no outcome yet");
    assert_eq!(observer.0.len(), 2, "{:?}", observer.0);
}

#[test]
fn rounds_of_two_processes_are_not_compared() {
    let place = tempfile::tempdir().unwrap();
    let mpi = fake_mpi(place.path());
    let mut plan = plan(&["wrf_x_vec"]);
    plan.methods = ["reference", "manual", "mpi_pack", "engine", "put_manual"].map(str::to_owned).to_vec();
    let run = Run { plan: &plan, installation: &mpi, program: Path::new("ddtbench-rank") };
    let mut environment = Environment::now("now".to_owned(), &mpi, run.command_line(0).unwrap());
    let path = place.path().join("run");
    let mut folder = Folder::create(&path, &plan).unwrap();
    run.all(&mut folder, &HashSet::new(), &mut environment, &mut Silent::default()).unwrap();
    drop(folder);

    // The first process measured two methods and crashed at `mpi_pack`.
    let mut blocks = csv::Reader::from_path(path.join(folder::BLOCKS)).unwrap();
    let mut rounds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for block in blocks.deserialize::<BTreeMap<String, String>>().map(Result::unwrap) {
        rounds.entry(block["method"].clone()).or_default().push(block["block"].parse().unwrap());
    }
    let (first, second): (Vec<usize>, Vec<usize>) = ((0..ROUNDS).collect(), (ROUNDS..2 * ROUNDS).collect());
    for (method, expected) in
        [("reference", &first), ("manual", &first), ("engine", &second), ("put_manual", &second)]
    {
        assert_eq!(rounds[method], *expected, "{method}");
    }
    let records = folder::read_records(&path).unwrap();
    let of = |name: &str| {
        let mut of_method = records.iter().filter(|record| record.method == name);
        of_method.find(|record| record.phase == Phase::RoundTrip).unwrap()
    };
    assert!(of("reference").over_manual.is_some(), "both ran in the first process");
    let engine = of("engine");
    assert_eq!((engine.n, engine.over_manual, engine.overhead_reference), (ROUNDS * 9, None, None));
}

#[test]
fn a_launcher_that_fails_is_every_methods_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let (mut mpi, plan) = (fake_mpi(folder.path()), plan(&["wrf_x_vec"]));
    mpi.mpiexec = "false".into();
    let run = Run { plan: &plan, installation: &mpi, program: Path::new("ddtbench-rank") };
    let finished = run.finish(0, &mut Silent::default()).unwrap();
    let Finished::Case(methods, None) = finished else { panic!("{finished:?}") };
    assert!(methods.iter().all(|method| method.outcome.label() == "crashed"));
    let message = run.message(0, None);
    assert!(message.bytes > 0 && message.segments > 0, "{message:?}");
}

#[test]
fn a_resumed_run_does_only_what_is_left() {
    let place = tempfile::tempdir().unwrap();
    let mpi = fake_mpi(place.path());
    let mut plan = plan(&["wrf_x_vec", "fft2d"]);
    plan.methods = vec!["reference".to_owned(), "manual".to_owned()];
    let run = Run { plan: &plan, installation: &mpi, program: Path::new("ddtbench-rank") };
    let mut environment = Environment::now("now".to_owned(), &mpi, run.command_line(0).unwrap());
    let path = place.path().join("run");
    let mut folder = Folder::create(&path, &plan).unwrap();
    let (end, records) =
        run.all(&mut folder, &HashSet::new(), &mut environment, &mut Silent::default()).unwrap();
    assert_eq!(end, End::Complete);
    assert_eq!(folder::done(&records, &plan).len(), 2);
    drop(folder);
    assert_eq!(Environment::read(&path.join(folder::ENVIRONMENT)), Some(environment.clone()));

    // As if killed while the last rows were written.
    let summary = path.join(folder::SUMMARY);
    let whole = std::fs::read_to_string(&summary).unwrap();
    std::fs::write(&summary, &whole[..whole.len() - 5]).unwrap();
    let (mut folder, resumed, kept) = Folder::resume(&path).unwrap();
    assert_eq!(resumed, plan);
    let done = folder::done(&kept, &plan);
    let mut observer = Silent::default();
    let (_, new) = run.all(&mut folder, &done, &mut environment, &mut observer).unwrap();
    assert_eq!(observer.0, ["skipped wrf_x_vec"]);
    assert!(new.iter().all(|record| record.test == "fft2d"));
    assert_eq!(std::fs::read_to_string(&summary).unwrap(), whole);
}

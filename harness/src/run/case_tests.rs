use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use flate2::read::MultiGzDecoder;

use super::*;
use crate::experiments::planned::PlannedCase;
use crate::folder::{self, About, Done, Folder, Recorded};
use crate::model::conditions::Conditions;
use crate::model::event::{Block, Event, VERSION};
use crate::model::{Case, Outcome, Phase, Quantity, Record, Times};
use crate::mpi::{Installation, Target, fake_program};
use crate::plan::CheckedPlan;
use crate::run::{Environment, Part, RunEnd};

/// Replaces a launcher: measures each method in no time, but is killed at `mpi_pack`, hangs at `ddt`, and
/// finds wrong data with `put_ddt` and with `own`, together with which `loop` crashes.
const LAUNCHER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = --method ] && methods=$(echo "$2" | tr , ' '); shift; done
echo "$methods" >> "${0%/*}/starts"
cat "${0%/*}/hello"
for m in $methods; do
    printf '{"event":"working","method":"%s","stage":"measure"}\n' "$m"
    case $m in
        mpi_pack) echo "it hurts" >&2; kill -9 $$;;
        ddt) exec sleep 1000;;
        loop) case $methods in *own*) kill -9 $$;; esac;;
        put_ddt|own) printf '{"event":"ended","method":"%s","outcome":{"outcome":"wrong_data","detail":"byte 7"}}\n' "$m"; continue;;
    esac
    for round in 0 1 2 3 4 5 6 7; do
        sed "s/METHOD/$m/; s/\"block\":0/\"block\":$round/" "${0%/*}/block"
    done
    printf '{"event":"ended","method":"%s","outcome":{"outcome":"converged"}}\n' "$m"
done
echo '{"event":"done"}'
"#;

const ROUNDS: usize = 8;

#[derive(Default)]
struct Silent(Vec<String>);

impl Observer for Silent {
    fn note(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
    fn skipped(&mut self, case: &Case) {
        self.0.push(format!("skipped {}", case.test));
    }
    fn ended(&mut self, methods: &[Measured], _: Duration) {
        if methods.iter().any(|method| !method.outcome.is_measured()) {
            self.0.push("failed".to_owned());
        }
    }
}

fn fake_mpi(folder: &Path) -> Target {
    fake_mpi_of(LAUNCHER, folder)
}

fn fake_mpi_of(launcher: &str, folder: &Path) -> Target {
    let mpiexec = fake_program(folder.join("launch"), launcher);
    let hello = Hello { version: VERSION, library_version: "fake 1".to_owned(), ..Hello::default() };
    let block = Block {
        method: "METHOD".to_owned(),
        batch: 1,
        times: Times::from([(Phase::RoundTrip, vec![1e-6; 9])]),
        ..Block::default()
    };
    for (name, event) in [("hello", Event::Hello(Box::new(hello))), ("block", Event::Block(Box::new(block)))]
    {
        std::fs::write(folder.join(name), serde_json::to_string(&event).unwrap() + "\n").unwrap();
    }
    let installation = Installation::fake(mpiexec);
    Target::fake(installation, "ddtbench-rank")
}

fn plan(tests: &[&str], methods: &[&str]) -> CheckedPlan {
    let case = |&test: &&str| PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
    let mut plan = Plan { cases: tests.iter().map(case).collect(), launches: Some(1), ..Plan::default() };
    plan.limits.timeout_s = 1.0;
    if !methods.is_empty() {
        plan.methods = methods.iter().map(|&method| method.to_owned()).collect();
    }
    plan.check().unwrap()
}

fn about(plan: &CheckedPlan) -> About {
    let phases = plan.plan.experiment.phases();
    About { plan: plan.plan.to_toml(), phases, numbers: plan.number_names() }
}

struct Made {
    folder: Folder,
    environment: Environment,
    ended: Result<(RunEnd, Vec<Record>), RunError>,
    reported: Vec<String>,
}

/// Runs all of it into a new folder.
fn into_folder(run: &Run<'_>, path: &Path) -> Made {
    let mut environment =
        Environment::from_part(run.plan.plan.to_toml(), Part::now("now".to_owned(), run, 0).unwrap());
    let mut folder = Folder::create(path, about(run.plan)).unwrap();
    let mut observer = Silent::default();
    let ended = run.measure(&run.units(), &mut folder, &HashSet::new(), &mut environment, &mut observer);
    Made { folder, environment, ended, reported: observer.0 }
}

fn done(records: &[Record], plan: &CheckedPlan) -> Done {
    Recorded::done(records, plan.plan.experiment.headline(), |_| Some(plan.plan.methods.clone()))
}

/// The first launch of a case.
fn unit(case: usize) -> Unit {
    Unit { case, conditions: Conditions::default(), target: 0, launch: 0 }
}

#[test]
fn methods_that_crash_or_hang_take_no_other_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let (targets, plan) = ([fake_mpi(folder.path())], plan(&["wrf_x_vec"], &[]));
    let run = Run { plan: &plan, targets: &targets };
    let methods_of_plan = &plan.plan.methods;
    let mut observer = Silent::default();
    let (methods, hello) = run.finish(unit(0), None, &mut observer).unwrap();

    assert_eq!(hello.unwrap().library_version, "fake 1");
    let names: Vec<_> = methods.iter().map(|method| method.method.clone()).collect();
    assert_eq!(names, *methods_of_plan);
    let of = |name: &str| methods.iter().find(|method| method.method == name).unwrap();
    let Outcome::Crashed { detail } = &of("mpi_pack").outcome else { panic!("{:?}", of("mpi_pack")) };
    assert!(["SIGKILL", "it hurts", " while measuring"].iter().all(|part| detail.contains(part)), "{detail}");
    let Outcome::TimedOut { detail } = &of("ddt").outcome else { panic!("{:?}", of("ddt")) };
    assert!(detail.contains("1 s"), "{detail}");
    assert_eq!(of("put_ddt").outcome.label(), "wrong data");
    let failed = ["mpi_pack", "ddt", "put_ddt"];
    for name in methods_of_plan.iter().filter(|name| !failed.contains(&name.as_str())) {
        assert_eq!((&of(name).outcome, of(name).blocks.len()), (&Outcome::Converged, ROUNDS), "{name}");
    }
    let starts = std::fs::read_to_string(folder.path().join("starts")).unwrap();
    let starts: Vec<_> = starts.lines().map(|line| line.split(' ').count()).collect();
    let after = |name: &str| methods_of_plan.iter().rev().take_while(|method| *method != name).count();
    let left = [methods_of_plan.len(), after("mpi_pack"), after("ddt")];
    assert_eq!(starts, left, "each process gets the methods without an outcome");
    assert_eq!(observer.0.len(), 2, "{:?}", observer.0);
}

#[test]
fn labels_of_a_launcher_cost_nothing_and_a_bad_end_is_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let labels = "#!/bin/sh\nsh \"${0%/*}/job\" \"$@\" | sed 's/^/0: /'\nexit 7\n";
    let targets = [fake_mpi_of(labels, folder.path())];
    std::fs::write(folder.path().join("job"), LAUNCHER).unwrap();
    let plan = plan(&["wrf_x_vec", "nas_lu_y"], &["reference", "manual"]);
    let run = Run { plan: &plan, targets: &targets };
    let Made { ended, reported, .. } = into_folder(&run, &folder.path().join("run"));
    let (_, records) = ended.unwrap();
    assert!(records.iter().all(|record| record.outcome == Outcome::Converged), "{records:?}");
    let [note] = &reported[..] else { panic!("{reported:?}") };
    assert!(note.contains("exit code 7"), "{note}");
}

#[test]
fn a_rank_program_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let targets = [fake_mpi(folder.path())];
    let hello = Event::Hello(Box::new(Hello { version: VERSION ^ 1, ..Hello::default() }));
    std::fs::write(folder.path().join("hello"), serde_json::to_string(&hello).unwrap() + "\n").unwrap();
    let plan = plan(&["wrf_x_vec"], &["reference"]);
    let error =
        Run { plan: &plan, targets: &targets }.finish(unit(0), None, &mut Silent::default()).unwrap_err();
    assert!(error.to_string().contains("from another version of ddtbench"), "{error}");
}

#[test]
fn what_fails_beside_a_wrong_loop_of_the_user_runs_again() {
    let dir = tempfile::tempdir().unwrap();
    let case = PlannedCase { test: "wrf_x_vec".to_owned(), ..PlannedCase::default() };
    let methods = ["own", "loop"].map(str::to_owned).into();
    let (pack, launches) = (Some("mine.c".into()), Some(1));
    let plan = Plan { cases: vec![case], launches, methods, pack, ..Plan::default() }.check().unwrap();
    let targets = [fake_mpi(dir.path())];
    let run = Run { plan: &plan, targets: &targets };
    let (methods, _) = run.finish(run.units()[0], None, &mut Silent::default()).unwrap();
    let outcomes: Vec<_> = methods.iter().map(|method| method.outcome.label()).collect();
    assert_eq!(outcomes, ["wrong data", "converged"]);
    // An endless one is not started in later launches.
    let outcome = Outcome::TimedOut { detail: String::new() };
    let endless = Measured { outcome, ..methods[0].clone() };
    let (methods, _) = run.finish(run.units()[0], Some(&endless), &mut Silent::default()).unwrap();
    assert_eq!(methods[0].outcome.label(), "timed out");
}

#[test]
fn rounds_of_two_processes_are_not_compared() {
    let place = tempfile::tempdir().unwrap();
    let targets = [fake_mpi(place.path())];
    let plan = plan(&["wrf_x_vec"], &["reference", "manual", "mpi_pack", "engine", "put_manual"]);
    let run = Run { plan: &plan, targets: &targets };
    let path = place.path().join("run");
    drop(into_folder(&run, &path));

    // The first process measured two methods and crashed at `mpi_pack`.
    let mut blocks = csv::Reader::from_reader(MultiGzDecoder::new(
        std::fs::File::open(path.join(folder::BLOCKS)).unwrap(),
    ));
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
    assert!(of("reference").over("manual").is_some(), "both ran in the first process");
    let engine = of("engine");
    assert_eq!(
        (engine.n, engine.over("manual"), engine.figure(Quantity::OverheadReference)),
        (ROUNDS * 9, None, None)
    );
}

#[test]
fn a_launcher_that_fails_is_every_methods_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let (mut targets, plan) = ([fake_mpi(folder.path())], plan(&["wrf_x_vec"], &[]));
    targets[0].installation.mpiexec = "false".into();
    let run = Run { plan: &plan, targets: &targets };
    let (methods, hello) = run.finish(unit(0), None, &mut Silent::default()).unwrap();
    assert!(hello.is_none() && methods.iter().all(|method| method.outcome.label() == "crashed"));
    let message = run.result(unit(0), run.case(unit(0)), methods, None).message;
    assert!(message.bytes > 0 && message.segments > 0, "{message:?}");
}

#[test]
fn cases_are_named_by_their_sets_and_by_values_that_differ() {
    let values = |test: &str, values: &[(&str, &str)]| PlannedCase {
        test: test.to_owned(),
        params: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..PlannedCase::default()
    };
    let face = |face| values("subarray", &[("shape", "70x70x70x7"), ("face", face)]);
    let cases =
        vec![face("x+"), face("y+"), values("nas_lu_y", &[]), values("contiguous", &[("bytes", "77")])];
    let plan = Plan { cases, ..Plan::default() }.check().unwrap();
    assert_eq!(plan.names(), ["subarray face=x+", "subarray face=y+", "nas_lu_y 408x408", "contiguous"]);
}

#[test]
fn a_resumed_run_does_only_what_is_left() {
    let place = tempfile::tempdir().unwrap();
    let targets = [fake_mpi(place.path())];
    let plan = plan(&["wrf_x_vec", "fft2d"], &["reference", "manual"]);
    let run = Run { plan: &plan, targets: &targets };
    let path = place.path().join("run");
    let Made { folder, mut environment, ended, .. } = into_folder(&run, &path);
    let (end, records) = ended.unwrap();
    assert_eq!(end, RunEnd::Complete);
    assert_eq!(done(&records, &plan).len(), 2);
    drop(folder);
    assert_eq!(Environment::read(&path.join(folder::ENVIRONMENT)), Ok(Some(environment.clone())));

    // As if killed while the last rows were written.
    let launches = path.join(folder::LAUNCHES);
    let whole = std::fs::read_to_string(&launches).unwrap();
    std::fs::write(&launches, &whole[..whole.len() - 5]).unwrap();
    let recorded = Recorded::open(&path).unwrap();
    assert_eq!(Plan::parse(&recorded.plan).unwrap(), plan.plan);
    let done = done(&recorded.records, &plan);
    let (mut folder, _) = recorded.resume(&done, about(&plan)).unwrap();
    let mut observer = Silent::default();
    let (_, new) = run.measure(&run.units(), &mut folder, &done, &mut environment, &mut observer).unwrap();
    let last = records.last().unwrap().case.test.as_str();
    let first = if last == "fft2d" { "wrf_x_vec" } else { "fft2d" };
    assert_eq!(observer.0, [format!("skipped {first}")]);
    assert!(new.iter().all(|record| record.case.test == last));
    assert_eq!(std::fs::read_to_string(&launches).unwrap(), whole);
}

#[test]
fn a_launcher_under_which_no_process_begins_ends_the_run_at_its_first_case() {
    let place = tempfile::tempdir().unwrap();
    let mut targets = [fake_mpi(place.path())];
    let launcher = "#!/bin/sh\necho x >> \"${0%/*}/tries\"; echo 'no such PMI' >&2; exit 3\n";
    targets[0].installation.mpiexec = fake_program(place.path().join("broken"), launcher);
    let plan = plan(&["wrf_x_vec", "fft2d"], &["reference", "manual"]);
    let run = Run { plan: &plan, targets: &targets };
    let Made { folder, ended, reported, .. } = into_folder(&run, &place.path().join("run"));
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("broken") && error.contains("no such PMI"), "{error}");
    assert_eq!(reported, [""; 0], "the error is the only report");
    assert_eq!(
        std::fs::read_to_string(place.path().join("tries")).unwrap(),
        "x\nx\n",
        "once more, then no more"
    );
    assert!(folder.discard(), "nothing was kept");
}

#[test]
fn a_launcher_that_breaks_in_the_middle_of_a_run_ends_it_and_costs_no_case() {
    let place = tempfile::tempdir().unwrap();
    let breaks =
        "[ -e \"${0%/*}/starts\" ] && [ ! -e \"${0%/*}/repaired\" ] && { echo 'no port' >&2; exit 3; }\n";
    let launcher = LAUNCHER.replacen('\n', &format!("\n{breaks}"), 1);
    let targets = [fake_mpi_of(&launcher, place.path())];
    let plan =
        plan(&["wrf_x_vec", "fft2d", "nas_mg_x", "milc_su3_zd", "contiguous"], &["reference", "manual"]);
    let run = Run { plan: &plan, targets: &targets };
    let path = place.path().join("run");
    let Made { folder, mut environment, ended, .. } = into_folder(&run, &path);
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("three cases in a row") && error.contains("no port"), "{error}");
    drop(folder);
    let recorded = Recorded::open(&path).unwrap();
    let done = done(&recorded.records, &plan);
    assert_eq!(done.len(), 1, "no case was reported as crashed");

    std::fs::write(place.path().join("repaired"), "").unwrap();
    let (mut folder, _) = recorded.resume(&done, about(&plan)).unwrap();
    let (end, new) =
        run.measure(&run.units(), &mut folder, &done, &mut environment, &mut Silent::default()).unwrap();
    assert_eq!(end, RunEnd::Complete);
    assert!(new.iter().all(|record| record.outcome == Outcome::Converged));
    assert_eq!(self::done(&new, &plan).len(), 4);
}

//! Flags that say how a run is started and when it ends: what comes of them, in what is started and in what is counted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::Value;

use super::job::{Ended, run};
use super::results::Summary;
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, on_every_mpi};

/// A case whose times do not matter.
const CASE: [&str; 5] = ["contiguous", "-p", "bytes=8", "-m", "reference"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("another launcher is started, with the options that are given", another_launcher),
        ("ranks are bound, unless it is said", binding),
        ("limits reach the ranks", ends),
    ];
    on_every_mpi("conditions", checks)
}

/// The launcher of an MPI, but one that keeps what it was started with.
struct Recorder {
    launcher: PathBuf,
    words: PathBuf,
}

impl Recorder {
    /// It has the MPI's own name, by which its options are known.
    fn new(mpi: &Mpi, dir: &Path) -> Self {
        let launcher = dir.join("mpiexec");
        let words = dir.join("words");
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\nexec '{}' \"$@\"\n",
            words.display(),
            mpi.mpiexec.display()
        );
        fs::write(&launcher, script).unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        Self { launcher, words }
    }

    /// What stood between the launcher and the rank program when it was started last.
    #[track_caller]
    fn options(&self) -> Vec<String> {
        let words = fs::read_to_string(&self.words).expect("this launcher was started");
        fs::remove_file(&self.words).unwrap();
        let options = words.lines().take_while(|word| !word.ends_with("/ddtbench-rank"));
        options.map(str::to_owned).collect()
    }
}

/// A run with these flags into the folder `out`; the account of it that its ranks gave.
fn measure(mpi: &Mpi, dir: &Path, out: &str, flags: &[&str]) -> (Ended, Value) {
    let mut command = ddtbench(dir);
    command.arg("run").args(CASE).args(ONE_LAUNCH).args(["--mpi", mpi.name, "--out", out, "--min-runs", "4"]);
    if !flags.contains(&"--max-time") {
        command.args(["--max-time", "0.01"]);
    }
    // Last, since what follows `--` is the launcher's.
    let ended = run(command.args(flags)).expect_code(0);
    let environment = fs::read(dir.join(out).join("environment.json")).unwrap();
    let environment: Value = serde_json::from_slice(&environment).expect("JSON");
    (ended, environment["mpis"][0]["rank_program"].clone())
}

/// A variable that the rank programs see, as this launcher is told of it.
fn of_ranks(mpi: &Mpi) -> Vec<String> {
    let words: &[&str] = match mpi.name {
        "openmpi" => &["-x", "FI_LOG_LEVEL=warn"],
        _ => &["-genv", "FI_LOG_LEVEL", "warn"],
    };
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Whether the ranks saw it.
fn saw_it(ranks: &Value) -> bool {
    let settings = ranks["settings"].as_array().expect("settings of the ranks");
    settings.contains(&serde_json::json!(["FI_LOG_LEVEL", "warn"]))
}

fn another_launcher(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(mpi, dir.path());
    let launcher = recorder.launcher.to_str().unwrap();
    let given = of_ranks(mpi);
    let mut flags = vec!["--launcher", launcher, "--"];
    flags.extend(given.iter().map(String::as_str));
    let (ended, ranks) = measure(mpi, dir.path(), "with", &flags);
    let options = recorder.options();
    assert!(options.starts_with(&["-n".to_owned(), "2".to_owned()]), "{options:?}: {ended}");
    assert!(options.ends_with(&given), "{options:?}: {ended}");
    assert!(saw_it(&ranks), "{ranks}");
    let (_, ranks) = measure(mpi, dir.path(), "without", &["--launcher", launcher]);
    let options = recorder.options();
    assert!(!options.iter().any(|word| given.contains(word)) && !saw_it(&ranks), "{options:?} {ranks}");
}

/// Processors of each rank, as the system has told it.
fn processors(ranks: &Value) -> Vec<Vec<u64>> {
    let places = ranks["ranks"].as_array().expect("places of the ranks").iter();
    places.map(|place| serde_json::from_value(place["cpus"].clone()).expect("numbers")).collect()
}

fn binding(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let all = std::thread::available_parallelism().unwrap().get();
    let cores = ddtbench::mpi::cores();
    let (_, ranks) = measure(mpi, dir.path(), "bound", &[]);
    let places = processors(&ranks);
    assert_eq!(places.len(), 2, "{ranks}");
    if cores >= 2 {
        // A core each: all of its hardware threads at most.
        assert!(places.iter().all(|cpus| cpus.len() == all / cores), "{places:?}");
        assert!(places[0].iter().all(|cpu| !places[1].contains(cpu)), "{places:?}");
    }
    let (_, ranks) = measure(mpi, dir.path(), "free", &["--set-plan", "bind=false"]);
    let places = processors(&ranks);
    assert!(places.len() == 2 && places.iter().all(|cpus| cpus.len() == all), "{places:?}");
}

/// How limits end a run is tested where it is decided; here they reach the ranks.
fn ends(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let limits = ["--precision", "0.0000001", "--max-runs", "75", "--max-time", "60"];
    measure(mpi, dir.path(), "out", &limits);
    let summary = Summary::read(&dir.path().join("out"));
    let row = summary.end("contiguous", "reference");
    let number = |column| row.number(column).unwrap();
    assert!(row.is(&[("outcome", "run limit")]) && number("blocks") + number("blocks_other_state") >= 10.0);
    assert!(number("n") <= 75.0, "{row:?}");
}

//! Flags for the start and the end of a run, and their effects on the started processes and on the counts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::Value;

use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::{Kept, Measuring};

/// A case whose times do not matter.
const CASE: &str = "run contiguous -p bytes=8 -m reference --min-repetitions 4";
/// As short as possible.
const SHORT: &str = "--max-time 0.01";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("another launcher is started, with the options that are given", another_launcher),
        ("ranks are bound, unless it is said", binding),
        ("limits reach the ranks", ends),
        ("settings of files and of old names are conditions", settings),
    ];
    trials_on(&MPIS, Need::AllProcessors, "conditions", checks)
}

/// A launcher that runs the MPI's own and records its command line.
struct Recorder {
    launcher: PathBuf,
    words: PathBuf,
}

impl Recorder {
    /// It has the name of the MPI's own launcher, because that determines its options.
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

    /// The arguments between the launcher and the rank program at the last start.
    #[track_caller]
    fn options(&self) -> String {
        let words = fs::read_to_string(&self.words).expect("this launcher was started");
        fs::remove_file(&self.words).unwrap();
        let options = words.lines().take_while(|word| !word.ends_with("/ddtbench-rank"));
        options.collect::<Vec<_>>().join(" ")
    }
}

/// Whether the ranks saw the variable.
fn saw_it(ranks: &Value) -> bool {
    let settings = ranks["settings"].as_array().expect("settings of the ranks");
    settings.contains(&serde_json::json!(["FI_LOG_LEVEL", "warn"]))
}

fn another_launcher(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(mpi, dir.path());
    let line = format!("{CASE} {SHORT} --launcher {}", recorder.launcher.display());
    // A variable that the rank programs see, in the syntax of this launcher.
    let given = match mpi.name {
        "openmpi" => "-x FI_LOG_LEVEL=warn",
        _ => "-genv FI_LOG_LEVEL warn",
    };
    let with = Measuring::on(mpi, line.clone()).launcher(given).ends(0);
    let options = recorder.options();
    assert!(options.starts_with("-n 2 ") && options.ends_with(given), "{options}: {}", with.ended);
    assert!(saw_it(&with.account()), "{}", with.account());
    let without = Measuring::on(mpi, line).ends(0);
    let options = recorder.options();
    assert!(!options.contains("FI_LOG_LEVEL") && !saw_it(&without.account()), "{options}");
}

/// Processors of each rank, as reported by the system.
fn processors(ranks: &Value) -> Vec<Vec<u64>> {
    let places = ranks["ranks"].as_array().expect("places of the ranks").iter();
    places.map(|place| serde_json::from_value(place["cpus"].clone()).expect("numbers")).collect()
}

fn binding(mpi: &Mpi) {
    let all = std::thread::available_parallelism().unwrap().get();
    let cores = ddtbench::mpi::cores();
    let places = |flags: &str| {
        let kept = Measuring::on(mpi, format!("{CASE} {SHORT} {flags}")).ends(0);
        let places = processors(&kept.account());
        assert_eq!(places.len(), 2, "{}", kept.account());
        places
    };
    let bound = places("");
    if cores >= 2 {
        // One core per rank: at most all of its hardware threads.
        assert!(bound.iter().all(|cpus| cpus.len() == all / cores), "{bound:?}");
        assert!(bound[0].iter().all(|cpu| !bound[1].contains(cpu)), "{bound:?}");
    }
    let free = places("--set-plan bind=false");
    assert!(free.iter().all(|cpus| cpus.len() == all), "{free:?}");
}

/// Settings that no variable of the usual name shows: of a file in the user's home, or of a name that only the library knows.
fn settings(mpi: &Mpi) {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".openmpi")).unwrap();
    fs::write(home.path().join(".openmpi/mca-params.conf"), "btl_sm_eager_limit = 1024\n").unwrap();
    let (variable, value, expected) = match mpi.name {
        "openmpi" => ("HOME", home.path().to_str().unwrap(), ["btl_sm_eager_limit", "4096", "1024"]),
        _ => (
            "MPIR_PARAM_CH4_IPC_CMA_P2P_THRESHOLD",
            "77777",
            ["MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", "", "77777"],
        ),
    };
    let line = format!("{CASE} {SHORT}");
    let kept = Measuring::on(mpi, line.clone()).ends(0);
    let other = Measuring::on(mpi, line).env(variable, value).ends(0);
    let setting = |kept: &Kept| {
        let account =
            serde_json::from_value::<Vec<(String, String)>>(kept.account()["library_account"].clone());
        account.unwrap().into_iter().find(|(name, _)| name == expected[0]).expect("it is reported").1
    };
    assert_eq!(setting(&other), expected[2]);
    assert_ne!(setting(&kept), expected[2]);
    let compared = kept.types(&format!("compare out {}", other.out().display())).expect_code(2);
    assert!(compared.err.contains(expected[2]) && compared.err.contains(expected[1]), "{compared}");
}

/// The rules by which limits end a run are tested with their code. This test shows that they reach the ranks.
fn ends(mpi: &Mpi) {
    let limits = "--precision 0.0000001 --max-repetitions 75 --max-time 60";
    let summary = Measuring::on(mpi, format!("{CASE} {limits}")).ends(0).summary;
    let row = summary.end("contiguous", "reference");
    let number = |column| row.number(column).unwrap();
    assert!(row.is(&[("outcome", "run limit")]) && number("blocks") + number("blocks_other_state") >= 10.0);
    assert!(number("n") <= 75.0, "{row:?}");
}

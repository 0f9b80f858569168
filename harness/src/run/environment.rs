//! The account of machine, MPI and settings that lies beside the results.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use procfs::{CpuInfo, Current, Meminfo};
use serde::{Deserialize, Serialize};

use super::{Run, RunError, Target, Unit};
use crate::model::conditions::Cache;
use crate::model::event::Hello;
use crate::mpi::Installation;

/// What is in `environment.json`. What cannot be found out is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The run's id, which every row of its tables has.
    #[serde(default = "new_id")]
    pub run: String,
    /// When the run began, with the zone's offset.
    pub date: String,
    /// Version of this program.
    pub ddtbench_version: String,
    /// What tells this build of it from others.
    #[serde(default)]
    pub ddtbench_build: String,
    /// What was typed.
    pub command_line: Vec<String>,
    /// What was planned when it began; a plan that was edited since is refused.
    pub plan: String,
    /// The machine that started the run.
    pub machine: Machine,
    /// The MPIs, in the plan's order.
    pub mpis: Vec<MpiAccount>,
    /// When the run was resumed, by what, and where.
    #[serde(default)]
    pub resumed: Vec<Part>,
}

/// A part of a run, from when it was resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// When, with the zone's offset.
    pub date: String,
    /// Version of this program.
    pub ddtbench_version: String,
    /// What tells this build of it from others.
    #[serde(default)]
    pub ddtbench_build: String,
    /// The machine.
    pub machine: Machine,
    /// Cases of launches that were done before.
    pub done_before: usize,
}

/// A part of a run as a row: with it, host and date can be had from every other row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartRow<'a> {
    /// The run's id.
    pub run: &'a str,
    /// The part: 0 until the run was first resumed. Rows of launches have it too.
    pub part: usize,
    /// When it began, with the zone's offset.
    pub date: &'a str,
    /// Version of this program.
    pub ddtbench_version: &'a str,
    /// What tells the build from others of that version.
    pub ddtbench_build: &'a str,
    /// The machine that started it.
    pub host: Option<&'a str>,
    /// Its processor.
    pub cpu_model: Option<&'a str>,
    /// Its hardware threads.
    pub cpus: usize,
    /// System and version.
    pub kernel: Option<&'a str>,
}

impl<'a> PartRow<'a> {
    fn of(run: &'a str, part: usize, date: &'a str, build: [&'a str; 2], machine: &'a Machine) -> Self {
        let [ddtbench_version, ddtbench_build] = build;
        let Machine { host, cpu_model, cpus, kernel, .. } = machine;
        Self {
            run,
            part,
            date,
            ddtbench_version,
            ddtbench_build,
            host: host.as_deref(),
            cpu_model: cpu_model.as_deref(),
            cpus: *cpus,
            kernel: kernel.as_deref(),
        }
    }
}

/// An id that no other run has: the time, and what is drawn for it.
fn new_id() -> String {
    let drawn = RandomState::new().build_hasher().finish();
    format!("{}-{:06x}", jiff::Zoned::now().strftime("%Y%m%dT%H%M%S"), drawn >> 40)
}

/// What is known of an MPI of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MpiAccount {
    /// The MPI.
    pub mpi: MpiFacts,
    /// The name of its variant; empty for the MPI as it is.
    pub variant: String,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// What one would type to run the first case.
    pub first_case: String,
    /// The rank program's account of itself, of the first case that ended.
    pub rank_program: Option<Hello>,
}

/// The machine that started the run; on a cluster the ranks' machines may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub host: Option<String>,
    /// The processor.
    pub cpu_model: Option<String>,
    /// Its hardware threads.
    pub cpus: usize,
    /// The caches of the first processor, as `L1 Data 32K`.
    pub caches: Vec<String>,
    /// System and version.
    pub kernel: Option<String>,
    /// What sets the clock rate of the first processor.
    pub governor: Option<String>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
}

/// The MPI in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiFacts {
    /// Its name in this project.
    pub name: String,
    /// Whose library it is.
    pub family: String,
    /// The library's version.
    pub version: String,
    /// The compiler wrapper.
    pub mpicc: PathBuf,
    /// The launcher.
    pub mpiexec: PathBuf,
    /// How it came to be known.
    pub source: String,
}

impl From<&Installation> for MpiFacts {
    fn from(mpi: &Installation) -> Self {
        Self {
            name: mpi.name.clone(),
            family: mpi.family.title().to_owned(),
            version: mpi.version.clone(),
            mpicc: mpi.mpicc.clone(),
            mpiexec: mpi.mpiexec.clone(),
            source: mpi.source.label().to_owned(),
        }
    }
}

impl Environment {
    /// Of this moment, before any rank program has told anything.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn now(date: String, plan: String, run: &Run<'_>) -> Result<Self, RunError> {
        let unit = |target| Unit { case: 0, cache: Cache::default(), target, launch: 0 };
        let account = |(i, target): (usize, &Target)| {
            Ok(MpiAccount {
                mpi: (&target.installation).into(),
                variant: target.variant.clone(),
                env: target.installation.env.clone(),
                first_case: run.command_line(unit(i))?,
                rank_program: None,
            })
        };
        Ok(Self {
            run: new_id(),
            date,
            ddtbench_version: env!("CARGO_PKG_VERSION").to_owned(),
            ddtbench_build: build(),
            command_line: typed(),
            plan,
            machine: Machine::this(),
            mpis: run.targets.iter().enumerate().map(account).collect::<Result<_, RunError>>()?,
            resumed: Vec::new(),
        })
    }

    /// The parts of the run, as rows of a table.
    pub fn parts(&self) -> impl Iterator<Item = PartRow<'_>> {
        let build = [&*self.ddtbench_version, &self.ddtbench_build];
        let first = PartRow::of(&self.run, 0, &self.date, build, &self.machine);
        let resumed = self.resumed.iter().enumerate();
        std::iter::once(first).chain(resumed.map(|(i, part)| {
            let build = [&*part.ddtbench_version, &part.ddtbench_build];
            PartRow::of(&self.run, i + 1, &part.date, build, &part.machine)
        }))
    }

    /// The part that begins now.
    pub fn part(date: String, done_before: usize) -> Part {
        let ddtbench_version = env!("CARGO_PKG_VERSION").to_owned();
        Part { date, ddtbench_version, ddtbench_build: build(), machine: Machine::this(), done_before }
    }

    /// The number of the part that is under way.
    pub fn part_number(&self) -> usize {
        self.resumed.len()
    }

    /// What is to be said where a run goes on under other conditions than it began in.
    pub fn told_apart(&self, part: &Part) -> Vec<String> {
        const APART: &str = "its parts are told apart by the column `part`";
        let mut warnings = Vec::new();
        let machine = |machine: &Machine| [machine.host.clone(), machine.cpu_model.clone()];
        if machine(&self.machine) != machine(&part.machine) {
            let [host, cpu] = machine(&self.machine).map(|fact| fact.unwrap_or_else(|| "unknown".to_owned()));
            warnings.push(format!("warning: the run began on another machine, `{host}` ({cpu}); {APART}"));
        }
        let builds = [&self.ddtbench_build, &part.ddtbench_build];
        if part.ddtbench_version != self.ddtbench_version {
            warnings
                .push(format!("warning: the run was begun by ddtbench {}; {APART}", self.ddtbench_version));
        } else if builds[0] != builds[1] && !builds[0].is_empty() {
            warnings.push(format!("warning: the run was begun by another build of ddtbench; {APART}"));
        }
        warnings
    }

    /// Of an earlier run; `None` without the file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(file: &Path) -> Result<Option<Self>, String> {
        match fs::read(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", file.display())),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| format!("{}: {error}", file.display())),
        }
    }
}

impl Machine {
    /// This one, as it is now.
    pub fn this() -> Self {
        let cpu_info = CpuInfo::current().ok();
        let field = |name| Some(cpu_info.as_ref()?.get_field(0, name)?.to_owned());
        let system = word("/proc/sys/kernel/ostype");
        let release = word("/proc/sys/kernel/osrelease");
        Self {
            host: word("/proc/sys/kernel/hostname"),
            cpu_model: field("model name").or_else(|| field("CPU part")),
            cpus: cpu_info.as_ref().map_or(0, CpuInfo::num_cores),
            caches: caches(),
            kernel: system.zip(release).map(|(system, release)| format!("{system} {release}")),
            governor: word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
        }
    }
}

/// What tells this build of the program from others: a hash of its file; empty where that cannot be read.
fn build() -> String {
    // The program that runs, though another may have been built in its place meanwhile.
    let bytes = fs::read("/proc/self/exe").unwrap_or_default();
    if bytes.is_empty() {
        return String::new();
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    format!("{:016x}", hasher.finish())
}

/// What was typed to start this program.
fn typed() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn word(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn caches() -> Vec<String> {
    let cache = |i: usize| {
        let folder = PathBuf::from(format!("/sys/devices/system/cpu/cpu0/cache/index{i}"));
        let [level, kind, size] = ["level", "type", "size"].map(|name| word(folder.join(name)));
        Some(format!("L{} {} {}", level?, kind?, size?))
    };
    (0..).map_while(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_run_has_its_machine() {
        let machine = |host: &str| Machine { host: Some(host.to_owned()), ..Machine::default() };
        let part = |host: &str| Part { machine: machine(host), ..Environment::part("later".to_owned(), 3) };
        let environment = Environment {
            run: "id".to_owned(),
            date: "now".to_owned(),
            ddtbench_version: "0.1.0".to_owned(),
            ddtbench_build: "5".to_owned(),
            command_line: Vec::new(),
            plan: String::new(),
            machine: machine("a"),
            mpis: Vec::new(),
            resumed: vec![part("a"), part("b")],
        };
        assert_eq!(environment.part_number(), 2);
        assert_eq!(environment.parts().next().unwrap().ddtbench_build, "5");
        assert!(environment.parts().nth(1).unwrap().ddtbench_build.len() == 16, "of this program");
        let parts: Vec<_> = environment.parts().map(|row| (row.run, row.part, row.date, row.host)).collect();
        let expected =
            [("id", 0, "now", Some("a")), ("id", 1, "later", Some("a")), ("id", 2, "later", Some("b"))];
        assert_eq!(parts, expected);
        assert_ne!(new_id(), new_id());
    }

    #[test]
    fn another_machine_and_another_build_are_told_and_the_same_are_not() {
        let part = Environment::part(String::new(), 0);
        let begun = || Environment {
            run: String::new(),
            date: String::new(),
            ddtbench_version: part.ddtbench_version.clone(),
            ddtbench_build: part.ddtbench_build.clone(),
            command_line: Vec::new(),
            plan: String::new(),
            machine: part.machine.clone(),
            mpis: Vec::new(),
            resumed: Vec::new(),
        };
        assert_eq!(begun().told_apart(&part), [""; 0]);
        for elsewhere in [
            Machine { host: Some("login1".to_owned()), ..part.machine.clone() },
            Machine { cpu_model: None, ..part.machine.clone() },
        ] {
            let [warning] = &Environment { machine: elsewhere, ..begun() }.told_apart(&part)[..] else {
                panic!("it is one warning")
            };
            assert!(warning.contains("another machine") && warning.contains("column `part`"), "{warning}");
        }
        let other = Environment { ddtbench_build: "1".to_owned(), ..begun() };
        assert!(other.told_apart(&part)[0].contains("another build"));
        let unknown = Environment { ddtbench_build: String::new(), ..begun() };
        assert_eq!(unknown.told_apart(&part), [""; 0], "nobody knows which build it was");
        let older = Environment { ddtbench_version: "0.0.1".to_owned(), ..other };
        assert!(older.told_apart(&part)[0].contains("ddtbench 0.0.1"));
    }
}

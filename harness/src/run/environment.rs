//! The account of machine, MPI and settings that lies beside the results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::{Run, RunError, Unit};
use crate::folder::{ENVIRONMENT, Folder, FolderError, RUNS};
use crate::model::conditions::Cache;
use crate::model::event::{Hello, MessageFacts};
use crate::model::plain::from_json;
use crate::mpi::{Installation, Target};

/// What is in `environment.json`. What cannot be found out is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The run's id, which every row of its tables has.
    pub run: String,
    /// The part that it began with.
    #[serde(flatten)]
    pub begun: Part,
    /// What was planned when it began; a plan that was edited since is refused.
    pub plan: String,
    /// The parts that went on with it.
    pub resumed: Vec<Part>,
}

/// A part of a run: what was measured from when it began, or was resumed, until it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// When it began, with the zone's offset.
    pub date: String,
    /// Version of this program.
    pub ddtbench_version: String,
    /// What tells this build of it from others.
    pub ddtbench_build: String,
    /// What was typed.
    pub command_line: Vec<String>,
    /// The machine that started it.
    pub machine: Machine,
    /// The MPIs, in the plan's order.
    pub mpis: Vec<MpiAccount>,
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
    /// The hosts that its ranks were on, as far as a rank program has told.
    pub rank_hosts: String,
    /// Its MPIs: name, version and compiler wrapper of each.
    pub mpis: String,
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
    pub mpi: Installation,
    /// The name of its variant; empty for the MPI as it is.
    pub variant: String,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// What one would type to run the first case.
    pub first_case: String,
    /// The rank program's account of itself, of the first case that ended.
    pub rank_program: Option<Hello>,
}

impl MpiAccount {
    /// The account of an MPI whose first case is run by a command.
    pub fn of(target: &Target, first_case: String) -> Self {
        Self {
            mpi: target.installation.clone(),
            variant: target.variant.clone(),
            env: target.installation.env.clone(),
            first_case,
            rank_program: None,
        }
    }
}

impl Part {
    /// The part that begins now.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn now(date: String, run: &Run<'_>, done_before: usize) -> Result<Self, RunError> {
        let unit = |target| Unit { case: 0, cache: Cache::default(), target, launch: 0 };
        let account = |(i, target): (usize, &Target)| Ok(MpiAccount::of(target, run.command_line(unit(i))?));
        let mpis = run.targets.iter().enumerate().map(account).collect::<Result<_, RunError>>()?;
        Ok(Self { done_before, ..Self::of(date, mpis) })
    }

    /// The part that begins now, on these MPIs.
    pub fn of(date: String, mpis: Vec<MpiAccount>) -> Self {
        Self {
            date,
            ddtbench_version: env!("CARGO_PKG_VERSION").to_owned(),
            ddtbench_build: build(),
            command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            machine: Machine::this(),
            mpis,
            done_before: 0,
        }
    }

    fn row<'a>(&'a self, run: &'a str, part: usize) -> PartRow<'a> {
        let Machine { host, cpu_model, cpus, kernel, .. } = &self.machine;
        let ranks = self.mpis.iter().filter_map(|account| account.rank_program.as_ref());
        let hosts: BTreeSet<&str> =
            ranks.flat_map(|hello| &hello.ranks).map(|rank| rank.host.as_str()).collect();
        let mpi = |Installation { name, version, mpicc, .. }: &Installation| {
            format!("{name} {version} {}", mpicc.display())
        };
        let mpis: BTreeSet<String> = self.mpis.iter().map(|account| mpi(&account.mpi)).collect();
        PartRow {
            run,
            part,
            date: &self.date,
            ddtbench_version: &self.ddtbench_version,
            ddtbench_build: &self.ddtbench_build,
            host: host.as_deref(),
            cpu_model: cpu_model.as_deref(),
            cpus: *cpus,
            kernel: kernel.as_deref(),
            rank_hosts: Vec::from_iter(hosts).join("; "),
            mpis: Vec::from_iter(mpis).join("; "),
        }
    }

    /// The build of this program that measured it: version and hash; `None` where that was not recorded.
    pub fn build(&self) -> Option<String> {
        named(&self.ddtbench_version, &self.ddtbench_build)
    }

    /// Whether it was started on the machine of another part.
    fn shares_machine(&self, other: &Self) -> bool {
        let of = |part: &Self| [part.machine.host.clone(), part.machine.cpu_model.clone()];
        of(self) == of(other)
    }
}

impl Environment {
    /// Of a run whose first part begins.
    pub fn of(plan: String, begun: Part) -> Self {
        Self { run: new_id(), begun, plan, resumed: Vec::new() }
    }

    /// The builds of this program that measured its parts.
    pub fn builds(&self) -> BTreeSet<String> {
        self.parts().filter_map(Part::build).collect()
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.begun).chain(&self.resumed)
    }

    /// The parts of the run, as rows of a table.
    pub fn rows(&self) -> impl Iterator<Item = PartRow<'_>> {
        self.parts().enumerate().map(|(number, part)| part.row(&self.run, number))
    }

    /// The number of the part that is under way.
    pub fn part_number(&self) -> usize {
        self.resumed.len()
    }

    /// The part that is under way.
    pub fn part(&self) -> &Part {
        self.resumed.last().unwrap_or(&self.begun)
    }

    /// Keeps what the rank program has told of itself and of an MPI in the part under way; whether that is new.
    pub fn keep_account(&mut self, target: usize, hello: Hello) -> bool {
        let part = self.resumed.last_mut().unwrap_or(&mut self.begun);
        let known = &mut part.mpis[target].rank_program;
        let is_new = known.is_none();
        known.get_or_insert(Hello { message: MessageFacts::default(), ..hello });
        is_new
    }

    /// Where and on what a new part would run, if no part before did: on another machine, or on an MPI in another place.
    pub fn elsewhere(&self, part: &Part) -> Vec<String> {
        let mut all = Vec::new();
        if !self.parts().any(|earlier| earlier.shares_machine(part)) {
            let Machine { host, cpu_model, .. } = &self.begun.machine;
            let [host, cpu] = [host, cpu_model].map(|fact| fact.as_deref().unwrap_or("unknown"));
            all.push(format!("it began on another machine, `{host}` ({cpu})"));
        }
        for Installation { name, mpicc, .. } in part.mpis.iter().map(|account| &account.mpi) {
            let known = self.parts().flat_map(|part| &part.mpis).filter(|known| known.mpi.name == *name);
            let places: BTreeSet<&Path> = known.map(|known| known.mpi.mpicc.as_path()).collect();
            if let Some(place) = places.first().filter(|_| !places.contains(mpicc.as_path())) {
                let (now, then) = (mpicc.display(), place.display());
                all.push(format!("`{name}` lay in another place, {then}, and is {now} now"));
            }
        }
        all
    }

    /// What is to be said where another build of this program goes on.
    pub fn other_build(&self, part: &Part) -> Option<String> {
        const APART: &str = "its parts are told apart by the column `part`";
        let Part { ddtbench_version: version, ddtbench_build: build, .. } = &self.begun;
        if part.ddtbench_version != *version {
            return Some(format!("warning: the run was begun by ddtbench {version}; {APART}"));
        }
        let is_other = part.ddtbench_build != *build && !build.is_empty();
        is_other.then(|| format!("warning: the run was begun by another build of ddtbench; {APART}"))
    }

    /// Writes it into the run's folder, as a whole and as a table of the parts.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, folder: &Folder) -> Result<(), FolderError> {
        folder.write_json(ENVIRONMENT, self)?;
        folder.write_table(RUNS, &self.rows().collect::<Vec<_>>())
    }

    /// Of an earlier run; `None` without the file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(file: &Path) -> Result<Option<Self>, String> {
        match fs::read(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", file.display())),
            Ok(bytes) => {
                Self::parse(&bytes).map(Some).map_err(|error| format!("{}: {error}", file.display()))
            }
        }
    }

    /// Of the bytes of such a file.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        from_json(bytes)
    }
}

/// This build of the program, as [`Part::build`] names one.
pub fn this_build() -> Option<String> {
    named(env!("CARGO_PKG_VERSION"), &build())
}

fn named(version: &str, build: &str) -> Option<String> {
    (!build.is_empty()).then(|| format!("{version} ({build})"))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn part(host: &str) -> Part {
        let machine = Machine { host: Some(host.to_owned()), ..Machine::default() };
        let mpi = Installation {
            name: "mpich".to_owned(),
            version: "5.0.2".to_owned(),
            mpicc: "/a/bin/mpicc".into(),
            ..Installation::default()
        };
        let account = MpiAccount {
            mpi,
            variant: String::new(),
            env: BTreeMap::new(),
            first_case: String::new(),
            rank_program: None,
        };
        let [ddtbench_version, ddtbench_build] = ["0.1.0", "5"].map(str::to_owned);
        Part { ddtbench_version, ddtbench_build, machine, mpis: vec![account], ..Part::default() }
    }

    fn begun_on(host: &str, then: &[&str]) -> Environment {
        let resumed = then.iter().map(|host| part(host)).collect();
        Environment { resumed, ..Environment::of(String::new(), part(host)) }
    }

    #[test]
    fn every_part_of_a_run_has_its_machine_and_mpis() {
        let mut environment = begun_on("a", &["a", "b"]);
        assert_eq!((environment.part_number(), environment.part().machine.host.as_deref()), (2, Some("b")));
        assert!(environment.keep_account(0, Hello::default()), "it is the first");
        assert!(!environment.keep_account(0, Hello::default()));
        assert!(environment.begun.mpis[0].rank_program.is_none(), "that is of the part under way alone");
        let rows: Vec<_> = environment.rows().map(|row| (row.part, row.host.unwrap(), row.mpis)).collect();
        let mpi = "mpich 5.0.2 /a/bin/mpicc".to_owned();
        assert_eq!(rows, [(0, "a", mpi.clone()), (1, "a", mpi.clone()), (2, "b", mpi)]);
        assert_ne!(new_id(), new_id());
    }

    #[test]
    fn an_account_is_read_as_it_was_written() {
        let environment = begun_on("a", &["b"]);
        let text = serde_json::to_vec(&environment).unwrap();
        assert_eq!(Environment::parse(&text).unwrap(), environment);
    }

    #[test]
    fn another_machine_and_another_place_are_elsewhere() {
        assert_eq!(begun_on("a", &[]).elsewhere(&part("a")), [""; 0]);
        assert_eq!(begun_on("a", &["b"]).elsewhere(&part("b")), [""; 0], "it has gone on there before");
        let [difference] = &begun_on("a", &[]).elsewhere(&part("b"))[..] else { panic!("it is one thing") };
        assert!(difference.contains("another machine, `a`"), "{difference}");
        let mut other_processor = part("a");
        other_processor.machine.cpu_model = Some("other".to_owned());
        assert_eq!(begun_on("a", &[]).elsewhere(&other_processor).len(), 1);
        let mut moved = part("a");
        moved.mpis[0].mpi.mpicc = "/b/bin/mpicc".into();
        let [difference] = &begun_on("a", &[]).elsewhere(&moved)[..] else { panic!("it is one thing") };
        assert!(difference.contains("/a/bin/mpicc") && difference.contains("/b/bin/mpicc"), "{difference}");
    }

    #[test]
    fn another_build_is_reported() {
        let begun = begun_on("a", &[]);
        let by = |version: &str, build: &str| Part {
            ddtbench_version: version.to_owned(),
            ddtbench_build: build.to_owned(),
            ..part("a")
        };
        assert_eq!(begun.other_build(&part("a")), None);
        assert!(begun.other_build(&by("0.1.0", "1")).unwrap().contains("another build"));
        assert!(begun.other_build(&by("0.2.0", "1")).unwrap().contains("ddtbench 0.1.0"));
        let unknown = Environment::of(String::new(), by("0.1.0", ""));
        assert_eq!(unknown.other_build(&part("a")), None, "nobody knows which build it was");
    }

    #[test]
    fn all_builds_of_a_run_are_named_that_are_known() {
        let mut run = begun_on("a", &["a", "a"]);
        run.begun.ddtbench_build = "1".to_owned();
        run.resumed[0].ddtbench_build = "2".to_owned();
        run.resumed[1].ddtbench_build.clear();
        let version = &run.begun.ddtbench_version;
        assert_eq!(run.builds(), BTreeSet::from([format!("{version} (1)"), format!("{version} (2)")]));
    }

    #[test]
    fn this_build_is_known() {
        assert_eq!(build().len(), 16);
        assert!(this_build().unwrap().contains(&build()));
    }
}

//! The account of machine, MPIs and settings that is stored with the results.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use flate2::CrcReader;
use serde::{Deserialize, Serialize};

use super::account::{Difference, MpiAccount};
use super::machine::Machine;
use super::{Run, RunError};
use crate::folder::{ENVIRONMENT, Folder, FolderError, LAUNCHES, RUNS};
use crate::model::Record;
use crate::model::event::{Hello, MessageFacts};
use crate::model::plain::from_json;
use crate::mpi::Installation;
use common::parameter::joined;

/// The content of `environment.json`. Unknown values are missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The run's id, which is in every row of its tables.
    pub run: String,
    /// The part with which it began.
    #[serde(flatten)]
    pub begun: Part,
    /// The plan when it began. If it is edited later, the run is not resumed.
    pub plan: String,
    pub resumed: Vec<Part>,
    /// Notes on the results: settings that ddtbench added, and differences between the parts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Accounts of MPIs whose conditions the current part must meet.
    #[serde(skip)]
    pub held_to: Vec<MpiAccount>,
}

/// A part of a run: from its beginning, or from resuming it, to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// When it began, with the zone's offset.
    pub date: String,
    pub ddtbench_version: String,
    /// Identifies this build of the program.
    pub ddtbench_build: String,
    pub command_line: Vec<String>,
    /// The machine that started it.
    pub machine: Machine,
    /// The MPIs, in the plan's order.
    pub mpis: Vec<MpiAccount>,
    /// The user's loop and how it was compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_loop: Option<String>,
    /// Cases of launches that were finished before.
    pub done_before: usize,
}

/// A part of a run as a row of a table; other rows refer to it for host and date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartRow<'a> {
    pub run: &'a str,
    /// The part: 0 until the run was first resumed. Rows of launches contain it too.
    pub part: usize,
    /// When it began, with the zone's offset.
    pub date: &'a str,
    pub ddtbench_version: &'a str,
    /// Distinguishes the build from others of that version.
    pub ddtbench_build: &'a str,
    /// The machine that started it.
    pub host: Option<&'a str>,
    pub cpu_model: Option<&'a str>,
    /// Its hardware threads.
    pub cpus: usize,
    /// System and version.
    pub kernel: Option<&'a str>,
    /// The hosts of its ranks, as far as a rank program has reported them.
    pub rank_hosts: String,
    /// Its MPIs: name, version and compiler wrapper of each.
    pub mpis: String,
    /// Variables that control its MPIs: the user's, and those that ddtbench added.
    pub settings: String,
}

/// A unique id: the time and a random number.
fn new_id() -> String {
    let drawn = RandomState::new().build_hasher().finish();
    format!("{}-{:06x}", now().strftime("%Y%m%dT%H%M%S"), drawn >> 40)
}

/// The current time, in the zone of this machine.
pub fn now() -> jiff::Zoned {
    zoned(SystemTime::now())
}

/// A broken clock may be beyond the calendar, and is shown as the last day of the year 9999.
fn zoned(time: SystemTime) -> jiff::Zoned {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX).to_zoned(jiff::tz::TimeZone::system())
}

impl Part {
    /// The part that begins now.
    ///
    /// # Errors
    /// If a launcher cannot be parsed.
    pub fn now(date: String, run: &Run<'_>, done_before: usize) -> Result<Self, RunError> {
        let own_loop = run.targets.iter().find_map(|target| target.own_loop.as_ref()?.about.clone());
        Ok(Self { own_loop, done_before, ..Self::from_accounts(date, run.accounts()?) })
    }

    /// The part that begins now, on these MPIs.
    pub fn from_accounts(date: String, mpis: Vec<MpiAccount>) -> Self {
        Self {
            date,
            ddtbench_version: env!("CARGO_PKG_VERSION").to_owned(),
            ddtbench_build: build(),
            command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            machine: Machine::this(),
            mpis,
            own_loop: None,
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
        let settings = |account: &MpiAccount| {
            let all = joined(account.settings.iter().flatten().chain(&account.added_settings));
            (!all.is_empty()).then(|| format!("{} {all}", account.label()))
        };
        let settings: Vec<String> = self.mpis.iter().filter_map(settings).collect();
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
            settings: settings.join("; "),
        }
    }

    /// The build of this program that measured it: version and hash. `None` if it was not recorded.
    pub fn build(&self) -> Option<String> {
        named(&self.ddtbench_version, &self.ddtbench_build)
    }

    /// Whether it was started on the machine of another part.
    fn shares_machine(&self, other: &Self) -> bool {
        let of = |part: &Self| [part.machine.host.clone(), part.machine.cpu_model.clone()];
        of(self) == of(other)
    }

    /// Whether it was started on a machine with the same processor model.
    fn has_processor_of(&self, other: &Self) -> bool {
        self.machine.cpu_model.is_some() && self.machine.cpu_model == other.machine.cpu_model
    }
}

impl Environment {
    /// The account of a new run.
    pub fn from_part(plan: String, begun: Part) -> Self {
        let (resumed, notes, held_to) = (Vec::new(), Vec::new(), Vec::new());
        Self { run: new_id(), begun, plan, resumed, notes, held_to }
    }

    /// Refuses the account of another run.
    ///
    /// # Errors
    /// The ids of both runs.
    pub fn check_origin(&self, records: &[Record]) -> Result<(), String> {
        match records.iter().map(|record| record.case.run.as_str()).find(|run| *run != self.run) {
            Some(other) if !other.is_empty() => Err(format!(
                "it is the account of the run {}, and {LAUNCHES} has the run {other}: restore the account of this run",
                self.run
            )),
            _ => Ok(()),
        }
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

    /// The number of the current part.
    pub fn part_number(&self) -> usize {
        self.resumed.len()
    }

    pub fn part(&self) -> &Part {
        self.resumed.last().unwrap_or(&self.begun)
    }

    /// Stores the rank program's account of itself and of an MPI in the current part. Returns whether it is new.
    pub fn keep_account(&mut self, target: usize, hello: Hello) -> bool {
        let known = &mut self.account_mut(target).rank_program;
        let is_new = known.is_none();
        known.get_or_insert(Hello { message: MessageFacts::default(), notes: Vec::new(), ..hello });
        is_new
    }

    /// Stores notes on an MPI in the current part; returns the new ones.
    pub fn keep_notes(&mut self, target: usize, mut notes: Vec<String>) -> Vec<String> {
        let account = self.account_mut(target);
        notes.retain(|note| !account.notes.contains(note));
        account.notes.extend(notes.clone());
        notes.into_iter().map(|note| format!("{}: {note}", account.label())).collect()
    }

    fn account_mut(&mut self, target: usize) -> &mut MpiAccount {
        &mut self.resumed.last_mut().unwrap_or(&mut self.begun).mpis[target]
    }

    /// Refuses ranks that run under other conditions than required.
    ///
    /// # Errors
    /// The conditions that differ.
    pub fn check_account(&self, target: usize, hello: &Hello) -> Result<(), RunError> {
        let account = MpiAccount { rank_program: Some(hello.clone()), ..self.part().mpis[target].clone() };
        match differences(&self.held_to, &account) {
            found if found.is_empty() => Ok(()),
            found => Err(RunError::Conditions(found.join("; "))),
        }
    }

    /// The accounts of the MPIs of all parts.
    pub fn accounts(&self) -> impl Iterator<Item = &MpiAccount> {
        self.parts().flat_map(|part| &part.mpis)
    }

    /// Notes on the results: those of rank programs, variables that ddtbench added, and differences between the parts.
    fn notes_now(&self) -> Vec<String> {
        let of_mpi = |account: &'_ MpiAccount| {
            account.notes.iter().map(|note| format!("{}: {note}.", account.label())).collect::<Vec<_>>()
        };
        let mut notes: Vec<String> = self.part().mpis.iter().flat_map(of_mpi).collect();
        notes.extend(self.part().mpis.iter().flat_map(unknown_settings));
        for account in &self.part().mpis {
            if !account.added_settings.is_empty() {
                let all = joined(&account.added_settings);
                notes.push(format!(
                    "ddtbench set {all} for {}, since ranks share cores or have data on a device (docs/mpis.md).",
                    account.label()
                ));
            }
        }
        for (number, part) in self.resumed.iter().enumerate() {
            let number = number + 1;
            if !self.begun.shares_machine(part) {
                notes.push(format!(
                    "Part {number} of the run was measured on another machine than part 0 (runs.csv)."
                ));
            }
            for account in &part.mpis {
                let first = self.begun.mpis.iter().find(|first| first.label() == account.label());
                let found =
                    first.map(|first| MpiAccount::differences(&[first], &[account])).unwrap_or_default();
                if !found.is_empty() {
                    let sides = ["in part 0".to_owned(), format!("in part {number}")];
                    let text = |found: &Difference| found.text([&sides[0], &sides[1]]);
                    let found: Vec<String> = found.iter().map(text).collect();
                    notes.push(format!("Settings of {} differ: {}.", account.label(), found.join("; ")));
                }
            }
        }
        notes
    }

    /// Differences to all earlier parts if a part began now: another machine, or an MPI in another folder or with other settings.
    pub fn elsewhere(&self, part: &Part) -> Vec<String> {
        let mut all = Vec::new();
        if !self.parts().any(|earlier| earlier.shares_machine(part) || earlier.has_processor_of(part)) {
            let Machine { host, cpu_model, .. } = &self.begun.machine;
            let [host, cpu] = [host, cpu_model].map(|fact| fact.as_deref().unwrap_or("unknown"));
            all.push(format!("it began on another machine, `{host}` ({cpu})"));
        }
        for Installation { name, mpicc, .. } in part.mpis.iter().map(|account| &account.mpi) {
            let known = self.parts().flat_map(|part| &part.mpis).filter(|known| known.mpi.name == *name);
            let places: BTreeSet<&Path> = known.map(|known| known.mpi.mpicc.as_path()).collect();
            if let Some(place) = places.first().filter(|_| !places.contains(mpicc.as_path())) {
                let (now, then) = (mpicc.display(), place.display());
                all.push(format!("`{name}` has moved from {then} to {now}"));
            }
        }
        let known: Vec<MpiAccount> = self.accounts().cloned().collect();
        all.extend(part.mpis.iter().flat_map(|account| differences(&known, account)));
        all
    }

    /// A warning if the run began on another host with the same processor, as after a scheduler restarts a job on other nodes.
    pub fn other_host(&self, part: &Part) -> Option<String> {
        let is_known = self.parts().any(|earlier| earlier.shares_machine(part));
        let host = self.begun.machine.host.as_deref().unwrap_or("unknown");
        (!is_known && self.parts().any(|earlier| earlier.has_processor_of(part))).then(|| {
            format!("warning: it began on another machine of the same kind, `{host}`; the column `part` distinguishes its parts")
        })
    }

    /// A warning if another build of this program began the run.
    pub fn other_build(&self, part: &Part) -> Option<String> {
        const APART: &str = "the column `part` distinguishes its parts";
        let Part { ddtbench_version: version, ddtbench_build: build, .. } = &self.begun;
        if part.ddtbench_version != *version {
            return Some(format!("warning: the run began with ddtbench {version}; {APART}"));
        }
        let is_other = part.ddtbench_build != *build && !build.is_empty();
        is_other.then(|| format!("warning: the run began with another build of ddtbench; {APART}"))
    }

    /// Writes it into the run's folder: the whole account, and a table of the parts.
    pub fn keep(&mut self, folder: &Folder) -> Result<(), FolderError> {
        self.notes = self.notes_now();
        folder.write_json(ENVIRONMENT, self)?;
        folder.write_table(RUNS, &self.rows().collect::<Vec<_>>())
    }

    /// The account of an earlier run. `None` without the file.
    ///
    /// # Errors
    /// If the file cannot be read or parsed.
    pub fn read(file: &Path) -> Result<Option<Self>, String> {
        match fs::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", file.display())),
            Ok(bytes) => {
                Self::parse(&bytes).map(Some).map_err(|error| format!("{}: {error}", file.display()))
            }
        }
    }

    /// Parses such a file.
    ///
    /// # Errors
    /// If the bytes are not JSON of this format.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        from_json(bytes)
    }
}

/// The differences between an account and all known ones of its MPI. Empty if none is known.
pub fn differences(known: &[MpiAccount], account: &MpiAccount) -> Vec<String> {
    let all: Vec<&MpiAccount> = known.iter().collect();
    let of_mpi = known.iter().filter(|other| account.is_held_to(other, &all));
    let mut differ = of_mpi.map(|other| MpiAccount::differences(&[other], &[account]));
    let first = differ.next().unwrap_or_default();
    if differ.any(|found| found.is_empty()) {
        return Vec::new();
    }
    first.iter().map(|found| format!("{}, {}", account.label(), found.text(["then", "now"]))).collect()
}

/// This build of the program, in the form of [`Part::build`].
pub fn this_build() -> Option<String> {
    named(env!("CARGO_PKG_VERSION"), &build())
}

fn named(version: &str, build: &str) -> Option<String> {
    (!build.is_empty()).then(|| format!("{version} ({build})"))
}

/// Identifies this build of the program: a checksum of its file, or empty if that cannot be read.
fn build() -> String {
    // The running program: its file may have been replaced by a new build.
    let sum = File::open("/proc/self/exe").and_then(|file| {
        let mut file = CrcReader::new(file);
        io::copy(&mut file, &mut io::sink())?;
        Ok(file.crc().sum())
    });
    sum.map_or(String::new(), |sum| format!("{sum:08x}"))
}

/// Notes on settings that MPICH, or an MPI made from it, does not list: perhaps typing errors, which it ignores.
fn unknown_settings(account: &MpiAccount) -> Vec<String> {
    let is_its = |name: &&String| name.starts_with("MPIR_CVAR_");
    let reported = account.rank_program.iter().flat_map(|hello| &hello.library_account);
    let listed: BTreeSet<&String> = reported.map(|(name, _)| name).filter(is_its).collect();
    let set = account.settings.iter().flat_map(|settings| settings.keys()).filter(is_its);
    let unknown = set.filter(|name| !listed.is_empty() && !listed.contains(name));
    unknown.map(|name| format!("{}: this MPI has no setting {name}.", account.label())).collect()
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
        let account = MpiAccount { mpi, settings: Some(Default::default()), ..MpiAccount::default() };
        let [ddtbench_version, ddtbench_build] = ["0.1.0", "5"].map(str::to_owned);
        Part { ddtbench_version, ddtbench_build, machine, mpis: vec![account], ..Part::default() }
    }

    fn begun_on(host: &str, then: &[&str]) -> Environment {
        let resumed = then.iter().map(|host| part(host)).collect();
        Environment { resumed, ..Environment::from_part(String::new(), part(host)) }
    }

    #[test]
    fn every_part_of_a_run_has_its_machine_and_mpis() {
        let mut environment = begun_on("a", &["a", "b"]);
        assert_eq!((environment.part_number(), environment.part().machine.host.as_deref()), (2, Some("b")));
        assert!(environment.keep_account(0, Hello::default()), "it is the first");
        assert!(!environment.keep_account(0, Hello::default()));
        assert!(environment.begun.mpis[0].rank_program.is_none(), "only the current part has it");
        let rows: Vec<_> = environment.rows().map(|row| (row.part, row.host.unwrap(), row.mpis)).collect();
        let mpi = "mpich 5.0.2 /a/bin/mpicc".to_owned();
        assert_eq!(rows, [(0, "a", mpi.clone()), (1, "a", mpi.clone()), (2, "b", mpi)]);
        assert_ne!(new_id(), new_id());
    }

    #[test]
    fn only_a_place_that_no_part_had_is_elsewhere() {
        assert_eq!(begun_on("a", &[]).elsewhere(&part("a")), [""; 0]);
        assert_eq!(begun_on("a", &["b"]).elsewhere(&part("b")), [""; 0], "it has gone on there before");
        let mut other_processor = part("a");
        other_processor.machine.cpu_model = Some("other".to_owned());
        assert_eq!(begun_on("a", &[]).elsewhere(&other_processor).len(), 1);
        let mut moved = part("a");
        moved.mpis[0].mpi.mpicc = "/b/bin/mpicc".into();
        let [difference] = &begun_on("a", &[]).elsewhere(&moved)[..] else { panic!("it is one thing") };
        assert!(difference.contains("/a/bin/mpicc") && difference.contains("/b/bin/mpicc"), "{difference}");
    }

    #[test]
    fn ranks_must_meet_the_conditions_that_they_are_held_to() {
        let hello = |level: &str| Hello { thread_level: level.to_owned(), ..Hello::default() };
        let mut run = begun_on("a", &[]);
        assert!(run.check_account(0, &hello("MPI_THREAD_SINGLE")).is_ok(), "it is held to nothing");
        let known =
            MpiAccount { rank_program: Some(hello("MPI_THREAD_MULTIPLE")), ..run.begun.mpis[0].clone() };
        run.held_to = vec![known];
        assert!(run.check_account(0, &hello("MPI_THREAD_MULTIPLE")).is_ok());
        let refusal = run.check_account(0, &hello("MPI_THREAD_SINGLE")).unwrap_err().to_string();
        assert!(refusal.contains("MPI_THREAD_MULTIPLE then") && refusal.contains("--anyway"), "{refusal}");
    }

    #[test]
    fn a_setting_that_the_mpi_does_not_list_is_noted() {
        let pair = |name: &str| (name.to_owned(), "1".to_owned());
        let notes = |set: &str| {
            let hello = Hello { library_account: vec![pair("MPIR_CVAR_A_ENABLE")], ..Hello::default() };
            let mut account = part("a").mpis.swap_remove(0);
            (account.settings, account.rank_program) = (Some([pair(set)].into()), Some(hello));
            unknown_settings(&account)
        };
        assert!(notes("MPIR_CVAR_A_ENABLE").is_empty() && notes("UCX_TLS").is_empty());
        assert_eq!(notes("MPIR_CVAR_A_ENABEL"), ["mpich: this MPI has no setting MPIR_CVAR_A_ENABEL."]);
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
        let unknown = Environment::from_part(String::new(), by("0.1.0", ""));
        assert_eq!(unknown.other_build(&part("a")), None, "the build is unknown");
    }

    #[test]
    fn a_clock_beyond_the_year_9999_has_a_date() {
        let beyond = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(253_402_300_800);
        assert_eq!(zoned(beyond).strftime("%Y").to_string(), "9999");
    }

    #[test]
    fn this_build_is_known() {
        assert_eq!(build().len(), 8);
        assert!(this_build().unwrap().contains(&build()));
    }
}

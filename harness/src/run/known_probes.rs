//! What probes saw of an MPI before, kept beside the rank program that was built for it, so that not every run tries them
//! again: some that an MPI fails end at a time limit only.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{env, fs, io};

use super::Target;
use crate::folder::{read_times, times_csv};
use crate::model::Record;
use crate::mpi::{Installation, memory_of};

/// How long an outcome is believed. What comes now and then, on a busy machine say, is not to be believed for ever.
const BELIEVED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Variables that begin so change what an MPI does; ours hide functions of an MPI, or put clocks in front of the real ones.
const PREFIXES: [&str; 17] = [
    "MPI",
    "I_MPI_",
    "OMPI_",
    "OPAL_",
    "PRTE_",
    "PMIX_",
    "PMI_",
    "HYDRA_",
    "FI_",
    "UCX_",
    "SLURM_",
    "LD_",
    "GLIBC_",
    "MALLOC_",
    "OMP_",
    "DDTBENCH_HIDE_",
    "DDTBENCH_VIRTUAL_",
];

/// The file with what is known of an MPI under one launcher, one environment and one limit of silence.
#[derive(Debug)]
pub struct KnownProbes {
    file: PathBuf,
    built: SystemTime,
}

impl KnownProbes {
    /// For the rank program `program`, started with these options and ended after so much silence. `None` where nothing may be taken from another run: under
    /// a preloaded library an MPI is not the one that is known.
    pub fn of(
        installation: &Installation,
        program: &Path,
        launcher: (Option<&str>, &[String]),
        timeout_s: f64,
    ) -> Option<Self> {
        let variables: BTreeMap<OsString, OsString> = env::vars_os().collect();
        if variables.contains_key(OsStr::new("LD_PRELOAD")) {
            return None;
        }
        let counts = |name: &OsString| {
            name.to_str().is_some_and(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        };
        let variables: Vec<_> = variables.iter().filter(|(name, _)| counts(name)).collect();
        let mut hasher = DefaultHasher::new();
        (&installation.mpiexec, &installation.env, &installation.launcher_args).hash(&mut hasher);
        (launcher, variables, timeout_s.to_bits()).hash(&mut hasher);
        let file = memory_of(program).join(format!("probes-{:016x}.csv", hasher.finish()));
        Some(Self { file, built: program.metadata().and_then(|facts| facts.modified()).ok()? })
    }

    /// What is known of the MPI, by the name that it has now, and for how long.
    pub fn read(&self, target: &Target) -> Option<(Vec<Record>, Duration)> {
        let written = self.file.metadata().and_then(|facts| facts.modified()).ok()?;
        let age = written.elapsed().ok().filter(|age| *age < BELIEVED_FOR && written > self.built)?;
        let records = read_times(&self.file).ok()?.into_iter();
        let named = |record: Record| Record { case: Arc::new(target.name((*record.case).clone())), ..record };
        Some((records.map(named).collect(), age))
    }

    /// Keeps what probes saw beside what was known, as old as the oldest.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn add(&self, target: &Target, new: &[Record]) -> io::Result<()> {
        let (mut records, age) = self.read(target).unwrap_or_default();
        records.extend_from_slice(new);
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // As any other file, and not the owner's alone: the folder may be shared.
        let readable = fs::Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(folder)?;
        io::Write::write_all(&mut file, &times_csv(&records))?;
        file.as_file().set_modified(SystemTime::now() - age)?;
        file.persist(&self.file)?;
        Ok(())
    }
}

/// Forgets all that is known beside a rank program: the next run tries its probes again.
///
/// # Errors
/// If the folder cannot be read or written to.
pub fn forget(program: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(memory_of(program)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("probes-") && name.ends_with(".csv") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Case, Outcome, Phase, SCHEMA};

    fn record(probe: &str) -> Record {
        let case = Case { mpi: "x".to_owned(), test: probe.to_owned(), ..Case::default() };
        Record {
            case: case.into(),
            phase: Phase::Total,
            outcome: Outcome::TimedOut { detail: String::new() },
            schema: SCHEMA,
            ..Record::default()
        }
    }

    fn target(mpi: &str) -> Target {
        let installation = Installation { name: mpi.to_owned(), ..Installation::fake("mpiexec") };
        Target { installation, variant: String::new(), program: PathBuf::new() }
    }

    #[test]
    fn what_is_known_is_that_of_one_program_one_launcher_and_one_environment() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ddtbench-rank");
        let build = |before: Duration| {
            let file = fs::File::create(&program).unwrap();
            file.set_modified(SystemTime::now() - before).unwrap();
        };
        build(Duration::from_secs(9000));
        let mpi = Installation::fake("mpiexec");
        let of =
            |mpi: &Installation, launcher| KnownProbes::of(mpi, &program, (launcher, &[]), 10.0).unwrap();
        let known = of(&mpi, None);
        assert!(known.read(&target("x")).is_none());
        known.add(&target("x"), &[record("ring")]).unwrap();
        known.add(&target("x"), &[record("any_order")]).unwrap();
        let (records, age) = of(&mpi, None).read(&target("y")).unwrap();
        assert_eq!(
            records.iter().map(|record| &*record.case.test).collect::<Vec<_>>(),
            ["ring", "any_order"]
        );
        assert!(records.iter().all(|record| record.case.mpi == "y") && age < Duration::from_secs(9000));

        assert!(of(&mpi, Some("srun")).read(&target("x")).is_none(), "another launcher");
        let shorter = KnownProbes::of(&mpi, &program, (None, &[]), 3.0).unwrap();
        assert!(shorter.read(&target("x")).is_none(), "another limit: what was slow then may be ended now");
        let other = Installation { env: [("UCX_TLS".to_owned(), "tcp".to_owned())].into(), ..mpi.clone() };
        assert!(of(&other, None).read(&target("x")).is_none(), "another environment");
        build(Duration::ZERO);
        assert!(of(&mpi, None).read(&target("x")).is_none(), "another program");
    }

    #[test]
    fn what_is_old_is_not_believed_and_does_not_grow_young() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ddtbench-rank");
        let of_program = fs::File::create(&program).unwrap();
        of_program.set_modified(SystemTime::now() - 3 * BELIEVED_FOR).unwrap();
        let known = KnownProbes::of(&Installation::fake("mpiexec"), &program, (None, &[]), 10.0).unwrap();
        let hour = Duration::from_secs(3600);
        known.add(&target("x"), &[record("ring")]).unwrap();
        let old = |age| fs::File::open(&known.file).unwrap().set_modified(SystemTime::now() - age).unwrap();
        old(BELIEVED_FOR - hour);
        known.add(&target("x"), &[record("any_order")]).unwrap();
        let (records, age) = known.read(&target("x")).unwrap();
        assert!(records.len() == 2 && age >= BELIEVED_FOR - hour);
        old(BELIEVED_FOR + hour);
        assert!(known.read(&target("x")).is_none());
        old(hour);
        forget(&program).unwrap();
        assert!(known.read(&target("x")).is_none() && program.exists());
    }
}

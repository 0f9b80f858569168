//! What probes saw of an MPI before, kept beside the rank program that was built for it, so that not every run tries them
//! again: some that an MPI fails end at a time limit only.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs, io};

use crate::folder::{probes_csv, probes_from};
use crate::model::probe::ProbeRecord;
use crate::mpi::Installation;

/// How long an outcome is believed. What comes now and then, on a busy machine say, is not to be believed for ever.
const BELIEVED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Variables that begin so change what an MPI does; ours hide functions of an MPI.
const PREFIXES: [&str; 16] = [
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
        let file = program.with_file_name(format!("probes-{:016x}.csv", hasher.finish()));
        Some(Self { file, built: program.metadata().and_then(|facts| facts.modified()).ok()? })
    }

    /// What is known of the MPI that is called `mpi` now, and for how long.
    pub fn read(&self, mpi: &str) -> Option<(Vec<ProbeRecord>, Duration)> {
        let written = self.file.metadata().and_then(|facts| facts.modified()).ok()?;
        let age = written.elapsed().ok().filter(|age| *age < BELIEVED_FOR && written > self.built)?;
        let mut records = probes_from(&fs::read(&self.file).ok()?).ok()?;
        records.iter_mut().for_each(|record| mpi.clone_into(&mut record.mpi));
        Some((records, age))
    }

    /// Keeps what probes saw beside what was known, as old as the oldest.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn add(&self, mpi: &str, new: &[ProbeRecord]) -> io::Result<()> {
        let (mut records, age) = self.read(mpi).unwrap_or_default();
        records.extend_from_slice(new);
        let mut file = tempfile::NamedTempFile::new_in(self.file.parent().unwrap_or(Path::new(".")))?;
        io::Write::write_all(&mut file, &probes_csv(&records, true))?;
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
    for entry in fs::read_dir(program.parent().unwrap_or(Path::new(".")))? {
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
    use crate::model::probe::Outcome;

    fn record(probe: &str) -> ProbeRecord {
        ProbeRecord {
            mpi: "x".to_owned(),
            probe: probe.to_owned(),
            outcome: Outcome::TimedOut,
            detail: "nothing heard".to_owned(),
            seconds: 10.0,
        }
    }

    #[test]
    fn what_is_known_is_that_of_one_program_one_launcher_and_one_environment() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ddtbench-rank");
        let build = |before: Duration| {
            let file = fs::File::create(&program).unwrap();
            file.set_modified(SystemTime::now() - before).unwrap();
        };
        build(Duration::from_secs(9));
        let mpi = Installation::fake("mpiexec");
        let of =
            |mpi: &Installation, launcher| KnownProbes::of(mpi, &program, (launcher, &[]), 10.0).unwrap();
        let known = of(&mpi, None);
        assert!(known.read("x").is_none());
        known.add("x", &[record("ring")]).unwrap();
        known.add("x", &[record("any_order")]).unwrap();
        let (records, age) = of(&mpi, None).read("y").unwrap();
        assert_eq!(records.iter().map(|record| &*record.probe).collect::<Vec<_>>(), ["ring", "any_order"]);
        assert!(records.iter().all(|record| record.mpi == "y") && age < Duration::from_secs(9));

        assert!(of(&mpi, Some("srun")).read("x").is_none(), "another launcher");
        let shorter = KnownProbes::of(&mpi, &program, (None, &[]), 3.0).unwrap();
        assert!(shorter.read("x").is_none(), "another limit: what was slow then may be ended now");
        let other = Installation { env: [("UCX_TLS".to_owned(), "tcp".to_owned())].into(), ..mpi.clone() };
        assert!(of(&other, None).read("x").is_none(), "another environment");
        build(Duration::ZERO);
        assert!(of(&mpi, None).read("x").is_none(), "another program");
    }

    #[test]
    fn what_is_old_is_not_believed_and_does_not_grow_young() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ddtbench-rank");
        let of_program = fs::File::create(&program).unwrap();
        of_program.set_modified(SystemTime::now() - 3 * BELIEVED_FOR).unwrap();
        let known = KnownProbes::of(&Installation::fake("mpiexec"), &program, (None, &[]), 10.0).unwrap();
        let hour = Duration::from_secs(3600);
        known.add("x", &[record("ring")]).unwrap();
        let old = |age| fs::File::open(&known.file).unwrap().set_modified(SystemTime::now() - age).unwrap();
        old(BELIEVED_FOR - hour);
        known.add("x", &[record("any_order")]).unwrap();
        let (records, age) = known.read("x").unwrap();
        assert!(records.len() == 2 && age >= BELIEVED_FOR - hour);
        old(BELIEVED_FOR + hour);
        assert!(known.read("x").is_none());
        old(hour);
        forget(&program).unwrap();
        assert!(known.read("x").is_none() && program.exists());
    }
}

//! Earlier results of checks, stored next to the rank program of an MPI. Otherwise every run would repeat them, and some failing
//! checks end only at their time limit.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

use super::{CheckResult, Conditions};
use crate::model::check::{Answer, Check};
use crate::mpi::memory_of;

/// How long a result may be used: it may have depended on a busy machine.
const USED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Variables with these prefixes change an MPI. Ours hide functions of an MPI, or replace clocks.
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

/// The results of one MPI under one launcher, one environment and one limit of silence, and the file that has them.
#[derive(Debug)]
pub struct KnownResults {
    file: PathBuf,
    results: Vec<Known>,
}

/// A result, and when it was found.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    check: String,
    answer: Answer,
    found: SystemTime,
}

impl KnownResults {
    /// The usable results under these conditions. `None` if results of other runs can never be used: a preloaded library changes
    /// an MPI.
    pub fn of(conditions: &Conditions<'_>) -> Option<Self> {
        let Conditions { target, timeout_s } = *conditions;
        let variables: BTreeMap<OsString, OsString> = env::vars_os().collect();
        if variables.contains_key(OsStr::new("LD_PRELOAD")) {
            return None;
        }
        let counts = |name: &OsString| {
            name.to_str().is_some_and(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        };
        let variables: Vec<_> = variables.iter().filter(|(name, _)| counts(name)).collect();
        let mut hasher = DefaultHasher::new();
        let installation = &target.installation;
        (&installation.mpiexec, &installation.env, &installation.launcher_args).hash(&mut hasher);
        (&target.programs, variables, timeout_s.to_bits()).hash(&mut hasher);
        let file = memory_of(&target.program).join(format!("checks-{:016x}.json", hasher.finish()));
        let built = target.program.metadata().and_then(|facts| facts.modified()).ok()?;
        let read = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut results: Vec<Known> = read.unwrap_or_default();
        results
            .retain(|Known { found, .. }| *found > built && found.elapsed().is_ok_and(|age| age < USED_FOR));
        Some(Self { file, results })
    }

    /// The answer to a check.
    pub fn answer(&self, check: &Check) -> Option<&Answer> {
        self.results.iter().find(|known| known.check == check.name).map(|known| &known.answer)
    }

    /// Adds a result, and replaces that of the same check.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn add(&mut self, new: &CheckResult) -> io::Result<()> {
        self.results.retain(|known| known.check != new.check);
        let (check, answer) = (new.check.clone(), new.answer.clone());
        self.results.push(Known { check, answer, found: SystemTime::now() });
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // Readable for all, because the folder may be shared.
        let readable = fs::Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(folder)?;
        serde_json::to_writer(&mut file, &self.results)?;
        file.persist(&self.file)?;
        Ok(())
    }
}

/// Removes all results next to a rank program, so that the next run repeats its checks.
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
        if name.starts_with("checks-") && name.ends_with(".json") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::{Answer, CheckOutcome, PARTITIONED, find};
    use crate::mpi::{Installation, Target, Trusted};

    fn result(target: &Target, check: &str) -> CheckResult {
        let answer = Answer::new(CheckOutcome::TimedOut, "no output");
        CheckResult::new(target, find(PARTITIONED, check).unwrap(), answer)
    }

    /// A target whose program was built this long ago.
    fn target(program: &Path, before: Duration) -> Target {
        let file = fs::File::create(program).unwrap();
        file.set_modified(SystemTime::now() - before).unwrap();
        let installation = Installation::fake("mpiexec");
        Target::fake(installation, program)
    }

    fn conditions(target: &Target) -> Conditions<'_> {
        Conditions { target, timeout_s: 10.0 }
    }

    #[test]
    fn results_are_of_one_program_one_launcher_and_one_environment() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ddtbench-rank");
        let mpi = target(&program, Duration::from_secs(9));
        let of = |conditions: &Conditions<'_>| KnownResults::of(conditions).unwrap().results.len();
        assert_eq!(of(&conditions(&mpi)), 0);
        for check in ["ring", "any_order", "ring"] {
            KnownResults::of(&conditions(&mpi)).unwrap().add(&result(&mpi, check)).unwrap();
        }
        assert_eq!(of(&conditions(&mpi)), 2);
        let known = KnownResults::of(&conditions(&mpi)).unwrap();
        let answer = |check| known.answer(find(PARTITIONED, check).unwrap());
        assert_eq!((answer("ring"), answer("equal_counts")), (Some(&result(&mpi, "ring").answer), None));

        let srun = Target { programs: Trusted::typed(Some("srun"), &[]).clone(), ..mpi.clone() };
        assert_eq!(of(&conditions(&srun)), 0, "another launcher");
        let shorter = Conditions { timeout_s: 3.0, ..conditions(&mpi) };
        assert_eq!(of(&shorter), 0, "another limit: a slow check may be killed now");
        let mut other = mpi.clone();
        other.installation.env = [("UCX_TLS".to_owned(), "tcp".to_owned())].into();
        assert_eq!(of(&conditions(&other)), 0, "another environment");
        let rebuilt = target(&program, Duration::ZERO);
        assert_eq!(of(&conditions(&rebuilt)), 0, "another program");
        forget(&program).unwrap();
        target(&program, Duration::from_secs(9));
        assert_eq!(of(&conditions(&mpi)), 0, "forgotten");
        assert!(program.exists());
    }

    #[test]
    fn an_old_result_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ddtbench-rank");
        let mpi = target(&program, 3 * USED_FOR);
        let hour = Duration::from_secs(3600);
        for (age, count) in [(USED_FOR + hour, 1), (USED_FOR - hour, 2)] {
            let mut known = KnownResults::of(&conditions(&mpi)).unwrap();
            known.add(&result(&mpi, "ring")).unwrap();
            known.results[0].found = SystemTime::now() - age;
            known.add(&result(&mpi, "any_order")).unwrap();
            assert_eq!(KnownResults::of(&conditions(&mpi)).unwrap().results.len(), count);
        }
    }
}

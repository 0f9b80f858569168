//! Whether this suite and the Intel MPI Benchmarks tell the same of an MPI: `reference_untouched` beside IMB-MPI1
//! PingPong, in turn, one process of each after the other.
//!
//! Both send the same bytes there and back again and again. IMB prints half of the mean round trip, so that ours is the
//! mean as well. A launch of each makes a pair, and the ratio rests on the pairs: what a machine does in the course of
//! minutes reaches both.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Finished, Observer, Run, RunError, Unit};
use crate::experiments::agreement::Agreement;
use crate::experiments::planned::{PlannedCase, Text};
use crate::experiments::summary;
use crate::model::Phase;
use crate::mpi::{Launch, Line, Next, interrupt};
use crate::plan::{CheckedPlan, Plan, PlanError};

/// The method that does what IMB does.
pub const METHOD: &str = "reference_untouched";
/// The program, as its makers call it.
pub const IMB: &str = "IMB-MPI1";
/// Time after which a silent IMB has failed.
const SILENCE: Duration = Duration::from_secs(60);

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgreeError {
    /// A launcher, or the folder for IMB's sizes.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The list of sizes cannot be written.
    #[error("writing the sizes for {IMB}: {0}")]
    Sizes(#[from] std::io::Error),
    /// IMB did not tell what it was asked for.
    #[error("{program}: {reason}; it printed:\n{output}", program = .program.display())]
    Imb {
        /// The program.
        program: PathBuf,
        /// What is missing.
        reason: String,
        /// The end of what it said.
        output: String,
    },
    /// Our own measurement failed.
    #[error("{METHOD} of {bytes} bytes: {outcome}")]
    Ours {
        /// Bytes of the message.
        bytes: String,
        /// How it ended, and why.
        outcome: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// The binary interface that an IMB was linked for, told from the library that it names.
fn library_of(program: &Path) -> Option<&'static str> {
    let bytes = std::fs::read(program).ok()?;
    let names = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    ["libmpi.so.40", "libmpi.so.12"].into_iter().find(|name| names(name))
}

/// Says why an IMB cannot run on an MPI, if it cannot: Open MPI has a binary interface of its own, all others one.
pub fn mismatch(program: &Path, is_open_mpi: bool) -> Option<String> {
    let library = library_of(program)?;
    let is_for_open_mpi = library == "libmpi.so.40";
    (is_for_open_mpi != is_open_mpi).then(|| {
        let [has, needs] = match is_for_open_mpi {
            true => ["Open MPI's binary interface", "MPICH's"],
            false => ["MPICH's binary interface", "Open MPI's"],
        };
        format!(
            "{} is linked for {has} ({library}), and this MPI has {needs}; build one with its mpicc, and name it with --imb",
            program.display()
        )
    })
}

impl Run<'_> {
    /// Runs both in turn, `launches` times. The plan has a case of contiguous bytes for each size.
    ///
    /// # Errors
    /// A program that cannot be started, or that does not tell what it was asked for.
    pub fn agree(
        &self,
        imb: &Path,
        launches: usize,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Agreement>, AgreeError> {
        let sizes: Vec<u64> = self.plan.cases.iter().map(|case| case.message().bytes).collect();
        let mut list = tempfile::NamedTempFile::new()?;
        sizes.iter().try_for_each(|bytes| writeln!(list, "{bytes}"))?;
        let mut all: Vec<_> =
            sizes.iter().map(|&bytes| Agreement { bytes, ..Agreement::default() }).collect();
        for launch in 0..launches {
            let start = Instant::now();
            observer.begins(launch + 1, launches, "IMB, then ours");
            let theirs = self.imb(imb, list.path(), &sizes)?;
            for unit in self.units() {
                let agreement = &mut all[unit.case];
                agreement.imb_s.push(theirs[unit.case]);
                let (mean_s, median_s) = self.ours(unit, observer)?;
                agreement.mean_s.push(mean_s);
                agreement.median_s.push(median_s);
            }
            observer.ended(&[], start.elapsed());
        }
        Ok(all)
    }

    /// One launch of IMB: its times one way, in the order of `sizes`.
    fn imb(&self, program: &Path, list: &Path, sizes: &[u64]) -> Result<Vec<f64>, AgreeError> {
        let seconds = self.plan.plan.limits.max_time_s.to_string();
        let list = list.display().to_string();
        let args = ["PingPong", "-msglen", &list, "-time", &seconds].map(str::to_owned);
        let mut launch = Launch { program, args: &args, ..self.launch(self.units()[0], &[]) };
        // It was linked elsewhere: it must find the library that our own program has.
        let folders = self.targets[0].installation.library_dirs.iter().map(|dir| dir.display().to_string());
        let before = std::env::var("LD_LIBRARY_PATH").ok().filter(|path| !path.is_empty());
        let path: Vec<String> = folders.chain(before).collect();
        launch.env.insert("LD_LIBRARY_PATH".to_owned(), path.join(":"));
        let mut running = launch.start().map_err(RunError::from)?;
        let mut output = Vec::new();
        let exit = loop {
            match running.next(SILENCE) {
                Next::Line(Line::Out(line) | Line::Err(line)) => output.push(line),
                Next::Exited(exit) => break exit,
                Next::Interrupted => {
                    running.kill();
                    return Err(AgreeError::Interrupted);
                }
                Next::Silence => {
                    running.kill();
                    return Err(failed(program, format!("silent for {} s", SILENCE.as_secs()), &output));
                }
            }
        };
        if interrupt::requested() {
            return Err(AgreeError::Interrupted);
        }
        let times = times(&output);
        let of = |bytes: &u64| times.iter().find(|(size, _)| size == bytes).map(|(_, time_s)| *time_s);
        match sizes.iter().map(of).collect::<Option<Vec<f64>>>() {
            Some(times) if exit.success() => Ok(times),
            Some(_) => Err(failed(program, exit.to_string(), &output)),
            None => Err(failed(program, format!("no time of every size ({exit})"), &output)),
        }
    }

    /// One launch of ours for a case: mean and median one way.
    fn ours(&self, unit: Unit, observer: &mut dyn Observer) -> Result<(f64, f64), AgreeError> {
        let (methods, hello) = match self.finish(unit, observer)? {
            Finished::Case(methods, hello) => (methods, hello),
            Finished::Interrupted => return Err(AgreeError::Interrupted),
        };
        let result = self.result(unit, self.case(unit), methods, hello.as_deref());
        let records = summary::records(self.plan.plan.experiment, &result);
        let headline =
            records.iter().find(|record| record.phase == Phase::RoundTrip && record.method == METHOD);
        let times = headline.and_then(|record| Some((record.mean_s? / 2.0, record.median_s? / 2.0)));
        times.ok_or_else(|| {
            let outcome = headline.map_or_else(String::new, |record| {
                format!("{}: {}", record.outcome, record.detail.clone().unwrap_or_default())
            });
            AgreeError::Ours { bytes: result.message.bytes.to_string(), outcome }
        })
    }
}

/// The plan of it: contiguous bytes of each size, by the one method.
///
/// # Errors
/// A size that the test does not take.
pub fn plan(sizes: &[u64], mut plan: Plan) -> Result<CheckedPlan, PlanError> {
    plan.methods = vec![METHOD.to_owned()];
    plan.cases = sizes
        .iter()
        .map(|bytes| PlannedCase {
            test: "contiguous".to_owned(),
            params: [("bytes".to_owned(), Text(bytes.to_string()))].into(),
            ..Default::default()
        })
        .collect();
    plan.check()
}

fn failed(program: &Path, reason: String, output: &[String]) -> AgreeError {
    /// Lines that tell enough of what went wrong.
    const LINES: usize = 12;
    let output = output[output.len().saturating_sub(LINES)..].join("\n");
    AgreeError::Imb { program: program.to_owned(), reason, output }
}

/// Sizes and times in seconds of IMB's table: bytes, repetitions, microseconds, megabytes per second.
fn times(lines: &[String]) -> Vec<(u64, f64)> {
    let row = |line: &String| {
        let mut words = line.split_whitespace();
        let (bytes, _repetitions) = (words.next()?.parse().ok()?, words.next()?.parse::<u64>().ok()?);
        Some((bytes, words.next()?.parse::<f64>().ok()? * 1e-6))
    };
    lines.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imbs_table_is_read_and_nothing_else() {
        let text = "# Benchmarking PingPong \n# #processes = 2 \n       #bytes #repetitions      t[usec]   Mbytes/sec\n\
                    0         1000         1.60         0.00\n        8         1000         1.75         4.57\n\
                    # All processes entering MPI_Finalize\n";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let times = times(&lines);
        assert_eq!(times.iter().map(|(bytes, _)| *bytes).collect::<Vec<_>>(), [0, 8]);
        assert!((times[1].1 - 1.75e-6).abs() < 1e-15);
    }

    #[test]
    fn the_binary_interface_must_be_that_of_the_mpi() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"\x7fELF...libmpi.so.12\0").unwrap();
        assert_eq!(mismatch(file.path(), false), None);
        let reason = mismatch(file.path(), true).unwrap();
        assert!(reason.contains("libmpi.so.12") && reason.contains("--imb"), "{reason}");
    }
}

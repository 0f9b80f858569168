//! Runs of one plan with pauses between them, so that intervals include the drift of a machine over minutes.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use clap::Args;
use ddtbench::compare::FEWEST_RUNS;
use ddtbench::folder;
use ddtbench::mpi::interrupt;
use ddtbench::plan::{MOST_LAUNCHES, Plan};
use ddtbench::run::RunEnd;

use super::at;
use crate::cli::measure::{self, BeginOptions, EarlyEnd};
use crate::cli::numbers;
use crate::cli::numbers::seconds;
use crate::cli::output::log;
use crate::cli::resume::{self, ResumeOptions};

/// Runs of a baseline, unless the flag gives another number.
const RUNS: usize = 3;

/// Pause between runs in seconds, unless the flag or the baseline gives another.
const PAUSE_S: f64 = 120.0;

/// The file with the pause of a baseline, in seconds.
const PAUSE: &str = "pause_s";

#[derive(Clone, Copy, Debug, Args)]
pub struct PaceArgs {
    /// Number of runs; two can only show large changes [default: 3; for a check as many as the baseline has]
    #[arg(long, value_name = "N", value_parser = numbers::count(MOST_LAUNCHES))]
    pub runs: Option<usize>,
    /// Pause between two runs, for example 30s or 5m [default: 2m; for a check that of the baseline]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pause: Option<f64>,
}

impl PaceArgs {
    /// The number of runs of a baseline.
    ///
    /// # Errors
    /// If they are too few for a comparison.
    pub fn kept_runs(&self) -> anyhow::Result<usize> {
        let runs = self.runs.unwrap_or(RUNS);
        ensure!(runs >= FEWEST_RUNS, "--runs {runs}: a baseline needs at least {FEWEST_RUNS} runs");
        Ok(runs)
    }

    /// In seconds.
    pub fn pause_s(&self) -> f64 {
        self.pause.unwrap_or(PAUSE_S)
    }

    /// Saves the pause in the folder of a baseline.
    pub fn keep(&self, baseline: &Path) -> anyhow::Result<()> {
        let path = baseline.join(PAUSE);
        Ok(std::fs::write(&path, self.pause_s().to_string()).map_err(at(&path))?)
    }

    /// The same with the pause of a baseline, unless the flag gives another.
    pub fn of_baseline(self, baseline: &Path) -> Self {
        let kept = || std::fs::read_to_string(baseline.join(PAUSE)).ok()?.trim().parse().ok();
        Self { pause: self.pause.or_else(kept), ..self }
    }

    /// Measures a plan into numbered folders, and resumes the runs that exist. Returns whether all methods have succeeded.
    pub fn measure(
        &self,
        numbers: RangeInclusive<usize>,
        path: &Path,
        plan: &Plan,
        options: BeginOptions<'_>,
        resume: ResumeOptions,
    ) -> anyhow::Result<bool> {
        let mut have_succeeded = true;
        for number in numbers {
            let out = path.join(number.to_string());
            let (begun, records) = if out.join(folder::PLAN).exists() {
                resume::reopen(resume, &out)?
            } else if number == 1 || self.wait(number) {
                let begun = measure::start(BeginOptions { out: Some(&out), ..options }, plan.clone())?;
                (begun, Vec::new())
            } else {
                bail!(stopped(path))
            };
            let ended = measure::finish(begun, records, options.verbose)?;
            if ended.end == RunEnd::Interrupted {
                bail!(stopped(path));
            }
            have_succeeded &= ended.is_success();
        }
        Ok(have_succeeded)
    }

    /// `false` if the user has stopped.
    fn wait(&self, number: usize) -> bool {
        const STEP: Duration = Duration::from_millis(100);
        log(&format!("run {number} starts in {} s", self.pause_s()));
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < self.pause_s() {
            if interrupt::requested() {
                return false;
            }
            std::thread::sleep(STEP);
        }
        !interrupt::requested()
    }
}

fn stopped(path: &Path) -> EarlyEnd {
    log(&format!(
        "stopped; finished runs are in {}; the same `ddtbench baseline save` continues them",
        path.display()
    ));
    EarlyEnd(ExitCode::from(measure::INTERRUPTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_pauses_as_the_save_did_unless_it_is_given_another_pause() {
        let dir = tempfile::tempdir().unwrap();
        let of = |pause| PaceArgs { runs: None, pause };
        let checked = |pause| of(pause).of_baseline(dir.path()).pause_s();
        assert_eq!(checked(None), 120.0, "a baseline of an older version");
        of(Some(1.5)).keep(dir.path()).unwrap();
        assert_eq!((checked(None), checked(Some(0.1))), (1.5, 0.1));
    }
}

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

use crate::cli::measure::{self, BeginOptions, EarlyEnd};
use crate::cli::numbers;
use crate::cli::numbers::seconds;
use crate::cli::output::log;
use crate::cli::resume::{self, ResumeOptions};

/// Runs of a baseline, unless the flag gives another number.
const RUNS: usize = 3;

#[derive(Debug, Args)]
pub struct PaceArgs {
    /// Number of runs; two can only show large changes [default: 3; for a check as many as the baseline has]
    #[arg(long, value_name = "N", value_parser = numbers::count(MOST_LAUNCHES))]
    pub runs: Option<usize>,
    /// Pause between two runs, for example 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = seconds)]
    pub pause: f64,
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
        let last = *numbers.end();
        for number in numbers {
            let out = path.join(number.to_string());
            let (begun, records) = if out.join(folder::PLAN).exists() {
                resume::reopen(resume, &out)?
            } else if number == 1 || self.wait(number, last) {
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
    fn wait(&self, number: usize, runs: usize) -> bool {
        const STEP: Duration = Duration::from_millis(100);
        log(&format!("run {number} of {runs} starts in {} s", self.pause));
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < self.pause {
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

//! Repeats a whole run with pauses, so that intervals include the drift of a machine over minutes. The runs
//! `1`, `2`, `3` of such a folder are one side of `compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use clap::Args;
use ddtbench::folder::{self, FolderError};
use ddtbench::mpi::interrupt;
use ddtbench::plan::{MOST_LAUNCHES, Plan};
use ddtbench::run::RunEnd;

use super::measure::{self, EarlyEnd, RunOptions};
use super::numbers::{count, seconds};
use super::output::log;
use super::resume;

#[derive(Debug, Args)]
pub struct RepeatArgs {
    /// Repeat the whole run: its folder then has the runs 1 to N, and is one side of `compare`; with --resume, adds missing runs
    #[arg(long, value_name = "N", value_parser = count(MOST_LAUNCHES))]
    pub(super) repeat: Option<usize>,
    /// Pause between two of these runs, such as 30s or 10m
    #[arg(long, value_name = "TIME", requires = "repeat", default_value = "2m", value_parser = seconds)]
    pause: f64,
}

/// The folder for the runs, and the plan of those that do not exist.
pub(super) enum Runs<'a> {
    /// In a folder that must be empty, or else in one that is named by the date.
    New(Option<&'a Path>, Box<Plan>),
    Resumed(&'a Path),
}

impl RepeatArgs {
    /// Measures so many runs of a plan, or resumes a folder of runs, and prints the answer of the last one.
    pub fn execute(
        &self,
        most: usize,
        runs: Runs<'_>,
        options: RunOptions<'_>,
        with_details: bool,
    ) -> anyhow::Result<ExitCode> {
        let (dir, plan) = match runs {
            Runs::Resumed(dir) => (dir.to_owned(), None),
            Runs::New(out, plan) => (new_folder(out, &plan)?, Some(*plan)),
        };
        let code = self.measure(most, &dir, plan, options, with_details);
        let shown = dir.display();
        if interrupt::requested() {
            log(&format!("`--resume {shown} --repeat {most} --pause {}s` continues all runs", self.pause));
        } else if code.is_ok() {
            log(&format!(
                "runs: {shown}; `ddtbench compare {shown} OTHER` compares them with those of another"
            ));
        }
        code
    }

    fn measure(
        &self,
        most: usize,
        dir: &Path,
        mut plan: Option<Plan>,
        options: RunOptions<'_>,
        with_details: bool,
    ) -> anyhow::Result<ExitCode> {
        let run = |number: usize| dir.join(number.to_string());
        let is_begun = |number: usize| run(number).join(folder::PLAN).exists();
        ensure!(
            plan.is_some() || is_begun(1),
            "{}: has no repeated runs (no {}); `--repeat N --out DIR` makes them",
            dir.display(),
            run(1).join(folder::PLAN).display()
        );
        let mut code = ExitCode::SUCCESS;
        for number in 1..=most {
            // Runs follow one another: the one before another has ended.
            if is_begun(number) && number < most && is_begun(number + 1) && !options.retry_failed {
                continue;
            }
            let out = run(number);
            let (begun, records) = if is_begun(number) {
                resume::reopen(options, &out, Some(dir))?
            } else {
                if number > 1 && !self.wait(number) {
                    bail!(EarlyEnd(ExitCode::from(measure::INTERRUPTED)));
                }
                let plan = match plan.take() {
                    Some(plan) => plan,
                    // That of the first run, which has all found values: the MPI, and sizes of an overlap.
                    None => Plan::read(&run(1).join(folder::PLAN))?.within(&run(1)).within(dir),
                };
                (measure::start(RunOptions { out: Some(&out), ..options }, plan)?, Vec::new())
            };
            let ended = measure::finish(begun, records, options.verbose)?;
            if number == most || ended.end == RunEnd::Interrupted {
                let of_last = ended.print(with_details)?;
                return Ok(if code == ExitCode::SUCCESS { of_last } else { code });
            }
            if !ended.is_success() {
                log(&format!("some methods failed; `ddtbench report {}` shows them", out.display()));
                code = ExitCode::from(measure::FAILED);
            }
        }
        Ok(code)
    }

    /// `false` if the user has stopped.
    fn wait(&self, number: usize) -> bool {
        const STEP: Duration = Duration::from_millis(100);
        log(&format!("run {number} starts in {} s", self.pause));
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < self.pause && !interrupt::requested() {
            std::thread::sleep(STEP);
        }
        !interrupt::requested()
    }
}

/// The folder for the runs. The first run creates it.
fn new_folder(out: Option<&Path>, plan: &Plan) -> anyhow::Result<PathBuf> {
    let free = |path: &Path| match std::fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(FolderError::NotEmpty(path.to_owned())),
        _ => Ok(path.to_owned()),
    };
    match out {
        Some(out) => Ok(free(out)?),
        None => measure::default_folder(plan.experiment.name(), free),
    }
}

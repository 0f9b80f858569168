//! `baseline check`: measures a baseline's plan again, and reports whether anything has become slower.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::ensure;
use clap::Args;
use ddtbench::compare::{Comparer, Comparisons, FEWEST_RUNS, GateDecision};
use ddtbench::experiments::planned::PlannedCase;
use ddtbench::folder;
use ddtbench::mpi::Programs;
use ddtbench::plan::Plan;
use ddtbench::run::{self, Environment, Machine, MpiAccount, this_build};

use super::pace::PaceArgs;
use super::{CHECKS, NamedArgs, at, environment};
use crate::cli::compare::JudgeArgs;
use crate::cli::measure::{self, BeginOptions};
use crate::cli::numbers::seconds;
use crate::cli::output::log;
use crate::cli::resume::ResumeOptions;

/// Three runs of each side show changes of 6% at best, so that the default threshold of `compare` would leave most rows undecided.
#[derive(Debug, Args)]
#[command(mut_arg("threshold", |threshold| threshold.default_value("10%")))]
pub struct CheckArgs {
    #[command(flatten)]
    baseline: NamedArgs,
    /// Another MPI than the baseline's: its name, or the path of its mpicc
    #[arg(long, value_name = "NAME")]
    mpi: Option<String>,
    /// Time limit, with at least two runs [default: all runs, and 10m with further ones, which measure undecided rows again]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time: Option<f64>,
    /// The folder for the new runs [default: checks/DATE-TIME in the baseline]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show how rank programs are built and launched
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    pace: PaceArgs,
    #[command(flatten)]
    judge: JudgeArgs,
    /// Compare even if the machine or settings differ
    #[arg(long)]
    anyway: bool,
    /// Run the programs named in the plan of another user's baseline
    #[arg(long)]
    trust: bool,
}

/// Time limit in seconds of the runs after the first ones, unless the flag gives another.
const TIME_S: f64 = 600.0;

impl CheckArgs {
    pub fn execute(mut self) -> anyhow::Result<ExitCode> {
        let begun = Instant::now();
        let path = self.baseline.path();
        let kept = self.baseline.runs()?;
        ensure!(
            kept.len() >= FEWEST_RUNS,
            "{} has {} runs, but needs {FEWEST_RUNS}; remove it, and save it again",
            path.display(),
            kept.len()
        );
        let file = kept[0].join(folder::PLAN);
        let plan = Plan::read(&file)?.within(&kept[0]).within(&path).within(&self.baseline.place.dir);
        let typed = Programs { mpis: self.mpi.iter().cloned().collect(), ..Programs::default() };
        let mpis = if typed.mpis.is_empty() { plan.mpis } else { typed.mpis.clone() };
        let plan = Plan { mpis, origin: plan.origin.with_typed(typed), ..plan };
        // Before the first run has made a folder.
        plan.trusted(self.trust, &mut |_| {})?;
        self.refuse_early(&kept[0])?;
        self.pace = self.pace.of_baseline(&path);
        let runs = self.pace.runs.unwrap_or(kept.len());
        let stamp = run::now().strftime("%Y-%m-%d-%H%M%S");
        let new = self.out.clone().unwrap_or_else(|| path.join(CHECKS).join(stamp.to_string()));
        // One run may have recorded conditions that another lacks.
        let environments =
            if self.anyway { Vec::new() } else { kept.iter().filter_map(|run| environment(run)).collect() };
        let held_to: Vec<MpiAccount> = environments.iter().flat_map(Environment::accounts).cloned().collect();
        let (verbose, is_trusted) = (self.verbose, self.trust);
        let options = BeginOptions { verbose, is_trusted, held_to: &held_to, ..BeginOptions::default() };
        let runs = self.measure(runs, begun, &new, &plan, options)?;
        let folders = [path, new];
        let comparisons = self.compare(runs, begun, &folders, &plan, options)?;
        let found = folders[1].join(folder::COMPARISON);
        std::fs::write(&found, serde_json::to_vec_pretty(&comparisons)?).map_err(at(&found))?;
        let [path, new] = folders.each_ref().map(|folder| folder.display());
        let threshold = 100.0 * self.judge.settings().threshold;
        log(&format!(
            "new runs: {new}; `ddtbench compare --threshold {threshold}% {path} {new}` shows this again"
        ));
        let decision = self.judge.print(&comparisons, &folders)?;
        Ok(match decision {
            GateDecision::Open => ExitCode::SUCCESS,
            GateDecision::Undecided if self.judge.undecided_is_ok => ExitCode::SUCCESS,
            GateDecision::Undecided | GateDecision::Shut => ExitCode::from(measure::FAILED),
        })
    }

    /// Measures so many runs, or fewer if they would take more time than the flag gives, but as many as a comparison needs. Returns
    /// their number.
    fn measure(
        &self,
        runs: usize,
        begun: Instant,
        new: &Path,
        plan: &Plan,
        options: BeginOptions<'_>,
    ) -> anyhow::Result<usize> {
        /// Fewer launches of a side have no interval.
        const LAUNCHES: usize = 3;
        let fewest = FEWEST_RUNS.max(LAUNCHES.div_ceil(plan.launches()));
        for number in 1..=runs {
            let (made, elapsed_s) = (number - 1, begun.elapsed().as_secs_f64());
            if made >= fewest && !fits(self.time, self.pace.pause_s(), made, elapsed_s) {
                log(&format!("{made} of {runs} runs fit into --time"));
                return Ok(made);
            }
            self.pace.measure(number..=number, new, plan, options, ResumeOptions::default())?;
        }
        Ok(runs)
    }

    /// Compares the new runs, and measures undecided cases in further runs while there is time, up to twice as many runs in all.
    fn compare(
        &self,
        runs: usize,
        begun: Instant,
        folders: &[PathBuf; 2],
        plan: &Plan,
        options: BeginOptions<'_>,
    ) -> anyhow::Result<Comparisons> {
        let most = (2 * runs).max(FEWEST_RUNS);
        let mut comparer = Comparer::new(self.judge.settings());
        for made in runs.. {
            let elapsed_s = begun.elapsed().as_secs_f64();
            let has_time = fits(self.time.or(Some(TIME_S)), self.pace.pause_s(), made, elapsed_s);
            let is_last = made == most || !has_time;
            let share = if is_last { 1.0 } else { made as f64 / most as f64 };
            let comparisons = self.judge.interim_test(&mut comparer, folders, share, self.anyway)?;
            let open: HashSet<_> = comparisons.open_cases().collect();
            if is_last || open.is_empty() {
                return Ok(comparisons);
            }
            log(&format!("measuring {} undecided cases again", open.len()));
            let checked = plan.clone().check()?;
            let is_open = |(case, params): &(&PlannedCase, &str)| open.contains(&(&*case.test, *params));
            let cases = checked.named_cases().into_iter().filter(is_open).map(|(case, _)| case.clone());
            let plan = Plan { cases: cases.collect(), sweeps: Vec::new(), ..plan.clone() };
            self.pace.measure(made + 1..=made + 1, &folders[1], &plan, options, ResumeOptions::default())?;
        }
        unreachable!("the last test returns")
    }

    /// Refuses at the beginning what would be refused at the end.
    fn refuse_early(&self, first: &Path) -> anyhow::Result<()> {
        if let Some(out) = &self.out {
            let is_empty = std::fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
            ensure!(is_empty, "--out {}: is not empty; choose another folder", out.display());
        }
        let Some(then) = environment(first).filter(|_| !self.anyway) else { return Ok(()) };
        let facts = |machine: &Machine, build: Option<String>| {
            [machine.cpu_model.clone(), Some(machine.cpus.to_string()), machine.governor.clone(), build]
        };
        let (then, now) =
            (facts(&then.begun.machine, then.begun.build()), facts(&Machine::this(), this_build()));
        let names = ["CPU", "hardware threads", "governor", "ddtbench build"];
        let pairs = names.iter().zip(then.into_iter().zip(now));
        let differ = pairs.filter(|(_, (then, now))| then != now).map(|(name, (then, now))| {
            let [then, now] = [then, now].map(|fact| fact.unwrap_or_else(|| "unknown".to_owned()));
            format!("{name}: {then} then, {now} now")
        });
        let differ: Vec<String> = differ.collect();
        ensure!(
            differ.is_empty(),
            "{} was measured under other conditions: {}; add --anyway to compare nevertheless",
            self.baseline.name,
            differ.join("; ")
        );
        Ok(())
    }
}

/// Whether one more run would end within a limit, after so many that have taken so long with their pauses.
fn fits(time_s: Option<f64>, pause_s: f64, made: usize, elapsed_s: f64) -> bool {
    let pauses_s = pause_s * made.saturating_sub(1) as f64;
    let run_s = (elapsed_s - pauses_s) / made as f64;
    time_s.is_none_or(|time_s| elapsed_s + pause_s + run_s < time_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_fits_if_it_ends_with_its_pause_before_the_limit() {
        // Two runs of 4 s with a pause of 1 s between them: the third one ends at 14 s.
        assert!(fits(Some(14.5), 1.0, 2, 9.0) && !fits(Some(13.5), 1.0, 2, 9.0));
        assert!(fits(None, 120.0, 2, 1000.0));
    }
}

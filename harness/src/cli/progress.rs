//! Progress of a run: a bar with the remaining time on a terminal, otherwise a line per case.

use std::time::{Duration, Instant};

use ddtbench::experiments::{self, Kind, launches::over_launches};
use ddtbench::model::event::{Block, Event};
use ddtbench::model::plain::undecorated;
use ddtbench::model::{Case, Measured, Record};
use ddtbench::report::names::grouped;
use ddtbench::run::{Observer, Run};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{self, for_stderr, log};

/// How often the bar is drawn per second. Drawing takes a core that ranks may need, so this is low.
const DRAWN_HZ: u8 = 2;

const STEPS: u64 = 1000;

pub struct Progress {
    bar: ProgressBar,
    /// Longest duration of a case in seconds: the time of all methods in a launch.
    expected_s: f64,
    kind: Kind,
    precision: Option<f64>,
    label: String,
    /// The interim result, in front of the name of a case in the bar.
    status: String,
    begun: u64,
    /// When the first case began, and how long those that have ended took; their number, and that of all that are measured.
    begun_at: Instant,
    spent: Duration,
    finished: u32,
    to_measure: u32,
    /// The start and the longest duration in seconds, if cases are measured again until a time is over; with the number of cases so far.
    limit: Option<(Instant, f64, usize)>,
    /// The failures of the last case that had any.
    last_failures: String,
}

impl Progress {
    pub fn new(cases: usize, run: &Run<'_>) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(DRAWN_HZ);
        let bar = ProgressBar::with_draw_target(Some(cases as u64 * STEPS), target);
        // A long name is cut, because the moving part must be visible.
        let style = "{wide_msg} {prefix} [{bar:8}] {percent}%";
        bar.set_style(ProgressStyle::with_template(style).expect("a sound template").progress_chars("=> "));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self {
            bar,
            expected_s: run.plan.expected_s(),
            kind: run.plan.plan.experiment,
            precision: run.plan.plan.limits.precision(),
            label: String::new(),
            status: String::new(),
            begun: 0,
            begun_at: Instant::now(),
            spent: Duration::ZERO,
            finished: 0,
            to_measure: cases as u32,
            limit: None,
            last_failures: String::new(),
        }
    }

    /// For cases that are measured again until a time is over.
    pub fn within(mut self, time_s: f64) -> Self {
        self.limit = Some((Instant::now(), time_s, 0));
        self
    }

    /// Shows the interim result in the bar.
    pub fn set_status(&mut self, status: &str) {
        status.clone_into(&mut self.status);
    }

    fn line(&self, text: &str) {
        if self.bar.is_hidden() { log(text) } else { self.bar.println(for_stderr(text)) }
    }

    /// Shows that so much of a case is done.
    fn advance(&self, done: f64) {
        let length = self.bar.length().unwrap_or_default() as f64;
        let position = match self.limit {
            Some((begun, time_s, _)) => length * (begun.elapsed().as_secs_f64() / time_s).min(1.0),
            None => self.begun as f64 + done * STEPS as f64,
        };
        self.bar.set_position(position as u64);
    }

    /// Methods alternate and end together, so the elapsed time shows the progress of a case.
    fn block(&mut self, block: &Block) {
        let done = if self.expected_s > 0.0 { (block.began_s / self.expected_s).min(1.0) } else { 0.0 };
        self.advance(done);
        self.bar.set_prefix(format!("round {}{}", block.block + 1, self.left()));
    }

    /// The remaining time, from the cases that have ended: within a case its end is unknown.
    fn left(&self) -> String {
        let left = match self.limit {
            Some((begun, time_s, _)) => Duration::from_secs_f64(time_s).saturating_sub(begun.elapsed()),
            None if self.finished == 0 => return String::new(),
            None => {
                let others = self.spent / self.finished * self.to_measure.saturating_sub(self.finished);
                others.saturating_sub(self.begun_at.elapsed().saturating_sub(self.spent))
            }
        };
        format!(", {} left", HumanDuration(left))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn begins(&mut self, number: usize, total: usize, name: &str) {
        self.label = match &mut self.limit {
            Some((.., count)) => {
                *count += 1;
                format!("[{count}] {name}")
            }
            None => format!("[{number}/{total}] {name}"),
        };
        let parts = [self.status.as_str(), name].into_iter().filter(|part| !part.is_empty());
        self.bar.set_message(parts.collect::<Vec<_>>().join("; "));
        self.bar.set_prefix(self.left().trim_start_matches(", ").to_owned());
        self.begun = self.bar.position();
    }

    fn received(&mut self, event: &Event) {
        if let Event::Block(block) = event
            && !self.bar.is_hidden()
        {
            self.block(block);
        }
    }

    fn note(&mut self, text: &str) {
        self.line(text);
    }

    fn ended(&mut self, methods: &[Measured], took: Duration) {
        self.advance(1.0);
        (self.finished, self.spent) = (self.finished + 1, self.begun_at.elapsed());
        let mut failures = failures(methods);
        if !failures.is_empty() {
            if failures == self.last_failures {
                failures = " (the same failure again)".to_owned();
            } else {
                self.last_failures.clone_from(&failures);
            }
        }
        // On a terminal the bar shows successes.
        if self.bar.is_hidden() || !failures.is_empty() {
            self.line(&format!("{} ... {:.1} s{failures}", self.label, took.as_secs_f64()));
        }
    }

    fn has_first_launches(&mut self, records: &[Record]) {
        let over = over_launches(records, self.precision);
        let answer = experiments::of_kind(self.kind).answer(&over, output::width(), None);
        // Lines of progress are plain.
        let answer = anstream::adapter::strip_str(&answer).to_string();
        self.line(&format!(
            "\nInterim result, after a launch of each case:\n{}\nThe other launches follow; if you stop the run, `ddtbench report` \
             shows these.\n",
            answer.trim_end()
        ));
    }

    fn skipped(&mut self, _case: &Case) {
        self.bar.inc(STEPS);
        // Cases of an earlier run do not predict the remaining time.
        self.to_measure = self.to_measure.saturating_sub(1);
    }
}

/// A line per kind of failure with its methods: if the launcher fails, all methods fail alike.
fn failures(methods: &[Measured]) -> String {
    let failure = |Measured { outcome, .. }: &&Measured| {
        let detail = outcome.detail().map(|detail| format!(": {}", undecorated(detail))).unwrap_or_default();
        format!("{}{detail}", outcome.label())
    };
    let failed = methods.iter().filter(|measured| !measured.outcome.is_measured());
    let line = |(failure, failed): (String, Vec<&Measured>)| {
        let names: Vec<&str> = failed.iter().map(|measured| &*measured.method).collect();
        format!("\n    {}: {failure}", names.join(", "))
    };
    grouped(failed, failure).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use ddtbench::model::Outcome;

    use super::*;

    #[test]
    fn methods_that_failed_alike_share_a_line() {
        let of = |method: &str, outcome| Measured { method: method.to_owned(), outcome, blocks: Vec::new() };
        let crashed = || Outcome::Crashed { detail: "no process has begun".to_owned() };
        let all = [of("ddt", crashed()), of("manual", Outcome::TimeLimit), of("mpi_pack", crashed())];
        assert_eq!(failures(&all), "\n    ddt, mpi_pack: crashed: no process has begun");
        assert_eq!(failures(&all[1..2]), "");
    }
}

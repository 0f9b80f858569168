//! How a run goes: a bar with the time left on a terminal, else a line per case.

use std::collections::HashMap;
use std::time::Duration;

use ddtbench::model::event::{Block, Event};
use ddtbench::model::{Case, Measured, Phase};
use ddtbench::run::{Observer, Run};
use ddtbench::stats;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{for_stderr, log};

/// How often the bar is drawn, in a second: seldom, since drawing takes a core, and ranks may have all of them.
const DRAWN_HZ: u8 = 2;

/// Steps of the bar for one case in one launch.
const STEPS: u64 = 1000;

/// Shows progress on standard error.
pub struct Progress {
    bar: ProgressBar,
    /// What a case lasts at most, in seconds: all methods' time in a launch.
    expected_s: f64,
    /// The phase whose precision is shown.
    headline: Phase,
    /// The case, with its number.
    label: String,
    begun: u64,
    /// Per method and pair, the medians of the blocks of this case.
    blocks: HashMap<(String, usize), Vec<f64>>,
}

impl Progress {
    /// For so many cases of a run, each in one launch.
    pub fn new(cases: usize, run: &Run<'_>) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(DRAWN_HZ);
        let bar = ProgressBar::with_draw_target(Some(cases as u64 * STEPS), target);
        // The name is cut where there is no room for it: what moves stays.
        let style = "{wide_msg} {prefix} [{bar:8}] {percent}% {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("a sound template").progress_chars("=> "));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        let (expected_s, headline) = (run.plan.expected_s(), run.plan.plan.experiment.headline());
        Self { bar, expected_s, headline, label: String::new(), begun: 0, blocks: HashMap::new() }
    }

    fn line(&self, text: &str) {
        if self.bar.is_hidden() { log(text) } else { self.bar.println(for_stderr(text)) }
    }

    /// Methods take turns and end together: how far a case is, is its time.
    fn block(&mut self, block: &Block) {
        let done = if self.expected_s > 0.0 { (block.began_s / self.expected_s).min(1.0) } else { 0.0 };
        self.bar.set_position(self.begun + (done * STEPS as f64) as u64);
        let median = stats::median(&stats::sorted(block.times[self.headline].iter().copied()));
        self.blocks.entry((block.method.clone(), block.pair)).or_default().extend(median);
        let precision = self.precision().map_or_else(String::new, |half| format!(" ±{:.1}%", 100.0 * half));
        self.bar.set_prefix(format!("round {}{precision}", block.block + 1));
    }

    /// The widest half interval of all methods, as a share of the median; `None` until all have one.
    fn precision(&self) -> Option<f64> {
        let half = |series: &Vec<f64>| {
            let sorted = stats::sorted(series.iter().copied());
            let (low, high) = stats::median_interval(&sorted)?;
            Some((high - low) / 2.0 / stats::median(&sorted).filter(|&median| median > 0.0)?)
        };
        self.blocks.values().map(half).try_fold(0.0, |widest: f64, half| Some(widest.max(half?)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn begins(&mut self, number: usize, total: usize, name: &str) {
        self.label = format!("[{number}/{total}] {name}");
        self.bar.set_message(name.to_owned());
        self.bar.set_prefix("");
        self.begun = self.bar.position();
        self.blocks.clear();
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
        self.bar.set_position(self.begun + STEPS);
        let mut text = format!("{} ... {:.1} s", self.label, took.as_secs_f64());
        for measured in methods.iter().filter(|measured| !measured.outcome.is_measured()) {
            text += &format!("\n    {}: {}", measured.method, measured.outcome.label());
            if let Some(detail) = measured.outcome.detail() {
                text += &format!(": {detail}");
            }
        }
        self.line(&text);
    }

    fn skipped(&mut self, _case: &Case) {
        self.bar.inc(STEPS);
        // What was done earlier says nothing about the time that is left.
        self.bar.reset_eta();
    }
}

//! How a run goes: a bar with the time left on a terminal, else a line per case.

use std::time::Duration;

use ddtbench::model::{Case, Measured, Outcome, Seen};
use ddtbench::run::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Tells on standard error.
pub struct Progress {
    bar: ProgressBar,
    /// Methods of a case: the steps of the bar.
    methods: u64,
    label: String,
    begun: u64,
}

impl Progress {
    /// For a number of cases of so many methods each.
    pub fn new(cases: usize, methods: usize) -> Self {
        let steps = (cases * methods) as u64;
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let style = "{msg} [{bar:30}] {percent}% {elapsed_precise}, {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("a sound template").progress_chars("=> "));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self { bar, methods: methods as u64, label: String::new(), begun: 0 }
    }

    fn line(&self, text: &str) {
        if self.bar.is_hidden() { super::output::say(text) } else { self.bar.println(text) }
    }
}

fn has_failed(outcome: &Outcome) -> bool {
    !outcome.is_measured() || matches!(outcome, Outcome::Seen { what: Seen::Failed, .. })
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn begins(&mut self, number: usize, total: usize, name: &str) {
        self.label = format!("[{number}/{total}] {name}");
        self.bar.set_message(self.label.clone());
        self.begun = self.bar.position();
    }

    fn method_ended(&mut self, _method: &str) {
        let end = self.begun + self.methods;
        self.bar.set_position((self.bar.position() + 1).min(end));
    }

    fn note(&mut self, text: &str) {
        self.line(text);
    }

    fn ended(&mut self, methods: &[Measured], took: Duration) {
        self.bar.set_position(self.begun + self.methods);
        let mut text = format!("{} ... {:.1} s", self.label, took.as_secs_f64());
        for measured in methods.iter().filter(|measured| has_failed(&measured.outcome)) {
            text += &format!("\n    {}: {}", measured.method, measured.outcome.label());
            if let Some(detail) = measured.outcome.detail() {
                text += &format!(": {detail}");
            }
        }
        self.line(&text);
    }

    fn skipped(&mut self, _case: &Case) {
        self.bar.inc(self.methods);
        // What was done earlier says nothing about the time that is left.
        self.bar.reset_eta();
    }
}

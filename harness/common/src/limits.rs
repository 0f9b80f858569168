//! When a method has been measured enough, and when a rank program is considered hanging.

use apps::Preset;
use serde::{Deserialize, Serialize};

use crate::model::conditions::Rule;
use crate::stats;

/// When a method has been measured enough, and when a rank program is considered hanging.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The rule that ends a method's measurement. All rules except [`Rule::Interval`] have their own numbers,
    /// and the next five fields are ignored.
    #[serde(skip_serializing_if = "Rule::is_default")]
    pub rule: Rule,
    /// Repetitions before the first one that counts.
    pub warmup: u32,
    /// Minimum repetitions.
    #[serde(rename = "min_repetitions", alias = "min_runs")]
    pub min_runs: u32,
    /// Maximum repetitions.
    #[serde(rename = "max_repetitions", alias = "max_runs")]
    pub max_runs: u32,
    /// Time of a method, in seconds: warm-up and blocks, including everything between two of them.
    pub max_time_s: f64,
    /// Minimum rounds of blocks, however long they take; 0 if the user set the time, which then takes precedence.
    #[serde(skip_serializing_if = "is_none")]
    pub min_rounds: u32,
    /// A method is done when half the width of its median's interval is at most this, in percent of the median.
    pub precision_percent: f64,
    /// The rank program is ended after it has printed nothing for this long, in seconds.
    pub timeout_s: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rule: Rule::default(),
            warmup: 10,
            min_runs: 30,
            max_runs: 10_000,
            max_time_s: max_time_s(Preset::Quick),
            min_rounds: 0,
            precision_percent: 2.5,
            timeout_s: 60.0,
        }
    }
}

/// An invalid limit.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{field} = {value}: {reason}")]
pub struct WrongLimit {
    /// Its name.
    pub field: &'static str,
    pub value: String,
    /// The reason, with the right values.
    pub reason: String,
}

/// Maximum methods of a plan: all that exist, and as many ways to aggregate.
pub const MOST_METHODS: usize = 64;

/// Minimum rounds for the report of a median, unless the user sets a time.
pub const MIN_ROUNDS: u32 = stats::LEAST_ROUNDS as u32;

/// The longest time that can be requested, in seconds: eleven days.
pub const LONGEST_S: f64 = 1e6;

/// The shortest useful timeout, in seconds: on a loaded machine a process can wait about this long.
const LEAST_SILENCE_S: f64 = 0.1;

fn is_none(rounds: &u32) -> bool {
    *rounds == 0
}

/// The time of a method in a preset, in seconds: `quick` must end within 3 minutes.
pub const fn max_time_s(preset: Preset) -> f64 {
    match preset {
        Preset::Quick => 0.5,
        Preset::Default => 0.7,
        Preset::Full => 1.0,
    }
}

impl Limits {
    /// The precision at which a method is done, as a share; `None` under a rule that has its own numbers.
    pub fn precision(&self) -> Option<f64> {
        self.rule.is_default().then_some(self.precision_percent / 100.0)
    }

    /// Refuses limits with which a method would never end, or end at once.
    pub fn check(&self) -> Result<(), WrongLimit> {
        let field =
            |field, value: String, reason: &str| Err(WrongLimit { field, value, reason: reason.to_owned() });
        if self.min_runs == 0 {
            return field("min_repetitions", "0".to_owned(), "must be at least 1");
        }
        if self.max_runs < self.min_runs {
            let reason = format!("must be at least min_repetitions, {}", self.min_runs);
            return field("max_repetitions", self.max_runs.to_string(), &reason);
        }
        if !(self.max_time_s > 0.0 && self.max_time_s <= LONGEST_S) {
            let reason = format!("must be above 0 and at most {LONGEST_S} seconds");
            return field("max_time_s", format!("{:?}", self.max_time_s), &reason);
        }
        if !(LEAST_SILENCE_S..=LONGEST_S).contains(&self.timeout_s) {
            let reason = format!("must be from {LEAST_SILENCE_S} to {LONGEST_S} seconds");
            return field("timeout_s", format!("{:?}", self.timeout_s), &reason);
        }
        if !(self.precision_percent > 0.0 && self.precision_percent < 100.0) {
            let reason = "must be above 0 and below 100 percent";
            return field("precision_percent", self.precision_percent.to_string(), reason);
        }
        Ok(())
    }
}

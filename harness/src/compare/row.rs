//! The rows of a comparison: a method of a case with its change in each state of the machine.

use serde::Serialize;

use super::comparison::GateDecision;
use super::side::Subject;
use super::{Estimate, PhaseChange, Verdict};
use crate::stats::launches::SlowGroup;

/// A method of a case on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// The method of a case.
    #[serde(flatten)]
    pub subject: Subject,
    pub bytes: u64,
    /// Its change in each state of the machine that a side met, the nearest cores first; one if states are not known.
    pub changes: Vec<StateChange>,
    /// Further launches of each side, which are in no known state: their latency is not known, or changed meanwhile.
    pub without_state: (usize, usize),
    /// Copies of a device's driver for one message on each side, if both counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<[f64; 2]>,
    /// The worst verdict in any state that both sides met: the one that counts most in a gate; or that on copies.
    pub verdict: Verdict,
    /// Its failure; empty without one.
    pub note: String,
}

/// The change of a method in one state of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StateChange {
    /// The number of the state, the nearest cores first.
    pub state: usize,
    /// The median core-to-core latency of all launches in this state, in seconds; missing if it is not known.
    pub latency_s: Option<f64>,
    /// Launches of each side.
    pub launches: (usize, usize),
    /// Further launches of each side, which are left out because they take unusually long, and the machine was disturbed.
    pub disturbed: (usize, usize),
    /// The time on the base, in seconds: the geometric mean over launches, adjusted to the median of latencies and of copy speeds in
    /// this state if these are known, so that the change is the ratio of the times.
    pub base_s: Option<f64>,
    /// The same of the other side.
    pub new_s: Option<f64>,
    /// The change of its time, new over base.
    pub time: Option<Estimate>,
    /// The mean on the base, in seconds, so that the change of the mean is the ratio of the means.
    pub base_mean_s: Option<f64>,
    /// The same of the other side.
    pub new_mean_s: Option<f64>,
    /// The change of its mean; missing with too few launches for an interval.
    pub mean: Option<Estimate>,
    /// The verdict on its time, unless its mean is shown to be slower by more than the threshold, or to have
    /// changed by more while its time is not shown to have changed.
    pub verdict: Verdict,
    /// Launches of each side that take clearly longer than its others, if these are a fifth or more.
    pub slow: (Option<SlowGroup>, Option<SlowGroup>),
    /// The method that its change is compared with; missing for references.
    pub control: Option<String>,
    /// Its change relative to that of the control: shows whether others have changed as much. It does not affect verdicts.
    pub over_control: Option<Estimate>,
    /// Its other phases on both sides, which explain a change; they are not tested.
    pub phases: Vec<PhaseChange>,
}

impl ComparisonRow {
    pub fn compared(&self) -> impl Iterator<Item = &StateChange> {
        self.changes.iter().filter(|change| change.verdict != Verdict::NotCompared)
    }

    /// The change in the state that decides: the one with the worst verdict, and of equal ones with the largest change.
    pub fn decisive(&self) -> Option<&StateChange> {
        let order = |change: &StateChange| (change.gate(), std::cmp::Reverse(change.verdict));
        self.compared().max_by(|a, b| order(a).cmp(&order(b)).then(a.size().total_cmp(&b.size())))
    }

    /// The verdict from those in all states that both sides met, if it works on both sides.
    pub(super) fn worst(changes: &[StateChange]) -> Verdict {
        let compared = changes.iter().filter(|change| change.verdict != Verdict::NotCompared);
        let worst = compared.max_by_key(|change| (change.gate(), std::cmp::Reverse(change.verdict)));
        worst.map_or(Verdict::Undecided, |change| change.verdict)
    }

    /// The least size of the decisive change, by its interval: a logarithm.
    pub(super) fn size(&self) -> f64 {
        self.decisive().map_or(0.0, StateChange::size)
    }

    /// Whether its verdict is not one of times: it does not work on a side, was measured on one only, or is one of copies.
    pub(super) const fn untimed(&self) -> bool {
        use Verdict::{Broken, FewerCopies, MoreCopies, NotCompared, Repaired, Same};
        matches!(self.verdict, Broken | MoreCopies | Repaired | FewerCopies | NotCompared)
            || matches!(self.verdict, Same) && self.changes.is_empty()
    }

    /// Its copies: `128 -> 256`.
    pub(super) fn copies_text(&self) -> Option<String> {
        self.copies.map(|[base, new]| format!("{base} -> {new}"))
    }

    /// Whether the mean shows a change that the time does not show.
    pub fn is_by_mean(&self) -> bool {
        !self.untimed() && self.decisive().is_some_and(StateChange::is_by_mean)
    }

    /// The verdict as text, with its basis if that is not the time.
    pub fn verdict_text(&self) -> &'static str {
        match self.decisive() {
            Some(change) if !self.untimed() => change.verdict_text(),
            _ => self.verdict.name(),
        }
    }

    /// Whether a change is shown to be larger than the threshold.
    pub fn is_beyond(&self) -> bool {
        self.decisive().is_some_and(StateChange::is_beyond)
    }

    /// Whether the verdict is final, in all states that both sides met.
    pub fn is_decided(&self) -> bool {
        self.untimed() || self.compared().next().is_some() && self.compared().all(StateChange::is_decided)
    }

    /// Whether more launches may show more: it is undecided, or the means differ more than the times and that may be chance.
    pub fn is_open(&self) -> bool {
        !self.is_decided() || !self.untimed() && self.compared().any(StateChange::has_open_mean)
    }

    /// Launches of each side that would probably decide it in every state; 0 if only its means are open, infinite if that is not known.
    pub(super) fn launches_needed(&self) -> f64 {
        let all = |change: &StateChange| change.launches.0.min(change.launches.1) as f64;
        let made: f64 = self.changes.iter().map(all).sum();
        let needed = |change: &StateChange| match &change.time {
            // The mean has no estimate, but is usually decided soon.
            _ if change.is_decided() => 0.0,
            Some(time) => match time.would_decide {
                Some(needed) => needed as f64 * made / all(change),
                None => f64::INFINITY,
            },
            None => made / all(change).max(1.0) * crate::stats::launches::FEWEST as f64,
        };
        let needs: Vec<f64> = self.compared().map(needed).collect();
        if needs.is_empty() { f64::INFINITY } else { needs.into_iter().fold(0.0, f64::max) }
    }

    /// Whether the row lets a change pass: by the worse state of those that both sides met.
    pub(super) fn gate(&self) -> GateDecision {
        match self.verdict {
            Verdict::Broken | Verdict::MoreCopies => GateDecision::Shut,
            _ if self.untimed() => GateDecision::Open,
            _ => self.compared().map(StateChange::gate).max().unwrap_or(GateDecision::Undecided),
        }
    }
}

impl StateChange {
    /// The least size of the change in any direction, by its interval: a logarithm. A single disturbed launch
    /// can make a ratio large, but then its interval is wide.
    pub(super) fn size(&self) -> f64 {
        self.answer().map_or(0.0, |answer| answer.low.ln().max(-answer.high.ln()))
    }

    /// Whether the mean shows a change that the time does not show.
    pub fn is_by_mean(&self) -> bool {
        self.verdict.is_change() && self.time.as_ref().is_none_or(|time| time.verdict != self.verdict)
    }

    /// The verdict as text, with its basis if that is not the time.
    pub fn verdict_text(&self) -> &'static str {
        match self.verdict {
            Verdict::Slower if self.is_by_mean() => "slower by mean",
            Verdict::Faster if self.is_by_mean() => "faster by mean",
            verdict => verdict.name(),
        }
    }

    /// The answer that determines the verdict.
    pub(super) fn answer(&self) -> Option<&Estimate> {
        self.differing_mean().filter(|mean| mean.verdict == self.verdict).or(self.time.as_ref())
    }

    /// The change of the mean, if it is shown to be beyond the threshold and differs from that of the time:
    /// another verdict, or at most half as large.
    pub(super) fn differing_mean(&self) -> Option<&Estimate> {
        let mean = self.mean.as_ref().filter(|mean| mean.beyond)?;
        let is_alike = |time: &Estimate| {
            let times = (mean.ratio / time.ratio).max(time.ratio / mean.ratio);
            time.verdict == mean.verdict && (times < 2.0 || mean.low < time.high && time.low < mean.high)
        };
        (!self.time.as_ref().is_some_and(is_alike)).then_some(mean)
    }

    /// Whether a change is shown to be larger than the threshold.
    pub fn is_beyond(&self) -> bool {
        let beyond = |answer: &Estimate| answer.beyond && answer.verdict == self.verdict;
        [&self.time, &self.mean].into_iter().flatten().any(beyond)
    }

    /// Whether the verdict is final.
    pub fn is_decided(&self) -> bool {
        match self.verdict {
            Verdict::Slower | Verdict::Faster => self.is_beyond(),
            Verdict::SameOrSlower | Verdict::Undecided | Verdict::SameOrFaster => false,
            _ => true,
        }
    }

    fn has_open_mean(&self) -> bool {
        /// A logarithm. Smaller differences are usual without a fault: in one of ten launches, means differ
        /// from medians by as much.
        const MUCH: f64 = 0.1;
        let farther = || {
            let means = self.new_mean_s?.ln() - self.base_mean_s?.ln();
            Some((means - self.time.as_ref()?.ratio.ln()).abs() > MUCH)
        };
        !self.mean.as_ref().is_some_and(Estimate::is_decided) && farther().unwrap_or(false)
    }

    fn gate(&self) -> GateDecision {
        match self.verdict {
            Verdict::Slower if self.is_beyond() => GateDecision::Shut,
            Verdict::Slower | Verdict::Undecided | Verdict::SameOrSlower => GateDecision::Undecided,
            _ => GateDecision::Open,
        }
    }
}

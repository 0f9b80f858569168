//! Explains a change: the phases of a method on both sides. They are not tested.

use serde::Serialize;

use super::side::SubjectValues;
use crate::model::Phase;
use crate::report::units;
use crate::stats::{median, sorted};

/// A phase on both sides: medians over launches, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseChange {
    pub phase: Phase,
    pub base_s: f64,
    /// On the other side.
    pub new_s: f64,
}

/// The parts of the headline phase. `Communicate` contains `Net` and the peer's packing, if these are known.
const PARTS: [Phase; 10] = [
    Phase::Pack,
    Phase::PeerUnpack,
    Phase::PeerPack,
    Phase::Net,
    Phase::Communicate,
    Phase::Unpack,
    Phase::Call,
    Phase::Compute,
    Phase::Wait,
    Phase::Rim,
];

/// Phases that happen once, outside of it.
const ONCE: [Phase; 3] = [Phase::Create, Phase::Init, Phase::Free];

/// All phases that both sides have, in launches of one state of the machine: medians over launches.
pub(super) fn phase_changes(base: &SubjectValues, new: &SubjectValues) -> Vec<PhaseChange> {
    let middle =
        |values: &SubjectValues, phase: &Phase| median(&sorted(values.phases.get(phase)?.values().copied()));
    let both = |phase: &Phase| {
        Some(PhaseChange { phase: *phase, base_s: middle(base, phase)?, new_s: middle(new, phase)? })
    };
    base.phases.keys().filter_map(both).collect()
}

/// The explanation for a slower or faster method: the part with the largest change, if there are several, and phases that happen
/// once and take much longer or shorter, by more than `threshold`, a fraction.
pub(super) fn explanation(phases: &[PhaseChange], is_slower: bool, threshold: f64) -> Option<String> {
    let has_net = phases.iter().any(|change| change.phase == Phase::Net);
    let is_part = |change: &&PhaseChange| {
        PARTS.contains(&change.phase) && !(has_net && change.phase == Phase::Communicate)
    };
    let parts: Vec<&PhaseChange> = phases.iter().filter(is_part).collect();
    let by = |change: &PhaseChange| if is_slower { change.added_s() } else { -change.added_s() };
    let most = parts.iter().max_by(|a, b| by(a).total_cmp(&by(b)));
    let most = most.filter(|change| parts.len() > 1 && by(change) > 0.0);
    // They are not tested, and phases that happen once vary by tens of percent.
    const LARGE: f64 = 0.5;
    let least = threshold.max(LARGE).ln_1p();
    let is_other = |change: &PhaseChange| (change.new_s / change.base_s).ln().abs() > least;
    let once = phases.iter().filter(|change| ONCE.contains(&change.phase) && is_other(change));
    let texts: Vec<String> = most
        .map(|change| format!("mostly in {}", change.text()))
        .into_iter()
        .chain(once.map(PhaseChange::text))
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

impl PhaseChange {
    /// The additional time in seconds.
    fn added_s(&self) -> f64 {
        self.new_s - self.base_s
    }

    fn text(&self) -> String {
        format!("{} ({})", self.phase.name(), from_to(self.base_s, self.new_s))
    }
}

/// Example: `14.8 -> 345 µs`.
pub(super) fn from_to(base_s: f64, new_s: f64) -> String {
    let [base, new] = [base_s, new_s].map(units::seconds);
    let unit = new.find(' ').map_or("", |at| &new[at..]);
    format!("{} -> {new}", base.strip_suffix(unit).unwrap_or(&base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_both_have_is_written_once() {
        assert_eq!(from_to(14.8e-6, 345e-6), "14.8 -> 345 µs");
        assert_eq!(from_to(14.8e-3, 1.2), "14.8 ms -> 1.20 s");
    }

    #[test]
    fn a_single_part_explains_nothing_and_a_changed_creation_is_reported() {
        let change = |phase, base_s, new_s| PhaseChange { phase, base_s, new_s };
        let communicate = change(Phase::Communicate, 1e-5, 2e-5);
        assert_eq!(explanation(std::slice::from_ref(&communicate), true, 0.05), None);
        let create = |new_s| [communicate.clone(), change(Phase::Create, 1e-6, new_s)];
        assert_eq!(explanation(&create(1.04e-6), true, 0.05), None);
        assert_eq!(explanation(&create(3e-6), true, 0.05).as_deref(), Some("create (1.00 -> 3.00 µs)"));
    }
    #[test]
    fn what_has_changed_the_other_way_explains_nothing() {
        let change = |phase, base_s, new_s| PhaseChange { phase, base_s, new_s };
        let parts = [
            change(Phase::Pack, 4e-6, 1e-6),
            change(Phase::Net, 5e-6, 7e-6),
            change(Phase::Unpack, 1e-6, 2e-6),
        ];
        assert_eq!(explanation(&parts, true, 0.05).as_deref(), Some("mostly in net (5.00 -> 7.00 µs)"));
        assert_eq!(explanation(&parts, false, 0.05).as_deref(), Some("mostly in pack (4.00 -> 1.00 µs)"));
        assert_eq!(explanation(&parts[1..], false, 0.05), None);
    }
}

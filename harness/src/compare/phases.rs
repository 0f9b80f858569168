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

/// The explanation for a slower or faster method: the part with the largest change, if there are several, and
/// phases that happen once and changed in the same direction by more than `threshold`, a fraction.
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
    let is_other =
        |change: &PhaseChange| by(change) > 0.0 && (change.new_s / change.base_s).ln().abs() > least;
    let once = phases.iter().filter(|change| ONCE.contains(&change.phase) && is_other(change));
    let texts: Vec<String> = most
        .map(|change| format!("mostly in {}", change.text()))
        .into_iter()
        .chain(once.map(|change| format!("apart from it, {}", change.text())))
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
    fn the_part_that_changed_most_explains_a_change_and_a_changed_creation_is_reported() {
        let [communicate, pack, net, unpack] = [
            (Phase::Communicate, 10.0, 20.0),
            (Phase::Pack, 4.0, 1.0),
            (Phase::Net, 5.0, 7.0),
            (Phase::Unpack, 1.0, 2.0),
        ];
        for (phases, is_slower, expected) in [
            (&[communicate][..], true, None),
            (&[communicate, (Phase::Create, 1.0, 1.04)], true, None),
            (
                &[communicate, (Phase::Create, 1.0, 3.0)],
                true,
                Some("apart from it, create (1.00 -> 3.00 µs)"),
            ),
            (&[communicate, (Phase::Create, 3.0, 1.0)], true, None),
            (&[pack, net, unpack], true, Some("mostly in net (5.00 -> 7.00 µs)")),
            (&[pack, net, unpack], false, Some("mostly in pack (4.00 -> 1.00 µs)")),
            (&[net, unpack], false, None),
        ] {
            let change = |&(phase, base_us, new_us): &(Phase, f64, f64)| PhaseChange {
                phase,
                base_s: 1e-6 * base_us,
                new_s: 1e-6 * new_us,
            };
            let changes: Vec<PhaseChange> = phases.iter().map(change).collect();
            assert_eq!(explanation(&changes, is_slower, 0.05).as_deref(), expected, "{phases:?}");
        }
    }
}

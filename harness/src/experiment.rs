//! The kinds of experiments: what each measures, by which methods, and in which phases.

use serde::{Deserialize, Serialize};

use crate::halo;
use crate::methods::{self, METHODS, MethodInfo};
use crate::partitioned::mechanisms::{self, MECHANISMS};
use crate::phase::Phase;

/// What a run measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// A message that goes there and back, per micro-app.
    #[default]
    PingPong,
    /// A message that is finished partition by partition.
    Partitioned,
    /// The exchange of a micro-app between many ranks.
    Halo,
}

impl Experiment {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::PingPong, Self::Partitioned, Self::Halo];

    /// Whether it is the one that a plan is of which does not say.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The subcommand of the rank program.
    pub const fn command(self) -> &'static str {
        match self {
            Self::PingPong => "pingpong",
            Self::Partitioned => "partitioned",
            Self::Halo => "halo",
        }
    }

    /// Its methods, in report order.
    pub const fn methods(self) -> &'static [MethodInfo] {
        match self {
            Self::PingPong => METHODS,
            Self::Partitioned => MECHANISMS,
            Self::Halo => halo::METHODS,
        }
    }

    /// The method called `name`.
    ///
    /// # Errors
    /// A sentence with all names.
    pub fn method(self, name: &str) -> Result<&'static MethodInfo, String> {
        match self {
            Self::PingPong => methods::find(name),
            Self::Partitioned => mechanisms::find(name),
            Self::Halo => halo::find(name),
        }
    }

    /// Its phases, in the order in which they happen; the whole last.
    pub const fn phases(self) -> &'static [Phase] {
        use Phase::{
            AfterLast, Communicate, Compute, Create, Delay, Exchange, FirstPartition, Free, InParts, Init,
            Net, Pack, PeerPack, PeerUnpack, RoundTrip, Solution, Total, Unpack,
        };
        match self {
            Self::PingPong => {
                &[Create, Pack, Communicate, PeerUnpack, PeerPack, Net, Unpack, InParts, Free, RoundTrip]
            }
            Self::Partitioned => &[Init, Compute, FirstPartition, Delay, AfterLast, Total, Solution],
            Self::Halo => &[Init, Compute, Pack, Communicate, Unpack, Total, Exchange],
        }
    }

    /// The phase that a method is judged by: that of its last.
    pub const fn whole(self) -> Phase {
        let phases = self.phases();
        phases[phases.len() - 1]
    }

    /// The method that all others are compared with.
    pub const fn reference(self) -> &'static str {
        match self {
            Self::PingPong => methods::REFERENCE,
            Self::Partitioned => mechanisms::SINGLE,
            Self::Halo => halo::REFERENCE,
        }
    }

    /// The method that `method` is compared with; `None` for one that others are compared with.
    pub fn reference_of(self, method: &str) -> Option<&'static str> {
        let info = self.method(method).ok();
        let is_reference = method == self.reference() || info.is_some_and(|info| info.is_reference);
        (!is_reference).then(|| info.and_then(|info| info.reference).unwrap_or(self.reference()))
    }

    /// The experiment of which a phase is the whole.
    pub fn of_whole(phase: Phase) -> Option<Self> {
        Self::ALL.into_iter().find(|experiment| experiment.whole() == phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_belongs_to_an_experiment_and_every_whole_to_one() {
        for phase in Phase::ALL {
            let has = |experiment: &Experiment| experiment.phases().contains(&phase);
            assert!(Experiment::ALL.iter().any(has), "{phase:?}");
        }
        for experiment in Experiment::ALL {
            assert_eq!(Experiment::of_whole(experiment.whole()), Some(experiment));
        }
    }

    #[test]
    fn methods_are_found_in_their_experiment_alone() {
        for experiment in Experiment::ALL {
            for method in experiment.methods() {
                assert_eq!(experiment.method(method.name), Ok(method));
            }
        }
        assert!(Experiment::PingPong.method("many").is_err());
        assert_eq!(Experiment::of_whole(Phase::Solution), Some(Experiment::Partitioned));
        assert_eq!(Experiment::of_whole(Phase::Pack), None);
    }
}

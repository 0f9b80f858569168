//! The mechanisms by name: what each is made of.

use anyhow::Context;
use common::fine_grained::aggregation::{Aggregation, Grouping, Over};
use common::fine_grained::costs::Costs;
use common::kinds::partitioned::methods::{SINGLE, SINGLE_INIT, SINGLE_LAUNCHED};
use common::model::Outcome;

use super::aggregated::Units;
use super::aggregated_adaptive::AggregatedAdaptive;
use super::aggregated_static::AggregatedStatic;
use super::fence::Fence;
use super::isend::Isend;
use super::many::Many;
use super::partitioned::{Marking, Native};
use super::passive::Passive;
use super::persistent::Persistent;
use super::post_start::PostStart;
use super::puts::Windows;
use super::send::Send;
use super::single::Single;
use super::{Channel, Mechanism};

/// What a mechanism is made of. In all but the first, threads call MPI by themselves.
#[derive(Clone, Copy, Debug)]
pub enum Implementation {
    Single,
    Send,
    Isend,
    Persistent,
    Many,
    Native(Marking),
    Passive(Windows),
    PostStart(Windows),
    Fence,
    Aggregated(Aggregation),
}

/// What the mechanism called `name` is.
///
/// # Errors
/// A mechanism that is listed but not implemented.
pub fn implementation(name: &str) -> anyhow::Result<Implementation> {
    Implementation::find(name).with_context(|| format!("mechanism {name:?} is listed but not implemented"))
}

impl Implementation {
    /// What the mechanism called `name` is; `None` where it is not implemented.
    fn find(name: &str) -> Option<Self> {
        Some(match name {
            SINGLE | SINGLE_INIT | SINGLE_LAUNCHED => Self::Single,
            "send" => Self::Send,
            "isend" => Self::Isend,
            "persistent" => Self::Persistent,
            "many" => Self::Many,
            "partitioned" => Self::Native(Marking::OneByOne),
            "partitioned:list" => Self::Native(Marking::Lists),
            "partitioned:parrived" => Self::Native(Marking::Asking),
            "rma_single_passive" => Self::Passive(Windows::Single),
            "rma_many_passive" => Self::Passive(Windows::Many),
            "rma_single_active" => Self::PostStart(Windows::Single),
            "rma_many_active" => Self::PostStart(Windows::Many),
            "rma_fence" => Self::Fence,
            _ => Self::Aggregated(Aggregation::of_mechanism(name)?.ok()?),
        })
    }

    /// Why this channel cannot have it for want of threads, or of two ways at once.
    pub fn refusal(self, channel: &Channel<'_>, both_ways: bool) -> Option<Outcome> {
        let reason = match (self, &channel.calls) {
            (Self::Single, _) => return None,
            (_, Err(reason)) => reason.clone(),
            (Self::Send, Ok(_)) if both_ways => {
                "blocking sends of both ranks would wait for each other".to_owned()
            }
            _ => return None,
        };
        Some(Outcome::NotAvailable { reason })
    }

    /// Whether it has to know what messages cost. One message is one message, whoever decides when it goes.
    pub fn needs_costs(self, partitions: usize) -> bool {
        partitions > 1 && matches!(self, Self::Aggregated(Aggregation { grouping: Grouping::Adaptive, .. }))
    }

    /// One end of the mechanism, or why this channel cannot have it; collective over both ranks. `costs` are there if it
    /// [needs](Self::needs_costs) them.
    pub fn make<'a>(
        self,
        channel: Channel<'a>,
        costs: Option<&'a Costs>,
    ) -> anyhow::Result<Result<Box<dyn Mechanism + 'a>, Outcome>> {
        let refused = |reason| Ok(Err(Outcome::NotAvailable { reason }));
        let calls = match (self, channel.calls.clone()) {
            (Self::Single, _) => return Ok(Ok(Box::new(Single::new(&channel)?))),
            (_, Err(reason)) => return refused(reason),
            (_, Ok(calls)) => calls,
        };
        let mechanism: Box<dyn Mechanism + 'a> = match self {
            Self::Single => unreachable!("made above"),
            Self::Send => Box::new(Send::new(channel, calls)),
            Self::Isend => Box::new(Isend::new(channel, calls)),
            Self::Persistent => Box::new(Persistent::new(&channel, calls)?),
            Self::Many => Box::new(Many::new(&channel, calls)?),
            Self::Native(marking) => match Native::refusal(&channel) {
                Some(reason) => return refused(reason),
                None => Box::new(Native::new(&channel, marking, calls)?),
            },
            Self::Passive(windows) => Box::new(Passive::new(channel, windows, calls)?),
            Self::PostStart(windows) => Box::new(PostStart::new(channel, windows, calls)?),
            Self::Fence => Box::new(Fence::new(channel, calls)?),
            Self::Aggregated(aggregation) => {
                let partitions = channel.partitions.len();
                let bytes = channel.memory.bytes() / partitions;
                let units = Units::new(&channel, &aggregation.units(partitions, bytes as u64));
                match (aggregation, costs) {
                    (Aggregation { grouping: Grouping::Adaptive, .. }, Some(costs)) => {
                        Box::new(AggregatedAdaptive::new(channel, costs, calls)?)
                    }
                    (Aggregation { over: Over::Persistent, .. }, _) => {
                        Box::new(AggregatedStatic::over_messages(&channel, units, calls)?)
                    }
                    (Aggregation { over: Over::Partitioned, .. }, _) => {
                        match AggregatedStatic::refusal(&units) {
                            Some(reason) => return refused(reason),
                            None => Box::new(AggregatedStatic::over_partitions(&channel, units, calls)?),
                        }
                    }
                }
            }
        };
        Ok(Ok(mechanism))
    }
}

#[cfg(test)]
mod tests {
    use common::kinds::partitioned::methods::{BY_LAUNCHES, MECHANISMS};

    use super::*;

    #[test]
    fn every_listed_mechanism_is_implemented() {
        for mechanism in MECHANISMS.iter().chain(BY_LAUNCHES) {
            assert!(implementation(mechanism.name).is_ok(), "{}", mechanism.name);
        }
        assert!(implementation("aggregated:bins=4").is_ok());
        assert!(implementation("psend").unwrap_err().to_string().contains("psend"));
    }

    #[test]
    fn one_message_needs_no_costs_and_only_a_choice_needs_them() {
        let needs = |name, partitions| implementation(name).unwrap().needs_costs(partitions);
        assert!(needs("aggregated:adaptive", 2) && !needs("aggregated:adaptive", 1));
        assert!(!needs("aggregated:m=2", 2) && !needs("partitioned", 2));
    }
}

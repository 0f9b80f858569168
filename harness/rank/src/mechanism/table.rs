//! The mechanisms by name: what each is made of, and what it needs of the MPI.

use anyhow::Context;
use ddtbench::experiments::fine_grained::aggregation::{Aggregation, Over, Rule};
use ddtbench::experiments::fine_grained::costs::Costs;
use ddtbench::experiments::partitioned::methods::{SINGLE, SINGLE_INIT, SINGLE_LAUNCHED};
use ddtbench::model::Outcome;

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
use crate::checked::partitioned;

/// What is known of a mechanism before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Implementation {
    /// The functions of MPI that it calls beyond those that every MPI has.
    pub needs: &'static [&'static str],
    kind: Kind,
}

/// What a mechanism is made of. In all but the first, threads call MPI by themselves.
#[derive(Clone, Copy, Debug)]
enum Kind {
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

/// What the mechanism called `name` is; `None` where it is not implemented.
fn find(name: &str) -> Option<Implementation> {
    const PASSIVE: &[&str] = &["MPI_Win_lock", "MPI_Win_flush", "MPI_Win_sync"];
    const ACTIVE: &[&str] = &["MPI_Win_start", "MPI_Win_post"];
    let (kind, needs): (_, &[&str]) = match name {
        SINGLE | SINGLE_INIT | SINGLE_LAUNCHED => (Kind::Single, &[]),
        "send" => (Kind::Send, &[]),
        "isend" => (Kind::Isend, &[]),
        "persistent" => (Kind::Persistent, &[]),
        "many" => (Kind::Many, &["MPI_Comm_dup"]),
        "partitioned" => (Kind::Native(Marking::OneByOne), partitioned::NEEDS),
        "partitioned:list" => (Kind::Native(Marking::Lists), partitioned::NEEDS_LISTS),
        "partitioned:parrived" => (Kind::Native(Marking::Asking), partitioned::NEEDS),
        "rma_single_passive" => (Kind::Passive(Windows::Single), PASSIVE),
        "rma_many_passive" => (Kind::Passive(Windows::Many), PASSIVE),
        "rma_single_active" => (Kind::PostStart(Windows::Single), ACTIVE),
        "rma_many_active" => (Kind::PostStart(Windows::Many), ACTIVE),
        "rma_fence" => (Kind::Fence, &["MPI_Win_fence"]),
        _ => {
            let aggregation = Aggregation::of_mechanism(name)?.ok()?;
            let needs = if aggregation.over == Over::Partitioned { partitioned::NEEDS } else { &[] };
            (Kind::Aggregated(aggregation), needs)
        }
    };
    Some(Implementation { needs, kind })
}

/// What the mechanism called `name` is.
///
/// # Errors
/// A mechanism that is listed but not implemented.
pub fn implementation(name: &str) -> anyhow::Result<Implementation> {
    find(name).with_context(|| format!("mechanism {name:?} is listed but not implemented"))
}

impl Implementation {
    /// Why this channel cannot have it for want of threads, or of two ways at once.
    pub fn refusal(self, channel: &Channel<'_>, both_ways: bool) -> Option<Outcome> {
        let reason = match (self.kind, &channel.calls) {
            (Kind::Single, _) => return None,
            (_, Err(reason)) => reason.clone(),
            (Kind::Send, Ok(_)) if both_ways => {
                "blocking sends of both ranks would wait for each other".to_owned()
            }
            _ => return None,
        };
        Some(Outcome::NotAvailable { reason })
    }

    /// Whether it has to know what messages cost. One message is one message, whoever decides when it goes.
    pub fn needs_costs(self, partitions: usize) -> bool {
        partitions > 1 && matches!(self.kind, Kind::Aggregated(Aggregation { rule: Rule::Adaptive, .. }))
    }

    /// One end of the mechanism, or why this channel cannot have it; collective over both ranks. `costs` are there if it
    /// [needs](Self::needs_costs) them.
    pub fn make<'a>(
        self,
        channel: Channel<'a>,
        costs: Option<&'a Costs>,
    ) -> anyhow::Result<Result<Box<dyn Mechanism + 'a>, Outcome>> {
        let refused = |reason| Ok(Err(Outcome::NotAvailable { reason }));
        let calls = match (self.kind, channel.calls.clone()) {
            (Kind::Single, _) => return Ok(Ok(Box::new(Single::new(&channel)?))),
            (_, Err(reason)) => return refused(reason),
            (_, Ok(calls)) => calls,
        };
        let mechanism: Box<dyn Mechanism + 'a> = match self.kind {
            Kind::Single => unreachable!("made above"),
            Kind::Send => Box::new(Send::new(channel, calls)),
            Kind::Isend => Box::new(Isend::new(channel, calls)),
            Kind::Persistent => Box::new(Persistent::new(&channel, calls)?),
            Kind::Many => Box::new(Many::new(&channel, calls)?),
            Kind::Native(marking) => match Native::refusal(&channel) {
                Some(reason) => return refused(reason),
                None => Box::new(Native::new(&channel, marking, calls)?),
            },
            Kind::Passive(windows) => Box::new(Passive::new(channel, windows, calls)?),
            Kind::PostStart(windows) => Box::new(PostStart::new(channel, windows, calls)?),
            Kind::Fence => Box::new(Fence::new(channel, calls)?),
            Kind::Aggregated(aggregation) => {
                let partitions = channel.partitions.len();
                let bytes = channel.memory.bytes() / partitions;
                let units = Units::new(&channel, &aggregation.units(partitions, bytes as u64));
                match (aggregation, costs) {
                    (Aggregation { rule: Rule::Adaptive, .. }, Some(costs)) => {
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
    use ddtbench::experiments::partitioned::methods::{BY_LAUNCHES, MECHANISMS};

    use super::*;

    #[test]
    fn every_listed_mechanism_is_implemented() {
        for mechanism in MECHANISMS.iter().chain(BY_LAUNCHES) {
            let implementation = implementation(mechanism.name).unwrap();
            assert!(implementation.needs.iter().all(|function| function.starts_with("MPI_")));
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

//! The methods by name: what each is made of, what it needs of the MPI, and how it packs.

use anyhow::bail;
use ddtbench::partitioned::aggregation::Aggregation;

use super::bulk::{Bulk, Ends};
use super::fine::{Fine, Way};
use super::fine_ddt::FineTyped;
use super::method::{HaloMethod, Parts};
use super::neighbour::Neighbour;
use super::packing::How;
use super::put::PutTyped;
use crate::checked::partitioned;

/// The functions that a method calls beyond those that every MPI has.
pub fn needs(name: &str) -> &'static [&'static str] {
    match name {
        "neighbor_alltoallw" => &["MPI_Dist_graph_create_adjacent", "MPI_Neighbor_alltoallw"],
        "put_ddt" => &["MPI_Win_create", "MPI_Win_fence", "MPI_Put"],
        "partitioned" | "partitioned_ddt" => partitioned::NEEDS,
        _ => &[],
    }
}

/// Whether threads call MPI by themselves.
pub fn has_threads(name: &str) -> bool {
    matches!(name, "partitioned" | "partitioned_ddt" | "fine") || Aggregation::of_mechanism(name).is_some()
}

/// How a method's shares are packed.
pub fn packing(name: &str) -> How {
    match name {
        "manual" | "persistent" | "partitioned" | "fine" => How::ByHand,
        "manual_tuned" => How::Tuned,
        "engine" => How::Compiled,
        _ if Aggregation::of_mechanism(name).is_some() => How::ByHand,
        _ => How::Not,
    }
}

/// The method called `name`; collective.
pub fn make<'a>(name: &str, parts: Parts<'a>) -> anyhow::Result<Box<dyn HaloMethod + 'a>> {
    Ok(match name {
        "reference" | "manual" | "manual_tuned" | "engine" => Box::new(Bulk::new(parts, Ends::Packed)?),
        "ddt" => Box::new(Bulk::new(parts, Ends::Typed)?),
        "persistent" => Box::new(Bulk::new(parts, Ends::Persistent)?),
        "neighbor_alltoallw" => Box::new(Neighbour::new(parts)?),
        "put_ddt" => Box::new(PutTyped::new(parts)?),
        "partitioned" => Box::new(Fine::new(parts, Way::Partitioned)?),
        "fine" => Box::new(Fine::new(parts, Way::Fine)?),
        "partitioned_ddt" => Box::new(FineTyped::new(parts)?),
        _ => match Aggregation::of_mechanism(name) {
            Some(Ok(aggregation)) => Box::new(Fine::new(parts, Way::Aggregated(aggregation.rule))?),
            _ => bail!("method {name:?} is listed but not implemented"),
        },
    })
}

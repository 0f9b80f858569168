//! The methods by name: what each is made of, and how it packs.

use anyhow::Context;
use common::fine_grained::aggregation::Aggregation;
use common::kinds::overlap::methods::{PERSISTENT_DDT, PERSISTENT_NEIGHBOUR};
use common::model::{LOOP, Outcome};

use super::bulk::{Bulk, BulkTransfer};
use super::fine::{Fine, FineTransport};
use super::fine_ddt::FineTyped;
use super::method::{HaloMethod, Parts};
use super::neighbour::{Form, Neighbour};
use super::packing::PackingKind;
use super::put::PutTyped;
use crate::checked::TeamCalls;
use crate::checked::neighbours::Neighbours;

/// What is known of a method before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Implementation {
    /// How its shares are packed.
    pub packing: PackingKind,
    kind: MethodKind,
}

/// What a method is made of. Threads call MPI by themselves in those that are fine.
#[derive(Clone, Copy, Debug)]
enum MethodKind {
    Bulk(BulkTransfer),
    Neighbour(Form),
    Put,
    Fine(FineTransport),
    FineTyped,
}

/// What the method called `name` is; `None` where it is not implemented.
fn find(name: &str) -> Option<Implementation> {
    let (kind, packing) = match name {
        "reference" => (MethodKind::Bulk(BulkTransfer::Packed), PackingKind::None),
        "manual" => (MethodKind::Bulk(BulkTransfer::Packed), PackingKind::Loops),
        "manual_tuned" => (MethodKind::Bulk(BulkTransfer::Packed), PackingKind::TunedLoops),
        LOOP => (MethodKind::Bulk(BulkTransfer::Packed), PackingKind::PlainLoops),
        "engine" => (MethodKind::Bulk(BulkTransfer::Packed), PackingKind::Engine),
        "ddt" => (MethodKind::Bulk(BulkTransfer::Typed), PackingKind::None),
        "persistent" => (MethodKind::Bulk(BulkTransfer::Persistent), PackingKind::Loops),
        PERSISTENT_DDT => (MethodKind::Bulk(BulkTransfer::PersistentTyped), PackingKind::None),
        PERSISTENT_NEIGHBOUR => (MethodKind::Neighbour(Form::Persistent), PackingKind::None),
        "neighbor_alltoallw" => (MethodKind::Neighbour(Form::Blocking), PackingKind::None),
        "ineighbor_alltoallw" => (MethodKind::Neighbour(Form::Nonblocking), PackingKind::None),
        "put_ddt" => (MethodKind::Put, PackingKind::None),
        "partitioned" => (MethodKind::Fine(FineTransport::Partitioned), PackingKind::Loops),
        "fine" => (MethodKind::Fine(FineTransport::Fine), PackingKind::Loops),
        "partitioned_ddt" => (MethodKind::FineTyped, PackingKind::None),
        _ => match Aggregation::of_mechanism(name) {
            Some(Ok(aggregation)) => {
                (MethodKind::Fine(FineTransport::Aggregated(aggregation.grouping)), PackingKind::Loops)
            }
            _ => return None,
        },
    };
    Some(Implementation { packing, kind })
}

/// What the method called `name` is.
///
/// # Errors
/// A method that is listed but not implemented.
pub fn implementation(name: &str) -> anyhow::Result<Implementation> {
    find(name).with_context(|| format!("method {name:?} is listed but not implemented"))
}

impl Implementation {
    /// Makes the method, or says why it cannot be had here; collective. `calls` is what lets all threads call MPI, or why none
    /// does.
    pub fn make<'a>(
        self,
        parts: Parts<'a>,
        calls: Result<TeamCalls, String>,
    ) -> anyhow::Result<Result<Box<dyn HaloMethod + 'a>, Outcome>> {
        let method: Box<dyn HaloMethod + 'a> = match (self.kind, calls) {
            (MethodKind::Bulk(ends), _) => Box::new(Bulk::new(parts, ends)?),
            (MethodKind::Neighbour(Form::Persistent), _) => {
                let mut method = Neighbour::new(parts, Form::Persistent)?;
                if !method.make_requests()? {
                    let reason = format!("this MPI lacks {}", Neighbours::PERSISTENT_NAME);
                    return Ok(Err(Outcome::NotAvailable { reason }));
                }
                Box::new(method)
            }
            (MethodKind::Neighbour(form), _) => Box::new(Neighbour::new(parts, form)?),
            (MethodKind::Put, _) => Box::new(PutTyped::new(parts)?),
            (MethodKind::Fine(way), Ok(calls)) => Box::new(Fine::new(parts, way, calls)?),
            (MethodKind::FineTyped, Ok(calls)) => Box::new(FineTyped::new(parts, calls)?),
            (MethodKind::Fine(_) | MethodKind::FineTyped, Err(reason)) => {
                return Ok(Err(Outcome::NotAvailable { reason }));
            }
        };
        Ok(Ok(method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_method_is_implemented() {
        for method in common::kinds::halo::methods::METHODS {
            assert!(implementation(method.name).is_ok(), "{}", method.name);
        }
        assert!(implementation("aggregated:m=2").is_ok());
        assert!(implementation("by_pigeon").unwrap_err().to_string().contains("by_pigeon"));
    }

    #[test]
    fn only_what_moves_packed_bytes_packs() {
        for method in common::kinds::halo::methods::METHODS {
            let Implementation { kind, packing, .. } = implementation(method.name).unwrap();
            let moves_arrays = matches!(
                kind,
                MethodKind::Bulk(BulkTransfer::Typed | BulkTransfer::PersistentTyped)
                    | MethodKind::Neighbour(_)
                    | MethodKind::Put
                    | MethodKind::FineTyped
            );
            assert_eq!(
                packing == PackingKind::None,
                moves_arrays || !method.array_to_array,
                "{}",
                method.name
            );
        }
    }
}

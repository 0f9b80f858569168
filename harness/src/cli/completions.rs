//! Values that a shell completes. It asks the program for them, so that it knows the MPIs of that moment.

use std::collections::BTreeSet;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use common::conformance::OPERATIONS;
use ddtbench::experiments::overlap::operations::{self, EXCHANGE};
use ddtbench::experiments::{self, Kind};
use ddtbench::mpi::Project;
use ddtbench::plan::figures::FIGURES;

/// Candidates that are found when a shell asks for them.
fn candidates<T: Into<String> + 'static>(names: fn() -> Vec<T>) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let names: BTreeSet<String> = names().into_iter().map(Into::into).collect();
        names.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The kind of experiments of the typed command: `run` is the default.
fn kind() -> Kind {
    let is_typed = |kind: &Kind| std::env::args().any(|word| word == kind.row().command);
    Kind::ALL.into_iter().find(is_typed).unwrap_or_default()
}

/// Tests; exchanges for `halo`; for `overlap` also operations.
pub fn tests() -> ArgValueCandidates {
    candidates(|| {
        let tests = apps::all().map(|test| test.name.to_owned());
        let halos = apps::halo::all().map(|halo| halo.name.to_owned());
        let operations = operations::OPERATIONS.iter().map(|operation| operation.name.to_owned());
        match kind() {
            Kind::Halo => halos.collect(),
            Kind::Overlap => {
                operations.chain(tests).chain(halos.map(|halo| format!("{EXCHANGE}{halo}"))).collect()
            }
            _ => tests.collect::<Vec<String>>(),
        }
    })
}

pub fn methods() -> ArgValueCandidates {
    candidates(|| kind().methods().iter().map(|method| method.name).collect())
}

pub fn sets() -> ArgValueCandidates {
    candidates(|| match kind() {
        Kind::Halo => apps::halo::all().flat_map(|halo| halo.sets).map(|set| set.name).collect(),
        _ => apps::all().flat_map(|test| test.sets).map(|set| set.name).collect(),
    })
}

/// The names of parameters, each up to its value.
pub fn parameters() -> ArgValueCandidates {
    candidates(|| {
        let of_tests = match kind() {
            Kind::Halo => apps::halo::all().flat_map(|halo| halo.parameters).collect::<Vec<_>>(),
            _ => apps::all().flat_map(|test| test.parameters).collect(),
        };
        let of_kind = (experiments::of_kind(kind()).parameters)().into_iter().map(|own| own.name);
        of_tests.iter().map(|own| own.name).chain(of_kind).map(|name| format!("{name}=")).collect()
    })
}

pub fn mpis() -> ArgValueCandidates {
    candidates(|| {
        let found = Project::locate().and_then(|project| project.installations(&mut |_| {}));
        found.unwrap_or_default().into_iter().map(|mpi| mpi.name).collect()
    })
}

pub fn figures() -> ArgValueCandidates {
    candidates(|| FIGURES.iter().map(|(name, _)| *name).collect())
}

/// All that `list` describes.
pub fn listed() -> ArgValueCandidates {
    candidates(|| {
        let methods = Kind::ALL.into_iter().flat_map(|kind| kind.methods()).map(|method| method.name);
        let halos = apps::halo::all().map(|halo| halo.name);
        let figures = FIGURES.iter().map(|(name, _)| *name);
        apps::all().map(|test| test.name).chain(halos).chain(methods).chain(figures).collect()
    })
}

pub fn operations() -> ArgValueCandidates {
    candidates(|| OPERATIONS.iter().map(|operation| operation.name).collect())
}

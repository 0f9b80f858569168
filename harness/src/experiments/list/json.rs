//! The list for programs: one object with tests, exchanges and kinds of experiments.

use apps::halo;
use apps::{Parameter, Test, all as tests};
use serde_json::{Value, json};

use super::{ListEntry, entries_of, preset_name};
use crate::experiments::overlap::operations::{OPERATIONS, Operation};
use crate::experiments::{self, Kind};
use crate::model::MethodInfo;
use crate::report::layout::{Params, pretty};

/// The schema of the JSON list. The number changes if programs would misread the new form.
const SCHEMA: &str = "ddtbench-list/1";

pub(super) fn json() -> String {
    let set = |entry: ListEntry| {
        json!({
            "name": entry.set.name,
            "preset": preset_name(entry.set.preset),
            "params": Params(entry.values),
            "message_bytes": entry.bytes,
            "segments": entry.segments,
            "array_bytes": entry.array_bytes,
        })
    };
    let operation = |Operation { name, about, .. }: &Operation| json!({ "name": name, "about": about });
    pretty(&json!({
        "schema": SCHEMA,
        "tests": tests().map(|one| test(one, entries_of(one).map(set).collect())).collect::<Vec<_>>(),
        "exchanges": halo::all().map(|halo| test(halo, sets(halo))).collect::<Vec<_>>(),
        "operations": OPERATIONS.iter().map(operation).collect::<Vec<_>>(),
        "methods": methods(Kind::PingPong),
        "experiments": Kind::ALL.map(kind),
    }))
}

/// A test or an exchange with its sets.
fn test<M>(test: &Test<M>, sets: Vec<Value>) -> Value {
    let parameter = |parameter: &Parameter| {
        let Parameter { name, unit, about, .. } = parameter;
        let mut listed = json!({ "name": name, "unit": unit, "about": about });
        // The possible values; missing if it is a number.
        if let Some(words) = parameter.choices() {
            listed["words"] = words.into();
        }
        listed
    };
    json!({
        "name": test.name,
        "original_name": test.original_name,
        "about": test.about,
        "source": test.source,
        "parameters": test.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "sets": sets,
    })
}

/// The sets of an exchange, whose bytes depend on the number of ranks.
fn sets(halo: &halo::HaloTest) -> Vec<Value> {
    let set = |set: &apps::ParameterSet| {
        let values = halo.set(set.name).expect("the set is the exchange's own");
        json!({ "name": set.name, "preset": preset_name(set.preset), "params": Params(values) })
    };
    halo.sets.iter().map(set).collect()
}

fn kind(kind: Kind) -> Value {
    json!({
        "name": kind.name(),
        "command": kind.row().command,
        "phases": kind.phases().iter().map(|phase| phase.name()).collect::<Vec<_>>(),
        "methods": methods(kind),
        // In addition to those of a test.
        "parameters": (experiments::of_kind(kind).parameters)(),
    })
}

fn methods(kind: Kind) -> Vec<Value> {
    let method = |MethodInfo { name, about, original_name, .. }: &MethodInfo| json!({ "name": name, "about": about, "original_name": original_name });
    kind.methods().iter().map(method).collect()
}

//! The list for programs: one object with tests, exchanges and kinds of experiments.

use apps::halo::{self, HaloTest};
use apps::{Parameter, ParameterSet, Test, all as tests};
use serde::Serialize;

use super::{ListEntry, entries_of, preset_name};
use crate::experiments::overlap::operations::{OPERATIONS, Operation};
use crate::experiments::{self, Kind};
use crate::model::MethodInfo;
use crate::report::layout::{Params, pretty};
use common::parameter::ParameterInfo;

/// The schema of the JSON list. The number changes when the old form would be read wrongly or not at all.
const SCHEMA: &str = "ddtbench-list/1";

#[derive(Serialize)]
struct Listed {
    schema: &'static str,
    tests: Vec<ListedTest>,
    /// Exchanges between many ranks.
    exchanges: Vec<ListedExchange>,
    /// What is communicated beside a computation, besides tests and exchanges.
    operations: Vec<ListedOperation>,
    /// Those of ping-pongs, which have the tests.
    methods: Vec<ListedMethod>,
    experiments: Vec<ListedKind>,
}

#[derive(Serialize)]
struct ListedKind {
    name: &'static str,
    command: &'static str,
    phases: Vec<&'static str>,
    methods: Vec<ListedMethod>,
    /// What cases say beside a test's own parameters.
    parameters: Vec<&'static ParameterInfo>,
}

impl ListedKind {
    fn of(kind: Kind) -> Self {
        Self {
            name: kind.name(),
            command: kind.row().command,
            phases: kind.phases().iter().map(|phase| phase.name()).collect(),
            methods: ListedMethod::all(kind),
            parameters: experiments::of(kind).parameters(),
        }
    }
}

#[derive(Serialize)]
struct ListedTest {
    name: &'static str,
    original_name: Option<&'static str>,
    about: &'static str,
    source: &'static str,
    parameters: Vec<ListedParameter>,
    sets: Vec<ListedSet>,
}

#[derive(Serialize)]
struct ListedOperation {
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct ListedExchange {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    parameters: Vec<ListedParameter>,
    sets: Vec<ListedExchangeSet>,
}

impl ListedExchange {
    fn of(halo: &'static HaloTest) -> Self {
        let set = |set: &'static ParameterSet| ListedExchangeSet {
            name: set.name,
            preset: preset_name(set.preset),
            params: Params(halo.set(set.name).expect("the set is the exchange's own")),
        };
        Self {
            name: halo.name,
            about: halo.about,
            source: halo.source,
            parameters: ListedParameter::all(halo.parameters),
            sets: halo.sets.iter().map(set).collect(),
        }
    }
}

/// A set of an exchange, whose bytes depend on the number of ranks.
#[derive(Serialize)]
struct ListedExchangeSet {
    name: &'static str,
    preset: &'static str,
    params: Params,
}

#[derive(Serialize)]
struct ListedParameter {
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    /// Those that the value is one of; missing where it is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<&'static str>>,
}

impl ListedParameter {
    fn all(parameters: &[Parameter]) -> Vec<Self> {
        let listed = |p: &Parameter| Self { name: p.name, unit: p.unit, about: p.about, words: p.words() };
        parameters.iter().map(listed).collect()
    }
}

#[derive(Serialize)]
struct ListedSet {
    name: &'static str,
    preset: &'static str,
    params: Params,
    message_bytes: u64,
    segments: u64,
    array_bytes: u64,
}

#[derive(Serialize)]
struct ListedMethod {
    name: &'static str,
    about: &'static str,
    original_name: Option<&'static str>,
}

impl ListedMethod {
    fn all(kind: Kind) -> Vec<Self> {
        let listed =
            |&MethodInfo { name, about, original_name, .. }: &MethodInfo| Self { name, about, original_name };
        kind.methods().iter().map(listed).collect()
    }
}

/// The list as JSON.
pub(super) fn json() -> String {
    let set = |entry: ListEntry| ListedSet {
        name: entry.set.name,
        preset: preset_name(entry.set.preset),
        message_bytes: entry.bytes,
        segments: entry.segments,
        array_bytes: entry.array_bytes,
        params: Params(entry.values),
    };
    let test = |test: &'static Test| ListedTest {
        name: test.name,
        original_name: test.original_name,
        about: test.about,
        source: test.source,
        parameters: ListedParameter::all(test.parameters),
        sets: entries_of(test).map(set).collect(),
    };
    pretty(&Listed {
        schema: SCHEMA,
        tests: tests().map(test).collect(),
        exchanges: halo::all().map(ListedExchange::of).collect(),
        operations: OPERATIONS
            .iter()
            .map(|&Operation { name, about, .. }| ListedOperation { name, about })
            .collect(),
        methods: ListedMethod::all(Kind::PingPong),
        experiments: Kind::ALL.map(ListedKind::of).into(),
    })
}

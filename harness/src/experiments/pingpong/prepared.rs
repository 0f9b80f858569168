//! A micro-app's message, ready to be measured.

use apps::{Context, MicroApp, Side, Test, Values, WireOrder};

use crate::experiments::planned::PlannedCase;
use crate::experiments::{Prepared, Setup, memory};
use crate::model::CUSTOM;
use crate::model::event::MessageFacts;

/// A test with its values, and what was learnt of its message when it was built.
#[derive(Debug)]
pub struct Message {
    planned: PlannedCase,
    values: Values,
    facts: MessageFacts,
    /// Whether the hand-written loop and the datatype pack in different orders.
    pub orders_differ: bool,
    rank_bytes: Option<u64>,
}

impl Message {
    /// That of a planned case.
    ///
    /// # Errors
    /// An unknown test, set or parameter, or a value that cannot be.
    pub fn of(case: &PlannedCase, setup: Setup) -> Result<Self, String> {
        let (test, values) = values(case)?;
        let app = test.build(&values, setup.context()).map_err(|error| error.to_string())?;
        let orders_differ = app.orders_differ();
        let facts = facts(&*app, WireOrder::Manual);
        let segments = if orders_differ { facts_of_ddt(&*app) } else { facts.segments };
        let planned = PlannedCase {
            methods: case.methods.clone(),
            ..PlannedCase::of(test, case.set.as_deref(), &values)
        };
        let rank_bytes = memory::message_bytes(&*app, segments);
        Ok(Self { planned, values, facts, orders_differ, rank_bytes })
    }
}

fn facts_of_ddt(app: &dyn MicroApp) -> u64 {
    app.message(Side::Send, WireOrder::Ddt).segments().count() as u64
}

/// The test and its values.
fn values(case: &PlannedCase) -> Result<(&'static Test, Values), String> {
    let test = apps::find(&case.test).map_err(|error| error.to_string())?;
    let set = case.set.as_deref().filter(|&set| set != CUSTOM).unwrap_or(test.quick_set().name);
    let mut values = test.set(set).map_err(|error| error.to_string())?;
    for (name, text) in case.given() {
        values.assign(test, name, text).map_err(|error| error.to_string())?;
    }
    Ok((test, values))
}

/// What there is to say of a micro-app's message in one wire order.
pub fn facts(app: &dyn MicroApp, order: WireOrder) -> MessageFacts {
    let message = app.message(Side::Send, order);
    MessageFacts {
        bytes: message.size(),
        segments: message.segments().count() as u64,
        array_bytes: app.arrays().iter().map(|array| array.bytes() as u64).sum(),
        line_bytes: None,
    }
}

impl Setup {
    /// What tests need to know of the run.
    pub fn context(self) -> Context {
        Context { ranks: self.ranks, seed: self.seed }
    }
}

impl Prepared for Message {
    fn planned(&self) -> PlannedCase {
        self.planned.clone()
    }

    fn params(&self) -> String {
        self.values.to_string()
    }

    fn arguments(&self) -> Vec<String> {
        self.planned.arguments()
    }

    fn message(&self) -> MessageFacts {
        self.facts
    }

    fn rank_bytes(&self, _methods: usize) -> Option<u64> {
        self.rank_bytes
    }
}

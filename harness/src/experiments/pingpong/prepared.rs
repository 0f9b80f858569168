//! A micro-app's message, ready to be measured.

use std::sync::OnceLock;

use apps::{Context, MicroApp, Test, Values, WireOrder};

use super::facts;
use super::methods::{METHODS, can, in_parts};
use crate::experiments::Prepared;
use crate::experiments::planned::{PlannedCase, check_lengths};
use crate::model::event::MessageFacts;
use common::memory;

/// A test with its values, and what was learnt of its message when it was built.
#[derive(Debug)]
pub struct PreparedMessage {
    planned: PlannedCase,
    values: Values,
    test: &'static Test,
    context: Context,
    /// What is said of the message where its ranks say nothing: counted when that is asked.
    facts: OnceLock<MessageFacts>,
    /// Whether the hand-written loop and the datatype pack in different orders.
    pub orders_differ: bool,
    /// The methods that it cannot travel by.
    lacking: Vec<&'static str>,
    /// Those that it cannot travel by since it cannot be parted so: found out when one is asked for, since layouts may be large.
    not_parted: OnceLock<Vec<&'static str>>,
    /// Of a message.
    bytes: u64,
    /// Memory that a rank needs with any method.
    rank_bytes: Option<u64>,
}

impl PreparedMessage {
    /// That of a planned case.
    ///
    /// # Errors
    /// An unknown test, set or parameter, or a value that cannot be.
    pub fn of(case: &PlannedCase, context: Context) -> Result<Self, String> {
        let (test, values) = values(case)?;
        check_lengths(&values)?;
        let app = test.build(&values, context).map_err(|error| error.to_string())?;
        let (orders_differ, bytes) = (app.orders_differ(), app.message_bytes());
        let rank_bytes = memory::rank_bytes(&*app);
        let lacking = METHODS.iter().filter(|method| !can(&*app, method)).map(|method| method.name).collect();
        let planned = PlannedCase {
            methods: case.methods.clone(),
            ..PlannedCase::of(test, case.set.as_deref(), &values)
        };
        Ok(Self {
            planned,
            values,
            test,
            context,
            facts: OnceLock::new(),
            orders_differ,
            lacking,
            not_parted: OnceLock::new(),
            bytes,
            rank_bytes,
        })
    }
}

impl PreparedMessage {
    fn not_parted(&self) -> &[&'static str] {
        self.not_parted.get_or_init(|| {
            let app = self.app();
            in_parts().filter(|(_, parting)| parting.places(&*app).is_none()).map(|(name, _)| name).collect()
        })
    }

    fn app(&self) -> Box<dyn MicroApp> {
        self.test.build(&self.values, self.context).expect("was built before")
    }
}

/// The test and its values.
fn values(case: &PlannedCase) -> Result<(&'static Test, Values), String> {
    let test = apps::find(&case.test).map_err(|error| error.to_string())?;
    let set = case.named_set().unwrap_or(test.quick_set().name);
    let mut values = test.set(set).map_err(|error| error.to_string())?;
    for (name, text) in case.given() {
        values.assign(test, name, text).map_err(|error| error.to_string())?;
    }
    Ok((test, values))
}

fn is_in_parts(method: &str) -> bool {
    in_parts().any(|(name, _)| name == method)
}

impl Prepared for PreparedMessage {
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
        *self.facts.get_or_init(|| facts(&*self.app(), WireOrder::Manual))
    }

    fn has(&self, method: &str) -> bool {
        let is_parted = !is_in_parts(method) || !self.not_parted().contains(&method);
        is_parted && !self.lacking.contains(&method)
    }

    fn lacks(&self, methods: &[&str]) -> &'static str {
        let is_among = |names: &[&str]| names.iter().any(|name| methods.contains(name));
        match () {
            () if is_among(&self.lacking) => {
                "there are no loops written by hand for it; its methods are loop, mpi_pack, engine, ddt and others"
            }
            () if methods.iter().any(|name| is_in_parts(name)) && is_among(self.not_parted()) => {
                "its datatype repeats nothing, has one run or more than 4096 of them, or it is an all-to-all"
            }
            () => "",
        }
    }

    fn rank_bytes(&self, methods: &[String]) -> Option<u64> {
        let rows = METHODS.iter().filter(|method| methods.iter().any(|name| name == method.name));
        let own_buffers: u64 = rows.map(|method| method.own_buffers).sum();
        self.rank_bytes?.checked_add(self.bytes.checked_mul(own_buffers)?)
    }
}

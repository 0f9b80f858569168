//! A test whose packing is compared, ready to be measured.

use clap::ValueEnum;

use super::{ORDER, PackingOrder, RANKS, grid, methods};
use crate::experiments::pingpong::PreparedMessage;
use crate::experiments::planned::{PlannedCase, Text};
use crate::experiments::{Context, Prepared};
use crate::model::event::MessageFacts;

/// A test's message, and the order in which its bytes are packed.
#[derive(Debug)]
pub struct PreparedComparison {
    message: PreparedMessage,
    order: PackingOrder,
    is_of_grid: bool,
}

impl PreparedComparison {
    /// That of a planned case.
    ///
    /// # Errors
    /// As of a ping-pong, and an order of bytes that there is not.
    pub fn of(case: &PlannedCase, setup: Context) -> Result<Self, String> {
        let mut test = case.clone();
        let is_own = test.params.get(ORDER).is_some_and(|text| super::is_of_a_test(&text.0));
        let order = if is_own { None } else { test.params.remove(ORDER) };
        let order = match &order {
            None => PackingOrder::default(),
            Some(text) => PackingOrder::from_str(&text.0, false)
                .map_err(|_| format!("{ORDER} = {}: must be manual or ddt", text.0))?,
        };
        let is_of_grid = case.set.as_deref() == Some(grid::SET);
        test.set = test.set.filter(|_| !is_of_grid);
        // All layouts but that of an all-to-all are the same for any number of ranks.
        let message = PreparedMessage::of(&test, Context { ranks: RANKS, ..setup })?;
        if order == PackingOrder::Ddt && !message.orders_differ {
            return Err(format!("{ORDER} = ddt: loop and datatype pack in one order, leave it out"));
        }
        Ok(Self { message, order, is_of_grid })
    }

    /// The order, where it must be said.
    fn distinct_order(&self) -> Option<&'static str> {
        self.message.orders_differ.then(|| self.order.name())
    }
}

impl Prepared for PreparedComparison {
    fn planned(&self) -> PlannedCase {
        let mut planned = self.message.planned();
        planned.params.extend(self.distinct_order().map(|order| (ORDER.to_owned(), Text(order.to_owned()))));
        if self.is_of_grid {
            planned.set = Some(grid::SET.to_owned());
        }
        planned
    }

    fn params(&self) -> String {
        let order = self.distinct_order().map(|order| format!(" {ORDER}={order}"));
        self.message.params() + &order.unwrap_or_default()
    }

    fn arguments(&self) -> Vec<String> {
        let order = ["--order".to_owned(), self.order.name().to_owned()];
        self.message.arguments().into_iter().chain(order).collect()
    }

    fn message(&self) -> MessageFacts {
        self.message.message()
    }

    fn has(&self, name: &str) -> bool {
        self.message.has(name)
            && methods::in_order(self.order, self.message.orders_differ).any(|method| method.name == name)
    }

    fn lacks(&self, methods: &[&str]) -> &'static str {
        self.message.lacks(methods)
    }

    /// What a rank has, and as much again for the plain copies. Those are of the message, and of no more lines than the
    /// arrays and the packed buffer have.
    fn rank_bytes(&self, methods: &[String]) -> Option<u64> {
        self.message.rank_bytes(methods)?.checked_mul(2)
    }
}

//! Which comparisons are made: the cases of a plan, and for those that pack in two orders one of each.

use super::{Contender, EngineCase, ONE_ORDER, Order, grid};
use crate::plan::{Cache, Plan};

/// A comparison that is to be made beside each MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineTask {
    /// Number of the plan's case.
    pub case: usize,
    /// In which order bytes are packed.
    pub order: Order,
    /// Whether the hand-written loop and the datatype differ in that.
    pub orders_differ: bool,
    /// Whether caches stay warm.
    pub cache: Cache,
    /// Whether it belongs to the synthetic grid.
    pub is_of_grid: bool,
}

impl EngineTask {
    /// The contenders' names.
    pub fn methods(&self) -> Vec<String> {
        let contenders = Contender::of(self.order, self.orders_differ);
        contenders.into_iter().map(|contender| contender.name().to_owned()).collect()
    }

    /// The task beside an MPI as results name it.
    pub fn named(&self, plan: &Plan, mpi: &str) -> EngineCase {
        let mut case = plan.case(self.case, mpi);
        case.ranks = 1;
        self.cache.name().clone_into(&mut case.cache);
        if self.is_of_grid {
            grid::SET.clone_into(&mut case.set);
        }
        EngineCase { case, order: if self.orders_differ { self.order.name() } else { ONE_ORDER }.to_owned() }
    }
}

/// The tasks of a checked plan, whose cases from number `grid_from` on are the grid's.
pub fn tasks(plan: &Plan, grid_from: usize, caches: &[Cache]) -> Vec<EngineTask> {
    let mut tasks = Vec::new();
    for case in 0..plan.cases.len() {
        let orders_differ = plan.app(case).orders_differ();
        let orders = if orders_differ { &[Order::Manual, Order::Ddt][..] } else { &[Order::Manual] };
        for &order in orders {
            let task =
                |&cache| EngineTask { case, order, orders_differ, cache, is_of_grid: case >= grid_from };
            tasks.extend(caches.iter().map(task));
        }
    }
    tasks
}

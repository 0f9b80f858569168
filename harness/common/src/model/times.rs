//! Samples by phase.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::Phase;

/// The samples of a block by phase, in seconds, in the order in which they were measured. A phase that was not timed has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(BTreeMap<Phase, Vec<f64>>);

impl Times {
    pub fn remove(&mut self, phase: Phase) {
        self.0.remove(&phase);
    }

    /// Number of samples of the phase that has the most.
    pub fn repetitions(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }
}

impl Index<Phase> for Times {
    type Output = Vec<f64>;

    fn index(&self, phase: Phase) -> &Vec<f64> {
        const NONE: &Vec<f64> = &Vec::new();
        self.0.get(&phase).unwrap_or(NONE)
    }
}

impl IndexMut<Phase> for Times {
    fn index_mut(&mut self, phase: Phase) -> &mut Vec<f64> {
        self.0.entry(phase).or_default()
    }
}

impl<const N: usize> From<[(Phase, Vec<f64>); N]> for Times {
    fn from(phases: [(Phase, Vec<f64>); N]) -> Self {
        Self(phases.into())
    }
}

//! A probe, ready to be tried.

use super::list::{self, Probe};
use crate::experiments::Prepared;
use crate::experiments::planned::PlannedCase;
use crate::model::event::MessageFacts;

/// Silence after which a probe is ended, in seconds: far more than any needs, large messages on a slow machine included.
pub const TIMEOUT_S: f64 = 20.0;

/// A probe of a plan.
#[derive(Debug)]
pub struct PreparedProbe {
    probe: &'static Probe,
    planned: PlannedCase,
}

impl PreparedProbe {
    /// That of a planned case.
    ///
    /// # Errors
    /// An unknown probe, or parameters, which probes have none of.
    pub fn of(planned: &PlannedCase) -> Result<Self, String> {
        let probe = list::find(&planned.test)?;
        match planned.given().next() {
            Some((name, _)) => Err(format!("{name}: probes have no parameters: leave it out")),
            None => Ok(Self { probe, planned: PlannedCase { set: None, ..planned.clone() } }),
        }
    }
}

impl Prepared for PreparedProbe {
    fn planned(&self) -> PlannedCase {
        self.planned.clone()
    }

    fn params(&self) -> String {
        String::new()
    }

    fn arguments(&self) -> Vec<String> {
        vec![self.probe.name.to_owned()]
    }

    /// Probes have messages of their own, many and different.
    fn message(&self) -> MessageFacts {
        MessageFacts::default()
    }

    fn ranks(&self) -> Option<usize> {
        Some(self.probe.ranks)
    }

    /// A rank's threads must be able to run side by side.
    fn is_bound(&self) -> bool {
        false
    }

    /// What is large asks for its memory itself, and is skipped where there is none.
    fn rank_bytes(&self, _: &[String]) -> Option<u64> {
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::planned::Text;

    #[test]
    fn a_probe_says_how_many_ranks_it_has() {
        let case = |test: &str| PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
        assert_eq!(PreparedProbe::of(&case("ring")).unwrap().ranks(), Some(4));
        assert!(PreparedProbe::of(&case("rings")).unwrap_err().contains("ring"));
        let params = [("bytes".to_owned(), Text("8".to_owned()))].into();
        assert!(PreparedProbe::of(&PlannedCase { params, ..case("ring") }).unwrap_err().contains("bytes"));
    }
}

//! A case: the communication and the setting.

use std::fmt;

use apps::{Context, MicroApp};

use super::methods::METHODS;
use super::operations::{OperationTransfer, Traffic};
use super::setting::{OverlapSetting, PARAMETERS, RIM_PERCENT};
use crate::kinds::{halo, pingpong};
use crate::memory::{self, Buffers};
use crate::model::CUSTOM;
use crate::model::event::MessageFacts;
use crate::parameter::{self, joined, place, usual};

/// The communication that runs while ranks compute, and how.
#[derive(Clone, Debug)]
pub struct OverlapCase {
    /// The communication.
    pub traffic: Traffic,
    /// The duration of both parts, and how they are run.
    pub setting: OverlapSetting,
}

/// The micro-app of a case on a number of ranks.
pub enum Built {
    /// An operation does not have a micro-app.
    Operation,
    Message(MicroApp),
    Exchange(Box<dyn apps::halo::HaloApp>),
}

impl OverlapCase {
    /// The case of a test, one of its sets, and parameters of the micro-app and the setting.
    pub fn parse<'a>(
        test: &str,
        set: Option<&str>,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        let mut traffic = Traffic::find(test, set.filter(|&set| set != CUSTOM))?;
        let is_sized = traffic.is_sized();
        let adds = traffic.adds();
        // The bytes and the element of a micro-app are its own: `contiguous` has parameters with these names.
        let is_own = |name: &str| match name {
            "bytes" => is_sized,
            "element" => adds,
            _ => place(PARAMETERS, name).is_some(),
        };
        let mut own = Vec::new();
        for (name, text) in params {
            if name == "communication_us" && !is_sized {
                return Err(format!(
                    "{name} = {text}: the bytes of {test} are what they are, so that its communication takes as long as it does"
                ));
            }
            if is_own(name) { own.push((name, text)) } else { traffic.assign(name, text)? }
        }
        let mut setting: OverlapSetting = parameter::parse(PARAMETERS, own)?;
        match (&traffic, setting.rim_percent) {
            (Traffic::Exchange(..), _) => drop(setting.rim_percent.get_or_insert(RIM_PERCENT)),
            (_, Some(percent)) => {
                return Err(format!(
                    "rim_percent = {percent}: {test} has no rim, which is what of an application's domain needs a halo"
                ));
            }
            (_, None) => {}
        }
        Ok(Self { traffic, setting })
    }

    /// All parameters.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let own = parameter::pairs(PARAMETERS, &self.setting)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        self.traffic.pairs().into_iter().chain(own).collect()
    }

    /// Whether sizes must be found on an MPI before the case can be measured.
    pub fn needs_calibration(&self) -> bool {
        self.setting.matrix_order.is_none() || self.needs_bytes()
    }

    /// Whether the number of bytes must be found.
    pub fn needs_bytes(&self) -> bool {
        self.traffic.is_sized() && self.setting.bytes.is_none()
    }

    /// The micro-app on this number of ranks.
    pub fn build(&self, context: Context) -> Result<Built, String> {
        let Context { ranks, seed } = context;
        match &self.traffic {
            Traffic::Operation(operation)
                if operation.transfer == OperationTransfer::Message && ranks % 2 == 1 =>
            {
                Err(odd(ranks))
            }
            Traffic::Operation(_) => Ok(Built::Operation),
            Traffic::Message(test, values) => {
                let app = test.build(values, context).map_err(|error| error.to_string())?;
                if ranks % 2 == 1 && matches!(app.exchange, apps::Exchange::Pairs) {
                    return Err(odd(ranks));
                }
                Ok(Built::Message(app))
            }
            Traffic::Exchange(test, values) => {
                let context = usual(halo::PARAMETERS).context(ranks, seed);
                Ok(Built::Exchange(test.build(values, context).map_err(|error| error.to_string())?))
            }
        }
    }

    /// Whether a method supports it.
    pub fn has(&self, built: &Built, method: &str) -> bool {
        let is_by_hand = METHODS.iter().any(|row| row.name == method && row.by_hand);
        let has_loops = match built {
            Built::Operation => true,
            Built::Message(app) => app.has_loops,
            Built::Exchange(app) => app.has_loops(),
        };
        self.traffic.has(method) && (has_loops || !is_by_hand)
    }

    pub fn message(&self, built: &Built, ranks: usize) -> MessageFacts {
        let bytes = self.setting.bytes.unwrap_or(0);
        match built {
            Built::Operation => MessageFacts { bytes, segments: 1, array_bytes: bytes, line_bytes: None },
            Built::Message(app) => pingpong::facts(app, apps::WireOrder::Manual),
            Built::Exchange(app) => halo::message(&**app, ranks),
        }
    }

    /// Memory that a rank needs, in bytes; `None` if it exceeds the address space.
    pub fn rank_bytes(&self, built: &Built, ranks: usize) -> Option<u64> {
        /// Three matrices of doubles; while sizes are being found, those of the previous trial as well.
        const MATRICES: u64 = 2 * 3 * 8;
        let rows = self.setting.matrix_order.unwrap_or(0);
        let matrices =
            rows.checked_mul(rows)?.checked_mul(MATRICES)?.checked_mul(self.setting.threads as u64)?;
        let communicated = match built {
            // A block for each rank on either side, and as much in the buffers of an MPI that copies.
            Built::Operation => self.setting.bytes.unwrap_or(0).checked_mul(ranks as u64)?.checked_mul(4),
            Built::Message(app) => memory::rank_bytes(app, Buffers::ALL),
            Built::Exchange(app) => halo::rank_bytes(&**app, ranks),
        };
        communicated?.checked_add(matrices)
    }
}

fn odd(ranks: usize) -> String {
    format!("{ranks} ranks: must be an even number, since every second one sends to the next")
}

impl fmt::Display for OverlapCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(self.pairs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_sized_is_distinguished_from_what_has_its_bytes() {
        let parse =
            |test: &str, params: &[(&str, &str)]| OverlapCase::parse(test, None, params.iter().copied());
        let sized = parse("ibcast", &[("communication_us", "1ms"), ("computation_us", "1ms")]).unwrap();
        assert!(sized.needs_bytes() && sized.needs_calibration());
        let frozen = parse("ibcast", &[("bytes", "1MiB"), ("matrix_order", "300")]).unwrap();
        assert!(!frozen.needs_calibration());
        assert_eq!(frozen.to_string(), "bytes=1048576 matrix_order=300 threads=1");
        let given = [("communication_us", "4ms"), ("threads", "2"), ("test_every_us", "10us")];
        let (given, shown) =
            (parse("ibcast", &given).unwrap(), "communication_us=4000 threads=2 test_every_us=10");
        assert_eq!(given.to_string(), shown);
        let of_app = parse("contiguous", &[("bytes", "4096"), ("matrix_order", "300")]).unwrap();
        assert!(!of_app.needs_calibration() && of_app.setting.bytes.is_none());
        let of_floats = parse("iallreduce", &[("element", "float"), ("bytes", "8"), ("matrix_order", "300")]);
        assert_eq!(of_floats.unwrap().to_string(), "bytes=8 element=float matrix_order=300 threads=1");
        let of_app = parse("strided", &[("element", "float"), ("matrix_order", "300")]).unwrap();
        assert!(of_app.traffic.pairs().contains(&("element".to_owned(), "float".to_owned())));
        for (test, name) in [("nas_lu_y", "bytes"), ("ibcast", "nx")] {
            let error = parse(test, &[(name, "1")]).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn messages_go_in_pairs_and_matrices_take_memory() {
        let case =
            OverlapCase::parse("nas_lu_y", None, [("matrix_order", "1000"), ("threads", "2")]).unwrap();
        let setup = |ranks| Context { ranks, seed: 1 };
        assert!(case.build(setup(3)).err().unwrap().contains("even"));
        let built = case.build(setup(2)).unwrap();
        assert!(case.rank_bytes(&built, 2).unwrap() > 48_000_000);
        assert!(case.message(&built, 2).bytes > 0);
    }
}

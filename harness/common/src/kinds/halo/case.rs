//! An exchange with its values, on any number of ranks: its message and its memory.

use std::collections::BTreeMap;
use std::fmt;

use apps::halo::{HaloApp, HaloTest};
use apps::{Values, no_such};

use super::setting::{HaloSetting, PARAMETERS};
use crate::model::event::MessageFacts;
use crate::parameter::{joined, place};

/// A case: an exchange with its values, and the setting.
#[derive(Clone, Debug)]
pub struct HaloCase {
    /// The exchange that is measured.
    pub test: &'static HaloTest,
    pub values: Values,
    /// Grid, threads, and how their computing time is spent.
    pub setting: HaloSetting,
}

impl HaloCase {
    /// The case of a test, one of its sets, and parameters of the exchange and the setting.
    pub fn parse(test: &str, set: Option<&str>, params: &BTreeMap<String, String>) -> Result<Self, String> {
        let test = apps::halo::find(test).map_err(|error| error.to_string())?;
        let set = set.unwrap_or(test.quick_set().name);
        let mut values = test.set(set).map_err(|error| error.to_string())?;
        let is_own = |name: &str| place(PARAMETERS, name).is_some();
        let names: Vec<&str> = test.parameters.iter().map(|parameter| parameter.name).collect();
        let is_of_test = |name: &str| names.iter().any(|of_test| of_test.eq_ignore_ascii_case(name));
        if let Some(unknown) = params.keys().find(|name| !is_own(name) && !is_of_test(name)) {
            let all = [names, PARAMETERS.iter().map(|row| row.info.name).collect()].concat();
            return Err(format!("{}: {}", test.name, no_such("parameter", unknown, &all)));
        }
        for (name, text) in params.iter().filter(|(name, _)| !is_own(name)) {
            values.assign(name, text).map_err(|error| error.to_string())?;
        }
        let own = params.iter().filter(|(name, _)| is_own(name));
        let setting = HaloSetting::parse(own.map(|(name, text)| (name.as_str(), text.as_str())))?;
        Ok(Self { test, values, setting })
    }

    /// The exchange on this number of ranks.
    pub fn build(&self, ranks: usize, seed: u64) -> Result<Box<dyn HaloApp>, String> {
        self.test.build(&self.values, self.setting.context(ranks, seed)).map_err(|error| error.to_string())
    }

    /// All parameters.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let own = self.setting.pairs().into_iter().map(|(name, value)| (name.to_owned(), value));
        self.values.pairs().map(|(name, value)| (name.to_owned(), value)).chain(own).collect()
    }
}

impl fmt::Display for HaloCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values show long layouts by a name.
        write!(f, "{} {}", self.values, joined(self.setting.pairs()))
    }
}

/// The message of the rank that sends the most.
pub fn message(app: &dyn HaloApp, ranks: usize) -> MessageFacts {
    let bytes = |rank: &usize| {
        let stages = app.stages(*rank);
        stages.iter().flat_map(|stage| &stage.sends).map(|send| send.face.bytes() as u64).sum::<u64>()
    };
    let Some(rank) = (0..ranks).max_by_key(bytes) else { return MessageFacts::default() };
    let stages = app.stages(rank);
    let faces = stages.iter().flat_map(|stage| &stage.sends).map(|send| &send.face);
    // Counting segments takes long, so only those of one rank are counted.
    let segments = |face: &apps::Face| face.message(apps::WireOrder::Ddt).segments().count() as u64;
    MessageFacts {
        bytes: bytes(&rank),
        segments: faces.map(segments).sum(),
        array_bytes: app.arrays(rank).iter().map(|array| array.bytes() as u64).sum(),
        line_bytes: None,
    }
}

/// Bytes of a rank's wire buffers.
pub fn wire_bytes(app: &dyn HaloApp, rank: usize) -> u64 {
    let stages = app.stages(rank);
    let both = stages.iter().flat_map(|stage| stage.sends.iter().chain(&stage.receives));
    both.map(|transfer| transfer.face.bytes() as u64).sum()
}

/// Memory that the largest rank needs, in bytes: arrays, the places of their values, and wire buffers.
pub fn rank_bytes(app: &dyn HaloApp, ranks: usize) -> Option<u64> {
    /// Bytes per element, at most: half a row in the links.
    const CELL_BYTES: u64 = 16;
    let of_rank = |rank: usize| {
        let arrays = app.arrays(rank);
        let elements: u64 = arrays.iter().map(|array| array.elements() as u64).sum();
        let wire = wire_bytes(app, rank);
        (apps::Arrays::footprint_bytes(&arrays)? as u64)
            .checked_add(elements.checked_mul(CELL_BYTES)?)?
            .checked_add(wire)
    };
    (0..ranks).map(of_rank).try_fold(0, |most: u64, bytes| Some(most.max(bytes?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn parameters_of_both_kinds_come_back() {
        let given = params(&[("threads", "4"), ("periodic", "no"), ("d1", "34"), ("d2", "18"), ("d3", "18")]);
        let case = HaloCase::parse("nas_mg", None, &given).unwrap();
        assert_eq!((case.setting.threads, case.setting.periodic), (4, false));
        let given = params(&[("grid", "3x2x1"), ("bytes", "64KiBx8x16")]);
        let stencil = HaloCase::parse("stencil7", None, &given).unwrap();
        assert_eq!(stencil.to_string(), "bytes=65536x8x16 threads=1 grid=3x2x1");
        assert_eq!(stencil.build(6, 1).unwrap().grid().unwrap().dims, [3, 2, 1]);
        let again: BTreeMap<_, _> = case.pairs().into_iter().collect();
        assert_eq!(HaloCase::parse("nas_mg", None, &again).unwrap().to_string(), case.to_string());
    }

    #[test]
    fn every_exchange_fits_and_shows_what_it_sends() {
        for test in apps::halo::all() {
            let case = HaloCase::parse(test.name, None, &params(&[])).unwrap();
            let app = case.build(4, 1).unwrap();
            assert!(message(&*app, 4).bytes > 0, "{}", test.name);
            assert!(rank_bytes(&*app, 4).unwrap() > message(&*app, 4).bytes, "{}", test.name);
        }
    }
}

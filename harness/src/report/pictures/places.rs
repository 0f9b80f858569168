//! The places of a heat map's axis: their order, and what is written beside them.

use super::axis::{AxisUnit, axis_of, text};
use super::data::AxisPlace;
use crate::report::names::distinct;
use crate::report::units;

/// The places of an axis, in order.
pub struct Places<'a> {
    pub name: &'a str,
    pub all: Vec<&'a AxisPlace>,
    pub texts: Vec<String>,
}

impl<'a> Places<'a> {
    pub fn of(name: &'a str, places: impl Iterator<Item = &'a AxisPlace>) -> Self {
        let mut all = distinct(places);
        // Words keep the order in which they came.
        all.sort_by(|a, b| a.number().unwrap_or(f64::MAX).total_cmp(&b.number().unwrap_or(f64::MAX)));
        let (_, unit) = axis_of(name);
        let text = |place: &&AxisPlace| match place {
            AxisPlace::Word(word) => word.clone(),
            AxisPlace::Number(number) => match unit {
                AxisUnit::Bytes => units::bytes(*number as u64),
                AxisUnit::Seconds => units::seconds(*number),
                _ => text(*number),
            },
        };
        let texts = all.iter().map(text).collect();
        Self { name, all, texts }
    }

    pub fn is_numbers(&self) -> bool {
        self.all.iter().all(|place| place.number().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_and_texts_keep_their_order() {
        let all = [AxisPlace::Number(4.0), AxisPlace::Number(1.0)];
        assert_eq!(Places::of("n", all.iter()).texts, ["1", "4"]);
        let values = ["x+", "a"].map(|word| AxisPlace::Word(word.to_owned()));
        let places = Places::of("face", values.iter());
        assert_eq!(places.texts, ["x+", "a"]);
        assert_eq!(Places::of("bytes", [AxisPlace::Number(4096.0)].iter()).texts, [units::bytes(4096)]);
    }
}

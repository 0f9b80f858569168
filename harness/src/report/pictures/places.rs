//! The places of a heat map's axis: order and text.

use super::axis::{Axis, AxisUnit, Scale, axis_of, text};
use super::data::number;
use crate::report::names::distinct;
use crate::report::units;

/// The places of an axis, in order.
pub struct Places<'a> {
    pub name: &'a str,
    pub all: Vec<&'a String>,
    pub texts: Vec<String>,
}

impl<'a> Places<'a> {
    pub fn from_places(name: &'a str, places: impl Iterator<Item = &'a String>) -> Self {
        let mut all = distinct(places);
        // Words keep their order.
        all.sort_by(|a, b| number(a).unwrap_or(f64::MAX).total_cmp(&number(b).unwrap_or(f64::MAX)));
        let (_, unit) = axis_of(name);
        let text = |place: &&String| match (number(place), unit) {
            (None, _) => (*place).clone(),
            (Some(number), AxisUnit::Bytes) => units::bytes(number as u64),
            (Some(number), AxisUnit::Seconds) => units::seconds(number),
            (Some(number), _) => text(number),
        };
        let texts = all.iter().map(text).collect();
        Self { name, all, texts }
    }

    /// The axis, with length 1 for each place, and the text of every n-th place in its middle.
    pub fn across(&self, every: usize) -> Axis {
        let ticks = self.texts.iter().enumerate().step_by(every);
        let ticks = ticks.map(|(i, text)| (i as f64 + 0.5, text.clone())).collect();
        Axis { scale: Scale::Linear, range: 0.0..self.all.len() as f64, ticks }
    }

    /// The vertical axis: numbers increase upwards, words go downwards.
    pub fn up(&self) -> Axis {
        let axis = self.across(1);
        let is_numbers = self.all.iter().all(|place| number(place).is_some());
        if is_numbers { axis } else { Axis { range: axis.range.end..axis.range.start, ..axis } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_and_texts_keep_their_order() {
        let all = ["4", "1"].map(str::to_owned);
        let places = Places::from_places("n", all.iter());
        assert_eq!(
            (places.texts.clone(), places.up().range),
            (vec!["1".to_owned(), "4".to_owned()], 0.0..2.0)
        );
        let values = ["x+", "a"].map(str::to_owned);
        let places = Places::from_places("face", values.iter());
        assert_eq!(
            (places.texts.clone(), places.up().range),
            (vec!["x+".to_owned(), "a".to_owned()], 2.0..0.0)
        );
        assert_eq!(Places::from_places("bytes", ["4096".to_owned()].iter()).texts, [units::bytes(4096)]);
    }
}

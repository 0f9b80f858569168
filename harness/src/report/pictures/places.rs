//! The places of a heat map's axis: their order, what is written beside them, and where their cells begin and end.

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

    /// Where cells begin and end along `length`, from the smallest place on.
    pub fn edges(&self, length: f64) -> Vec<f64> {
        let numbers: Option<Vec<f64>> = self.all.iter().map(|place| place.number()).collect();
        let equal = || (0..=self.all.len()).map(|i| i as f64 * length / self.all.len() as f64).collect();
        numbers.and_then(|numbers| logarithmic(&numbers, length)).unwrap_or_else(equal)
    }

    pub fn is_numbers(&self) -> bool {
        self.all.iter().all(|place| place.number().is_some())
    }
}

/// Cells as wide as numbers are apart, each from half way to the one before to half way to the one behind; `None` where a cell
/// would have less than half the room that it has where all are equal: there the numbers alone say how far they are apart.
fn logarithmic(numbers: &[f64], length: f64) -> Option<Vec<f64>> {
    if numbers.len() < 2 || numbers.iter().any(|number| *number <= 0.0) {
        return None;
    }
    let at: Vec<f64> = numbers.iter().map(|number| number.log10()).collect();
    let between = |pair: &[f64]| (pair[0] + pair[1]) / 2.0;
    let mut edges: Vec<f64> = at.windows(2).map(between).collect();
    edges.insert(0, 2.0 * at[0] - edges[0]);
    edges.push(2.0 * at[at.len() - 1] - edges[edges.len() - 1]);
    let whole = edges[edges.len() - 1] - edges[0];
    let places: Vec<f64> = edges.iter().map(|edge| (edge - edges[0]) / whole * length).collect();
    let least = length / numbers.len() as f64 / 2.0;
    places.windows(2).all(|pair| pair[1] - pair[0] >= least).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_far_apart_as_their_numbers_unless_one_had_no_room() {
        assert_eq!(logarithmic(&[1.0, 10.0, 100.0], 30.0), Some(vec![0.0, 10.0, 20.0, 30.0]));
        let uneven = logarithmic(&[1.0, 10.0, 1000.0], 80.0).unwrap();
        assert_eq!(uneven, [0.0, 20.0, 50.0, 90.0].map(|edge| edge * 80.0 / 90.0));
        assert_eq!(logarithmic(&[1.0, 1.1, 1000.0], 80.0), None);
        assert_eq!(logarithmic(&[0.0, 1.0], 80.0), None);
    }

    #[test]
    fn numbers_are_sorted_and_texts_keep_their_order() {
        let all = [AxisPlace::Number(4.0), AxisPlace::Number(1.0)];
        assert_eq!(Places::of("n", all.iter()).texts, ["1", "4"]);
        let values = ["x+", "a"].map(|word| AxisPlace::Word(word.to_owned()));
        let places = Places::of("face", values.iter());
        assert_eq!(places.texts, ["x+", "a"]);
        assert_eq!(places.edges(10.0), [0.0, 5.0, 10.0]);
        assert_eq!(Places::of("bytes", [AxisPlace::Number(4096.0)].iter()).texts, [units::bytes(4096)]);
    }
}

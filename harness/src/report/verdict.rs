//! What a verdict rests on: the ratio of a method's times to another's in the same rounds.

use crate::record::Record;

/// The method that another is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The application's loops.
    Manual,
    /// The tuned loops.
    ManualTuned,
    /// The fastest of the case.
    Fastest,
}

impl Base {
    /// Those of [`LOOPS`](crate::methods::LOOPS), in that order.
    pub const LOOPS: [Self; 2] = [Self::Manual, Self::ManualTuned];
}

/// A method's time over that of a base, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against<'a> {
    /// The method.
    pub name: &'a str,
    /// Above 1 the base is faster.
    pub value: f64,
    /// Lower end of the 95% interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// Whether its halves part.
    pub unsteady: bool,
}

impl<'a> Against<'a> {
    /// That of a record; `None` where it has none with an interval.
    pub fn of(record: &'a Record, base: Base) -> Option<Self> {
        let (value, low, high, unsteady) = match base {
            Base::Manual => (
                record.over_manual,
                record.over_manual_low,
                record.over_manual_high,
                record.over_manual_unsteady,
            ),
            Base::ManualTuned => (
                record.over_manual_tuned,
                record.over_manual_tuned_low,
                record.over_manual_tuned_high,
                record.over_manual_tuned_unsteady,
            ),
            Base::Fastest => (
                record.over_fastest,
                record.over_fastest_low,
                record.over_fastest_high,
                record.over_fastest_unsteady,
            ),
        };
        let unsteady = unsteady.unwrap_or(false);
        Some(Self { name: &record.method, value: value?, low: low?, high: high?, unsteady })
    }

    /// The base's time over the method's.
    pub fn inverse(self) -> Self {
        Self { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low, ..self }
    }

    /// As `1.19x [1.15, 1.23]`.
    pub fn text(self) -> String {
        format!("{:.2}x [{:.2}, {:.2}]", self.value, self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_turned_around_has_its_ends_turned_around() {
        let record = Record {
            method: "ddt".into(),
            over_manual: Some(0.5),
            over_manual_low: Some(0.4),
            over_manual_high: Some(0.8),
            over_manual_unsteady: Some(true),
            ..Record::default()
        };
        let against = Against::of(&record, Base::Manual).unwrap();
        assert_eq!((against.name, against.unsteady), ("ddt", true));
        assert_eq!(against.inverse().text(), "2.00x [1.25, 2.50]");
        assert_eq!(Against::of(&record, Base::Fastest), None);
        let without = Record { over_manual_high: None, ..record };
        assert_eq!(Against::of(&without, Base::Manual), None, "no ratio stands without its interval");
    }
}

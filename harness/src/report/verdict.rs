//! What a verdict rests on: the ratio of a method's times to another's in the same rounds.

use crate::model::{Quantity, Record};

/// The method that another is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'a> {
    /// One by its name.
    Method(&'a str),
    /// The fastest of the case.
    Fastest,
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
    pub fn of(record: &'a Record, base: Base<'_>) -> Option<Self> {
        let figure = match base {
            Base::Method(name) => record.over(name)?,
            Base::Fastest => record.figure(Quantity::TimeOverFastest)?,
        };
        let ((low, high), unsteady) = (figure.interval()?, figure.unsteady.unwrap_or(false));
        Some(Self { name: &record.method, value: figure.value?, low, high, unsteady })
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
    use crate::model::Figure;

    #[test]
    fn a_ratio_turned_around_has_its_ends_turned_around() {
        let ratio = Figure::with_interval(Quantity::TimeOver, 0.5, (0.4, 0.8)).against("manual");
        let ratio = Figure { unsteady: Some(true), ..ratio };
        let mut record = Record { method: "ddt".into(), figures: vec![ratio], ..Record::default() };
        let against = Against::of(&record, Base::Method("manual")).unwrap();
        assert_eq!((against.name, against.unsteady), ("ddt", true));
        assert_eq!(against.inverse().text(), "2.00x [1.25, 2.50]");
        assert_eq!(Against::of(&record, Base::Fastest), None);
        record.figures[0].high = None;
        assert_eq!(
            Against::of(&record, Base::Method("manual")),
            None,
            "no ratio stands without its interval"
        );
    }
}

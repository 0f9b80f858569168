//! Which way copies each class of operations: a table, because the fastest one depends on the processor.
//!
//! Tables are shipped for two processors, Zen 4 and Zen 5 (AMD EPYC). Others use that of Zen 4, which is a guess for them;
//! a program can measure its own with [`Trial`]s. This crate does not measure on its own.

mod class;
mod shipped;
mod trial;

use std::fmt;
use std::sync::{Arc, LazyLock};

pub use class::{Class, Direction};
pub use trial::Trial;

pub(crate) use class::Shape;

use crate::select::Pair;
use crate::way::Way;
use class::MOST_SIZES;

/// A table with the way to copy each class of operations. Copies of it are cheap.
#[derive(Clone)]
pub struct Tuning(Arc<Rows>);

type Rows = [[[Row; 2]; MOST_SIZES]; Shape::ALL.len()];

/// The choice for one class, packed or unpacked.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    way: Way,
    measured: Option<Measured>,
}

/// The speed of a way, and of the next best one, in bytes per second: a mean of warm and cold caches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The speed of the chosen way.
    pub bytes_per_s: f64,
    /// The fastest of the others, with its speed; `None` without others.
    pub next: Option<(Way, f64)>,
}

/// Why a way was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}, {direction}: this processor or this version cannot copy them by {}", way.name())]
pub struct TuningError {
    class: Class,
    direction: Direction,
    way: Way,
}

impl Tuning {
    /// The table that is shipped, with ways that this processor has.
    pub fn shipped() -> Self {
        static SHIPPED: LazyLock<Tuning> = LazyLock::new(|| {
            let row = |shape: Shape, size: usize, direction: Direction| Row {
                way: shipped::way(shape, size, direction).or_best(),
                measured: None,
            };
            let rows =
                |shape: Shape, size: usize| Direction::ALL.map(|direction| row(shape, size, direction));
            Tuning(Arc::new(Shape::ALL.map(|shape| std::array::from_fn(|size| rows(shape, size)))))
        });
        SHIPPED.clone()
    }

    /// The way for a class.
    pub fn way(&self, class: Class, direction: Direction) -> Way {
        self.row(class, direction).way
    }

    /// Chooses another way for a class.
    ///
    /// # Errors
    /// If the way is not one of the class's [`ways`](Class::ways).
    pub fn choose(
        &mut self,
        class: Class,
        direction: Direction,
        way: Way,
        measured: Option<Measured>,
    ) -> Result<(), TuningError> {
        if !class.ways(direction).contains(&way) {
            return Err(TuningError { class, direction, way });
        }
        self.put(class, direction, Row { way, measured });
        Ok(())
    }

    /// The table with `way` for every class: also for those that it cannot copy, which have another kernel then.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn only(way: Way) -> Self {
        assert!(way.is_here());
        let rows = [Row { way, measured: None }; 2];
        Self(Arc::new([[rows; MOST_SIZES]; Shape::ALL.len()]))
    }

    /// The ways to pack and to unpack a class. The processor has them.
    pub(crate) fn ways(&self, class: Class) -> Pair<Way> {
        let [pack, unpack] = Direction::ALL.map(|direction| self.way(class, direction));
        Pair { pack, unpack }
    }

    fn row(&self, class: Class, direction: Direction) -> &Row {
        &self.0[class.shape as usize][class.size][direction as usize]
    }

    fn put(&mut self, class: Class, direction: Direction, row: Row) {
        Arc::make_mut(&mut self.0)[class.shape as usize][class.size][direction as usize] = row;
    }

    /// The choice for a class: `32-byte vectors, 11.9 GB/s; next: memcpy, 10.2`.
    pub(crate) fn reason(&self, class: Class, direction: Direction) -> String {
        let Row { way, measured } = self.row(class, direction);
        let speed = |bytes_per_s: f64| format!("{:.1}", bytes_per_s / 1e9);
        match measured {
            None => way.name().to_owned(),
            Some(Measured { bytes_per_s, next: None }) => {
                format!("{}, {} GB/s", way.name(), speed(*bytes_per_s))
            }
            Some(Measured { bytes_per_s, next: Some((next, next_bytes_per_s)) }) => {
                let (speed, next_speed) = (speed(*bytes_per_s), speed(*next_bytes_per_s));
                format!("{}, {speed} GB/s; next: {}, {next_speed}", way.name(), next.name())
            }
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::shipped()
    }
}

impl fmt::Debug for Tuning {
    /// The differences from the table that is shipped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shipped = Self::shipped();
        let all = Class::all().flat_map(|class| Direction::ALL.map(|direction| (class, direction)));
        let differs =
            all.filter(|(class, direction)| self.way(*class, *direction) != shipped.way(*class, *direction));
        f.debug_map()
            .entries(
                differs
                    .map(|(class, direction)| ((class.to_string(), direction), self.way(class, direction))),
            )
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_name_of_its_own_and_a_shipped_way_that_is_here() {
        let shipped = Tuning::shipped();
        let mut names = std::collections::HashSet::new();
        for class in Class::all() {
            assert!(names.insert(class.to_string()), "{class}");
            assert_eq!(Class::named(&class.to_string()), Some(class));
            for direction in Direction::ALL {
                let ways = class.ways(direction);
                assert!(ways.contains(&shipped.way(class, direction)), "{class}, {direction}: {ways:?}");
            }
        }
        assert_eq!(Class::named("blocks of nothing"), None);
    }

    #[test]
    fn only_ways_of_the_class_are_chosen() {
        let class = Class::named("records by index").unwrap();
        let mut tuning = Tuning::shipped();
        let refused = tuning.choose(class, Direction::Pack, Way::PastCaches, None).unwrap_err().to_string();
        let expected =
            "records by index, pack: this processor or this version cannot copy them by past the caches";
        assert_eq!(refused, expected);
        let measured = Measured { bytes_per_s: 11.94e9, next: Some((Way::Library, 10.2e9)) };
        tuning.choose(class, Direction::Pack, Way::Base, Some(measured)).unwrap();
        let reason = tuning.reason(class, Direction::Pack);
        assert_eq!(reason, "16-byte vectors, 11.9 GB/s; next: memcpy, 10.2");
        assert_eq!(tuning.way(class, Direction::Pack), Way::Base);
        let other = tuning.way(class, Direction::Unpack);
        assert_eq!(
            other,
            Tuning::shipped().way(class, Direction::Unpack),
            "the other direction is unchanged"
        );
    }
}

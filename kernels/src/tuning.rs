//! Which way copies each class of operations: a table per family of processors, because the fastest one depends on them.
//!
//! Tables are shipped for Zen 4, Zen 5 (both AMD EPYC) and recent Intel Xeons. Other processors use that of
//! Zen 4, which is a guess for them. `ddtbench engine --tune` measures with [`Trial`]s and prints a table for
//! a new family. This crate does not measure on its own.

mod class;
mod shipped;
mod trial;

pub use class::{Class, Direction};
pub use trial::Trial;

pub(crate) use class::Shape;

use crate::select::Pair;
use crate::way::Way;

/// The table of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tuning {
    /// The one that is shipped for this processor.
    Shipped,
    /// The same with another way for one class, in one direction.
    With(Class, Direction, Way),
    /// One way for every class: also for those that it cannot copy, which have another kernel then.
    #[cfg(any(test, feature = "fuzzing"))]
    Only(Way),
}

impl Tuning {
    /// The way for a class. The processor has it.
    pub fn way(self, class: Class, direction: Direction) -> Way {
        match self {
            Self::With(changed, in_direction, way) if (changed, in_direction) == (class, direction) => way,
            #[cfg(any(test, feature = "fuzzing"))]
            Self::Only(way) => way,
            _ => class.shipped(direction),
        }
    }

    /// The ways to pack and to unpack a class.
    pub fn ways(self, class: Class) -> Pair<Way> {
        let [pack, unpack] = Direction::ALL.map(|direction| self.way(class, direction));
        Pair { pack, unpack }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_name_of_its_own_and_a_shipped_way_that_is_here() {
        let mut names = std::collections::HashSet::new();
        for class in Class::all() {
            assert!(names.insert(class.to_string()), "{class}");
            assert!(Direction::ALL.iter().all(|&direction| class.shipped(direction).is_here()), "{class}");
        }
    }

    #[test]
    fn another_way_is_only_for_its_class_and_direction() {
        let [class, other] = [Shape::Runs, Shape::IndexedRecords].map(|shape| shape.class(0));
        let tuning = Tuning::With(class, Direction::Pack, Way::Prefetch);
        assert_eq!(tuning.way(class, Direction::Pack), Way::Prefetch);
        assert_eq!(tuning.way(class, Direction::Unpack), class.shipped(Direction::Unpack));
        assert_eq!(tuning.way(other, Direction::Pack), other.shipped(Direction::Pack));
    }
}

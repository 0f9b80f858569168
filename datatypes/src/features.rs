//! Features: properties of a constructor's arguments that implementations of datatypes often treat as special
//! cases. They describe a class of layouts: those that contain the same constructors with the same features.

use std::collections::BTreeSet;

use crate::{Constructor, Element, Layout};

/// A property of a constructor's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// A count of 0, or a list without entries.
    NoBlock,
    /// A block length of 0.
    EmptyBlock,
    EmptyChild,
    SeveralBlocks,
    /// A block of more than one child.
    LongBlock,
    /// A block in front of the previous one.
    Descending,
    NegativeDisplacement,
    /// A lower bound that is not 0, given by `resized`.
    LowerBound,
    /// An extent of 0, given by `resized`.
    ZeroExtent,
    NegativeExtent,
    /// An extent that is smaller than the data and larger than 0.
    ShortExtent,
    /// Members of different predefined types.
    MixedElements,
    /// A predefined type of more than one byte.
    WideElement,
    Complex,
}

impl Layout {
    /// The features of this constructor, without those of its children.
    pub fn features(&self) -> BTreeSet<Feature> {
        let constructor = self.constructor();
        let mut found = BTreeSet::new();
        let mut add = |feature: Feature, is_there: bool| {
            if is_there {
                found.insert(feature);
            }
        };
        if let Constructor::Named { element } = constructor {
            add(Feature::WideElement, element.size() > 1);
            add(Feature::Complex, matches!(element, Element::FloatComplex | Element::DoubleComplex));
            return found;
        }
        let parts: Vec<_> = constructor.parts().collect();
        add(
            Feature::NoBlock,
            parts.is_empty() || matches!(constructor, Constructor::Contiguous { count: 0, .. }),
        );
        add(
            Feature::EmptyBlock,
            !matches!(constructor, Constructor::Contiguous { .. })
                && parts.iter().any(|part| part.repeat == 0),
        );
        add(Feature::EmptyChild, constructor.children().iter().any(|child| child.size() == 0));
        add(Feature::SeveralBlocks, parts.len() > 1);
        add(Feature::LongBlock, parts.iter().any(|part| part.repeat > 1));
        add(Feature::Descending, parts.windows(2).any(|pair| pair[1].displacement < pair[0].displacement));
        add(Feature::NegativeDisplacement, parts.iter().any(|part| part.displacement < 0));
        if let Constructor::Resized { lower_bound, extent, child } = constructor {
            add(Feature::LowerBound, *lower_bound != 0);
            add(Feature::ZeroExtent, *extent == 0);
            add(Feature::NegativeExtent, *extent < 0);
            add(Feature::ShortExtent, (1..child.true_extent()).contains(extent));
        }
        add(
            Feature::MixedElements,
            constructor.children().len() > 1 && self.size() > 0 && self.uniform().is_none(),
        );
        found
    }

    pub fn all_features(&self) -> BTreeSet<Feature> {
        let mut all = self.features();
        self.constructor().children().iter().for_each(|child| all.extend(child.all_features()));
        all
    }

    /// Number of constructors, predefined types not included. A child that occurs several times counts each time.
    pub fn constructors(&self) -> usize {
        let children = self.constructor().children();
        usize::from(!children.is_empty() || !matches!(self.constructor(), Constructor::Named { .. }))
            + children.iter().map(Self::constructors).sum::<usize>()
    }

    /// Whether it contains a layout of the class of `pattern`: the constructors of the pattern or more
    /// general ones, each with at least its features, in the same order of nesting. A predefined type of one
    /// byte replaces any other. A pattern without data is only contained in layouts without data.
    pub fn contains(&self, pattern: &Self) -> bool {
        if pattern.size() == 0 {
            return self.size() == 0;
        }
        self.is_of_class(pattern) || self.constructor().children().iter().any(|child| child.contains(pattern))
    }

    fn is_of_class(&self, pattern: &Self) -> bool {
        if let Constructor::Named { .. } = pattern.constructor() {
            return matches!(self.constructor(), Constructor::Named { .. })
                && self.features().is_superset(&pattern.features());
        }
        // The constructor of a member without data does not matter.
        let is_member =
            |child: &Self, part: &Self| (part.size() == 0 && child.size() == 0) || child.contains(part);
        is_as_general(self.constructor(), pattern.constructor())
            && self.features().is_superset(&pattern.features())
            && pattern
                .constructor()
                .children()
                .iter()
                .all(|part| self.constructor().children().iter().any(|child| is_member(child, part)))
    }
}

/// Whether a constructor can describe everything that another one can: a list of blocks every loop, and a structure every list.
fn is_as_general(constructor: &Constructor, other: &Constructor) -> bool {
    match constructor.has_own_bounds() || other.has_own_bounds() {
        true => constructor.name() == other.name(),
        false => constructor.generality() >= other.generality(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a table with these marks between columns.
    fn rows<'a>(table: &'a str, mark: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        table.lines().filter(|row| !row.starts_with('#')).filter_map(move |row| row.split_once(mark))
    }

    #[test]
    fn features_are_those_of_the_arguments() {
        for (text, expected) in rows(include_str!("features.txt"), " => ") {
            let found: Vec<String> =
                text.parse::<Layout>().unwrap().features().iter().map(|of| format!("{of:?}")).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_class_is_what_has_the_constructors_and_their_features() {
        for mark in [" contains ", " lacks "] {
            for (text, pattern) in rows(include_str!("features.txt"), mark) {
                let layout = text.parse::<Layout>().unwrap();
                let found = layout.contains(&pattern.parse().unwrap());
                assert_eq!(found, mark == " contains ", "{text}{mark}{pattern}");
            }
        }
    }
}

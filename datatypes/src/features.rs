//! Features: properties of a constructor's arguments that implementations of datatypes often treat as special cases. They
//! describe a class of layouts: those that contain the same constructors with the same features.

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
            add(Feature::Complex, is_complex(*element));
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

    /// Whether it contains a layout of the class of `pattern`: the constructors of the pattern or more general ones, each with at least
    /// its features, in the same order of nesting. A predefined type of one byte replaces any other. A pattern without data is only
    /// contained in layouts without data.
    pub fn contains(&self, pattern: &Self) -> bool {
        if pattern.size() == 0 {
            return self.size() == 0;
        }
        self.is_of_class(pattern) || self.constructor().children().iter().any(|child| child.contains(pattern))
    }

    /// The same for a member: without data, its constructor does not matter.
    fn is_member_of_class(&self, pattern: &Self) -> bool {
        (pattern.size() == 0 && self.size() == 0) || self.contains(pattern)
    }

    fn is_of_class(&self, pattern: &Self) -> bool {
        if let Constructor::Named { .. } = pattern.constructor() {
            return matches!(self.constructor(), Constructor::Named { .. })
                && self.features().is_superset(&pattern.features());
        }
        is_as_general(self.constructor(), pattern.constructor())
            && self.features().is_superset(&pattern.features())
            && pattern
                .constructor()
                .children()
                .iter()
                .all(|part| self.constructor().children().iter().any(|child| child.is_member_of_class(part)))
    }
}

/// Whether a constructor can describe everything that another one can: a list of blocks every loop, and a structure every list.
fn is_as_general(constructor: &Constructor, other: &Constructor) -> bool {
    const BLOCKS: [&str; 8] = [
        "contiguous",
        "vector",
        "hvector",
        "indexed_block",
        "hindexed_block",
        "indexed",
        "hindexed",
        "struct",
    ];
    let place = |constructor: &Constructor| BLOCKS.iter().position(|name| *name == constructor.name());
    match (place(constructor), place(other)) {
        (Some(own), Some(other)) => own >= other,
        _ => constructor.name() == other.name(),
    }
}

fn is_complex(element: Element) -> bool {
    matches!(element, Element::FloatComplex | Element::DoubleComplex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn features_are_those_of_the_arguments() {
        let of = |text: &str| parse(text).features().into_iter().collect::<Vec<_>>();
        assert_eq!(of("byte"), []);
        assert_eq!(of("double_complex"), [Feature::WideElement, Feature::Complex]);
        assert_eq!(of("contiguous(0, byte)"), [Feature::NoBlock]);
        assert_eq!(of("vector(2, 0, 1, byte)"), [Feature::EmptyBlock, Feature::SeveralBlocks]);
        assert_eq!(
            of("hindexed([1, 2], [0, -8], contiguous(0, byte))"),
            [
                Feature::EmptyChild,
                Feature::SeveralBlocks,
                Feature::LongBlock,
                Feature::Descending,
                Feature::NegativeDisplacement
            ]
        );
        assert_eq!(of("resized(4, 3, double)"), [Feature::LowerBound, Feature::ShortExtent]);
        assert_eq!(of("resized(0, -8, double)"), [Feature::NegativeExtent]);
        assert_eq!(
            of("struct([1, 1], [0, 8], [byte, double])"),
            [Feature::SeveralBlocks, Feature::MixedElements]
        );
    }

    #[test]
    fn a_class_is_what_has_the_constructors_and_their_features() {
        let pattern = parse("vector(2, 1, -1, byte)");
        for text in ["vector(9, 3, -4, double)", "resized(0, 99, contiguous(2, vector(2, 1, -2, int32)))"] {
            assert!(parse(text).contains(&pattern), "{text}");
        }
        for text in ["hvector(2, 1, -1, byte)", "hindexed([1, 1], [0, -1], byte)"] {
            assert!(parse(text).contains(&pattern), "{text} is more general");
        }
        for text in ["vector(9, 3, 4, double)", "subarray([4], [2], [1], c, byte)", "byte"] {
            assert!(!parse(text).contains(&pattern), "{text}");
        }
        let wide = parse("vector(2, 1, -1, int16)");
        assert!(parse("vector(2, 1, -1, double)").contains(&wide));
        assert!(!parse("vector(2, 1, -1, int8)").contains(&wide));
        let nested = parse("contiguous(2, resized(0, 0, byte))");
        assert!(parse("contiguous(2, vector(2, 1, 1, resized(0, 0, byte)))").contains(&nested));
        assert!(!parse("resized(0, 0, contiguous(2, byte))").contains(&nested));
        let empty_member = parse("struct([1, 1], [0, 1], [contiguous(0, byte), byte])");
        assert!(parse("struct([1, 1], [0, 1], [struct([], [], []), int16])").contains(&empty_member));
        assert!(!parse("struct([1, 1], [0, 1], [int16, int16])").contains(&empty_member));
        let empty = parse("contiguous(0, byte)");
        assert!(parse("struct([], [], [])").contains(&empty));
        assert!(!parse("struct([1, 1], [0, 1], [contiguous(0, byte), int16])").contains(&empty));
    }
}

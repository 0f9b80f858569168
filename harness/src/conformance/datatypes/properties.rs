//! The property of a message that an implementation probably gets wrong, whatever its constructors are.

use std::collections::BTreeSet;

use common::conformance::Items;
use datatypes::{Construction, Feature};

use super::finding::Hit;

/// MPIs send longer messages in fragments.
pub const LONG_BYTES: u64 = 4096;

/// Items in which all properties are visible.
const ITEMS: u32 = 3;

/// Properties, those first that a shrinker keeps only if the fault needs them: a message with several of them has the cause of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    NoData,
    /// Offsets that need more than 32 bits.
    Far,
    Complex,
    NegativeExtent,
    ZeroExtent,
    /// MPIs make it of other types.
    Darray,
    EmptyPart,
    MixedElements,
    /// The first byte is not at the address.
    Displaced,
    /// A value is in front of the one before it.
    Descending,
    /// An extent that is smaller than the data.
    ShortExtent,
    LongMessage,
    LargeCounts,
    Duplicate,
    /// Two values have a byte in common, often since a shrinker makes displacements 0.
    Overlap,
    /// More than one run of bytes.
    Scattered,
}

impl Property {
    /// Those of a hit; a plain message has none.
    pub fn all(hit: &Hit) -> BTreeSet<Self> {
        let layout = &hit.layout;
        let items = Items::from_layout(layout, hit.items.clamp(1, ITEMS));
        let features = layout.all_features();
        let has = |feature: Feature| features.contains(&feature);
        let first = items.values.iter().map(|value| value.displacement).min().unwrap_or(0);
        let descends = || items.values.windows(2).any(|pair| pair[1].displacement < pair[0].displacement);
        let is_scattered = || items.values.windows(2).any(|pair| pair[1].displacement != pair[0].end());
        let empty = [Feature::NoBlock, Feature::EmptyBlock, Feature::EmptyChild];
        let is_made = |construction| hit.construction == construction;
        let all = [
            (Self::NoData, hit.items == 0 || items.values.is_empty()),
            (Self::Far, items.span_bytes() > i32::MAX as usize),
            (Self::Complex, has(Feature::Complex)),
            (Self::NegativeExtent, has(Feature::NegativeExtent) || layout.extent() < 0),
            (Self::ZeroExtent, has(Feature::ZeroExtent)),
            (Self::Darray, layout.to_text().contains("darray")),
            (Self::EmptyPart, empty.into_iter().any(has)),
            (Self::MixedElements, layout.size() > 0 && layout.uniform().is_none()),
            (Self::Displaced, first != 0 || layout.lower_bound() != 0),
            (Self::Descending, descends()),
            (Self::ShortExtent, has(Feature::ShortExtent)),
            (Self::LongMessage, layout.size().saturating_mul(u64::from(hit.items)) > LONG_BYTES),
            (Self::LargeCounts, is_made(Construction::Large)),
            (Self::Duplicate, is_made(Construction::Duplicated)),
            (Self::Overlap, !items.are_disjoint()),
            (Self::Scattered, layout.extent() != layout.size() as i64 || is_scattered()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(property, _)| property).collect()
    }
}

//! Other descriptions of a layout: the same type map with other constructors. The sent data is the same, so a
//! good datatype engine takes as long for each, and moves the same bytes.

use crate::segments::ElementRun;
use crate::{Argument, Constructor, Layout, Order};

/// Maximum blocks of a list: a longer one has more arguments (12 bytes per block) than anybody writes, and
/// creating it takes longer than sending.
const MOST_BLOCKS: usize = 1 << 18;

named! {
    /// A way to describe a type map. If two give the same description, the first is simpler.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Equivalent {
        /// `MPI_Type_contiguous` of a part that is resized to the stride; nested for nests.
        Contiguous = "contiguous",
        /// `MPI_Type_vector`; nested for nests, with the inner one resized to the extent of its type.
        Vector = "vector",
        /// `MPI_Type_create_hvector`; nested for nests.
        Hvector = "hvector",
        /// A single loop split into two: an hvector of hvectors.
        HvectorOfHvectors = "hvectors",
        /// Blocks of one length at listed places (`MPI_Type_create_indexed_block`).
        IndexedBlock = "indexed_block",
        /// The same with places in bytes (`MPI_Type_create_hindexed_block`).
        HindexedBlock = "hindexed_block",
        /// Blocks at listed places (`MPI_Type_indexed`).
        Indexed = "indexed",
        /// The same with places in bytes (`MPI_Type_create_hindexed`).
        Hindexed = "hindexed",
        /// A structure of its blocks (`MPI_Type_create_struct`).
        Struct = "struct",
        /// A box in an array (`MPI_Type_create_subarray`), with the bounds of the array.
        Subarray = "subarray",
        /// The same with the bounds of the layout (`MPI_Type_create_resized`).
        SubarrayResized = "subarray_resized",
        /// The same with a single loop split into two, and thus one more dimension.
        SubarraySplit = "subarray_split",
        /// One copy of the layout (`MPI_Type_contiguous`).
        Wrapped = "wrapped",
        /// The layout with its own bounds (`MPI_Type_create_resized`).
        Resized = "resized",
        /// All of these nested: a structure of one, resized, contiguous.
        Nested = "nested",
    }
}

impl Equivalent {
    /// Whether lower bound and extent are those of the layout. If not, several copies, or a type made of it, differ.
    pub const fn keeps_bounds(self) -> bool {
        !matches!(self, Self::Subarray)
    }

    /// The layout described in this way; `None` if that is impossible, for example a list as a subarray. In a
    /// structure whose parts have no common pattern, the parts are described.
    pub fn rewritten(self, layout: &Layout) -> Option<Layout> {
        Views::from_layout(layout).described(self)
    }

    /// All different descriptions except its own, in the order of [`Self::ALL`]. The ordered type map is the
    /// same, and so are the bounds if [`Self::keeps_bounds`].
    pub fn all_of(layout: &Layout) -> Vec<(Self, Layout)> {
        let (views, mut all) = (Views::from_layout(layout), Vec::<(Self, Layout)>::new());
        for way in Self::ALL {
            let Some(described) = views.described(way) else { continue };
            if described != *layout && all.iter().all(|(_, known)| *known != described) {
                all.push((way, described));
            }
        }
        all
    }
}

/// A layout, with the lists of blocks that describe it.
struct Views<'a> {
    layout: &'a Layout,
    /// One of its values, if they all have the same type, and one of the parts of its constructor.
    lists: Vec<Blocks>,
}

/// Blocks of a type, in type-map order.
struct Blocks {
    child: Layout,
    /// Bytes from the origin, and copies, one extent apart.
    list: Vec<(i64, i64)>,
}

/// Blocks of one length at even distances.
struct Pattern<'a> {
    child: &'a Layout,
    /// Copies of the child in a block.
    blocklength: i64,
    /// Bytes from the origin to the first block.
    start: i64,
    /// The loops around a block, the innermost first: repetitions, and bytes between them.
    loops: Vec<(i64, i64)>,
}

impl<'a> Views<'a> {
    fn from_layout(layout: &'a Layout) -> Self {
        Self {
            layout,
            lists: [Blocks::of_values(layout), Blocks::of_parts(layout)].into_iter().flatten().collect(),
        }
    }

    fn described(&self, way: Equivalent) -> Option<Layout> {
        let layout = self.layout;
        let described = match way {
            Equivalent::Wrapped => Layout::contiguous(1, layout).ok(),
            Equivalent::Resized => Layout::resized(layout.lower_bound(), layout.extent(), layout).ok(),
            Equivalent::Nested => {
                let inner = Layout::structure(&[1], &[0], std::slice::from_ref(layout)).ok()?;
                Layout::contiguous(1, &Layout::resized(layout.lower_bound(), layout.extent(), &inner).ok()?)
                    .ok()
            }
            Equivalent::Struct => of_runs(layout),
            _ => self
                .lists
                .iter()
                .find_map(|list| list.described(way))
                .or_else(|| parts_described(layout, way)),
        }?;
        let described = if way.keeps_bounds() { with_bounds_of(layout, described)? } else { described };
        fits_int(&described).then_some(described)
    }
}

/// Whether the arguments are valid for MPI, which takes most of them as `int`.
fn fits_int(layout: &Layout) -> bool {
    let fits = |value: &i64| i32::try_from(*value).is_ok();
    let constructor = layout.constructor();
    let all_fit = constructor.arguments().into_iter().all(|argument| match argument {
        Argument::Number(value) => fits(value),
        Argument::List(list) => list.iter().all(fits),
        Argument::Blocks(list) => list.iter().flatten().all(fits),
        _ => true,
    });
    all_fit && constructor.children().iter().all(fits_int)
}

/// The first byte after some copies of a layout.
fn end(place: i64, copies: i64, layout: &Layout) -> Option<i64> {
    copies.checked_mul(layout.extent())?.checked_add(place)
}

/// A description with the bounds of another layout, whatever bounds the MPI gives it.
fn with_bounds_of(layout: &Layout, described: Layout) -> Option<Layout> {
    let bounds = |layout: &Layout| (layout.lower_bound(), layout.extent());
    match bounds(&described) == bounds(layout) && described.readings().is_empty() {
        true => Some(described),
        false => Layout::resized(layout.lower_bound(), layout.extent(), &described).ok(),
    }
}

/// A structure of the runs of values; `None` if there are too many, or none.
fn of_runs(layout: &Layout) -> Option<Layout> {
    let runs: Vec<ElementRun> = layout.merged_runs().take(MOST_BLOCKS + 1).collect();
    if runs.is_empty() || runs.len() > MOST_BLOCKS {
        return None;
    }
    let lengths: Vec<i64> = runs.iter().map(|run| run.count as i64).collect();
    let places: Vec<i64> = runs.iter().map(|run| run.offset).collect();
    // Neighbours with the same type share it: most structures have one type, or two that alternate.
    let mut types: Vec<Layout> = Vec::new();
    let children = runs.iter().map(|run| {
        let named = Layout::named(run.element);
        let known = types.iter().find(|known| **known == named).cloned();
        known.unwrap_or_else(|| {
            types.push(named.clone());
            named
        })
    });
    let children: Vec<Layout> = children.collect();
    Layout::structure(&lengths, &places, &children).ok()
}

/// A structure with some parts described in this way, and the others unchanged.
fn parts_described(layout: &Layout, way: Equivalent) -> Option<Layout> {
    let (blocklengths, places, children) = match layout.constructor() {
        Constructor::Resized { child, .. } => return parts_described(child, way),
        Constructor::Struct { blocklengths, displacements_bytes, children } => {
            (blocklengths, displacements_bytes, children)
        }
        _ => return None,
    };
    let of_part = |(child, &blocklength): (&Layout, &i64)| {
        // One copy of a part needs no bounds; several copies are an extent apart.
        let way =
            if way == Equivalent::Subarray && blocklength > 1 { Equivalent::SubarrayResized } else { way };
        way.rewritten(child).unwrap_or_else(|| child.clone())
    };
    let described: Vec<Layout> = children.iter().zip(blocklengths).map(of_part).collect();
    (described != *children).then(|| Layout::structure(blocklengths, places, &described).ok())?
}

impl Blocks {
    /// Runs of values, all of one type.
    fn of_values(layout: &Layout) -> Option<Self> {
        let child = Layout::named(layout.uniform()?);
        Self::collect(child, layout.merged_runs().map(|run| (run.offset, run.count as i64)))
    }

    /// The parts of a constructor whose parts all have the same child.
    fn of_parts(layout: &Layout) -> Option<Self> {
        let constructor = layout.constructor();
        let child = match constructor {
            Constructor::Resized { child, .. } => return Self::of_parts(child),
            Constructor::Struct { .. } | Constructor::Named { .. } => return None,
            _ if constructor.part_count() > MOST_BLOCKS as u64 => return None,
            _ => constructor.children().first().filter(|child| child.size() > 0)?,
        };
        let mut blocks: Vec<(i64, i64)> = Vec::new();
        for k in 0..constructor.part_count() {
            let part = constructor.part(k);
            match blocks.last_mut() {
                _ if part.repeat == 0 => {}
                Some((place, copies)) if end(*place, *copies, child) == Some(part.displacement) => {
                    *copies += part.repeat as i64;
                }
                _ => blocks.push((part.displacement, part.repeat as i64)),
            }
        }
        Self::collect(child.clone(), blocks.into_iter())
    }

    /// `None` if there are no blocks or too many.
    fn collect(child: Layout, blocks: impl Iterator<Item = (i64, i64)>) -> Option<Self> {
        let list: Vec<(i64, i64)> = blocks.take(MOST_BLOCKS + 1).collect();
        (!list.is_empty() && list.len() <= MOST_BLOCKS).then_some(Self { child, list })
    }

    fn described(&self, way: Equivalent) -> Option<Layout> {
        let (places, lengths): (Vec<i64>, Vec<i64>) = self.list.iter().copied().unzip();
        let in_extents = || {
            let extent = self.child.extent();
            let steps =
                places.iter().map(|place| (place.checked_rem(extent)? == 0).then_some(place / extent));
            steps.collect::<Option<Vec<i64>>>()
        };
        let is_even = lengths.iter().all(|length| *length == lengths[0]);
        match way {
            Equivalent::IndexedBlock if is_even => {
                Layout::indexed_block(lengths[0], &in_extents()?, &self.child).ok()
            }
            Equivalent::HindexedBlock if is_even => {
                Layout::hindexed_block(lengths[0], &places, &self.child).ok()
            }
            Equivalent::Indexed => Layout::indexed(&lengths, &in_extents()?, &self.child).ok(),
            Equivalent::Hindexed => Layout::hindexed(&lengths, &places, &self.child).ok(),
            Equivalent::IndexedBlock | Equivalent::HindexedBlock => None,
            _ => self.pattern()?.described(way),
        }
    }

    /// The pattern of the blocks, if they have one.
    fn pattern(&self) -> Option<Pattern<'_>> {
        let (start, blocklength) = self.list[0];
        if self.list.iter().any(|(_, length)| *length != blocklength) {
            return None;
        }
        let mut places: Vec<i64> = self.list.iter().map(|(place, _)| *place).collect();
        let mut loops = Vec::new();
        while places.len() > 1 {
            // The longest beginning with even distances; the rest repeats it.
            let stride = places[1].checked_sub(places[0])?;
            let even =
                places.windows(2).take_while(|pair| pair[1].checked_sub(pair[0]) == Some(stride)).count() + 1;
            let is_repeated = |group: &[i64]| {
                group.len() == even
                    && group.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(stride))
            };
            if !places.chunks(even).all(is_repeated) {
                return None;
            }
            loops.push((even as i64, stride));
            places = places.into_iter().step_by(even).collect();
        }
        Some(Pattern { child: &self.child, blocklength, start, loops })
    }
}

impl Pattern<'_> {
    fn described(&self, way: Equivalent) -> Option<Layout> {
        let described = match way {
            Equivalent::Contiguous => self.contiguous(),
            Equivalent::Vector => self.vectors(),
            Equivalent::Hvector => self.hvectors(&self.loops),
            Equivalent::HvectorOfHvectors => self.hvectors(&self.split()?),
            Equivalent::Subarray | Equivalent::SubarrayResized => return self.subarray(&self.loops),
            Equivalent::SubarraySplit => return self.subarray(&self.split()?),
            _ => None,
        }?;
        self.placed(self.start, described)
    }

    /// A description that begins at a distance from its origin.
    fn placed(&self, start: i64, described: Layout) -> Option<Layout> {
        match start {
            0 => Some(described),
            _ => Layout::hindexed(&[1], &[start], &described).ok(),
        }
    }

    fn contiguous(&self) -> Option<Layout> {
        let block = match self.blocklength {
            1 if !self.loops.is_empty() => self.child.clone(),
            copies => Layout::contiguous(copies, self.child).ok()?,
        };
        self.loops.iter().try_fold(block, |part, &(count, stride)| {
            // A negative extent is legal, but unusual in applications.
            let part = (stride > 0).then(|| Layout::resized(part.lower_bound(), stride, &part).ok())??;
            Layout::contiguous(count, &part).ok()
        })
    }

    fn vectors(&self) -> Option<Layout> {
        let (extent, lower_bound) = (self.child.extent(), self.child.lower_bound());
        let mut vector: Option<Layout> = None;
        let one = [(1, self.block_bytes()?)];
        for &(count, stride) in if self.loops.is_empty() { &one } else { &self.loops[..] } {
            let stride = (stride.checked_rem(extent)? == 0).then_some(stride / extent)?;
            vector = Some(match vector {
                None => Layout::vector(count, self.blocklength, stride, self.child).ok()?,
                Some(inner) => {
                    let inner = Layout::resized(lower_bound, extent, &inner).ok()?;
                    Layout::vector(count, 1, stride, &inner).ok()?
                }
            });
        }
        vector
    }

    fn hvectors(&self, loops: &[(i64, i64)]) -> Option<Layout> {
        let one = (1, self.block_bytes()?);
        let (&(count, stride), around) = loops.split_first().unwrap_or((&one, &[]));
        let inner = Layout::hvector(count, self.blocklength, stride, self.child).ok()?;
        around
            .iter()
            .try_fold(inner, |inner, &(count, stride)| Layout::hvector(count, 1, stride, &inner).ok())
    }

    /// The only loop split into two, with counts as similar as possible.
    fn split(&self) -> Option<Vec<(i64, i64)>> {
        let [(count, stride)] = self.loops[..] else { return None };
        let inner =
            (2..).take_while(|inner| inner * inner <= count).filter(|inner| count % inner == 0).last()?;
        Some(vec![(inner, stride), (count / inner, stride.checked_mul(inner)?)])
    }

    /// A box in an array with rows as long as the innermost stride, and so on.
    fn subarray(&self, loops: &[(i64, i64)]) -> Option<Layout> {
        let extent = self.child.extent();
        // Bytes from one index to the next, of each dimension, the fastest first.
        let weights: Vec<i64> =
            std::iter::once(extent).chain(loops.iter().map(|(_, stride)| *stride)).collect();
        let subsizes: Vec<i64> =
            std::iter::once(self.blocklength).chain(loops.iter().map(|(count, _)| *count)).collect();
        if weights.iter().any(|weight| *weight <= 0) {
            return None;
        }
        let mut sizes: Vec<i64> = Vec::new();
        for pair in weights.windows(2) {
            sizes.push((pair[1] % pair[0] == 0).then_some(pair[1] / pair[0])?);
        }
        if sizes.iter().zip(&subsizes).any(|(size, subsize)| subsize > size) {
            return None;
        }
        // The indices of the first value, if the box is within the array.
        let starts = || {
            let mut rest = self.start;
            let mut starts: Vec<i64> = weights
                .iter()
                .rev()
                .map(|weight| {
                    let start = rest.div_euclid(*weight);
                    rest = rest.rem_euclid(*weight);
                    start
                })
                .collect();
            starts.reverse();
            let fits = starts
                .iter()
                .zip(&subsizes)
                .zip(&sizes)
                .all(|((start, subsize), size)| start + subsize <= *size);
            (self.start >= 0 && rest == 0 && fits).then_some(starts)
        };
        let (starts, place) =
            starts().map_or_else(|| (vec![0; weights.len()], self.start), |starts| (starts, 0));
        sizes.push(starts.last()?.checked_add(*subsizes.last()?)?);
        let slowest_first = |values: Vec<i64>| values.into_iter().rev().collect::<Vec<i64>>();
        let [sizes, subsizes, starts] = [sizes, subsizes, starts].map(slowest_first);
        self.placed(place, Layout::subarray(&sizes, &subsizes, &starts, Order::C, self.child).ok()?)
    }

    fn block_bytes(&self) -> Option<i64> {
        self.blocklength.checked_mul(self.child.extent())
    }
}

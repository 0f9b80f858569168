//! Parts of a layout as layouts, with the same constructors if possible; and the repeated part of a regular layout.

use std::ops::Range;

use crate::constructor::{ArgumentMut, Part};
use crate::{Argument, Constructor, Layout, LayoutError, Order};

/// A layout that starts at a distance from another's origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Bytes from that origin to its own.
    pub displacement: i64,
    pub layout: Layout,
}

/// Copies of a layout, one extent apart, that have the type map of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Repetition {
    /// How many.
    pub count: u64,
    pub one: Placed,
}

impl Layout {
    /// The values in these bytes of the packed stream. Whole parts of a constructor, such as the blocks of a vector, are
    /// described by a constructor of the same name; incomplete parts are next to them in a structure.
    ///
    /// # Errors
    /// If MPI cannot describe it: a count or a nesting exceeds its limits.
    ///
    /// # Panics
    /// If an end is within a value, or beyond the stream.
    pub fn cut(&self, bytes: Range<u64>) -> Result<Placed, LayoutError> {
        let mut pieces = Vec::new();
        cut_into(self, bytes, 0, &mut pieces)?;
        if let [_] = pieces.as_slice() {
            return Ok(pieces.remove(0));
        }
        let (displacements, layouts): (Vec<i64>, Vec<Layout>) =
            pieces.into_iter().map(|piece| (piece.displacement, piece.layout)).unzip();
        let layout = Layout::structure(&vec![1; layouts.len()], &displacements, &layouts)?;
        Ok(Placed { displacement: 0, layout })
    }

    /// The repeated part, if the layout is a regular repetition: a vector of its blocks, a subarray of its
    /// slabs. `None` for lists, structures, and layouts that cannot be resized accordingly.
    pub fn repetition(&self) -> Option<Repetition> {
        let of = |count: i64, displacement: i64, layout: Layout| {
            (count > 1).then_some(Repetition { count: count as u64, one: Placed { displacement, layout } })
        };
        let block = |count: i64, blocklength: i64, stride_bytes: i64, child: &Layout| {
            let block = Layout::contiguous(blocklength, child).ok()?;
            let lower_bound = block.lower_bound();
            of(count, 0, Layout::resized(lower_bound, stride_bytes, &block).ok()?)
        };
        match self.constructor() {
            Constructor::Contiguous { count, child } => of(*count, 0, child.clone()),
            Constructor::Resized { child, .. } => child.repetition(),
            Constructor::Vector { count, blocklength, stride, child } => {
                block(*count, *blocklength, stride.checked_mul(child.extent())?, child)
            }
            Constructor::Hvector { count, blocklength, stride_bytes, child } => {
                block(*count, *blocklength, *stride_bytes, child)
            }
            Constructor::Subarray { sizes, subsizes, starts, order, child } if sizes.len() > 1 => {
                let slowest = order.slowest(sizes.len());
                let without = |values: &[i64]| {
                    let mut values = values.to_vec();
                    values.remove(slowest);
                    values
                };
                let slab =
                    Layout::subarray(&without(sizes), &without(subsizes), &without(starts), *order, child)
                        .ok()?;
                of(subsizes[slowest], starts[slowest] * slab.extent(), slab)
            }
            _ => None,
        }
    }
}

impl Order {
    fn slowest(self, dims: usize) -> usize {
        match self {
            Self::C => 0,
            Self::Fortran => dims - 1,
        }
    }
}

fn cut_into(
    layout: &Layout,
    bytes: Range<u64>,
    displacement: i64,
    pieces: &mut Vec<Placed>,
) -> Result<(), LayoutError> {
    if bytes.is_empty() {
        return Ok(());
    }
    if bytes == (0..layout.size()) {
        pieces.push(Placed { displacement, layout: layout.clone() });
        return Ok(());
    }
    let constructor = layout.constructor();
    assert!(!matches!(constructor, Constructor::Named { .. }), "a value cannot be cut");
    // The complete parts; those at the ends are cut.
    let mut whole: Option<Range<u64>> = None;
    let mut begin = 0;
    for k in 0..constructor.part_count() {
        let part = constructor.part(k);
        let part_bytes = begin..begin + part.repeat * part.child.size();
        begin = part_bytes.end;
        if part_bytes.is_empty() || part_bytes.end <= bytes.start {
            continue;
        }
        if part_bytes.start >= bytes.end {
            break;
        }
        let is_whole = bytes.start <= part_bytes.start && part_bytes.end <= bytes.end;
        if is_whole {
            whole = Some(whole.map_or(k, |before| before.start)..k + 1);
            continue;
        }
        if let Some(parts) = whole.take() {
            slice_into(constructor, parts, displacement, pieces)?;
        }
        let within = bytes.start.max(part_bytes.start) - part_bytes.start
            ..bytes.end.min(part_bytes.end) - part_bytes.start;
        copies_into(part, within, displacement, pieces)?;
    }
    whole.map_or(Ok(()), |parts| slice_into(constructor, parts, displacement, pieces))
}

/// Some bytes of a part: complete copies of its child together, and cut copies.
fn copies_into(
    part: Part<'_>,
    bytes: Range<u64>,
    displacement: i64,
    pieces: &mut Vec<Placed>,
) -> Result<(), LayoutError> {
    let (child, size) = (part.child, part.child.size());
    // The end of the last copy may exceed 64 bits; then nothing of it is cut.
    let place =
        |copy: u64| (copy as i64).wrapping_mul(child.extent()).wrapping_add(displacement + part.displacement);
    let (first, last) = (bytes.start.div_ceil(size), bytes.end / size);
    if first > last {
        let copy = last;
        return cut_into(child, bytes.start - copy * size..bytes.end - copy * size, place(copy), pieces);
    }
    let before = bytes.start..first * size;
    if !before.is_empty() {
        let copy = first - 1;
        cut_into(child, before.start - copy * size..size, place(copy), pieces)?;
    }
    if first < last {
        let layout = Layout::contiguous((last - first) as i64, child)?;
        pieces.push(Placed { displacement: place(first), layout });
    }
    cut_into(child, 0..bytes.end - last * size, place(last), pieces)
}

/// Some complete parts of a constructor, but not all.
fn slice_into(
    constructor: &Constructor,
    parts: Range<u64>,
    displacement: i64,
    pieces: &mut Vec<Placed>,
) -> Result<(), LayoutError> {
    match constructor {
        Constructor::Subarray { sizes, subsizes, starts, order, child } => {
            let array = (&sizes[..], &subsizes[..], &starts[..], *order, child);
            return slabs_into(array, constructor, parts, displacement, pieces);
        }
        Constructor::Darray { child, .. } => {
            pieces.push(Placed { displacement, layout: listed(constructor, parts, child)? });
            return Ok(());
        }
        _ => {}
    }
    let range = parts.start as usize..parts.end as usize;
    let mut part = Constructor::empty(constructor.name()).expect("it has parts");
    for argument in part.arguments_mut().into_iter().zip(constructor.arguments()) {
        match argument {
            (ArgumentMut::List(to), Argument::List(from))
            | (ArgumentMut::Addresses(to), Argument::Addresses(from)) => *to = from[range.clone()].to_vec(),
            (ArgumentMut::Number(to), Argument::Number(from))
            | (ArgumentMut::Address(to), Argument::Address(from)) => *to = *from,
            (ArgumentMut::Type(to), Argument::Type(from)) => *to = from.clone(),
            (ArgumentMut::Types(to), Argument::Types(from)) => *to = from[range.clone()].to_vec(),
            _ => unreachable!("both are of one constructor"),
        }
    }
    let mut moved = 0;
    if let Constructor::Vector { count, .. } | Constructor::Hvector { count, .. } = &mut part {
        // Listed displacements keep their origin; otherwise the first part is the new origin.
        (*count, moved) = (range.len() as i64, constructor.part(parts.start).displacement);
    }
    pieces.push(Placed { displacement: displacement + moved, layout: Layout::new(part)? });
    Ok(())
}

/// Some parts of a constructor as a list.
fn listed(constructor: &Constructor, parts: Range<u64>, child: &Layout) -> Result<Layout, LayoutError> {
    let parts = parts.map(|k| constructor.part(k));
    let (lengths, displacements): (Vec<i64>, Vec<i64>) =
        parts.map(|part| (part.repeat as i64, part.displacement)).unzip();
    Layout::hindexed(&lengths, &displacements, child)
}

/// Some rows of a subarray: complete slabs as a subarray, other rows as a list.
fn slabs_into(
    (sizes, subsizes, starts, order, child): (&[i64], &[i64], &[i64], Order, &Layout),
    constructor: &Constructor,
    rows: Range<u64>,
    displacement: i64,
    pieces: &mut Vec<Placed>,
) -> Result<(), LayoutError> {
    let slowest = order.slowest(sizes.len());
    let rows_of_slab = constructor.part_count() / subsizes[slowest] as u64;
    let list = |rows: Range<u64>, pieces: &mut Vec<Placed>| {
        if !rows.is_empty() {
            pieces.push(Placed { displacement, layout: listed(constructor, rows, child)? });
        }
        Ok(())
    };
    let (first, last) = (rows.start.div_ceil(rows_of_slab), rows.end / rows_of_slab);
    if first >= last {
        return list(rows, pieces);
    }
    list(rows.start..first * rows_of_slab, pieces)?;
    let (mut subsizes, mut starts) = (subsizes.to_vec(), starts.to_vec());
    subsizes[slowest] = (last - first) as i64;
    starts[slowest] += first as i64;
    let layout = Layout::subarray(sizes, &subsizes, &starts, order, child)?;
    pieces.push(Placed { displacement, layout });
    list(last * rows_of_slab..rows.end, pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;
    use crate::unusual::unusual_layout;

    /// Offsets of all bytes of the type map, in its order.
    fn bytes(layout: &Layout, displacement: i64) -> Vec<i64> {
        layout
            .segments()
            .flat_map(|segment| segment.offset..segment.end())
            .map(|at| at + displacement)
            .collect()
    }

    /// Every place at which values can be separated.
    fn places(layout: &Layout) -> Vec<u64> {
        let mut end = 0;
        let values =
            layout.runs().flat_map(|run| std::iter::repeat_n(run.element.size(), run.count as usize));
        std::iter::once(0)
            .chain(values.map(|size| {
                end += size;
                end
            }))
            .collect()
    }

    #[test]
    fn cuts_have_the_bytes_of_the_whole_in_its_order() {
        for seed in 0..300 {
            let layout = unusual_layout(seed, 3);
            let (all, places) = (bytes(&layout, 0), places(&layout));
            let step = (places.len() / 7).max(1);
            for (i, &from) in places.iter().enumerate().step_by(step) {
                for &to in places[i..].iter().step_by(step) {
                    let part = layout.cut(from..to).unwrap();
                    let found = bytes(&part.layout, part.displacement);
                    assert_eq!(found, all[from as usize..to as usize], "{from}..{to} of {layout:?}");
                }
            }
        }
    }

    #[test]
    fn a_part_is_described_as_the_whole_is() {
        let double = Layout::named(Element::Double);
        let vector = Layout::vector(8, 2, 3, &double).unwrap();
        let half = Layout::vector(4, 2, 3, &double).unwrap();
        assert_eq!(vector.cut(0..64).unwrap(), Placed { displacement: 0, layout: half.clone() });
        assert_eq!(vector.cut(64..128).unwrap(), Placed { displacement: 96, layout: half });
        let subarray = Layout::subarray(&[6, 4, 9], &[4, 2, 3], &[1, 1, 2], Order::C, &double).unwrap();
        let first = Layout::subarray(&[6, 4, 9], &[2, 2, 3], &[1, 1, 2], Order::C, &double).unwrap();
        assert_eq!(subarray.cut(0..96).unwrap().layout, first);
    }

    #[test]
    fn a_repetition_has_the_type_map_of_the_whole() {
        let double = Layout::named(Element::Double);
        let regular = [
            Layout::contiguous(5, &double).unwrap(),
            Layout::vector(8, 2, 3, &double).unwrap(),
            Layout::hvector(3, 2, 40, &Layout::resized(-8, 24, &double).unwrap()).unwrap(),
            Layout::resized(-8, 500, &Layout::vector(8, 2, 3, &double).unwrap()).unwrap(),
            Layout::subarray(&[6, 4, 9], &[4, 2, 3], &[1, 1, 2], Order::C, &double).unwrap(),
            Layout::subarray(&[6, 4], &[3, 2], &[2, 1], Order::Fortran, &double).unwrap(),
        ];
        for layout in regular {
            let Repetition { count, one } = layout.repetition().unwrap();
            let copies = (0..count as i64)
                .flat_map(|i| bytes(&one.layout, one.displacement + i * one.layout.extent()));
            assert_eq!(copies.collect::<Vec<_>>(), bytes(&layout, 0), "{layout:?}");
        }
        let list = Layout::hindexed(&[1, 2], &[0, 32], &double).unwrap();
        for none in [double, list] {
            assert_eq!(none.repetition(), None);
        }
    }
}

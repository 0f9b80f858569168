//! Cases made from bytes, for the fuzz target and for `cargo test`, which runs its corpus.

use arbitrary::{Result, Unstructured};
use datatypes::{Constructor, Element, Layout, Order};

use crate::check::{check, noise};

/// Constructors above a predefined type.
const MOST_DEPTH: u32 = 5;

/// Maximum number of entries of a type map, including empty copies: they determine the oracle's time.
const MOST_ENTRIES: u64 = 1 << 13;

/// Bytes from the first to the last byte of data of one copy.
const MOST_SPAN: i64 = 1 << 15;

/// Compiles the layout that `bytes` encode, for every instruction set of this processor, and compares what it packs
/// and unpacks with the oracle. Returns `false` if `bytes` do not encode a layout or if it is too large.
///
/// # Panics
/// If a byte is wrong.
pub fn run(bytes: &[u8]) -> bool {
    let bytes = &mut Unstructured::new(bytes);
    let Some((head, layout)) = Head::read(bytes).ok().zip(grow(bytes, MOST_DEPTH).ok().flatten()) else {
        return false;
    };
    let fits = layout.entries.saturating_mul(head.count) <= MOST_ENTRIES
        && layout.tree.extent().unsigned_abs().saturating_mul(head.count) <= 4 * MOST_SPAN as u64;
    if fits {
        check(&layout.tree, head.count, &mut noise(head.seed));
    }
    fits
}

/// The part of a case besides the layout.
struct Head {
    count: u64,
    seed: u64,
}

impl Head {
    fn read(bytes: &mut Unstructured) -> Result<Self> {
        let high = bytes.arbitrary()?;
        let count = bytes.int_in_range(0..=5)?;
        Ok(Self { count, seed: u16::from_be_bytes([high, bytes.arbitrary()?]).into() })
    }
}

/// A layout under construction.
struct Grown {
    tree: Layout,
    entries: u64,
}

/// A layout of at most `depth` constructors, whose arguments reach every kernel: blocks of up to 383 values,
/// lists of up to 40 places. `None` if it is refused or too large.
fn grow(bytes: &mut Unstructured, depth: u32) -> Result<Option<Grown>> {
    let kind = if depth == 0 { 0 } else { bytes.int_in_range(0..=11)? };
    if kind <= 1 {
        let tree = Layout::named(*bytes.choose(&Element::ALL)?);
        return Ok(Some(Grown { tree, entries: 1 }));
    }
    let (constructor, entries) = if kind == 2 {
        let (blocklengths, displacements_bytes) = lists(bytes, 5, displacement)?;
        let mut children = Vec::new();
        let mut entries = 1;
        for &length in &blocklengths {
            let Some(child) = grow(bytes, depth - 1)? else { return Ok(None) };
            entries += child.entries * (1 + length as u64);
            children.push(child.tree);
        }
        (Constructor::Struct { blocklengths, displacements_bytes, children }, entries)
    } else {
        let Some(Grown { tree: child, entries }) = grow(bytes, depth - 1)? else { return Ok(None) };
        let (constructor, copies) = above(bytes, kind, child)?;
        // Markers count as entries as well.
        (constructor, copies.max(1) as u64 * (entries + 2))
    };
    let fits = |tree: &Layout| {
        entries <= MOST_ENTRIES && tree.true_extent() <= MOST_SPAN && tree.extent().abs() <= 4 * MOST_SPAN
    };
    Ok(Layout::new(constructor).ok().filter(fits).map(|tree| Grown { tree, entries }))
}

/// A constructor over one child, and the number of times it contains the child.
fn above(bytes: &mut Unstructured, kind: u8, child: Layout) -> Result<(Constructor, i64)> {
    Ok(match kind {
        3 => {
            let count = length(bytes)?;
            (Constructor::Contiguous { count, child }, count)
        }
        4 => {
            let (count, blocklength, stride) = (length(bytes)?, length(bytes)?, small(bytes)?);
            (Constructor::Vector { count, blocklength, stride, child }, count * blocklength)
        }
        5 => {
            let (count, blocklength, stride_bytes) = (length(bytes)?, length(bytes)?, displacement(bytes)?);
            (Constructor::Hvector { count, blocklength, stride_bytes, child }, count * blocklength)
        }
        6 => {
            let (blocklengths, displacements) = lists(bytes, 40, small)?;
            let copies = blocklengths.iter().map(|length| length + 1).sum();
            (Constructor::Indexed { blocklengths, displacements, child }, copies)
        }
        7 => {
            let (blocklengths, displacements_bytes) = lists(bytes, 40, displacement)?;
            let copies = blocklengths.iter().map(|length| length + 1).sum();
            (Constructor::Hindexed { blocklengths, displacements_bytes, child }, copies)
        }
        8 => {
            let (blocklength, displacements) = (length(bytes)?, list(bytes, 40, small)?);
            let copies = (blocklength + 1) * displacements.len() as i64;
            (Constructor::IndexedBlock { blocklength, displacements, child }, copies)
        }
        9 => {
            let (blocklength, displacements_bytes) = (length(bytes)?, list(bytes, 40, displacement)?);
            let copies = (blocklength + 1) * displacements_bytes.len() as i64;
            (Constructor::HindexedBlock { blocklength, displacements_bytes, child }, copies)
        }
        10 => {
            let order = if bytes.arbitrary()? { Order::C } else { Order::Fortran };
            let (mut sizes, mut subsizes, mut starts) = (vec![], vec![], vec![]);
            for _ in 0..bytes.int_in_range(1..=4u8)? {
                let subsize: i64 = bytes.int_in_range(1..=9)?;
                let start: i64 = bytes.int_in_range(0..=3)?;
                sizes.push(start + subsize + bytes.int_in_range(0..=3)?);
                subsizes.push(subsize);
                starts.push(start);
            }
            let copies = subsizes.iter().product();
            (Constructor::Subarray { sizes, subsizes, starts, order, child }, copies)
        }
        _ => {
            let (lower_bound, extent) = (small(bytes)?, displacement(bytes)?);
            (Constructor::Resized { lower_bound, extent, child }, 1)
        }
    })
}

/// A count or a length: mostly small, up to 383.
fn length(bytes: &mut Unstructured) -> Result<i64> {
    let byte = i64::from(bytes.arbitrary::<u8>()?);
    Ok(if byte < 128 { byte % 17 } else { (byte - 128) * 3 + 2 })
}

/// A stride or a displacement in extents.
fn small(bytes: &mut Unstructured) -> Result<i64> {
    Ok(bytes.arbitrary::<i8>()?.into())
}

/// A stride or a displacement in bytes.
fn displacement(bytes: &mut Unstructured) -> Result<i64> {
    Ok((bytes.arbitrary::<i16>()? / 8).into())
}

fn list<T>(
    bytes: &mut Unstructured,
    most: u8,
    item: impl Fn(&mut Unstructured) -> Result<T>,
) -> Result<Vec<T>> {
    (0..bytes.int_in_range(0..=most)?).map(|_| item(bytes)).collect()
}

/// As many lengths as displacements.
fn lists(
    bytes: &mut Unstructured,
    most: u8,
    displacement: impl Fn(&mut Unstructured) -> Result<i64>,
) -> Result<(Vec<i64>, Vec<i64>)> {
    Ok(list(bytes, most, |bytes| Ok((length(bytes)?, displacement(bytes)?)))?.into_iter().unzip())
}

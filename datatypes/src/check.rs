//! Checks the arguments of one constructor, and derives size and bounds if nothing overflows.
//!
//! Every refusal names the constructor, the argument and its value.

use std::fmt::Display;

use crate::bounds::Bounds;
use crate::constructor::{Constructor, Part};
use crate::distributed::{DistributedArray, Distribution, smallest_block};
use crate::layout::MAX_DEPTH;
use crate::{Layout, LayoutError};

/// The constructor to check. Call `arguments` first: the others rely on it.
pub(crate) struct Check<'a>(pub &'a Constructor);

impl Check<'_> {
    fn refuse(&self, argument: impl Display, value: impl Display, reason: impl Display) -> LayoutError {
        LayoutError(format!("{}: {argument} = {value}: {reason}", self.0.name()))
    }

    fn overflow(&self, argument: impl Display, value: impl Display, what: &str) -> LayoutError {
        self.refuse(argument, value, format!("the {what} does not fit in a signed 64-bit number"))
    }

    fn require(
        &self,
        is_right: bool,
        argument: impl Display,
        value: impl Display,
        reason: impl Display,
    ) -> Result<(), LayoutError> {
        if is_right { Ok(()) } else { Err(self.refuse(argument, value, reason)) }
    }

    fn not_negative(&self, argument: impl Display, value: i64) -> Result<(), LayoutError> {
        self.require(value >= 0, argument, value, "must not be negative")
    }

    fn lengths(&self, lengths: &[i64], displacements: usize) -> Result<(), LayoutError> {
        self.as_long("displacements", displacements, "blocklengths", lengths.len())?;
        let negative = lengths.iter().position(|&length| length < 0);
        negative.map_or(Ok(()), |i| self.not_negative(format_args!("blocklengths[{i}]"), lengths[i]))
    }

    fn as_long(&self, argument: &str, found: usize, other: &str, wanted: usize) -> Result<(), LayoutError> {
        let reason = format_args!("must be as long as {other}, which has {wanted}");
        self.require(found == wanted, argument, format_args!("a list of {found}"), reason)
    }

    /// Refuses arguments that MPI forbids for any child.
    pub fn arguments(&self) -> Result<(), LayoutError> {
        match self.0 {
            Constructor::Named { .. } | Constructor::Resized { .. } => Ok(()),
            Constructor::Contiguous { count, .. } => self.not_negative("count", *count),
            Constructor::Vector { count, blocklength, .. }
            | Constructor::Hvector { count, blocklength, .. } => {
                self.not_negative("count", *count)?;
                self.not_negative("blocklength", *blocklength)
            }
            Constructor::Indexed { blocklengths, displacements: list, .. }
            | Constructor::Hindexed { blocklengths, displacements_bytes: list, .. } => {
                self.lengths(blocklengths, list.len())
            }
            Constructor::IndexedBlock { blocklength, .. }
            | Constructor::HindexedBlock { blocklength, .. } => {
                self.not_negative("blocklength", *blocklength)
            }
            Constructor::Struct { blocklengths, displacements_bytes, children } => {
                self.as_long("types", children.len(), "blocklengths", blocklengths.len())?;
                self.lengths(blocklengths, displacements_bytes.len())
            }
            Constructor::Subarray { sizes, subsizes, starts, .. } => {
                self.require(!sizes.is_empty(), "ndims", 0, "must be at least 1")?;
                self.as_long("subsizes", subsizes.len(), "sizes", sizes.len())?;
                self.as_long("starts", starts.len(), "sizes", sizes.len())?;
                (0..sizes.len())
                    .try_for_each(|dim| self.subarray_dimension(dim, sizes[dim], subsizes[dim], starts[dim]))
            }
            Constructor::Darray { array, .. } => self.distributed(array),
        }
    }

    fn distributed(&self, array: &DistributedArray) -> Result<(), LayoutError> {
        let DistributedArray { size, rank, gsizes, distribs, dargs, psizes, .. } = array;
        self.require(!gsizes.is_empty(), "ndims", 0, "must be at least 1")?;
        for (name, found) in [("distribs", distribs.len()), ("dargs", dargs.len()), ("psizes", psizes.len())]
        {
            self.as_long(name, found, "gsizes", gsizes.len())?;
        }
        (0..gsizes.len()).try_for_each(|dim| {
            self.distributed_dimension(dim, gsizes[dim], distribs[dim], dargs[dim], psizes[dim])
        })?;
        let reason = format_args!("the product must be the number of processes, size = {size}");
        self.require(product(1, psizes) == Some(*size), "psizes", times(psizes), reason)?;
        let reason = format_args!("must be from 0 to {}, since size = {size}", size - 1);
        self.require((0..*size).contains(rank), "rank", rank, reason)
    }

    fn distributed_dimension(
        &self,
        dim: usize,
        gsize: i64,
        distribution: Distribution,
        darg: Option<i64>,
        psize: i64,
    ) -> Result<(), LayoutError> {
        for (name, value) in [("gsizes", gsize), ("psizes", psize)] {
            self.require(value >= 1, format_args!("{name}[{dim}]"), value, "must be at least 1")?;
        }
        let least = match distribution {
            // MPI ignores the argument.
            Distribution::None => {
                let reason = "must be 1, since the dimension is not distributed";
                return self.require(psize == 1, format_args!("psizes[{dim}]"), psize, reason);
            }
            Distribution::Cyclic => 1,
            Distribution::Block => smallest_block(gsize, psize),
        };
        let (argument, darg) = (format_args!("dargs[{dim}]"), darg.unwrap_or(least));
        self.require(darg >= 1, argument, darg, "must be default or at least 1")?;
        let reason = format_args!("must be at least {least}: {psize} blocks must have all {gsize} elements");
        self.require(darg >= least, argument, darg, reason)
    }

    /// MPI requires `1 <= subsize <= size` and `0 <= start <= size - subsize`.
    fn subarray_dimension(&self, dim: usize, size: i64, subsize: i64, start: i64) -> Result<(), LayoutError> {
        self.require(size >= 1, format_args!("sizes[{dim}]"), size, "must be at least 1")?;
        let reason = format_args!("must be from 1 to {size}, the size of the array");
        self.require((1..=size).contains(&subsize), format_args!("subsizes[{dim}]"), subsize, reason)?;
        let last = size - subsize;
        let reason = format_args!(
            "the subarray leaves its array: must be from 0 to {last}, the size {size} minus the subsize {subsize}"
        );
        self.require((0..=last).contains(&start), format_args!("starts[{dim}]"), start, reason)
    }

    pub fn depth(&self, depth: u32) -> Result<(), LayoutError> {
        let reason = format_args!("at most {MAX_DEPTH} levels can be nested");
        self.require(depth <= MAX_DEPTH, "nesting", depth, reason)
    }

    /// Bytes of data. MPI's sizes are signed, so 63 bits are available.
    pub fn size(&self) -> Result<u64, LayoutError> {
        let product = |argument: &str, factors: &[i64], child: &Layout| {
            product(child.size() as i64, factors)
                .ok_or_else(|| self.overflow(argument, times(factors), "size"))
        };
        let sum = |lengths: &[i64], child_size: &dyn Fn(usize) -> u64| {
            lengths.iter().enumerate().try_fold(0i64, |sum, (i, &length)| {
                (child_size(i) as i64)
                    .checked_mul(length)
                    .and_then(|bytes| sum.checked_add(bytes))
                    .ok_or_else(|| self.overflow(format!("blocklengths[{i}]"), length, "size"))
            })
        };
        let size = match self.0 {
            Constructor::Named { element } => element.size() as i64,
            Constructor::Contiguous { count, child } => product("count", &[*count], child)?,
            Constructor::Vector { count, blocklength, child, .. }
            | Constructor::Hvector { count, blocklength, child, .. } => {
                product("count x blocklength", &[*count, *blocklength], child)?
            }
            Constructor::Indexed { blocklengths, child, .. }
            | Constructor::Hindexed { blocklengths, child, .. } => sum(blocklengths, &|_| child.size())?,
            Constructor::IndexedBlock { blocklength, displacements: list, child }
            | Constructor::HindexedBlock { blocklength, displacements_bytes: list, child } => {
                product("count x blocklength", &[list.len() as i64, *blocklength], child)?
            }
            Constructor::Struct { blocklengths, children, .. } => sum(blocklengths, &|i| children[i].size())?,
            Constructor::Subarray { subsizes, child, .. } => product("subsizes", subsizes, child)?,
            Constructor::Darray { array, child } => product("elements", &array.owned(), child)?,
            Constructor::Resized { child, .. } => child.size() as i64,
        };
        Ok(size as u64)
    }

    pub fn bounds(&self) -> Result<(Bounds, i64), LayoutError> {
        self.displacements()?;
        let bounds = match self.0 {
            Constructor::Named { element } => Bounds {
                data: Some((0, element.size() as i64)),
                alignment: element.alignment(),
                ..Bounds::EMPTY
            },
            Constructor::Resized { lower_bound, extent, child } => {
                let upper = lower_bound
                    .checked_add(*extent)
                    .ok_or_else(|| self.overflow("extent", extent, "upper bound"))?;
                Bounds { markers: Some((*lower_bound, upper)), reported: None, ..*child.bounds() }
            }
            Constructor::Subarray { sizes, child, .. } => self.array("sizes", sizes, child)?,
            Constructor::Darray { array, child } => self.array("gsizes", &array.gsizes, child)?,
            _ => self.outermost_parts()?,
        };
        match bounds.extent() {
            Some(extent) if bounds.fit() => Ok((bounds, extent)),
            _ => Err(self.blame_span()),
        }
    }

    /// The bounds of parts of an array, which are those of the whole array.
    fn array(&self, argument: &str, sizes: &[i64], child: &Layout) -> Result<Bounds, LayoutError> {
        // Every product of some of the sizes is used somewhere, also if the child is empty.
        product(1, sizes).ok_or_else(|| self.overflow(argument, times(sizes), "number of elements"))?;
        let whole =
            product(child.extent(), sizes).ok_or_else(|| self.overflow(argument, times(sizes), "extent"))?;
        Ok(Bounds { markers: Some((0, whole)), ..self.outermost_parts()? })
    }

    /// Displacements that are products must fit in 64 bits, of blocks without data too.
    fn displacements(&self) -> Result<(), LayoutError> {
        let last = |count: i64| (count - 1).max(0);
        match self.0 {
            Constructor::Vector { count, stride, child, .. } => {
                product(child.extent(), &[*stride, last(*count)])
                    .map(drop)
                    .ok_or_else(|| self.overflow("stride", stride, "displacement"))
            }
            Constructor::Hvector { count, stride_bytes, .. } => product(*stride_bytes, &[last(*count)])
                .map(drop)
                .ok_or_else(|| self.overflow("stride", stride_bytes, "displacement")),
            Constructor::Indexed { displacements, child, .. }
            | Constructor::IndexedBlock { displacements, child, .. } => {
                let overflows = |&(_, d): &(usize, &i64)| d.checked_mul(child.extent()).is_none();
                match displacements.iter().enumerate().find(overflows) {
                    None => Ok(()),
                    Some((i, d)) => Err(self.overflow(format!("displacements[{i}]"), d, "displacement")),
                }
            }
            _ => Ok(()),
        }
    }

    /// The bounds of all parts together.
    fn outermost_parts(&self) -> Result<Bounds, LayoutError> {
        outermost(self.0).try_fold(Bounds::EMPTY, |whole, k| {
            let part = self.0.part(k);
            let bounds = Bounds::of_part(part).ok_or_else(|| self.blame(k, part, "displacement"))?;
            Ok(whole.union(bounds))
        })
    }

    /// Each part is in range, but not the distance from the first byte to the last. Names the part that causes this.
    fn blame_span(&self) -> LayoutError {
        let mut whole = Bounds::EMPTY;
        let culprit = outermost(self.0).find(|&k| {
            whole = whole.union(Bounds::of_part(self.0.part(k)).unwrap_or(Bounds::EMPTY));
            !whole.fit()
        });
        let k = culprit.unwrap_or(0);
        self.blame(k, self.0.part(k), "extent")
    }

    /// The argument that puts part `k` out of range: its length, if a single copy would be in range.
    fn blame(&self, k: u64, part: Part<'_>, what: &'static str) -> LayoutError {
        let single = Bounds::of_part(Part { repeat: 1, ..part }).is_some_and(|bounds| bounds.fit());
        let too_long = part.repeat > 1 && single;
        let (argument, value) = match self.0 {
            Constructor::Contiguous { count, .. } => ("count".into(), count.to_string()),
            Constructor::Subarray { sizes, .. } => ("sizes".into(), times(sizes)),
            Constructor::Darray { array, .. } => ("gsizes".into(), times(&array.gsizes)),
            Constructor::Vector { stride, .. } | Constructor::Hvector { stride_bytes: stride, .. }
                if k > 0 =>
            {
                ("stride".into(), stride.to_string())
            }
            Constructor::Vector { .. }
            | Constructor::Hvector { .. }
            | Constructor::IndexedBlock { .. }
            | Constructor::HindexedBlock { .. }
                if too_long =>
            {
                ("blocklength".into(), part.repeat.to_string())
            }
            _ if too_long => (format!("blocklengths[{k}]"), part.repeat.to_string()),
            Constructor::Indexed { displacements, .. } | Constructor::IndexedBlock { displacements, .. } => {
                (format!("displacements[{k}]"), displacements[k as usize].to_string())
            }
            _ => (format!("displacements[{k}]"), part.displacement.to_string()),
        };
        self.overflow(argument, value, what)
    }
}

/// The parts to look at: all of a list, the first and the last of a nest or an array. If these fit in 64
/// bits, so do all between them.
pub(crate) fn outermost(constructor: &Constructor) -> impl Iterator<Item = u64> {
    let parts = constructor.part_count();
    let is_in_order = matches!(constructor, Constructor::Darray { .. }) || constructor.nest().is_some();
    let skipped = if is_in_order { parts.saturating_sub(2) } else { 0 };
    (0..parts.min(1)).chain(1 + skipped..parts)
}

/// `first` times all `factors`; 0 if any is 0, however large the others are.
fn product(first: i64, factors: &[i64]) -> Option<i64> {
    if factors.contains(&0) {
        return Some(0);
    }
    factors.iter().try_fold(first, |product, &factor| product.checked_mul(factor))
}

fn times(factors: &[i64]) -> String {
    factors.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ")
}

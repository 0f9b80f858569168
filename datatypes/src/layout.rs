//! [`Layout`]: a checked datatype with what can be known of it at once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::constructor::{Constructor, Order, Part};
use crate::segments::{Run, single_run};
use crate::{Element, LayoutError};

/// The deepest nesting that is accepted; deeper trees would exhaust the stack where they are walked.
pub const MAX_DEPTH: u32 = 256;

/// A derived datatype: a checked tree of MPI constructors. Cloning is cheap, the tree is shared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Constructor", into = "Constructor")]
pub struct Layout(Arc<Node>);

#[derive(Debug)]
struct Node {
    constructor: Constructor,
    bounds: Bounds,
    size: u64,
    extent: i64,
    depth: u32,
    /// The whole type map as one run of one predefined type, where it is one.
    run: Option<Run>,
}

impl PartialEq for Layout {
    /// Two layouts are equal when they were made by the same constructors with the same arguments.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.constructor == other.0.constructor
    }
}

impl TryFrom<Constructor> for Layout {
    type Error = LayoutError;
    fn try_from(constructor: Constructor) -> Result<Self, LayoutError> {
        Self::new(constructor)
    }
}

impl From<Layout> for Constructor {
    fn from(layout: Layout) -> Self {
        layout.0.constructor.clone()
    }
}

impl From<Element> for Layout {
    fn from(element: Element) -> Self {
        Self::named(element)
    }
}

impl Layout {
    /// Checks a constructor's arguments and derives size and bounds.
    ///
    /// # Errors
    /// A negative count or block length, lists of different lengths, a subarray that leaves its array, a size,
    /// extent or displacement beyond 64 bits, or a nesting deeper than [`MAX_DEPTH`].
    pub fn new(constructor: Constructor) -> Result<Self, LayoutError> {
        let check = Check { constructor: &constructor };
        check.arguments()?;
        let depth = 1 + constructor.children().iter().map(Self::depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(check.refuse("child", depth, format!("at most {MAX_DEPTH} levels can be nested")));
        }
        let size = check.size()?;
        let bounds = check.bounds()?;
        let upper = bounds.upper();
        let extent = upper
            .and_then(|upper| upper.checked_sub(bounds.lower()))
            .ok_or_else(|| check.overflow("extent", bounds.lower(), "extent"))?;
        let run = single_run(&constructor);
        Ok(Self(Arc::new(Node { constructor, bounds, size, extent, depth, run })))
    }

    /// A predefined type.
    pub fn named(element: Element) -> Self {
        Self::new(Constructor::Named { element }).expect("a predefined type has no argument to be wrong")
    }

    /// `count` copies, one extent apart (`MPI_Type_contiguous`).
    ///
    /// # Errors
    /// As [`Layout::new`]; so for all constructors below.
    pub fn contiguous(count: i64, child: &Self) -> Result<Self, LayoutError> {
        Self::new(Constructor::Contiguous { count, child: child.clone() })
    }

    /// `count` blocks of `blocklength` copies, starts `stride` extents apart (`MPI_Type_vector`).
    #[allow(clippy::missing_errors_doc)]
    pub fn vector(count: i64, blocklength: i64, stride: i64, child: &Self) -> Result<Self, LayoutError> {
        Self::new(Constructor::Vector { count, blocklength, stride, child: child.clone() })
    }

    /// As [`Layout::vector`], starts `stride_bytes` bytes apart (`MPI_Type_create_hvector`).
    #[allow(clippy::missing_errors_doc)]
    pub fn hvector(
        count: i64,
        blocklength: i64,
        stride_bytes: i64,
        child: &Self,
    ) -> Result<Self, LayoutError> {
        Self::new(Constructor::Hvector { count, blocklength, stride_bytes, child: child.clone() })
    }

    /// Blocks of given lengths at given displacements, in extents of the child (`MPI_Type_indexed`).
    #[allow(clippy::missing_errors_doc)]
    pub fn indexed(blocklengths: &[i64], displacements: &[i64], child: &Self) -> Result<Self, LayoutError> {
        Self::new(Constructor::Indexed {
            blocklengths: blocklengths.to_vec(),
            displacements: displacements.to_vec(),
            child: child.clone(),
        })
    }

    /// As [`Layout::indexed`], displacements in bytes (`MPI_Type_create_hindexed`).
    #[allow(clippy::missing_errors_doc)]
    pub fn hindexed(
        blocklengths: &[i64],
        displacements_bytes: &[i64],
        child: &Self,
    ) -> Result<Self, LayoutError> {
        Self::new(Constructor::Hindexed {
            blocklengths: blocklengths.to_vec(),
            displacements_bytes: displacements_bytes.to_vec(),
            child: child.clone(),
        })
    }

    /// Blocks of one length at displacements in extents of the child (`MPI_Type_create_indexed_block`).
    #[allow(clippy::missing_errors_doc)]
    pub fn indexed_block(blocklength: i64, displacements: &[i64], child: &Self) -> Result<Self, LayoutError> {
        let displacements = displacements.to_vec();
        Self::new(Constructor::IndexedBlock { blocklength, displacements, child: child.clone() })
    }

    /// Blocks of one length at displacements in bytes (`MPI_Type_create_hindexed_block`).
    #[allow(clippy::missing_errors_doc)]
    pub fn hindexed_block(
        blocklength: i64,
        displacements_bytes: &[i64],
        child: &Self,
    ) -> Result<Self, LayoutError> {
        let displacements_bytes = displacements_bytes.to_vec();
        Self::new(Constructor::HindexedBlock { blocklength, displacements_bytes, child: child.clone() })
    }

    /// Blocks of different types at displacements in bytes (`MPI_Type_create_struct`).
    #[allow(clippy::missing_errors_doc)]
    pub fn structure(
        blocklengths: &[i64],
        displacements_bytes: &[i64],
        children: &[Self],
    ) -> Result<Self, LayoutError> {
        Self::new(Constructor::Struct {
            blocklengths: blocklengths.to_vec(),
            displacements_bytes: displacements_bytes.to_vec(),
            children: children.to_vec(),
        })
    }

    /// A box of `subsizes` at `starts` in an array of `sizes` (`MPI_Type_create_subarray`).
    #[allow(clippy::missing_errors_doc)]
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: Order,
        child: &Self,
    ) -> Result<Self, LayoutError> {
        Self::new(Constructor::Subarray {
            sizes: sizes.to_vec(),
            subsizes: subsizes.to_vec(),
            starts: starts.to_vec(),
            order,
            child: child.clone(),
        })
    }

    /// The same type map with another lower bound and extent (`MPI_Type_create_resized`).
    #[allow(clippy::missing_errors_doc)]
    pub fn resized(lower_bound: i64, extent: i64, child: &Self) -> Result<Self, LayoutError> {
        Self::new(Constructor::Resized { lower_bound, extent, child: child.clone() })
    }

    /// How it was made.
    pub fn constructor(&self) -> &Constructor {
        &self.0.constructor
    }

    /// Bytes of data in one copy (`MPI_Type_size`).
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Where the data and the markers lie.
    pub fn bounds(&self) -> &Bounds {
        &self.0.bounds
    }

    /// Lower bound in bytes (`MPI_Type_get_extent`).
    pub fn lower_bound(&self) -> i64 {
        self.0.bounds.lower()
    }

    /// Upper bound in bytes: lower bound plus extent.
    pub fn upper_bound(&self) -> i64 {
        self.lower_bound() + self.0.extent
    }

    /// Distance in bytes from one copy to the next (`MPI_Type_get_extent`); negative only by `resized`.
    pub fn extent(&self) -> i64 {
        self.0.extent
    }

    /// First byte of data (`MPI_Type_get_true_extent`); 0 where there is none.
    pub fn true_lower_bound(&self) -> i64 {
        self.0.bounds.data.map_or(0, |(lower, _)| lower)
    }

    /// One past the last byte of data; 0 where there is none.
    pub fn true_upper_bound(&self) -> i64 {
        self.0.bounds.data.map_or(0, |(_, upper)| upper)
    }

    /// Bytes from the first byte of data to the last (`MPI_Type_get_true_extent`).
    pub fn true_extent(&self) -> i64 {
        self.true_upper_bound() - self.true_lower_bound()
    }

    /// Levels of constructors, the predefined type included.
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// The whole type map as one run, where it is one.
    pub(crate) fn run(&self) -> Option<Run> {
        self.0.run
    }
}

/// Checks the arguments of one constructor, and names them where they are wrong.
struct Check<'a> {
    constructor: &'a Constructor,
}

impl Check<'_> {
    fn refuse(
        &self,
        argument: impl Into<String>,
        value: impl ToString,
        reason: impl Into<String>,
    ) -> LayoutError {
        LayoutError::Argument {
            constructor: self.constructor.name(),
            argument: argument.into(),
            value: value.to_string(),
            reason: reason.into(),
        }
    }

    fn overflow(&self, argument: impl Into<String>, value: impl ToString, what: &'static str) -> LayoutError {
        LayoutError::Overflow {
            constructor: self.constructor.name(),
            argument: argument.into(),
            value: value.to_string(),
            what,
        }
    }

    fn not_negative(&self, argument: impl Into<String>, value: i64) -> Result<(), LayoutError> {
        if value < 0 {
            return Err(self.refuse(argument, value, "must not be negative"));
        }
        Ok(())
    }

    fn all_not_negative(&self, argument: &str, values: &[i64]) -> Result<(), LayoutError> {
        values.iter().enumerate().try_for_each(|(i, &v)| self.not_negative(format!("{argument}[{i}]"), v))
    }

    fn same_length(
        &self,
        argument: &str,
        found: usize,
        as_argument: &str,
        wanted: usize,
    ) -> Result<(), LayoutError> {
        if found != wanted {
            let reason = format!("must be as long as {as_argument}, which has {wanted}");
            return Err(self.refuse(argument, format!("a list of {found}"), reason));
        }
        Ok(())
    }

    fn arguments(&self) -> Result<(), LayoutError> {
        match self.constructor {
            Constructor::Named { .. } | Constructor::Resized { .. } => Ok(()),
            Constructor::Contiguous { count, .. } => self.not_negative("count", *count),
            Constructor::Vector { count, blocklength, .. }
            | Constructor::Hvector { count, blocklength, .. } => {
                self.not_negative("count", *count)?;
                self.not_negative("blocklength", *blocklength)
            }
            Constructor::Indexed { blocklengths, displacements: list, .. }
            | Constructor::Hindexed { blocklengths, displacements_bytes: list, .. } => {
                self.same_length("displacements", list.len(), "blocklengths", blocklengths.len())?;
                self.all_not_negative("blocklengths", blocklengths)
            }
            Constructor::IndexedBlock { blocklength, .. }
            | Constructor::HindexedBlock { blocklength, .. } => {
                self.not_negative("blocklength", *blocklength)
            }
            Constructor::Struct { blocklengths, displacements_bytes, children } => {
                self.same_length(
                    "displacements",
                    displacements_bytes.len(),
                    "blocklengths",
                    blocklengths.len(),
                )?;
                self.same_length("types", children.len(), "blocklengths", blocklengths.len())?;
                self.all_not_negative("blocklengths", blocklengths)
            }
            Constructor::Subarray { sizes, subsizes, starts, .. } => {
                if sizes.is_empty() {
                    return Err(self.refuse("ndims", 0, "must be at least 1"));
                }
                self.same_length("subsizes", subsizes.len(), "sizes", sizes.len())?;
                self.same_length("starts", starts.len(), "sizes", sizes.len())?;
                (0..sizes.len())
                    .try_for_each(|dim| self.subarray_dimension(dim, sizes[dim], subsizes[dim], starts[dim]))
            }
        }
    }

    /// MPI asks for `1 <= subsize <= size` and `0 <= start <= size - subsize`.
    fn subarray_dimension(&self, dim: usize, size: i64, subsize: i64, start: i64) -> Result<(), LayoutError> {
        if size < 1 {
            return Err(self.refuse(format!("sizes[{dim}]"), size, "must be at least 1"));
        }
        if !(1..=size).contains(&subsize) {
            let reason = format!("must be from 1 to {size}, the size of the array");
            return Err(self.refuse(format!("subsizes[{dim}]"), subsize, reason));
        }
        if !(0..=size - subsize).contains(&start) {
            let reason = format!(
                "the subarray leaves its array: must be from 0 to {}, the size {size} less the subsize {subsize}",
                size - subsize
            );
            return Err(self.refuse(format!("starts[{dim}]"), start, reason));
        }
        Ok(())
    }

    fn size(&self) -> Result<u64, LayoutError> {
        // MPI reports sizes as signed numbers, so 63 bits are all there is.
        let product = |argument: &str, factors: &[i64], child: &Layout| {
            factors
                .iter()
                .try_fold(child.size() as i64, |product, &factor| product.checked_mul(factor))
                .ok_or_else(|| self.overflow(argument, list(factors), "size"))
        };
        let sum = |argument: &str, lengths: &[i64], children: &dyn Fn(usize) -> u64| {
            lengths.iter().enumerate().try_fold(0i64, |sum, (i, &length)| {
                (children(i) as i64)
                    .checked_mul(length)
                    .and_then(|bytes| sum.checked_add(bytes))
                    .ok_or_else(|| self.overflow(format!("{argument}[{i}]"), length, "size"))
            })
        };
        let size = match self.constructor {
            Constructor::Named { element } => element.size() as i64,
            Constructor::Contiguous { count, child } => product("count", &[*count], child)?,
            Constructor::Vector { count, blocklength, child, .. }
            | Constructor::Hvector { count, blocklength, child, .. } => {
                product("count x blocklength", &[*count, *blocklength], child)?
            }
            Constructor::Indexed { blocklengths, child, .. }
            | Constructor::Hindexed { blocklengths, child, .. } => {
                sum("blocklengths", blocklengths, &|_| child.size())?
            }
            Constructor::IndexedBlock { blocklength, displacements: list, child }
            | Constructor::HindexedBlock { blocklength, displacements_bytes: list, child } => {
                product("count x blocklength", &[list.len() as i64, *blocklength], child)?
            }
            Constructor::Struct { blocklengths, children, .. } => {
                sum("blocklengths", blocklengths, &|i| children[i].size())?
            }
            Constructor::Subarray { subsizes, child, .. } => product("subsizes", subsizes, child)?,
            Constructor::Resized { child, .. } => child.size() as i64,
        };
        Ok(size as u64)
    }

    fn bounds(&self) -> Result<Bounds, LayoutError> {
        let count = |count: i64| Ok(if count > 0 { vec![0, count - 1] } else { vec![] });
        let scaled = |argument: &str, values: &[i64], extent: i64| {
            values.iter().enumerate().try_for_each(|(i, &value)| {
                value
                    .checked_mul(extent)
                    .map(drop)
                    .ok_or_else(|| self.overflow(format!("{argument}[{i}]"), value, "displacement"))
            })
        };
        let every = |list: &[i64]| (0..list.len() as i64).collect::<Vec<_>>();
        // The parts that lie outermost: all of a list, the first and last of a regular constructor. Where the
        // displacements of these fit in 64 bits, so do all between them.
        let outermost: Result<Vec<i64>, LayoutError> = match self.constructor {
            Constructor::Named { element } => {
                return Ok(Bounds {
                    data: Some((0, element.size() as i64)),
                    markers: None,
                    alignment: element.alignment(),
                });
            }
            Constructor::Resized { lower_bound, extent, child } => {
                let upper = lower_bound
                    .checked_add(*extent)
                    .ok_or_else(|| self.overflow("extent", extent, "extent"))?;
                return Ok(Bounds { markers: Some((*lower_bound, upper)), ..*child.bounds() });
            }
            Constructor::Contiguous { .. } => Ok(vec![0]),
            Constructor::Vector { count: n, stride, child, .. } => stride
                .checked_mul(child.extent())
                .and_then(|bytes| bytes.checked_mul((n - 1).max(0)))
                .ok_or_else(|| self.overflow("stride", stride, "displacement"))
                .and_then(|_| count(*n)),
            Constructor::Hvector { count: n, stride_bytes, .. } => stride_bytes
                .checked_mul((n - 1).max(0))
                .ok_or_else(|| self.overflow("stride", stride_bytes, "displacement"))
                .and_then(|_| count(*n)),
            Constructor::Indexed { displacements, child, .. }
            | Constructor::IndexedBlock { displacements, child, .. } => {
                scaled("displacements", displacements, child.extent()).map(|()| every(displacements))
            }
            Constructor::Hindexed { displacements_bytes, .. }
            | Constructor::HindexedBlock { displacements_bytes, .. }
            | Constructor::Struct { displacements_bytes, .. } => Ok(every(displacements_bytes)),
            Constructor::Subarray { sizes, child, .. } => {
                let whole = sizes.iter().try_fold(child.extent(), |bytes, &size| bytes.checked_mul(size));
                let whole = whole.ok_or_else(|| self.overflow("sizes", list(sizes), "extent"))?;
                let rows = self.constructor.part_count() as i64;
                let data = [0, rows - 1].into_iter().try_fold(Bounds::EMPTY, |bounds, k| {
                    Bounds::of_part(self.constructor.part(k as u64)).map(|part| bounds.union(part))
                });
                let data = data.ok_or_else(|| self.overflow("sizes", list(sizes), "displacement"))?;
                return Ok(Bounds { markers: Some((0, whole)), ..data });
            }
        };
        outermost?.into_iter().try_fold(Bounds::EMPTY, |bounds, k| {
            let part: Part<'_> = self.constructor.part(k as u64);
            Bounds::of_part(part)
                .map(|part| bounds.union(part))
                .ok_or_else(|| self.overflow(format!("block {k}"), part.displacement, "displacement"))
        })
    }
}

fn list(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ")
}

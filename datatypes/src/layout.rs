//! [`Layout`]: a checked datatype with its derived properties.

use std::sync::Arc;

use crate::bounds::Bounds;
use crate::check::Check;
use crate::constructor::Constructor;
use crate::distributed::DistributedArray;
use crate::segments::{ElementRun, Piece, Segment};
use crate::{Element, LayoutError};

/// The maximum nesting, which limits the stack for walks through the tree.
pub const MAX_DEPTH: u32 = 60;

/// A derived datatype: a checked tree of MPI constructors. Cloning is cheap, the tree is shared.
#[derive(Clone, Debug)]
pub struct Layout(Arc<Node>);

#[derive(Debug)]
struct Node {
    constructor: Constructor,
    bounds: Bounds,
    size: u64,
    extent: i64,
    depth: u32,
    /// The whole type map as one run of one predefined type, if it is one.
    run: Option<ElementRun>,
    /// The whole type map as one segment, of any predefined types, if it is one.
    segment: Option<Segment>,
}

impl PartialEq for Layout {
    /// Two layouts are equal if they were made with the same constructors and arguments, and have the same bounds.
    fn eq(&self, other: &Self) -> bool {
        let bounds = |layout: &Self| (layout.lower_bound(), layout.extent());
        Arc::ptr_eq(&self.0, &other.0)
            || bounds(self) == bounds(other) && self.0.constructor == other.0.constructor
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
    /// A negative count or block length, lists of different lengths, a subarray that leaves its array, a
    /// size, extent or displacement beyond 64 bits, or a nesting deeper than [`MAX_DEPTH`].
    pub fn new(constructor: Constructor) -> Result<Self, LayoutError> {
        let check = Check(&constructor);
        check.arguments()?;
        let depth = 1 + constructor.children().iter().map(Self::depth).max().unwrap_or(0);
        check.depth(depth)?;
        let size = check.size()?;
        let (bounds, extent) = check.bounds()?;
        let (run, segment) = match size {
            0 => (None, None),
            _ => (ElementRun::whole(&constructor), Segment::whole(&constructor)),
        };
        Ok(Self(Arc::new(Node { constructor, bounds, size, extent, depth, run, segment })))
    }

    /// The same constructor with the bounds that an MPI has reported; `None` if they are beyond 64 bits.
    pub(crate) fn with_bounds(&self, (lower_bound, extent): (i64, i64)) -> Option<Self> {
        let upper = lower_bound.checked_add(extent)?;
        let of_children = |child: &Self| child.bounds().reported.is_some();
        let (lower, own) = (self.lower_bound(), self.extent());
        if (lower, own) == (lower_bound, extent) && !self.constructor().children().iter().any(of_children) {
            return Some(self.clone());
        }
        let (bounds, constructor) = (self.0.bounds, self.0.constructor.clone());
        let markers = bounds.markers.and(Some((lower_bound, upper)));
        let bounds = Bounds { markers, reported: Some((lower_bound, upper)), ..bounds };
        Some(Self(Arc::new(Node { constructor, bounds, extent, ..*self.0 })))
    }

    /// A predefined type.
    pub fn named(element: Element) -> Self {
        Self::new(Constructor::Named { element }).expect("a predefined type has no argument to be wrong")
    }
}

#[allow(clippy::missing_errors_doc)] // those of `Layout::new`
impl Layout {
    /// Blocks of different types at displacements in bytes (`MPI_Type_create_struct`).
    pub fn structure(
        blocklengths: &[i64],
        displacements_bytes: &[i64],
        children: &[Self],
    ) -> Result<Self, LayoutError> {
        let [blocklengths, displacements_bytes] = [blocklengths, displacements_bytes].map(<[i64]>::to_vec);
        Self::new(Constructor::Struct { blocklengths, displacements_bytes, children: children.to_vec() })
    }

    /// The elements of a distributed array that one process has (`MPI_Type_create_darray`).
    pub fn darray(array: DistributedArray, child: &Self) -> Result<Self, LayoutError> {
        Self::new(Constructor::Darray { array, child: child.clone() })
    }
}

impl Layout {
    /// The outermost constructor.
    pub fn constructor(&self) -> &Constructor {
        &self.0.constructor
    }

    /// Bytes of data in one copy (`MPI_Type_size`).
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The ranges of the data and the markers.
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

    /// First byte of data (`MPI_Type_get_true_extent`); 0 without data.
    pub fn true_lower_bound(&self) -> i64 {
        self.0.bounds.data.map_or(0, |(lower, _)| lower)
    }

    /// One past the last byte of data; 0 without data.
    pub fn true_upper_bound(&self) -> i64 {
        self.0.bounds.data.map_or(0, |(_, upper)| upper)
    }

    /// Bytes from the first byte of data to the last (`MPI_Type_get_true_extent`).
    pub fn true_extent(&self) -> i64 {
        self.true_upper_bound() - self.true_lower_bound()
    }

    /// Whether one of its predefined types is such a type, also one of which it has no value.
    pub fn has(&self, is_such: &dyn Fn(Element) -> bool) -> bool {
        match self.constructor() {
            Constructor::Named { element } => is_such(*element),
            other => other.children().iter().any(|child| child.has(is_such)),
        }
    }

    /// The predefined type of which it is made, if that is only one; also if it has no value of it.
    pub fn only_element(&self) -> Option<Element> {
        let first = self.first_element()?;
        (!self.has(&|element| element != first)).then_some(first)
    }

    fn first_element(&self) -> Option<Element> {
        match self.constructor() {
            Constructor::Named { element } => Some(*element),
            other => other.children().iter().find_map(Self::first_element),
        }
    }

    /// Levels of constructors, the predefined type included.
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// The whole type map as one run, if it is one.
    pub(crate) fn run(&self) -> Option<ElementRun> {
        self.0.run
    }

    /// The whole type map as one segment, if it is one.
    pub fn segment(&self) -> Option<Segment> {
        self.0.segment
    }
}

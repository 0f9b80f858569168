//! Lower and upper bounds, true and marked, by MPI-4.1 section 5.1.6 to 5.1.8.

use crate::constructor::Part;

/// The range of a layout's data, and its start and end according to markers.
///
/// `lb = min(marker or data)`, `ub = max(marker or data) + ε`. `ε` rounds the extent up to the strictest
/// alignment in the type map, and is 0 if a marker sets the upper bound. Markers come from `resized` and
/// `subarray`; every constructor around them keeps them, as in the standard's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// First byte of data and one past the last; `None` if the type map has no data.
    pub data: Option<(i64, i64)>,
    /// The lowest lower-bound marker and the highest upper-bound marker.
    pub markers: Option<(i64, i64)>,
    /// Start and end as an MPI has reported them, which replace those that follow from the constructor.
    pub reported: Option<(i64, i64)>,
    /// The strictest alignment of the predefined types, in bytes; 1 if there are none.
    pub alignment: u64,
}

impl Bounds {
    /// The bounds of a type map without entries.
    pub(crate) const EMPTY: Self = Self { data: None, markers: None, reported: None, alignment: 1 };

    /// Lower bound in bytes.
    pub fn lower(&self) -> i64 {
        self.reported.or(self.markers).or(self.data).map_or(0, |(lower, _)| lower)
    }

    /// Upper bound in bytes; `None` if it exceeds 64 bits.
    pub fn upper(&self) -> Option<i64> {
        match (self.reported.or(self.markers), self.data) {
            (Some((_, upper)), _) => Some(upper),
            (None, None) => Some(0),
            (None, Some((lower, upper))) => {
                let length = upper.checked_sub(lower)?;
                let padding =
                    (self.alignment as i64 - length % self.alignment as i64) % self.alignment as i64;
                upper.checked_add(padding)
            }
        }
    }

    /// Upper bound minus lower bound; `None` if either exceeds 64 bits.
    pub(crate) fn extent(&self) -> Option<i64> {
        self.upper()?.checked_sub(self.lower())
    }

    /// Whether bounds, extent and true extent all fit in 64 bits.
    pub(crate) fn fit(&self) -> bool {
        let true_extent = self.data.map_or(Some(0), |(lower, upper)| upper.checked_sub(lower));
        self.extent().is_some() && true_extent.is_some()
    }

    /// The bounds of a part, i.e. of `repeat` copies of a child. `None` on overflow.
    pub(crate) fn of_part(part: Part<'_>) -> Option<Self> {
        let child = part.child.bounds();
        if part.repeat == 0 {
            return Some(Self::EMPTY);
        }
        let steps = i64::try_from(part.repeat - 1).ok()?;
        let first = part.displacement;
        let last = first.checked_add(steps.checked_mul(part.child.extent())?)?;
        let (low, high) = (first.min(last), first.max(last));
        let shift = |pair: Option<(i64, i64)>| match pair {
            None => Some(None),
            Some((lower, upper)) => Some(Some((low.checked_add(lower)?, high.checked_add(upper)?))),
        };
        Some(Self {
            data: shift(child.data)?,
            markers: shift(child.markers)?,
            alignment: child.alignment,
            ..Self::EMPTY
        })
    }

    /// The bounds of two type maps together.
    pub(crate) fn union(self, other: Self) -> Self {
        let join = |a: Option<(i64, i64)>, b: Option<(i64, i64)>| match (a, b) {
            (Some((al, au)), Some((bl, bu))) => Some((al.min(bl), au.max(bu))),
            (one, other) => one.or(other),
        };
        Self {
            data: join(self.data, other.data),
            markers: join(self.markers, other.markers),
            alignment: self.alignment.max(other.alignment),
            ..Self::EMPTY
        }
    }
}

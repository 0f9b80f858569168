//! Where the bytes of several copies lie, shown once so that the kernels need not look.

use datatypes::Layout;

/// First byte of data and one past the last, from displacement 0 of the first copy, and all bytes of data; `None`
/// where they do not fit into the address space.
pub(crate) fn of(layout: &Layout, count: u64) -> Option<(i64, i64, usize)> {
    let size = usize::try_from(i128::from(layout.size()) * i128::from(count)).ok()?;
    isize::try_from(size).ok()?;
    if size == 0 {
        return Some((0, 0, 0));
    }
    let last = i128::from(layout.extent()) * i128::from(count - 1);
    let lower = i128::from(layout.true_lower_bound()) + last.min(0);
    let upper = i128::from(layout.true_upper_bound()) + last.max(0);
    let span = isize::try_from(upper - lower);
    Some((i64::try_from(lower).ok()?, i64::try_from(upper).ok()?, span.is_ok().then_some(size)?))
}

//! Whether all values of a layout are at multiples of a size, derived from its constructors, without listing values.

use crate::{Layout, Nest, Part};

impl Layout {
    /// Whether its constructors show that all values are at multiples of this many bytes from its origin. If
    /// not, the values must be checked: two odd displacements may add up to an even one.
    pub fn is_plainly_in_steps_of(&self, bytes: u64) -> bool {
        let is_step = |displacement: i64| displacement.unsigned_abs().is_multiple_of(bytes);
        let lies_so = |part: Part<'_>| match part.repeat {
            0 => true,
            1 => is_step(part.displacement),
            _ => is_step(part.displacement) && is_step(part.child.extent()),
        };
        let constructor = self.constructor();
        let lie_so = match constructor.nest() {
            Some(Nest { first, loops }) => {
                lies_so(first) && loops.iter().all(|&(count, stride)| count <= 1 || is_step(stride))
            }
            None => (0..constructor.part_count()).all(|k| lies_so(constructor.part(k))),
        };
        lie_so && constructor.children().iter().all(|child| child.is_plainly_in_steps_of(bytes))
    }
}

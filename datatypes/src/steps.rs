//! Whether all values of a layout are at multiples of a size, derived from its constructors, without listing values.

use crate::{Layout, Nest, Part};

impl Layout {
    /// Whether its constructors show that all values are at multiples of this many bytes from its origin. If not, the values must
    /// be checked: two odd displacements may add up to an even one.
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

#[cfg(test)]
mod tests {
    use crate::pool::random_layout;

    #[test]
    fn results_are_right() {
        let mut found = 0;
        for seed in 0..20_000 {
            let layout = random_layout(seed, 4, 200);
            for bytes in [2, 4, 8] {
                if layout.is_plainly_in_steps_of(bytes) {
                    found += 1;
                    let is_so = layout.runs().all(|run| run.offset.unsigned_abs().is_multiple_of(bytes));
                    assert!(is_so, "{bytes}: {}", layout.to_text());
                }
            }
        }
        assert!(found > 10_000, "{found}");
    }
}

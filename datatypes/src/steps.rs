//! Whether all values of a layout lie at multiples of a size, told by its constructors: of however many values.

use crate::{Layout, Nest, Part};

impl Layout {
    /// Whether its constructors show that all values lie at multiples of so many bytes from its origin. Where they do not, the
    /// values have to be looked at: two odd displacements may make an even one.
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
        let mut told = 0;
        for seed in 0..20_000 {
            let layout = random_layout(seed, 4, 200);
            for bytes in [2, 4, 8] {
                if layout.is_plainly_in_steps_of(bytes) {
                    told += 1;
                    let is_so = layout.runs().all(|run| run.offset.unsigned_abs().is_multiple_of(bytes));
                    assert!(is_so, "{bytes}: {}", layout.to_text());
                }
            }
        }
        assert!(told > 10_000, "{told}");
    }
}

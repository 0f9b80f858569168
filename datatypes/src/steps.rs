//! Whether all values of a layout lie at multiples of a size, told by its constructors: of however many values.

use crate::{Constructor, Layout};

impl Layout {
    /// Whether its constructors show that all values lie at multiples of so many bytes from its origin. Where they do not, the
    /// values have to be looked at: two odd displacements may make an even one.
    pub fn is_plainly_in_steps_of(&self, bytes: u64) -> bool {
        let is_step = |displacement: i64| displacement.unsigned_abs().is_multiple_of(bytes);
        let children = self.constructor().children();
        // Copies of the child side by side, and such from which all displacements are counted in its extent.
        let copies = |count: i64| count <= 1 || is_step(children[0].extent());
        let lie_so = match self.constructor() {
            Constructor::Named { .. } | Constructor::Resized { .. } => true,
            Constructor::Contiguous { count, .. } => copies(*count),
            Constructor::Vector { count, blocklength, stride, child } => {
                copies(*blocklength) && (*count <= 1 || is_step(stride.wrapping_mul(child.extent())))
            }
            Constructor::Hvector { count, blocklength, stride_bytes, .. } => {
                copies(*blocklength) && (*count <= 1 || is_step(*stride_bytes))
            }
            Constructor::Indexed { .. } | Constructor::IndexedBlock { .. } | Constructor::Subarray { .. } => {
                copies(2)
            }
            Constructor::Hindexed { blocklengths, displacements_bytes, .. } => {
                blocklengths.iter().all(|count| copies(*count))
                    && displacements_bytes.iter().all(|at| is_step(*at))
            }
            Constructor::HindexedBlock { blocklength, displacements_bytes, .. } => {
                copies(*blocklength) && displacements_bytes.iter().all(|at| is_step(*at))
            }
            Constructor::Struct { blocklengths, displacements_bytes, children } => {
                let blocks = blocklengths.iter().zip(displacements_bytes).zip(children);
                blocks.into_iter().all(|((count, at), child)| {
                    *count == 0 || is_step(*at) && (*count == 1 || is_step(child.extent()))
                })
            }
        };
        lie_so && children.iter().all(|child| child.is_plainly_in_steps_of(bytes))
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

//! Several questions asked at once: the level for each, so that all answers together err with probability `alpha` at most.

/// The level for each of these p-values (Holm, Scandinavian Journal of Statistics 6, 1979). The smallest one has the
/// strictest level, and each one below its level makes the next level less strict. `asked` is the number of all questions of
/// the family, some of which may not have a p-value yet. A question is answered if its p-value is not above its level.
pub fn holm_levels(chances: &[f64], asked: usize, alpha: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    let mut levels = vec![alpha; chances.len()];
    let (mut left, mut goes_on) = (asked.max(chances.len()), true);
    for i in order {
        levels[i] = alpha / left as f64;
        goes_on = goes_on && chances[i] <= levels[i];
        if goes_on {
            left -= 1;
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_makes_the_next_level_less_strict_and_the_first_that_is_none_ends_that() {
        // Holm's steps for four questions at 0.06: 0.015, 0.02, 0.03, 0.06.
        assert_eq!(holm_levels(&[0.001, 0.04, 0.018, 0.02], 4, 0.06), [0.015, 0.06, 0.02, 0.03]);
        assert_eq!(holm_levels(&[0.001, 0.04, 0.021, 0.02], 4, 0.06)[1], 0.06);
        assert_eq!(holm_levels(&[0.016, 0.001], 4, 0.06), [0.02, 0.015]);
        assert_eq!(holm_levels(&[0.03, 0.02], 2, 0.03), [0.015, 0.015], "nothing is found");
        assert_eq!(holm_levels(&[], 3, 0.05), [0.0; 0]);
    }
}

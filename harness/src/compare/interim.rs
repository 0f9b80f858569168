//! The times of a comparison's interim tests, and how much of its error each test may spend.
//!
//! Testing after every launch and stopping at the first difference would find one in a third of comparisons of a program with
//! itself. So tests are at numbers of launches that were fixed beforehand, and their total error is that of the comparison: each
//! test spends a part (Lan & DeMets, Biometrika 70, 1983), here by Pocock's function, which gives early tests almost as much as
//! late ones. Parts are added up as for independent tests, which is conservative and valid for any distribution of launches.

/// Numbers of launches of each side at which significance is tested. Between two of them intervals shrink by a fifth to a quarter.
const INTERIM_TESTS: [usize; 5] = [5, 8, 13, 20, 30];

/// The tests of a comparison of at most `most` launches per side; the last one is at all of them.
pub fn interim_tests(most: usize) -> Vec<usize> {
    let before = INTERIM_TESTS.into_iter().filter(|&test| test < most);
    before.chain([most]).collect()
}

/// The fraction of the error that may be spent after this fraction of all launches.
pub fn spent(share: f64) -> f64 {
    (1.0 + (std::f64::consts::E - 1.0) * share.clamp(0.0, 1.0)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_test_is_at_all_launches() {
        assert_eq!(interim_tests(20), [5, 8, 13, 20]);
        assert_eq!(interim_tests(10), [5, 8, 10]);
        assert_eq!(interim_tests(3), [3]);
    }

    #[test]
    fn all_is_spent_at_the_end_and_a_part_at_each_test() {
        let all = interim_tests(20);
        let parts: Vec<f64> = all
            .iter()
            .scan(0.0, |before, &test| {
                let now = spent(test as f64 / 20.0);
                Some(now - std::mem::replace(before, now))
            })
            .collect();
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(parts.iter().all(|part| (0.1..0.4).contains(part)), "{parts:?}");
    }
}

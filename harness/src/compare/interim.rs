//! The times of a comparison's interim tests.
//!
//! Testing after every launch and stopping at the first difference would find one in a third of comparisons of a program with
//! itself. So tests are at numbers of launches that were fixed beforehand, and each of them may spend an equal part of the error.
//! Parts are added up as for independent tests, which is conservative and valid for any distribution of launches.

/// Numbers of launches of each side at which significance is tested. Between two of them intervals shrink by a fifth to a quarter.
const INTERIM_TESTS: [usize; 5] = [5, 8, 13, 20, 30];

/// The tests of a comparison of at most `most` launches per side; the last one is at all of them.
pub fn interim_tests(most: usize) -> Vec<usize> {
    let before = INTERIM_TESTS.into_iter().filter(|&test| test < most);
    before.chain([most]).collect()
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
}

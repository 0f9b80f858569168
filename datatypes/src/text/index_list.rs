//! Lists of numbers in files: one on each line.

/// The numbers of a text, one on each line, less `base`. Empty lines, and what follows a `#`, are skipped.
///
/// # Errors
/// The line, and what it must be: a whole number that is at least `base`.
pub fn index_list(text: &str, base: i64) -> Result<Vec<i64>, String> {
    let mut list = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let written = line.split('#').next().unwrap_or_default().trim();
        if written.is_empty() {
            continue;
        }
        let refuse = |reason: String| Err(format!("line {}: {reason}", i + 1));
        match written.parse::<i64>() {
            Ok(number) if number >= base => match number.checked_sub(base) {
                Some(index) => list.push(index),
                None => {
                    return refuse(format!(
                        "{number} less base={base} does not fit in a signed 64-bit number"
                    ));
                }
            },
            Ok(0) if base == 1 => {
                return refuse("0 where base=1: leave out base=1 if the first index is 0".to_owned());
            }
            Ok(number) => return refuse(format!("{number}: must be at least {base}, the first index")),
            Err(_) => {
                /// Characters of a line that are repeated, enough to find it again.
                const MOST: usize = 30;
                let shown: String = written.chars().take(MOST).collect();
                return refuse(format!("`{shown}`: must be one whole number; comments begin with #"));
            }
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_on_each_line_from_a_base() {
        let text = "# points of the halo\n16\r\n\n 32  # the corner\n+7\n";
        assert_eq!(index_list(text, 0), Ok(vec![16, 32, 7]));
        assert_eq!(index_list(text, 1), Ok(vec![15, 31, 6]));
        assert_eq!(index_list("5\n-2\n", -3), Ok(vec![8, 1]));
        assert_eq!(index_list("", 1), Ok(vec![]));
    }

    #[test]
    fn what_is_no_index_is_refused_with_its_line() {
        for (text, base, reason) in [
            ("1\n\nx1\n", 0, "line 3: `x1`: must be one whole number; comments begin with #"),
            ("1 2\n", 0, "line 1: `1 2`: must be one whole number"),
            ("1,2\n", 0, "line 1: `1,2`: must be one whole number"),
            ("1.5\n", 0, "line 1: `1.5`: must be one whole number"),
            ("99999999999999999999\n", 0, "line 1: `99999999999999999999`: must be one whole number"),
            ("3\n0\n", 1, "line 2: 0 where base=1: leave out base=1"),
            ("3\n-4\n", 0, "line 2: -4: must be at least 0, the first index"),
            ("9223372036854775807\n", -1, "line 1: 9223372036854775807 less base=-1 does not fit"),
        ] {
            let error = index_list(text, base).unwrap_err();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}

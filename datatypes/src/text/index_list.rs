//! Lists of numbers in files.

/// How a list is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListForm {
    /// The first index: 0, or 1 as in Fortran.
    pub base: i64,
    /// Whether the first number says how many follow.
    pub is_counted: bool,
}

/// The numbers of a text with their lines, counted from 1. Blanks, commas and line ends separate them; what follows a `#` is skipped.
fn numbers(text: &str) -> impl Iterator<Item = (usize, Result<i64, String>)> {
    text.lines().enumerate().flat_map(|(i, line)| {
        let written = line.split('#').next().unwrap_or_default();
        let words = written.split([' ', '\t', '\r', ',']).filter(|word| !word.is_empty());
        words.map(move |word| (i + 1, word.parse().map_err(|_| shown(word))))
    })
}

/// The beginning of a word, enough to find it again.
fn shown(word: &str) -> String {
    const MOST: usize = 30;
    word.chars().take(MOST).collect()
}

/// The numbers of a text, less the form's base.
///
/// # Errors
/// The line, and what it must be: whole numbers that are at least the base, and as many as their count says.
pub fn index_list(text: &str, form: ListForm) -> Result<Vec<i64>, String> {
    let ListForm { base, is_counted } = form;
    let refuse = |line: usize, reason: String| Err(format!("line {line}: {reason}"));
    let mut all = numbers(text);
    let count = if is_counted { all.next() } else { None };
    let mut list = Vec::new();
    for (line, number) in all {
        match number {
            Ok(number) if number >= base => match number.checked_sub(base) {
                Some(index) => list.push(index),
                None => {
                    return refuse(
                        line,
                        format!("{number} less base={base} does not fit in a signed 64-bit number"),
                    );
                }
            },
            Ok(0) if base == 1 => {
                return refuse(line, "0 where base=1: leave out base=1 if the first index is 0".to_owned());
            }
            Ok(number) => return refuse(line, format!("{number}: must be at least {base}, the first index")),
            Err(word) => {
                return refuse(line, format!("`{word}`: must be whole numbers; comments begin with #"));
            }
        }
    }
    match count {
        Some((line, Ok(count))) if usize::try_from(count) != Ok(list.len()) => {
            refuse(line, format!("the count is {count}, but {} numbers follow", list.len()))
        }
        Some((line, Err(word))) => refuse(line, format!("`{word}`: must be the count of the numbers")),
        None if list.is_empty() => Err("it has no numbers: must have at least one".to_owned()),
        _ => Ok(list),
    }
}

/// The first number that a list has twice, as it is written, with both lines. Its count does not belong to the list.
pub fn repeated_index(text: &str, form: ListForm) -> Option<(i64, [usize; 2])> {
    let mut known = std::collections::HashMap::new();
    let all = numbers(text).skip(usize::from(form.is_counted));
    let mut all = all.filter_map(|(line, number)| Some((line, number.ok()?)));
    all.find_map(|(line, number)| known.insert(number, line).map(|before| (number, [before, line])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ListForm = ListForm { base: 0, is_counted: false };

    fn from(base: i64) -> ListForm {
        ListForm { base, ..PLAIN }
    }

    #[test]
    fn numbers_are_separated_by_blanks_commas_and_lines() {
        let text = "# points of the halo\n16\r\n\n 32  # the corner\n+7\n";
        assert_eq!(index_list(text, PLAIN), Ok(vec![16, 32, 7]));
        assert_eq!(index_list(text, from(1)), Ok(vec![15, 31, 6]));
        assert_eq!(index_list("5\n-2\n", from(-3)), Ok(vec![8, 1]));
        assert_eq!(index_list("1 2,3,\t4\n5, # 6\n", PLAIN), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(index_list("0 # none", ListForm { is_counted: true, ..PLAIN }), Ok(vec![]));
    }

    #[test]
    fn a_number_that_recurs_is_found_with_its_lines() {
        assert_eq!(repeated_index("4 5\n6\n\n5 # again\n4\n", PLAIN), Some((5, [1, 4])));
        assert_eq!(repeated_index("2\n2 3\n", ListForm { is_counted: true, ..PLAIN }), None);
        assert_eq!(repeated_index("1 2 3", PLAIN), None);
    }

    #[test]
    fn what_is_no_index_is_refused_with_its_line() {
        for row in include_str!("lists.txt").lines().skip(1) {
            let (list, reason) = row.strip_prefix("base=").and_then(|row| row.split_once(" => ")).unwrap();
            let (base, text) = list.split_once(' ').unwrap();
            let error = index_list(&text.replace("\\n", "\n"), from(base.parse().unwrap())).unwrap_err();
            assert!(error.starts_with(reason), "{row}: {error}");
        }
    }
}

//! Layouts that every campaign tries first.

use apps::Layouts;
use datatypes::Layout;

/// A layout in a line, with the number of items in front if that matters.
const CORPUS: &str = include_str!("corpus.txt");

/// Items of layouts without a number.
const ITEMS: [u32; 2] = [1, 3];

/// The layouts with their numbers of items.
///
/// # Panics
/// If a line is not a layout, which a test excludes.
pub fn corpus() -> Vec<(Layout, u32)> {
    let lines = CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let of_line = |line: &str| {
        let layouts: Layouts = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        let one = layouts.iter().next().expect("a line has a layout").clone();
        let items = if one.count == 1 { ITEMS.to_vec() } else { vec![one.count as u32] };
        items.into_iter().map(move |items| (one.layout.clone(), items))
    };
    lines.flat_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::campaign::constructors;
    use super::*;

    #[test]
    fn all_constructors_are_in_the_corpus() {
        let all = corpus();
        let names: BTreeSet<_> = all.iter().flat_map(|(layout, _)| constructors(layout)).collect();
        assert_eq!(names.len(), 12, "{names:?}");
        assert!((80..120).contains(&all.len()), "{}", all.len());
        let values = |layout: &Layout| layout.runs().map(|run| run.count).sum::<u64>();
        assert!(all.iter().all(|(layout, items)| values(layout) * u64::from(*items) < 40_000));
    }
}

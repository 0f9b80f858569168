//! Tests below each other in a picture with a row per method, and how high their rows are.

use std::collections::HashMap;

use super::MarkShape;
use super::canvas::{BOLD, TEXT, width};
use super::data::Datum;
use crate::model::Case;
use crate::report::names::{WorkNames, distinct, work};

/// A test, with its methods from the top.
pub struct TestBlock<'a> {
    pub work: [&'a str; 4],
    pub name: String,
    pub methods: Vec<&'a str>,
    /// Where its rows begin in its frame.
    pub top: f64,
}

/// Tests that share a frame.
pub struct TestGroup<'a> {
    pub blocks: Vec<TestBlock<'a>>,
    pub height: f64,
}

/// Height of a method's row, where there is room.
const ROW: f64 = 15.0;
/// The same in a picture that would be long: as low as its text allows.
const LOW_ROW: f64 = 12.0;
/// Height of a test's name above its rows.
const NAME: f64 = 18.0;
/// Rows up to which a picture is not long.
const FEW: usize = 16;
/// Widest name of a test that can stand beside its rows.
const NARROW: f64 = 170.0;

/// Sizes of rows, and where names of tests stand: above their rows, or in a picture of many rows beside them.
pub struct Sizes {
    /// Height of a method's row.
    pub row: f64,
    /// What a test needs above its rows.
    pub above: f64,
    /// Room for names beside rows; 0 where they stand above.
    pub names: f64,
}

impl Sizes {
    fn of(blocks: &[TestBlock<'_>]) -> Self {
        let rows: usize = blocks.iter().map(|block| block.methods.len()).sum();
        let names = blocks.iter().map(|block| BOLD * width(&block.name, TEXT)).fold(0.0, f64::max);
        if rows > FEW && names <= NARROW {
            Self { row: LOW_ROW, above: 2.0, names: names + 8.0 }
        } else {
            Self { row: ROW, above: NAME, names: 0.0 }
        }
    }

    /// The middle of a test's name, from the top of its frame.
    pub fn name(&self, block: &TestBlock<'_>) -> f64 {
        if self.names > 0.0 { block.top + self.row / 2.0 } else { block.top - NAME / 2.0 }
    }
}

/// Tests in the order in which they come, all in one frame where they share an axis.
pub fn groups<'a>(shape: MarkShape, data: &'a [Datum]) -> (Vec<TestGroup<'a>>, Sizes) {
    let all: Vec<&Case> = distinct(data.iter().map(|datum| &*datum.case));
    let names = WorkNames::of(&all);
    let mut works: HashMap<[&str; 4], Vec<&Datum>> = HashMap::new();
    data.iter().for_each(|datum| works.entry(work(&datum.case)).or_default().push(datum));
    let block = |of: [&'a str; 4]| {
        let of_work = &works[&of];
        let name = names.name(&of_work[0].case);
        TestBlock { work: of, name, methods: distinct(of_work.iter().map(|d| d.method.as_str())), top: 0.0 }
    };
    let blocks: Vec<TestBlock<'_>> =
        distinct(data.iter().map(|datum| work(&datum.case))).into_iter().map(block).collect();
    let sizes = Sizes::of(&blocks);
    let height = |block: &TestBlock<'_>| sizes.above + sizes.row * block.methods.len() as f64 + 4.0;
    if !matches!(shape, MarkShape::Bars { .. } | MarkShape::Points { .. }) {
        let alone = |block: TestBlock<'a>| {
            let height = height(&block);
            TestGroup { blocks: vec![TestBlock { top: sizes.above, ..block }], height }
        };
        return (blocks.into_iter().map(alone).collect(), sizes);
    }
    let (mut all, mut y) = (Vec::new(), 0.0);
    for block in blocks {
        let next = y + height(&block);
        all.push(TestBlock { top: y + sizes.above, ..block });
        y = next;
    }
    (vec![TestGroup { blocks: all, height: y }], sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_beside_their_rows_where_there_are_many() {
        let datum = |test: &str, method: usize| Datum {
            case: Case { test: test.to_owned(), ..Case::default() }.into(),
            method: method.to_string(),
            ..Datum::default()
        };
        let of = |tests: &[&str]| {
            let data: Vec<Datum> =
                tests.iter().flat_map(|test| (0..4).map(|method| datum(test, method))).collect();
            let (groups, sizes) = groups(MarkShape::Bars { base: 0.0 }, &data);
            (sizes.names > 0.0, groups[0].height)
        };
        let (few, many) = (of(&["a", "b", "c", "d"]), of(&["a", "b", "c", "d", "e"]));
        assert!(!few.0 && many.0 && many.1 < few.1, "{few:?} {many:?}");
        assert!(!of(&["a", "b", "c", "d", &"e".repeat(40)]).0, "a long name needs a line");
    }
}

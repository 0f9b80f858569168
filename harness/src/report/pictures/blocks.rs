//! Tests below each other in a picture with a row per method, and how high their rows are.

use std::collections::HashMap;

use super::MarkShape;
use super::data::Datum;
use crate::model::Case;
use crate::report::names::{distinct, work, work_names};

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

/// Height of a method's row.
pub const ROW: f64 = 15.0;
/// Height of a test's name above its rows.
pub const NAME: f64 = 18.0;

/// Tests in the order in which they come, all in one frame where they share an axis.
pub fn groups<'a>(shape: MarkShape, data: &'a [Datum]) -> Vec<TestGroup<'a>> {
    let all: Vec<&Case> = distinct(data.iter().map(|datum| &*datum.case));
    let names = work_names(&all);
    let mut works: HashMap<[&str; 4], Vec<&Datum>> = HashMap::new();
    data.iter().for_each(|datum| works.entry(work(&datum.case)).or_default().push(datum));
    let block = |of: [&'a str; 4]| {
        let of_work = &works[&of];
        let name = names[&of].clone();
        TestBlock { work: of, name, methods: distinct(of_work.iter().map(|d| d.method.as_str())), top: 0.0 }
    };
    let blocks: Vec<TestBlock<'_>> =
        distinct(data.iter().map(|datum| work(&datum.case))).into_iter().map(block).collect();
    let height = |block: &TestBlock<'_>| NAME + ROW * block.methods.len() as f64 + 4.0;
    if !matches!(shape, MarkShape::Bars { .. } | MarkShape::Points { .. }) {
        let alone = |block: TestBlock<'a>| {
            let height = height(&block);
            TestGroup { blocks: vec![TestBlock { top: NAME, ..block }], height }
        };
        return blocks.into_iter().map(alone).collect();
    }
    let (mut all, mut y) = (Vec::new(), 0.0);
    for block in blocks {
        let next = y + height(&block);
        all.push(TestBlock { top: y + NAME, ..block });
        y = next;
    }
    vec![TestGroup { blocks: all, height: y }]
}

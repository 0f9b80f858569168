//! Tests below each other in a picture with a row per method, and the heights of their rows.

use super::MarkShape;
use super::data::Datum;
use crate::model::Case;
use crate::report::names::{distinct, grouped, work, work_names};

/// A test, with its methods from the top.
pub struct TestBlock<'a> {
    pub work: [&'a str; 4],
    pub name: String,
    pub methods: Vec<&'a str>,
    pub data: Vec<&'a Datum>,
    /// The position of its first row in its frame.
    pub top: f64,
}

/// Tests that share a frame.
#[derive(Default)]
pub struct TestGroup<'a> {
    pub blocks: Vec<TestBlock<'a>>,
    pub height: f64,
}

/// Height of a method's row.
pub const ROW: f64 = 15.0;
/// Height of a test's name above its rows.
pub const NAME: f64 = 18.0;

/// Tests in their order, all in one frame if they share an axis.
pub fn groups<'a>(shape: MarkShape, data: &'a [Datum]) -> Vec<TestGroup<'a>> {
    let all: Vec<&Case> = distinct(data.iter().map(|datum| &*datum.case));
    let names = work_names(&all);
    let share_a_frame = !matches!(shape, MarkShape::Times | MarkShape::Stack | MarkShape::Launches);
    let [above, below] = if matches!(shape, MarkShape::Verdicts { .. }) { [0.0, 0.0] } else { [NAME, 4.0] };
    let mut groups: Vec<TestGroup<'_>> = Vec::new();
    for (work, data) in grouped(data, |datum| work(&datum.case)) {
        let methods = distinct(data.iter().map(|datum| datum.method.as_str()));
        let mut group = groups.pop_if(|_| share_a_frame).unwrap_or_default();
        let top = group.height + above;
        group.height = top + ROW * methods.len() as f64 + below;
        group.blocks.push(TestBlock { work, name: names[&work].clone(), methods, data, top });
        groups.push(group);
    }
    groups
}

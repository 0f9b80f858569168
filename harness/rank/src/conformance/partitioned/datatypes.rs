//! Partitions of derived datatypes, whose offsets are multiples of the extent, not of the size.

use datatypes::{Element, Layout, LayoutError};

use super::exchange::Transfers;
use super::message::Shape;
use crate::conformance::context::{CheckContext, Stop};

/// Transfers of each datatype.
const TRANSFERS: u32 = 10;

/// Elements of the datatype in each partition.
const COUNT: usize = 12;

fn transfer(context: &CheckContext<'_>, what: &str, send: Shape, receive: Shape) -> Result<(), Stop> {
    Transfers { receive, count: TRANSFERS, ..Transfers::equal(context, what, send) }.plainly()
}

/// The same number of partitions on both sides, and half as many of twice the size.
fn transfers(context: &CheckContext<'_>, name: &str, layout: &Layout) -> Result<(), Stop> {
    let shape = |partitions, count| Shape::new(partitions, count, layout);
    transfer(context, &format!("{name}, 8/8"), shape(8, COUNT), shape(8, COUNT))?;
    transfer(context, &format!("{name}, 8/4"), shape(8, COUNT), shape(4, 2 * COUNT))
}

fn double() -> Layout {
    Element::Double.into()
}

pub fn gapless(context: &CheckContext<'_>) -> Result<(), Stop> {
    for (name, layout) in gapless_layouts().expect("sound layouts") {
        transfers(context, name, &layout)?;
    }
    Ok(())
}

fn gapless_layouts() -> Result<[(&'static str, Layout); 2], LayoutError> {
    let members = [Element::Double.into(), Element::Int32.into(), Element::Float.into()];
    Ok([
        ("contiguous", Layout::contiguous(3, &double())?),
        ("struct", Layout::structure(&[1, 1, 1], &[0, 8, 12], &members)?),
    ])
}

pub fn with_gaps(context: &CheckContext<'_>) -> Result<(), Stop> {
    for (name, layout) in layouts_with_gaps().expect("sound layouts") {
        transfers(context, name, &layout)?;
    }
    let vector = Layout::vector(2, 1, 2, &double()).expect("a sound layout");
    let (send, receive) = (Shape::new(8, COUNT, &vector), Shape::new(8, 2 * COUNT, &double()));
    transfer(context, "vector to contiguous", send.clone(), receive.clone())?;
    transfer(context, "contiguous to vector", receive, send)
}

fn layouts_with_gaps() -> Result<[(&'static str, Layout); 4], LayoutError> {
    let padded = Layout::structure(&[1, 1], &[0, 8], &[Element::Double.into(), Element::Int32.into()])?;
    Ok([
        ("vector", Layout::vector(2, 1, 2, &double())?),
        ("resized", Layout::resized(0, 16, &double())?),
        ("double and int", Layout::resized(0, 16, &padded)?),
        ("indexed", Layout::indexed(&[1, 2], &[0, 3], &double())?),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_tells_them_apart() {
        let has_gaps = |layout: &Layout| layout.extent() as u64 != layout.size();
        assert!(!gapless_layouts().unwrap().iter().any(|(_, layout)| has_gaps(layout)));
        assert!(layouts_with_gaps().unwrap().iter().all(|(_, layout)| has_gaps(layout)));
    }
}

//! Layouts of messages, one for each kind of kernel.

use datatypes::{Element, Layout, LayoutError};

/// The layout in memory of a message with this many doubles.
pub type BenchShape = fn(i64) -> Result<Layout, LayoutError>;

/// A shape for each kind of kernel.
pub const SHAPES: [(&str, BenchShape); 9] = [
    ("contiguous", contiguous),
    ("rows", rows),
    ("strided", strided),
    ("blocks_of_4", blocks_of_4),
    ("transposed", transposed),
    ("listed", listed),
    ("records", records),
    ("indexed_records", indexed_records),
    ("irregular", irregular),
];

fn double() -> Layout {
    Layout::named(Element::Double)
}

fn contiguous(doubles: i64) -> Result<Layout, LayoutError> {
    Layout::contiguous(doubles, &double())
}

/// Rows of 1 KiB, 1.5 KiB apart.
fn rows(doubles: i64) -> Result<Layout, LayoutError> {
    Layout::vector(doubles / 128, 128, 192, &double())
}

/// Every eighth double: a column of a matrix.
fn strided(doubles: i64) -> Result<Layout, LayoutError> {
    Layout::vector(doubles, 1, 8, &double())
}

/// Blocks of four doubles, within two loops: a face of a three-dimensional array.
fn blocks_of_4(doubles: i64) -> Result<Layout, LayoutError> {
    let rows = 32;
    let plane = Layout::hvector(rows, 1, 40 * 8, &Layout::contiguous(4, &double())?)?;
    Layout::hvector(doubles / 4 / rows, 1, (rows + 2) * 40 * 8, &plane)
}

/// A matrix column by column: neighbours in memory are far apart in the message.
fn transposed(doubles: i64) -> Result<Layout, LayoutError> {
    let columns = 64;
    let rows = doubles / columns;
    Layout::hvector(columns, 1, 8, &Layout::vector(rows, 1, columns, &double())?)
}

/// Distances of at least 2, without a pattern.
fn distance(i: i64) -> i64 {
    2 + i * i % 7
}

/// The starts of blocks of these lengths, with these distances between them.
fn places(lengths: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut end = 0;
    let place = |(i, length)| {
        let place = end + distance(i as i64);
        end = place + length;
        place
    };
    lengths.enumerate().map(place).collect()
}

/// Single doubles at listed places: particles that leave a domain.
fn listed(doubles: i64) -> Result<Layout, LayoutError> {
    Layout::indexed_block(1, &places((0..doubles).map(|_| 1)), &double())
}

/// Runs whose lengths recur, without a common index.
fn records(doubles: i64) -> Result<Layout, LayoutError> {
    let lengths: Vec<i64> = (0..doubles / 2).map(|i| [3, 1, 1, 3][i as usize % 4]).collect();
    Layout::indexed(&lengths, &places(lengths.iter().copied()), &double())
}

/// Eight doubles of each of some particles: a position and five single values, each from its own array.
fn indexed_records(doubles: i64) -> Result<Layout, LayoutError> {
    let particles = doubles / 8;
    let room = 2 * particles;
    let (mut lengths, mut displacements) = (Vec::new(), Vec::new());
    for i in 0..particles {
        // Twice as many particles as records, in an order without a pattern: 40503 is odd, so no multiple recurs.
        let index = i * 40_503 % room;
        lengths.extend([3, 1, 1, 1, 1, 1]);
        displacements.push(3 * index);
        displacements.extend((3..8).map(|array| array * room + index));
    }
    Layout::indexed(&lengths, &displacements, &double())
}

/// Runs of 1 to 15 doubles.
fn irregular(doubles: i64) -> Result<Layout, LayoutError> {
    let lengths: Vec<i64> = (0..doubles / 8).map(|i| 1 + i * i * i % 15).collect();
    Layout::indexed(&lengths, &places(lengths.iter().copied()), &double())
}

//! Packing and unpacking by the engine, by shape and size of the message; throughput is in bytes of the message.
//!
//!     cargo bench -p ddtbench-kernels
//!     cargo bench -p ddtbench-kernels -- transposed/pack

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datatypes::{Element, Layout, LayoutError};
use ddtbench_kernels::compile;

/// Bytes of a message: in the first-level cache, in the second-level cache, and in memory.
const SIZES: [i64; 3] = [4 << 10, 256 << 10, 16 << 20];

/// The layout in memory of a message with this many doubles.
type Shape = fn(i64) -> Result<Layout, LayoutError>;

/// A shape for each kind of kernel.
const SHAPES: [(&str, Shape); 6] = [
    ("strided", strided),
    ("blocks_of_4", blocks_of_4),
    ("transposed", transposed),
    ("listed", listed),
    ("records", records),
    ("irregular", irregular),
];

fn double() -> Layout {
    Layout::named(Element::Double)
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

/// Runs whose lengths recur: several values of each of the particles.
fn records(doubles: i64) -> Result<Layout, LayoutError> {
    let lengths: Vec<i64> = (0..doubles / 2).map(|i| [3, 1, 1, 3][i as usize % 4]).collect();
    Layout::indexed(&lengths, &places(lengths.iter().copied()), &double())
}

/// Runs of 1 to 15 doubles.
fn irregular(doubles: i64) -> Result<Layout, LayoutError> {
    let lengths: Vec<i64> = (0..doubles / 8).map(|i| 1 + i * i * i % 15).collect();
    Layout::indexed(&lengths, &places(lengths.iter().copied()), &double())
}

fn pack_and_unpack(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        for (direction, is_pack) in [("pack", true), ("unpack", false)] {
            let mut group = criterion.benchmark_group(format!("{name}/{direction}"));
            for bytes in SIZES {
                let layout = shape(bytes / 8).expect("a layout");
                let program = compile(&layout, 1).expect("a layout within the address space");
                let mut array = vec![1_u8; layout.true_upper_bound() as usize];
                let mut packed = vec![2_u8; program.size()];
                group.throughput(Throughput::Bytes(program.size() as u64));
                group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
                    bencher.iter(|| match is_pack {
                        true => program.pack(black_box(&array), 0, black_box(&mut packed)),
                        false => program.unpack(black_box(&packed), black_box(&mut array), 0),
                    });
                });
            }
            group.finish();
        }
    }
}

criterion_group!(shapes, pack_and_unpack);
criterion_main!(shapes);

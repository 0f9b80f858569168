//! Packing and unpacking by shape and size, by the engine, by plain loops and, as the bound of a copy without gaps, by
//! the C library's `memcpy`; and what precedes it: compiling a layout, its segments, its signature, and reading its text.
//! Throughput is in bytes of the message. The time of compiling divided by what one
//! pack saves is the number of packs from which it pays.
//!
//!     cargo bench -p ddtbench-kernels
//!     cargo bench -p ddtbench-kernels -- transposed/pack/engine
//!     cargo bench -p ddtbench-kernels -- listed/compile

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datatypes::{Element, Layout, LayoutError};
use ddtbench_kernels::{PlainLoop, compile};

/// Bytes of a message: in the first-level cache, in the second-level cache, and in memory.
const SIZES: [i64; 3] = [4 << 10, 256 << 10, 16 << 20];

fn pack_and_unpack(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        for (direction, is_pack) in [("pack", true), ("unpack", false)] {
            let mut group = criterion.benchmark_group(format!("{name}/{direction}"));
            for bytes in SIZES {
                let layout = shape(bytes / 8).expect("a layout");
                let program = compile(&layout, 1).expect("a layout within the address space");
                let plain = PlainLoop::from_layout(&layout, 1).expect("a layout within the address space");
                let mut array = vec![1_u8; layout.true_upper_bound() as usize];
                let mut packed = vec![2_u8; program.size()];
                group.throughput(Throughput::Bytes(program.size() as u64));
                group.bench_function(BenchmarkId::new("engine", bytes), |bencher| {
                    bencher.iter(|| match is_pack {
                        true => program.pack(black_box(&array), 0, black_box(&mut packed)),
                        false => program.unpack(black_box(&packed), black_box(&mut array), 0),
                    });
                });
                group.bench_function(BenchmarkId::new("loop", bytes), |bencher| {
                    bencher.iter(|| match is_pack {
                        true => plain.pack(black_box(&array), 0, black_box(&mut packed)),
                        false => plain.unpack(black_box(&packed), black_box(&mut array), 0),
                    });
                });
                group.bench_function(BenchmarkId::new("memcpy", bytes), |bencher| {
                    let all = packed.len();
                    bencher.iter(|| match is_pack {
                        true => black_box(&mut packed[..]).copy_from_slice(&black_box(&array)[..all]),
                        false => black_box(&mut array[..all]).copy_from_slice(black_box(&packed)),
                    });
                });
            }
            group.finish();
        }
    }
}

/// An analysis of the layout or its text, with a result that depends on all of it.
type Analysis = (&'static str, fn(&Layout, &str) -> usize);

const ANALYSES: [Analysis; 4] = [
    ("compile", |layout, _| compile(layout, 1).map_or(0, |program| program.size())),
    ("flatten", |layout, _| layout.flatten().len()),
    ("signature", |layout, _| layout.signature().count()),
    ("read_text", |_, text| text.parse::<Layout>().map_or(0, |layout| layout.size() as usize)),
];

fn analyse(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        for (what, run) in ANALYSES {
            let mut group = criterion.benchmark_group(format!("{name}/{what}"));
            // The time grows with the lists only.
            for bytes in &SIZES[..2] {
                let layout = shape(bytes / 8).expect("a layout");
                let text = layout.to_text();
                group.throughput(Throughput::Bytes(layout.size()));
                group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
                    bencher.iter(|| run(black_box(&layout), black_box(&text)));
                });
            }
            group.finish();
        }
    }
}

/// The layout in memory of a message with this many doubles.
type BenchShape = fn(i64) -> Result<Layout, LayoutError>;

/// A shape for each kind of kernel.
const SHAPES: [(&str, BenchShape); 9] = [
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

criterion_group! {
    name = shapes;
    // All of it in ten minutes.
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = pack_and_unpack, analyse
}
criterion_main!(shapes);

//! The steps before packing, by shape and size: compiling a layout, its segments, its signature, and reading its text. Throughput is in
//! bytes of the message. `ddtbench engine` times packing and unpacking, by the engine, the plain loop and `memcpy`.
//!
//!     cargo bench --bench shapes
//!     cargo bench --bench shapes -- listed/compile

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datatypes::Layout;
use kernels::compile;

/// Bytes of a message; the time grows with the lists only.
const SIZES: [i64; 2] = [4 << 10, 256 << 10];

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
            for bytes in SIZES {
                let text = shape(bytes / 8);
                let layout: Layout = text.parse().expect("a layout");
                group.throughput(Throughput::Bytes(layout.size()));
                group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
                    bencher.iter(|| run(black_box(&layout), black_box(&text)));
                });
            }
            group.finish();
        }
    }
}

/// The text of a layout in memory of a message with this many doubles.
type BenchShape = fn(i64) -> String;

/// A shape for each kind of kernel.
const SHAPES: [(&str, BenchShape); 9] = [
    ("contiguous", |doubles| format!("contiguous({doubles}, double)")),
    // Rows of 1 KiB, 1.5 KiB apart.
    ("rows", |doubles| format!("vector({}, 128, 192, double)", doubles / 128)),
    // Every eighth double: a column of a matrix.
    ("strided", |doubles| format!("vector({doubles}, 1, 8, double)")),
    // Blocks of four doubles, within two loops: a face of a three-dimensional array.
    ("blocks_of_4", |doubles| {
        format!("hvector({}, 1, 10880, hvector(32, 1, 320, contiguous(4, double)))", doubles / 128)
    }),
    // A matrix column by column: neighbours in memory are far apart in the message.
    ("transposed", |doubles| format!("hvector(64, 1, 8, vector({}, 1, 64, double))", doubles / 64)),
    // Single doubles at listed places: particles that leave a domain.
    ("listed", |doubles| format!("indexed_block(1, {:?}, double)", places(&vec![1; doubles as usize]))),
    // Runs whose lengths recur, without a common index.
    ("records", |doubles| indexed((0..doubles / 2).map(|i| [3, 1, 1, 3][i as usize % 4]).collect())),
    ("indexed_records", indexed_records),
    // Runs of 1 to 15 doubles.
    ("irregular", |doubles| indexed((0..doubles / 8).map(|i| 1 + i * i * i % 15).collect())),
];

/// The starts of blocks of these lengths, with distances of at least 2 between them, without a pattern.
fn places(lengths: &[i64]) -> Vec<i64> {
    let mut end = 0;
    let place = |(i, length): (i64, &i64)| {
        let place = end + 2 + i * i % 7;
        end = place + length;
        place
    };
    (0..).zip(lengths).map(place).collect()
}

fn indexed(lengths: Vec<i64>) -> String {
    format!("indexed({lengths:?}, {:?}, double)", places(&lengths))
}

/// Eight doubles of each of some particles: a position and five single values, each from its own array.
fn indexed_records(doubles: i64) -> String {
    let particles = doubles / 8;
    let room = 2 * particles;
    // Twice as many particles as records, in an order without a pattern: 40503 is odd, so no multiple recurs.
    let indices = (0..particles).map(|i| i * 40_503 % room);
    let of_particle = |index: i64| (3..8).map(move |array| array * room + index);
    let places: Vec<i64> =
        indices.flat_map(|index| [3 * index].into_iter().chain(of_particle(index))).collect();
    format!("indexed({:?}, {places:?}, double)", [3, 1, 1, 1, 1, 1].repeat(particles as usize))
}

criterion_group! {
    name = shapes;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = analyse
}
criterion_main!(shapes);

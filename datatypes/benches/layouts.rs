//! Analysis of layouts by shape and number of blocks: segments and signature with the throughput in bytes of the
//! message, the reader of texts with that in bytes of the text.
//!
//!     cargo bench -p ddtbench-datatypes -- flatten

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ddtbench_datatypes::{Element, Layout, LayoutError};

const BLOCKS: [i64; 2] = [64, 16 << 10];

/// The layout with this many blocks.
type Shape = fn(i64) -> Result<Layout, LayoutError>;

const SHAPES: [(&str, Shape); 4] =
    [("vector", vector), ("nested", nested), ("indexed", indexed), ("struct", structure)];

fn double() -> Layout {
    Layout::named(Element::Double)
}

fn vector(blocks: i64) -> Result<Layout, LayoutError> {
    Layout::vector(blocks, 2, 5, &double())
}

/// Vectors within a vector, as of a face of a three-dimensional array.
fn nested(blocks: i64) -> Result<Layout, LayoutError> {
    let rows = 8;
    Layout::hvector(blocks / rows, 1, 8 * 5 * (rows + 2), &Layout::vector(rows, 2, 5, &double())?)
}

fn indexed(blocks: i64) -> Result<Layout, LayoutError> {
    let lengths: Vec<i64> = (0..blocks).map(|i| 1 + i % 3).collect();
    let displacements: Vec<i64> = (0..blocks).map(|i| 6 * i + i * i % 3).collect();
    Layout::indexed(&lengths, &displacements, &double())
}

/// A struct of as many members, in pairs of two types.
fn structure(blocks: i64) -> Result<Layout, LayoutError> {
    let types = [double(), Layout::named(Element::Int32)];
    let children: Vec<Layout> = (0..blocks).map(|i| types[i as usize % 2].clone()).collect();
    let displacements: Vec<i64> = (0..blocks).map(|i| 16 * i).collect();
    Layout::structure(&vec![1; children.len()], &displacements, &children)
}

/// A group for each shape, with a benchmark for each number of blocks.
fn by_shape(criterion: &mut Criterion, what: &str, bytes: fn(&Layout) -> u64, run: fn(&Layout) -> usize) {
    for (name, shape) in SHAPES {
        let mut group = criterion.benchmark_group(format!("{name}/{what}"));
        for blocks in BLOCKS {
            let layout = shape(blocks).expect("a layout");
            group.throughput(Throughput::Bytes(bytes(&layout)));
            group.bench_function(BenchmarkId::from_parameter(blocks), |bencher| {
                bencher.iter(|| run(black_box(&layout)));
            });
        }
        group.finish();
    }
}

fn flatten(criterion: &mut Criterion) {
    by_shape(criterion, "flatten", Layout::size, |layout| layout.flatten().len());
}

fn signature(criterion: &mut Criterion) {
    by_shape(criterion, "signature", Layout::size, |layout| layout.signature().pairs().len());
}

fn text_reader(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        let mut group = criterion.benchmark_group(format!("{name}/text_reader"));
        for blocks in BLOCKS {
            let text = shape(blocks).expect("a layout").to_text();
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::from_parameter(blocks), |bencher| {
                bencher.iter(|| black_box(&text).parse::<Layout>());
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = layouts;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = flatten, signature, text_reader
}
criterion_main!(layouts);

//! Compiling layouts, by shape and size; throughput is in bytes of the message. The time divided by what one pack
//! saves, which `shapes` measures, is the number of packs from which compiling pays.
//!
//!     cargo bench -p ddtbench-kernels --bench compile -- listed

mod layouts;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ddtbench_kernels::compile;

use layouts::SHAPES;

/// Bytes of a message; the time grows with the lists only.
const SIZES: [i64; 2] = [4 << 10, 256 << 10];

fn compile_layouts(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        let mut group = criterion.benchmark_group(format!("{name}/compile"));
        for bytes in SIZES {
            let layout = shape(bytes / 8).expect("a layout");
            group.throughput(Throughput::Bytes(layout.size()));
            group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
                bencher.iter_with_large_drop(|| compile(black_box(&layout), 1));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = compiling;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = compile_layouts
}
criterion_main!(compiling);

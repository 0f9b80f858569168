//! Packing and unpacking by shape and size, by the engine, by plain loops and, as the bound of a copy without gaps, by
//! the C library's `memcpy`. Throughput is in bytes of the message.
//!
//!     cargo bench -p ddtbench-kernels --bench shapes
//!     cargo bench -p ddtbench-kernels --bench shapes -- transposed/pack/engine

mod layouts;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ddtbench_kernels::{PlainLoop, compile};

use layouts::SHAPES;

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

criterion_group! {
    name = shapes;
    // All of it in five minutes.
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = pack_and_unpack
}
criterion_main!(shapes);

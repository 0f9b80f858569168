//! Records when the threads of a computation finish. The result is a trace from which arrivals are drawn
//! (`kde:FILE`):
//!
//!     cargo run --release --example record_arrivals -- sparse 8 1000 > sparse-8.csv
//!
//! The arguments are a computation (`sparse`, `molecular` or `matrix`), the number of threads (by default one for
//! each processor) and the number of steps (by default 200). A step is timed from the moment when the last thread
//! reaches the barrier to the end of each thread's share. Ten steps are run before the first recorded one.

use std::hint::black_box;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, ensure};
use common::fine_grained::trace::Trace;
use common::gate::Gate;
use ddtbench::run::Machine;

/// Steps before the first recorded one, so that memory is mapped and the processor is out of its sleep states.
const WARM_UP_STEPS: usize = 10;
/// Number of checks at the barrier before a thread yields. Waiting threads spin, because waking up takes as long as
/// the measured differences. With more threads than processors they must not spin for ever.
const SPINS: u32 = 10_000;

/// The work of all threads in a step: each has a block of items.
trait Computation: Sync {
    /// Number of items.
    fn len(&self) -> usize;
    /// Computes a block of items, and returns the sum of its results.
    fn compute(&self, items: Range<usize>) -> f64;
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| match arguments.get(i) {
        Some(text) => text.parse().with_context(|| format!("{text}: must be a number")),
        None => Ok(default),
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let (threads, steps) = (number(1, processors)?, number(2, 200)?);
    ensure!(threads > 0 && steps > 0, "{threads} threads, {steps} steps: neither may be 0");
    let name = arguments.first().map_or("", String::as_str);
    let (computation, about): (Box<dyn Computation>, _) = match name {
        "sparse" => (
            Box::new(Sparse::new(64)),
            "a finite-element matrix times a vector; a thread has a block of rows",
        ),
        "molecular" => (
            Box::new(Molecular::new(8)),
            "forces of a Lennard-Jones liquid and its gas; a thread has a block of atoms",
        ),
        "matrix" => {
            (Box::new(Matrix::new(320)), "product of dense square matrices; a thread has a block of rows")
        }
        _ => anyhow::bail!("{name:?}: must be sparse, molecular or matrix"),
    };
    let times_ns = record(&*computation, threads, steps);
    let processor = Machine::this().cpu_model.unwrap_or_else(|| "unknown processor".to_owned());
    let comments = vec![
        format!("{name}: {about}"),
        format!("{} items, {threads} threads, {steps} steps after {WARM_UP_STEPS}", computation.len()),
        format!("{processor}, {processors} processors; ddtbench {}", env!("CARGO_PKG_VERSION")),
    ];
    print!("{}", Trace { comments, times_ns });
    Ok(())
}

/// The time of each thread in each step, in nanoseconds.
fn record(computation: &dyn Computation, threads: usize, steps: usize) -> Vec<Vec<u64>> {
    let gate = Gate::new(threads, SPINS);
    let epoch = Instant::now();
    let now_ns = || u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let start_ns = AtomicU64::new(0);
    let work = |thread: usize| {
        let step = |_| {
            gate.pass(|| start_ns.store(now_ns(), Ordering::Relaxed));
            black_box(computation.compute(share_of(computation.len(), thread, threads)));
            let time_ns = now_ns() - start_ns.load(Ordering::Relaxed);
            gate.pass(|| {});
            time_ns
        };
        (0..WARM_UP_STEPS + steps).map(step).skip(WARM_UP_STEPS).collect::<Vec<_>>()
    };
    let by_thread: Vec<Vec<u64>> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no share panics")).collect()
    });
    (0..steps).map(|step| by_thread.iter().map(|times| times[step]).collect()).collect()
}

/// The items of thread `thread`, out of `count`, divided as evenly as possible.
fn share_of(count: usize, thread: usize, threads: usize) -> Range<usize> {
    count * thread / threads..count * (thread + 1) / threads
}

/// Numbers from -1 to 1 that look random but are the same each time.
fn noise(count: usize) -> Vec<f64> {
    let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    std::iter::successors(Some(1_u64), next)
        .map(|state| (state >> 32) as f64 / 2_f64.powi(31) - 1.0)
        .take(count)
        .collect()
}

/// The product of two dense matrices, row by row: all rows are the same work, so differences between threads come
/// only from the machine.
struct Matrix {
    size: usize,
    numbers: Vec<f64>,
}

impl Matrix {
    fn new(size: usize) -> Self {
        Self { size, numbers: noise(size * size) }
    }
}

impl Computation for Matrix {
    fn len(&self) -> usize {
        self.size
    }

    fn compute(&self, rows: Range<usize>) -> f64 {
        let mut sums = vec![0.0; self.size];
        let mut all = 0.0;
        for row in rows {
            sums.fill(0.0);
            for (a, b) in self.numbers[row * self.size..].iter().zip(self.numbers.chunks_exact(self.size)) {
                sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
            }
            all += sums.iter().sum::<f64>();
        }
        all
    }
}

/// The matrix of Laplace's equation on n x n x n nodes, trilinear hexahedra, times a vector: most of an iteration of miniFE
/// (Heroux et al., "Improving Performance via Mini-applications", SAND2009-5574).
struct Sparse {
    /// The start of each row, and the end of the last one.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    vector: Vec<f64>,
}

impl Sparse {
    fn new(size: usize) -> Self {
        /// By the number of axes along which the neighbour differs: the point itself, a face, an edge, a corner.
        const STENCIL: [f64; 4] = [8.0 / 3.0, 0.0, -1.0 / 6.0, -1.0 / 12.0];
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let place = |node: usize| [node / size / size, node / size % size, node % size];
        let near = |at: usize| at.saturating_sub(1)..(at + 2).min(size);
        for node in 0..size.pow(3) {
            let [i, j, k] = place(node);
            for column in near(i)
                .flat_map(|x| near(j).flat_map(move |y| near(k).map(move |z| (x * size + y) * size + z)))
            {
                let off = place(column).iter().zip([i, j, k]).filter(|(a, b)| **a != *b).count();
                columns.push(u32::try_from(column).expect("fewer than 2^32 nodes"));
                values.push(STENCIL[off]);
            }
            starts.push(columns.len());
        }
        Self { starts, columns, values, vector: noise(size.pow(3)) }
    }
}

impl Computation for Sparse {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn compute(&self, rows: Range<usize>) -> f64 {
        let row = |row: usize| {
            let range = self.starts[row]..self.starts[row + 1];
            let entries = self.columns[range.clone()].iter().zip(&self.values[range]);
            self.vector[row]
                * entries.map(|(&column, value)| value * self.vector[column as usize]).sum::<f64>()
        };
        rows.map(row).sum()
    }
}

type Vector = [f64; 3];

/// Forces on the atoms of a Lennard-Jones liquid and its gas, as in miniMD, in a periodic box. Atoms are numbered
/// along the box. Those of the liquid have more neighbours, so that the first threads work longer.
struct Molecular {
    edges: Vector,
    positions: Vec<Vector>,
    cells: [usize; 3],
    /// The atoms of each cell.
    members: Vec<Vec<usize>>,
}

/// Distance beyond which atoms do not exert forces on each other.
const CUTOFF: f64 = 2.5;

impl Molecular {
    /// A slightly disordered cubic face-centred lattice with the density of a liquid, 0.8442, of 2 `size` by `size`
    /// by `size` cells. In the second half of the box only every fourth site has an atom.
    fn new(size: usize) -> Self {
        let lattice = (4.0_f64 / 0.8442).cbrt();
        let edges = [2 * size, size, size].map(|cells| cells as f64 * lattice);
        let sites = [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]];
        let mut positions: Vec<Vector> = Vec::new();
        for cell in 0..2 * size.pow(3) {
            let corner = [cell / size / size, cell / size % size, cell % size];
            for site in &sites[..if corner[0] < size { 4 } else { 1 }] {
                positions.push(std::array::from_fn(|axis| (corner[axis] as f64 + site[axis]) * lattice));
            }
        }
        for (position, off) in positions.iter_mut().zip(noise(3 * 8 * size.pow(3)).chunks_exact(3)) {
            *position =
                std::array::from_fn(|axis| (position[axis] + 0.1 * off[axis]).rem_euclid(edges[axis]));
        }
        let cells = edges.map(|edge| (edge / CUTOFF) as usize);
        let mut molecular =
            Self { edges, positions, cells, members: vec![Vec::new(); cells.iter().product()] };
        for atom in 0..molecular.positions.len() {
            let cell = molecular.number(molecular.cell(&molecular.positions[atom]));
            molecular.members[cell].push(atom);
        }
        molecular
    }

    fn cell(&self, position: &Vector) -> [usize; 3] {
        std::array::from_fn(|axis| {
            ((position[axis] / self.edges[axis] * self.cells[axis] as f64) as usize).min(self.cells[axis] - 1)
        })
    }

    fn number(&self, cell: [usize; 3]) -> usize {
        (cell[0] * self.cells[1] + cell[1]) * self.cells[2] + cell[2]
    }

    fn force(&self, atom: usize) -> Vector {
        let position = &self.positions[atom];
        let cell = self.cell(position);
        let mut force = [0.0; 3];
        for offsets in (0..27).map(|i| [i / 9, i / 3 % 3, i % 3]) {
            let near = std::array::from_fn(|axis| {
                (cell[axis] + self.cells[axis] + offsets[axis] - 1) % self.cells[axis]
            });
            for &other in &self.members[self.number(near)] {
                let distance: Vector = std::array::from_fn(|axis| {
                    let distance = position[axis] - self.positions[other][axis];
                    distance - self.edges[axis] * (distance / self.edges[axis]).round()
                });
                let squared: f64 = distance.iter().map(|d| d * d).sum();
                if squared < CUTOFF * CUTOFF && other != atom {
                    let sixth = squared.powi(-3);
                    let push = 24.0 * (2.0 * sixth * sixth - sixth) / squared;
                    force.iter_mut().zip(distance).for_each(|(force, distance)| *force += push * distance);
                }
            }
        }
        force
    }
}

impl Computation for Molecular {
    fn len(&self) -> usize {
        self.positions.len()
    }

    fn compute(&self, atoms: Range<usize>) -> f64 {
        atoms.map(|atom| self.force(atom).iter().map(|f| f * f).sum::<f64>()).sum()
    }
}

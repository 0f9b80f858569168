//! Conjugate gradients on a finite-element matrix, as miniFE does them (Heroux et al., "Improving Performance via
//! Mini-applications", SAND2009-5574).
//!
//! The matrix is that of Laplace's equation on n x n x n nodes, trilinear hexahedra of edge 1, zero outside: per row
//! the 27 neighbours, fewer at the boundary, in compressed rows. A thread has a block of rows. Its share of a step is
//! q = A p and its part of p.q, which is most of an iteration's work and is what one parallel region of miniFE has;
//! the vectors' updates, which need the sum over all threads, are done when the step is settled.
//!
//! Hestenes & Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems" (1952).

use std::sync::{Mutex, PoisonError, RwLock};

use super::{Compute, Kernel, noise, share_of};

pub(super) const KERNEL: Kernel = Kernel {
    name: "sparse",
    about: "conjugate gradients on a finite-element matrix; a thread has a block of rows",
    size_about: "nodes along an edge of the cube",
    default_size: 64,
    min_size: 2,
    // An entry has a value and a column, a row seven numbers; columns are numbered in 32 bits.
    memory_bytes: |size| Some(u64::from(u32::try_from(size.checked_pow(3)?).ok()?) * (27 * 12 + 7 * 8)),
    make: |size, threads| Box::new(Sparse::new(size, threads)),
};

/// Residual, relative to the right-hand side and squared, below which the solver begins anew: steps go on for ever
/// with numbers that are far from denormal.
const CONVERGED: f64 = 1e-24;

/// Integrals of the element's gradients over a node's neighbourhood, by the number of axes along which the neighbour
/// lies off: itself, a face, an edge, a corner. The sum over all 27 is 0, as the Laplacian of a constant.
const STENCIL: [f64; 4] = [8.0 / 3.0, 0.0, -1.0 / 6.0, -1.0 / 12.0];

/// A linear system and its solver.
pub struct Sparse {
    matrix: Rows,
    /// The right-hand side.
    b: Vec<f64>,
    /// What the solver finds.
    solution: Vec<f64>,
    state: RwLock<State>,
    /// By thread; locked by its thread alone, so never waited for.
    shares: Vec<Mutex<Share>>,
}

/// A square matrix in compressed rows.
struct Rows {
    /// Where each row begins, and where the last ends.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

struct State {
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    residual_squared: f64,
}

struct Share {
    /// A p, of the thread's rows.
    product: Vec<f64>,
    /// Their part of p.A p.
    dot: f64,
}

impl Sparse {
    /// A cube of `size` nodes along an edge, for `threads` threads, with a right-hand side of known solution.
    ///
    /// # Panics
    /// If there are fewer than 2 nodes, more than 2^32 in all, or no threads.
    pub fn new(size: usize, threads: usize) -> Self {
        assert!(size >= 2 && threads > 0, "{size} nodes for {threads} threads");
        let matrix = Rows::assemble(size);
        let solution: Vec<f64> = noise(3).take(matrix.len()).collect();
        let b: Vec<f64> = (0..matrix.len()).map(|row| matrix.times(row, &solution)).collect();
        let share = |thread| Share { product: vec![0.0; share_of(b.len(), thread, threads).len()], dot: 0.0 };
        let shares = (0..threads).map(|thread| Mutex::new(share(thread))).collect();
        Self { state: RwLock::new(State::begin(&b)), matrix, b, solution, shares }
    }

    /// The largest difference between what is found so far and the solution.
    pub fn error(&self) -> f64 {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.x.iter().zip(&self.solution).map(|(x, exact)| (x - exact).abs()).fold(0.0, f64::max)
    }

    /// Whether the next step begins anew.
    pub fn is_converged(&self) -> bool {
        self.state.read().unwrap_or_else(PoisonError::into_inner).residual_squared
            <= CONVERGED * dot(&self.b, &self.b)
    }
}

impl Rows {
    fn assemble(size: usize) -> Self {
        let entries = (3 * size - 2).pow(3);
        let mut rows = Self {
            starts: vec![0],
            columns: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        let near = |at: usize| at.saturating_sub(1)..(at + 2).min(size);
        for (i, j, k) in
            (0..size).flat_map(|i| (0..size).flat_map(move |j| (0..size).map(move |k| (i, j, k))))
        {
            for (x, y, z) in near(i).flat_map(|x| near(j).flat_map(move |y| near(k).map(move |z| (x, y, z))))
            {
                let off = usize::from(x != i) + usize::from(y != j) + usize::from(z != k);
                let column = (x * size + y) * size + z;
                rows.columns.push(u32::try_from(column).expect("at most 2^32 nodes"));
                rows.values.push(STENCIL[off]);
            }
            rows.starts.push(rows.columns.len());
        }
        rows
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// One row times a vector.
    fn times(&self, row: usize, vector: &[f64]) -> f64 {
        let range = self.starts[row]..self.starts[row + 1];
        let entries = self.columns[range.clone()].iter().zip(&self.values[range]);
        entries.map(|(&column, value)| value * vector[column as usize]).sum()
    }
}

impl State {
    /// Before the first step: x is 0.
    fn begin(b: &[f64]) -> Self {
        Self {
            x: vec![0.0; b.len()],
            residual: b.to_vec(),
            direction: b.to_vec(),
            residual_squared: dot(b, b),
        }
    }
}

impl Compute for Sparse {
    fn threads(&self) -> usize {
        self.shares.len()
    }

    fn share(&self, thread: usize) {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut share = self.shares[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let rows = share_of(self.b.len(), thread, self.threads());
        let direction = &state.direction[rows.clone()];
        share.product.iter_mut().zip(rows).for_each(|(q, row)| *q = self.matrix.times(row, &state.direction));
        share.dot = dot(&share.product, direction);
    }

    fn settle(&self) {
        if self.is_converged() {
            *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::begin(&self.b);
            return;
        }
        let state = &mut *self.state.write().unwrap_or_else(PoisonError::into_inner);
        let shares: Vec<_> =
            self.shares.iter().map(|share| share.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        let alpha = state.residual_squared / shares.iter().map(|share| share.dot).sum::<f64>();
        let product = shares.iter().flat_map(|share| &share.product);
        state.residual.iter_mut().zip(product).for_each(|(r, q)| *r -= alpha * q);
        state.x.iter_mut().zip(&state.direction).for_each(|(x, p)| *x += alpha * p);
        let residual_squared = dot(&state.residual, &state.residual);
        let beta = residual_squared / state.residual_squared;
        state.direction.iter_mut().zip(&state.residual).for_each(|(p, r)| *p = r + beta * *p);
        state.residual_squared = residual_squared;
    }

    fn checksum(&self) -> f64 {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        dot(&state.x, &state.x) + state.residual_squared
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

// Not under Miri, which would take hours and has no unsafe code to see here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn the_solver_converges_to_the_known_solution_and_begins_anew() {
        for threads in [1, 3] {
            let system = Sparse::new(9, threads);
            let step = || {
                (0..threads).for_each(|thread| system.share(thread));
                system.settle();
            };
            for round in 0..2 {
                let steps = (0..200).take_while(|_| !system.is_converged()).map(|_| step()).count();
                assert!((10..100).contains(&steps), "{steps} steps in round {round}");
                assert!(system.error() < 1e-9, "{}", system.error());
                step();
                assert!(system.error() > 0.1);
            }
        }
    }

    #[test]
    fn the_matrix_is_symmetric_and_of_a_constant_zero_inside() {
        let matrix = Rows::assemble(4);
        let entry = |row: usize, column: u32| {
            let range = matrix.starts[row]..matrix.starts[row + 1];
            range.clone().find(|&at| matrix.columns[at] == column).map(|at| matrix.values[at])
        };
        for row in 0..matrix.len() {
            for &column in &matrix.columns[matrix.starts[row]..matrix.starts[row + 1]] {
                assert_eq!(entry(row, column), entry(column as usize, row as u32));
            }
        }
        let ones = vec![1.0; matrix.len()];
        let inside = (4 + 1) * 4 + 1;
        assert_eq!(matrix.starts[inside + 1] - matrix.starts[inside], 27);
        assert!(matrix.times(inside, &ones).abs() < 1e-15);
        assert_eq!(matrix.starts[1], 8);
        assert_eq!(matrix.columns.len(), matrix.columns.capacity());
    }
}

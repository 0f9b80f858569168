//! Emulated computation: a thread is busy, or asleep, for a given time.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use common::fine_grained::Emulation;

use crate::team::spin_until;

/// Rows of the matrices in the product: together they fit into a first-level cache, and a product takes a few
/// microseconds, which is the precision of the time.
const ORDER: usize = 24;

/// Points along each side of the grid: two grids fit into a second-level cache, and a sweep takes about ten
/// microseconds, which is the precision of the time.
const SIDE: usize = 24;

thread_local! {
    /// Two grids for each thread, which the thread writes at its first sweep, during verification.
    static GRIDS: RefCell<[Vec<f64>; 2]> =
        RefCell::new([vec![1.0; SIDE * SIDE * SIDE], vec![0.0; SIDE * SIDE * SIDE]]);
}

/// Computes for `time_s` seconds; returns the actual time.
pub fn compute(time_s: f64, emulation: Emulation) -> f64 {
    if time_s <= 0.0 {
        return 0.0;
    }
    let start = Instant::now();
    let time = Duration::from_secs_f64(time_s);
    match emulation {
        Emulation::Spin => spin_until(|| start.elapsed() >= time),
        Emulation::Sleep => std::thread::sleep(time),
        Emulation::Work => {
            let mut product = [[0.0; ORDER]; ORDER];
            while start.elapsed() < time {
                multiply(black_box(&mut product));
            }
        }
        Emulation::Sweep => {
            GRIDS.with_borrow_mut(|grids| {
                while start.elapsed() < time {
                    let [from, to] = &mut *grids;
                    sweep(black_box(from), black_box(to));
                    grids.swap(0, 1);
                }
            });
        }
    }
    start.elapsed().as_secs_f64()
}

/// One Jacobi sweep with the 7-point stencil over the interior of a cube.
fn sweep(from: &[f64], to: &mut [f64]) {
    for z in 1..SIDE - 1 {
        for y in 1..SIDE - 1 {
            for x in 1..SIDE - 1 {
                let at = x + SIDE * (y + SIDE * z);
                let rows = from[at - SIDE] + from[at + SIDE];
                let planes = from[at - SIDE * SIDE] + from[at + SIDE * SIDE];
                to[at] = (from[at] + from[at - 1] + from[at + 1] + rows + planes) / 7.0;
            }
        }
    }
}

/// Adds the product of two matrices to a third.
fn multiply(sum: &mut [[f64; ORDER]; ORDER]) {
    let factor: [[f64; ORDER]; ORDER] = black_box([[1.000_000_1; ORDER]; ORDER]);
    for row in sum.iter_mut() {
        for (k, line) in factor.iter().enumerate() {
            let value = factor[k][0];
            row.iter_mut().zip(line).for_each(|(sum, factor)| *sum += value * factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_the_time_is_passed() {
        for emulation in [Emulation::Spin, Emulation::Sleep, Emulation::Work, Emulation::Sweep] {
            assert!(compute(1e-4, emulation) >= 1e-4, "{emulation:?}");
            assert_eq!(compute(0.0, emulation), 0.0);
        }
    }
}

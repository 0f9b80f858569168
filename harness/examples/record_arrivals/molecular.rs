//! Molecular dynamics of a Lennard-Jones liquid beside its gas, as miniMD does it, in reduced units.
//!
//! The force is that of 4 (r^-12 - r^-6), cut off at 2.5 and shifted so that force and potential are 0 there (the
//! shifted-force potential of Allen & Tildesley, "Computer Simulation of Liquids"): energy is conserved. Atoms begin on
//! a cubic face-centred lattice of the density of a liquid, 0.8442; beyond the middle of the box, along its long axis,
//! only every fourth site is taken. Atoms have cells at least as long as the cut-off; positions move by leapfrog.
//!
//! A thread has a block of atoms, numbered along the long axis: those in the liquid have more neighbours, so that the
//! first threads work longer. Its share of a step are forces, velocities and positions of its atoms; atoms are put
//! into cells when the step is settled.

use std::array;
use std::ops::Range;
use std::sync::{Mutex, PoisonError, RwLock};

use super::{Compute, Kernel, noise, share_of};

pub(super) const KERNEL: Kernel = Kernel {
    name: "molecular",
    about: "a Lennard-Jones liquid beside its gas; a thread has a block of atoms",
    size_about: "lattice cells across the box, of 4 atoms in the liquid and one in the gas",
    default_size: 8,
    min_size: 5,
    memory_bytes: |size| size.checked_pow(3)?.checked_mul(5 * 120),
    make: |size, threads| Box::new(Molecular::new(size, threads)),
};

/// Atoms per volume of the liquid: that of miniMD and of LAMMPS' `melt`, near the triple point.
const DENSITY: f64 = 0.8442;

/// Mean square of a velocity along an axis at the start: warm enough for a liquid after the lattice has melted.
const TEMPERATURE: f64 = 1.44;

/// Distance beyond which atoms do not feel each other; the usual one.
const CUTOFF: f64 = 2.5;

/// Time of a step: small enough for energy to be conserved to some 10^-4 per atom.
const STEP: f64 = 0.004;

type Vector = [f64; 3];

/// Atoms in a periodic box.
pub struct Molecular {
    edges: Vector,
    /// Cells along each axis.
    cells: [usize; 3],
    state: RwLock<State>,
    /// By thread; locked by its thread alone, so never waited for.
    shares: Vec<Mutex<Share>>,
}

struct State {
    positions: Vec<Vector>,
    /// Half a step before the positions.
    velocities: Vec<Vector>,
    /// Where each cell's atoms begin in `members`, and where the last ends.
    starts: Vec<usize>,
    /// Atoms by cell.
    members: Vec<usize>,
}

#[derive(Default)]
struct Share {
    forces: Vec<Vector>,
    positions: Vec<Vector>,
    velocities: Vec<Vector>,
    potential: f64,
    kinetic: f64,
}

impl Molecular {
    /// A box of 2 `size` by `size` by `size` lattice cells, 5 `size`^3 atoms, for `threads` threads.
    ///
    /// # Panics
    /// If there are fewer than 5 lattice cells, so that an atom would meet another one twice, or no threads.
    pub fn new(size: usize, threads: usize) -> Self {
        assert!(size >= KERNEL.min_size && threads > 0, "{size} lattice cells for {threads} threads");
        let lattice = (4.0 / DENSITY).cbrt();
        let edges = [2.0 * size as f64 * lattice, size as f64 * lattice, size as f64 * lattice];
        let mut positions: Vec<Vector> = Vec::new();
        for (x, y, z) in
            (0..2 * size).flat_map(|x| (0..size).flat_map(move |y| (0..size).map(move |z| (x, y, z))))
        {
            let sites = [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]];
            for site in &sites[..if x < size { 4 } else { 1 }] {
                positions.push(array::from_fn(|axis| ([x, y, z][axis] as f64 + site[axis]) * lattice));
            }
        }
        let mut random = noise(4);
        // A uniform distribution from -1 to 1 has a mean square of 1/3.
        let mut velocity = || array::from_fn(|_| random.next().unwrap_or(0.0) * (3.0 * TEMPERATURE).sqrt());
        let mut velocities: Vec<Vector> = positions.iter().map(|_| velocity()).collect();
        let drift = sum(&velocities).map(|component| component / positions.len() as f64);
        velocities.iter_mut().for_each(|velocity| *velocity = add(velocity, &drift, -1.0));
        let cells = edges.map(|edge| (edge / CUTOFF).floor() as usize);
        let state = State { positions, velocities, starts: Vec::new(), members: Vec::new() };
        let shares = (0..threads).map(|_| Mutex::default()).collect();
        let molecular = Self { edges, cells, state: RwLock::new(state), shares };
        molecular.sort(&mut molecular.state.write().unwrap_or_else(PoisonError::into_inner));
        molecular
    }

    /// Puts atoms into cells.
    fn sort(&self, state: &mut State) {
        let cells: Vec<usize> =
            state.positions.iter().map(|position| self.number(self.cell(position))).collect();
        state.starts = vec![0; self.cells.iter().product::<usize>() + 1];
        cells.iter().for_each(|&cell| state.starts[cell + 1] += 1);
        (1..state.starts.len()).for_each(|cell| state.starts[cell] += state.starts[cell - 1]);
        let mut next = state.starts.clone();
        state.members.resize(cells.len(), 0);
        for (atom, &cell) in cells.iter().enumerate() {
            state.members[next[cell]] = atom;
            next[cell] += 1;
        }
    }

    /// The cell of a place in the box.
    fn cell(&self, position: &Vector) -> [usize; 3] {
        // Rounding may take a position just below an edge to the edge itself.
        array::from_fn(|axis| {
            let place = position[axis] / self.edges[axis] * self.cells[axis] as f64;
            (place as usize).min(self.cells[axis] - 1)
        })
    }

    fn number(&self, cell: [usize; 3]) -> usize {
        (cell[0] * self.cells[1] + cell[1]) * self.cells[2] + cell[2]
    }

    /// The cells around one and itself, each as a range of the members.
    fn around<'a>(&'a self, state: &'a State, cell: [usize; 3]) -> impl Iterator<Item = Range<usize>> + 'a {
        (0..27_usize).map(move |i| {
            let offsets = [i / 9, i / 3 % 3, i % 3];
            let near = array::from_fn(|axis| {
                let cells = self.cells[axis];
                (cell[axis] + cells + offsets[axis] - 1) % cells
            });
            let number = self.number(near);
            state.starts[number]..state.starts[number + 1]
        })
    }

    /// From one place to another, the shortest way through the periodic box.
    fn between(&self, from: &Vector, to: &Vector) -> Vector {
        array::from_fn(|axis| {
            let (distance, edge) = (to[axis] - from[axis], self.edges[axis]);
            match distance {
                d if d > edge / 2.0 => d - edge,
                d if d < -edge / 2.0 => d + edge,
                d => d,
            }
        })
    }

    /// The force on an atom, and its half of the potentials of all its pairs.
    fn force(&self, state: &State, atom: usize) -> (Vector, f64) {
        let position = &state.positions[atom];
        let (mut force, mut potential) = ([0.0; 3], 0.0);
        for members in self.around(state, self.cell(position)) {
            for &other in &state.members[members] {
                let distance = self.between(&state.positions[other], position);
                let squared: f64 = distance.iter().map(|d| d * d).sum();
                if squared < CUTOFF * CUTOFF && other != atom {
                    let (pull, energy) = pair(squared);
                    force = add(&force, &distance, pull);
                    potential += energy / 2.0;
                }
            }
        }
        (force, potential)
    }

    /// Potential and kinetic energy at the positions before the last step.
    pub fn energy(&self) -> f64 {
        self.shares
            .iter()
            .map(|share| share.lock().unwrap_or_else(PoisonError::into_inner))
            .map(|share| share.potential + share.kinetic)
            .sum()
    }

    /// Sum of all velocities.
    pub fn momentum(&self) -> [f64; 3] {
        sum(&self.state.read().unwrap_or_else(PoisonError::into_inner).velocities)
    }
}

/// Of two atoms at the square of a distance: the force by the distance, positive where they repel each other, and the
/// potential.
fn pair(squared: f64) -> (f64, f64) {
    let force_and_potential = |squared: f64| {
        let sixth = squared.powi(-3);
        (24.0 * (2.0 * sixth * sixth - sixth) / squared, 4.0 * (sixth * sixth - sixth))
    };
    let (force, potential) = force_and_potential(squared);
    let (at_cutoff, potential_at_cutoff) = force_and_potential(CUTOFF * CUTOFF);
    let distance = squared.sqrt();
    let shift = at_cutoff * CUTOFF;
    (force - shift / distance, potential - potential_at_cutoff + (distance - CUTOFF) * shift)
}

/// a + factor b.
fn add(a: &Vector, b: &Vector, factor: f64) -> Vector {
    array::from_fn(|axis| a[axis] + factor * b[axis])
}

fn sum(vectors: &[Vector]) -> Vector {
    vectors.iter().fold([0.0; 3], |sum, vector| add(&sum, vector, 1.0))
}

impl Compute for Molecular {
    fn threads(&self) -> usize {
        self.shares.len()
    }

    fn share(&self, thread: usize) {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let share = &mut *self.shares[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let atoms = share_of(state.positions.len(), thread, self.threads());
        for vectors in [&mut share.forces, &mut share.positions, &mut share.velocities] {
            vectors.clear();
        }
        (share.potential, share.kinetic) = (0.0, 0.0);
        for atom in atoms {
            let (force, potential) = self.force(&state, atom);
            let now = add(&state.velocities[atom], &force, STEP / 2.0);
            share.potential += potential;
            share.kinetic += now.iter().map(|v| v * v).sum::<f64>() / 2.0;
            let velocity = add(&state.velocities[atom], &force, STEP);
            let moved = add(&state.positions[atom], &velocity, STEP);
            share.positions.push(array::from_fn(|axis| moved[axis].rem_euclid(self.edges[axis])));
            share.velocities.push(velocity);
            share.forces.push(force);
        }
    }

    fn settle(&self) {
        let state = &mut *self.state.write().unwrap_or_else(PoisonError::into_inner);
        for (thread, share) in self.shares.iter().enumerate() {
            let share = share.lock().unwrap_or_else(PoisonError::into_inner);
            let atoms = share_of(state.positions.len(), thread, self.shares.len());
            state.positions[atoms.clone()].copy_from_slice(&share.positions);
            state.velocities[atoms].copy_from_slice(&share.velocities);
        }
        self.sort(state);
    }

    fn checksum(&self) -> f64 {
        self.energy()
    }
}

// Not under Miri, which would take hours and has no unsafe code to see here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn step(molecular: &Molecular) {
        (0..molecular.threads()).for_each(|thread| molecular.share(thread));
        molecular.settle();
    }

    #[test]
    fn forces_are_those_of_all_pairs() {
        let molecular = Molecular::new(5, 3);
        // After some steps the atoms have left their lattice, on which forces would cancel.
        (0..20).for_each(|_| step(&molecular));
        let positions = molecular.state.read().unwrap().positions.clone();
        (0..3).for_each(|thread| molecular.share(thread));
        let found: Vec<Vector> =
            molecular.shares.iter().flat_map(|share| share.lock().unwrap().forces.clone()).collect();
        assert_eq!(found.len(), 5 * 125);
        let mut largest: f64 = 0.0;
        for (atom, position) in positions.iter().enumerate() {
            let mut force = [0.0; 3];
            for other in positions.iter().enumerate().filter(|&(other, _)| other != atom).map(|(_, at)| at) {
                let distance: Vector = array::from_fn(|axis| {
                    let (distance, edge) = (position[axis] - other[axis], molecular.edges[axis]);
                    distance - edge * (distance / edge).round()
                });
                let r = distance.iter().map(|d| d * d).sum::<f64>().sqrt();
                if r < CUTOFF {
                    // The derivative of the potential, written out.
                    let slope = |r: f64| 4.0 * (-12.0 * r.powi(-13) + 6.0 * r.powi(-7));
                    force = add(&force, &distance, -(slope(r) - slope(CUTOFF)) / r);
                }
            }
            for axis in 0..3 {
                largest = largest.max(force[axis].abs());
                assert!((force[axis] - found[atom][axis]).abs() < 1e-9, "atom {atom}: {force:?}");
            }
        }
        assert!(largest > 1.0, "the atoms have not moved: {largest}");
    }

    #[test]
    fn energy_and_momentum_are_conserved_while_atoms_move() {
        let molecular = Molecular::new(5, 2);
        step(&molecular);
        let atoms = molecular.state.read().unwrap().positions.len() as f64;
        let (begin, kinetic) = (molecular.energy(), molecular.shares[0].lock().unwrap().kinetic);
        for _ in 0..100 {
            step(&molecular);
            // Of energies that are some units per atom.
            assert!((molecular.energy() - begin).abs() < 1e-3 * atoms, "{} {begin}", molecular.energy());
        }
        let after = molecular.shares[0].lock().unwrap().kinetic;
        assert!((after - kinetic).abs() > 0.05 * kinetic, "the lattice has not melted: {kinetic} {after}");
        assert!(molecular.momentum().iter().all(|component| component.abs() < 1e-9));
    }

    #[test]
    fn force_and_potential_are_zero_at_the_cutoff_and_belong_together() {
        let (force, potential) = pair(CUTOFF * CUTOFF);
        assert!(force.abs() < 1e-12 && potential.abs() < 1e-12);
        for r in [0.9, 1.0, 1.2, 2.0, 2.4] {
            let potential = |r: f64| pair(r * r).1;
            let slope = (potential(r + 1e-6) - potential(r - 1e-6)) / 2e-6;
            assert!((pair(r * r).0 * r + slope).abs() < 1e-6 * slope.abs().max(1.0), "{r}");
        }
    }
}

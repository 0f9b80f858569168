//! LAMMPS on many ranks: the six swaps that give each rank ghosts of its neighbours' atoms.
//!
//! Source: LAMMPS, peptide (`full` atoms) and crack (`atomic` atoms) inputs, `comm_brick.cpp`, `borders`,
//! with `pack_border` of `atom_vec_full.cpp` and `atom_vec_atomic.cpp`.
//!
//! Arrays and records as in [`crate::lammps`]: dim1 atoms of the rank, then its ghosts. Swaps go down and up
//! along x, then y, then z, one after the other: each sends a list of icount atoms, and as many are appended
//! after all others. The list is drawn from the rank's atoms and from the ghosts that arrived along earlier
//! dimensions, so that atoms reach the neighbours across edges and corners. LAMMPS takes the atoms near the
//! border and shifts positions across it; here the list is random, and values are unchanged.
//!
//! Bytes of a swap: 64 icount (full), 48 icount (atomic).

use std::marker::PhantomData;

use super::{Cell, Cells, Grid, HaloApp, HaloBuilt, HaloContext, HaloTest, Stage, Transfer};
use crate::face::Face;
use crate::lammps::{self, AtomicAtom, Atoms, FullAtom, Record};
use crate::permutation::IndexList;
use crate::{ArraySpec, Values};

/// Swaps: the dimension of the grid (z, y, x), and whether the atoms go up.
const SWAPS: [(usize, bool); 6] = [(2, false), (2, true), (1, false), (1, true), (0, false), (0, true)];

/// Atoms of a molecule.
pub const FULL: HaloTest = HaloTest {
    name: "lammps_full",
    original_name: None,
    source: "LAMMPS peptide, comm_brick.cpp borders, atom_vec_full.cpp",
    about: "six swaps of random atoms with eight doubles each from six arrays, ghosts forwarded",
    parameters: lammps::FULL.parameters,
    sets: lammps::FULL.sets,
    make: Swaps::<FullAtom>::boxed,
};

/// Atoms of a solid.
pub const ATOMIC: HaloTest = HaloTest {
    name: "lammps_atomic",
    source: "LAMMPS crack, comm_brick.cpp borders, atom_vec_atomic.cpp",
    about: "six swaps of random atoms with six doubles each from four arrays, ghosts forwarded",
    parameters: lammps::ATOMIC.parameters,
    sets: lammps::ATOMIC.sets,
    make: Swaps::<AtomicAtom>::boxed,
    ..FULL
};

/// One swap of one rank.
struct AtomSwap {
    to: Option<usize>,
    from: Option<usize>,
    /// The rank's atoms and ghosts when the swap begins; received ones are appended after them.
    atoms: usize,
    /// The atoms that are sent.
    leaving: IndexList,
}

/// The exchange of atoms with the arrays of record `R`.
struct Swaps<R> {
    grid: Grid,
    dim1: usize,
    icount: usize,
    ranks: Vec<Vec<AtomSwap>>,
    record: PhantomData<R>,
}

impl<R: Record> Swaps<R> {
    fn boxed(values: &Values, context: HaloContext) -> HaloBuilt {
        // Together with the ghosts of six swaps, an `int` must be able to count them.
        let dim1 = values.within("dim1", 1..=i64::from(i32::MAX) / 7)? as usize;
        let icount = values.within("icount", 1..=dim1 as i64)? as usize;
        let grid = context.grid(3)?;
        let swaps = |rank: usize| {
            // Both swaps along a dimension take atoms that were there before either of them.
            let (mut atoms, mut bound) = (dim1, dim1);
            let mut swap = |(number, &(dimension, up)): (usize, &(usize, bool))| {
                let [below, above] = grid.along(dimension).map(|offset| grid.neighbour(rank, &offset));
                let (to, from) = if up { (above, below) } else { (below, above) };
                if number % 2 == 0 {
                    bound = atoms;
                }
                let stream = (SWAPS.len() * rank + number) as u64;
                let leaving = IndexList::drawn(context.seed, stream, bound as u32, icount);
                let swap = AtomSwap { to, from, atoms, leaving };
                atoms += if from.is_some() { icount } else { 0 };
                swap
            };
            SWAPS.iter().enumerate().map(&mut swap).collect()
        };
        let ranks = (0..context.ranks).map(swaps).collect();
        Ok(Box::new(Self { grid, dim1, icount, ranks, record: PhantomData }))
    }

    /// The rank that owns this atom, and its number there: a ghost is one of the atoms that its swap delivered.
    fn owner(&self, rank: usize, atom: usize) -> (usize, usize) {
        if atom < self.dim1 {
            return (rank, atom);
        }
        let received = |(number, swap): (usize, &AtomSwap)| {
            let k = atom.checked_sub(swap.atoms).filter(|&k| k < self.icount)?;
            Some((swap.from?, number, k))
        };
        let (from, number, k) =
            self.ranks[rank].iter().enumerate().find_map(received).expect("every ghost came in a swap");
        self.owner(from, self.ranks[from][number].leaving.get()[k] as usize)
    }
}

impl<R: Record> HaloApp for Swaps<R> {
    fn arrays(&self, rank: usize) -> Vec<ArraySpec> {
        let arrivals = self.ranks[rank].iter().filter(|swap| swap.from.is_some()).count();
        lammps::arrays::<R>(self.dim1 + arrivals * self.icount)
    }

    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let stage = |(swap, &(dimension, up)): (&AtomSwap, &(usize, bool))| {
            let tag = 2 * dimension + usize::from(up);
            let transfer = |peer, atoms: Atoms<R>| Transfer { peer, tag, face: Face::from_block(atoms) };
            let listed = || Atoms::Listed(swap.leaving.clone(), PhantomData);
            let appended = || Atoms::Appended(swap.atoms..swap.atoms + self.icount);
            Stage::new(
                swap.to.map(|peer| transfer(peer, listed())).into_iter().collect(),
                swap.from.map(|peer| transfer(peer, appended())).into_iter().collect(),
            )
        };
        self.ranks[rank].iter().zip(&SWAPS).map(stage).collect()
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let field = &R::FIELDS[array];
        let doubles = size_of::<R>() / 8;
        Box::new(move |element| {
            let (atom, component) = (element / field.values, element % field.values);
            let (owner, theirs) = self.owner(rank, atom);
            let id = field.offset_bytes / 8 + component + doubles * (theirs + self.dim1 * owner);
            if atom < self.dim1 { Cell::Own(id as u64) } else { Cell::Halo(id as u64) }
        })
    }
}

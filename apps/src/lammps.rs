//! LAMMPS: atoms that move from the region of one rank to that of another.
//!
//! Source: LAMMPS, peptide (`full` atoms) and crack (`atomic` atoms) inputs, the exchange of an atom vector
//! (`atom_vec_full.cpp`, `atom_vec_atomic.cpp`); as micro-apps in DDTBench 1.2, `src_c/timing_lammps.c`.
//!
//! Arrays over dim1 + icount atoms, doubles: `x` (3 per atom), `tag`, `type`, `mask`, and for `full` also `q`
//! and `molecule`. Sends the atoms of an index list among the first dim1; receives them at dim1 and after,
//! one after the other. The loop goes atom by atom and writes a record ([`FullAtom`], [`AtomicAtom`]); the
//! datatype goes array by array: two wire orders. Bytes: 64 icount (full), 48 icount (atomic).

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use memoffset::offset_of;

use crate::face::{Face, FaceBlock};
use crate::permutation::{IndexList, Indices};
use crate::words::{Pair, join};
use crate::{
    ArraySpec, Arrays, Built, Context, Loops, MicroApp, Parameter, Piece, Preset, Test, Values, WireOrder,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("dim1", "atoms", "atoms of the rank"),
    Parameter::integer("icount", "atoms", "atoms that leave, and as many that arrive"),
];

/// Atoms of a molecule.
pub const FULL: Test = Test {
    name: "lammps_full",
    original_name: Some("LAMMPS_full"),
    source: "LAMMPS peptide, atom_vec_full.cpp; DDTBench 1.2 src_c/timing_lammps.c",
    about: "random atoms with eight doubles each from six arrays",
    parameters: PARAMETERS,
    sets: &[
        Preset::Quick.set("3534_3062", "3534 3062"),
        Preset::Default.set("2597_2243", "2597 2243"),
        Preset::Default.set("1907_1662", "1907 1662"),
        Preset::Full.set("353400_306200", "353400 306200"),
    ],
    make: build::<FullAtom>,
};

/// Atoms of a solid.
pub const ATOMIC: Test = Test {
    name: "lammps_atomic",
    original_name: Some("LAMMPS_atomic"),
    source: "LAMMPS crack, atom_vec_atomic.cpp; DDTBench 1.2 src_c/timing_lammps.c",
    about: "random atoms with six doubles each from four arrays",
    sets: &[
        Preset::Quick.set("4084_243", "4084 243"),
        Preset::Default.set("2157_145", "2157 145"),
        Preset::Default.set("1217_114", "1217 114"),
        Preset::Full.set("408400_24300", "408400 24300"),
    ],
    make: build::<AtomicAtom>,
    ..FULL
};

/// Components of a position.
const POSITION: usize = 3;

/// One array of atoms, and the place of its value in the record.
pub(crate) struct Field {
    pub name: &'static str,
    /// Doubles per atom.
    pub values: usize,
    pub offset_bytes: usize,
}

/// A record, and the loops over it.
pub(crate) trait Record: Pod + Debug + Send + Sync {
    /// The arrays, in their own order.
    const FIELDS: &'static [Field];

    /// Writes a record for each atom of `list`, value by value.
    fn pack(arrays: &Arrays, list: Indices<'_>, records: &mut [Self]);

    /// Like [`Record::pack`], two values at a time.
    fn pack_tuned(arrays: &Arrays, list: Indices<'_>, records: &mut [Self]);

    /// Appends the atoms of the records to the arrays, from atom `first` on.
    fn unpack(records: &[Self], arrays: &mut Arrays, first: usize);
}

/// A record with its loops: its single values in order, the first of them next to a position and the others
/// in pairs; then the arrays of single values with their numbers.
macro_rules! record {
    (
        $(#[$meta:meta])* $Atom:ident { $tag:ident $(, $pair:ident($first:ident, $second:ident))* }
        $($number:literal: $field:ident = $array:literal),*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Pod, Zeroable)]
        #[repr(C)]
        pub(crate) struct $Atom {
            x: [f64; POSITION],
            $tag: f64,
            $($first: f64, $second: f64,)*
        }

        impl Record for $Atom {
            const FIELDS: &'static [Field] = &[
                Field { name: "x", values: POSITION, offset_bytes: offset_of!($Atom, x) },
                $(Field { name: $array, values: 1, offset_bytes: offset_of!($Atom, $field) },)*
            ];

            fn pack(arrays: &Arrays, list: Indices<'_>, records: &mut [Self]) {
                let x = arrays.slice::<[f64; POSITION]>(0);
                // All arrays have the same length, so the list is compared with it only once.
                let [$($field),*] = [$($number),*].map(|i| &arrays.slice::<f64>(i)[..x.len()]);
                for (record, i) in records.iter_mut().zip(list.within(x.len())) {
                    // SAFETY: `within` has compared all indices with the length that all arrays have.
                    unsafe {
                        let x = x.get_unchecked(i);
                        // One by one: the compiler would turn a copy of the whole position into stores that are out of order.
                        (record.x[0], record.x[1], record.x[2]) = (x[0], x[1], x[2]);
                        record.$tag = *$tag.get_unchecked(i);
                        $(
                            record.$first = *$first.get_unchecked(i);
                            record.$second = *$second.get_unchecked(i);
                        )*
                    }
                }
            }

            fn pack_tuned(arrays: &Arrays, list: Indices<'_>, records: &mut [Self]) {
                let x = arrays.slice::<[f64; POSITION]>(0);
                let [$($field),*] = [$($number),*].map(|i| &arrays.slice::<f64>(i)[..x.len()]);
                let records: &mut [[Pair; size_of::<$Atom>() / size_of::<Pair>()]] = cast_slice_mut(records);
                for ([a, b $(, $pair)*], i) in records.iter_mut().zip(list.within(x.len())) {
                    // SAFETY: `within` has compared all indices with the length that all arrays have.
                    unsafe {
                        let x = x.get_unchecked(i);
                        join(a, &x[0], &x[1]);
                        join(b, &x[2], $tag.get_unchecked(i));
                        $(join($pair, $first.get_unchecked(i), $second.get_unchecked(i));)*
                    }
                }
            }

            fn unpack(records: &[Self], arrays: &mut Arrays, first: usize) {
                let [x, $($field),*] = arrays.slices_mut::<f64, _>([0, $($number),*]);
                let x = &mut x.as_chunks_mut::<POSITION>().0[first..][..records.len()];
                let [$($field),*] = [$($field),*].map(|array| &mut array[first..][..records.len()]);
                for (i, record) in records.iter().enumerate() {
                    x[i] = record.x;
                    $tag[i] = record.$tag;
                    $(
                        $first[i] = record.$first;
                        $second[i] = record.$second;
                    )*
                }
            }
        }
    };
}

record! {
    /// An atom as the loop writes it, for `atom_style full`.
    FullAtom { tag, c(kind, mask), d(molecule, q) }
    1: tag = "tag", 2: kind = "type", 3: mask = "mask", 4: q = "q", 5: molecule = "molecule"
}

record! {
    /// An atom as the loop writes it, for `atom_style atomic`.
    AtomicAtom { tag, c(kind, mask) }
    1: tag = "tag", 2: kind = "type", 3: mask = "mask"
}

pub(crate) fn arrays<R: Record>(atoms: usize) -> Vec<ArraySpec> {
    let shape = |field: &Field| if field.values == 1 { vec![atoms] } else { vec![atoms, field.values] };
    R::FIELDS.iter().map(|field| ArraySpec::new(field.name, Element::Double, &shape(field))).collect()
}

/// The atoms of a message, with the arrays of record `R`.
#[derive(Clone, Debug)]
pub(crate) enum Atoms<R> {
    /// Atoms of a list.
    Listed(IndexList, PhantomData<R>),
    /// Consecutive atoms.
    Appended(Range<usize>),
}

impl<R: Record> Atoms<R> {
    fn len(&self) -> usize {
        match self {
            Self::Listed(list, _) => list.len(),
            Self::Appended(atoms) => atoms.len(),
        }
    }

    /// The atom at position `k` of the message.
    fn atom(&self, k: usize) -> usize {
        match self {
            Self::Listed(list, _) => list.get()[k] as usize,
            Self::Appended(atoms) => atoms.start + k,
        }
    }

    /// Array by array, as in the original's datatypes.
    fn by_array(&self) -> Vec<Piece> {
        let double = Layout::named(Element::Double);
        // As in the original, all arrays with one value per atom share one type.
        let layout = |values: usize| {
            let layout = match self {
                Self::Listed(list, _) => {
                    Layout::indexed_block(values as i64, &list.displacements(values as i64), &double)
                }
                Self::Appended(atoms) => Layout::contiguous((values * atoms.len()) as i64, &double),
            };
            layout.expect("the arrays fit in memory")
        };
        let (position, scalar) = (layout(POSITION), layout(1));
        let piece = |(array, field): (usize, &Field)| Piece {
            array,
            origin_bytes: match self {
                Self::Listed(..) => 0,
                Self::Appended(atoms) => (8 * field.values * atoms.start) as i64,
            },
            layout: if field.values == POSITION { position.clone() } else { scalar.clone() },
        };
        R::FIELDS.iter().enumerate().map(piece).collect()
    }

    /// Atom by atom, and field by field in the order of the record.
    fn by_atom(&self) -> Vec<Piece> {
        let scalar = Layout::named(Element::Double);
        let position = Layout::contiguous(POSITION as i64, &scalar).expect("a position is small");
        let mut fields: Vec<_> = R::FIELDS.iter().enumerate().collect();
        fields.sort_by_key(|(_, field)| field.offset_bytes);
        let mut pieces = Vec::with_capacity(fields.len() * self.len());
        for k in 0..self.len() {
            let atom = self.atom(k);
            pieces.extend(fields.iter().map(|&(array, field)| Piece {
                array,
                origin_bytes: (8 * field.values * atom) as i64,
                layout: if field.values == POSITION { position.clone() } else { scalar.clone() },
            }));
        }
        pieces
    }
}

impl<R: Record> FaceBlock for Atoms<R> {
    fn planes(&self) -> usize {
        self.len()
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        Arc::new(match self {
            Self::Listed(list, record) => Self::Listed(list.part(range), *record),
            Self::Appended(all) => Self::Appended(all.start + range.start..all.start + range.end),
        })
    }

    fn bytes(&self) -> usize {
        self.len() * size_of::<R>()
    }

    fn pieces(&self, order: WireOrder) -> Vec<Piece> {
        match order {
            WireOrder::Manual => self.by_atom(),
            WireOrder::Ddt => self.by_array(),
        }
    }

    fn pack(&self, loops: Loops, arrays: &Arrays, packed: &mut [u8]) {
        let records: &mut [R] = cast_slice_mut(packed);
        match (self, loops) {
            (Self::Listed(list, _), Loops::Plain) => R::pack(arrays, list.indices(), records),
            (Self::Listed(list, _), Loops::Tuned) => R::pack_tuned(arrays, list.indices(), records),
            // Applications do not pack their ghosts again.
            (Self::Appended(atoms), _) => {
                for (atom, one) in atoms.clone().zip(records.chunks_mut(1)) {
                    R::pack(arrays, Indices::from_list(&[atom as u32]), one);
                }
            }
        }
    }

    fn unpack(&self, _: Loops, packed: &[u8], arrays: &mut Arrays) {
        let records: &[R] = cast_slice(packed);
        match self {
            Self::Appended(atoms) => R::unpack(records, arrays, atoms.start),
            // Applications do not overwrite their own atoms.
            Self::Listed(list, _) => {
                for (&atom, one) in list.get().iter().zip(records.chunks(1)) {
                    R::unpack(one, arrays, atom as usize);
                }
            }
        }
    }

    fn orders_differ(&self) -> bool {
        true
    }

    fn listed_segments(&self) -> Option<u64> {
        Some((self.len() * R::FIELDS.len()) as u64)
    }
}

fn build<R: Record>(values: &Values, context: Context) -> Built {
    let dim1 = values.positive("dim1")?;
    let icount = values.within("icount", 1..=dim1 as i64)? as usize;
    let arrays = values.addressable(arrays::<R>(dim1 + icount))?;
    let leaving = IndexList::drawn(context.seed, 0, dim1 as u32, icount);
    let send = Face::from_block(Atoms::<R>::Listed(leaving, PhantomData));
    let receive = Face::from_block(Atoms::<R>::Appended(dim1..dim1 + icount));
    Ok(MicroApp::new(Element::Double, arrays, send, receive))
}

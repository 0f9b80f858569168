//! Exchanges between many ranks, all of them in one process: what must have arrived has, by every way there is.

use std::collections::{HashMap, HashSet};

use apps::halo::{self, Cell, Cut, Face, HALOS, HaloApp, HaloContext, HaloTest};
use apps::{Arrays, Side, Values, WireOrder};
use datatypes::{Layout, interpret};

/// Numbers of ranks: alone, two that are neighbours on both sides, a prime, a square, a cube.
const RANKS: [usize; 5] = [1, 2, 3, 4, 8];

/// Parts that divide some faces evenly, and some not.
const PARTS: [usize; 4] = [1, 2, 3, 5];

/// Values that make small arrays, so that all ranks fit into one test.
const SMALL: &[(&str, &[(&str, &str)])] = &[
    ("wrf_vec", &[("ni", "5"), ("nj", "6"), ("nk", "4"), ("margin", "4")]),
    ("wrf_vec", &[("ni", "3"), ("nj", "3"), ("nk", "2"), ("margin", "3"), ("limit", "4")]),
    ("wrf_sa", &[("ni", "5"), ("nj", "6"), ("nk", "4"), ("width", "2"), ("limit", "1")]),
    ("nas_mg", &[("d1", "12"), ("d2", "8"), ("d3", "7")]),
    ("nas_mg", &[("d1", "3"), ("d2", "3"), ("d3", "3")]),
    ("nas_lu", &[("nx", "6"), ("ny", "7")]),
    ("nas_lu", &[("nx", "1"), ("ny", "1")]),
    ("milc", &[("lx", "4"), ("ly", "6"), ("lz", "2"), ("lt", "4")]),
    ("fft2d", &[("n", "24")]),
    ("fft2d", &[("n", "8")]),
    ("specfem3d_mt", &[("dim1", "3"), ("dim3", "11")]),
    ("specfem3d_mt", &[("dim1", "1"), ("dim3", "1")]),
    ("specfem3d_oc", &[("dim1", "101"), ("icount", "11")]),
    ("specfem3d_cm", &[("dim2_cm", "60"), ("icount_cm", "9"), ("dim2_ic", "5"), ("icount_ic", "1")]),
    ("lammps_full", &[("dim1", "20"), ("icount", "13")]),
    ("lammps_atomic", &[("dim1", "9"), ("icount", "4")]),
    ("stencil7", &[("bytes", "56")]),
    ("stencil27", &[("bytes", "8")]),
];

fn values(test: &HaloTest, changes: &[(&str, &str)]) -> Values {
    let mut values = test.set(test.quick_set().name).unwrap();
    for (parameter, text) in changes {
        values.assign(test, parameter, text).unwrap();
    }
    values
}

/// Calls `check` for all small values and ranks that an exchange can have, with and without a border.
fn every_app(check: impl Fn(&str, &dyn HaloApp, usize)) {
    for &(name, changes) in SMALL {
        let test = halo::find(name).unwrap();
        let values = values(test, changes);
        let mut built = 0;
        for ranks in RANKS {
            for periodic in [true, false] {
                let Ok(app) = test.build(&values, HaloContext { ranks, periodic, seed: 1 }) else { continue };
                built += 1;
                check(&format!("{name} {values}, {ranks} ranks, periodic {periodic}"), &*app, ranks);
            }
        }
        assert!(built >= 8, "{name} {values}: too few ranks work");
    }
}

/// How a face becomes bytes, and bytes a face.
#[derive(Clone, Copy, Debug)]
enum Way {
    Hand,
    Datatype(WireOrder),
    /// Parts, each by hand.
    CutByHand(usize),
    /// Parts, each by its own datatype, or by the one of all where there is one.
    CutByDatatype(usize, WireOrder),
}

/// The datatypes of a cut face, with the byte that each is passed with.
fn datatypes(cut: &Cut, order: WireOrder, displacements: &[i64]) -> Vec<(i64, Layout)> {
    match cut.partition(order, displacements) {
        Some((origin, layout)) => {
            (0..cut.parts.len() as i64).map(|p| (origin + p * layout.extent(), layout.clone())).collect()
        }
        None => cut.parts.iter().map(|part| part.message(order).datatype(displacements)).collect(),
    }
}

fn pack(way: Way, face: &Face, arrays: &Arrays) -> Vec<u8> {
    // Words, for the alignment.
    let mut words = vec![0u64; face.bytes().div_ceil(8)];
    let packed = &mut bytemuck::cast_slice_mut(&mut words)[..face.bytes()];
    let by = |(origin, layout): &(i64, Layout)| {
        let start = arrays.place(0).start as i64;
        interpret::pack(layout, 1, arrays.memory(), start + origin).unwrap()
    };
    match way {
        Way::Hand => face.pack(arrays, packed),
        Way::Datatype(order) => {
            packed.copy_from_slice(&by(&face.message(order).datatype(&arrays.displacements())))
        }
        Way::CutByHand(parts) => {
            let cut = face.cut(parts);
            for (part, range) in cut.parts.iter().zip(&cut.ranges) {
                part.pack(arrays, &mut packed[range.clone()]);
            }
        }
        Way::CutByDatatype(parts, order) => {
            let cut = face.cut(parts);
            for (datatype, range) in datatypes(&cut, order, &arrays.displacements()).iter().zip(&cut.ranges) {
                packed[range.clone()].copy_from_slice(&by(datatype));
            }
        }
    }
    packed.to_vec()
}

fn unpack(way: Way, face: &Face, packed: &[u8], arrays: &mut Arrays) {
    assert_eq!(packed.len(), face.bytes(), "both ends have one size");
    let (displacements, start) = (arrays.displacements(), arrays.place(0).start as i64);
    let mut words = vec![0u64; packed.len().div_ceil(8)];
    let aligned = &mut bytemuck::cast_slice_mut(&mut words)[..packed.len()];
    aligned.copy_from_slice(packed);
    let by = |(origin, layout): &(i64, Layout), packed: &[u8], arrays: &mut Arrays| {
        interpret::unpack(layout, 1, packed, arrays.memory_mut(), start + origin).unwrap();
    };
    match way {
        Way::Hand => face.unpack(aligned, arrays),
        Way::Datatype(order) => by(&face.message(order).datatype(&displacements), packed, arrays),
        Way::CutByHand(parts) => {
            let cut = face.cut(parts);
            for (part, range) in cut.parts.iter().zip(&cut.ranges) {
                part.unpack(&aligned[range.clone()], arrays);
            }
        }
        Way::CutByDatatype(parts, order) => {
            let cut = face.cut(parts);
            for (datatype, range) in datatypes(&cut, order, &displacements).iter().zip(&cut.ranges) {
                by(datatype, &packed[range.clone()], arrays);
            }
        }
    }
}

/// One exchange of all ranks, and what each must hold then.
fn exchange(name: &str, app: &dyn HaloApp, ranks: usize, [sending, receiving]: [Way; 2], generation: u64) {
    let mut memory: Vec<Arrays> = (0..ranks).map(|rank| Arrays::new(app.arrays(rank))).collect();
    for (rank, arrays) in memory.iter_mut().enumerate() {
        halo::fill(app, rank, arrays, generation);
    }
    let mut stages: Vec<_> = (0..ranks).map(|rank| app.stages(rank).into_iter()).collect();
    while stages[0].len() > 0 {
        let stage: Vec<_> =
            stages.iter_mut().map(|stages| stages.next().expect("as many as the others")).collect();
        let mut mail = HashMap::new();
        for (rank, arrays) in memory.iter().enumerate() {
            for send in &stage[rank].sends {
                let packed = pack(sending, &send.face, arrays);
                let earlier = mail.insert((rank, send.peer, send.tag), packed);
                assert!(
                    earlier.is_none(),
                    "{name}: {rank} sends twice to {} with tag {}",
                    send.peer,
                    send.tag
                );
            }
        }
        for (rank, arrays) in memory.iter_mut().enumerate() {
            for receive in &stage[rank].receives {
                let packed = mail.remove(&(receive.peer, rank, receive.tag));
                let packed = packed.unwrap_or_else(|| panic!("{name}: {rank} receives what nobody sends"));
                unpack(receiving, &receive.face, &packed, arrays);
            }
        }
        assert!(mail.is_empty(), "{name}: nobody receives {:?}", mail.keys());
    }
    for (rank, arrays) in memory.iter().enumerate() {
        if let Err(mismatch) = halo::check(app, rank, arrays, generation) {
            panic!("{name}, {sending:?} to {receiving:?}: {mismatch}");
        }
    }
}

/// The wire orders that an app has.
fn orders(app: &dyn HaloApp) -> &'static [WireOrder] {
    if app.orders_differ() { &[WireOrder::Manual, WireOrder::Ddt] } else { &[WireOrder::Ddt] }
}

#[test]
fn halos_arrive_by_loops_and_by_datatypes() {
    every_app(|name, app, ranks| {
        exchange(name, app, ranks, [Way::Hand; 2], 1);
        for &order in orders(app) {
            exchange(name, app, ranks, [Way::Datatype(order); 2], 2);
        }
        exchange(name, app, ranks, [Way::Hand, Way::Datatype(WireOrder::Manual)], 3);
        exchange(name, app, ranks, [Way::Datatype(WireOrder::Manual), Way::Hand], 4);
    });
}

#[test]
fn halos_arrive_in_parts() {
    every_app(|name, app, ranks| {
        for parts in PARTS {
            exchange(name, app, ranks, [Way::CutByHand(parts), Way::Hand], 5);
            exchange(name, app, ranks, [Way::Hand, Way::CutByHand(parts)], 6);
            let mixed = [Way::CutByHand(parts), Way::CutByDatatype(parts, WireOrder::Manual)];
            exchange(name, app, ranks, mixed, 7);
            for &order in orders(app) {
                exchange(name, app, ranks, [Way::CutByDatatype(parts, order); 2], 8);
            }
        }
    });
}

#[test]
fn the_ends_of_a_transfer_agree() {
    every_app(|name, app, ranks| {
        for rank in 0..ranks {
            for (number, stage) in app.stages(rank).iter().enumerate() {
                for send in &stage.sends {
                    let target = app.target(rank, number, send);
                    let what = format!("{name}: {rank} to {}, tag {}", send.peer, send.tag);
                    let ends = [(rank, &send.face), (send.peer, &target)];
                    for order in [WireOrder::Manual, WireOrder::Ddt] {
                        let [sent, received] = ends.map(|(rank, face)| {
                            let displacements = Arrays::displacements_of(&app.arrays(rank));
                            face.message(order).datatype(&displacements).1.signature()
                        });
                        assert_eq!(sent, received, "{what}: signatures");
                        assert_eq!(sent.uniform(), Some(app.element()), "{what}: element");
                    }
                    for parts in PARTS {
                        let [sent, received] = ends.map(|(_, face)| face.cut(parts).ranges);
                        assert_eq!(sent, received, "{what}: {parts} parts");
                    }
                    let [sent, received] = ends.map(|(_, face)| face.planes().ranges);
                    assert_eq!(sent, received, "{what}: planes");
                }
                let keys = |list: &[halo::Transfer]| list.iter().map(|t| (t.tag, t.peer)).collect::<Vec<_>>();
                for list in [&stage.sends, &stage.receives] {
                    assert!(keys(list).is_sorted(), "{name}: {:?}", keys(list));
                }
            }
        }
    });
}

#[test]
fn nothing_that_a_stage_sends_lies_where_it_receives() {
    every_app(|name, app, ranks| {
        for rank in 0..ranks {
            for stage in app.stages(rank) {
                let mut users = HashMap::new();
                let sides = [(Side::Receive, &stage.receives), (Side::Send, &stage.sends)];
                for (side, transfer) in
                    sides.into_iter().flat_map(|(side, list)| list.iter().map(move |t| (side, t)))
                {
                    for (array, segment) in transfer.face.message(WireOrder::Manual).segments() {
                        for byte in segment.offset..segment.end() {
                            let user = users.insert((array, byte), side);
                            let clash = matches!((user, side), (Some(Side::Receive), _));
                            assert!(
                                !clash,
                                "{name}: {rank} receives where it {side:?}s, byte {byte} of {array}"
                            );
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn a_cut_covers_the_face_and_an_even_one_has_equal_parts() {
    every_app(|name, app, ranks| {
        for transfer in (0..ranks).flat_map(|rank| app.stages(rank)).flat_map(|stage| stage.sends) {
            let face = &transfer.face;
            for cut in PARTS.map(|parts| face.cut(parts)).into_iter().chain([face.planes()]) {
                let mut next = 0;
                for (part, range) in cut.parts.iter().zip(&cut.ranges) {
                    assert_eq!((range.start, range.len()), (next, part.bytes()), "{name}");
                    next = range.end;
                }
                assert_eq!(next, face.bytes(), "{name}");
            }
            assert!(face.planes().parts.iter().all(|plane| plane.bytes() > 0), "{name}");
        }
    });
    let app = halo::find("nas_mg").unwrap();
    let app = app.build(&values(app, &[]), HaloContext { ranks: 8, periodic: true, seed: 1 }).unwrap();
    for stage in app.stages(3) {
        for transfer in stage.sends {
            let planes = transfer.face.planes().parts.len();
            for parts in [1, 2, 3, 4, 5] {
                let one = transfer.face.cut(parts).partition(WireOrder::Ddt, &[0]);
                assert_eq!(one.is_some(), planes.is_multiple_of(parts), "{planes} planes in {parts} parts");
            }
            assert!(transfer.face.planes().partition(WireOrder::Ddt, &[0]).is_some());
        }
    }
}

#[test]
fn every_exchange_is_checked() {
    for test in HALOS {
        assert!(SMALL.iter().any(|(name, _)| *name == test.name), "{} is not checked", test.name);
    }
}

/// How many elements of a rank's array `array` are halo.
fn halo_elements(app: &dyn HaloApp, rank: usize, array: usize) -> usize {
    let cells = app.cells(rank, array);
    (0..app.arrays(rank)[array].elements()).filter(|&element| matches!(cells(element), Cell::Halo(_))).count()
}

#[test]
fn edges_and_corners_belong_to_the_halo_where_the_application_sends_them() {
    let count = |name: &str, changes, ranks, periodic, array| {
        let test = halo::find(name).unwrap();
        let app = test.build(&values(test, changes), HaloContext { ranks, periodic, seed: 1 }).unwrap();
        halo_elements(&*app, 0, array)
    };
    let grid: &[(&str, &str)] = &[("d1", "6"), ("d2", "7"), ("d3", "8")];
    assert_eq!(count("nas_mg", grid, 8, true, 0), 6 * 7 * 8 - 4 * 5 * 6);
    // Rank 0 of 2x2x2 without a period has neighbours on one side of each dimension alone.
    assert_eq!(count("nas_mg", grid, 8, false, 0), 5 * 6 * 7 - 4 * 5 * 6);
    let patch: &[(&str, &str)] = &[("ni", "5"), ("nj", "6"), ("nk", "4")];
    assert_eq!(count("wrf_vec", patch, 4, true, 0), 11 * 12 - 5 * 6);
    assert_eq!(count("wrf_vec", patch, 4, true, 4), 4 * (11 * 12 - 5 * 6));
    assert_eq!(count("wrf_vec", patch, 4, false, 0), 8 * 9 - 5 * 6);
    // A slice in each direction: all of the lattice around the rank's part, but no edges.
    let lattice: &[(&str, &str)] = &[("lx", "4"), ("ly", "6"), ("lz", "2"), ("lt", "8")];
    let sites = (1..9).map(|buffer| count("milc", lattice, 2, true, buffer) / 6);
    assert_eq!(sites.collect::<Vec<_>>(), [48, 48, 192, 192, 64, 64, 96, 96]);
    assert_eq!(
        (
            count("stencil7", &[("bytes", "80")], 8, true, 1),
            count("stencil27", &[("bytes", "80")], 8, false, 1)
        ),
        (60, 70)
    );
    assert_eq!(count("nas_lu", &[("nx", "3"), ("ny", "4")], 4, true, 0), 5 * 2 * (3 + 4));
}

#[test]
fn atoms_reach_the_neighbours_across_edges_and_corners() {
    const ATOMS: u64 = 20;
    let test = halo::find("lammps_full").unwrap();
    let values = values(test, &[("dim1", "20"), ("icount", "15")]);
    let app = test.build(&values, HaloContext { ranks: 8, periodic: true, seed: 1 }).unwrap();
    let tag = app.cells(0, 1);
    let owners: HashSet<u64> = (0..app.arrays(0)[1].elements())
        .filter_map(|atom| match tag(atom) {
            Cell::Halo(id) => Some(id / 8 / ATOMS),
            _ => None,
        })
        .collect();
    for across_faces in [1, 2, 4] {
        assert!(owners.contains(&across_faces));
    }
    assert!(owners.contains(&7), "nothing came from the opposite corner, but from {owners:?}");
}

#[test]
fn ranks_that_do_not_fit_are_refused_with_the_nearest_that_do() {
    let refusal = |name: &str, ranks| {
        let test = halo::find(name).unwrap();
        let context = HaloContext { ranks, periodic: true, seed: 1 };
        test.build(&values(test, &[]), context).err().map(|error| error.to_string())
    };
    assert_eq!(refusal("nas_mg", 3).unwrap(), "nas_mg on 3 ranks: the nearest that work are 2 and 4");
    assert_eq!(refusal("nas_mg", 100).unwrap(), "nas_mg on 100 ranks: the nearest that work are 64 and 128");
    assert_eq!(refusal("fft2d", 3).unwrap(), "fft2d on 3 ranks: the nearest that work are 2 and 4");
    assert_eq!(refusal("fft2d", 513).unwrap(), "fft2d on 513 ranks: the nearest that works is 512");
    for test in HALOS {
        let none = format!("{} on 0 ranks: the nearest that works is 1", test.name);
        assert_eq!(refusal(test.name, 0), Some(none));
    }
    for name in [
        "wrf_vec",
        "wrf_sa",
        "milc",
        "nas_lu",
        "specfem3d_mt",
        "specfem3d_oc",
        "lammps_full",
        "stencil7",
        "stencil27",
    ] {
        assert_eq!(refusal(name, 7), None);
    }
}

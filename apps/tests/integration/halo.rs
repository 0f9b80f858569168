//! Exchanges between many ranks, all of them in one process: every method delivers the expected data.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::{exchange, field, lines, rows, values};
use datatypes::{Layout, interpret};
use ddtbench_apps::halo::{self, Cell, HaloApp, HaloContext, HaloTest};
use ddtbench_apps::{Arrays, Cut, Face, Loops, Side, Values, WireOrder};

/// Numbers of ranks: a single one, two that are neighbours on both sides, a prime, a square, a cube.
const RANKS: [usize; 5] = [1, 2, 3, 4, 8];

/// Numbers of parts that divide some faces evenly, and some not.
const PARTS: [usize; 4] = [1, 2, 3, 5];

/// Exchanges with values that make small arrays.
fn small() -> impl Iterator<Item = (&'static HaloTest, Values)> {
    rows(include_str!("tables/halo_values.txt")).map(|(name, given)| {
        let test = halo::find(name).unwrap();
        (test, values(test, &given).unwrap())
    })
}

/// An exchange with these values between so many ranks of a periodic grid.
fn built(name: &str, changes: &[(&str, &str)], ranks: usize) -> Box<dyn HaloApp> {
    exchange(name, changes, HaloContext::periodic(ranks)).unwrap()
}

/// Calls `check` for all small values and numbers of ranks that an exchange can have, with and without a border.
fn every_app(check: impl Fn(&str, &dyn HaloApp, usize)) {
    for (test, values) in small() {
        let (name, mut count) = (test.name, 0);
        for ranks in RANKS {
            for periodic in [true, false] {
                let context = HaloContext { periodic, ..HaloContext::periodic(ranks) };
                let Ok(app) = test.build(&values, context) else { continue };
                count += 1;
                check(&format!("{name} {values}, {ranks} ranks, periodic {periodic}"), &*app, ranks);
            }
        }
        // Messages between given ranks need these.
        assert!(count >= if name == "messages" { 4 } else { 8 }, "{name} {values}: too few ranks work");
    }
}

/// How a face is packed and unpacked.
#[derive(Clone, Copy, Debug)]
enum Way {
    Hand(Loops),
    Datatype(WireOrder),
    /// Parts, each packed by hand.
    CutByHand(usize),
    /// Parts, each with its own datatype, or with one for all parts if there is one.
    CutByDatatype(usize, WireOrder),
}

impl Way {
    const HAND: Self = Self::Hand(Loops::Plain);
    const TUNED: Self = Self::Hand(Loops::Tuned);
}

/// The datatypes of a cut face, with the byte to pass each with.
fn datatypes(cut: &Cut, order: WireOrder, displacements: &[i64]) -> Vec<(i64, Layout)> {
    let all: Vec<(i64, Layout)> = match cut.partition(order, displacements) {
        Some((origin, layout)) => {
            (0..cut.parts.len() as i64).map(|p| (origin + p * layout.extent(), layout.clone())).collect()
        }
        None => cut.parts.iter().map(|part| part.message(order).datatype(displacements)).collect(),
    };
    // Only layouts of users take the bounds that the MPI reports.
    assert!(all.iter().all(|(_, layout)| layout.has_same_places_everywhere()));
    all
}

/// A part of a face: how it is packed and unpacked.
enum Part {
    Hand(Face, Loops),
    Datatype(i64, Layout),
}

/// The parts of a face, and the bytes of the message that each has.
fn parts(way: Way, face: &Face, displacements: &[i64]) -> Vec<(Range<usize>, Part)> {
    let datatype = |(origin, layout): (i64, Layout)| Part::Datatype(origin, layout);
    let (cut, all) = match way {
        Way::Hand(loops) => (face.cut(1), vec![Part::Hand(face.clone(), loops)]),
        Way::Datatype(order) => (face.cut(1), vec![datatype(face.message(order).datatype(displacements))]),
        Way::CutByHand(parts) => {
            let cut = face.cut(parts);
            let all = cut.parts.iter().map(|part| Part::Hand(part.clone(), Loops::Plain)).collect();
            (cut, all)
        }
        Way::CutByDatatype(parts, order) => {
            let cut = face.cut(parts);
            let all = datatypes(&cut, order, displacements).into_iter().map(datatype).collect();
            (cut, all)
        }
    };
    cut.ranges.into_iter().zip(all).collect()
}

fn pack(way: Way, face: &Face, arrays: &Arrays) -> Vec<u8> {
    // Words, because of the alignment.
    let mut words = vec![0u64; face.bytes().div_ceil(8)];
    let packed = &mut bytemuck::cast_slice_mut(&mut words)[..face.bytes()];
    for (range, part) in parts(way, face, &arrays.displacements()) {
        match part {
            Part::Hand(face, loops) => face.pack(loops, arrays, &mut packed[range]),
            Part::Datatype(origin, layout) => {
                let start = arrays.place(0).start as i64;
                let bytes = interpret::pack(&layout, 1, arrays.memory(), start + origin).unwrap();
                packed[range].copy_from_slice(&bytes);
            }
        }
    }
    packed.to_vec()
}

fn unpack(way: Way, face: &Face, packed: &[u8], arrays: &mut Arrays) {
    assert_eq!(packed.len(), face.bytes(), "both ends have one size");
    let mut words = vec![0u64; packed.len().div_ceil(8)];
    let aligned = &mut bytemuck::cast_slice_mut(&mut words)[..packed.len()];
    aligned.copy_from_slice(packed);
    for (range, part) in parts(way, face, &arrays.displacements()) {
        match part {
            Part::Hand(face, loops) => face.unpack(loops, &aligned[range], arrays),
            Part::Datatype(origin, layout) => {
                let start = arrays.place(0).start as i64;
                interpret::unpack(&layout, 1, &packed[range], arrays.memory_mut(), start + origin).unwrap();
            }
        }
    }
}

/// All ranks of a run, filled for an exchange.
struct World<'a> {
    name: &'a str,
    app: &'a dyn HaloApp,
    memory: Vec<Arrays>,
    /// The memory of each rank, as it was filled.
    filled: Vec<Vec<u8>>,
    /// The memory of each rank after an exchange, once one has been checked.
    arrived: Vec<Vec<u8>>,
}

impl<'a> World<'a> {
    fn new(name: &'a str, app: &'a dyn HaloApp, ranks: usize) -> Self {
        let mut memory: Vec<Arrays> = (0..ranks).map(|rank| Arrays::new(app.arrays(rank))).collect();
        for (rank, arrays) in memory.iter_mut().enumerate() {
            field::fill(app, rank, arrays);
        }
        let filled = memory.iter().map(|arrays| arrays.memory().to_vec()).collect();
        Self { name, app, memory, filled, arrived: Vec::new() }
    }

    /// One exchange. The result is compared with the cells the first time, and with that first result afterwards.
    fn exchange(&mut self, ways: [Way; 2]) {
        for (arrays, filled) in self.memory.iter_mut().zip(&self.filled) {
            arrays.memory_mut().copy_from_slice(filled);
        }
        self.all_stages(ways);
        let as_before = |(rank, arrived): (usize, &Vec<u8>)| self.memory[rank].memory() == *arrived;
        if !self.arrived.is_empty() && self.arrived.iter().enumerate().all(as_before) {
            return;
        }
        for (rank, arrays) in self.memory.iter().enumerate() {
            if let Err(mismatch) = field::check(self.app, rank, arrays) {
                panic!("{}, {ways:?}: {mismatch}", self.name);
            }
        }
        self.arrived = self.memory.iter().map(|arrays| arrays.memory().to_vec()).collect();
    }

    fn all_stages(&mut self, [sending, receiving]: [Way; 2]) {
        let name = self.name;
        let stages = |rank| self.app.stages(rank).into_iter();
        let mut stages: Vec<_> = (0..self.memory.len()).map(stages).collect();
        while stages[0].len() > 0 {
            let stage: Vec<_> =
                stages.iter_mut().map(|all| all.next().expect("as many as the others")).collect();
            let mut mail = HashMap::new();
            for (rank, arrays) in self.memory.iter().enumerate() {
                for send in &stage[rank].sends {
                    let packed = pack(sending, &send.face, arrays);
                    let earlier = mail.insert((rank, send.peer, send.tag), packed);
                    assert!(earlier.is_none(), "{name}: {rank} sends twice to {}, {}", send.peer, send.tag);
                }
            }
            for (rank, arrays) in self.memory.iter_mut().enumerate() {
                for receive in &stage[rank].receives {
                    let packed = mail.remove(&(receive.peer, rank, receive.tag));
                    let packed = packed
                        .unwrap_or_else(|| panic!("{name}: {rank} receives a message that was not sent"));
                    unpack(receiving, &receive.face, &packed, arrays);
                }
            }
            assert!(mail.is_empty(), "{name}: not received: {:?}", mail.keys());
        }
    }
}

fn orders(app: &dyn HaloApp) -> &'static [WireOrder] {
    let mut sends = app.stages(0).into_iter().flat_map(|stage| stage.sends);
    match sends.any(|send| send.face.orders_differ()) {
        true => &[WireOrder::Manual, WireOrder::Ddt],
        false => &[WireOrder::Ddt],
    }
}

#[test]
fn halos_arrive_by_loops_and_by_datatypes() {
    every_app(|name, app, ranks| {
        let mut world = World::new(name, app, ranks);
        world.exchange([Way::HAND; 2]);
        world.exchange([Way::HAND, Way::TUNED]);
        world.exchange([Way::TUNED, Way::HAND]);
        for &order in orders(app) {
            world.exchange([Way::Datatype(order); 2]);
        }
        world.exchange([Way::HAND, Way::Datatype(WireOrder::Manual)]);
        world.exchange([Way::Datatype(WireOrder::Manual), Way::HAND]);
    });
}

#[test]
fn halos_arrive_in_parts() {
    every_app(|name, app, ranks| {
        let mut world = World::new(name, app, ranks);
        for parts in PARTS {
            world.exchange([Way::CutByHand(parts), Way::HAND]);
            world.exchange([Way::HAND, Way::CutByHand(parts)]);
            world.exchange([Way::CutByHand(parts), Way::CutByDatatype(parts, WireOrder::Manual)]);
            for &order in orders(app) {
                world.exchange([Way::CutByDatatype(parts, order); 2]);
            }
        }
    });
}

/// A message along a dimension is for the next rank in that direction; ranks are numbered as on a grid of MPI.
#[test]
fn messages_along_a_given_grid_go_to_the_next_rank() {
    for (name, given) in rows(include_str!("tables/grids.txt")) {
        let dims: Vec<usize> = given[0].1.split('x').map(|length| length.parse().unwrap()).collect();
        let ranks = dims.iter().product();
        let context = HaloContext { dims: Some(dims.clone()), ..HaloContext::periodic(ranks) };
        let app = exchange(name, &given[1..], context).unwrap();
        assert_eq!(app.grid().unwrap().dims, dims, "{name}");
        World::new(name, &*app, ranks).exchange([Way::HAND; 2]);
        for rank in 0..ranks {
            for send in app.stages(rank).iter().flat_map(|stage| &stage.sends) {
                let (dimension, up) = app.along_grid(send.tag).unwrap();
                let stride: usize = dims[dimension + 1..].iter().product();
                let (at, length) = (rank / stride % dims[dimension], dims[dimension]);
                let next = if up { (at + 1) % length } else { (at + length - 1) % length };
                assert_eq!(send.peer, rank - at * stride + next * stride, "{name}: {rank}, tag {}", send.tag);
            }
        }
    }
    let app = built("stencil27", &[], 8);
    assert!(app.stages(0)[0].sends.iter().all(|send| app.along_grid(send.tag).is_none()));
}

#[test]
fn a_stencil_sends_other_bytes_along_each_dimension() {
    let app = built("stencil7", &[("bytes", "1KiBx80x8")], 27);
    let stage = app.stages(13).remove(0);
    let sent: Vec<_> = stage.sends.iter().map(|send| (send.peer, send.face.bytes())).collect();
    assert_eq!(sent, [(4, 1024), (10, 80), (12, 8), (14, 8), (16, 80), (22, 1024)]);
    World::new("stencil7", &*app, 27).exchange([Way::Datatype(WireOrder::Ddt); 2]);
}

#[test]
fn a_halo_that_does_not_arrive_is_found() {
    let app = built("nas_mg", &[], 8);
    let world = World::new("nas_mg", &*app, 8);
    assert!(field::check(&*app, 0, &world.memory[0]).unwrap_err().starts_with("rank 0, u, element 0:"));
}

#[test]
fn the_ends_of_a_transfer_agree() {
    every_app(|name, app, ranks| {
        for rank in 0..ranks {
            let stages = app.stages(rank);
            let sends: Vec<_> =
                stages.iter().flat_map(|stage| &stage.sends).map(|t| (t.peer, t.tag)).collect();
            assert_eq!(sends.iter().collect::<HashSet<_>>().len(), sends.len(), "{name}: tags of {rank}");
            for (number, stage) in stages.iter().enumerate() {
                for send in &stage.sends {
                    let target = app.target(rank, number, send);
                    let what = format!("{name}: {rank} to {}, tag {}", send.peer, send.tag);
                    let ends = [(rank, &send.face), (send.peer, &target)];
                    for order in [WireOrder::Manual, WireOrder::Ddt] {
                        let [sent, received] = ends.map(|(rank, face)| {
                            let displacements = Arrays::displacements_of(&app.arrays(rank));
                            face.message(order).datatype(&displacements).1
                        });
                        assert!(sent.signature().eq(received.signature()), "{what}: signatures");
                    }
                    for parts in PARTS {
                        let [sent, received] = ends.map(|(_, face)| face.cut(parts).ranges);
                        assert_eq!(sent, received, "{what}: {parts} parts");
                    }
                    let [sent, received] = ends.map(|(_, face)| face.planes().ranges);
                    assert_eq!(sent, received, "{what}: planes");
                }
                let keys = |list: &[halo::Transfer]| list.iter().map(|t| (t.tag, t.peer)).collect::<Vec<_>>();
                for receive in &stage.receives {
                    assert_eq!(app.source(rank, number, receive).bytes(), receive.face.bytes(), "{name}");
                }
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
    for stage in built("nas_mg", &[], 8).stages(3) {
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
    for test in halo::all() {
        assert!(small().any(|(checked, _)| checked.name == test.name), "{} is not checked", test.name);
    }
}

/// A world of two ranks, compared byte by byte with the layouts: data sent to the next rank is at the place
/// of the receiver's layout, and nothing else has changed.
#[test]
fn the_bytes_of_a_layout_are_those_of_the_text() {
    let given = [("send", "vector(3, 1, 4, int32)"), ("receive", "contiguous(3, int32) @ 4")];
    let app = built("layout", &[given[0], given[1], ("neighbours", "next")], 2);
    let mut world = World::new("layout", &*app, 2);
    world.all_stages([Way::Datatype(WireOrder::Ddt); 2]);
    for (rank, other) in [(0, 1), (1, 0)] {
        let [sent, filled] = [&world.memory[other], &world.memory[rank]].map(|arrays| arrays.slice::<u32>(0));
        assert_eq!(world.memory[rank].slice::<u32>(1), [0xA5A5_A5A5, sent[0], sent[4], sent[8]]);
        assert_eq!(filled.len(), 9);
        assert!([1, 2, 3, 5, 6, 7].iter().all(|&gap| filled[gap] == 0xA5A5_A5A5), "{filled:x?}");
    }
}

#[test]
fn messages_are_as_large_as_in_the_ping_pong() {
    for row in lines(include_str!("tables/halo_sizes.txt")) {
        let cells: Vec<&str> = row.split(' ').collect();
        let [name, set, ranks, periodic, stage, tag, bytes] = cells[..] else { panic!("{row}") };
        let [ranks, stage, tag, bytes] = [ranks, stage, tag, bytes].map(|number| number.parse().unwrap());
        let (test, periodic) = (halo::find(name).unwrap(), periodic == "true");
        let context = HaloContext { periodic, ..HaloContext::periodic(ranks) };
        let app = test.build(&test.set(set).unwrap(), context).unwrap();
        let sends = (0..ranks).flat_map(|rank| app.stages(rank)[stage].sends.clone());
        let found: HashSet<usize> =
            sends.filter(|send| send.tag == tag).map(|send| send.face.bytes()).collect();
        assert_eq!(found, HashSet::from([bytes]), "{row}");
    }
}

#[test]
fn edges_and_corners_belong_to_the_halo_where_the_application_sends_them() {
    for (name, mut given) in rows(include_str!("tables/halo_elements.txt")) {
        let mut take = |key: &str| given.remove(given.iter().position(|(name, _)| *name == key).unwrap()).1;
        let [ranks, array, elements] =
            ["ranks", "array", "elements"].map(|key| take(key).parse::<usize>().unwrap());
        let periodic = take("periodic") == "yes";
        let app = exchange(name, &given, HaloContext { periodic, ..HaloContext::periodic(ranks) }).unwrap();
        let (cells, all) = (app.cells(0, array), app.arrays(0)[array].elements());
        let halo = (0..all).filter(|&element| matches!(cells(element), Cell::Halo(_))).count();
        assert_eq!(halo, elements, "{name}, array {array}, periodic {periodic}");
    }
}

#[test]
fn atoms_reach_the_neighbours_across_edges_and_corners() {
    const ATOMS: u64 = 20;
    let app = built("lammps_full", &[("dim1", "20"), ("icount", "15")], 8);
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

//! Every test, every parameter set: hand-written loops and layouts agree byte for byte.

use std::sync::atomic::{AtomicUsize, Ordering};

use datatypes::{Layout, interpret};
use ddtbench_apps::{
    Arrays, Context, Exchange, Loops, MicroApp, ParameterSet, Preset, Side, TESTS, Test, WireOrder,
};

use crate::{rows, values};

/// Byte of memory that no loop may change, and of the packed data before it is packed.
const POISON: u8 = 0xA5;

fn build(test: &Test, set: &ParameterSet, context: Context) -> MicroApp {
    test.build(&test.set(set.name).unwrap(), context).unwrap()
}

fn orders(app: &MicroApp) -> &'static [WireOrder] {
    if app.send.orders_differ() { &[WireOrder::Manual, WireOrder::Ddt] } else { &[WireOrder::Manual] }
}

/// Fills memory so that no two aligned words are equal: a swapped or shifted value cannot pass.
fn fill_unique(memory: &mut [u8], salt: u32) {
    for (i, word) in memory.chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&(salt + i as u32).wrapping_mul(0x9E37_79B1).to_ne_bytes());
    }
}

/// The datatype of a message, and the place in memory to pass it with.
fn datatype(app: &MicroApp, arrays: &Arrays, side: Side, order: WireOrder) -> (i64, Layout) {
    let (origin, layout) = app.message(side, order).datatype(&arrays.displacements());
    (origin + arrays.place(0).start as i64, layout)
}

/// On failure, prints only the first byte that differs, not megabytes of both.
fn assert_same(left: &[u8], right: &[u8], what: &str) {
    assert_eq!(left.len(), right.len(), "{what}: lengths differ");
    if left != right {
        let at = left.iter().zip(right).position(|(a, b)| a != b).unwrap();
        panic!("{what}: byte {at} of {} is {:#04x}, not {:#04x}", left.len(), left[at], right[at]);
    }
}

fn check_pack(name: &str, app: &MicroApp) {
    let mut arrays = Arrays::new(app.arrays.clone());
    fill_unique(arrays.memory_mut(), 1);
    let (origin, layout) = datatype(app, &arrays, Side::Send, WireOrder::Manual);
    let by_layout = interpret::pack(&layout, 1, arrays.memory(), origin).unwrap();
    assert_eq!(by_layout.len() as u64, app.message_bytes(), "{name}: bytes of the message");
    for loops in [Loops::Plain, Loops::Tuned] {
        let mut by_hand = vec![POISON; by_layout.len()];
        app.send.pack(loops, &arrays, &mut by_hand);
        assert_same(&by_hand, &by_layout, &format!("{name}: packed by {loops:?}"));
    }
    let mut in_parts = vec![POISON; by_layout.len()];
    let cut = app.send.cut(3);
    for (part, range) in cut.parts.iter().zip(cut.ranges) {
        let mut packed = vec![0_u64; range.len().div_ceil(8)];
        let packed = &mut bytemuck::cast_slice_mut(&mut packed)[..range.len()];
        part.pack(Loops::Plain, &arrays, packed);
        in_parts[range].copy_from_slice(packed);
    }
    assert_same(&in_parts, &by_layout, &format!("{name}: packed in parts"));
}

fn check_unpack(name: &str, app: &MicroApp) {
    let mut arrays = Arrays::new(app.arrays.clone());
    let mut packed = vec![0; app.message_bytes() as usize];
    fill_unique(&mut packed, 7);
    // Bytes outside the layout are unchanged, including gaps and guards.
    let mut by_layout = vec![POISON; arrays.memory().len()];
    let (origin, layout) = datatype(app, &arrays, Side::Receive, WireOrder::Manual);
    interpret::unpack(&layout, 1, &packed, &mut by_layout, origin).unwrap();
    for loops in [Loops::Plain, Loops::Tuned] {
        arrays.memory_mut().fill(POISON);
        app.receive.unpack(loops, &packed, &mut arrays);
        assert_same(arrays.memory(), &by_layout, &format!("{name}: unpacked by {loops:?}"));
    }
}

/// Calls `check` for the parameter sets of all tests, in parallel on all cores. It leaves out the large sets,
/// for which the oracle would store every value with its place; they differ from the others only in size.
fn every_app(check: impl Fn(&str, &MicroApp) + Sync) {
    let (next, cores) = (AtomicUsize::new(0), std::thread::available_parallelism().map_or(1, usize::from));
    let work = || {
        while let Some(test) = TESTS.get(next.fetch_add(1, Ordering::Relaxed)) {
            for set in test.sets.iter().filter(|set| set.preset < Preset::Full) {
                check(&format!("{} {}", test.name, set.name), &build(test, set, Context::default()));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
}

#[test]
fn every_test_moves_the_right_bytes_of_one_type_signature() {
    every_app(|name, app| {
        check_pack(name, app);
        check_unpack(name, app);
        for &order in orders(app) {
            let displacements = vec![0; app.arrays.len()];
            let [sent, received] =
                [Side::Send, Side::Receive].map(|side| app.message(side, order).datatype(&displacements).1);
            assert!(sent.signature().eq(received.signature()), "{name} {order:?}");
        }
        let is_one_run = || app.message(Side::Receive, WireOrder::Ddt).segments().count() == 1;
        assert!(!app.receives_in_place || is_one_run(), "{name} is received in place");
    });
}

#[test]
fn other_values_than_the_sets_move_the_right_bytes() {
    for (name, changes) in rows(include_str!("tables/values.txt")) {
        let test = ddtbench_apps::find(name).unwrap();
        let values = values(test, &changes).unwrap();
        let app = test.build(&values, Context::default()).unwrap();
        check_pack(&format!("{name} {values}"), &app);
        check_unpack(&format!("{name} {values}"), &app);
    }
}

#[test]
fn large_sets_have_the_right_sizes_and_lie_in_their_arrays() {
    for test in TESTS {
        for set in test.sets_of(Preset::Full) {
            let app = build(test, set, Context::default());
            for side in [Side::Send, Side::Receive] {
                let message = app.message(side, WireOrder::Ddt);
                assert_eq!(message.size(), app.message_bytes(), "{} {}", test.name, set.name);
                for piece in &message.pieces {
                    let (first, end) = (
                        piece.origin_bytes + piece.layout.true_lower_bound(),
                        piece.origin_bytes + piece.layout.true_upper_bound(),
                    );
                    let bytes = app.arrays[piece.array].bytes() as i64;
                    assert!(0 <= first && end <= bytes, "{} {}: {first}..{end}", test.name, set.name);
                    // Only layouts of users take the bounds that the MPI reports.
                    assert!(piece.layout.has_same_places_everywhere(), "{} {}", test.name, set.name);
                }
            }
        }
    }
}

#[test]
fn both_orders_bring_every_value_to_the_same_place() {
    let checked = AtomicUsize::new(0);
    every_app(|name, app| {
        if !app.send.orders_differ() {
            return;
        }
        // The place where each byte is read, and the place where it is written.
        let [manual, ddt] = [WireOrder::Manual, WireOrder::Ddt].map(|order| {
            let [sent, received] = [Side::Send, Side::Receive].map(|side| {
                let bytes = |(array, run): (usize, datatypes::Segment)| {
                    (run.offset..run.end()).map(move |byte| (array, byte))
                };
                app.message(side, order).segments().flat_map(bytes).collect::<Vec<_>>()
            });
            let mut pairs: Vec<_> = sent.into_iter().zip(received).collect();
            pairs.sort_unstable();
            pairs
        });
        assert_eq!(manual.len() as u64, app.message_bytes(), "{name}");
        assert!(manual == ddt, "{name}");
        checked.fetch_add(1, Ordering::Relaxed);
    });
    assert!(checked.into_inner() > 0, "no test has two orders");
}

#[test]
fn the_blocks_of_an_all_to_all_make_the_message() {
    let fft = ddtbench_apps::find("fft2d").unwrap();
    for ranks in [1, 2, 4, 8] {
        let app = build(fft, fft.quick_set(), Context { ranks, ..Context::default() });
        check_pack(&format!("fft2d on {ranks} ranks"), &app);
        check_unpack(&format!("fft2d on {ranks} ranks"), &app);
        let Exchange::AllToAll { send_block, receive_block } = &app.exchange else { panic!("no all-to-all") };
        for (side, block) in [(Side::Send, send_block), (Side::Receive, receive_block)] {
            let whole = Layout::contiguous(ranks as i64, block).unwrap();
            assert_eq!(app.message(side, WireOrder::Ddt).pieces[0].layout, whole);
        }
    }
}

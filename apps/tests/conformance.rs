//! Every test, every parameter set: hand-written loops, layouts and literal places agree byte for byte.

use apps::{Arrays, Context, MicroApp, Side, TESTS, Test, WireOrder};
use datatypes::interpret;

/// Byte of memory that no loop may change, and packed bytes before a pack.
const POISON: u8 = 0xA5;

/// Every micro-app of the table, with its name. Sets with arrays beyond this size are left to the run itself.
fn every_app(mut check: impl FnMut(&Test, &str, &dyn MicroApp)) {
    for test in TESTS {
        for set in test.sets {
            let app = test.build(&test.set(set.name).unwrap(), Context::default()).unwrap();
            check(test, set.name, &*app);
        }
    }
}

/// Fills memory so that no two aligned words are equal: a swapped or shifted value cannot pass.
fn fill_unique(arrays: &mut Arrays) {
    for (i, word) in arrays.memory_mut().chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&(i as u32).wrapping_mul(0x9E37_79B1).to_ne_bytes());
    }
}

/// What must be packed, read place by place.
fn packed_by_places(app: &dyn MicroApp, arrays: &Arrays, order: WireOrder) -> Vec<u8> {
    let places = app.places(Side::Send, order);
    let bytes = |place: &apps::Place| {
        let size = arrays.specs()[place.array].element.size() as usize;
        let start = arrays.place(place.array).start + place.element * size;
        arrays.memory()[start..start + size].to_vec()
    };
    places.iter().flat_map(bytes).collect()
}

fn packed_by_layout(app: &dyn MicroApp, arrays: &Arrays, order: WireOrder) -> Vec<u8> {
    let (origin, layout) = app.message(Side::Send, order).datatype(&arrays.displacements());
    let origin = origin + arrays.place(0).start as i64;
    interpret::pack(&layout, 1, arrays.memory(), origin).unwrap()
}

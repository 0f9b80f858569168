//! Loops in C, compiled and run, against the oracle.

use std::fmt::Write;

use ddtbench_datatypes::{InArray, Layout, interpret, loop_in_c};

use crate::{output_of, trees};

/// The largest array, in bytes, so that the program's output stays small.
const MOST_BYTES: i64 = 1 << 14;

/// Bytes before and after the data, which must not change.
const MARGIN: i64 = 64;

fn fill(bytes: usize, of: impl Fn(usize) -> usize) -> Vec<u8> {
    (0..bytes).map(|i| of(i) as u8).collect()
}

/// Also layouts that overlap themselves: the loop goes in the order of the type map.
fn layouts() -> Vec<Layout> {
    let written = [
        "vector(3, 2, 5, double)",
        "vector(3, 1, -4, double)",
        "resized(0, 100, vector(2, 1, 3, float))",
        "contiguous(3, resized(0, 24, vector(2, 1, 2, int32)))",
        "indexed([3, 1, 2], [9, 0, 20], double)",
        "indexed_block(2, [9, 0, 20], float_complex)",
        "hindexed([1, 2], [3, 40], double)",
        "struct([1, 2], [0, 8], [int32, double])",
        "struct([2, 1], [0, 64], [vector(2, 1, 3, double), double])",
        "subarray([6, 5, 4], [3, 2, 2], [1, 2, 1], c, int16)",
        "long_double",
    ];
    let written = written.iter().map(|text| text.parse().unwrap());
    let random = trees(300).map(|(_, layout)| layout);
    let fits = |layout: &Layout| layout.size() > 0 && place(layout).1 <= MOST_BYTES;
    written.chain(random).filter(fits).collect()
}

#[test]
fn loops_move_the_bytes_of_their_layouts() {
    let layouts = layouts();
    assert!(layouts.len() > 150, "{}", layouts.len());
    let mut program = "#include <stdio.h>\n#include <string.h>\n".to_owned();
    let mut calls = String::new();
    for (n, layout) in layouts.iter().enumerate() {
        let piece = [InArray { array: "a", origin_bytes: 0, layout }];
        let mut code = loop_in_c(&piece, &piece);
        for name in ["pack(", "unpack("] {
            code = code.replace(&format!("void {name}"), &format!("void f{n}_{name}"));
        }
        for k in (0..100).rev() {
            for list in ["at", "count"] {
                code = code.replace(&format!("{list}{k}["), &format!("{list}_{n}_{k}["));
            }
        }
        program += &code;
        let (origin, bytes) = place(layout);
        let size = layout.size();
        let _ = write!(
            calls,
            "  for (int i = 0; i < {bytes}; i++) array[i] = i * 7 + i / 251;\n  f{n}_pack(array + {origin}, message);\n\
               fwrite(message, 1, {size}, stdout);\n  for (int i = 0; i < {size}; i++) message[i] = i * 11 + i / 253;\n\
               f{n}_unpack(message, array + {origin});\n  fwrite(array, 1, {bytes}, stdout);\n"
        );
    }
    let _ = write!(
        program,
        "static char array[{}] __attribute__((aligned(64))), message[1 << 20] __attribute__((aligned(64)));\nint main(void)\n{{\n{calls}}}\n",
        MOST_BYTES
    );
    // Arrays of any layout are not aligned to their values.
    let out = output_of(&program, &["-O0", "-Wall", "-Werror"]);
    let mut out = &out[..];
    for layout in &layouts {
        let (origin, bytes) = place(layout);
        let mut array = fill(bytes as usize, |i| i * 7 + i / 251);
        let packed = interpret::pack(layout, 1, &array, origin).unwrap();
        assert!(out.split_off(..packed.len()).unwrap() == packed, "{} packed", layout.to_text());
        let message = fill(packed.len(), |i| i * 11 + i / 253);
        interpret::unpack(layout, 1, &message, &mut array, origin).unwrap();
        assert!(out.split_off(..array.len()).unwrap() == array, "{} unpacked", layout.to_text());
    }
    assert!(out.is_empty());
}

/// The byte of displacement 0 in the array, and the array's bytes.
fn place(layout: &Layout) -> (i64, i64) {
    let origin = MARGIN - (layout.true_lower_bound() & !15).min(0);
    (origin, origin + layout.true_upper_bound().max(0) + MARGIN)
}

#[test]
fn several_arrays_are_a_table_and_values_have_their_type() {
    let layout: Layout = "vector(2, 3, 5, double)".parse().unwrap();
    let pieces = ["u", "v"].map(|array| InArray { array, origin_bytes: 16, layout: &layout });
    let code = loop_in_c(&pieces, &pieces[..1]);
    for line in [
        "void pack(const void *const *arrays, void *message)",
        "    const double *v = arrays[1];",
        "            *m++ = v[2 + 5 * i0 + i1];",
        "void unpack(const void *message, void *array)",
        "            u[2 + 5 * i0 + i1] = *m++;",
    ] {
        assert!(code.lines().any(|known| known == line), "{line} in {code}");
    }
}

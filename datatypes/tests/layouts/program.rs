//! Offsets and sizes of structs, against the C compiler's.

use std::fmt::Write;

use ddtbench_datatypes::{Constructor, Definitions, Language, program};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::output_of;

/// Types of members, with their names.
const TYPES: &str = "char m, short m[3], int m, unsigned long long m, float m[2][3], double m, long double m, \
     double complex m[1], float complex m, bool m, int8_t m[5], size_t m, struct { char a; short b; } m[3], double * m[2]";

#[test]
fn structs_have_the_offsets_and_sizes_of_the_compiler() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut structs, mut prints, mut found) = (String::new(), String::new(), Vec::new());
    for n in 0..100 {
        let mut wanted = vec![format!("sizeof(struct s{n})"), format!("sizeof v{n}[1].m0")];
        let _ = writeln!(structs, "struct s{n} {{");
        for m in 0..random.random_range(1..9) {
            let types: Vec<&str> = TYPES.split(", ").collect();
            let member = types[random.random_range(0..types.len())];
            let _ = writeln!(structs, "  {};", member.replace(" m", &format!(" m{m}")));
            wanted.push(format!("offsetof(struct s{n}, m{m})"));
        }
        if n > 0 {
            let _ = writeln!(structs, "  struct s{} last[2];", random.random_range(0..n));
            wanted.push(format!("offsetof(struct s{n}, last[1].m0)"));
        }
        let _ = writeln!(structs, "}} v{n}[4];");
        let (count, list) = (wanted.len(), wanted.join(", "));
        let _ = writeln!(
            prints,
            "  {{ long d[] = {{{list}}};\n    for (int i = 0; i < {count}; i++) printf(\"%ld\\n\", d[i]); }}"
        );
        let call = format!(
            "MPI_Aint d[] = {{{list}}}; MPI_Type_create_hindexed_block({count}, 1, d, MPI_BYTE, &t);"
        );
        let (_, layout) =
            program(&(structs.clone() + &call), |_, _| Ok(Vec::new()), &Definitions::default()).unwrap();
        let Constructor::HindexedBlock { displacements_bytes, .. } = layout.constructor() else {
            panic!("{call}")
        };
        found.extend(displacements_bytes.clone());
    }
    let headers =
        ["complex", "stdbool", "stddef", "stdint", "stdio"].map(|name| format!("#include <{name}.h>\n"));
    let code = format!("{}{structs}int main(void) {{\n{prints}  return 0;\n}}\n", headers.concat());
    let out = output_of(&code, &[]);
    let expected: Vec<i64> =
        String::from_utf8(out).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert!(found.len() > 500);
    assert_eq!(found, expected);
}

#[test]
fn printed_programs_are_read_as_their_layouts() {
    for (seed, layout) in crate::trees(600) {
        for language in [Language::C, Language::Fortran] {
            let code = layout.code(language);
            // Implied loops of Fortran are not read.
            if code.contains(", i = 0, ") {
                continue;
            }
            let (_, read) = program(&code, |_, _| Ok(Vec::new()), &Definitions::default())
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{code}"));
            assert_eq!(read.to_text(), layout.to_text(), "seed {seed}: {code}");
        }
    }
}

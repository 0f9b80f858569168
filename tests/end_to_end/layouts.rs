//! Any layout: given as text or in a file, and measured without its own loops. `typed/layouts.txt` tests more.

use apps::{Context, LAYOUT};
use ddtbench::experiments::Kind;
use ddtbench::experiments::pingpong::methods::can_by_name;
use ddtbench::model::conditions::MemoryKind;
use libtest_mimic::Trial;

use super::results::Row;
use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::Measuring;

/// Short, because the test does not examine figures.
const SHORT: &str = "--max-time 0.02 --min-repetitions 4";

/// Two arrays, several types, a count, a place, an order of bytes that goes back; received into other places.
const FILE: &str = "\
send = \"3 * hvector(4, 1, -24, double) @ 80 + struct([1, 2], [0, 8], [int32, double])\"
receive = \"struct([12, 1], [0, 128], [double, int32]) + contiguous(2, double)\"
";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("a file and a text are measured by all methods that need no loop", measured),
        ("types that MPIs read in several ways are right on each of them", read_in_several_ways),
    ];
    trials_on(&MPIS, Need::AllProcessors, "layouts", checks)
}

fn methods(layout: &str) -> Vec<String> {
    let mut values = LAYOUT.set(LAYOUT.quick_set().name).unwrap();
    values.assign("send", layout).unwrap();
    let app = LAYOUT.build(&values, Context::default()).unwrap();
    let mut methods = Kind::PingPong.usual_methods_in(&[MemoryKind::Host], std::iter::once(LAYOUT.name));
    methods.retain(|method| can_by_name(&app, method));
    methods
}

fn measured(mpi: &Mpi) {
    let distributed = "MPI_Type_create_darray(4, 1, 2, {9, 8}, {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, {2, 4}, {2, 2}, \
         MPI_ORDER_FORTRAN, MPI_DOUBLE, &mine)";
    let line = "run --layout 'two arrays.toml' --layout 'vector(40, 5, 2050, double)'";
    let line = &format!("{line} --layout '{distributed}'");
    let kept = Measuring::on(mpi, format!("{line} {SHORT}")).file("two arrays.toml", FILE).ends(0);
    let of = |set: &str| {
        let rows = kept.summary.with(&[("phase", "round_trip"), ("set", set)]);
        assert!(rows.iter().all(|row| row.is_measured()), "{set}: {rows:?}\n{}", kept.ended);
        rows.into_iter().map(|row| row.get("method")).collect::<Vec<_>>()
    };
    let all = methods("vector(40, 5, 2050, double)");
    assert_eq!(of("vector(40,5,2050,double)"), all);
    assert_eq!(of("darray(4,1,[9,8],[cyclic,block],[2,4],[2,2],fortran,double)"), all);
    // A packed message of several types does not have a signature.
    let of_mixed: Vec<&String> = all.iter().filter(|name| !name.contains("packed")).collect();
    assert_eq!(of("two_arrays"), of_mixed);
}

/// Types to which MPIs give different bounds: explicit bounds of some members, and extents that are rounded or not.
const SEVERAL: &str = include_str!("several_bounds.txt");

/// `run`, `engine`, `halo` and `overlap` move the bytes of the MPI's own bounds by all methods, and `conform` accepts them.
fn read_in_several_ways(mpi: &Mpi) {
    let several: Vec<Vec<&str>> = SEVERAL.lines().skip(1).map(|row| row.split(" | ").collect()).collect();
    let layouts: Vec<String> = several.iter().map(|row| format!("--layout '2 * {}'", row[0])).collect();
    for command in ["run", "engine", "halo -n 2 -m reference,loop,engine,ddt,put_ddt,neighbor_alltoallw"] {
        let line = format!("{command} {} {SHORT}", layouts.join(" "));
        let kept = Measuring::on(mpi, line).ends(0);
        let ends = kept.summary.ends();
        let is_right = |row: &&Row| row.is_measured();
        assert!(ends.len() >= 5 * several.len() && ends.iter().all(is_right), "{command}: {}", kept.ended);
        let account = kept.environment()["notes"].to_string();
        for row in &several {
            let bounds = row[1 + MPIS.iter().position(|known| *known == mpi.name).unwrap()];
            let (lower, extent) = bounds.split_once(' ').unwrap();
            let note = format!("{} has lower bound {lower} B, extent {extent} B,", row[0]);
            assert!(account.contains(&note), "{command}: {note}: {account}");
        }
    }
    let overlap = format!(
        "overlap layout -p 'send=2*{},matrix_order=24' -m ddt,loop --max-time 0.002 --min-repetitions 2 --warmup 1",
        several[0][0]
    );
    Measuring::on(mpi, overlap).ends(0);
    let finding = |operation: &str, text: &str| {
        format!(
            "[[finding]]\noperation = \"{operation}\"\nkind = \"wrong_value\"\nlayout = \"{text}\"\nitems = 2\n"
        )
    };
    let of_layout = |row: &Vec<&str>| ["bounds", "pack_items", "send"].map(|name| finding(name, row[0]));
    let list: String = several.iter().flat_map(of_layout).collect();
    Measuring::on(mpi, "conform --replay list.toml").file("list.toml", list).ends(0);
}

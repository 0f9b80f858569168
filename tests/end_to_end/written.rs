//! The statements that `layout` and `guidelines` print: compiled, they create the datatype of the layout. The Fortran
//! code is only compiled, with our own module instead of `mpi_f08`, which the tested MPIs do not have.

use std::fmt::Write as _;
use std::process::Command;

use datatypes::unusual::unusual_layout;
use datatypes::{Constructor, Element, Equivalent, Language, Layout, TypeMap};
use libtest_mimic::Trial;

use super::job::run;
use super::setup::{Check, MPIS, Mpi, scratch, trials_on};
use super::trial::{BESIDE, Need, unless};

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("printed C makes the layout's datatype", |mpi| compare(mpi, "descriptions", &descriptions())),
        ("a distributed array has the type map of the standard", |mpi| {
            compare(mpi, "darrays", &distributed_arrays());
        }),
    ];
    let mut trials = trials_on(&MPIS, Need::OneProcessor, "written", checks);
    let has_compiler =
        Command::new("gfortran").arg("--version").output().is_ok_and(|ended| ended.status.success());
    let lack = (!has_compiler).then_some("gfortran is missing");
    let compiled = || {
        of_fortran();
        Ok(())
    };
    trials.push(unless(&BESIDE, lack, "written::printed Fortran compiles".to_owned(), compiled));
    trials
}

/// Bytes before the origin, for layouts that reach there; the frames have it too.
const MARGIN: i64 = 4096;

/// Layouts whose descriptions use every constructor, and whose lists are short, long, even, uneven, far apart, and empty.
fn layouts() -> Vec<Layout> {
    let double = Layout::named(Element::Double);
    let text = |text: &str| text.parse::<Layout>().unwrap();
    let squares: Vec<i64> = (0..200).map(|i| 3 * i * i + i).collect();
    let far: Vec<i64> = (1..60).map(|i| 1003 * i * i).collect();
    let parts: Vec<Layout> = (1..60).map(|count| Layout::contiguous(count, &double).unwrap()).collect();
    // The widest ends them: some MPIs round an extent up to it. Half precision has another constant in each MPI.
    let is_simple = |element: &Element| *element != Element::Half && !is_padded(*element);
    let mut all: Vec<Layout> = Element::ALL.into_iter().filter(is_simple).map(Layout::named).collect();
    all.sort_by_key(Layout::size);
    let places: Vec<i64> = (0..).step_by(32).take(all.len()).collect();
    vec![
        double.clone(),
        text("vector(1024, 1, 32, double)"),
        text("resized(0, 65536, hvector(8, 1, 8192, hvector(32, 2, 256, float)))"),
        text("subarray([20, 30, 7], [5, 4, 7], [3, 1, 0], fortran, double_complex)"),
        text("hvector(4, 1, -24, double)"),
        text("resized(-8, 4000, hvector(3, 1, 640, vector(4, 2, 5, float)))"),
        text("darray(6, 4, [20, 30, 7], [cyclic, none, block], [3, 1, default], [3, 1, 2], fortran, double)"),
        Layout::indexed_block(1, &squares, &Layout::named(Element::Int32)).unwrap(),
        Layout::hindexed(&vec![1; far.len()], &far, &Layout::named(Element::Byte)).unwrap(),
        Layout::structure(&vec![1; far.len()], &far, &parts).unwrap(),
        Layout::structure(&vec![1; all.len()], &places, &all).unwrap(),
        Layout::hindexed(&[], &[], &double).unwrap(),
    ]
}

/// Whether MPIs need not pack all bytes of a value.
fn is_padded(element: Element) -> bool {
    element.padded_parts().is_some()
}

/// The layouts, and all other descriptions of each.
fn descriptions() -> Vec<Layout> {
    let described = |layout: Layout| {
        let others = Equivalent::all_of(&layout).into_iter().map(|(_, other)| other);
        others.chain([layout.clone()]).collect::<Vec<_>>()
    };
    layouts().into_iter().flat_map(described).collect()
}

/// Size, lower bound and extent, and a sum of the packed bytes in which each place counts differently.
fn expected(layout: &Layout) -> String {
    let mut sum = 0_u64;
    for (element, offset) in TypeMap::from_layout(layout).data() {
        for byte in offset..offset + element.size() as i64 {
            let place = u64::try_from(byte + MARGIN).unwrap();
            sum = (257 * sum + (7 * place + 13 * (place / 256)) % 127) % 1_000_003;
        }
    }
    format!("{} {} {} {sum}", layout.size(), layout.lower_bound(), layout.extent())
}

/// A program with a function for each description, which prints a line for it.
fn program(language: Language, all: &[Layout]) -> String {
    let (mut functions, mut calls) = (String::new(), String::new());
    for (i, layout) in all.iter().enumerate() {
        let code = layout.code(language);
        let _ = match language {
            Language::C => writeln!(functions, "static void case{i}(void) {{\n{code}check(newtype);\n}}"),
            Language::Fortran => {
                writeln!(functions, "subroutine case{i}()\n{code}call check(newtype)\nend subroutine")
            }
        };
        let _ = match language {
            Language::C => writeln!(calls, "case{i}();"),
            Language::Fortran => writeln!(calls, "call case{i}()"),
        };
    }
    let frame = match language {
        Language::C => include_str!("written/frame.c"),
        Language::Fortran => include_str!("written/frame.f90"),
    };
    frame.replace("FUNCTIONS", &functions).replace("CALLS", &calls)
}

/// Random ones of predefined types, also resized. Other extents are not the same in every MPI, since the standard leaves it open whether
/// they are rounded up, and Open MPI refuses types without data here, and packs other bytes of elements that overlap.
fn distributed_arrays() -> Vec<Layout> {
    let random = (0..8000).map(|seed| unusual_layout(seed, 1 + seed as u32 % 2));
    let is_named = |layout: &Layout| matches!(layout.constructor(), Constructor::Named { .. });
    let is_simple = |layout: &Layout| match layout.constructor() {
        Constructor::Resized { child, .. } => is_named(child),
        _ => is_named(layout),
    };
    let is_one = |layout: &Layout| match layout.constructor() {
        Constructor::Darray { child, .. } => is_simple(child) && child.extent() >= child.size() as i64,
        _ => false,
    };
    random.filter(is_one).collect()
}

/// Compares the datatypes that printed C makes with the layouts.
fn compare(mpi: &Mpi, what: &str, all: &[Layout]) {
    let [source, binary] =
        ["c", "out"].map(|ending| scratch().join(format!("written_{what}_{}.{ending}", mpi.name)));
    std::fs::write(&source, program(Language::C, all)).unwrap();
    let mut mpicc = mpi.command(&mpi.mpicc);
    mpicc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-o"]);
    run(mpicc.arg(&binary).arg(&source)).expect_code(0);
    let printed = run(&mut mpi.command(&binary)).expect_code(0).out;
    let found: Vec<&str> = printed.lines().collect();
    assert_eq!(found.len(), all.len(), "{printed}");
    for (layout, found) in all.iter().zip(found) {
        assert_eq!(found, expected(layout), "{}", layout.to_text());
    }
}

fn of_fortran() {
    let source = scratch().join("written.f90");
    let module = include_str!("written/mpi_f08.f90");
    std::fs::write(&source, module.to_owned() + &program(Language::Fortran, &descriptions())).unwrap();
    let mut compiler = Command::new("gfortran");
    compiler.current_dir(scratch()).args(["-std=f2008", "-Wall", "-Werror", "-fsyntax-only"]);
    run(compiler.arg(&source)).expect_code(0);
}

//! A finding as a C program that needs `mpicc` and `mpiexec` only: it makes the type, fills memory, does the operation, and compares with
//! a literal list of the bytes of the type map.

use std::fmt::Write;

use common::conformance::items::{Items, Value, contiguous};
use common::conformance::{Contents, FaultKind, Operation, Reported, partitions};
use datatypes::{Construction, Element, Language, Layout};

use super::finding::Hit;

/// Seconds after which a call hangs.
const LIMIT_S: u32 = 10;

const HEAD: &str = r#"#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

"#;

/// Collectives of which one end has the items of all ranks.
const OF_ALL_RANKS: [&str; 7] =
    ["gather", "allgather", "scatter", "alltoall", "neighbor_alltoall", "gatherv", "allgatherv"];

/// Functions of all programs.
const HELPERS: &str = include_str!("helpers.c");

/// The program of a hit on this number of ranks.
pub fn program(hit: &Hit, mpi: &str, ranks: usize) -> String {
    let (layout, operation) = subject(hit);
    let oracle = hit.adopted.as_ref().filter(|_| layout == hit.layout).unwrap_or(&layout);
    let is_of_all = OF_ALL_RANKS.contains(&operation);
    let data = Items::of(oracle, if is_of_all { ranks as u32 * hit.items } else { hit.items });
    let Operation { name, asks, clause, .. } = hit.operation;
    let mut text = format!(
        "/* {name}: {asks} (MPI-4.1, section {clause}).\n *\n * Type: {}\n * Items: {}\n * {mpi}: {}\n *\n \
         * mpicc -o finding finding.c && mpiexec -n {ranks} ./finding\n */\n{HEAD}",
        layout.to_text(),
        hit.items,
        hit.detail.lines().next().unwrap_or_default().replace("*/", "* /"),
    );
    let runs = runs(&data.values);
    let (from, span) = (data.span.0, data.span_bytes());
    let bytes = data.bytes();
    let _ = write!(
        text,
        "enum {{ RANKS = {ranks}, ITEMS = {}, VALUES = {}, RUNS = {}, BYTES = {bytes}, FROM = {from}, SPAN = {span}, AT_END = {} }};\n\n/* The bytes \
         of all items, in the order of the type map: displacements and lengths. */\nstatic const struct {{ long at, bytes; }} \
         runs[] = {{\n",
        hit.items,
        data.values.len(),
        runs.len(),
        i32::from(hit.at_end),
    );
    for line in runs.chunks(6) {
        let pairs: Vec<String> = line.iter().map(|(at, bytes)| format!("{{{at}, {bytes}}}")).collect();
        let _ = writeln!(text, "    {},", pairs.join(", "));
    }
    if runs.is_empty() {
        text += "    {0, 0},\n";
    }
    text += "};\n\n";
    // A C bool is 0 or 1.
    let has_bool = data.values.iter().any(|value| value.element == Element::Bool);
    text +=
        if has_bool { "#define VALUE(i) ((i) / 3 % 2)\n" } else { "#define VALUE(i) (1 + 37 * (i) % 251)\n" };
    let helpers_at = text.len();
    let sent = sent_values(hit).unwrap_or(data.values.len()).min(data.values.len());
    let dense_values =
        if is_of_all { &data.values[..data.values.len() / ranks] } else { &data.values[..sent] };
    let (dense, count) = contiguous(dense_values).unwrap_or((layout.clone(), hit.items));
    let body = match operation {
        "bounds" => bounds(oracle),
        "contents" => contents(&layout, hit.construction),
        "element_count" | "short_message" => counts(&data.values, hit.items, sent),
        "gatherv" | "allgatherv" => of_gathers(operation),
        "partitioned" => operations(operation).replace("PARTITIONS", &partitions(hit.items).to_string()),
        name => operations(name).to_owned(),
    };
    text += &made("make", &layout, hit.construction);
    let uses = |name: &str| body.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name);
    if uses("dense") {
        text += &made("make_dense", &dense, Construction::Usual);
    }
    if uses("element") {
        let element = data.values.first().map_or(Element::Byte, |value| value.element);
        text += &made("make_element", &Layout::named(element), Construction::Usual);
    }
    if operation == "reduce" {
        let item = data.values.len() / (hit.items as usize).max(1);
        text += &exclusive_or(&data.values[..item], oracle.extent());
    }
    text += "\nint main(int argc, char **argv)\n{\n    int rank;\n    MPI_Datatype type;\n    MPI_Init(&argc, &argv);\n    \
             MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    signal(SIGALRM, hangs);\n";
    let _ = writeln!(text, "    alarm({LIMIT_S});\n    reserve();\n    make(&type);");
    if uses("dense") {
        let _ = writeln!(
            text,
            "    MPI_Datatype dense;\n    const int count = {count};\n    make_dense(&dense);"
        );
    }
    if uses("element") {
        text += "    MPI_Datatype element;\n    make_element(&element);\n";
    }
    text += "\n";
    for line in body.lines() {
        let _ = writeln!(text, "{}{line}", if line.is_empty() { "" } else { "    " });
    }
    text.insert_str(helpers_at, &used_helpers(&text[helpers_at..]));
    text += "\n    if (!wrong && rank == 0)\n        printf(\"right\\n\");\n    fflush(stdout);\n    MPI_Finalize();\n    return wrong;\n}\n";
    text
}

/// The functions of `helpers.c` that the code or one of them uses, in their order.
fn used_helpers(code: &str) -> String {
    let blocks: Vec<&str> = HELPERS.split("\n\n").collect();
    let has_word = |text: &str, word: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|other| other == word)
    };
    let mut is_used: Vec<bool> = blocks.iter().map(|block| helper_name(block).is_none()).collect();
    // A function only uses those before it.
    for i in (0..blocks.len()).rev() {
        let Some(name) = helper_name(blocks[i]) else { continue };
        let mut later = blocks.iter().zip(&is_used).skip(i + 1);
        is_used[i] = has_word(code, name) || later.any(|(block, used)| *used && has_word(block, name));
    }
    let used = blocks.iter().zip(is_used).filter(|(_, used)| *used).map(|(block, _)| block.trim_end());
    format!("{}\n", used.collect::<Vec<_>>().join("\n\n"))
}

/// The name of a function in `helpers.c`; `None` for declarations.
fn helper_name(block: &str) -> Option<&str> {
    let line = block.lines().find(|line| line.ends_with(')') && line.starts_with("static "))?;
    line.split_once('(')?.0.rsplit([' ', '*']).next()
}

/// The type and the operation of the program. Of two descriptions it is the one that is wrong.
fn subject(hit: &Hit) -> (Layout, &'static str) {
    let other = || {
        let (text, rest) = hit.detail.strip_prefix("as ")?.split_once("): ")?;
        let layout = format!("{text})").parse().ok()?;
        Some((layout, if rest.contains("MPI_Type_") { "bounds" } else { "pack" }))
    };
    let own = (hit.layout.clone(), hit.operation.name);
    if hit.operation.name == "equivalent" { other().unwrap_or(own) } else { own }
}

/// How many values were sent, of a message that ends within an item.
fn sent_values(hit: &Hit) -> Option<usize> {
    let (_, rest) = hit.detail.rsplit_once(" after ")?;
    rest.split(' ').next()?.parse().ok()
}

/// A function that makes a type.
fn made(name: &str, layout: &Layout, construction: Construction) -> String {
    let code = layout.code_of(Language::C, construction);
    let lines: Vec<String> = code.lines().map(|line| format!("    {line}\n")).collect();
    format!("\nstatic void {name}(MPI_Datatype *made)\n{{\n{}    *made = newtype;\n}}\n", lines.concat())
}

/// Neighbouring values as one run of bytes.
fn runs(values: &[Value]) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((at, bytes)) if *at + *bytes == value.displacement => *bytes += value.element.size() as i64,
            _ => runs.push((value.displacement, value.element.size() as i64)),
        }
    }
    runs
}

/// The statements of a gather with blocks of different sizes, to one rank or to all.
fn of_gathers(operation: &str) -> String {
    let [function, root, is_receiver] = match operation {
        "gatherv" => ["MPI_Gatherv", "1, ", "rank == 1"],
        _ => ["MPI_Allgatherv", "", "rank < RANKS"],
    };
    let text = operations(operation).replace("GATHER(", &format!("{function}("));
    text.replace("ROOT ", root).replace("IS_RECEIVER", is_receiver)
}

/// The function of a reduction, with a literal list of the bytes of one item.
fn exclusive_or(data: &[Value], extent: i64) -> String {
    let mut runs: Vec<String> = runs(data).iter().map(|(at, bytes)| format!("{{{at}, {bytes}}}")).collect();
    if runs.is_empty() {
        runs.push("{0, 0}".to_owned());
    }
    let (count, runs) =
        (runs.len(), runs.chunks(6).map(|line| line.join(", ")).collect::<Vec<_>>().join(",\n        "));
    format!(
        "
static void exclusive_or(void *from, void *to, int *length, MPI_Datatype *handle)
{{
    static const struct {{ long at, bytes; }} of_item[] = {{
        {runs}
    }};
    (void) handle;
    for (long item = 0; item < *length; item++)
        for (int run = 0; run < {count}; run++)
            for (long i = 0; i < of_item[run].bytes; i++) {{
                const long place = {extent} * item + of_item[run].at + i;
                ((unsigned char *) to)[place] ^= ((unsigned char *) from)[place];
            }}
}}
"
    )
}

fn bounds(layout: &Layout) -> String {
    let Reported { size, lower_bound, extent, true_lower_bound, true_extent } = Reported::of(layout);
    format!(
        "int size;
MPI_Aint lower, extent, true_lower, true_extent;
MPI_Type_size(type, &size);
MPI_Type_get_extent(type, &lower, &extent);
MPI_Type_get_true_extent(type, &true_lower, &true_extent);
compare_number(\"the size\", {size}, size);
compare_number(\"the lower bound\", {lower_bound}, lower);
compare_number(\"the extent\", {extent}, extent);
compare_number(\"the true lower bound\", {true_lower_bound}, true_lower);
compare_number(\"the true extent\", {true_extent}, true_extent);
"
    )
}

fn contents(layout: &Layout, construction: Construction) -> String {
    let expected = match construction {
        Construction::Duplicated => Contents::of_duplicate(),
        _ => Contents::of(layout),
    };
    let (integers, addresses) = (expected.integers.len(), expected.addresses.len());
    let (first, second, types) = (expected.integers_in_c(), expected.addresses_in_c(), expected.types);
    format!(
        "const int right[] = {{{first}{}0}};
const MPI_Aint right_places[] = {{{second}{}0}};
int integers, addresses, types, combiner, found[{integers} + 1];
MPI_Aint places[{addresses} + 1];
MPI_Datatype children[{types} + 1];
MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
compare_number(\"the constructor\", MPI_COMBINER_{}, combiner);
compare_number(\"the number of integers\", {integers}, integers);
compare_number(\"the number of addresses\", {addresses}, addresses);
compare_number(\"the number of types\", {types}, types);
if (!wrong && combiner != MPI_COMBINER_NAMED) {{
    MPI_Type_get_contents(type, integers, addresses, types, found, places, children);
    for (int i = 0; i < integers; i++)
        compare_number(\"an integer\", right[i], found[i]);
    for (int i = 0; i < addresses; i++)
        compare_number(\"an address\", right_places[i], places[i]);
}}
",
        if integers > 0 { ", " } else { "" },
        if addresses > 0 { ", " } else { "" },
        expected.combiner,
    )
}

fn counts(values: &[Value], items: u32, sent: usize) -> String {
    let per_item = values.len() / (items as usize).max(1);
    let count = match sent.is_multiple_of(per_item.max(1)) {
        true => (sent / per_item.max(1)).to_string(),
        false => "MPI_UNDEFINED".to_owned(),
    };
    format!(
        "MPI_Status status;
int items, elements;
prepare();
MPI_Sendrecv(packed, count, dense, 0, 0, data, ITEMS, type, 0, 0, MPI_COMM_SELF, &status);
MPI_Get_count(&status, type, &items);
MPI_Get_elements(&status, type, &elements);
compare_number(\"the result of MPI_Get_count\", {count}, items);
compare_number(\"the result of MPI_Get_elements\", {sent}, elements);
"
    )
}

/// The statements of an operation, from its section of `operations.c`.
fn operations(name: &str) -> &'static str {
    let section = include_str!("operations.c").split("\n/// ").find_map(|section| {
        let (names, statements) = section.split_once('\n')?;
        names.split(' ').any(|known| known == name).then_some(statements)
    });
    section.unwrap_or_default()
}

/// How a program that ends by itself shows a fault.
pub fn shows(kind: FaultKind, lines: &[String], is_success: bool, ending: &str) -> Result<String, String> {
    if let Some(line) = lines.iter().find_map(|line| line.split_once("WRONG: ")) {
        return Ok(line.1.to_owned());
    }
    if !is_success && matches!(kind, FaultKind::Crash | FaultKind::Error | FaultKind::Hang) {
        return Ok(ending.to_owned());
    }
    Err(format!("the C program does not show it: {ending}"))
}

#[cfg(test)]
mod tests {
    use common::conformance::{Case, Fault, OPERATIONS};

    use super::*;

    fn hit(layout: &str, operation: &str, detail: &str) -> Hit {
        let fault = Fault::new(0, operation, FaultKind::WrongData, detail.to_owned());
        Hit::of(&fault, &layout.parse().unwrap(), &Case::of(0, layout.to_owned(), 2, true)).unwrap()
    }

    #[test]
    fn every_operation_has_a_program() {
        for operation in OPERATIONS {
            let text = program(&hit("vector(2, 1, 3, int32)", operation.name, ""), "an MPI", 2);
            assert!(text.contains("MPI_Type_vector"), "{}", operation.name);
            let body = text.split("make(&type);").nth(1).unwrap();
            assert!(body.contains("MPI_") && body.contains("type"), "{}: {body}", operation.name);
            assert!(text.lines().all(|line| line.len() <= 140), "{text}");
        }
    }

    #[test]
    fn the_bytes_of_the_type_map_are_a_literal_list() {
        let text =
            program(&hit("resized(0, 16, hindexed([1, 1], [4, -4], int32))", "pack", "wrong"), "MPI 9", 2);
        assert!(text.contains("RUNS = 4, BYTES = 16, FROM = -4, SPAN = 28"), "{text}");
        assert!(text.contains("{4, 4}, {-4, 4}, {20, 4}, {12, 4},"), "{text}");
        // The program has the functions that it uses, also those that are passed to others, and no more.
        let has = |name: &str| text.contains(&format!("{name}(")) && text.matches(name).count() > 1;
        assert!(
            ["hangs", "guarded", "reserve", "fill", "compare", "compare_packed"].iter().all(|name| has(name)),
            "{text}"
        );
        assert!(
            !text.contains("prepare") && !text.contains("file_name") && !text.contains("make_dense"),
            "{text}"
        );
        assert!(text.contains(" * MPI 9: wrong\n") && text.contains("(MPI-4.1, section 5.2)"), "{text}");
    }

    #[test]
    fn of_two_descriptions_the_program_has_the_wrong_one() {
        let detail =
            "as contiguous(2, resized(0, 12, int32)): byte 4 of the packed data is 0x01 instead of 0x02";
        let text = program(&hit("vector(2, 1, 3, int32)", "equivalent", detail), "an MPI", 2);
        assert!(text.contains("MPI_Type_contiguous(2, part1") && !text.contains("MPI_Type_vector"), "{text}");
    }

    #[test]
    fn a_short_message_has_as_many_values_as_in_the_hit() {
        let detail = "MPI_Get_elements gives 2 instead of 3 after 3 of 4 values";
        let text = program(&hit("vector(2, 1, 3, int32)", "short_message", detail), "an MPI", 2);
        assert!(text.contains("const int count = 3;") && text.contains("MPI_UNDEFINED, items"), "{text}");
    }

    #[test]
    fn a_program_shows_a_fault_by_its_output_or_its_end() {
        let wrong = ["[0] WRONG: byte 3".to_owned()];
        assert_eq!(shows(FaultKind::WrongData, &wrong, false, "exit code 1"), Ok("byte 3".to_owned()));
        let right = ["right".to_owned()];
        assert!(shows(FaultKind::Crash, &right, true, "exit code 0").is_err());
        assert_eq!(shows(FaultKind::Crash, &[], false, "SIGSEGV"), Ok("SIGSEGV".to_owned()));
    }
}

//! A finding as a C program that needs `mpicc` and `mpiexec` only: it makes the type, fills memory, does the operation, and compares with
//! the bytes at the places of the type map, which it lists.

use std::fmt::Write;
use std::time::Duration;

use common::conformance::contents::list as in_c;
use common::conformance::form::with_words;
use common::conformance::items::{Items, Value, contiguous};
use common::conformance::{Contents, FaultKind, Need, Operation, partitions};
use datatypes::{Construction, Element, Language, Layout, Reported};

use self::data::Text;
use super::finding::{Evidence, Hit};
use crate::model::conditions::MemoryKind;

/// Time after which a program ends itself, since a call hangs.
pub const ALARM: Duration = Duration::from_secs(10);

/// Functions of all programs.
const HELPERS: &str = include_str!("helpers.c");

/// The name of the file, in the folder of the program, which all ranks can read.
const FILE_NAME: &str = "char *name = strcat(strcpy((char[FILENAME_MAX]){0}, argv[0]), \".data\");\n";

/// Bytes in front of the data, behind it, or on both sides that must not change.
const MARGIN: i64 = 64;

/// Words of code that uses such memory.
const MEMORY: [&str; 3] = ["memory", "data", "packed"];

/// Characters of a line of a list or of a constructor.
const LINE: usize = 120;

/// Functions of programs with memory of a device.
const DEVICE: &str = include_str!("device.c");

/// The memory of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramMemory {
    Static,
    /// Memory and packed data begin or end at a page that cannot be accessed, and all is freed.
    Guarded,
    /// The data that the type describes is on a device.
    Device,
}

impl ProgramMemory {
    /// The one that makes the shortest program for data in a memory.
    pub fn simplest(memory: MemoryKind) -> Self {
        match memory {
            MemoryKind::Device | MemoryKind::Simulated => Self::Device,
            MemoryKind::Host | MemoryKind::Managed | MemoryKind::Pinned => Self::Static,
        }
    }
}

/// The program of a hit on this number of ranks.
pub fn program(hit: &Hit, mpi: &str, ranks: usize, memory: ProgramMemory) -> String {
    let (is_guarded, on_device) = (memory == ProgramMemory::Guarded, memory == ProgramMemory::Device);
    let Hit { layout, operation, .. } = hit;
    let oracle = hit.adopted.as_ref().unwrap_or(layout);
    let blocks = operation.blocks(ranks);
    let mut data = Items::from_layout(oracle, blocks as u32 * hit.items);
    let of_item = data.values.len() / (blocks * hit.items as usize).max(1);
    if operation.needs(Need::Short) {
        // So many were sent, of a message that ends within an item.
        let sent =
            hit.detail.rsplit_once(" after ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        data.values.truncate(sent.unwrap_or(data.values.len().saturating_sub(1)));
    }
    let (dense, count) =
        contiguous(&data.values[..data.values.len() / blocks]).unwrap_or((layout.clone(), hit.items));
    let statements = operation.statements.replace("RANKS - 1", &(ranks - 1).to_string());
    let mut body = with_needed_comparisons(&wrong_queries(&statements, &hit.detail), hit);
    if has_word(&body, "MPI_File_open") {
        body = format!("MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);\n{body}");
    }
    body = body.replace("const char *name = FILE_NAME;\n", FILE_NAME);
    body = with_words(&body, &[("comm", "MPI_COMM_WORLD".to_owned())]);
    let mut functions = String::new();
    let mut types = String::new();
    let type_is_freed = body.contains("MPI_Type_free(&type)");
    if has_word(&body, "make") {
        let lines = indented(&made(layout, hit.construction, true));
        functions +=
            &format!("\nstatic void make(MPI_Datatype *made)\n{{\n{lines}    *made = newtype;\n}}\n");
    } else if has_word(&body, "type") {
        let lines = made(layout, hit.construction, type_is_freed);
        types += &with_words(&lines, &[("newtype", "type".to_owned())]);
    }
    if has_word(&body, "dense") {
        match predefined(&dense) {
            // Its address may be taken.
            Some(name) if body.contains("&dense") => types += &format!("MPI_Datatype dense = {name};\n"),
            Some(name) => body = with_words(&body, &[("dense", name)]),
            None => {
                let lines = made(&dense, Construction::Usual, false);
                // Its parts and lists have other names than those of the type.
                let words = lines.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let is_own = |of: &&str| of.starts_with(char::is_lowercase) && of.ends_with(char::is_numeric);
                let names = words.filter(is_own).map(|name| (name, format!("dense_{name}")));
                let names: Vec<_> = names.chain([("newtype", "dense".to_owned())]).collect();
                types += &with_words(&lines, &names);
            }
        }
        body = with_words(&body, &[("count", count.to_string())]);
    }
    if has_word(&body, "element") {
        let element = data.values.first().map_or(Element::Byte, |value| value.element);
        body = with_words(&body, &[("element", predefined(&Layout::named(element)).unwrap_or_default())]);
    }
    let margins = match (is_guarded, hit.at_end) {
        (true, true) => [MARGIN, 0],
        (true, false) => [0, MARGIN],
        (false, _) => [MARGIN; 2],
    };
    let is_hang = hit.kind == FaultKind::Hang;
    let (arrays, place);
    Text { body, arrays, place } =
        Text::new(&body, &data, margins, ranks, (on_device, is_hang || is_guarded));
    if !is_guarded {
        body = with_words(&body, &[("guarded", "malloc".to_owned())]);
    }
    body = with_few_comparisons(&body, on_device);
    let is_guarded = is_guarded && MEMORY.iter().any(|name| has_word(&body, name));
    let on_device = on_device && MEMORY.iter().any(|name| has_word(&body, name));
    let on_host = |code: &str| with_words(code, &[("copy_bytes", "memcpy".to_owned())]);
    let mut all_helpers = on_host(HELPERS);
    if on_device {
        for (by_mpi, by_us) in
            [(", memory, ALL", ", on_host(), ALL"), ("? memory : kept", "? on_host() : kept")]
        {
            body = body.replace(by_mpi, by_us);
        }
        all_helpers = DEVICE.to_owned() + HELPERS;
    } else {
        body = on_host(&body);
    }
    let placed = match (is_guarded, on_device) {
        (true, _) => "guarded",
        (_, true) => "on_device",
        _ => "",
    };
    let helpers = used_helpers(&all_helpers, &format!("{functions}{body}{placed}"));
    let uses = |word: &str| [&helpers, &functions, &body].iter().any(|text| has_word(text, word));
    let has_rank = body.contains("MPI_COMM_WORLD");
    let mut main = "MPI_Init(&argc, &argv);\n".to_owned();
    if has_rank {
        main += "MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n";
    }
    if is_hang {
        let _ = writeln!(main, "alarm({});", ALARM.as_secs());
    }
    let (variables, set) = variables(&uses, placed, arrays);
    main = if on_device { set + &main } else { main + &set };
    let unless = if has_rank { "wrong || rank > 0" } else { "wrong" };
    let _ = write!(
        main,
        "{types}{body}fputs({unless} ? \"\" : \"right\\n\", stdout), fflush(stdout);\nreturn MPI_Finalize() || wrong;\n"
    );
    let main = format!("\nint main(int argc, char **argv)\n{{\n{}}}\n", indented(&main));
    let mut list = String::new();
    if uses("widths") {
        list += &widths(&data.values[..of_item]);
    }
    list += &arguments(hit, &uses);
    let numbers = if has_rank { "rank, wrong" } else { "wrong" };
    let has_place = [&helpers, &main].iter().any(|text| text.contains("at(i)"));
    list += if has_place { &place.1 } else { "" };
    let code = format!("{variables}static int {numbers};\n{list}{helpers}{functions}{main}");
    let code = code.replace("at(i)", &place.0);
    let values = values((hit, oracle), (&data, of_item), ranks, margins);
    head(hit, mpi, ranks, on_device) + &includes(&code) + &with_words(&code, &values)
}

/// The paragraphs of statements whose results are wrong: implementers compute other bounds in other ways,
/// which are accepted. All if none is named.
fn wrong_queries(statements: &str, detail: &str) -> String {
    let is_wrong = |paragraph: &&str| {
        let calls = paragraph.lines().filter_map(|line| line.split_once('('));
        calls.into_iter().any(|(call, _)| detail.contains(&format!("{call} ")))
    };
    let paragraphs: Vec<&str> = statements.split("\n\n").collect();
    let wrong: Vec<&str> = paragraphs.iter().copied().filter(is_wrong).collect();
    if paragraphs.len() == 1 || wrong.is_empty() { paragraphs } else { wrong }.join("\n")
}

/// Statements without comparisons that cannot show the fault: those of other data than the hit, and all after a call that does not return.
fn with_needed_comparisons(body: &str, hit: &Hit) -> String {
    let is_of_packed = |line: &str| Some(line.trim_start().strip_prefix("compare(\"")?.starts_with("packed"));
    let is_needed = |line: &str| match (is_of_packed(line), hit.kind) {
        (None, _) => true,
        (_, FaultKind::Hang | FaultKind::Error) => false,
        (Some(is_packed), FaultKind::WrongData | FaultKind::ChangedMemory) => {
            !hit.detail.contains(if is_packed { "at displacement" } else { "of the packed data" })
        }
        _ => true,
    };
    let lines: Vec<&str> = body.lines().collect();
    let returns = !matches!(hit.kind, FaultKind::Hang | FaultKind::Error);
    if returns && !lines.iter().any(|line| is_of_packed(line).is_some() && is_needed(line)) {
        return body.to_owned();
    }
    let is_left_out = |i: usize| {
        let is_condition = lines[i].trim_start().starts_with("if (") && !lines[i].ends_with('{');
        !is_needed(lines[i]) || is_condition && lines.get(i + 1).is_some_and(|next| !is_needed(next))
    };
    (0..lines.len()).filter(|i| !is_left_out(*i)).map(|i| format!("{}\n", lines[i])).collect()
}

/// Names of a comparison that take two lines, in characters.
const LONG_COMPARISON: usize = 56;

/// Comparisons without their functions, apart from those of data of a device, which is copied before.
fn with_few_comparisons(body: &str, on_device: bool) -> String {
    let line = |line: &str| {
        let (call, arguments) = line.trim_start().strip_suffix(");")?.split_once('(')?;
        let blanks = " ".repeat(line.len() - line.trim_start().len());
        let mut arguments = arguments.splitn(if call == "compare" { 5 } else { 3 }, ", ");
        let what = arguments.next()?.trim_matches('"');
        match (call, &arguments.collect::<Vec<_>>()[..]) {
            ("compare_number", [right, found]) => Some(format!(
                "{blanks}if ({found} != {right})\n{blanks}    wrong = \
                 printf(\"WRONG: {what} is %ld instead of %ld\\n\", (long) {found}, (long) {right});\n"
            )),
            ("compare", [right, found, length, first]) if !on_device => {
                let found = if found.contains(' ') { format!("({found})") } else { (*found).to_owned() };
                // Constants of several ranks share their bytes.
                let right = match right.split_once(" + ") {
                    Some((name, first)) => format!("{name}[{first} + i]"),
                    None => format!("{right}[i]"),
                };
                let is_long = what.len() + 2 * (right.len() + found.len()) > LONG_COMPARISON;
                let gap = if is_long { format!("\n{blanks}        ") } else { " ".to_owned() };
                Some(format!(
                    "{blanks}for (long i = 0; i < {length} && !wrong; i++)\n{blanks}    wrong = {found}[i] != {right} &&{gap}\
                     printf(\"WRONG: byte %ld of the {what}: %d, not %d\\n\", {first} + i, {found}[i], {right});\n"
                ))
            }
            _ => None,
        }
    };
    body.lines().map(|text| line(text).unwrap_or_else(|| format!("{text}\n"))).collect()
}

/// The comment at the start.
fn head(hit: &Hit, mpi: &str, ranks: usize, on_device: bool) -> String {
    let Operation { name, asks, clause, .. } = hit.operation;
    let plural = if hit.items == 1 { "" } else { "s" };
    let link = if on_device { " -lcuda" } else { "" };
    format!(
        "/* {name}: {asks} (MPI-4.1, section {clause}).\n * Type: {}, {} item{plural}\n * {mpi}: {}\n \
         * mpicc -o finding finding.c{link} && mpiexec -n {ranks} ./finding */\n",
        hit.layout.to_text(),
        hit.items,
        hit.detail.lines().next().unwrap_or_default().replace("*/", "* /"),
    )
}

/// The headers of functions that the code calls.
fn includes(code: &str) -> String {
    let mut text = "#include <mpi.h>\n#include <stdio.h>\n".to_owned();
    let calls = |names: &[&str]| names.iter().any(|name| has_word(code, name));
    for (header, names) in [
        ("stdlib.h", &["malloc", "exit"][..]),
        ("string.h", &["memcpy", "memset", "strcat"]),
        ("sys/mman.h", &["mmap"]),
        ("unistd.h", &["alarm"]),
    ] {
        if calls(names) {
            let _ = writeln!(text, "#include <{header}>");
        }
    }
    text + "\n"
}

/// Memory of programs: its name, how it is declared, and how it is declared and set in `main` if a function
/// places it: on a device only the first.
const VARIABLES: [(&str, &str, [&str; 2]); 6] = [
    ("memory", "memory[ALL]", ["*memory", "memory = PLACED(ALL)"]),
    ("packed", "packed[ROOM]", ["*packed", "packed = PLACED(ROOM)"]),
    ("data", "*data = memory + ORIGIN", ["*data", "data = memory + ORIGIN"]),
    ("kept", "kept[ALL]", ["kept[ALL]", ""]),
    ("image", "image[ALL]", ["image[ALL]", ""]),
    ("values", "values[ROOM]", ["values[ROOM]", ""]),
];

/// Declarations of the memory and the arrays that are used, and the statements that set it.
fn variables(uses: &dyn Fn(&str) -> bool, placed: &str, arrays: Vec<String>) -> (String, String) {
    let is_used = |name| uses(name) || (name == "memory" && uses("data"));
    let used = || VARIABLES.iter().filter(|(name, ..)| is_used(*name));
    let is_placed = |name: &str| !placed.is_empty() && (placed == "guarded" || name != "packed");
    let names = used().map(|(name, open, [other, _])| if is_placed(name) { *other } else { *open });
    let names: Vec<_> = names.map(str::to_owned).chain(arrays).collect();
    let declared = format!("static unsigned char {};\n", names.join(", "));
    let memory = if names.is_empty() { String::new() } else { declared };
    let set = used().filter(|(name, .., [_, set])| is_placed(name) && !set.is_empty());
    let set: Vec<_> = set.map(|(.., [_, set])| set.replace("PLACED", placed)).collect();
    (memory, if set.is_empty() { String::new() } else { set.join(", ") + ";\n" })
}

/// The bytes of the values of an item as a list of the program.
fn widths(values: &[Value]) -> String {
    let of = |run: &[Value]| {
        let is_complex = matches!(run[0].element, Element::FloatComplex | Element::DoubleComplex);
        let parts = if is_complex { 2 } else { 1 };
        ((run.len() * parts) as i64, run[0].element.size() as i64 / parts as i64)
    };
    let runs: Vec<_> = values.chunk_by(|value, next| value.element == next.element).map(of).collect();
    format!(
        "static const struct {{ long count, bytes; }} widths[] = {{{}}}; /* an item: so many values of so many bytes */\n",
        pairs(&runs)
    )
}

/// The initial values of a list in C, which has at least one row.
fn pairs(rows: &[(i64, i64)]) -> String {
    let rows = if rows.is_empty() { &[(0, 0)] } else { rows };
    initial(rows.iter().map(|(first, second)| format!("{{{first}, {second}}}")))
}

/// Initial values, with breaks unless one line is enough.
fn initial(values: impl Iterator<Item = String>) -> String {
    let values = values.collect::<Vec<_>>().join(",\n");
    match joined(&values) {
        line if !line.contains('\n') && line.len() < LINE - 20 => line,
        lines => format!("\n{}", indented(&lines)),
    }
}

/// Lines, of which those that end with a comma and those that free parts of a type go on in their line if they fit.
fn joined(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let goes_on = |last: &String| {
            last.ends_with(',') || [last, line].iter().all(|line| line.starts_with("MPI_Type_free(&part"))
        };
        let fits = |last: &String| last.len() + line.len() < LINE && !line.starts_with('}');
        match lines.last_mut().filter(|last| goes_on(last) && fits(last)) {
            Some(last) => *last += &format!(" {}", line.trim_start()),
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// The arguments of the constructor as lists of the program.
fn arguments(hit: &Hit, uses: &dyn Fn(&str) -> bool) -> String {
    let Contents { integers, addresses, .. } = Contents::of_type(&hit.layout, hit.construction);
    let lists =
        [("int", "right_integers", in_c(&integers)), ("MPI_Aint", "right_addresses", in_c(&addresses))];
    let used = lists.into_iter().filter(|(_, name, _)| uses(name));
    used.map(|(of, name, values)| format!("static const {of} {name}[] = {{{values}}};\n")).collect()
}

/// The values for words in `helpers.c` and `operations.c`.
fn values(
    (hit, oracle): (&Hit, &Layout),
    (data, of_item): (&Items, usize),
    ranks: usize,
    [before, behind]: [i64; 2],
) -> Vec<(&'static str, String)> {
    let ((from, _), span, bytes) = (data.span, data.span_bytes() as i64, data.bytes());
    // A C bool is 0 or 1.
    let has_bool = data.values.iter().any(|value| value.element == Element::Bool);
    let value = if has_bool { "i / 3 % 2" } else { "1 + 37 * i % 251" };
    let Reported { size, lower_bound, extent, true_lower_bound, true_extent } = Reported::from_layout(oracle);
    let contents = Contents::of_type(&hit.layout, hit.construction);
    // `None` if the last item is not whole.
    let count = data.values.len();
    let whole = count.checked_div(of_item).filter(|items| items * of_item == count);
    vec![
        ("RANKS", ranks.to_string()),
        ("ITEMS", hit.items.to_string()),
        ("VALUES", count.to_string()),
        ("WHOLE", whole.map_or_else(|| "MPI_UNDEFINED".to_owned(), |items| items.to_string())),
        ("PARTITIONS", partitions(hit.items).to_string()),
        ("CALLS", "20".to_owned()),
        ("TAG", "0".to_owned()),
        ("BYTES", bytes.to_string()),
        ("ROOM", bytes.max(1).to_string()),
        ("BLOCK", (bytes / hit.operation.blocks(ranks)).to_string()),
        ("FROM", from.to_string()),
        ("SPAN", span.to_string()),
        ("ALL", (before + span + behind).to_string()),
        ("ORIGIN", (before - from).to_string()),
        ("FIRST", (from - before).to_string()),
        ("VALUE", value.to_owned()),
        ("SIZE", size.to_string()),
        ("LOWER_BOUND", lower_bound.to_string()),
        ("EXTENT", extent.to_string()),
        ("TRUE_LOWER_BOUND", true_lower_bound.to_string()),
        ("TRUE_EXTENT", true_extent.to_string()),
        ("COMBINER", format!("MPI_COMBINER_{}", contents.combiner)),
        ("INTEGERS", contents.integers.len().to_string()),
        ("ADDRESSES", contents.addresses.len().to_string()),
        ("TYPES", contents.types.to_string()),
    ]
}

/// Whether C code has a word, apart from comments and strings.
fn has_word(code: &str, word: &str) -> bool {
    code.lines().filter(|line| !line.trim_start().starts_with("/*")).any(|line| {
        // No string has a quotation mark.
        let outside = line.split('"').step_by(2);
        outside
            .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
            .any(|other| other == word)
    })
}

pub fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// The functions of `helpers.c` that the code or one of them uses, in their order.
fn used_helpers(helpers: &str, code: &str) -> String {
    let blocks: Vec<&str> = helpers.split("\n\n").collect();
    let mut is_used: Vec<bool> = vec![false; blocks.len()];
    // A function only uses those before it.
    for i in (0..blocks.len()).rev() {
        let is_head = |line: &&str| line.starts_with("static ") && !line.contains(';');
        let head = blocks[i].lines().find(is_head).and_then(|line| line.split_once('('));
        let Some(name) = head.and_then(|(head, _)| head.rsplit([' ', '*']).next()) else { continue };
        let mut later = blocks.iter().zip(&is_used).skip(i + 1);
        is_used[i] = has_word(code, name) || later.any(|(block, used)| *used && has_word(block, name));
    }
    let used = blocks.iter().zip(is_used).filter(|(_, used)| *used);
    used.map(|(block, _)| format!("\n{}\n", block.trim())).collect()
}

/// The statements that make a type. One that is freed later is not a predefined one.
fn made(layout: &Layout, construction: Construction, is_freed: bool) -> String {
    match predefined(layout).filter(|_| construction.is_usual()) {
        Some(predefined) if is_freed => {
            format!("MPI_Datatype newtype;\nMPI_Type_dup({predefined}, &newtype);\n")
        }
        Some(predefined) => format!("MPI_Datatype newtype = {predefined};\n"),
        None => joined(&layout.code_of(Language::C, construction)) + "\n",
    }
}

/// The name of a predefined type.
fn predefined(layout: &Layout) -> Option<String> {
    let code = layout.code_of(Language::C, Construction::Usual);
    let name = code.trim().strip_prefix("MPI_Datatype newtype = ")?.strip_suffix(';')?;
    Some(name.to_owned())
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

/// How a program that ends by itself shows a fault.
pub fn shows(kind: FaultKind, lines: &[String], is_success: bool, ending: &str) -> Evidence {
    if let Some(line) = lines.iter().find_map(|line| line.split_once("WRONG: ")) {
        return Evidence::Shown(line.1.to_owned());
    }
    // Rank 0 prints it after the operation; another rank may still be in it.
    let is_late = lines.iter().any(|line| line.ends_with("right"));
    let is_shown = match kind {
        FaultKind::Crash | FaultKind::Error | FaultKind::Hang => true,
        // Wrong bytes may be anywhere, and end the process.
        FaultKind::WrongData | FaultKind::ChangedMemory => !is_late,
        FaultKind::WrongValue => false,
    };
    if !is_success && is_shown {
        return Evidence::Shown(format!(
            "{ending}{}",
            if is_late { ", perhaps in MPI_Finalize" } else { "" }
        ));
    }
    Evidence::NotShown(format!("the C program does not show it: {ending}"))
}

/// The data of a program.
mod data;
#[cfg(test)]
mod tests;

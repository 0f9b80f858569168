//! The data of a program, which it computes first, and the statements that use it.

use common::conformance::Items;
use common::conformance::form::with_words;
use common::conformance::items::Value;

use super::{has_word, initial, pairs, runs};

/// The most places in a list that a person reads.
const MOST_PLACES: usize = 400;

/// Parts of statements whose effect few faults need.
const LEFT_OUT: &str =
    "memset(values, 0, |Comm_free|Group_free|Op_free|Request_free|Type_free(&absolute|Type_free(&apart";

/// Words of lines that read the memory of a sender.
const READ: [&str; 3] = ["memory", "data", "arrive"];

/// Functions whose calls other statements replace. The first two write the memory.
const CALLS: [&str; 3] = ["fill(", "prepare(", "arrive("];

/// The text of a program that depends on its data.
pub struct Text {
    pub body: String,
    /// Arrays of the data.
    pub arrays: Vec<String>,
    /// The place in memory of byte `i` of the message, and the list or the function that it needs.
    pub place: (String, String),
}

impl Text {
    /// The body with its data, which begins so many bytes behind the start of the memory, and which the ranks share unless they have
    /// several. `frees`: whether calls that free are kept, since one of them may fail.
    pub fn new(
        body: &str,
        data: &Items,
        [before, behind]: [i64; 2],
        ranks: usize,
        (on_device, frees): (bool, bool),
    ) -> Self {
        let is_left_out = |line: &&str| !frees && LEFT_OUT.split('|').any(|part| line.contains(part));
        let lines: Vec<&str> = body.lines().filter(|line| !is_left_out(line)).collect();
        let has_several = lines.iter().any(|line| argument(line, "fill(").is_some_and(|rank| rank != "0"));
        let (place, whole) = places(&data.values, before - data.span.0);
        let text = statements(&lines, has_several, whole, on_device);
        let ranks = if has_several { ranks } else { 1 };
        let all = before + data.span_bytes() as i64 + behind + ranks as i64 - 1;
        let (arrays, start) = computed(&text, all, ranks);
        Self { body: start + &text, arrays, place }
    }
}

/// Statements that use the data of the ranks, which they share unless they have several. `whole`: the place in the memory of data
/// without gaps.
fn statements(lines: &[&str], has_several: bool, whole: Option<i64>, on_device: bool) -> String {
    let of = |name: &str, rank: &str| match (has_several, name, rank) {
        (false, ..) | (true, "original", "0") => name.to_owned(),
        (true, "original", _) => format!("{name} + {rank}"),
        _ => format!("{name}[{rank}]"),
    };
    let (mut text, mut rank, mut image) = (String::new(), "0", None);
    // Whether the memory is not the one of a sender, and `kept` is a copy of such memory.
    let (mut is_placed, mut is_copied) = (false, false);
    for (i, line) in lines.iter().enumerate() {
        let blanks = &line[..line.len() - line.trim_start().len()];
        // A statement that is farther right is not always executed, apart from repeated ones.
        let is_next = |(before, line): &(usize, &&str)| {
            let is_call = CALLS[..2].iter().any(|call| argument(line, call).is_some());
            let is_repeated = lines[i + before].starts_with("for (int call");
            is_call && (is_repeated || line.len() - line.trim_start().len() <= blanks.len())
        };
        let mut until_next =
            lines[i + 1..].iter().enumerate().take_while(|next| !is_next(next)).map(|(_, line)| line);
        let called = CALLS.into_iter().find_map(|call| Some((call, argument(line, call)?)));
        let own = |text: &str, rank: &str| with_words(text, &[("expected", of("expected", rank))]);
        let with_values = |memory: &str, values: &str| match whole {
            Some(at) => format!("{blanks}memcpy({memory} + {at}, {values}, BYTES);"),
            None => format!(
                "{blanks}for (long i = 0; i < BYTES; i++)\n{blanks}    {memory}[at(i)] = {values}[i];"
            ),
        };
        let is_placed_next = lines.get(i + 1).is_some_and(|next| next.trim() == "place();");
        let code = match called {
            Some(("fill(", filled)) => {
                (rank, is_placed) = (filled, false);
                if !until_next.any(|line| READ.iter().any(|word| has_word(line, word))) {
                    continue;
                }
                format!("copy_bytes(memory, {}, ALL);", of("original", rank))
            }
            Some(("arrive(", values)) => {
                image = Some("image".to_owned());
                "copy_bytes(image, memory, ALL);\n".to_owned() + &with_values("image", &own(values, rank))
            }
            Some((_, values)) if is_placed_next => {
                is_placed = true;
                let (memory, end) = match on_device {
                    true => ("image", format!("\n{blanks}copy_bytes(memory, image, ALL);")),
                    false => ("memory", String::new()),
                };
                let values = with_values(memory, &own(values, rank));
                format!("memset({memory}, 0xA5, ALL);\n{values}{end}")
            }
            Some((_, values)) => {
                image = Some("image".to_owned());
                let values = with_values("image", &own(values, rank));
                format!("copy_bytes(memory, memset(image, 0xA5, ALL), ALL);\n{values}")
            }
            None if line.trim() == "place();" && is_placed => continue,
            None if line.trim() == "keep();" => {
                is_copied = is_placed || lines.iter().any(|line| line.contains("memset(kept, "));
                match (is_placed, is_copied) {
                    (true, _) => "copy_bytes(kept, memory, ALL);".to_owned(),
                    (false, true) => format!("copy_bytes(kept, {}, ALL);", of("original", rank)),
                    (false, false) => continue,
                }
            }
            None => {
                let sent = of("original", rank);
                let received = image.as_ref().unwrap_or(&sent);
                own(line.trim_start(), rank)
                    .replace("sender's memory\", image", &format!("sender's memory\", {sent}"))
                    .replace("receiver's memory\", image", &format!("receiver's memory\", {received}"))
                    .replace("kept + ", &if is_copied { "kept + ".to_owned() } else { format!("{sent} + ") })
            }
        };
        text += &format!("{blanks}{code}\n");
    }
    without_braces(&text)
}

/// The argument of a call of a function of the program, if the line is one.
fn argument<'l>(line: &'l str, call: &str) -> Option<&'l str> {
    line.trim_start().strip_prefix(call)?.strip_suffix(");")
}

/// The place of byte `i` of a message in memory whose data begins at `first`, and the list or the function that it needs: of the shortest
/// part of which all is a repetition. For data without gaps, its place, too.
fn places(values: &[Value], first: i64) -> ((String, String), Option<i64>) {
    let all = runs(values);
    if let [] | [_] = all[..] {
        let whole = all.first().map_or(0, |(at, _)| at + first);
        return ((format!("{whole} + i"), String::new()), Some(whole));
    }
    let step = |part: usize| values[part].displacement - values[0].displacement;
    let is_part = |part: &usize| {
        let mut pairs = values.iter().zip(&values[*part..]);
        let next = |value: &Value| Value { displacement: value.displacement + step(*part), ..*value };
        pairs.all(|(value, other)| next(value) == *other)
    };
    let part = (1..=values.len() / 2).find(is_part);
    let runs = part.map_or(all, |part| runs(&values[..part]));
    let bytes: i64 = runs.iter().map(|(_, bytes)| bytes).sum();
    let byte = if part.is_some() { format!("i % {bytes}") } else { "i".to_owned() };
    let next = part.map_or_else(String::new, |part| format!(" + i / {bytes} * {}", step(part)));
    // All runs consist of parts of so many bytes.
    let unit = runs.iter().fold(0, |unit, (_, bytes)| greatest_common_divisor(unit, *bytes));
    let (place, list) = match runs[..] {
        [(at, _)] => (format!("{} + {byte}", at + first), String::new()),
        _ if bytes / unit > MOST_PLACES.max(2 * runs.len()) as i64 => {
            let moved: Vec<_> = runs.iter().map(|(at, bytes)| (at + first, *bytes)).collect();
            let list = format!("static const struct {{ long at, bytes; }} runs[] = {{{}}};\n", pairs(&moved));
            ("at(i)".to_owned(), list + &include_str!("at.c").replace("BYTE", &byte))
        }
        _ => {
            let of_run = |(at, bytes): &(i64, i64)| (at + first..at + first + bytes).step_by(unit as usize);
            let places: Vec<i64> = runs.iter().flat_map(of_run).collect();
            let place = if unit == 1 { "byte_at[BYTE]" } else { "byte_at[BYTE / UNIT] + i % UNIT" };
            (place.replace("BYTE", &byte).replace("UNIT", &unit.to_string()), list("byte_at", &places))
        }
    };
    ((place + &next, list), None)
}

fn greatest_common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// The arrays that a body uses, and the statements that set them. The bytes of rank 1 begin with the second one of rank 0.
fn computed(text: &str, all: i64, ranks: usize) -> (Vec<String>, String) {
    let original = format!("for (long i = 0; i < {all}; i++)\n    original[i] = VALUE;\n");
    let mut arrays = vec![format!("original[{all}]")];
    if !has_word(text, "expected") {
        return (arrays, original);
    }
    let (of_ranks, expected) = match ranks {
        1 => (String::new(), "for (long i = 0; i < BYTES; i++)\n    expected[i] = original[at(i)];\n"),
        _ => (
            format!("[{ranks}]"),
            "for (int of = 0; of < RANKS; of++)\n    for (long i = 0; i < BYTES; i++)\n        \
             expected[of][i] = original[of + at(i)];\n",
        ),
    };
    arrays.push(format!("expected{of_ranks}[ROOM]"));
    (arrays, original + expected)
}

/// Statements without the braces around a single one.
fn without_braces(text: &str) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let is_inner = |inner: &&&str| depth(inner) == depth(line) + 4;
        let start = lines.iter().rposition(|other| depth(other) == depth(line));
        let start =
            start.filter(|start| lines[*start..].iter().filter(is_inner).count() == 1 && line.trim() == "}");
        let opening =
            |start: usize| lines[start].strip_suffix(" {").filter(|opening| !opening.trim().is_empty());
        match start.and_then(|start| Some((start, opening(start)?))) {
            Some((start, opening)) => lines[start] = opening,
            None => lines.push(line),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A list of the program.
fn list(name: &str, numbers: &[i64]) -> String {
    let of = match numbers.iter().max() {
        Some(..=0xFF) | None => "unsigned char",
        Some(..=0x7FFF) => "short",
        _ => "long",
    };
    let numbers = initial(numbers.iter().map(i64::to_string));
    format!("static const {of} {name}[] = {{{numbers}}};\n")
}

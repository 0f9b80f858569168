//! Constants in a program, instead of the functions that compute them: few bytes make it shorter.

use common::conformance::Items;
use common::conformance::form::with_words;
use datatypes::Element;

use super::{has_word, initial, parts, runs};

/// The most bytes of memory, so that each place is a `short`.
const MOST_BYTES: usize = 1 << 15;

/// Parts of statements that constants replace (two), and of calls whose effect a short program does not need.
const LEFT_OUT: &str = "reverse(|memset(values, 0, |Comm_free|Group_free|Op_free|Request_free|Type_free(&absolute|Type_free(&apart";

/// Words of lines that read the memory of a sender.
const READ: [&str; 3] = ["memory", "data", "arrive"];

/// Functions whose calls other statements replace. The first two write the memory.
const CALLS: [&str; 3] = ["fill(", "prepare(", "arrive("];

/// The body that uses constants, and their declarations. `None` if bytes are too many, or if statements need functions that compute them.
/// `frees`: whether calls that free are kept, since one of them may hang.
pub fn with_constants(body: &str, data: &Items, margins: [i64; 2], frees: bool) -> Option<(String, String)> {
    let [before, behind] = margins;
    let all = usize::try_from(data.span_bytes() as i64 + before + behind).ok()?;
    let has_bool = data.values.iter().any(|value| value.element == Element::Bool);
    if all.max(data.bytes()) > MOST_BYTES || has_bool {
        return None;
    }
    let left_out = LEFT_OUT.split('|').take(if frees { 2 } else { usize::MAX });
    let is_left_out = |line: &&str| left_out.clone().any(|part| line.contains(part));
    let lines: Vec<&str> = body.lines().filter(|line| !is_left_out(line)).collect();
    let has_several = lines.iter().any(|line| argument(line, "fill(").is_some_and(|rank| rank != "0"));
    let whole = match runs(&data.values)[..] {
        [] => Some(0),
        [(at, _)] => Some(at - data.span.0 + before),
        _ => None,
    };
    let text = statements(&lines, has_several, whole);
    let has_copy = text.contains("memcpy(kept, ");
    let left = ["fill", "prepare", "arrive", "place", "keep", "reverse"];
    if left.iter().any(|word| has_word(&text, word)) || has_word(&text, "kept") && !has_copy {
        return None;
    }
    let ranks = if has_several { 2 } else { 1 };
    // Numbers of two digits make short lists. 89 is the largest prime number below 90.
    // The bytes of rank 1 begin with the second one of rank 0.
    let original: Vec<u16> = (0..all + ranks - 1).map(|i| 10 + (37 * i % 89) as u16).collect();
    let (mut expected, mut merged) = (vec![Vec::new(); ranks], vec![vec![0xA5; all]; ranks]);
    let mut byte_at = vec![Vec::new()];
    for rank in 0..ranks {
        let original = &original[rank..];
        for value in &data.values {
            let at = (value.displacement - data.span.0 + before) as usize;
            let own = at..at + value.element.size() as usize;
            merged[rank][own.clone()].copy_from_slice(&original[own.clone()]);
            byte_at[0].extend(own.clone().map(|at| at as u16).filter(|_| rank == 0));
            let (part, expected) = (own.len() / parts(value.element), &mut expected[rank]);
            match body.contains("reverse(") {
                true => original[own].chunks(part).for_each(|part| expected.extend(part.iter().rev())),
                false => expected.extend(&original[own]),
            }
        }
    }
    let all =
        [("original", vec![original]), ("expected", expected), ("merged", merged), ("byte_at", byte_at)];
    let used = all.iter().filter(|(name, _)| has_word(&text, name));
    let constants = used.map(|(name, numbers)| constant(name, numbers)).collect();
    Some((text, constants))
}

/// The argument of a call of a function of the program, if the line is one.
fn argument<'l>(line: &'l str, call: &str) -> Option<&'l str> {
    line.trim_start().strip_prefix(call)?.strip_suffix(");")
}

/// Statements that use constants, which the ranks share unless they have several data. `whole`: the place in the memory of data without
/// gaps.
fn statements(lines: &[&str], has_several: bool, whole: Option<i64>) -> String {
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
        let with_values = |memory: &str, values: &str| {
            let each = "for (int i = 0; i < BYTES; i++)";
            match whole {
                Some(at) => format!("{blanks}memcpy({memory} + {at}, {values}, BYTES);"),
                None => format!("{blanks}{each}\n{blanks}    {memory}[byte_at[i]] = {values}[i];"),
            }
        };
        let is_placed_next = lines.get(i + 1).is_some_and(|next| next.trim() == "place();");
        let code = match called {
            Some(("fill(", filled)) => {
                (rank, is_placed) = (filled, false);
                if !until_next.any(|line| READ.iter().any(|word| has_word(line, word))) {
                    continue;
                }
                format!("memcpy(memory, {}, ALL);", of("original", rank))
            }
            Some(("arrive(", values)) => {
                image = Some("image".to_owned());
                "memcpy(image, memory, ALL);\n".to_owned() + &with_values("image", values)
            }
            Some((_, values)) if is_placed_next => {
                is_placed = true;
                "memset(memory, 0xA5, ALL);\n".to_owned() + &with_values("memory", values)
            }
            Some(("prepare(", "expected")) => {
                image = Some(of("merged", rank));
                "memset(memory, 0xA5, ALL);".to_owned()
            }
            Some((_, values)) => {
                image = Some("image".to_owned());
                "memcpy(image, memset(memory, 0xA5, ALL), ALL);\n".to_owned() + &with_values("image", values)
            }
            None if line.trim() == "place();" && is_placed => continue,
            None if line.trim() == "keep();" => {
                is_copied = is_placed || lines.iter().any(|line| line.contains("memset(kept, "));
                match (is_placed, is_copied) {
                    (true, _) => "memcpy(kept, memory, ALL);".to_owned(),
                    (false, true) => format!("memcpy(kept, {}, ALL);", of("original", rank)),
                    (false, false) => continue,
                }
            }
            None => {
                let sent = of("original", rank);
                let received = image.as_ref().unwrap_or(&sent);
                with_words(line.trim_start(), &[("expected", of("expected", rank))])
                    .replace("sender's memory\", image", &format!("sender's memory\", {sent}"))
                    .replace("receiver's memory\", image", &format!("receiver's memory\", {received}"))
                    .replace("kept + ", &if is_copied { "kept + ".to_owned() } else { format!("{sent} + ") })
            }
        };
        text += &format!("{blanks}{code}\n");
    }
    without_braces(&text)
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

/// The bytes of each rank as a constant of the program, or their places. C has no empty arrays.
fn constant(name: &str, ranks: &[Vec<u16>]) -> String {
    let list = |numbers: &[u16]| numbers.iter().map(u16::to_string).collect::<Vec<_>>().join(",\n");
    let lists = ranks.iter().map(|numbers| list(if numbers.is_empty() { &[0] } else { numbers }));
    let (size, list) = match ranks {
        [_] => (String::new(), initial(lists)),
        _ => (format!("[{}]", ranks[0].len().max(1)), initial(lists.map(|list| format!("{{{list}}}")))),
    };
    let of = if ranks.iter().flatten().any(|number| *number > 255) { "short" } else { "unsigned char" };
    format!("static const {of} {name}[]{size} = {{{list}}};\n")
}

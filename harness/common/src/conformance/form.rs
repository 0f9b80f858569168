//! Other forms of an operation, as changes of its C statements by a section of `forms.c`: other calls, and communicators with neighbours.

use std::sync::LazyLock;

use super::operation::{Section, sections};

/// The sections of `forms.c`. The name of one is the end of that of an operation.
static FORMS: LazyLock<Vec<Section>> = LazyLock::new(|| sections(include_str!("forms.c")));

/// The word in descriptions for the operation.
const OPERATION: &str = "OPERATION";

/// The form with the functions for large counts.
const LARGE: &str = "_large";

/// The forms of an operation whose first call this is.
pub fn of_call(call: Option<&str>, is_collective: bool) -> Vec<&'static Section> {
    let kind = match call.and_then(|call| call.strip_prefix("MPI_")) {
        None => "none",
        Some("Send") => "Send",
        Some("Recv") => "Recv",
        Some(call) if call.starts_with("Sendrecv") => "Sendrecv",
        Some(call) if ["Pack", "Unpack", "Get_count", "File"].iter().any(|name| call.starts_with(name)) => {
            "local"
        }
        Some(_) if is_collective => "collective",
        Some(_) => "window",
    };
    FORMS.iter().filter(|form| form.head[1].split(' ').any(|of| of == kind)).collect()
}

/// The communicators of an operation with neighbours.
pub fn topologies() -> Vec<&'static Section> {
    let is_topology = |form: &&Section| form.head[1] == "RANKS" || form.neighbours(0) > 0;
    FORMS.iter().filter(is_topology).collect()
}

impl Section {
    /// The description of an operation in this form.
    pub fn describe(&self, operation: &str) -> String {
        with_words(self.asks, &[(OPERATION, operation.to_owned())])
    }

    /// Neighbours of each of these ranks, if it is a communicator.
    pub fn neighbours(&self, ranks: usize) -> usize {
        self.head[1].parse().unwrap_or(ranks)
    }

    /// The statements of an operation with this communicator.
    pub fn with_neighbours(&self, statements: &str) -> String {
        let mut made = self.statements.trim_end().to_owned();
        // The slots are the last of a line.
        while let Some(start) = made.find(", slots[").filter(|_| !statements.contains("slots")) {
            let end = made[start..].find(';').map_or(made.len(), |end| start + end);
            made.replace_range(start..end, "");
        }
        with_words(statements, &[("NEIGHBOURS", made), ("BLOCKS", self.head[1].to_owned())])
    }

    /// The statements of an operation with its first call in this form. The form for large counts changes all
    /// calls.
    pub fn with_calls(&self, statements: &str, calls: &[&str]) -> String {
        let is_large = self.head[0] == LARGE;
        let [count, place, of_item] =
            if is_large { ["MPI_Count", "MPI_Count", "MPI_Aint"] } else { ["int", "MPI_Aint", "int"] };
        let mut words = vec![("COUNT", count), ("PLACE", place), ("PLACE_OF_ITEM", of_item)];
        let names = calls.iter().flat_map(|call| ["", "_size"].map(|end| format!("{call}{end}")));
        let large: Vec<_> = names.map(|name| (name.clone(), name + "_c")).collect();
        if is_large {
            words.extend(large.iter().map(|(small, large)| (&**small, &**large)));
        }
        let words: Vec<_> = words.into_iter().map(|(word, text)| (word, text.to_owned())).collect();
        let (text, call) = (with_words(statements, &words), calls.first().copied().unwrap_or_default());
        let mut is_conditional = false;
        let line = |line: &str| {
            let lines = self.replaced(line, call, &text, is_conditional);
            is_conditional = !line.ends_with([';', '{', '}']);
            lines.unwrap_or_else(|| format!("{line}\n"))
        };
        text.lines().map(line).collect()
    }

    /// The statements of this form instead of a line of `all` with the call; `None` for another line.
    fn replaced(&self, line: &str, call: &str, all: &str, is_conditional: bool) -> Option<String> {
        let inner = line.trim_start();
        let (origin, target, called, arguments) = match arguments(inner, "EPOCH") {
            Some(text) => {
                let [origin, target, access] = text.splitn(3, ", ").collect::<Vec<_>>()[..] else {
                    panic!("{text}: origin, target and call")
                };
                let (called, arguments) = access.split_once('(')?;
                (origin, target, called, arguments.strip_suffix(')')?)
            }
            None => ("", "", call, arguments(inner, call)?),
        };
        // Accesses with large counts are in the usual epoch.
        let form =
            if origin.is_empty() || self.head[0] != LARGE { self } else { of_call(Some(call), false)[0] };
        if form.statements.is_empty() {
            return None;
        }
        let with = |letter: &str| {
            let (first, rest) = called.strip_prefix("MPI_").unwrap_or(called).split_at(1);
            format!("MPI_{letter}{}{rest}", first.to_lowercase())
        };
        let arguments = arguments.strip_suffix(", MPI_STATUS_IGNORE").unwrap_or(arguments);
        let lines = with_words(
            &form.statements,
            &[
                ("CALL", called.to_owned()),
                ("CALL_init", format!("{called}_init")),
                ("I_CALL", with("I")),
                ("R_CALL", with("R")),
                ("ARGUMENTS", arguments.to_owned()),
                ("ORIGIN_RANK", origin.to_owned()),
                ("TARGET", target.to_owned()),
                ("COMPLETE", complete(all, origin, arguments)),
            ],
        );
        // Not every access has a word's statement.
        let lines = lines.replace("    \n", "");
        let blanks = &line[..line.len() - inner.len()];
        if blanks.is_empty() || !is_conditional {
            return Some(lines.lines().map(|line| format!("{blanks}{line}\n")).collect());
        }
        // After a condition it must be one statement.
        let lines: String = lines.lines().map(|line| format!("{blanks}    {line}\n")).collect();
        Some(format!("{blanks}{{\n{lines}{blanks}}}\n"))
    }
}

/// The comparison on the rank that accesses the window, or the statement that changes what it has sent.
fn complete(statements: &str, origin: &str, arguments: &str) -> String {
    let (_, after) = statements.split_once("MPI_Win_free(&window);\n").unwrap_or_default();
    let of_rank = after.strip_prefix(&format!("if (rank == {origin})\n")).unwrap_or(after);
    let received = of_rank.lines().next().map(str::trim_start).filter(|line| line.starts_with("compare("));
    let sent = || match arguments.split(", ").next()? {
        "packed" => Some("memset(packed, 0, BYTES);"),
        "kept + ORIGIN" | "MPI_BOTTOM" => Some("memset(kept, 0, ALL);"),
        "sent" => Some("memset(sent, 0, 2 * BYTES);"),
        _ => None,
    };
    received.or_else(sent).unwrap_or_default().to_owned()
}

/// The arguments of a statement that calls a function.
fn arguments<'a>(line: &'a str, function: &str) -> Option<&'a str> {
    line.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(");")
}

/// The text with other words.
pub fn with_words(text: &str, replaced: &[(&str, String)]) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (between, from_word) = rest.split_at(start);
        let (word, after) = from_word.split_at(from_word.find(|c| !is_part(c)).unwrap_or(from_word.len()));
        let known = replaced.iter().find(|(name, _)| *name == word);
        result += between;
        result += known.map_or(word, |(_, text)| text);
        rest = after;
    }
    result + rest
}

//! A program's operations and kernels as text.

use std::fmt::{self, Write as _};

use crate::Program;
use crate::block_copy::MEDIUM;
use crate::loops::Axis;
use crate::operation::{Leaf, LoopNest, Sequence};
use crate::select::sizes;
use crate::tuning::{Class, Direction, Shape};

impl fmt::Display for Program {
    /// The text of [`Program::explain`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain())
    }
}

impl Program {
    /// The operations in packed order, one per line, indented by nesting; then every kernel with its bytes,
    /// its blocks and the reason for the choice.
    pub fn explain(&self) -> String {
        let mut kernels = Vec::new();
        add(&self.sequence, 1, &mut kernels);
        let blocks: usize = kernels.iter().map(|used| used.blocks).sum();
        let mut text = format!("{} in {}\n", counted(self.size(), "byte"), counted(blocks, "block"));
        operations(&self.sequence, 1, &mut text);
        kernels.sort_by_key(|used| std::cmp::Reverse(used.bytes));
        for Used { kernel, why, class, bytes, blocks } in kernels {
            let share = 100.0 * bytes as f64 / self.size() as f64;
            let (bytes, blocks) = (counted(bytes, "byte"), counted(blocks, "block"));
            let _ = writeln!(text, "kernel {kernel}: {bytes} ({share:.0}%) in {blocks}; {why}");
            if let Some(class) = class {
                for direction in Direction::ALL {
                    let _ = writeln!(text, "  {direction}: {}", self.tuning.way(class, direction).name());
                }
            }
        }
        text
    }
}

/// Longer lists are shortened, because a struct of many members would have a line for each.
const MOST_LINES: usize = 40;

/// `1 byte`, `3 bytes`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn operations(sequence: &Sequence, depth: usize, text: &mut String) {
    for operation in sequence.operations.iter().take(MOST_LINES) {
        let _ = writeln!(text, "{}{}", "  ".repeat(depth), line(operation));
        if let Leaf::Body { body, .. } = &operation.leaf {
            operations(body, depth + 1, text);
        }
    }
    let more = sequence.operations.len().saturating_sub(MOST_LINES);
    if more > 0 {
        let _ = writeln!(text, "{}and {more} more", "  ".repeat(depth));
    }
}

fn line(operation: &LoopNest) -> String {
    let loops = operation.loops();
    let loops: String =
        loops.map(|Axis { count, stride }| format!("{count} times, {stride} bytes apart: ")).collect();
    let leaf = match &operation.leaf {
        Leaf::Block { bytes, offset, .. } => format!("{} at {offset}", counted(*bytes, "byte")),
        Leaf::Indexed { lowest, block, offsets, .. } => {
            let span = offsets.iter().max().map_or(0, |&last| last as usize + block);
            let block = counted(*block, "byte");
            format!(
                "{} blocks of {block} at listed places, {lowest} to {}",
                offsets.len(),
                lowest.wrapping_add(span as i64)
            )
        }
        Leaf::Records { records, .. } => {
            let (count, blocks) = (records.count, records.columns.len());
            format!("{count} records of {blocks} blocks, {} each", counted(records.bytes, "byte"))
        }
        Leaf::IndexedRecords { records, .. } => {
            let (count, words) = (records.indices.len(), counted(records.words(), "word"));
            format!("{count} records of {words} by index, {} each", counted(records.record_bytes(), "byte"))
        }
        Leaf::Runs { ends, .. } => {
            let (least, most) = extremes(ends);
            format!("{} blocks of {least} to {most} bytes at listed places", ends.len())
        }
        Leaf::Body { offsets, .. } => match offsets.len() {
            1 => "one after the other".to_owned(),
            n => format!("at {n} listed places"),
        },
    };
    format!("{}: {loops}{leaf}", counted(operation.bytes, "byte"))
}

/// The shortest and the longest length of runs that end at `ends`.
fn extremes(ends: &[usize]) -> (usize, usize) {
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts
        .zip(ends)
        .map(|(start, end)| end - start)
        .fold((usize::MAX, 0), |(least, most), bytes| (least.min(bytes), most.max(bytes)))
}

/// The work of one kernel in a program.
struct Used {
    kernel: String,
    why: String,
    /// Not for records of several columns, which have a class each.
    class: Option<Class>,
    bytes: usize,
    blocks: usize,
}

/// Adds the work of `times` runs of a sequence.
fn add(sequence: &Sequence, times: usize, all: &mut Vec<Used>) {
    for operation in &sequence.operations {
        let rounds = times * operation.loops().map(|axis| axis.count).product::<usize>();
        let leaf = &operation.leaf;
        let (sizes, why, blocks) = match leaf {
            Leaf::Block { bytes, class, .. } => {
                let shape = match class.shape {
                    _ if operation.loops().count() == 0 => "one run",
                    Shape::Transposed => {
                        "equal blocks whose neighbours in memory are far apart in the stream"
                    }
                    Shape::ManyPages => "equal blocks at one distance, on many pages",
                    _ => "equal blocks at one distance",
                };
                (sizes(*bytes), format!("{shape}, {}", why_size(*bytes)), 1)
            }
            Leaf::Indexed { block, offsets, .. } => {
                let why = format!("equal blocks at uneven distances, {}", why_size(*block));
                (sizes(*block), why, offsets.len())
            }
            Leaf::Records { records, .. } => {
                let why = "blocks of lengths that recur, column by column".to_owned();
                ("any", why, records.count * records.columns.len())
            }
            Leaf::IndexedRecords { records, .. } => {
                let why = "values whose places depend on one list of indices".to_owned();
                let size = if records.word_bytes == 4 { "4" } else { "8" };
                (size, why, records.indices.len() * records.words())
            }
            Leaf::Runs { ends, .. } => {
                let (least, most) = extremes(ends);
                let why = match least == most {
                    true => "equal blocks, but beyond 4 GiB, where 32 bits cannot list them",
                    false => "blocks of different lengths",
                };
                ("any", why.to_owned(), ends.len())
            }
            Leaf::Body { offsets, body } => {
                add(body, rounds * offsets.len(), all);
                continue;
            }
        };
        let kernel = format!("{}, {sizes} bytes", leaf.name());
        let (bytes, blocks) = (times * operation.bytes, rounds * blocks);
        let class = leaf.class();
        match all.iter_mut().find(|used| used.kernel == kernel && used.why == why && used.class == class) {
            Some(used) => (used.bytes, used.blocks) = (used.bytes + bytes, used.blocks + blocks),
            None => all.push(Used { kernel, why, class, bytes, blocks }),
        }
    }
}

/// The reason why blocks of this size have their kernel.
fn why_size(bytes: usize) -> &'static str {
    match sizes(bytes) {
        _ if bytes >= MEDIUM => "long",
        sizes if sizes.contains(" to ") => "of a size without a specialised kernel: two parts that overlap",
        _ => "of a size that a kernel was compiled for",
    }
}

impl Leaf {
    /// Every [`Leaf::name`].
    #[cfg(test)]
    pub(crate) const NAMES: [&str; 7] =
        ["strided", "transposed", "indexed", "records", "indexed records", "runs", "sequence"];

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Block { class, .. } if class.shape == Shape::Transposed => "transposed",
            Self::Block { .. } => "strided",
            Self::Indexed { .. } => "indexed",
            Self::Records { .. } => "records",
            Self::IndexedRecords { .. } => "indexed records",
            Self::Runs { .. } => "runs",
            Self::Body { .. } => "sequence",
        }
    }

    /// The class for which its kernels were chosen. Columns of records have one each.
    pub(crate) fn class(&self) -> Option<Class> {
        match self {
            Self::Block { class, .. }
            | Self::Indexed { class, .. }
            | Self::IndexedRecords { class, .. }
            | Self::Runs { class, .. } => Some(*class),
            Self::Records { .. } | Self::Body { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Way;
    use crate::program::compile_for;
    use crate::tuning::Tuning;

    /// `explain.txt` has numbers of copies and layouts, with the text of each.
    #[test]
    fn kernels_are_named_with_their_bytes_and_the_reason() {
        let mut found = String::new();
        for section in include_str!("explain.txt").split("=== ").skip(1) {
            let title = section.lines().next().unwrap();
            let (count, layout) = title.split_once(" * ").unwrap();
            let layout = layout.parse().unwrap();
            let program = compile_for(&layout, count.parse().unwrap(), Tuning::Only(Way::Base)).unwrap();
            found += &format!("=== {title}\n{}", program.explain());
        }
        assert_eq!(found, include_str!("explain.txt"));
    }
}

//! What a program is made of, in words and figures.

use std::fmt::{self, Write as _};

use crate::Program;
use crate::operation::{Leaf, Operation, Sequence};

impl fmt::Display for Program {
    /// As [`Program::explain`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain())
    }
}

impl Program {
    /// The chosen kernels, the bytes of each, and why: a line per operation, indented by nesting.
    pub fn explain(&self) -> String {
        let mut text = format!("{} bytes, instruction set {}\n", self.size(), self.level.name());
        explain(&self.sequence, 1, &mut text);
        text
    }
}

/// Lists longer than this are cut short; a struct of many members has a line for each otherwise.
const MOST_LINES: usize = 40;

fn explain(sequence: &Sequence, depth: usize, text: &mut String) {
    for operation in sequence.operations.iter().take(MOST_LINES) {
        let _ = writeln!(text, "{}{}", "  ".repeat(depth), line(operation));
        if let Leaf::Body { body, .. } = &operation.leaf {
            explain(body, depth + 1, text);
        }
    }
    let more = sequence.operations.len().saturating_sub(MOST_LINES);
    if more > 0 {
        let _ = writeln!(text, "{}... and {more} more", "  ".repeat(depth));
    }
}

fn line(operation: &Operation) -> String {
    let loops: String = operation
        .steps
        .iter()
        .map(|step| format!("{} times, {} bytes apart: ", step.count, step.stride))
        .collect();
    let leaf = match &operation.leaf {
        Leaf::Block { bytes, .. } if operation.steps.is_empty() => {
            format!("one run of {bytes} bytes, a plain copy")
        }
        Leaf::Block { bytes, kernels, how, .. } => {
            format!("a block of {bytes} bytes, by the {} kernel for {} bytes", how.name(), kernels.sizes)
        }
        Leaf::Indexed { block, offsets, kernels, .. } => format!(
            "{} blocks of {block} bytes at listed places, by the indexed kernel for {} bytes",
            offsets.len(),
            kernels.sizes
        ),
        Leaf::Runs { ends, .. } => {
            format!("{} runs of different lengths, one by one", ends.len())
        }
        Leaf::Body { offsets, .. } => match offsets.len() {
            1 => "this sequence:".to_owned(),
            n => format!("at {n} listed places this sequence:"),
        },
    };
    format!("{:>10} bytes: {loops}{leaf}", operation.bytes)
}

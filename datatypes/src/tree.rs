//! A layout as a tree for people, a constructor a line.

use std::fmt::Write;

use crate::{Constructor, Layout};

/// How many members of a struct, or entries of a list, are written out before the rest is counted.
const SHOWN: usize = 9;

impl Layout {
    /// The tree, indented, each line with the constructor, its arguments and what follows from them.
    pub fn tree(&self) -> String {
        let mut text = String::new();
        self.write_tree("", "", &mut text);
        text
    }

    fn write_tree(&self, first: &str, rest: &str, text: &mut String) {
        let _ = writeln!(
            text,
            "{first}{}  [size {} B, extent {} B, true extent {} B]",
            arguments(self.constructor()),
            self.size(),
            self.extent(),
            self.true_extent(),
        );
        let children = self.constructor().children();
        let shown = children.len().min(SHOWN);
        for (i, child) in children[..shown].iter().enumerate() {
            if child.constructor().children().is_empty() && children.len() == 1 {
                continue; // the parent's line names it
            }
            let last = i + 1 == children.len();
            let (branch, stem) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            child.write_tree(&format!("{rest}{branch}"), &format!("{rest}{stem}"), text);
        }
        if children.len() > shown {
            let _ = writeln!(text, "{rest}└─ … {} more", children.len() - shown);
        }
    }
}

fn arguments(constructor: &Constructor) -> String {
    let name = constructor.name();
    let of = match constructor.children() {
        [child] => match child.constructor() {
            Constructor::Named { element } => format!(" of {element}"),
            _ => String::new(),
        },
        _ => String::new(),
    };
    match constructor {
        Constructor::Named { element } => element.to_string(),
        Constructor::Contiguous { count, .. } => format!("{name} count {count}{of}"),
        Constructor::Vector { count, blocklength, stride, .. } => {
            format!("{name} count {count}, blocklength {blocklength}, stride {stride}{of}")
        }
        Constructor::Hvector { count, blocklength, stride_bytes, .. } => {
            format!("{name} count {count}, blocklength {blocklength}, stride {stride_bytes} B{of}")
        }
        Constructor::Indexed { blocklengths, displacements, .. } => {
            format!("{name} blocklengths {}, displacements {}{of}", list(blocklengths), list(displacements))
        }
        Constructor::Hindexed { blocklengths, displacements_bytes, .. } => {
            format!(
                "{name} blocklengths {}, displacements {} B{of}",
                list(blocklengths),
                list(displacements_bytes)
            )
        }
        Constructor::IndexedBlock { blocklength, displacements, .. } => {
            format!("{name} blocklength {blocklength}, displacements {}{of}", list(displacements))
        }
        Constructor::HindexedBlock { blocklength, displacements_bytes, .. } => {
            format!("{name} blocklength {blocklength}, displacements {} B{of}", list(displacements_bytes))
        }
        Constructor::Struct { blocklengths, displacements_bytes, .. } => {
            format!(
                "{name} blocklengths {}, displacements {} B",
                list(blocklengths),
                list(displacements_bytes)
            )
        }
        Constructor::Subarray { sizes, subsizes, starts, order, .. } => format!(
            "{name} sizes {}, subsizes {}, starts {}, {order:?} order{of}",
            list(sizes),
            list(subsizes),
            list(starts)
        ),
        Constructor::Resized { lower_bound, extent, .. } => {
            format!("{name} lower bound {lower_bound}, extent {extent} B{of}")
        }
    }
}

fn list(values: &[i64]) -> String {
    let mut shown: Vec<String> = values.iter().take(SHOWN).map(i64::to_string).collect();
    if values.len() > SHOWN {
        shown.push(format!("… {} in all", values.len()));
    }
    format!("[{}]", shown.join(", "))
}

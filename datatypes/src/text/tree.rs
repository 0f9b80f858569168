//! A layout as a tree for people, a constructor a line.

use std::fmt::Write;

use super::{SHOWN, argument_names, signature};
use crate::{Argument, Constructor, Layout};

impl Layout {
    /// The tree, indented, each line with the constructor, its arguments and what follows from them.
    pub fn tree(&self) -> String {
        let mut text = String::new();
        self.write_tree("", "", &mut text);
        text
    }

    /// Lower bound, extent and true extent.
    pub fn bounds_text(&self) -> String {
        let (lower, extent, true_extent) = (self.lower_bound(), self.extent(), self.true_extent());
        format!("lower bound {lower} B, extent {extent} B, true extent {true_extent} B")
    }

    fn write_tree(&self, first: &str, rest: &str, text: &mut String) {
        let line = line(self.constructor());
        let _ = writeln!(text, "{first}{line}  [size {} B, {}]", self.size(), self.bounds_text());
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

/// The constructor and its arguments by their names; a predefined type by its own.
fn line(constructor: &Constructor) -> String {
    if let Constructor::Named { element } = constructor {
        return element.to_string();
    }
    let name = constructor.name();
    let names = argument_names(signature(name).unwrap_or_default());
    let argument = |(name, argument): (&str, Argument<'_>)| {
        let mut text = format!("{} ", name.trim_matches(['[', ']']));
        match argument {
            Argument::Types(_) => return None,
            Argument::Type(child) if !child.constructor().children().is_empty() => return None,
            Argument::Order(_) => text = "order ".to_owned(),
            _ => {}
        }
        argument.write(SHOWN, &mut text);
        Some(text)
    };
    let all: Vec<String> = names.zip(constructor.arguments()).filter_map(argument).collect();
    format!("{name} {}", all.join(", "))
}

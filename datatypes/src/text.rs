//! Layouts as text: MPI's constructors as calls, `vector(408, 5, 2050, double)`, read and written.
//!
//! Arguments are in MPI's order, the type last, lists in brackets: [`SIGNATURES`]. A type is one of [`Element::ALL`] by its name, or a
//! constructor again. Blanks and ends of lines may be anywhere between words.
//!
//! Calls as they are in programs are read too: `MPI_Type_vector(408, 5, 2050, MPI_DOUBLE, &face)`, C's and
//! Fortran's names of types (`int`, `real(8)`), lists in braces and with their length before them.
//!
//! ```
//! use ddtbench_datatypes::Layout;
//!
//! let faces: Layout = "struct([1, 1], [0, 4096], [vector(8, 1, 8, double), contiguous(8, double)])".parse()?;
//! assert_eq!(faces.to_text(), "struct([1, 1], [0, 4096], [vector(8, 1, 8, double), contiguous(8, double)])");
//!
//! let wrong = "vector(408, 5, double)".parse::<Layout>().unwrap_err();
//! assert_eq!(
//!     wrong.to_string(),
//!     "column 16: `double` where a whole number is expected, the stride of vector(count, blocklength, stride, type)"
//! );
//! # Ok::<(), ddtbench_datatypes::TextError>(())
//! ```

mod declaration;
mod index_list;
mod memory;
mod names;
mod program;
mod reader;
mod tree;
mod value;

use std::str::FromStr;

pub use declaration::{DeclaredArrays, DeclaredName, declared_arrays};
pub use index_list::{ListForm, index_list, repeated_index};
pub use names::{no_such, similar};
pub use program::{is_program, program};
pub use reader::{NamedList, TextError, TextReader};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use value::Definitions;

use crate::{Argument, Constructor, Layout};

/// All constructors with their arguments, as they are written.
pub const SIGNATURES: [&str; 11] = [
    "contiguous(count, type)",
    "vector(count, blocklength, stride, type)",
    "hvector(count, blocklength, stride_bytes, type)",
    "indexed([blocklengths], [displacements], type)",
    "hindexed([blocklengths], [displacements_bytes], type)",
    "indexed_block(blocklength, [displacements], type)",
    "hindexed_block(blocklength, [displacements_bytes], type)",
    "struct([blocklengths], [displacements_bytes], [types])",
    "subarray([sizes], [subsizes], [starts], c|fortran, type)",
    "darray(size, rank, [gsizes], [distribs], [dargs], [psizes], c|fortran, type)",
    "resized(lower_bound, extent, type)",
];

/// Entries of a list that texts for people have before the rest is counted.
const SHOWN: usize = 6;

pub(crate) fn signature(name: &str) -> Option<&'static str> {
    SIGNATURES.into_iter().find(|signature| signature.split('(').next() == Some(name))
}

impl FromStr for Layout {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut reader = TextReader::new(text);
        let layout = reader.layout()?;
        reader.end("the layout")?;
        Ok(layout)
    }
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Layout {
    /// The layout as text, of which the same layout is read again.
    pub fn to_text(&self) -> String {
        self.written(usize::MAX)
    }

    /// The same, only for people: long lists are cut, and their entries counted.
    pub fn to_short_text(&self) -> String {
        self.written(SHOWN)
    }

    /// The layout, lists cut after `most` entries.
    fn written(&self, most: usize) -> String {
        let mut text = String::new();
        write(self, most, &mut text);
        text
    }
}

/// The argument of `subarray` and `darray` that is an order.
const ORDERS: &str = "c|fortran";

/// `MPI_DISTRIBUTE_DFLT_DARG`.
const DEFAULT: &str = "default";

/// The arguments of a signature, as they are written there.
pub(crate) fn argument_names(signature: &str) -> impl Iterator<Item = &str> {
    let (_, names) = signature.split_once('(').unwrap_or_default();
    names.trim_end_matches(')').split(", ")
}

fn write(layout: &Layout, most: usize, text: &mut String) {
    if let Constructor::Named { element } = layout.constructor() {
        text.push_str(element.name());
        return;
    }
    text.push_str(layout.constructor().name());
    text.push('(');
    for (i, argument) in layout.constructor().arguments().into_iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        argument.write(most, text);
    }
    text.push(')');
}

impl Argument<'_> {
    fn write(self, most: usize, text: &mut String) {
        match self {
            Self::Number(number) | Self::Address(number) => text.push_str(&number.to_string()),
            Self::Order(order) => text.push_str(order.name()),
            Self::List(list) | Self::Addresses(list) => {
                write_list(list, most, text, |number, text| text.push_str(&number.to_string()));
            }
            Self::Distributions(list) => {
                write_list(list, most, text, |distribution, text| text.push_str(distribution.name()));
            }
            Self::Blocks(list) => write_list(list, most, text, |block, text| {
                text.push_str(&block.map_or_else(|| DEFAULT.to_owned(), |block| block.to_string()));
            }),
            Self::Type(child) => write(child, most, text),
            Self::Types(children) => write_list(children, most, text, |child, text| write(child, most, text)),
        }
    }
}

fn write_list<T>(list: &[T], most: usize, text: &mut String, item: impl Fn(&T, &mut String)) {
    text.push('[');
    for (i, value) in list.iter().take(most).enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        item(value, text);
    }
    if list.len() > most {
        text.push_str(&format!(", … {} in all", list.len()));
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unusual::unusual_layout;
    use crate::{Element, MAX_DEPTH};

    fn refused(text: &str) -> String {
        text.parse::<Layout>().unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_as_the_same_layout() {
        for seed in 0..3000 {
            let layout = unusual_layout(seed, 1 + (seed % 6) as u32);
            let text = layout.to_text();
            assert_eq!(text.parse::<Layout>().as_ref(), Ok(&layout), "{text}");
            // As parameters have it.
            assert_eq!(text.replace(' ', "").parse::<Layout>(), Ok(layout), "{text}");
        }
        for element in Element::ALL {
            assert_eq!(element.name().parse::<Layout>(), Ok(Layout::named(element)));
        }
    }

    #[test]
    fn layouts_are_read_as_they_are_written_here_and_in_programs() {
        let rows = include_str!("text/read.txt").lines().filter(|row| !row.starts_with('#'));
        for (text, expected) in rows.map(|row| row.split_once(" => ").unwrap()) {
            let layout = text.replace("\\n", "\n").parse::<Layout>().map(|layout| layout.to_text());
            assert_eq!(layout.as_deref(), Ok(expected), "{text}");
        }
        let name = |layout: &str| format!("{}(", layout.parse::<Layout>().unwrap().constructor().name());
        let examples = include_str!("text/read.txt").lines().skip(1).take(SIGNATURES.len());
        for (row, signature) in examples.zip(SIGNATURES) {
            assert!(signature.starts_with(&name(row.split_once(" => ").unwrap().1)), "{signature}");
        }
    }

    #[test]
    fn errors_are_reported_with_their_place_and_what_would_be_right() {
        let rows = include_str!("text/refused.txt").lines().filter(|row| !row.starts_with('#'));
        for (text, start) in rows.map(|row| row.split_once(" => ").unwrap()) {
            let error = refused(&text.replace("\\n", "\n"));
            assert!(error.starts_with(start), "{text}: {error}");
        }
        let nested = |depth: usize| format!("{}byte{}", "contiguous(1,".repeat(depth), ")".repeat(depth));
        assert!(nested(MAX_DEPTH as usize - 1).parse::<Layout>().is_ok());
        assert!(refused(&nested(MAX_DEPTH as usize)).contains("at most 60 levels"));
        // A stack of its own size decides nothing.
        assert!(refused(&nested(1_000_000)).contains("at most 60 levels"));
    }

    #[test]
    fn long_lists_are_cut_for_people_and_counted() {
        let list: Vec<i64> = (0..100).map(|i| i * i).collect();
        let layout = Layout::indexed_block(2, &list, &Layout::named(Element::Float)).unwrap();
        assert_eq!(layout.to_short_text(), "indexed_block(2, [0, 1, 4, 9, 16, 25, … 100 in all], float)");
        assert!(refused(&layout.to_short_text()).contains("`…`"));
    }
}

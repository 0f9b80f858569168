//! Layouts as text: MPI's constructors as calls, `vector(408, 5, 2050, double)`, read and written.
//!
//! Arguments are in MPI's order, the type last, lists in brackets: [`SIGNATURES`]. A type is one of [`Element::ALL`] by its name, or a
//! constructor again. Blanks and ends of lines may be anywhere between words.
//!
//! Calls as they are in programs are read too: `MPI_Type_vector(408, 5, 2050, MPI_DOUBLE, &face)`, C's and Fortran's names of types
//! (`int`, `real(8)`), lists in braces and with their length before them.
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

use std::borrow::Cow;
use std::str::FromStr;

pub use index_list::{ListForm, index_list, repeated_index};
pub use names::{no_such, similar};
pub use program::{is_program, program};
pub use reader::{NamedList, TextError, TextReader};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use value::Definitions;

use crate::{Constructor, DistributedArray, Distribution, Layout, Order};

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

fn signature(name: &str) -> Option<&'static str> {
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
fn argument_names(signature: &str) -> impl Iterator<Item = &str> {
    let (_, names) = signature.split_once('(').unwrap_or_default();
    names.trim_end_matches(')').split(", ")
}

enum Argument<'a> {
    Number(i64),
    List(Cow<'a, [i64]>),
    Order(Order),
    Distributions(Cow<'a, [Distribution]>),
    /// Numbers, or the default.
    Blocks(Cow<'a, [Option<i64>]>),
    Type(Layout),
    Types(Cow<'a, [Layout]>),
}

/// The arguments of a constructor, in the order in which they are written.
fn arguments(constructor: &Constructor) -> Vec<Argument<'_>> {
    use Argument::{Number, Type, Types};
    fn list(list: &[i64]) -> Argument<'_> {
        Argument::List(list.into())
    }
    match constructor {
        Constructor::Named { .. } => Vec::new(),
        Constructor::Contiguous { count, child } => vec![Number(*count), Type(child.clone())],
        Constructor::Vector { count, blocklength, stride, child }
        | Constructor::Hvector { count, blocklength, stride_bytes: stride, child } => {
            vec![Number(*count), Number(*blocklength), Number(*stride), Type(child.clone())]
        }
        Constructor::Indexed { blocklengths, displacements, child }
        | Constructor::Hindexed { blocklengths, displacements_bytes: displacements, child } => {
            vec![list(blocklengths), list(displacements), Type(child.clone())]
        }
        Constructor::IndexedBlock { blocklength, displacements, child }
        | Constructor::HindexedBlock { blocklength, displacements_bytes: displacements, child } => {
            vec![Number(*blocklength), list(displacements), Type(child.clone())]
        }
        Constructor::Struct { blocklengths, displacements_bytes, children } => {
            vec![list(blocklengths), list(displacements_bytes), Types(children.into())]
        }
        Constructor::Subarray { sizes, subsizes, starts, order, child } => {
            vec![list(sizes), list(subsizes), list(starts), Argument::Order(*order), Type(child.clone())]
        }
        Constructor::Darray { array, child } => {
            let DistributedArray { size, rank, gsizes, distribs, dargs, psizes, order } = array;
            vec![
                Number(*size),
                Number(*rank),
                list(gsizes),
                Argument::Distributions(distribs.into()),
                Argument::Blocks(dargs.into()),
                list(psizes),
                Argument::Order(*order),
                Type(child.clone()),
            ]
        }
        Constructor::Resized { lower_bound, extent, child } => {
            vec![Number(*lower_bound), Number(*extent), Type(child.clone())]
        }
    }
}

/// The constructor called `name` with these arguments, which are of the kinds of its signature. Lists are taken.
fn constructor(name: &str, arguments: &mut [Argument<'_>]) -> Constructor {
    use Argument::{List, Number, Type, Types};
    fn own<T: Clone>(list: &mut Cow<'_, [T]>) -> Vec<T> {
        std::mem::take(list).into_owned()
    }
    match (name, arguments) {
        ("contiguous", [Number(count), Type(child)]) => {
            Constructor::Contiguous { count: *count, child: child.clone() }
        }
        ("vector", &mut [Number(count), Number(blocklength), Number(stride), Type(ref child)]) => {
            Constructor::Vector { count, blocklength, stride, child: child.clone() }
        }
        ("hvector", &mut [Number(count), Number(blocklength), Number(stride_bytes), Type(ref child)]) => {
            Constructor::Hvector { count, blocklength, stride_bytes, child: child.clone() }
        }
        ("indexed", [List(lengths), List(places), Type(child)]) => Constructor::Indexed {
            blocklengths: own(lengths),
            displacements: own(places),
            child: child.clone(),
        },
        ("hindexed", [List(lengths), List(places), Type(child)]) => Constructor::Hindexed {
            blocklengths: own(lengths),
            displacements_bytes: own(places),
            child: child.clone(),
        },
        ("indexed_block", [Number(length), List(places), Type(child)]) => Constructor::IndexedBlock {
            blocklength: *length,
            displacements: own(places),
            child: child.clone(),
        },
        ("hindexed_block", [Number(length), List(places), Type(child)]) => Constructor::HindexedBlock {
            blocklength: *length,
            displacements_bytes: own(places),
            child: child.clone(),
        },
        ("struct", [List(lengths), List(places), Types(children)]) => Constructor::Struct {
            blocklengths: own(lengths),
            displacements_bytes: own(places),
            children: own(children),
        },
        ("subarray", [List(sizes), List(subsizes), List(starts), Argument::Order(order), Type(child)]) => {
            let [sizes, subsizes, starts] = [sizes, subsizes, starts].map(own);
            Constructor::Subarray { sizes, subsizes, starts, order: *order, child: child.clone() }
        }
        (
            "darray",
            [
                Number(size),
                Number(rank),
                List(gsizes),
                Argument::Distributions(distribs),
                Argument::Blocks(dargs),
                List(psizes),
                Argument::Order(order),
                Type(child),
            ],
        ) => {
            let [gsizes, psizes] = [gsizes, psizes].map(own);
            let (distribs, dargs) = (own(distribs), own(dargs));
            let (size, rank, order) = (*size, *rank, *order);
            let array = DistributedArray { size, rank, gsizes, distribs, dargs, psizes, order };
            Constructor::Darray { array, child: child.clone() }
        }
        ("resized", &mut [Number(lower_bound), Number(extent), Type(ref child)]) => {
            Constructor::Resized { lower_bound, extent, child: child.clone() }
        }
        _ => unreachable!("{name} has arguments of its signature"),
    }
}

fn write(layout: &Layout, most: usize, text: &mut String) {
    if let Constructor::Named { element } = layout.constructor() {
        text.push_str(element.name());
        return;
    }
    text.push_str(layout.constructor().name());
    text.push('(');
    for (i, argument) in arguments(layout.constructor()).into_iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        argument.write(most, text);
    }
    text.push(')');
}

impl Argument<'_> {
    fn write(&self, most: usize, text: &mut String) {
        match self {
            Self::Number(number) => text.push_str(&number.to_string()),
            Self::Order(order) => text.push_str(order.name()),
            Self::List(list) => {
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
    use crate::pool::random_layout;
    use crate::{Element, MAX_DEPTH};

    fn refused(text: &str) -> String {
        text.parse::<Layout>().unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_as_the_same_layout() {
        for seed in 0..3000 {
            let layout = random_layout(seed, (seed % 7) as u32, 400);
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
    fn every_constructor_is_read_by_its_signature() {
        let examples = [
            "contiguous(3, int32)",
            "vector(408, 5, 2050, double)",
            "hvector(3, 2, -40, double_complex)",
            "indexed([1, 2], [5, -3], float)",
            "hindexed([1, 2], [64, 0], float)",
            "indexed_block(3, [0, 9, 4], byte)",
            "hindexed_block(3, [0, 90], char)",
            "struct([1, 3], [0, 8], [int32, resized(-4, 16, double)])",
            "subarray([102, 52], [2, 50], [99, 1], fortran, double)",
            "darray(6, 1, [10, 7, 4], [cyclic, block, none], [2, default, default], [2, 3, 1], c, double)",
            "resized(0, 64, vector(2, 1, 3, uint16))",
        ];
        for (text, signature) in examples.into_iter().zip(SIGNATURES) {
            let layout: Layout = text.parse().unwrap();
            assert!(signature.starts_with(&format!("{}(", layout.constructor().name())), "{signature}");
            assert_eq!(layout.to_text(), text);
        }
        let spread = "subarray(\n  [4, 4],\n  [1 ,2], [0,0] , c,\n  double )\n";
        assert_eq!(
            spread.parse::<Layout>().unwrap().to_text(),
            "subarray([4, 4], [1, 2], [0, 0], c, double)"
        );
    }

    #[test]
    fn calls_are_read_as_they_are_in_programs() {
        for (call, text) in [
            ("MPI_Type_vector(408, 5, 2050, MPI_DOUBLE)", "vector(408, 5, 2050, double)"),
            (
                "MPI_TYPE_VECTOR(408, 5, 2050, MPI_DOUBLE_PRECISION, column, ierr)",
                "vector(408, 5, 2050, double)",
            ),
            ("call MPI_Type_vector(4, 1, 2, MPI_REAL8, column, ierror)", "vector(4, 1, 2, double)"),
            ("MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &column);\n", "vector(4, 1, 2, double)"),
            ("Vector(4, 1, 2, int)", "vector(4, 1, 2, int32)"),
            ("MPI_Type_create_hvector(3, 2, 40, MPI_INT, &rows)", "hvector(3, 2, 40, int32)"),
            ("MPI_Type_indexed(2, {1, 2}, {5, 9}, MPI_FLOAT, &type)", "indexed([1, 2], [5, 9], float)"),
            ("MPI_Type_create_indexed_block(2, 3, {0, 9}, MPI_BYTE)", "indexed_block(3, [0, 9], byte)"),
            (
                "MPI_Type_create_struct(2, {1, 3}, {0, 8}, {MPI_LONG, real(8)}, &atom)",
                "struct([1, 3], [0, 8], [int64, double])",
            ),
            (
                "MPI_Type_create_subarray(2, [102, 52], [2, 50], [99, 1], MPI_ORDER_FORTRAN, double precision)",
                "subarray([102, 52], [2, 50], [99, 1], fortran, double)",
            ),
            (
                "MPI_Type_create_darray(4, 0, 2, {6, 4}, {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, \
                 {2, MPI_DISTRIBUTE_DFLT_DARG}, {2, 2}, MPI_ORDER_C, MPI_INT, &part)",
                "darray(4, 0, [6, 4], [cyclic, block], [2, default], [2, 2], c, int32)",
            ),
            (
                "MPI_Type_create_resized(MPI_Type_contiguous(2, long), 0, 64, &wide)",
                "resized(0, 64, contiguous(2, int64))",
            ),
        ] {
            assert_eq!(call.parse::<Layout>().map(|layout| layout.to_text()), Ok(text.to_owned()), "{call}");
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

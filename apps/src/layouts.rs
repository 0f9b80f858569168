//! One side of a message as text: layouts with counts, each in its own array.
//!
//! `3 * vector(8, 1, 4, double) @ 64 + contiguous(10, int32)`: three copies of the vector, one extent apart, whose
//! displacement 0 is byte 64 of the first array; then a run from the second array. `COUNT *` and `@ BYTES` may be
//! left out. [`datatypes::SIGNATURES`] defines the text of a layout. In what users type, `@halo_list.txt, base=1` is the list of the numbers in a file.

use std::path::Path;

use datatypes::{
    Definitions, Layout, LayoutError, ListForm, TextError, TextReader, index_list, is_program, program,
};

use crate::{Message, Piece};

/// Maximum number of arrays per side: both sides together have as many as [`crate::Arrays`] can start in
/// different cache sets.
const MOST: usize = 32;

/// Displacement 0 is at a multiple of this by default, because arrays begin with a cache line.
const ALIGN_BYTES: i64 = 64;

/// Longest text, in characters, that results show; longer ones get a name.
const MOST_TOLD: usize = 64;

/// Layouts with counts, each in its own array, in wire order.
#[derive(Clone, Debug, PartialEq)]
pub struct Layouts(Vec<CountedLayout>);

impl Eq for Layouts {}

/// A layout with the count and the place that are passed to MPI.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedLayout {
    /// Copies, one extent apart.
    pub count: i64,
    pub layout: Layout,
    /// Byte of the array at which displacement 0 of the first copy is. `None`: as low as the data allows, at
    /// the start of a cache line.
    pub origin_bytes: Option<i64>,
}

impl std::str::FromStr for Layouts {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        read(TextReader::new(text))
    }
}

/// Reads layouts up to the end of the text.
fn read(mut reader: TextReader<'_>) -> Result<Layouts, TextError> {
    let mut all = Vec::new();
    loop {
        let place = reader.place();
        if all.len() == MOST {
            return Err(reader.error_at(place, format!("a layout more than {MOST}, the most there can be")));
        }
        all.push(counted(&mut reader)?);
        if !reader.eat('+') {
            break;
        }
    }
    reader.end("the layout; `+` joins layouts, each in an array of its own")?;
    Ok(Layouts(all))
}

/// The numbers of a file, relative to the current directory.
fn list_file(name: &str, form: ListForm) -> Result<Vec<i64>, String> {
    /// Bytes at most, of more than 100 million numbers: a larger file is not a list.
    const MOST: u64 = 1 << 30;
    let file = Path::new(name).metadata().map_err(|error| error.to_string())?;
    if !file.is_file() || file.len() > MOST {
        return Err("is not a file with numbers".to_owned());
    }
    let text = std::fs::read_to_string(name).map_err(|error| error.to_string())?;
    index_list(&text, form)
}

/// Reads a layout with its count and its place.
fn counted(reader: &mut TextReader<'_>) -> Result<CountedLayout, TextError> {
    let mut count = 1;
    if reader.is_at_number() {
        let place = reader.place();
        count = reader.number("the count of a layout")?;
        if count < 1 {
            return Err(reader.error_at(place, format!("a count of {count}: must be at least 1")));
        }
        let place = reader.place();
        if !reader.eat('*') {
            return Err(
                reader.error_at(place, "`*` is expected after a count, as in 3 * vector(8, 1, 4, double)")
            );
        }
    }
    let place = reader.place();
    let layout = reader.layout()?;
    let mut origin_bytes = None;
    if reader.eat('@') {
        origin_bytes = Some(reader.number("the byte of the array at which displacement 0 lies")?);
    }
    let counted = CountedLayout { count, layout, origin_bytes };
    counted.whole().map_err(|error| reader.error_at(place, error.to_string()))?;
    Ok(counted)
}

impl CountedLayout {
    /// All copies as one layout: that of the single copy, or a contiguous type of them.
    ///
    /// # Errors
    /// If they reach beyond 64 bits.
    pub fn whole(&self) -> Result<Layout, LayoutError> {
        if self.count == 1 { Ok(self.layout.clone()) } else { Layout::contiguous(self.count, &self.layout) }
    }
}

/// The default place of displacement 0: as low as the data allows, at the start of a cache line.
fn lowest_origin(layout: &Layout) -> i64 {
    let below = layout.true_lower_bound().min(0).unsigned_abs();
    i64::try_from(below.next_multiple_of(ALIGN_BYTES as u64)).unwrap_or(i64::MAX)
}

impl Layouts {
    /// Reads what a user typed, in which `@FILE` is the list of the numbers in a file: layouts, or the statements of a program.
    ///
    /// # Errors
    /// The place of the error, and what would be right.
    pub fn typed(text: &str, definitions: &Definitions) -> Result<Self, TextError> {
        if is_program(text) {
            let (count, layout) = program(text, list_file, definitions)?;
            return Ok(Self(vec![CountedLayout { count, layout, origin_bytes: None }]));
        }
        read(TextReader::with_lists(text, list_file).with_definitions(definitions))
    }

    /// The layouts of a message; several pieces of one array become a structure.
    ///
    /// # Errors
    /// If an array is left and returned to, or if there are too many arrays.
    pub fn from_message(message: &Message) -> Result<Self, String> {
        let mut all: Vec<CountedLayout> = Vec::new();
        let mut seen: Vec<usize> = Vec::new();
        for pieces in message.pieces.chunk_by(|a, b| a.array == b.array) {
            let array = pieces[0].array;
            if seen.contains(&array) {
                return Err(format!(
                    "array {array} is left and returned to: the pieces of an array must follow each other"
                ));
            }
            seen.push(array);
            let one =
                Message { pieces: pieces.iter().map(|piece| Piece { array: 0, ..piece.clone() }).collect() };
            let (origin, layout) = one.datatype(&[0]);
            let origin_bytes = (origin != lowest_origin(&layout)).then_some(origin);
            all.push(CountedLayout { count: 1, layout, origin_bytes });
        }
        match all.len() {
            0 => Err("no layout".to_owned()),
            1..=MOST => Ok(Self(all)),
            more => Err(format!("{more} arrays: there can be {MOST} at most")),
        }
    }

    /// The layouts, in wire order.
    pub fn iter(&self) -> impl Iterator<Item = &CountedLayout> {
        self.0.iter()
    }

    /// Each of them by itself.
    pub(crate) fn singles(&self) -> impl Iterator<Item = Self> + '_ {
        self.0.iter().map(|layout| Self(vec![layout.clone()]))
    }

    /// The same, to give them the bounds that an MPI reports.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut CountedLayout> {
        self.0.iter_mut()
    }

    /// The pieces of a message whose arrays begin with number `first`.
    pub(crate) fn pieces(&self, first: usize) -> Result<Vec<Piece>, LayoutError> {
        let piece = |(i, counted): (usize, &CountedLayout)| {
            let layout = counted.whole()?;
            let origin_bytes = counted.origin_bytes.unwrap_or_else(|| lowest_origin(&layout));
            Ok(Piece { array: first + i, origin_bytes, layout })
        };
        self.0.iter().enumerate().map(piece).collect()
    }

    /// As text for people: long lists are shortened and show their number of entries.
    pub fn to_short_text(&self) -> String {
        self.written(Layout::to_short_text)
    }

    fn written(&self, layout_text: fn(&Layout) -> String) -> String {
        let one = |counted: &CountedLayout| {
            let count = if counted.count == 1 { String::new() } else { format!("{} * ", counted.count) };
            let origin = counted.origin_bytes.map_or_else(String::new, |origin| format!(" @ {origin}"));
            count + &layout_text(&counted.layout) + &origin
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(" + ")
    }

    /// As text without blanks, the form used in values of parameters.
    pub(crate) fn value(&self) -> String {
        self.to_string().replace(' ', "")
    }

    /// The name in results: the text without blanks if it is short, else the constructor and a hash of the
    /// text, which identifies the same layouts in any run.
    pub(crate) fn label(&self) -> String {
        let text = self.value();
        if text.len() <= MOST_TOLD {
            return text;
        }
        format!("{}-{:016x}", self.0[0].layout.constructor().name(), fnv_1a(text.as_bytes()))
    }
}

impl std::fmt::Display for Layouts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.written(Layout::to_text))
    }
}

/// The hash FNV-1a of 64 bits. It is the same in every version and on every machine; the standard library's
/// hash is not.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use datatypes::unusual::unusual_layout;

    use super::*;
    use crate::{Context, Side, TESTS, WireOrder};

    #[test]
    fn layouts_are_read_as_users_type_them() {
        let rows = include_str!("layouts/typed.txt").lines().filter(|row| !row.starts_with('#'));
        for (typed, expected) in rows.map(|row| row.split_once(" => ").unwrap()) {
            match Layouts::typed(typed, &Definitions::default()) {
                Ok(layouts) => {
                    assert_eq!(layouts.to_string(), expected, "{typed}");
                    assert_eq!(layouts.value().parse(), Ok(layouts));
                }
                Err(error) => assert!(error.to_string().starts_with(expected), "{typed}: {error}"),
            }
            if typed.contains("@src") {
                assert!(typed.parse::<Layouts>().unwrap_err().to_string().contains("no file is read here"));
            }
        }
        let pieces = "double + 2*hvector(2, 1, -72, byte)".parse::<Layouts>().unwrap().pieces(1).unwrap();
        assert_eq!((pieces[0].array, pieces[0].origin_bytes), (1, 0));
        // The lowest byte is at -72: the next multiple of 64 leaves room for it.
        assert_eq!((pieces[1].array, pieces[1].origin_bytes, pieces[1].layout.size()), (2, 128, 4));
    }

    #[test]
    fn every_message_is_written_so_that_it_reads_as_the_same_segments() {
        for test in TESTS {
            let app = test.build(&test.set(test.quick_set().name).unwrap(), Context::default()).unwrap();
            for side in [Side::Send, Side::Receive] {
                let message = app.message(side, WireOrder::Ddt);
                let layouts = Layouts::from_message(&message).unwrap();
                let again: Layouts = layouts.to_string().parse().unwrap();
                assert_eq!(again, layouts, "{}", test.name);
                let pieces = Message { pieces: again.pieces(0).unwrap() };
                let places = |message: &Message| {
                    message.segments().map(|(_, s)| (s.offset, s.bytes)).collect::<Vec<_>>()
                };
                assert_eq!(places(&pieces), places(&message), "{}", test.name);
            }
        }
    }

    #[test]
    fn long_texts_have_a_name_of_their_own_in_results() {
        let label = |text: &str| text.parse::<Layouts>().unwrap().label();
        assert_eq!(label("vector(408, 5, 2050, double)"), "vector(408,5,2050,double)");
        let list: Vec<_> = (0..100).map(|i| (i * i).to_string()).collect();
        let text = format!("indexed_block(1, [{}], double)", list.join(", "));
        assert_eq!(label(&text), "indexed_block-81c43fd402adac52");
        assert_ne!(label(&text), label(&text.replace("double", "int64")));
    }

    #[test]
    fn what_an_array_is_left_and_returned_to_for_is_no_list_of_layouts() {
        let piece = |array, seed| Piece { array, origin_bytes: 8, layout: unusual_layout(seed, 2) };
        let of = |arrays: &[usize]| {
            Layouts::from_message(&Message { pieces: arrays.iter().map(|&array| piece(array, 3)).collect() })
        };
        assert_eq!(of(&[0, 0, 1]).unwrap().iter().count(), 2);
        assert!(of(&[0, 1, 0]).unwrap_err().contains("array 0 is left"));
        assert!(of(&[]).unwrap_err().contains("no layout"));
    }
}

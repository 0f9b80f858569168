//! The data of a message by the type map: which bytes belong to it, and what they are after a transfer.
//!
//! Slow and literal: it uses the type map only.

use std::cell::OnceCell;

use datatypes::{Element, Layout, TypeMap};

/// A value of a predefined type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Bytes from the address that is passed to MPI.
    pub displacement: i64,
    /// Its type.
    pub element: Element,
}

/// All values of some items of a layout, in the order of the type map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    pub values: Vec<Value>,
    /// The first byte of memory and one past the last, from the address that is passed to MPI. It has the data and, if there is any, the
    /// bytes at the addresses of the items: both must be in the same storage (MPI-4.1, section 5.1.12).
    pub span: (i64, i64),
    /// Parts of memory with data and some bytes around it, in ascending order: images of memory have only these.
    pub windows: Vec<Window>,
    are_disjoint: OnceCell<bool>,
}

/// A part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first byte and one past its last, from the address that is passed to MPI.
    pub span: (i64, i64),
    /// Its first byte in an image of memory.
    pub at: usize,
}

/// Data that is farther apart is in several windows, with so many bytes next to the data that must not change.
const FAR: i64 = 1 << 22;
const MARGIN: i64 = 64;

/// The first byte that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where, for a person.
    pub text: String,
    /// Whether it belongs to the data; otherwise it should not have changed.
    pub is_data: bool,
}

/// The value of memory that is not written yet.
pub const UNWRITTEN: u8 = 0xA5;

impl Items {
    /// The values of `items` items of a layout.
    pub fn from_layout(layout: &Layout, items: u32) -> Self {
        let map = TypeMap::from_layout(layout);
        let one: Vec<(Element, i64)> = map.data().collect();
        let extent = layout.extent();
        let values: Vec<Value> = (0..i64::from(items))
            .flat_map(|item| {
                one.iter()
                    .map(move |(element, at)| Value { displacement: at + item * extent, element: *element })
            })
            .collect();
        let last = (i64::from(items) - 1) * extent;
        let from = values.iter().map(|value| value.displacement.min(last).min(0)).min().unwrap_or(0);
        let to = values.iter().map(|value| value.end().max(last + 1).max(1)).max().unwrap_or(0);
        let windows = windows(&values, (from, to));
        Self { values, span: (from, to), windows, are_disjoint: OnceCell::new() }
    }

    /// Bytes of an image of memory.
    pub fn image_bytes(&self) -> usize {
        self.windows.last().map_or(0, Window::end)
    }

    /// Bytes of data.
    pub fn bytes(&self) -> usize {
        self.values.iter().map(|value| value.element.size() as usize).sum()
    }

    /// Bytes from the first to the last.
    pub fn span_bytes(&self) -> usize {
        (self.span.1 - self.span.0) as usize
    }

    /// Whether they can be received: no byte belongs to two values (MPI-4.1, section 5.1.11).
    pub fn are_disjoint(&self) -> bool {
        *self.are_disjoint.get_or_init(|| {
            let mut places: Vec<_> =
                self.values.iter().map(|value| (value.displacement, value.end())).collect();
            places.sort_unstable();
            places.windows(2).all(|pair| pair[0].1 <= pair[1].0)
        })
    }

    /// The memory of a sender.
    pub fn filled(&self, salt: u64) -> Vec<u8> {
        let mut memory: Vec<u8> = (0..self.image_bytes()).map(|place| byte(place, salt)).collect();
        // A C bool is 0 or 1.
        for value in self.values.iter().filter(|value| value.element == Element::Bool) {
            memory[self.place(value.displacement)] &= 1;
        }
        memory
    }

    /// The values in memory, one after the other.
    pub fn gathered(&self, memory: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.bytes());
        self.places().for_each(|(at, bytes)| packed.extend_from_slice(&memory[at..at + bytes]));
        packed
    }

    /// Memory of a receiver after these bytes have arrived.
    pub fn scattered(&self, packed: &[u8]) -> Vec<u8> {
        let mut memory = vec![UNWRITTEN; self.image_bytes()];
        self.scatter_into(packed, &mut memory);
        memory
    }

    /// Writes packed bytes to an image of memory.
    pub fn scatter_into(&self, packed: &[u8], memory: &mut [u8]) {
        let mut next = 0;
        for (at, bytes) in self.places() {
            // A message may be shorter.
            let Some(value) = packed.get(next..next + bytes) else { break };
            memory[at..at + bytes].copy_from_slice(value);
            next += bytes;
        }
    }

    /// The same values in big-endian order, that of `external32` (MPI-4.1, section 14.5.2).
    pub fn big_endian(&self, packed: &[u8]) -> Vec<u8> {
        let mut swapped = packed.to_vec();
        let mut next = 0;
        for Value { element, .. } in &self.values {
            let bytes = element.size() as usize;
            let part = match element {
                Element::FloatComplex | Element::DoubleComplex => bytes / 2,
                _ => bytes,
            };
            swapped[next..next + bytes].chunks_exact_mut(part).for_each(<[u8]>::reverse);
            next += bytes;
        }
        swapped
    }

    /// The difference of a receiver's memory from the expected one; `None` if there is none.
    pub fn difference(&self, expected: &[u8], found: &[u8]) -> Option<Difference> {
        // Comparing slices is faster than looking for the place.
        if expected == found {
            return None;
        }
        let place = expected.iter().zip(found).position(|(expected, found)| expected != found)?;
        let at = self.displacement(place);
        let is_data = self.values.iter().any(|value| (value.displacement..value.end()).contains(&at));
        let text = format!("the byte at displacement {at}");
        Some(Difference { text: sentence(&text, expected, found, place), is_data })
    }

    /// Places in an image of memory, with their bytes.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.values.iter().map(|value| (self.place(value.displacement), value.element.size() as usize))
    }

    /// The place of a displacement in an image of memory.
    fn place(&self, displacement: i64) -> usize {
        if let [window] = &self.windows[..] {
            return (displacement - window.span.0) as usize;
        }
        let next = self.windows.partition_point(|window| window.span.0 <= displacement);
        let window = &self.windows[next - 1];
        window.at + (displacement - window.span.0) as usize
    }

    /// The displacement of a place in an image of memory.
    fn displacement(&self, place: usize) -> i64 {
        let next = self.windows.partition_point(|window| window.at <= place);
        let window = &self.windows[next - 1];
        window.span.0 + (place - window.at) as i64
    }
}

impl Window {
    pub fn bytes(&self) -> usize {
        (self.span.1 - self.span.0) as usize
    }

    /// One past its last byte in an image of memory.
    pub fn end(&self) -> usize {
        self.at + self.bytes()
    }
}

/// One window if all data is near; otherwise one for each group of values.
fn windows(values: &[Value], span: (i64, i64)) -> Vec<Window> {
    if span.1 - span.0 <= FAR {
        return vec![Window { span, at: 0 }];
    }
    let mut places: Vec<_> = values.iter().map(|value| (value.displacement, value.end())).collect();
    places.sort_unstable();
    let mut windows: Vec<Window> = Vec::new();
    for (from, to) in places {
        let (from, to) = ((from - MARGIN).max(span.0), (to + MARGIN).min(span.1));
        match windows.last_mut() {
            Some(last) if from <= last.span.1 + FAR => last.span.1 = last.span.1.max(to),
            last => {
                let at = last.map_or(0, |last| last.end());
                windows.push(Window { span: (from, to), at });
            }
        }
    }
    windows
}

impl Value {
    /// One past its last byte.
    pub fn end(&self) -> i64 {
        self.displacement + self.element.size() as i64
    }
}

/// A contiguous type with the signature of some values, and how many of it: the smallest that is repeated. `None` without values.
pub fn contiguous(values: &[Value]) -> Option<(Layout, u32)> {
    let period = period(values);
    let first = values.first()?;
    let count = (values.len() / period) as u32;
    if period == 1 {
        return Some((Layout::named(first.element), count));
    }
    let (mut lengths, mut places, mut types) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for run in values[..period].chunk_by(|value, next| value.element == next.element) {
        lengths.push(run.len() as i64);
        places.push(bytes);
        types.push(Layout::named(run[0].element));
        bytes += run.len() as i64 * run[0].element.size() as i64;
    }
    // Copies of it follow each other without gaps, however its extent is rounded.
    Some((Layout::resized(0, bytes, &Layout::structure(&lengths, &places, &types).ok()?).ok()?, count))
}

/// The least number of values whose types are repeated to the end.
fn period(values: &[Value]) -> usize {
    let all = values.len();
    let is_period = |period: &usize| {
        all.is_multiple_of(*period) && (*period..all).all(|i| values[i].element == values[i - period].element)
    };
    (1..all).find(is_period).unwrap_or(all)
}

/// The difference of packed bytes from the expected ones; `None` if there is none.
pub fn packed_difference(expected: &[u8], found: &[u8]) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} bytes instead of {}", found.len(), expected.len()));
    }
    let place = expected.iter().zip(found).position(|(expected, found)| expected != found)?;
    Some(sentence(&format!("byte {place} of the packed data"), expected, found, place))
}

fn sentence(what: &str, expected: &[u8], found: &[u8], place: usize) -> String {
    let wrong = expected.iter().zip(found).filter(|(expected, found)| expected != found).count();
    format!(
        "{what} is 0x{:02x} instead of 0x{:02x}; {wrong} of {} bytes are wrong",
        found[place],
        expected[place],
        expected.len()
    )
}

/// A byte of a sender's memory: neighbours differ, also those that are a power of two apart, and none is [`UNWRITTEN`].
fn byte(place: usize, salt: u64) -> u8 {
    let mixed = (place as u64 + 1).wrapping_add(salt << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match (mixed >> 56) as u8 {
        UNWRITTEN => 0x5A,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_data_far_apart_have_the_memory_around_it_only() {
        let items = Items::from_layout(&"hvector(2, 1, 3000000000, int32)".parse().unwrap(), 1);
        assert_eq!((items.span, items.image_bytes()), ((0, 3_000_000_004), 2 * 68));
        let memory = items.filled(1);
        let packed = [&memory[..4], &memory[68 + 64..]].concat();
        assert_eq!(items.gathered(&memory), packed);
        let mut found = items.scattered(&packed);
        found[131] ^= 1;
        let difference = items.difference(&items.scattered(&packed), &found).unwrap();
        assert!(difference.text.contains("displacement 2999999999") && !difference.is_data, "{difference:?}");
    }

    #[test]
    fn a_difference_names_its_place() {
        let items = Items::from_layout(&"hindexed([1, 1], [-4, 8], int32)".parse().unwrap(), 1);
        assert_eq!((items.span, items.bytes(), items.span_bytes()), ((-4, 12), 8, 16));
        let expected = items.scattered(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut found = expected.clone();
        assert_eq!(items.difference(&expected, &found), None);
        found[15] = 0;
        let difference = items.difference(&expected, &found).unwrap();
        assert!(difference.is_data);
        assert_eq!(
            difference.text,
            "the byte at displacement 11 is 0x00 instead of 0x08; 1 of 16 bytes are wrong"
        );
        found[6] = 1;
        assert!(!items.difference(&expected, &found).unwrap().is_data, "a hole");
    }

    #[test]
    fn a_contiguous_type_has_the_same_signature() {
        let of = |text: &str, items| {
            let (layout, count) =
                contiguous(&Items::from_layout(&text.parse().unwrap(), items).values).unwrap();
            (layout.to_text(), count)
        };
        assert_eq!(of("vector(2, 1, 3, int32)", 3), ("int32".to_owned(), 6));
        let mixed = "struct([2, 1], [8, 0], [byte, int32])";
        let dense = "resized(0, 6, struct([2, 1], [0, 2], [byte, int32]))";
        assert_eq!(of(mixed, 2), (dense.to_owned(), 2));
        // The last copy would be incomplete.
        let odd = "struct([1, 1, 1], [0, 4, 8], [byte, int32, byte])";
        let dense = "resized(0, 6, struct([1, 1, 1], [0, 1, 5], [byte, int32, byte]))";
        assert_eq!(of(odd, 1), (dense.to_owned(), 1));
        assert_eq!(contiguous(&[]), None);
    }

    #[test]
    fn the_address_that_is_passed_is_in_the_same_storage_as_the_data() {
        let span = |text: &str, items| Items::from_layout(&text.parse().unwrap(), items).span;
        assert_eq!(span("hindexed([2], [8], int32)", 1), (0, 16));
        assert_eq!(span("hindexed([2], [-24], int32)", 1), (-24, 1));
        assert_eq!(span("resized(0, -4, hindexed([1], [8], int32))", 3), (-8, 12));
        assert_eq!((span("int32", 2), span("int32", 0)), ((0, 8), (0, 0)));
    }

    #[test]
    fn values_that_overlap_cannot_be_received() {
        let overlap = |text: &str, items| !Items::from_layout(&text.parse().unwrap(), items).are_disjoint();
        assert!(overlap("hindexed([1, 1], [0, 3], int32)", 1));
        assert!(!overlap("resized(0, 2, int32)", 1) && overlap("resized(0, 2, int32)", 2));
    }

    #[test]
    fn external_values_are_big_endian() {
        let items = Items::from_layout(
            &"struct([1, 1, 1], [0, 2, 8], [int16, byte, float_complex])".parse().unwrap(),
            1,
        );
        let packed: Vec<u8> = (1..=11).collect();
        assert_eq!(items.big_endian(&packed), [2, 1, 3, 7, 6, 5, 4, 11, 10, 9, 8]);
    }
}

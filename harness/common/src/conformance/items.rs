//! The data of a message by the type map: which bytes belong to it, and what they are after a transfer.
//!
//! Slow and literal: it uses the type map only.

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
    /// The values.
    pub values: Vec<Value>,
    /// The first byte of memory and one past the last, from the address that is passed to MPI. It has the data and, if there is any, the
    /// bytes at the addresses of the items: both must be in the same storage (MPI-4.1, section 5.1.12).
    pub span: (i64, i64),
}

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
    pub fn of(layout: &Layout, items: u32) -> Self {
        let map = TypeMap::of(layout);
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
        Self { values, span: (from, to) }
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
        let mut places: Vec<_> = self.values.iter().map(|value| (value.displacement, value.end())).collect();
        places.sort_unstable();
        places.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    }

    /// The memory of a sender, from the first byte of the data to the last.
    pub fn filled(&self, salt: u64) -> Vec<u8> {
        let mut memory: Vec<u8> = (0..self.span_bytes()).map(|place| byte(place, salt)).collect();
        // A C bool is 0 or 1.
        for value in self.values.iter().filter(|value| value.element == Element::Bool) {
            memory[(value.displacement - self.span.0) as usize] &= 1;
        }
        memory
    }

    /// The values in memory, one after the other.
    pub fn gathered(&self, memory: &[u8]) -> Vec<u8> {
        self.places().flat_map(|(at, bytes)| memory[at..at + bytes].iter().copied()).collect()
    }

    /// Memory of a receiver after these bytes have arrived.
    pub fn scattered(&self, packed: &[u8]) -> Vec<u8> {
        let mut memory = vec![UNWRITTEN; self.span_bytes()];
        self.scatter_into(packed, &mut memory);
        memory
    }

    /// Writes packed bytes to memory that begins at the first byte of the data.
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

    /// Bytes of the first `count` values.
    pub fn bytes_of_first(&self, count: usize) -> usize {
        self.values[..count].iter().map(|value| value.element.size() as usize).sum()
    }

    /// The difference of a receiver's memory from the expected one; `None` if there is none.
    pub fn difference(&self, expected: &[u8], found: &[u8]) -> Option<Difference> {
        let place = expected.iter().zip(found).position(|(expected, found)| expected != found)?;
        let at = place as i64 + self.span.0;
        let is_data = self.values.iter().any(|value| (value.displacement..value.end()).contains(&at));
        let text = format!("the byte at displacement {at}");
        Some(Difference { text: sentence(&text, expected, found, place), is_data })
    }

    /// Places in memory that begins at the first byte of data, with their bytes.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let at = |value: &Value| (value.displacement - self.span.0) as usize;
        self.values.iter().map(move |value| (at(value), value.element.size() as usize))
    }
}

impl Value {
    /// One past its last byte.
    pub fn end(&self) -> i64 {
        self.displacement + self.element.size() as i64
    }
}

/// A contiguous type with the signature of some values, and how many of it; `None` without values.
pub fn contiguous(values: &[Value]) -> Option<(Layout, u32)> {
    let first = values.first()?;
    if values.iter().all(|value| value.element == first.element) {
        return Some((Layout::named(first.element), values.len() as u32));
    }
    let (mut lengths, mut places, mut types) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for run in values.chunk_by(|value, next| value.element == next.element) {
        lengths.push(run.len() as i64);
        places.push(bytes);
        types.push(Layout::named(run[0].element));
        bytes += run.len() as i64 * run[0].element.size() as i64;
    }
    // Copies of it follow each other without gaps, however its extent is rounded.
    Some((Layout::resized(0, bytes, &Layout::structure(&lengths, &places, &types).ok()?).ok()?, 1))
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
    use datatypes::interpret;
    use datatypes::unusual::unusual_layout;

    use super::*;

    /// The other oracle of the layouts, which works on whole arrays, agrees with every comparison of this one.
    #[test]
    fn an_mpi_that_answers_from_the_interpreter_has_no_fault() {
        let mut receivable = 0;
        for seed in 0..20_000 {
            let layout = unusual_layout(seed, 1 + (seed % 4) as u32);
            let (count, items) = (seed % 4, Items::of(&layout, (seed % 4) as u32));
            let origin = -items.span.0;
            let memory = items.filled(seed);
            let packed = interpret::pack(&layout, count, &memory, origin).unwrap();
            let text = layout.to_text();
            assert_eq!(packed_difference(&items.gathered(&memory), &packed), None, "{text}");
            assert_eq!(packed.len(), items.bytes(), "{text}");
            if items.are_disjoint() {
                receivable += 1;
                let mut received = vec![UNWRITTEN; items.span_bytes()];
                interpret::unpack(&layout, count, &packed, &mut received, origin).unwrap();
                assert_eq!(items.difference(&items.scattered(&packed), &received), None, "{text}");
            }
        }
        assert!(receivable > 8000, "{receivable}");
    }

    #[test]
    fn a_difference_names_its_place() {
        let items = Items::of(&"hindexed([1, 1], [-4, 8], int32)".parse().unwrap(), 1);
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
            let (layout, count) = contiguous(&Items::of(&text.parse().unwrap(), items).values).unwrap();
            (layout.to_text(), count)
        };
        assert_eq!(of("vector(2, 1, 3, int32)", 3), ("int32".to_owned(), 6));
        let mixed = "struct([2, 1], [8, 0], [byte, int32])";
        let dense = "resized(0, 12, struct([2, 1, 2, 1], [0, 2, 6, 8], [byte, int32, byte, int32]))";
        assert_eq!(of(mixed, 2), (dense.to_owned(), 1));
        assert_eq!(contiguous(&[]), None);
    }

    #[test]
    fn the_address_that_is_passed_is_in_the_same_storage_as_the_data() {
        let span = |text: &str, items| Items::of(&text.parse().unwrap(), items).span;
        assert_eq!(span("hindexed([2], [8], int32)", 1), (0, 16));
        assert_eq!(span("hindexed([2], [-24], int32)", 1), (-24, 1));
        assert_eq!(span("resized(0, -4, hindexed([1], [8], int32))", 3), (-8, 12));
        assert_eq!((span("int32", 2), span("int32", 0)), ((0, 8), (0, 0)));
    }

    #[test]
    fn values_that_overlap_cannot_be_received() {
        let overlap = |text: &str, items| !Items::of(&text.parse().unwrap(), items).are_disjoint();
        assert!(overlap("hindexed([1, 1], [0, 3], int32)", 1));
        assert!(!overlap("resized(0, 2, int32)", 1) && overlap("resized(0, 2, int32)", 2));
    }

    #[test]
    fn external_values_are_big_endian() {
        let items =
            Items::of(&"struct([1, 1, 1], [0, 2, 8], [int16, byte, float_complex])".parse().unwrap(), 1);
        let packed: Vec<u8> = (1..=11).collect();
        assert_eq!(items.big_endian(&packed), [2, 1, 3, 7, 6, 5, 4, 11, 10, 9, 8]);
    }
}

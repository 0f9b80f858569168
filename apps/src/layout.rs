//! Any layout: a message that is described only by datatypes, without an application.
//!
//! Source: none; the layouts are the user's, on the command line or from a file.
//!
//! Each layout of the send side has its own array, and so has each layout of the receive side. If no receive
//! side is given, it is laid out like the send side. An array ends with its last byte of data. There are no
//! hand-written loops.

use std::ops::Range;
use std::sync::Arc;

use datatypes::{Element, Entry, Layout, TypeMap, interpret, joined_types};

use crate::face::{Face, FaceBlock};
use crate::{
    ArraySpec, Arrays, Layouts, Loops, Message, MicroApp, Parameter, ParameterError, ParameterType, Piece,
    Preset, Test, Values, WireOrder,
};

/// The name of a layout without a name.
pub const UNNAMED: &str = "unnamed";

pub(crate) const NAME: Parameter = Parameter::new(
    "name",
    "word",
    ParameterType::Word,
    "its name in results; for a file, the name of the file",
);

pub(crate) const SEND: Parameter = Parameter::new(
    "send",
    "layout",
    ParameterType::Layouts { absent: None },
    "the sent layout: constructors such as vector(408, 5, 2050, double); COUNT * before one, + between several",
);

pub(crate) const RECEIVE: Parameter = Parameter::new(
    "receive",
    "layout",
    ParameterType::Layouts { absent: Some("send") },
    "the received layout, with the same types in the same order; send: the same as the sent layout",
);

pub const LAYOUT: Test = Test {
    name: "layout",
    original_name: None,
    source: "your own datatypes",
    about: "any layout: --layout 'vector(408, 5, 2050, double)', or a file",
    parameters: &[NAME, SEND, RECEIVE],
    sets: &[
        // name, send, receive
        Preset::Quick.set("vector", "unnamed vector(408,5,2050,double) send"),
        Preset::Default.set("indexed", "unnamed indexed([3,1,2],[9,0,20],double) send"),
    ],
    make: |values, _| {
        let sides = Sides::new(values)?;
        let arrays = values.addressable(sides.specs())?;
        let [send, receive] = [sides.send, sides.receive].map(|side| Face::from_block(Described(side)));
        let app = MicroApp::new(sides.element, arrays, send, receive);
        Ok(MicroApp { has_loops: false, mixes_types: sides.mixes_types, ..app })
    },
};

/// Both sides of a message that is described only by datatypes, each layout in its own array: first the sent
/// ones, then the received ones.
pub(crate) struct Sides {
    pub send: Message,
    pub receive: Message,
    /// The type of all values. If there are several types it is the byte, because packed data then travels as bytes.
    pub element: Element,
    /// Whether there are several types.
    pub mixes_types: bool,
}

impl Sides {
    /// The sides that [`SEND`] and [`RECEIVE`] describe.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let send = values.layouts("send").expect("is never absent");
        Self::from_layouts(values, send, values.layouts("receive").unwrap_or(send))
    }

    /// The sides of these layouts.
    pub fn from_layouts(values: &Values, send: &Layouts, receive: &Layouts) -> Result<Self, ParameterError> {
        let first_received = send.iter().count();
        let [send, receive] =
            [("send", send, 0), ("receive", receive, first_received)].map(|(name, layouts, first)| {
                let refuse = |reason: String| values.refuse(name, reason);
                let pieces = layouts.pieces(first).map_err(|error| refuse(error.to_string()))?;
                let message = Message { pieces };
                check_places(&message).map_err(refuse)?;
                Ok(message)
            });
        let (send, receive) = (send?, receive?);
        if send.size() != receive.size() {
            let reason =
                format!("must have as many bytes as are sent, {}, and has {}", send.size(), receive.size());
            return Err(values.refuse("receive", reason));
        }
        let uniform = uniform(&send);
        if values.layouts("receive").is_some() {
            same_types(&send, &receive).map_err(|reason| values.refuse("receive", reason))?;
        }
        no_overlap(&receive).map_err(|reason| values.refuse("receive", reason))?;
        let element = uniform.unwrap_or(Element::Byte);
        Ok(Self { send, receive, element, mixes_types: uniform.is_none() })
    }

    /// The arrays of both sides.
    pub fn specs(&self) -> Vec<ArraySpec> {
        specs(&self.send, "sent", self.element)
            .chain(specs(&self.receive, "received", self.element))
            .collect()
    }
}

/// One value of a message: its array and its element, counted from 0 in memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub array: usize,
    /// Element of the array, in units of the array's element type.
    pub element: usize,
}

/// The places of the values of a message, in its order: by the type map, value by value.
pub(crate) fn places(message: &Message, specs: &[ArraySpec]) -> Vec<Place> {
    let mut places = Vec::new();
    for Piece { array, origin_bytes, layout } in &message.pieces {
        let size = specs[*array].element.size();
        for entry in TypeMap::from_layout(layout).0 {
            let Entry::Data(element, displacement) = entry else { continue };
            let first = (origin_bytes + displacement) as usize / size as usize;
            let values = (element.size() / size) as usize;
            places.extend((first..first + values).map(|element| Place { array: *array, element }));
        }
    }
    places
}

/// A message as one layout in the memory of all arrays, and the place of its displacement 0.
fn in_memory(message: &Message, arrays: &Arrays) -> (i64, Layout) {
    let (origin, layout) = message.datatype(&arrays.displacements());
    (origin + arrays.place(0).start as i64, layout)
}

/// A whole side of a message, as one plane. There is no hand-written loop, so the oracle packs it.
#[derive(Clone, Debug)]
pub(crate) struct Described(pub Message);

impl FaceBlock for Described {
    fn planes(&self) -> usize {
        1
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        assert_eq!(range, 0..1, "planes of a layout");
        Arc::new(self.clone())
    }

    fn bytes(&self) -> usize {
        self.0.size() as usize
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        self.0.pieces.clone()
    }

    fn pack(&self, _: Loops, arrays: &Arrays, packed: &mut [u8]) {
        let (origin, layout) = in_memory(&self.0, arrays);
        packed.copy_from_slice(&interpret::pack(&layout, 1, arrays.memory(), origin).expect(WITHIN));
    }

    fn unpack(&self, _: Loops, packed: &[u8], arrays: &mut Arrays) {
        let (origin, layout) = in_memory(&self.0, arrays);
        interpret::unpack(&layout, 1, packed, arrays.memory_mut(), origin).expect(WITHIN);
    }
}

/// The message of the check that the oracle can pack a layout.
const WITHIN: &str = "all data is in its arrays";

/// The arrays of a side, each up to its last byte of data.
fn specs(message: &Message, name: &'static str, element: Element) -> impl Iterator<Item = ArraySpec> {
    let size = element.size();
    message.pieces.iter().map(move |piece| {
        let bytes = (piece.origin_bytes + piece.layout.true_upper_bound()) as u64;
        // If values are not aligned to elements of the array, the array has bytes as elements.
        let is_even = |offset: i64| (piece.origin_bytes + offset).unsigned_abs().is_multiple_of(size);
        let are_even = || {
            is_even(0) && piece.layout.is_plainly_in_steps_of(size)
                || piece.layout.runs().all(|run| is_even(run.offset))
        };
        match bytes.is_multiple_of(size) && are_even() {
            true => ArraySpec::new(name, element, &[(bytes / size) as usize]),
            false => ArraySpec::new(name, Element::Byte, &[bytes as usize]),
        }
    })
}

/// Refuses layouts that begin before their array or reach beyond the address space.
fn check_places(message: &Message) -> Result<(), String> {
    for (i, Piece { origin_bytes, layout, .. }) in message.pieces.iter().enumerate() {
        let which = if message.pieces.len() > 1 { format!(", layout {}", i + 1) } else { String::new() };
        let lowest = origin_bytes.saturating_add(layout.true_lower_bound());
        if lowest < 0 {
            return Err(format!(
                "begins {} bytes before its array{which}: @ must be at least {}",
                lowest.unsigned_abs(),
                layout.true_lower_bound().unsigned_abs()
            ));
        }
        // The size of all arrays together is checked later.
        if origin_bytes
            .checked_add(layout.true_upper_bound())
            .and_then(|end| isize::try_from(end).ok())
            .is_none()
        {
            return Err(format!("ends beyond the address space{which}: must be within an array in memory"));
        }
    }
    Ok(())
}

/// The one type of all values of a message, if there is one; of none, bytes.
fn uniform(message: &Message) -> Option<Element> {
    let mut types = message.pieces.iter().filter(|piece| piece.layout.size() > 0).map(|p| p.layout.uniform());
    let Some(first) = types.next() else { return Some(Element::Byte) };
    let first = first?;
    types.all(|other| other == Some(first)).then_some(first)
}

/// The types of a message, with the number of consecutive values of each: its type signature, which may be
/// too long to store.
fn types(message: &Message) -> impl Iterator<Item = (Element, u64)> {
    joined_types(message.pieces.iter().flat_map(|piece| piece.layout.signature()))
}

/// Refuses a receive side whose types differ from those sent.
fn same_types(sent: &Message, received: &Message) -> Result<(), String> {
    let (mut sent, mut received) = (types(sent), types(received));
    let mut before = 0;
    loop {
        let (a, b) = match (sent.next(), received.next()) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) => (a, b),
            _ => break,
        };
        if a == b {
            before += a.1;
            continue;
        }
        let value = before + if a.0 == b.0 { a.1.min(b.1) } else { 0 };
        return Err(format!(
            "must have the types that are sent, in their order: from value {value} on {} {} are sent and {} {} received",
            a.1, a.0, b.1, b.0
        ));
    }
    Err("must have the types that are sent, in their order, and has more or fewer of them".to_owned())
}

/// Maximum number of segments that are sorted to find overlaps: 1 GiB of them.
const MOST_SORTED: usize = 1 << 26;

/// The place of a byte that a layout has twice.
fn byte_twice(layout: &Layout) -> Option<i64> {
    let mut segments = layout.flatten();
    segments.sort_unstable_by_key(|segment| segment.offset);
    segments.windows(2).find(|pair| pair[0].end() > pair[1].offset).map(|pair| pair[1].offset)
}

/// Refuses a receive side that writes a byte twice, which MPI forbids. If MPIs read it in several ways, those that do not are named.
fn no_overlap(message: &Message) -> Result<(), String> {
    for (i, Piece { origin_bytes, layout, .. }) in message.pieces.iter().enumerate() {
        if layout.is_plainly_disjoint() {
            continue;
        }
        if layout.segments().nth(MOST_SORTED).is_some() {
            return Err(format!(
                "has more than {MOST_SORTED} segments, too many to see that no byte is written twice; give a receive side of \
                 vectors or subarrays"
            ));
        }
        if let Some(at) = byte_twice(layout) {
            let which =
                if message.pieces.len() > 1 { format!(" of layout {}", i + 1) } else { String::new() };
            let reading = |(names, read): (String, Layout)| {
                let writes = if byte_twice(&read).is_some() { "a byte twice" } else { "each byte once" };
                format!("; with {} ({names}) it writes {writes}", read.bounds_text())
            };
            let readings: String = layout.readings().into_iter().map(reading).collect();
            let advice = if readings.is_empty() {
                ""
            } else {
                ", or its types the same bounds on all MPIs by resized(...)"
            };
            return Err(format!(
                "must write each byte only once (an MPI rule for receive buffers), but writes byte {}{which} twice{readings}; give another \
                 receive side{advice}",
                origin_bytes + at
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Side, WireOrder};

    #[test]
    fn a_type_that_writes_a_byte_twice_on_some_mpis_is_refused_with_the_bounds_of_each() {
        // Bytes 0 to 15 and 36 to 39 of a type of 20 or 52 bytes: copies at 20 have byte 40 twice.
        let mut values = LAYOUT.set("vector").unwrap();
        let of = |child: &str| format!("3 * struct([1,1],[0,32],[contiguous(16,byte),{child}])");
        values.assign("send", &of("subarray([5],[4],[1],c,int)")).unwrap();
        let refusal = LAYOUT.build(&values, Context::default()).err().unwrap().to_string();
        for part in [
            "writes byte 40 twice; with ",
            "extent 92 B (the standard's formula, Open MPI) it writes a byte twice",
            "extent 156 B (MPICH, Intel MPI) it writes each byte once",
        ] {
            assert!(refusal.contains(part), "{refusal}");
        }
        let same = format!("3 * resized(0,52,{})", &of("subarray([5],[4],[1],c,int)")[4..]);
        values.assign("send", &same).unwrap();
        LAYOUT.build(&values, Context::default()).unwrap();
    }

    #[test]
    fn a_message_without_data_has_no_bytes_in_any_part() {
        for send in
            ["hvector(0,1,80,double)", "indexed([],[],int32)", "contiguous(0,float)+vector(3,0,2,double)"]
        {
            let mut values = LAYOUT.set("vector").unwrap();
            values.assign("send", send).unwrap();
            let app = LAYOUT.build(&values, Context::default()).unwrap();
            assert_eq!((app.message_bytes(), app.mixes_types), (0, false), "{send}");
            assert_eq!(app.message(Side::Receive, WireOrder::Ddt).segments().count(), 0);
            for cut in [app.send.cut(1), app.send.cut(3), app.send.planes()] {
                assert!(cut.parts.iter().all(|part| part.bytes() == 0), "{send}");
            }
        }
    }
}

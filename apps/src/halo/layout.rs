//! Any layout between many ranks: messages that are described only by datatypes, one to each of some neighbours.
//!
//! Source: none; the layouts are the user's, like those of [`crate::LAYOUT`].
//!
//! Each direction in which a rank sends has its own arrays, the same as in the ping-pong: one for each sent
//! layout and one for each received layout. Direction d receives from the opposite neighbour, which sends in
//! direction d. So all messages of a rank have one size, and nothing overlaps.
//!
//! Loops written by hand do not exist, and a layout has no slowest dimension: a face is one plane, which is not
//! cut among threads.

use std::sync::OnceLock;

use datatypes::Element;

use super::grid::along;
use super::{Cell, Cells, Grid, HaloApp, HaloBuilt, HaloContext, HaloTest, PADDED, Stage, Transfer};
use crate::face::Face;
use crate::layout::{Described, NAME, RECEIVE, SEND, Sides, places};
use crate::{ArraySpec, Message, Parameter, ParameterError, Piece, Preset, Values};

/// The neighbours to which a rank sends: the words of the parameter, in its order.
const NEIGHBOURS: [(&str, Neighbours); 5] = [
    ("both", Neighbours::Along { dimensions: 1, backwards: true }),
    ("next", Neighbours::Along { dimensions: 1, backwards: false }),
    ("faces2d", Neighbours::Along { dimensions: 2, backwards: true }),
    ("faces3d", Neighbours::Along { dimensions: 3, backwards: true }),
    ("all", Neighbours::All),
];

/// The ranks to which each rank sends.
#[derive(Clone, Copy)]
enum Neighbours {
    /// On a grid, the next one along each dimension, and with `backwards` also the previous one.
    Along { dimensions: usize, backwards: bool },
    /// All, including itself.
    All,
}

pub const LAYOUT: HaloTest = HaloTest {
    name: "layout",
    original_name: None,
    source: "your own datatypes",
    about: "any layout to each neighbour: --layout 'vector(408, 5, 2050, double)', or a file",
    parameters: &[
        NAME,
        SEND,
        RECEIVE,
        Parameter::choice(
            "neighbours",
            "to whom each rank sends: to both sides of a ring, only to the next, to all on a 2-d or 3-d grid, to all ranks",
            &const {
                let mut words = [""; NEIGHBOURS.len()];
                let mut i = 0;
                while i < words.len() {
                    words[i] = NEIGHBOURS[i].0;
                    i += 1;
                }
                words
            },
        ),
    ],
    sets: &[
        // name, send, receive, neighbours
        Preset::Quick.set("vector", "unnamed vector(408,5,2050,double) send both"),
        Preset::Default.set("indexed", "unnamed indexed([3,1,2],[9,0,20],double) send both"),
    ],
    make: build,
};

fn build(values: &Values, context: HaloContext) -> HaloBuilt {
    let mut messages = MessageArrays::all(values, vec![Sides::new(values)?])?;
    let (grid, offsets) = match NEIGHBOURS[values.get("neighbours") as usize].1 {
        Neighbours::Along { dimensions, backwards } => {
            let grid = context.grid(dimensions)?;
            let along = |d| grid.along(d).into_iter().skip(usize::from(!backwards));
            let offsets = (0..dimensions).flat_map(along).collect();
            (grid, offsets)
        }
        Neighbours::All => {
            let steps = 0..context.ranks as i64;
            let ring = HaloContext { periodic: true, ..context };
            (ring.grid(1)?, steps.map(|step| vec![step]).collect())
        }
    };
    Ok(Box::new(AnyLayouts { offsets, grid, message: messages.remove(0) }))
}

/// Both sides of a message with their arrays.
pub(super) struct MessageArrays {
    pub sides: Sides,
    pub specs: Vec<ArraySpec>,
    /// For each of these arrays, the id of each element's value in the message; computed at first use.
    ids: OnceLock<Vec<Vec<Option<u64>>>>,
}

impl MessageArrays {
    /// The arrays of messages. Values are identified by elements, which have the same size at both ends of all messages. If types are
    /// mixed, or if values are not aligned to elements of the array, the elements are the largest words of which all values consist.
    pub fn all(values: &Values, all: Vec<Sides>) -> Result<Vec<Self>, ParameterError> {
        let is_padded = |element: Element| element.padded_parts().is_some();
        if all.iter().flat_map(|sides| &sides.send.pieces).any(|piece| piece.layout.has(&is_padded)) {
            return Err(values.refuse("send", PADDED));
        }
        let element = all[0].element;
        let is_uniform = all.iter().all(|sides| !sides.mixes_types && sides.element == element);
        let mut specs = all.iter().flat_map(Sides::specs);
        let word = if is_uniform && specs.all(|spec| spec.element == element) { element } else { word(&all) };
        drop(specs);
        let with_arrays = |sides: Sides| {
            let spec = |spec: &ArraySpec| {
                ArraySpec::new(spec.name.clone(), word, &[spec.bytes() / word.size() as usize])
            };
            Self { specs: sides.specs().iter().map(spec).collect(), sides, ids: OnceLock::new() }
        };
        Ok(all.into_iter().map(with_arrays).collect())
    }

    /// From the type maps of both sides: the id of a sent element is its position among the elements of all sent arrays. A received
    /// element has the id of the matching element at the sender. An element that is sent twice is received twice.
    pub fn ids(&self) -> &[Vec<Option<u64>>] {
        self.ids.get_or_init(|| {
            let specs = &self.specs;
            let mut ids: Vec<Vec<Option<u64>>> =
                specs.iter().map(|spec| vec![None; spec.elements()]).collect();
            let mut first = 0;
            let firsts = specs.iter().map(|spec| {
                first += spec.elements() as u64;
                first - spec.elements() as u64
            });
            let firsts: Vec<u64> = firsts.collect();
            let [sent, received] = [&self.sides.send, &self.sides.receive].map(|side| places(side, specs));
            for (from, to) in sent.iter().zip(&received) {
                let id = firsts[from.array] + from.element as u64;
                ids[from.array][from.element] = Some(id);
                ids[to.array][to.element] = Some(id);
            }
            ids
        })
    }

    /// Greater than every id.
    pub fn id_bound(&self) -> u64 {
        self.specs.iter().map(|spec| spec.elements() as u64).sum()
    }
}

/// The largest word of which every value consists, wherever the value is.
fn word(all: &[Sides]) -> Element {
    let pieces = all.iter().flat_map(|sides| sides.send.pieces.iter().chain(&sides.receive.pieces));
    let bits = pieces.flat_map(|Piece { origin_bytes, layout, .. }| {
        layout.runs().map(move |run| (origin_bytes + run.offset).unsigned_abs() | run.element.size())
    });
    match bits.fold(0, |all, bits| all | bits).trailing_zeros() {
        0 => Element::Byte,
        1 => Element::Uint16,
        2 => Element::Uint32,
        _ => Element::Uint64,
    }
}

/// One side of a message, in these arrays.
pub(super) fn face(side: &Message, array: impl Fn(usize) -> usize) -> Face {
    let moved = |piece: &Piece| Piece { array: array(piece.array), ..piece.clone() };
    Face::from_block(Described(Message { pieces: side.pieces.iter().map(moved).collect() }))
}

struct AnyLayouts {
    grid: Grid,
    offsets: Vec<Vec<i64>>,
    /// The message of each direction.
    message: MessageArrays,
}

impl AnyLayouts {
    /// The neighbour in a direction; with `sender`, the one that sends to this rank in that direction.
    fn neighbour(&self, rank: usize, direction: usize, sender: bool) -> Option<usize> {
        let step = |&step: &i64| if sender { -step } else { step };
        let offset: Vec<i64> = self.offsets[direction].iter().map(step).collect();
        self.grid.neighbour(rank, &offset)
    }
}

impl HaloApp for AnyLayouts {
    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        self.offsets.iter().flat_map(|_| self.message.specs.iter().cloned()).collect()
    }

    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn along_grid(&self, tag: usize) -> Option<(usize, bool)> {
        along(&self.offsets[tag])
    }

    fn has_loops(&self) -> bool {
        false
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let transfers = |side: &Message, sender: bool| {
            let to = |direction| {
                let peer = self.neighbour(rank, direction, sender)?;
                Some(Transfer {
                    peer,
                    tag: direction,
                    face: face(side, |array| direction * self.message.specs.len() + array),
                })
            };
            (0..self.offsets.len()).filter_map(to).collect()
        };
        vec![Stage::new(
            transfers(&self.message.sides.send, false),
            transfers(&self.message.sides.receive, true),
        )]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let (direction, array) = (array / self.message.specs.len(), array % self.message.specs.len());
        let is_sent = array < self.message.sides.send.pieces.len();
        // The owner of the received data, if there is such a rank.
        let owner = if is_sent { Some(rank) } else { self.neighbour(rank, direction, true) };
        let ids = &self.message.ids()[array];
        Box::new(move |element| {
            let Some((owner, id)) = owner.zip(ids[element]) else { return Cell::Other };
            let before = owner as u64 * self.offsets.len() as u64 + direction as u64;
            let id = before * self.message.id_bound() + id;
            if is_sent { Cell::Own(id) } else { Cell::Halo(id) }
        })
    }
}

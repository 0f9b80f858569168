//! Any messages between given ranks, such as blocks of different sizes: each has its own layouts.
//!
//! Source: none; the layouts are the user's, like those of [`crate::LAYOUT`].
//!
//! Message i goes from rank `from[i]` to rank `to[i]`. It has arrays of its own at both ends, one for each side.

use std::sync::OnceLock;

use datatypes::Element;

use super::layout::{face, ids, word};
use super::{Cell, Cells, Grid, HaloApp, HaloBuilt, HaloContext, HaloTest, PADDED, Stage, Transfer};
use crate::layout::{NAME, RECEIVE, SEND, Sides};
use crate::{ArraySpec, Parameter, ParameterError, ParameterType, PerAxis, Preset, Values};

const fn ranks(name: &'static str, about: &'static str) -> Parameter {
    let kind = PerAxis { absent: None, instead_of: None, has_two_sides: false };
    Parameter { name, unit: "rank", about, value_type: ParameterType::PerAxis(kind), only_with: None }
}

pub const MESSAGES: HaloTest = HaloTest {
    name: "messages",
    original_name: None,
    source: "your own datatypes",
    about: "a layout of its own for each message, such as blocks of 3, 3 and 4: -p send=A+B,from=0x1,to=1x0, or a file",
    parameters: &[
        NAME,
        SEND,
        RECEIVE,
        ranks("from", "the rank that sends each layout, joined by x"),
        ranks("to", "the rank that receives it"),
    ],
    sets: &[
        // name, send, receive, from, to
        Preset::Quick
            .set("blocks_of_3_and_4", "unnamed vector(100,3,7,double)+vector(100,4,7,double) send 0x1 1x0"),
    ],
    make: build,
};

fn build(values: &Values, context: HaloContext) -> HaloBuilt {
    let send = values.layouts("send").expect("is never absent");
    let receive = values.layouts("receive").unwrap_or(send);
    let [from, to] = ["from", "to"].map(|name| values.per_axis(name).concat());
    let count = send.iter().count();
    for (name, length) in [("receive", receive.iter().count()), ("from", from.len()), ("to", to.len())] {
        if length != count {
            let reason = format!("must be {count}, as many as send has layouts, and not {length}");
            return Err(values.refuse(name, reason));
        }
    }
    let ranks = from.iter().chain(&to).max().map_or(0, |last| last + 1);
    if ranks > context.ranks {
        return Err(ParameterError::Other(format!(
            "messages between ranks 0 to {}, and there are {}: must be -n {ranks} or more",
            ranks - 1,
            context.ranks
        )));
    }
    let mut all = Vec::new();
    for (i, (send, receive)) in send.singles().zip(receive.singles()).enumerate() {
        let of_message = |error| match error {
            ParameterError::Value { name, value, reason } => {
                ParameterError::Value { name, value, reason: format!("message {}: {reason}", i + 1) }
            }
            other => other,
        };
        let sides = Sides::of(values, &send, &receive).map_err(of_message)?;
        let is_padded = |element: Element| element.padded_parts().is_some();
        if sides.send.pieces.iter().any(|piece| piece.layout.has(&is_padded)) {
            return Err(values.refuse("send", PADDED));
        }
        all.push(sides);
    }
    // All ranks identify values by elements of one size.
    let element = all[0].element;
    let is_uniform = |sides: &Sides| {
        !sides.mixes_types
            && sides.element == element
            && sides.specs().iter().all(|spec| spec.element == element)
    };
    let (element, word) = match all.iter().all(is_uniform) {
        true => (element, element),
        false => {
            let is_same = all.iter().all(|sides| !sides.mixes_types && sides.element == element);
            (if is_same { element } else { Element::Byte }, word(all.iter()))
        }
    };
    let mut first_id = 0;
    let message = |(sides, (from, to)): (Sides, (usize, usize))| {
        let spec = |spec: &ArraySpec| ArraySpec::new(spec.name, word, &[spec.bytes() / word.size() as usize]);
        let specs: Vec<_> = sides.specs().iter().map(spec).collect();
        let first = first_id;
        first_id += specs.iter().map(|spec| spec.elements() as u64).sum::<u64>();
        MessageBetween { from, to, sides, specs, first_id: first, ids: OnceLock::new() }
    };
    let messages = all.into_iter().zip(from.into_iter().zip(to)).map(message).collect();
    Ok(Box::new(Messages { element, messages }))
}

/// A message with its arrays: the sent one, and the received one.
struct MessageBetween {
    from: usize,
    to: usize,
    sides: Sides,
    specs: Vec<ArraySpec>,
    /// Values of messages before it have smaller ids.
    first_id: u64,
    ids: OnceLock<Vec<Vec<Option<u64>>>>,
}

struct Messages {
    element: Element,
    messages: Vec<MessageBetween>,
}

impl Messages {
    /// The arrays of a rank: for each of them the number of the message, and whether it is sent.
    fn ends(&self, rank: usize) -> Vec<(usize, bool)> {
        let ends = |(i, message): (usize, &MessageBetween)| {
            let ends =
                [(message.from == rank).then_some((i, true)), (message.to == rank).then_some((i, false))];
            ends.into_iter().flatten()
        };
        self.messages.iter().enumerate().flat_map(ends).collect()
    }
}

impl HaloApp for Messages {
    fn element(&self) -> Element {
        self.element
    }

    fn arrays(&self, rank: usize) -> Vec<ArraySpec> {
        let spec = |(i, is_sent): (usize, bool)| self.messages[i].specs[usize::from(!is_sent)].clone();
        let specs: Vec<_> = self.ends(rank).into_iter().map(spec).collect();
        // A rank without messages has an array, too.
        if specs.is_empty() { vec![ArraySpec::new("unused", self.element, &[1])] } else { specs }
    }

    fn grid(&self) -> Option<&Grid> {
        None
    }

    fn has_loops(&self) -> bool {
        false
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (array, (i, is_sent)) in self.ends(rank).into_iter().enumerate() {
            let MessageBetween { from, to, sides, .. } = &self.messages[i];
            // A side's only piece is in the first or the second array of its message.
            if is_sent {
                sends.push(Transfer { peer: *to, tag: i, face: face(&sides.send, |_| array) });
            } else {
                receives.push(Transfer { peer: *from, tag: i, face: face(&sides.receive, |_| array) });
            }
        }
        vec![Stage::new(sends, receives)]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let Some(&(i, is_sent)) = self.ends(rank).get(array) else { return Box::new(|_| Cell::Other) };
        let message = &self.messages[i];
        let ids = &message.ids.get_or_init(|| ids(&message.sides, &message.specs))[usize::from(!is_sent)];
        Box::new(move |element| match ids[element].map(|id| message.first_id + id) {
            None => Cell::Other,
            Some(id) if is_sent => Cell::Own(id),
            Some(id) => Cell::Halo(id),
        })
    }
}

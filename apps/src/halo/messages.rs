//! Any messages between given ranks, such as blocks of different sizes: each has its own layouts.
//!
//! Source: none; the layouts are the user's, like those of [`crate::LAYOUT`].
//!
//! Message i goes from rank `from[i]` to rank `to[i]`. It has arrays of its own at both ends, one for each side.

use datatypes::Element;

use super::layout::{MessageArrays, face};
use super::{Cell, Cells, HaloApp, HaloBuilt, HaloContext, HaloTest, Stage, Transfer};
use crate::layout::{NAME, RECEIVE, SEND, Sides};
use crate::{ArraySpec, Parameter, ParameterError, ParameterType, Preset, Values};

const fn ranks(name: &'static str, about: &'static str) -> Parameter {
    Parameter::new(name, "rank", ParameterType::PER_AXIS, about)
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
            let what = if name == "receive" { "layouts" } else { "ranks" };
            let reason = format!("must be {count} {what}, one for each layout of send, not {length}");
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
        all.push(Sides::from_layouts(values, &send, &receive).map_err(of_message)?);
    }
    let all = MessageArrays::all(values, all)?;
    let mut first_id = 0;
    let message = |(arrays, (from, to)): (MessageArrays, (usize, usize))| {
        let first = first_id;
        first_id += arrays.id_bound();
        MessageBetween { from, to, arrays, first_id: first }
    };
    let messages = all.into_iter().zip(from.into_iter().zip(to)).map(message).collect();
    Ok(Box::new(Messages { messages }))
}

/// A message with its arrays: the sent one, and the received one.
struct MessageBetween {
    from: usize,
    to: usize,
    arrays: MessageArrays,
    /// Values of messages before it have smaller ids.
    first_id: u64,
}

struct Messages {
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
    fn arrays(&self, rank: usize) -> Vec<ArraySpec> {
        let spec = |(i, is_sent): (usize, bool)| self.messages[i].arrays.specs[usize::from(!is_sent)].clone();
        let specs: Vec<_> = self.ends(rank).into_iter().map(spec).collect();
        // A rank without messages has an array, too.
        if specs.is_empty() { vec![ArraySpec::new("unused", Element::Byte, &[1])] } else { specs }
    }

    fn has_loops(&self) -> bool {
        false
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (array, (i, is_sent)) in self.ends(rank).into_iter().enumerate() {
            let MessageBetween { from, to, arrays, .. } = &self.messages[i];
            // A side's only piece is in the first or the second array of its message.
            if is_sent {
                sends.push(Transfer { peer: *to, tag: i, face: face(&arrays.sides.send, |_| array) });
            } else {
                receives.push(Transfer { peer: *from, tag: i, face: face(&arrays.sides.receive, |_| array) });
            }
        }
        vec![Stage::new(sends, receives)]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let Some(&(i, is_sent)) = self.ends(rank).get(array) else { return Box::new(|_| Cell::Other) };
        let message = &self.messages[i];
        let ids = &message.arrays.ids()[usize::from(!is_sent)];
        Box::new(move |element| match ids[element].map(|id| message.first_id + id) {
            None => Cell::Other,
            Some(id) if is_sent => Cell::Own(id),
            Some(id) => Cell::Halo(id),
        })
    }
}

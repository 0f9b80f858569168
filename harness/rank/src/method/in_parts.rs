//! The same bytes in other messages: as a count of the type that the datatype repeats, in halves, or one message per piece.

use std::ops::Range;

use apps::{Side, WireOrder};
use common::kinds::pingpong::parts::Parting;
use common::packing::{Ends, Packing};
use datatypes::Placed;

use super::{Method, Setup};
use crate::checked::large::check_count;
use crate::checked::{CallError, Count, Datatype, Recipe};
use crate::memory::Memory;

/// A method that sends one message after the other, and receives them in the same way.
pub struct InParts<'a> {
    setup: &'a Setup<'a>,
    messages: Vec<Range<usize>>,
    send: Vec<MessagePart>,
    receive: Vec<MessagePart>,
}

struct MessagePart {
    /// Its displacement 0, in bytes from the start of the arrays' memory. It may be outside, as a negative number that
    /// wraps: only its values are within.
    offset: usize,
    count: Count,
    /// The constructor calls, if it is a derived datatype.
    recipe: Option<Recipe>,
    /// The predefined type, or all derived ones that were created and not freed; the last one is used.
    datatypes: Vec<Datatype>,
}

impl<'a> InParts<'a> {
    /// The message of a pair, divided at the same places of the packed stream at both ends.
    pub fn new(setup: &'a Setup<'a>, memory: &Memory, parting: Parting) -> anyhow::Result<Self> {
        let places = parting.places(setup.app);
        let places = places
            .map_err(|reason| anyhow::anyhow!("the message cannot be divided by {parting:?}: {reason}"))?;
        let end = |side: Side| -> anyhow::Result<Vec<MessagePart>> {
            let endpoint = setup.endpoint(side, WireOrder::Ddt, &memory.arrays);
            let (whole, origin) = (&endpoint.layout, endpoint.offset(&memory.arrays, 0));
            if let Some(repetition) = whole.repetition().filter(|_| parting == Parting::Count) {
                return Ok(vec![MessagePart::new(setup, &repetition.one, origin, repetition.count)?]);
            }
            let parts = places.windows(2).map(|part| {
                let part = whole.cut(part[0]..part[1]).expect("part of a layout that MPI can describe");
                Ok(MessagePart::new(setup, &part, origin, 1)?)
            });
            parts.collect()
        };
        let messages = places.windows(2).map(|part| part[0] as usize..part[1] as usize).collect();
        Ok(Self { setup, messages, send: end(Side::Send)?, receive: end(Side::Receive)? })
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut MessagePart> {
        self.send.iter_mut().chain(&mut self.receive)
    }
}

impl MessagePart {
    /// This number of elements of a layout, with the message beginning at `origin`. Adjacent values are a count of
    /// their predefined type, as a user would write them.
    fn new(setup: &Setup<'_>, of: &Placed, origin: usize, count: u64) -> Result<Self, CallError> {
        let begins = |bytes: i64| origin.wrapping_add_signed((of.displacement + bytes) as isize);
        let mut runs = of.layout.runs();
        if let (Some(run), None, 1) = (runs.next(), runs.next(), count) {
            let (count, datatypes) = (run.count as Count, vec![Datatype::predefined(run.element)]);
            check_count("MPI_Send", "MPI_Send_c", count)?;
            return Ok(Self { offset: begins(run.offset), count, recipe: None, datatypes });
        }
        let (count, recipe) = (count as Count, Recipe::new(&of.layout, setup.comm)?);
        check_count("MPI_Send", "MPI_Send_c", count)?;
        Ok(Self { offset: begins(0), count, recipe: Some(recipe), datatypes: Vec::new() })
    }

    #[inline]
    fn datatype(&self) -> &Datatype {
        self.datatypes.last().expect("created before use")
    }
}

impl Method for InParts<'_> {
    fn ends(&self) -> Ends {
        let creates = self.send.iter().chain(&self.receive).any(|part| part.recipe.is_some());
        Ends { creates, ..Ends::of(Packing::Datatype, Packing::Datatype) }
    }

    fn messages(&self) -> Option<Vec<Range<usize>>> {
        Some(self.messages.clone())
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.parts().try_for_each(|part| {
            part.datatypes.extend(part.recipe.as_ref().map(Recipe::create).transpose()?);
            Ok(())
        })
    }

    fn free(&mut self) -> Result<(), CallError> {
        let mut derived = self.parts().filter(|part| part.recipe.is_some());
        derived.try_for_each(|part| part.datatypes.pop().map_or(Ok(()), Datatype::free))
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        for part in &self.send {
            let address = memory.at(part.offset);
            // SAFETY: the values of a part are some of the message's, which is within the arrays' memory, as verified
            // by apps' conformance tests and before timing.
            unsafe { self.setup.comm.send(address, part.count, part.datatype(), self.setup.peer()) }?;
        }
        Ok(())
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        for part in &self.receive {
            let address = memory.at(part.offset);
            // SAFETY: as in `send`, on memory that is borrowed mutably.
            unsafe { self.setup.comm.receive(address, part.count, part.datatype(), self.setup.peer()) }?;
        }
        Ok(())
    }

    fn exchange(&mut self, _: &mut Memory) -> Result<(), CallError> {
        unreachable!("`Parting::places` has none for an all-to-all, which is one call")
    }
}

//! The data that one rank sends and receives at once.

use super::check::Spots;
use super::data::Version;
use super::link::{Link, Places, Wrong};
use crate::device::Direction;
use crate::memory::Region;

/// The data that this rank sends, and the messages that it receives.
#[derive(Default)]
pub struct Moved {
    pub sends: Vec<Places>,
    pub receives: Vec<Link>,
    /// All bytes of received values with padding, which may change.
    pub padded: Option<Places>,
}

impl Moved {
    /// Writes the data to send.
    pub fn write(&self, version: Version) {
        self.sends.iter().for_each(|places| places.write(version));
    }

    pub fn received(&self) -> impl Iterator<Item = &Places> {
        self.receives.iter().map(|link| &link.places)
    }

    /// Overwrites the places of received data.
    pub fn poison(&self) {
        self.received().for_each(Places::poison);
    }

    /// The places of received data to look at.
    pub fn looks(&self, generation: u32) -> Spots {
        Spots::from_messages(self.received(), generation)
    }

    /// The first wrong byte of all received data, and its message.
    pub fn wrong(&self, version: Version) -> Option<(&Link, Wrong)> {
        self.receives.iter().find_map(|link| Some((link, link.places.wrong(version, &[])?)))
    }

    /// The first byte of a memory that was changed although nothing is received there; received data is compared before.
    /// At the fill it had sources from `own` on. Received and sent bytes are lost.
    ///
    /// # Safety
    /// Nothing else uses the memory.
    pub unsafe fn changed(&self, memory: Region, own: u64, version: Version) -> Option<Wrong> {
        memory.copy_all(Direction::FromTwin);
        // SAFETY: guaranteed by the caller.
        let part = |range| unsafe { memory.part(range) };
        let in_it = |places: &&Places| places.memory.start() == memory.start();
        let before = version.initial();
        let sent = || self.sends.iter().filter(in_it);
        // This copies from the twin, so it is before anything is put back.
        if let Some(wrong) = sent().find_map(|places| places.wrong(version, &[])) {
            return Some(wrong);
        }
        for places in sent().chain(self.received().chain(&self.padded).filter(in_it)) {
            let runs = places.runs.iter();
            runs.for_each(|run| before.write(own + run.at as u64, part(run.at..run.at + run.bytes)));
        }
        let all = &*part(0..memory.bytes());
        let at = before.first_difference(own, all)?;
        Some(Wrong { at, expected: before.byte(own + at as u64), found: all[at] })
    }
}

//! The data shared by a ping-pong's loops.

use std::rc::Rc;

use super::cache::Eviction;
use super::job::Job;
use super::message_links::{Looks, RoundTrip, Route, described};
use super::sync::Sync;
use crate::checked::{CallError, Comm};
use crate::clock::Clock;
use crate::device;
use crate::memory::Memory;
use crate::method::{Method, Setup};
use crate::payload::{Checks, Moved};

/// One ping-pong on all ranks.
pub struct Session<'a> {
    /// All ranks of the run.
    pub world: &'a Comm,
    pub clock: Clock,
    /// The exchange, on the pair's communicator or on all ranks'.
    pub setup: &'a Setup<'a>,
    pub pair: usize,
    /// The lines to evict between repetitions; `None` if caches stay warm.
    pub eviction: Option<Eviction>,
    /// The common time of both ranks of a pair; `None` if all ranks begin together.
    pub sync: Option<Sync>,
    /// The memory of all methods.
    pub memory: Memory,
    /// The payload of the method in use.
    pub payload: MessagePayload,
    /// Copies of a device's driver in this process during whole repetitions of a block, and the number of these.
    pub device_copies: (u64, u32),
}

/// The links of messages, and the checks of their data.
#[derive(Default)]
pub struct MessagePayload {
    pub checks: Checks,
    /// The links of all methods, by their routes.
    routes: Vec<(Route, Rc<RoundTrip>)>,
    /// The links of the method in use.
    pub links: Option<Rc<RoundTrip>>,
    /// The places looked at after each repetition.
    looks: Looks,
    /// Whether answers with received data are marked. On a device that takes as long as a kernel, so it is
    /// done only in repetitions that do not count.
    pub is_marking: bool,
}

impl MessagePayload {
    /// Whether a repetition with marks must come before all bytes are compared.
    pub fn lacks_marks(&self) -> bool {
        self.looks.unmarked.is_some() && !self.is_marking
    }
}

impl<'a> Session<'a> {
    /// A session with warm caches, whose ranks begin together.
    pub fn new(job: &Job<'a>, setup: &'a Setup<'a>, pair: usize, memory: Memory) -> Self {
        Self {
            world: job.world,
            clock: job.clock,
            setup,
            pair,
            eviction: None,
            sync: None,
            memory,
            payload: MessagePayload::default(),
            device_copies: (0, 0),
        }
    }

    pub fn links(&mut self, method: &dyn Method) -> Rc<RoundTrip> {
        let (route, routes) = (Route::from_method(method), &mut self.payload.routes);
        if let Some((_, links)) = routes.iter().find(|(known, _)| *known == route) {
            return Rc::clone(links);
        }
        // SAFETY: a case's memory is allocated once, and MPI uses it only within the functions of a method.
        let links = Rc::new(unsafe { RoundTrip::new(self.setup, &mut self.memory, &route) });
        routes.push((route, Rc::clone(&links)));
        links
    }

    /// Looks at the messages of the last repetition.
    #[inline]
    pub fn look(&mut self) {
        let MessagePayload { checks, looks, is_marking, .. } = &mut self.payload;
        let wrong = looks.wrong(checks.version, *is_marking);
        checks.look(wrong.map(|wrong| described(&self.memory, wrong)));
    }

    /// Compares all bytes that the last repetition of a round trip brought, and those next to them.
    pub fn compare(&mut self) {
        let MessagePayload { checks, links, looks, .. } = &mut self.payload;
        let wrong = links.as_ref().and_then(|links| links.wrong(checks.version, looks));
        let stray = self.setup.stray_byte(&mut self.memory);
        checks.compare(wrong.map(|wrong| described(&self.memory, wrong)).or(stray));
    }

    /// After an all-to-all's way back the arrays get their original roles again.
    #[inline]
    pub fn settle_roles(&mut self, method: &dyn Method) {
        if self.setup.is_all_to_all() {
            self.memory.turn(method.ends().returns_what_came());
        }
    }

    /// Whether this process's clock counts: the origin of a pair, or rank 0 of an all-to-all.
    pub fn is_origin(&self) -> bool {
        self.setup.me == 0
    }

    /// Fills all memory with new data. Wire buffers are poisoned, except for the messages that are sent from there.
    pub fn fill(&mut self, moved: &Moved) {
        let version = self.payload.checks.fill_all(&mut self.memory, self.setup.me);
        self.payload.looks = Looks::default();
        moved.write(version);
    }

    /// Prepares a block of round trips: new data to send, and nothing that could be mistaken for it where it is received.
    pub fn prepare(&mut self, method: &mut dyn Method) -> Result<(), CallError> {
        let (version, links) = (self.payload.checks.fill(), self.links(method));
        self.payload.looks = links.looks(version.generation);
        self.payload.is_marking = self.memory.is_host();
        links.poison();
        links.write(version);
        self.payload.links = Some(links);
        method.settle()
    }

    /// The same for messages that are not answered; all memory is filled.
    pub fn prepare_one_way(&mut self, method: &dyn Method) {
        let links = self.links(method);
        self.fill(&links.there);
        let after = links.there.looks(self.payload.checks.version.generation);
        self.payload.looks = Looks { after, ..Looks::default() };
        self.payload.links = Some(links);
    }

    /// Prepares the next repetition, outside of all times: the send data is rewritten, caches are evicted in
    /// cold mode, and the ranks meet. Afterwards the origin begins, and its peer has just begun to wait.
    pub fn renew(&mut self, method: &mut dyn Method) -> Result<(), CallError> {
        let ends = method.ends();
        if !ends.is_renewed && self.eviction.is_none() {
            return self.rewrite(method);
        }
        // A peer whose send has returned may be early: its preparation must not disturb the origin's last repetition.
        self.wait_for(0)?;
        self.rewrite(method)?;
        if let Some(eviction) = &self.eviction {
            eviction.evict(self.setup, &self.memory, ends.from);
        }
        self.meet()
    }

    /// Rewrites the data to send, with values that no earlier repetition had. Data that is sent again unchanged must arrive again.
    #[inline]
    pub fn rewrite(&mut self, method: &mut dyn Method) -> Result<(), CallError> {
        let payload = &mut self.payload;
        if !method.ends().is_renewed {
            payload.looks.after.poison();
            payload.looks.before_answer.poison();
            return Ok(());
        }
        let version = payload.checks.change();
        payload.links.iter().for_each(|links| links.write(version));
        method.settle()
    }

    /// Called between a message and its answer, if ranks answer from the same memory: within the timed part.
    #[inline]
    pub fn before_answer(&mut self) {
        let MessagePayload { looks, checks, is_marking, .. } = &mut self.payload;
        if *is_marking && !looks.before_answer.is_empty() {
            looks.before_answer.copy();
            looks.marks.write(checks.version);
        }
    }

    /// Takes the time of a look, and leaves no trace.
    #[inline]
    pub fn look_in_vain(&self) {
        let MessagePayload { looks, checks, is_marking, .. } = &self.payload;
        std::hint::black_box(looks.wrong(checks.version, *is_marking));
    }

    /// Copies of a device's driver in all processes for one message of the block, if they are counted.
    pub fn copies_of_a_message(&mut self) -> Result<Option<f64>, CallError> {
        let (copies, repetitions) = std::mem::take(&mut self.device_copies);
        if device::copies().is_none() || repetitions == 0 {
            return Ok(None);
        }
        let all = self.setup.comm.gather(&copies.to_ne_bytes())?;
        let copies: u64 =
            all.iter().filter_map(|bytes| Some(u64::from_ne_bytes(bytes[..].try_into().ok()?))).sum();
        // One there and one back, for each pair, or for each rank of an all-to-all.
        let messages = 2 * if self.setup.is_all_to_all() { self.setup.ranks } else { 1 };
        Ok(Some(copies as f64 / f64::from(repetitions) / messages as f64))
    }

    /// The origin of a pair continues when its peer is ready. In an all-to-all all continue together, after a barrier.
    pub fn meet(&self) -> Result<(), CallError> {
        if self.setup.is_all_to_all() { self.setup.comm.barrier() } else { self.wait_for(1) }
    }

    /// In a pair, one rank waits for the other, number `rank` of the two, which sends a message without bytes.
    fn wait_for(&self, rank: usize) -> Result<(), CallError> {
        if self.setup.is_all_to_all() {
            return Ok(());
        }
        self.setup.comm.pass_token(self.setup.me == rank, self.setup.peer(), 0)
    }

    /// The common time of both ranks of a pair, in seconds.
    #[inline]
    pub fn now_s(&self) -> Option<f64> {
        self.sync.as_ref().map(Sync::now_s)
    }
}

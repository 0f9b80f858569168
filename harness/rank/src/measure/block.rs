//! One block: the datatype is created, the ping-pong repeated, the datatype freed. The timed loops only fill lists.
//!
//! A time is the difference between two readings of the clock, minus the cost of the readings within it. For
//! methods that pack, most repetitions are timed as a whole, and some in parts. In the latter, the origin
//! times its own packing and unpacking; its peer times, by its own clock, the unpacking and packing in
//! between; and the remainder of the communication is `net`, so the parts add up. A part ends when its stores
//! are done. A processor continues before that, and the rest would count as communication: with messages of 4
//! to 32 KiB, whose buffers the other rank has just read, that is a tenth of the round trip. Waiting for the
//! stores costs up to a few percent, so the round trip itself comes from other repetitions.

use std::sync::atomic::{Ordering, fence};
use std::time::Instant;

use common::model::Phase;
use common::model::event::Block;
use common::stats;

use super::creation::InARow;
use super::experiment::{Amount, Turn};
use super::session::Session;
use crate::checked::CallError;
use crate::clock::Clock;
use crate::device;
use crate::method::Method;

/// The peer's clock readings in a repetition in parts, all within the origin's communication.
const PEER_READINGS: u32 = 3;

/// Repetitions timed as a whole for each one timed in parts; there are more of them because methods are compared by the round trip.
const WHOLE_PER_PARTED: usize = 2;

/// A ping-pong by one method, on all ranks.
pub struct Bout<'s, 'a> {
    pub session: &'s mut Session<'a>,
    pub method: &'s mut dyn Method,
}

impl Bout<'_, '_> {
    /// Runs a block. The samples are only meaningful at the origin; other ranks return an empty block.
    pub fn run(&mut self, amount: Amount, in_a_row: InARow) -> Result<Block, CallError> {
        let (creates, clock) = (self.method.ends().creates, self.session.clock);
        let mut block = Block { batch: amount.batch, pair: self.session.pair, ..Block::default() };
        let once_s = clock.time(|| self.method.create())?;
        if creates {
            block.times[Phase::Create].push(in_a_row.one_s(clock, self.method, false, once_s)?);
            (block.made_in_a_row, block.freed_in_a_row) = (in_a_row.made, in_a_row.freed);
        }
        // Other ranks may still be creating datatypes: their delay must not affect the first sample, and all pairs begin together.
        self.session.world.barrier()?;
        for i in 0..amount.untimed {
            self.uncounted()?;
            // The last one leaves the caches as a repetition does.
            if i + 1 < amount.untimed {
                self.session.compare();
            }
        }
        match amount.batch {
            1 => self.one_by_one(amount.samples, &mut block)?,
            _ => self.batched(amount, &mut block)?,
        }
        let once_s = clock.time(|| self.method.free())?;
        if creates {
            block.times[Phase::Free].push(in_a_row.one_s(clock, self.method, true, once_s)?);
        }
        Ok(block)
    }

    /// The shortest times of several repetitions.
    pub fn repeat(&mut self, count: u32) -> anyhow::Result<Turn> {
        Turn::shortest(count, || {
            self.session.renew(self.method)?;
            let start = Instant::now();
            self.repetition_untimed()?;
            Ok(start.elapsed().as_secs_f64())
        })
    }

    fn one_by_one(&mut self, samples: usize, block: &mut Block) -> Result<(), CallError> {
        let (setup, ends, clock) = (self.session.setup, self.method.ends(), self.session.clock);
        let is_explicit = ends.packs || ends.unpacks;
        let whole = if is_explicit { Phase::RoundTrip } else { Phase::Communicate };
        block.times[whole].reserve_exact(samples);
        let (mut middle, mut begun_s) = (Middle::with_capacity(samples), Vec::with_capacity(samples));
        for i in 0..samples {
            self.session.renew(self.method)?;
            begun_s.extend(self.session.now_s());
            let copies = device::copies();
            let start = Instant::now();
            self.repetition_untimed()?;
            block.times[whole].push(clock.between(start, Instant::now(), 1));
            if let (Some(before), Some(after)) = (copies, device::copies()) {
                self.session.device_copies.0 += after - before;
                self.session.device_copies.1 += 1;
            }
            self.session.look();
            self.compare_some()?;
            if is_explicit && i % WHOLE_PER_PARTED == 0 {
                self.session.renew(self.method)?;
                if self.session.is_origin() || setup.is_all_to_all() {
                    self.in_parts(block, &mut middle)?;
                } else {
                    self.answer_in_parts(&mut middle)?;
                }
                self.session.look();
                self.compare_some()?;
            }
        }
        if !is_explicit {
            block.times[Phase::RoundTrip] = block.times[Phase::Communicate].clone();
        }
        if !setup.is_all_to_all() {
            let remote_s = of_peer(self.session, &begun_s)?;
            let skews = remote_s.iter().zip(begun_s).map(|(theirs, mine)| theirs - mine);
            block.start_skew_s = stats::median(&stats::sorted(skews));
            if is_explicit {
                middle = middle.of_peer(self.session)?;
            }
        }
        if self.session.is_origin() && is_explicit {
            add_up(block, middle, ends.packs, ends.unpacks);
        }
        Ok(())
    }

    /// One repetition in parts, at a rank that sends first.
    fn in_parts(&mut self, block: &mut Block, middle: &mut Middle) -> Result<(), CallError> {
        let Self { session, method } = self;
        let clock = session.clock;
        let start = Instant::now();
        method.pack(&mut session.memory)?;
        let packed = when_done();
        if session.setup.is_all_to_all() {
            // Every rank does the same: one transfer, and one back with the two arrays exchanged. It is its own peer.
            method.exchange(&mut session.memory)?;
            let came = Instant::now();
            method.unpack(&mut session.memory)?;
            let unpacked = when_done();
            session.before_answer();
            session.memory.turn(method.ends().returns_what_came());
            method.pack(&mut session.memory)?;
            middle.push(clock, came, unpacked, when_done());
            method.exchange(&mut session.memory)?;
        } else {
            method.send(&mut session.memory)?;
            method.receive(&mut session.memory)?;
        }
        let arrived = Instant::now();
        method.unpack(&mut session.memory)?;
        let end = when_done();
        session.settle_roles(*method);
        block.times[Phase::Pack].push(clock.between(start, packed, 1));
        block.times[Phase::Communicate].push(clock.between(packed, arrived, 1 + PEER_READINGS));
        block.times[Phase::Unpack].push(clock.between(arrived, end, 1));
        Ok(())
    }

    /// The peer's side of such a repetition.
    fn answer_in_parts(&mut self, middle: &mut Middle) -> Result<(), CallError> {
        let Self { session, method } = self;
        method.receive(&mut session.memory)?;
        let came = Instant::now();
        method.unpack(&mut session.memory)?;
        let unpacked = when_done();
        session.before_answer();
        method.pack(&mut session.memory)?;
        middle.push(session.clock, came, unpacked, when_done());
        method.send(&mut session.memory)
    }

    /// Samples of several repetitions, if one is too short for the clock. The clock cannot be read inside, so
    /// rewriting and checking the data is within the time; their time, measured separately, is subtracted.
    /// Packing is timed in separate loops, at both ranks. The communication by itself has no samples.
    fn batched(&mut self, amount: Amount, block: &mut Block) -> Result<(), CallError> {
        let clock = self.session.clock;
        let mean = |start, end| clock.between(start, end, 1) / f64::from(amount.batch);
        let mut rewriting = Vec::with_capacity(amount.samples);
        let mut wholes = Vec::with_capacity(amount.samples);
        for _ in 0..amount.samples {
            self.session.meet()?;
            let start = Instant::now();
            for _ in 0..amount.batch {
                self.session.rewrite(self.method)?;
                self.session.look_in_vain();
            }
            rewriting.push(mean(start, Instant::now()));
            self.session.meet()?;
            let start = Instant::now();
            for _ in 0..amount.batch {
                self.session.rewrite(self.method)?;
                self.repetition_untimed()?;
                self.session.look();
            }
            wholes.push(mean(start, Instant::now()));
            self.session.compare();
        }
        let rewriting_s = undisturbed(rewriting, &wholes);
        block.times[Phase::RoundTrip].extend(wholes.into_iter().map(|whole_s| whole_s - rewriting_s));
        let ends = self.method.ends();
        if !(ends.packs || ends.unpacks) {
            return Ok(());
        }
        let Self { session, method } = self;
        let mut mine = Middle::with_capacity(amount.samples);
        for _ in 0..amount.samples {
            let start = Instant::now();
            (0..amount.batch).try_for_each(|_| method.pack(&mut session.memory))?;
            let packed = Instant::now();
            // The data that an all-to-all received last came on the way back, and belongs in the other array.
            session.settle_roles(*method);
            let turned = Instant::now();
            (0..amount.batch).try_for_each(|_| method.unpack(&mut session.memory))?;
            let unpacked = Instant::now();
            session.settle_roles(*method);
            mine.pack_s.extend(ends.packs.then(|| mean(start, packed)));
            mine.unpack_s.extend(ends.unpacks.then(|| mean(turned, unpacked)));
        }
        let times = &mut block.times;
        (times[Phase::Pack], times[Phase::Unpack]) = (mine.pack_s.clone(), mine.unpack_s.clone());
        let theirs = if session.setup.is_all_to_all() { mine } else { mine.of_peer(session)? };
        (times[Phase::PeerPack], times[Phase::PeerUnpack]) = (theirs.pack_s, theirs.unpack_s);
        Ok(())
    }

    /// Compares all bytes of some repetitions. Each of these is followed by one that does not count, because the caches are others.
    fn compare_some(&mut self) -> Result<(), CallError> {
        if !self.session.payload.checks.is_compared() {
            return Ok(());
        }
        if self.session.payload.lacks_marks() {
            self.session.payload.is_marking = true;
            self.uncounted()?;
            self.session.compare();
            self.session.payload.is_marking = false;
        } else {
            self.session.compare();
        }
        self.uncounted()
    }

    /// A repetition that does not count.
    fn uncounted(&mut self) -> Result<(), CallError> {
        self.session.renew(self.method)?;
        self.repetition_untimed()?;
        self.session.look();
        Ok(())
    }

    /// One ping-pong without the clock.
    #[inline]
    fn repetition_untimed(&mut self) -> Result<(), CallError> {
        let Self { session, method } = self;
        let is_all_to_all = session.setup.is_all_to_all();
        if session.setup.me != 0 && !is_all_to_all {
            method.receive(&mut session.memory)?;
            method.unpack(&mut session.memory)?;
            session.before_answer();
            method.pack(&mut session.memory)?;
            return method.send(&mut session.memory);
        }
        method.pack(&mut session.memory)?;
        if is_all_to_all {
            method.exchange(&mut session.memory)?;
            method.unpack(&mut session.memory)?;
            session.before_answer();
            session.memory.turn(method.ends().returns_what_came());
            method.pack(&mut session.memory)?;
            method.exchange(&mut session.memory)?;
        } else {
            method.send(&mut session.memory)?;
            method.receive(&mut session.memory)?;
        }
        method.unpack(&mut session.memory)?;
        session.settle_roles(*method);
        Ok(())
    }
}

/// Times between the origin's send and its receive, one value for each repetition in parts.
struct Middle {
    /// Unpacking of the received message.
    unpack_s: Vec<f64>,
    /// Packing of the answer.
    pack_s: Vec<f64>,
}

impl Middle {
    /// With this capacity: pushes happen within the origin's time, where nothing may be allocated.
    fn with_capacity(samples: usize) -> Self {
        Self { unpack_s: Vec::with_capacity(samples), pack_s: Vec::with_capacity(samples) }
    }

    fn push(&mut self, clock: Clock, came: Instant, unpacked: Instant, packed: Instant) {
        self.unpack_s.push(clock.between(came, unpacked, 1));
        self.pack_s.push(clock.between(unpacked, packed, 1));
    }

    /// The peer's times, at the origin; collective over the pair.
    fn of_peer(self, session: &Session<'_>) -> Result<Self, CallError> {
        Ok(Self { unpack_s: of_peer(session, &self.unpack_s)?, pack_s: of_peer(session, &self.pack_s)? })
    }
}

/// The peer's list, at the origin of a pair; empty at other ranks. Collective over the pair.
fn of_peer(session: &Session<'_>, mine: &[f64]) -> Result<Vec<f64>, CallError> {
    let all = session.setup.comm.gather(bytemuck::cast_slice(mine))?;
    Ok(all.get(1).map_or_else(Vec::new, |theirs| bytemuck::pod_collect_to_vec(theirs)))
}

/// The time at which all earlier stores are done.
#[inline]
fn when_done() -> Instant {
    fence(Ordering::SeqCst);
    Instant::now()
}

/// The time of rewriting: the median, or the shortest if interruptions made the median longer than a whole repetition.
fn undisturbed(rewriting: Vec<f64>, wholes: &[f64]) -> f64 {
    let rewriting = stats::sorted(rewriting);
    let is_part = |median_s: &f64| wholes.iter().all(|whole_s| whole_s > median_s);
    stats::median(&rewriting).filter(is_part).or(rewriting.first().copied()).unwrap_or(0.0)
}

/// Computes `net` and the sum of each repetition in parts, once the peer's times are known. Packing and unpacking that
/// a method does not do take no time, whatever the clock readings around nothing show, and are not parts.
fn add_up(block: &mut Block, mut middle: Middle, packs: bool, unpacks: bool) {
    let times = &mut block.times;
    if !packs {
        times[Phase::Pack].fill(0.0);
        middle.pack_s.fill(0.0);
    }
    if !unpacks {
        times[Phase::Unpack].fill(0.0);
        middle.unpack_s.fill(0.0);
    }
    for i in 0..times[Phase::Communicate].len() {
        let communicate_s = times[Phase::Communicate][i];
        let net_s = communicate_s - middle.unpack_s[i] - middle.pack_s[i];
        let sum_s = times[Phase::Pack][i] + communicate_s + times[Phase::Unpack][i];
        times[Phase::Net].push(net_s);
        times[Phase::InParts].push(sum_s);
    }
    (times[Phase::PeerUnpack], times[Phase::PeerPack]) = (middle.unpack_s, middle.pack_s);
    for (phase, is_done) in [
        (Phase::Pack, packs),
        (Phase::PeerPack, packs),
        (Phase::Unpack, unpacks),
        (Phase::PeerUnpack, unpacks),
    ] {
        if !is_done {
            times.remove(phase);
        }
    }
}

/// Clock readings in a repetition of a method, on both ranks.
pub fn readings(method: &dyn Method) -> u32 {
    let ends = method.ends();
    if ends.packs || ends.unpacks { 4 + PEER_READINGS } else { 2 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn interrupted_rewriting_makes_no_time_negative() {
        let of = |wholes: &[f64]| super::undisturbed(vec![9.0, 1.0, 2.0], wholes);
        assert_eq!([of(&[5.0, 3.0]), of(&[5.0, 2.0])], [2.0, 1.0]);
    }
}

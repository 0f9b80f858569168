//! The costs of messages between these two ranks, on this MPI, now: measured once per case, before timing.
//!
//! For each number of neighbours that could be sent together, the whole message is sent in a row of such messages, and
//! one of them is sent by itself. Both are timed by the sender's clock up to an empty answer, whose own time is
//! subtracted. Send buffers are written before, and received data is read, as in a transfer.

use std::time::Instant;

use common::fine_grained::costs::{Cost, Costs};
use common::fine_grained::merging::sizes;
use common::packing::Form;
use common::stats;

use super::messages::ChannelMessages;
use super::{Channel, Role};
use crate::checked::{CallError, Comm};

/// Time in seconds after which no further round begins; and the minimum and maximum rounds. The first one does not count.
const ENOUGH_S: f64 = 0.1;
const ROUNDS: (usize, usize) = (4, 40);

/// Bytes of a cache line, or of a part of one, on every known machine.
const LINE_BYTES: usize = 64;

/// Persistent messages of a size.
struct MessageSize {
    messages: ChannelMessages,
    bytes: usize,
    start_s: Vec<f64>,
    alone_s: Vec<f64>,
    row_s: Vec<f64>,
}

/// Measures from rank 0, which sends, to rank 1; collective, and both get the same result.
pub fn measure(channel: &Channel<'_>) -> Result<Costs, CallError> {
    let comm = channel.comm.duplicate()?;
    let partitions = channel.partitions.len();
    let mut rows = Vec::new();
    for together in sizes(partitions) {
        let starts = (0..partitions).step_by(together);
        let runs: Vec<_> = starts.map(|start| start..(start + together).min(partitions)).collect();
        let messages = channel.bytes_of(&runs).map(|range| (range, &comm));
        let bytes = channel.partitions[together - 1].end;
        let messages = ChannelMessages::new(channel, Form::Persistent, messages)?;
        rows.push(MessageSize { messages, bytes, start_s: vec![], alone_s: vec![], row_s: vec![] });
    }
    let timer = MessageTimer { channel, comm: &comm };
    let (begin, mut answers_s) = (Instant::now(), Vec::new());
    for round in 0..ROUNDS.1 {
        let goes_on = round < ROUNDS.0 || begin.elapsed().as_secs_f64() < ENOUGH_S;
        // Only one rank's clock decides; both take the same steps.
        if comm.broadcast([f64::from(u8::from(goes_on))])?[0] == 0.0 {
            break;
        }
        let answer_s = timer.answer_s()?;
        answers_s.extend((round > 0).then_some(answer_s));
        for row in &mut rows {
            let (_, alone_s) = timer.send(row, 1)?;
            let (start_s, row_s) = timer.send(row, row.messages.len())?;
            if round > 0 {
                row.start_s.push(start_s);
                row.alone_s.push(alone_s);
                row.row_s.push(row_s);
            }
        }
    }
    let median = |samples: &[f64]| stats::median(&stats::sorted(samples.iter().copied())).unwrap_or(0.0);
    let answer_s = median(&answers_s);
    let cost = |row: &MessageSize| {
        let (messages, alone_s) = (row.messages.len(), median(&row.alone_s));
        let alone_s = (alone_s - answer_s).max(f64::MIN_POSITIVE);
        let row_s = (median(&row.row_s) - answer_s).max(f64::MIN_POSITIVE);
        let streamed_s = match messages {
            1 => alone_s,
            _ => ((row_s - alone_s) / (messages - 1) as f64).max(0.0),
        };
        // Those that rank 0 has measured.
        let [start_s, alone_s, streamed_s] = comm.broadcast([median(&row.start_s), alone_s, streamed_s])?;
        Ok(Cost { bytes: row.bytes as u64, start_s, alone_s, streamed_s })
    };
    let costs = rows.iter().map(cost).collect::<Result<_, CallError>>()?;
    rows.into_iter().try_for_each(|row| row.messages.free())?;
    Ok(Costs::new(costs))
}

/// The ranks during calibration.
struct MessageTimer<'a> {
    channel: &'a Channel<'a>,
    comm: &'a Comm,
}

impl MessageTimer<'_> {
    /// Sends the first `count` messages of a row. At the sender, returns the time to start one, and the time of all up to the answer.
    fn send(&self, row: &MessageSize, count: usize) -> Result<(f64, f64), CallError> {
        let all = 0..count;
        let bytes = if count == 1 { row.bytes } else { self.channel.memory.bytes() };
        if self.channel.role == Role::Receiver {
            // SAFETY: one thread calibrates, and has waited for all earlier messages.
            all.clone().try_for_each(|message| unsafe { row.messages.start(message) })?;
            self.comm.barrier()?;
            // SAFETY: as above.
            all.clone().try_for_each(|message| unsafe { row.messages.wait(message) })?;
            self.token(Role::Receiver)?;
            self.touch(bytes);
            return Ok((0.0, 0.0));
        }
        self.touch(bytes);
        self.comm.barrier()?;
        let begin = Instant::now();
        // SAFETY: as above.
        all.clone().try_for_each(|message| unsafe { row.messages.start(message) })?;
        let started_s = begin.elapsed().as_secs_f64();
        // SAFETY: as above.
        all.clone().try_for_each(|message| unsafe { row.messages.wait(message) })?;
        self.token(Role::Receiver)?;
        Ok((started_s / count as f64, begin.elapsed().as_secs_f64()))
    }

    /// Half of an empty message's round trip, at the sender.
    fn answer_s(&self) -> Result<f64, CallError> {
        self.comm.barrier()?;
        let begin = Instant::now();
        self.token(Role::Sender)?;
        self.token(Role::Receiver)?;
        Ok(begin.elapsed().as_secs_f64() / 2.0)
    }

    /// An empty message from one of the two ranks.
    fn token(&self, from: Role) -> Result<(), CallError> {
        // The last tag of a row is the number of its messages minus one.
        let tag = self.channel.tag + self.channel.partitions.len();
        self.comm.pass_token(self.channel.role == from, self.channel.peer, tag)
    }

    /// Changes the data to send, or reads the received data.
    fn touch(&self, bytes: usize) {
        for at in (0..bytes).step_by(LINE_BYTES) {
            let byte = self.channel.at(at);
            // SAFETY: a byte of the message, which no request uses now.
            unsafe {
                let found = byte.read_volatile();
                if self.channel.role == Role::Sender {
                    byte.write_volatile(found.wrapping_add(1));
                }
            }
        }
    }
}

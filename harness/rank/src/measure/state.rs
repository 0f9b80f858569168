//! The state of the machine before and after each block: the latency between the cores of a pair, and the copy rate of a core.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use common::model::event::MachineState;
use datatypes::Element;

use super::cache;
use crate::checked::{CallError, Comm, Datatype, Envelope, Window};
use crate::team::spin_until;

/// Round trips of one latency reading. 20 take several microseconds, far above the clock's resolution.
const ROUND_TRIPS: u64 = 20;

/// Latency readings, whose median counts, so that one interrupted reading does not matter.
const READINGS: usize = 7;

/// Bytes of the copied buffer: two of them fit in the second-level cache of every current core.
const COPY_BYTES: usize = 64 * 1024;

/// Copies of one reading; the fastest counts.
const COPIES: usize = 8;

/// Bytes of the buffer that is copied from memory: large enough that the copy takes far longer than the
/// clock's step, and small enough that evicting both buffers takes a fraction of a millisecond.
const MEMORY_COPY_BYTES: usize = 128 * 1024;

/// Measures the state, with the peer of a pair; without a peer, only the copy rate of a core.
pub struct StateProbe<'a> {
    pair: Option<&'a Comm>,
    me: usize,
    shared: Option<Line>,
    byte: Datatype,
    /// Source and target of the copy.
    from: Vec<u8>,
    to: Vec<u8>,
}

impl StateProbe<'_> {
    /// The state with this latency, and with the rates of copies within the cache and between evicted buffers.
    fn with_copies(&mut self, latency_s: f64) -> MachineState {
        let memory_copy_bytes_per_s = self.in_memory();
        MachineState { latency_s, copy_bytes_per_s: self.in_cache(), memory_copy_bytes_per_s }
    }

    fn in_memory(&mut self) -> Option<f64> {
        if !cache::can_evict() {
            return None;
        }
        [&self.from, &self.to].into_iter().for_each(|buffer| cache::evict_buffer(buffer));
        let start = Instant::now();
        black_box(&mut self.to[..]).copy_from_slice(black_box(&self.from));
        Some(MEMORY_COPY_BYTES as f64 / start.elapsed().as_secs_f64())
    }

    /// In bytes per second.
    fn in_cache(&mut self) -> f64 {
        let fastest = (0..COPIES).map(|_| {
            let start = Instant::now();
            black_box(&mut self.to[..COPY_BYTES]).copy_from_slice(black_box(&self.from[..COPY_BYTES]));
            start.elapsed().as_secs_f64()
        });
        COPY_BYTES as f64 / fastest.fold(f64::INFINITY, f64::min)
    }
}

/// A cache line that both ranks of a pair share.
struct Line {
    window: Window,
    _comm: Comm,
    flag: *const AtomicU64,
    /// The last value written; grows by two per round trip.
    count: u64,
}

impl<'a> StateProbe<'a> {
    /// With the other rank of `peers`, or without a partner if there is none. Collective over both. Ranks on
    /// different nodes, and MPIs without shared windows, use messages.
    pub fn new(peers: &'a Comm) -> Result<Self, CallError> {
        let pair = if peers.size()? == 2 { Some(peers) } else { None };
        let mut shared = None;
        if let Some(pair) = pair {
            let comm = pair.split_shared()?;
            shared = if comm.size()? == 2 { Line::new(comm).ok() } else { None };
            // Both ranks must do the same.
            let both = pair.everywhere(shared.is_some())?;
            shared = shared.filter(|_| both);
        }
        let (me, byte) = (peers.rank()?, Datatype::predefined(Element::Byte));
        let (from, to) = (vec![1; MEMORY_COPY_BYTES], vec![2; MEMORY_COPY_BYTES]);
        Ok(Self { pair, me, shared, byte, from, to })
    }

    /// Frees the shared memory; collective over the pair.
    pub fn finish(&mut self) -> Result<(), CallError> {
        self.shared.take().map_or(Ok(()), |line| line.window.free())
    }

    /// One reading; collective over the pair.
    pub fn read(&mut self) -> Result<MachineState, CallError> {
        // Not measured.
        let Some(pair) = self.pair else { return Ok(self.with_copies(0.0)) };
        pair.barrier()?;
        let mut latencies = [0.0; READINGS];
        for latency in &mut latencies {
            let start = Instant::now();
            match &mut self.shared {
                Some(line) => (0..ROUND_TRIPS).for_each(|_| line.round_trip(self.me)),
                None => self.messages(pair)?,
            }
            *latency = start.elapsed().as_secs_f64() / (2 * ROUND_TRIPS) as f64;
        }
        latencies.sort_unstable_by(f64::total_cmp);
        Ok(self.with_copies(latencies[READINGS / 2]))
    }

    fn messages(&self, pair: &Comm) -> Result<(), CallError> {
        let mut message = [0u8; 8];
        let envelope = Envelope { count: 8, datatype: &self.byte, peer: 1 - self.me, tag: 0, comm: pair };
        for _ in 0..ROUND_TRIPS {
            for sender in [0, 1] {
                // SAFETY: the message has eight bytes on both ranks.
                unsafe { envelope.pass(self.me == sender, message.as_mut_ptr()) }?;
            }
        }
        Ok(())
    }
}

impl Line {
    fn new(comm: Comm) -> Result<Self, CallError> {
        let (window, address) = Window::shared(4096, &comm)?;
        let flag = address.cast::<AtomicU64>().cast_const();
        if comm.rank()? == 0 {
            // SAFETY: the window has 4096 bytes, aligned to a page, and lives as long as `self`; all access is atomic.
            unsafe { &*flag }.store(0, Ordering::SeqCst);
        }
        comm.barrier()?;
        Ok(Self { window, _comm: comm, flag, count: 0 })
    }

    /// Rank 0 writes an odd number and waits for rank 1's answer, the next even one.
    fn round_trip(&mut self, me: usize) {
        // SAFETY: as in `new`.
        let flag = unsafe { &*self.flag };
        let (ping, pong) = (self.count + 1, self.count + 2);
        if me == 0 {
            flag.store(ping, Ordering::Release);
            spin_until(|| flag.load(Ordering::Acquire) >= pong);
        } else {
            spin_until(|| flag.load(Ordering::Acquire) >= ping);
            flag.store(pong, Ordering::Release);
        }
        self.count = pong;
    }
}

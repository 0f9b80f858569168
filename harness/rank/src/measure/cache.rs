//! The cold mode: lines of all buffers leave the caches between repetitions, outside the timed part.

use apps::{Side, WireOrder};

use crate::memory::Memory;
use crate::method::Setup;
use crate::spans::{Span, spans};

/// Bytes of a cache line on all processors that can evict one.
const LINE_BYTES: usize = 64;

/// Whether this processor has an instruction that evicts a line.
pub const fn can_evict() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

/// The lines of a message in the arrays.
pub struct Eviction {
    lines: Vec<usize>,
}

impl Eviction {
    /// The lines that hold both sides of the message, each once.
    pub fn new(setup: &Setup<'_>, memory: &Memory) -> Self {
        let sides = [Side::Send, Side::Receive];
        let spans = sides.into_iter().flat_map(|side| spans(setup.app, &memory.arrays, side, WireOrder::Ddt));
        let lines_of = |Span { offset, bytes }| (offset / LINE_BYTES)..=((offset + bytes - 1) / LINE_BYTES);
        let mut lines: Vec<usize> = spans.flat_map(lines_of).collect();
        lines.sort_unstable();
        lines.dedup();
        Self { lines }
    }

    /// Evicts the message's lines and both wire buffers.
    pub fn evict(&self, setup: &Setup<'_>, memory: &Memory) {
        let arrays = memory.arrays.memory();
        self.lines.iter().for_each(|line| evict_line(&arrays[line * LINE_BYTES]));
        for wire in [&memory.outgoing, &memory.incoming] {
            wire[..setup.message_bytes].iter().step_by(LINE_BYTES).for_each(evict_line);
        }
        wait();
    }
}

#[cfg(target_arch = "x86_64")]
fn evict_line(byte: &u8) {
    // SAFETY: the address is that of a live byte; the instruction writes back and drops its line, no more.
    unsafe { std::arch::x86_64::_mm_clflush(byte) }
}

#[cfg(target_arch = "x86_64")]
fn wait() {
    // SAFETY: a fence has no operands.
    unsafe { std::arch::x86_64::_mm_mfence() }
}

#[cfg(target_arch = "aarch64")]
fn evict_line(byte: &u8) {
    // SAFETY: the address is that of a live byte; the instruction writes back and drops its line, no more.
    unsafe { std::arch::asm!("dc civac, {}", in(reg) byte, options(nostack, preserves_flags)) }
}

#[cfg(target_arch = "aarch64")]
fn wait() {
    // SAFETY: a barrier has no operands.
    unsafe { std::arch::asm!("dsb ish", options(nostack, preserves_flags)) }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn evict_line(_: &u8) {
    unreachable!("refused at start where no instruction evicts")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn wait() {}

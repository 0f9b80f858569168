//! The cold mode: lines of all buffers leave the caches between repetitions, outside the timed part.

use apps::{Message, MicroApp, Side, WireOrder};

use crate::memory::Memory;
use crate::method::Setup;
use crate::spans::{Span, spans};

/// Bytes of a cache line on all processors that can evict one.
const LINE_BYTES: usize = 64;

/// Whether this processor has an instruction that evicts a line.
pub const fn can_evict() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

/// Evicts what a method touches. What an application's loop reads besides, as lists of indices, stays.
pub struct Eviction {
    sides: [Message; 2],
}

impl Eviction {
    /// For both sides of the message.
    pub fn new(app: &dyn MicroApp) -> Self {
        Self { sides: [Side::Send, Side::Receive].map(|side| app.message(side, WireOrder::Ddt)) }
    }

    /// Evicts the message's lines and both wire buffers.
    pub fn evict(&self, setup: &Setup<'_>, memory: &Memory) {
        let arrays = memory.arrays.memory();
        for Span { offset, bytes } in self.sides.iter().flat_map(|side| spans(side, &memory.arrays)) {
            let lines = offset / LINE_BYTES..=(offset + bytes - 1) / LINE_BYTES;
            lines.for_each(|line| evict_line(&arrays[line * LINE_BYTES]));
        }
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

//! The cold mode: lines of all buffers are evicted from the caches between repetitions, outside the timed part.

use apps::{Message, MicroApp, Side, WireOrder};
use common::model::conditions::Cache;
use common::packing::Location;

use crate::memory::Memory;
use crate::method::Setup;
use crate::spans::{LINE_BYTES, spans};

/// Whether this processor has an instruction that evicts a line.
pub const fn can_evict() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

/// Refuses the cold mode if this processor does not support it.
pub fn check(cache: Cache) -> anyhow::Result<()> {
    anyhow::ensure!(
        cache == Cache::Warm || can_evict(),
        "--cache cold: ddtbench knows no instruction of this processor that evicts a cache line"
    );
    Ok(())
}

/// Evicts the memory that a method touches. Other data of an application's loop, such as lists of indices, stays in the caches.
pub struct Eviction {
    sides: [Message; 2],
}

impl Eviction {
    /// For both sides of the message.
    pub fn new(app: &MicroApp) -> Self {
        Self { sides: [Side::Send, Side::Receive].map(|side| app.message(side, WireOrder::Ddt)) }
    }

    /// Evicts the message's lines and both wire buffers, except the one that a method sends `from` as if it
    /// had just been packed: after packing, those lines are in the cache.
    pub fn evict(&self, setup: &Setup<'_>, memory: &Memory, from: Location) {
        if from == Location::Arrays {
            self.evict_side(Side::Send, setup, memory);
        }
        self.evict_side(Side::Receive, setup, memory);
    }

    /// Evicts the memory read and written on one side: the message's lines and that side's wire buffer.
    pub fn evict_side(&self, side: Side, setup: &Setup<'_>, memory: &Memory) {
        let arrays = memory.arrays.memory();
        let (message, wire) = match side {
            Side::Send => (&self.sides[0], &memory.outgoing),
            Side::Receive => (&self.sides[1], &memory.incoming),
        };
        let spans = memory.has_arrays.then(|| spans(message, &memory.arrays));
        for span in spans.into_iter().flatten() {
            span.lines().for_each(|line| evict_line(&arrays[line * LINE_BYTES]));
        }
        // Empty if no method needs it.
        evict_buffer(&wire[..setup.message_bytes.min(wire.len())]);
    }
}

/// Evicts all lines of a buffer, and waits until all evictions are done.
pub fn evict_buffer(bytes: &[u8]) {
    bytes.iter().step_by(LINE_BYTES).chain(bytes.last()).for_each(evict_line);
    wait();
}

fn evict_line(byte: &u8) {
    // SAFETY: the address is that of a live byte; the instruction only writes back and drops its line.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_clflush(byte);
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dc civac, {}", in(reg) byte, options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    unreachable!("refused at start where no instruction evicts {byte}")
}

fn wait() {
    // SAFETY: a fence has no operands.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_mfence();
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dsb ish", options(nostack, preserves_flags));
    }
}

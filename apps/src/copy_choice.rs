//! How long runs are copied: by the C library or inline, with vectors of 16 or of 32 bytes. The fastest copy depends
//! on the processor, the direction and the length, so each process tries all of them once, before anything is timed.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A way to copy a run. All move the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    /// The C library's `memcpy`.
    Library,
    /// Inline, with vectors of 16 bytes, which every 64-bit processor has.
    Narrow,
    /// Inline, with vectors of 32 bytes, if the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    Wide,
    /// Vectors of 32 bytes, without a loop: runs below 128 bytes are copied with as few vectors as cover them. The
    /// last one may overlap.
    #[cfg(target_arch = "x86_64")]
    Straight,
    /// Vectors of 32 bytes, aligned to whole cache lines except at the ends: a line written in two parts costs two
    /// writes.
    #[cfg(target_arch = "x86_64")]
    Lines,
}

/// Which of the two sides of a copy has gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GapSide {
    /// The one that is read.
    Gather,
    /// The one that is written.
    Scatter,
}

/// Bytes of a cache line of all x86-64 processors.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Runs of at least this many bytes (a pair of vectors of 16) get a choice. Shorter ones are copied by the C library.
const SHORTEST: usize = 32;

/// Number of length classes, each twice as long as the previous one: up to 16 KiB. For longer runs the C library's
/// start-up cost is negligible, and only the library knows the sizes of the caches.
const CLASSES: usize = 9;

/// Bytes that a trial moves: a message that fits with its gaps into the second-level cache of all processors in use.
const TRIAL_BYTES: usize = 1 << 16;

/// Turns per way to copy; the fastest one counts. At a few microseconds each, all classes take 5 to 10 ms.
const TURNS: usize = 16;

/// The C library's copy is kept unless another takes less than this share of its time. So all ranks choose the same
/// copy if several are equally fast.
const CLEARLY_FASTER: f64 = 0.95;

/// The chosen copy, by direction and class.
static CHOICES: LazyLock<[[Copying; CLASSES]; 2]> = LazyLock::new(|| {
    // Written once, because unwritten memory is one shared page of zeros, and too fast.
    let (mut array, mut packed) = (vec![1u8; 3 * TRIAL_BYTES], vec![1u8; TRIAL_BYTES]);
    // Otherwise the compiler could remove copies whose result is never read.
    std::hint::black_box((&mut array, &mut packed));
    [GapSide::Gather, GapSide::Scatter].map(|direction| {
        std::array::from_fn(|class| fastest(direction, SHORTEST << class, &mut array, &mut packed))
    })
});

/// Chooses now, unless this process has chosen already. Called when arrays are allocated, which happens before any
/// loop runs, so that the choice never falls into a timed loop.
pub(crate) fn choose() {
    LazyLock::force(&CHOICES);
}

impl Copying {
    /// The chosen copy for runs of this many bytes.
    pub fn chosen(direction: GapSide, bytes: usize) -> Self {
        match (bytes / SHORTEST).checked_ilog2() {
            Some(class) if (class as usize) < CLASSES => CHOICES[direction as usize][class as usize],
            _ => Self::Library,
        }
    }

    /// The copies that this processor can make of runs of this many bytes; the C library's is the first.
    fn possible(bytes: usize) -> Vec<Self> {
        let mut possible = vec![Self::Library];
        possible.extend((bytes >= 32).then_some(Self::Narrow));
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            possible.extend((LINE_BYTES / 2..2 * LINE_BYTES).contains(&bytes).then_some(Self::Straight));
            possible.extend((bytes >= LINE_BYTES).then_some(Self::Wide));
            possible.extend((bytes >= 2 * LINE_BYTES).then_some(Self::Lines));
        }
        possible
    }
}

/// Runs of one length, equally spaced on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    /// Bytes of a run.
    pub bytes: usize,
    /// Bytes from the start of one run to the start of the next where they are written; at least those of a run.
    pub to_stride: usize,
    /// The same where they are read.
    pub from_stride: usize,
}

impl Runs {
    /// Copies as many runs as both sides have.
    pub fn copy(self, copying: Copying, to: &mut [u8], from: &[u8]) {
        match copying {
            Copying::Narrow => self.copy_each(to, from, copy_blocks::<32>),
            #[cfg(target_arch = "x86_64")]
            Copying::Wide if is_x86_feature_detected!("avx2") => {
                // SAFETY: the processor has AVX2, as checked just above.
                unsafe { self.copy_wide(to, from) }
            }
            #[cfg(target_arch = "x86_64")]
            Copying::Straight if is_x86_feature_detected!("avx2") => {
                // SAFETY: as above.
                unsafe { self.copy_straight(to, from) }
            }
            #[cfg(target_arch = "x86_64")]
            Copying::Lines if is_x86_feature_detected!("avx2") => {
                // SAFETY: as above.
                unsafe { self.copy_lines(to, from) }
            }
            _ => self.copy_each(to, from, |to, from| to.copy_from_slice(from)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn copy_wide(self, to: &mut [u8], from: &[u8]) {
        self.copy_each(to, from, copy_blocks::<LINE_BYTES>);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn copy_straight(self, to: &mut [u8], from: &[u8]) {
        const VECTOR: usize = LINE_BYTES / 2;
        match self.bytes.div_ceil(VECTOR) {
            ..=2 => self.copy_each(to, from, |to, from| {
                copy_first::<VECTOR>(to, from);
                copy_last::<VECTOR>(to, from);
            }),
            3 => self.copy_each(to, from, |to, from| {
                copy_first::<LINE_BYTES>(to, from);
                copy_last::<VECTOR>(to, from);
            }),
            _ => self.copy_each(to, from, |to, from| {
                copy_first::<LINE_BYTES>(to, from);
                copy_last::<LINE_BYTES>(to, from);
            }),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn copy_lines(self, to: &mut [u8], from: &[u8]) {
        self.copy_each(to, from, |to, from| {
            copy_first::<LINE_BYTES>(to, from);
            let first = to.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES);
            copy_blocks::<LINE_BYTES>(&mut to[first..], &from[first..]);
        });
    }

    #[inline(always)]
    fn copy_each(self, to: &mut [u8], from: &[u8], copy: impl Fn(&mut [u8], &[u8])) {
        for (to, from) in to.chunks_mut(self.to_stride).zip(from.chunks(self.from_stride)) {
            copy(&mut to[..self.bytes], &from[..self.bytes]);
        }
    }
}

/// Copies at least one block of `N` bytes, each by two vectors; the last one may overlap.
#[inline(always)]
fn copy_blocks<const N: usize>(to: &mut [u8], from: &[u8]) {
    let blocks = to.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<N>().0);
    blocks.for_each(|(to, from)| copy_block::<N>(to, from));
    copy_last::<N>(to, from);
}

/// Copies the first `N` bytes of a run of at least as many.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy_first<const N: usize>(to: &mut [u8], from: &[u8]) {
    copy_block::<N>(
        to.first_chunk_mut::<N>().expect(LONG_ENOUGH),
        from.first_chunk::<N>().expect(LONG_ENOUGH),
    );
}

/// Copies the last `N` bytes of a run of at least as many.
#[inline(always)]
fn copy_last<const N: usize>(to: &mut [u8], from: &[u8]) {
    copy_block::<N>(to.last_chunk_mut::<N>().expect(LONG_ENOUGH), from.last_chunk::<N>().expect(LONG_ENOUGH));
}

/// The message of a check that such a block exists.
const LONG_ENOUGH: &str = "a run has a block at least";

/// Copies `N` bytes in two copies: the compiler would turn a single one into a call of `memcpy` again.
#[inline(always)]
fn copy_block<const N: usize>(to: &mut [u8], from: &[u8]) {
    let ((to_1, to_2), (from_1, from_2)) = (to.split_at_mut(N / 2), from.split_at(N / 2));
    to_1.copy_from_slice(from_1);
    to_2.copy_from_slice(from_2);
}

/// The fastest copy of runs from `least` bytes to twice as many.
fn fastest(direction: GapSide, least: usize, array: &mut [u8], packed: &mut [u8]) -> Copying {
    let possible = Copying::possible(least);
    // One run length that is aligned to cache lines in the message, and one that is not. In the array none is.
    let times = [least, least + least / 2 + 4].map(|bytes| {
        let stride = 2 * bytes + 8;
        let used = packed.len() / bytes * bytes;
        trial(&possible, |copying| match direction {
            GapSide::Gather => {
                let runs = Runs { bytes, to_stride: bytes, from_stride: stride };
                runs.copy(copying, &mut packed[..used], array);
            }
            GapSide::Scatter => {
                let runs = Runs { bytes, to_stride: stride, from_stride: bytes };
                runs.copy(copying, array, &packed[..used]);
            }
        })
    });
    let time_s = |i: usize| times.iter().map(|times| times[i].as_secs_f64()).sum::<f64>();
    let by_time = |a: &usize, b: &usize| time_s(*a).total_cmp(&time_s(*b));
    let best = (0..possible.len()).min_by(by_time).expect("the C library's is there");
    if time_s(best) < CLEARLY_FASTER * time_s(0) { possible[best] } else { possible[0] }
}

/// The shortest time of each way to copy; the ways take turns.
fn trial(possible: &[Copying], mut copy: impl FnMut(Copying)) -> Vec<Duration> {
    let mut shortest = vec![Duration::MAX; possible.len()];
    for _ in 0..TURNS {
        for (shortest, &copying) in shortest.iter_mut().zip(possible) {
            let start = Instant::now();
            copy(copying);
            *shortest = start.elapsed().min(*shortest);
        }
    }
    shortest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_moves_every_run_and_nothing_else() {
        for bytes in (1..300).chain([512, 2048, 5000]) {
            for (gap, offset) in [(0, 0), (7, 3), (64, 16)] {
                let stride = bytes + gap;
                let packed: Vec<u8> = (0..4 * bytes).map(|i| (i % 251) as u8).collect();
                for copying in Copying::possible(bytes) {
                    // The last run ends with the array: no copy may read or write beyond it.
                    let mut array = vec![255; offset + 3 * stride + bytes];
                    Runs { bytes, to_stride: stride, from_stride: bytes }.copy(
                        copying,
                        &mut array[offset..],
                        &packed,
                    );
                    for (i, &found) in array.iter().enumerate() {
                        let at = i.checked_sub(offset).map(|i| (i / stride, i % stride));
                        let expected =
                            at.filter(|at| at.1 < bytes).map_or(255, |at| packed[at.0 * bytes + at.1]);
                        assert_eq!(found, expected, "{copying:?} of {bytes} bytes to {offset}, byte {i}");
                    }
                    let mut back = vec![255; packed.len()];
                    let runs = Runs { bytes, to_stride: bytes, from_stride: stride };
                    runs.copy(copying, &mut back, &array[offset..]);
                    assert_eq!(back, packed, "{copying:?} of {bytes} bytes from {offset}");
                }
            }
        }
    }

    #[test]
    fn what_is_chosen_can_copy_runs_of_that_length() {
        for direction in [GapSide::Gather, GapSide::Scatter] {
            for bytes in (0..400).chain([16383, 16384, 1 << 20, usize::MAX]) {
                let chosen = Copying::chosen(direction, bytes);
                assert!(Copying::possible(bytes).contains(&chosen), "{chosen:?} of {bytes} bytes");
            }
        }
        assert_eq!(Copying::chosen(GapSide::Gather, SHORTEST - 1), Copying::Library);
        assert_eq!(Copying::chosen(GapSide::Gather, SHORTEST << CLASSES), Copying::Library);
    }
}

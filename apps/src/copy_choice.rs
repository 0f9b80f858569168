//! How tuned loops copy long runs: by the C library or inline, with vectors of 32 bytes. The fastest copy
//! depends on the processor and the length.

/// A way to copy a run. All move the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    /// The C library's `memcpy`.
    Library,
    /// Inline, with vectors of 32 bytes, if the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    Wide,
    /// Vectors of 32 bytes, without a loop: runs below 128 bytes are copied with as few vectors as cover
    /// them. The last one may overlap.
    #[cfg(target_arch = "x86_64")]
    Straight,
    /// Vectors of 32 bytes, aligned to whole cache lines except at the ends: a line written in two parts
    /// costs two writes.
    #[cfg(target_arch = "x86_64")]
    Lines,
}

/// Bytes of a cache line of all x86-64 processors.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Whether the processor is Intel's, of the generation Sapphire Rapids or later. It copies other shapes best
/// than AMD's Zen 3 and Zen 4, which do not have this feature.
pub(crate) fn is_recent_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512fp16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

impl Copying {
    /// The copy for so many runs of this many bytes, as recorded on Zen 4 (AMD EPYC) and on Granite Rapids (Intel Xeon).
    pub(crate) fn chosen(bytes: usize, runs: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // The start-up cost of the library does not count for a single run, nor if the array is beyond the second-level
            // cache: rows of 4 KiB take 0.86 of the time of whole lines. On other processors the library can be very slow
            // for some places of the arrays (the block copies of the pack engine).
            let is_large = bytes >= 4 << 10 && bytes.saturating_mul(runs) >= 1 << 20;
            return match bytes {
                _ if is_recent_intel() && (runs == 1 || is_large) => Self::Library,
                // Shorter than a vector.
                ..32 => Self::Library,
                32..128 => Self::Straight,
                // Zen 4. On recent Intel processors the lines of these runs are up to a fifth faster, too.
                128..512 if !is_recent_intel() => Self::Wide,
                // For longer runs the library's start-up cost is negligible, and only it knows the sizes of the caches.
                128..16384 => Self::Lines,
                _ => Self::Library,
            };
        }
        let _ = (bytes, runs);
        Self::Library
    }
}

/// Runs of one length, equally spaced on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The copies that this processor can make of runs of this many bytes.
    fn possible(bytes: usize) -> Vec<Copying> {
        let mut possible = vec![Copying::Library];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            possible.extend((LINE_BYTES / 2..2 * LINE_BYTES).contains(&bytes).then_some(Copying::Straight));
            possible.extend((bytes >= LINE_BYTES).then_some(Copying::Wide));
            possible.extend((bytes >= 2 * LINE_BYTES).then_some(Copying::Lines));
        }
        possible
    }

    #[test]
    fn every_length_has_a_copy_that_is_possible() {
        for (bytes, runs) in (1..40_000).flat_map(|bytes| [(bytes, 1), (bytes, 1000)]) {
            let copying = Copying::chosen(bytes, runs);
            assert!(possible(bytes).contains(&copying), "{copying:?} for {runs} runs of {bytes} bytes");
        }
    }

    #[test]
    fn every_way_moves_every_run_and_nothing_else() {
        for bytes in (1..300).chain([512, 2048, 5000]) {
            for (gap, offset) in [(0, 0), (7, 3), (64, 16)] {
                let stride = bytes + gap;
                let packed: Vec<u8> = (0..4 * bytes).map(|i| (i % 251) as u8).collect();
                for copying in possible(bytes) {
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
}

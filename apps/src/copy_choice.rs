//! How tuned loops copy long runs: by the C library or inline, with vectors of 16 or of 32 bytes. The fastest copy
//! depends on the processor, the direction and the length. `ddtbench` measures it once per machine, as for the pack
//! engine, and gives the table to this crate, which does not measure.

use std::fmt;
use std::sync::OnceLock;

/// A way to copy a run. All move the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
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
pub enum GapSide {
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

/// Whether the processor is Intel's, of the generation Sapphire Rapids or later. It copies other shapes best than AMD's
/// Zen 3 and Zen 4, which do not have this feature.
pub(crate) fn is_recent_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512fp16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Number of length classes, each twice as long as the previous one: up to 16 KiB. For longer runs the C library's
/// start-up cost is negligible, and only the library knows the sizes of the caches.
const CLASSES: usize = 9;

/// The copy for each class of runs: by side of the gaps, then by length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyTable([[Copying; CLASSES]; 2]);

/// The table of this process.
static TABLE: OnceLock<CopyTable> = OnceLock::new();

impl CopyTable {
    /// Replaces the copy of a class. `false` if this processor cannot copy these runs so.
    pub fn choose(&mut self, class: CopyClass, copying: Copying) -> bool {
        let is_possible = class.ways().contains(&copying);
        if is_possible {
            self.0[class.side as usize][class.length] = copying;
        }
        is_possible
    }

    /// Makes it the table of this process. Only the first call has an effect: a loop that runs must not change.
    pub fn install(self) {
        let _ = TABLE.set(self);
    }
}

impl Default for CopyTable {
    /// The table that is shipped, recorded on Zen 4 (AMD EPYC) and on Granite Rapids (Intel Xeon).
    fn default() -> Self {
        let of_side = std::array::from_fn(|length| Copying::shipped(SHORTEST << length));
        Self([of_side; 2])
    }
}

/// Runs of similar lengths, with gaps on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyClass {
    side: GapSide,
    length: usize,
}

impl CopyClass {
    /// All classes.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_side = |side| (0..CLASSES).map(move |length| Self { side, length });
        [GapSide::Gather, GapSide::Scatter].into_iter().flat_map(of_side)
    }

    fn of(side: GapSide, bytes: usize) -> Option<Self> {
        let length = (bytes / SHORTEST).checked_ilog2()? as usize;
        (length < CLASSES).then_some(Self { side, length })
    }

    /// The copy that is shipped.
    pub fn shipped(self) -> Copying {
        Copying::shipped(self.least())
    }

    /// The side with the gaps.
    pub fn side(self) -> GapSide {
        self.side
    }

    /// The shortest run, in bytes.
    fn least(self) -> usize {
        SHORTEST << self.length
    }

    /// The copies that this processor can make of all its runs.
    pub fn ways(self) -> Vec<Copying> {
        Copying::possible(self.least())
    }
}

impl fmt::Display for CopyClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "runs of {} to {} bytes", self.least(), 2 * self.least() - 1)
    }
}

/// Runs of one class, with their memory, for measuring.
pub struct CopyTrial {
    class: CopyClass,
    array: Vec<u8>,
    packed: Vec<u8>,
}

/// Bytes of a message in a trial: it fits with its gaps into the second-level cache of all processors in use.
const TRIAL_BYTES: usize = 1 << 16;

/// Messages of each length that one [`CopyTrial::run`] copies.
const TIMES: usize = 4;

impl CopyTrial {
    /// For a class.
    pub fn new(class: CopyClass) -> Self {
        // Written once, because unwritten memory is one shared page of zeros, and too fast.
        Self { class, array: vec![1; 3 * TRIAL_BYTES + 64], packed: vec![1; TRIAL_BYTES + 64] }
    }

    /// Copies runs so, each time at another place, and returns the bytes. `first` changes the places. The runs
    /// have two lengths, of which one is not a power of two.
    pub fn run(&mut self, copying: Copying, first: usize) -> usize {
        let least = self.class.least();
        let lengths = [least, least + least / 2 + 4];
        lengths
            .map(|bytes| {
                let (stride, used) = (2 * bytes + 8, TRIAL_BYTES / bytes * bytes);
                for place in first..first + TIMES {
                    let (array, packed) = (&mut self.array[8 * (place % 8)..], &mut self.packed[..]);
                    match self.class.side {
                        GapSide::Gather => Runs { bytes, to_stride: bytes, from_stride: stride }.copy(
                            copying,
                            &mut packed[..used],
                            array,
                        ),
                        GapSide::Scatter => Runs { bytes, to_stride: stride, from_stride: bytes }.copy(
                            copying,
                            array,
                            &packed[..used],
                        ),
                    }
                    // Otherwise the compiler could remove copies whose result is never read.
                    std::hint::black_box((&mut *array, &mut *packed));
                }
                TIMES * used
            })
            .iter()
            .sum()
    }
}

impl Copying {
    /// The chosen copy for so many runs of this many bytes.
    pub(crate) fn chosen(side: GapSide, bytes: usize, runs: usize) -> Self {
        // The start-up cost of the library does not count for a single run, nor if the array is beyond the second-level
        // cache: rows of 4 KiB take 0.86 of the time of whole lines. On other processors the library can be very slow
        // for some places of the arrays (the block copies of the pack engine).
        let is_large = bytes >= 4 << 10 && bytes.saturating_mul(runs) >= 1 << 20;
        if is_recent_intel() && (runs == 1 || is_large) {
            return Self::Library;
        }
        let table = TABLE.get_or_init(CopyTable::default);
        CopyClass::of(side, bytes).map_or(Self::Library, |class| table.0[class.side as usize][class.length])
    }

    /// The copy that is shipped for runs from `least` bytes to twice as many.
    fn shipped(least: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        let fastest = match least {
            ..128 => Self::Straight,
            // Zen 4. On recent Intel processors the lines of these runs are up to a fifth faster, too.
            128..512 if !is_recent_intel() => Self::Wide,
            _ => Self::Lines,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let fastest = Self::Library;
        if Self::possible(least).contains(&fastest) { fastest } else { Self::Library }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "memcpy",
            Self::Narrow => "16-byte vectors",
            #[cfg(target_arch = "x86_64")]
            Self::Wide => "32-byte vectors",
            #[cfg(target_arch = "x86_64")]
            Self::Straight => "32-byte vectors without a loop",
            #[cfg(target_arch = "x86_64")]
            Self::Lines => "32-byte vectors by cache lines",
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
    fn classes_are_chosen_by_length_and_only_by_ways_that_are_possible() {
        for (i, class) in CopyClass::all().enumerate() {
            assert_eq!(CopyClass::all().filter(|other| other.to_string() == class.to_string()).count(), 2);
            for bytes in [class.least(), 2 * class.least() - 1] {
                assert_eq!(CopyClass::of(class.side, bytes), Some(class));
            }
            let mut trial = CopyTrial::new(class);
            for (place, copying) in class.ways().into_iter().enumerate() {
                let mut table = CopyTable::default();
                assert!(table.choose(class, copying));
                assert_eq!(table.0.as_flattened()[i], copying);
                assert!(trial.run(copying, place) >= TRIAL_BYTES);
            }
        }
        assert_eq!(CopyClass::of(GapSide::Gather, SHORTEST - 1), None);
        assert_eq!(CopyClass::of(GapSide::Gather, SHORTEST << CLASSES), None);
        assert_eq!(CopyClass::of(GapSide::Scatter, usize::MAX), None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_copy_that_is_impossible_is_not_chosen() {
        let mut table = CopyTable::default();
        let long = CopyClass::of(GapSide::Gather, 4096).unwrap();
        assert!(!table.choose(long, Copying::Straight));
        assert_eq!(table, CopyTable::default());
    }
}

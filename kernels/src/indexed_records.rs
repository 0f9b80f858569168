//! Records by index: the same few values of every record, each at a fixed distance times the record's index. Examples
//! are the atoms of an index list with an array for each value, and listed elements of an array of structs.
//!
//! One list of 4-byte indices replaces a list of the places of all values. Values are copied as words, in
//! groups with the same distance, so that one multiplication gives the places of several.

use crate::loops::POSITION;
use crate::select::{Pair, ParticlesKernel, RecordsKernel, particles, words};
use crate::survey::ByteRun;
use crate::way::Way;

/// Records by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedRecords {
    /// The words of a record, in packed order.
    pub groups: Vec<Group>,
    /// Bytes of a word: 4 or 8.
    pub word_bytes: usize,
    pub indices: Box<[u32]>,
}

/// Adjacent words of every record: at `offset + scale * index` for each of the offsets, from displacement 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// At least one, and at most [`MOST_IN_GROUP`].
    pub offsets: Vec<i64>,
    pub scale: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum RecordsKernels {
    /// All words of a record at once.
    Particles(Pair<ParticlesKernel>),
    /// One for each group of words.
    Groups(Box<[Pair<RecordsKernel>]>),
}

/// Maximum number of runs in a record for which a pattern is searched.
const MOST_RUNS: usize = 16;

/// Maximum number of words in a record.
const MOST_WORDS: usize = 32;

/// Maximum average number of words in a run of a list. Longer runs are better copied as blocks.
const FEW_WORDS: usize = 2;

/// From this number of records, a list of indices pays off.
const FEWEST_RECORDS: usize = 8;

/// Maximum number of words that are copied at once: the addresses and values of more do not fit into 16 registers.
const MOST_IN_GROUP: usize = 5;

/// Records that are copied group by group before the next ones. Their lines of the packed stream must stay in the
/// innermost cache although each value brings a line of its array: with 256 records, Zen 4 takes a tenth longer.
const ROWS: usize = 32;

/// Records whose places are compared exactly before all of them are: most lists are refused here.
const FIRST: usize = 8;

/// The places of one run of every record: `offset + scale * index`, for indices that begin at 0.
#[derive(Clone, Copy)]
struct IndexColumn {
    offset: i64,
    scale: i64,
    bytes: usize,
}

impl IndexedRecords {
    /// Finds records in a list of `count` runs. `None` if the places do not depend on one index, if sizes are
    /// not multiples of a word, or if records could overlap: then it would matter which is written last.
    pub fn from_runs(count: usize, run: impl Fn(usize) -> ByteRun) -> Option<Self> {
        let most = MOST_RUNS.min(count / FEWEST_RECORDS);
        let has_few_words =
            |n: usize| (0..n).map(|i| run(i).bytes).sum::<usize>() <= FEW_WORDS * n * size_of::<u64>();
        let of_length =
            |n: usize| Self::of_length(count, &run, n).filter(|records| records.words() <= FEW_WORDS * n);
        (2..=most).filter(|&n| count.is_multiple_of(n) && has_few_words(n)).find_map(of_length)
    }

    /// Copies of the same runs at listed offsets, with the same restrictions.
    pub fn of_copies(offsets: &[i64], runs: &[ByteRun]) -> Option<Self> {
        if offsets.len() < FEWEST_RECORDS || runs.len() > MOST_RUNS {
            return None;
        }
        let list = List::from_places(offsets.iter().copied())?;
        let column = |run: &ByteRun| IndexColumn {
            offset: run.offset.wrapping_add(list.lowest),
            scale: list.unit,
            bytes: run.bytes,
        };
        Self::of_columns(runs.iter().map(column).collect(), list.indices)
    }

    /// Records of `n` runs.
    fn of_length(count: usize, run: &impl Fn(usize) -> ByteRun, n: usize) -> Option<Self> {
        // From the run in this column of the first record to the one of the record that begins with run `record`.
        let distance =
            |record: usize, column: usize| run(record + column).offset.wrapping_sub(run(column).offset);
        // A record at another place than the first one gives the ratio of the columns' distances.
        let other = (n..count).step_by(n).find(|&record| distance(record, 0) != 0)?;
        let fits = |i: usize| {
            let (record, column) = (i - i % n, i % n);
            let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
            run(i).bytes == run(column).bytes
                && product(distance(record, column), distance(other, 0))
                    == product(distance(record, 0), distance(other, column))
        };
        if !(n..count.min(n * FIRST)).all(fits) {
            return None;
        }
        let list = List::from_places((0..count).step_by(n).map(|i| run(i).offset))?;
        let first = i64::from(list.indices[0]);
        let steps = i64::from(list.indices[other / n]) - first;
        let column = |i: usize| {
            let scale = distance(other, i) / steps;
            let offset = run(i).offset.wrapping_sub(scale.wrapping_mul(first));
            (scale > 0).then_some(IndexColumn { offset, scale, bytes: run(i).bytes })
        };
        let columns: Vec<IndexColumn> = (0..n).map(column).collect::<Option<_>>()?;
        let fits = |(i, &index): (usize, &u32)| {
            columns.iter().enumerate().all(|(c, column)| run(i * n + c) == column.run(index))
        };
        if !list.indices.iter().enumerate().all(fits) {
            return None;
        }
        Self::of_columns(columns, list.indices)
    }

    fn of_columns(columns: Vec<IndexColumn>, indices: Box<[u32]>) -> Option<Self> {
        let word_bytes =
            [8, 4].into_iter().find(|word| columns.iter().all(|c| c.bytes.is_multiple_of(*word)))?;
        let count: usize = columns.iter().map(|column| column.bytes / word_bytes).sum();
        let most = indices.iter().copied().max()?;
        if count > MOST_WORDS || !(are_apart(&columns, most) || are_elements(&columns)) {
            return None;
        }
        let mut groups: Vec<Group> = Vec::new();
        for column in columns {
            let scale = column.scale as usize;
            for at in (0..column.bytes).step_by(word_bytes) {
                let offset = column.offset.wrapping_add(at as i64);
                match groups.last_mut() {
                    Some(last) if last.scale == scale && last.offsets.len() < MOST_IN_GROUP => {
                        last.offsets.push(offset);
                    }
                    _ => groups.push(Group { offsets: vec![offset], scale }),
                }
            }
        }
        Some(Self { groups, word_bytes, indices })
    }

    /// Whether records are a position and single words from separate arrays, in this order.
    pub fn are_particles(&self) -> bool {
        let [positions, singles] = &self.groups[..] else { return false };
        let word = self.word_bytes;
        let is_adjacent = |pair: &[i64]| pair[0].wrapping_add(word as i64) == pair[1];
        positions.offsets.len() == POSITION
            && positions.scale == POSITION * word
            && positions.offsets.windows(2).all(is_adjacent)
            && singles.scale == word
    }

    pub fn words(&self) -> usize {
        self.groups.iter().map(|group| group.offsets.len()).sum()
    }

    /// Bytes of one record in the packed stream.
    pub fn record_bytes(&self) -> usize {
        self.word_bytes * self.words()
    }

    /// Bytes in the packed stream.
    pub fn bytes(&self) -> usize {
        self.record_bytes() * self.indices.len()
    }

    /// Whether the indices are 0, 1, 2, and so on.
    pub fn is_even(&self) -> bool {
        self.indices.iter().zip(0..).all(|(&index, i)| index == i)
    }

    pub fn moved(mut self, by: i64) -> Self {
        let offsets = self.groups.iter_mut().flat_map(|group| &mut group.offsets);
        offsets.for_each(|offset| *offset = offset.wrapping_add(by));
        self
    }

    /// The offset of each word, record by record.
    #[inline(always)]
    pub fn each(&self, mut word: impl FnMut(i64)) {
        for &index in &self.indices {
            for group in &self.groups {
                let distance = (group.scale as i64).wrapping_mul(index.into());
                group.offsets.iter().for_each(|offset| word(offset.wrapping_add(distance)));
            }
        }
    }

    /// The kernels for each group of words.
    pub fn kernels(&self, ways: Pair<Way>) -> RecordsKernels {
        if self.are_particles() {
            let (singles, is_even) = (self.groups[1].offsets.len(), self.is_even());
            let kernel = |way| particles(self.word_bytes, singles, is_even, way);
            return RecordsKernels::Particles(Pair::by(ways, kernel));
        }
        let of_group = |group: &Group| Pair::by(ways, |way| words(self.word_bytes, group.offsets.len(), way));
        RecordsKernels::Groups(self.groups.iter().map(of_group).collect())
    }

    /// Runs all records; `array` is displacement 0, `packed` the place of the first of them.
    ///
    /// # Safety
    /// As for [`Sequence::run`](crate::operation::Sequence::run), with the result of
    /// [`IndexedRecords::kernels`] for ways of this processor.
    #[inline(never)]
    pub unsafe fn run<const PACK: bool>(&self, kernels: &RecordsKernels, array: *mut u8, packed: *mut u8) {
        let kernels = match (kernels, &self.groups[..]) {
            (RecordsKernels::Particles(kernel), [positions, singles]) => {
                // SAFETY: the caller's records; the kernel was chosen for these groups.
                return unsafe {
                    kernel.in_direction::<PACK>()(array, packed, [positions, singles], &self.indices)
                };
            }
            (RecordsKernels::Groups(kernels), _) => kernels,
            (RecordsKernels::Particles(_), _) => unreachable!("particles have two groups"),
        };
        let record = self.record_bytes();
        let mut packed = packed;
        for indices in self.indices.chunks(ROWS) {
            let mut group_at = packed;
            for (group, kernels) in self.groups.iter().zip(kernels.iter()) {
                // SAFETY: words of the caller's records; the kernel was chosen for this number of them.
                unsafe { kernels.in_direction::<PACK>()(array, group_at, record, group, indices) };
                group_at = group_at.wrapping_add(self.word_bytes * group.offsets.len());
            }
            packed = packed.wrapping_add(record * indices.len());
        }
    }
}

impl IndexColumn {
    /// Its run in the record of this index.
    fn run(&self, index: u32) -> ByteRun {
        let distance = self.scale.wrapping_mul(index.into());
        ByteRun { offset: self.offset.wrapping_add(distance), bytes: self.bytes }
    }
}

/// Whether each column ends before the next one begins; `most` is the highest index.
fn are_apart(columns: &[IndexColumn], most: u32) -> bool {
    let spans = columns.iter().map(|column| (column.offset, column.run(most).end())).collect();
    are_disjoint(spans) && columns.iter().all(|column| column.scale >= column.bytes as i64)
}

/// Whether columns are members of the elements of one array, which do not overlap: neither within an element
/// nor from one element to the next.
fn are_elements(columns: &[IndexColumn]) -> bool {
    let scale = columns[0].scale;
    let (offsets, ends) = (columns.iter().map(|c| c.offset), columns.iter().map(|c| c.run(0).end()));
    let extent = ends.clone().max().zip(offsets.clone().min()).map(|(end, start)| end.wrapping_sub(start));
    extent.is_some_and(|extent| (0..=scale).contains(&extent))
        && columns.iter().all(|column| column.scale == scale)
        && are_disjoint(offsets.zip(ends).collect())
}

/// Whether no two of these spans, first byte and end, share a byte.
fn are_disjoint(mut spans: Vec<(i64, i64)>) -> bool {
    // Offsets may have wrapped; the distance between any two places of data is less than half of the address space.
    let base = spans[0].0;
    for (start, end) in &mut spans {
        (*start, *end) = (start.wrapping_sub(base), end.wrapping_sub(base));
    }
    spans.sort_unstable();
    spans.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// Places as multiples of a unit from the lowest one.
struct List {
    lowest: i64,
    unit: i64,
    indices: Box<[u32]>,
}

impl List {
    /// `None` if all places are the same, or if they are too far apart for 32 bits.
    fn from_places(places: impl ExactSizeIterator<Item = i64> + Clone) -> Option<Self> {
        let lowest = places.clone().min()?;
        let from_lowest = |place: i64| place.wrapping_sub(lowest) as u64;
        let unit = places.clone().map(from_lowest).fold(0, gcd);
        if unit == 0 {
            return None;
        }
        let index = |place| u32::try_from(from_lowest(place) / unit).ok();
        Some(Self {
            lowest,
            unit: i64::try_from(unit).ok()?,
            indices: places.map(index).collect::<Option<_>>()?,
        })
    }
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 { b } else { gcd(b % a, a) }
}

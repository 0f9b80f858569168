//! The messages by which a program measures the ways of a class.

use datatypes::{Element, Layout, LayoutError};

use super::{Class, Direction, Shape, Tuning};
use crate::Program;
use crate::block_copy::{LINE, LONG, PAGE};
use crate::program::compile_for;
use crate::way::Way;

/// Messages of one class, with their memory, and the ways to copy them.
pub struct Trial {
    direction: Direction,
    ways: Vec<Way>,
    /// For each way, the messages.
    programs: Vec<Vec<Program>>,
    /// Bytes of the array that each message spans.
    extents: Vec<usize>,
    array: Buffer,
    packed: Buffer,
}

/// Memory that begins at the same place of a page in every trial.
struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// Memory for a message of that many bytes at any place. It is written, because unwritten memory is one
    /// shared page of zeros, and too fast.
    fn new(bytes: usize) -> Self {
        let memory = vec![1; bytes + 2 * PAGE];
        // As the C library's large allocations, which have 16 bytes of its own at the start of their first page.
        let start = (16 + memory.as_ptr().addr().wrapping_neg()) % PAGE;
        Self { memory, start }
    }

    fn at(&mut self, place: usize) -> &mut [u8] {
        &mut self.memory[self.start + place..]
    }
}

/// Bytes of a message in the innermost cache, and in the next one.
const MESSAGES: [usize; 2] = [8 << 10, 64 << 10];

/// The same for long blocks, of which short messages have few: both in the second-level cache.
const LONG_MESSAGES: [usize; 2] = [64 << 10, 256 << 10];

/// Distance of the places in the array at which messages are tried, in bytes: not all are at multiples of a vector.
const ARRAY_OFFSETS: [usize; 4] = [0, 8, 2048 + 64, 1024 + 24];

/// The same in the packed buffer, which every allocator begins at a multiple of 16 bytes.
const PACKED_OFFSETS: [usize; 4] = [0, 16, 2048 + 64, 1024 + 32];

/// Messages that span more are not evicted, which takes up to 50 ns per line.
const MOST_EVICTED: usize = 5 << 18;

impl Trial {
    /// Number of places at which messages can be tried. The fastest way can depend on the place.
    pub const PLACES: usize = ARRAY_OFFSETS.len() * PACKED_OFFSETS.len();

    /// For a class, packed or unpacked.
    pub fn new(class: Class, direction: Direction) -> Self {
        let layouts = messages(class).expect("layouts within the address space");
        let ways = class.ways(direction);
        let programs = |&way: &Way| {
            let tuning = Tuning::With(class, direction, way);
            let program =
                |layout: &Layout| compile_for(layout, 1, tuning).expect("layouts within the address space");
            layouts.iter().map(program).collect()
        };
        let programs: Vec<Vec<Program>> = ways.iter().map(programs).collect();
        let extents: Vec<usize> = layouts.iter().map(|layout| layout.true_upper_bound() as usize).collect();
        let extent = extents.iter().copied().max().unwrap_or(0);
        let size = programs.iter().flatten().map(Program::size).max().unwrap_or(0);
        Self { direction, ways, programs, extents, array: Buffer::new(extent), packed: Buffer::new(size) }
    }

    /// The ways to copy it, in the order of their numbers.
    pub fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// The sizes of the messages, in bytes.
    pub fn sizes(&self) -> Vec<usize> {
        self.programs[0].iter().map(Program::size).collect()
    }

    /// Copies one message by one way, both by number, at place `place` modulo [`Trial::PLACES`].
    pub fn copy(&mut self, way: usize, message: usize, place: usize) {
        let program = &self.programs[way][message];
        let at = ARRAY_OFFSETS[place % ARRAY_OFFSETS.len()];
        let to = PACKED_OFFSETS[place / ARRAY_OFFSETS.len() % PACKED_OFFSETS.len()];
        let (array, packed) = (self.array.at(at), &mut self.packed.at(to)[..program.size()]);
        match self.direction {
            Direction::Pack => program.pack(array, 0, packed),
            Direction::Unpack => program.unpack(packed, array, 0),
        }
        .expect("memory for the largest message");
    }

    /// Evicts the memory of a message from the caches. `false` if the processor has no instruction for it, or
    /// if it would take too long.
    pub fn evict(&mut self, message: usize) -> bool {
        let (extent, size) = (self.extents[message], self.programs[0][message].size());
        extent <= MOST_EVICTED
            && evict(&self.packed.at(0)[..size + PAGE])
            && evict(&self.array.at(0)[..extent + PAGE])
    }
}

/// Evicts memory from all caches; `false` if the processor has no instruction for it.
fn evict(memory: &[u8]) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        for line in memory.chunks(LINE) {
            // SAFETY: every processor of the architecture has the instruction, which needs a readable address.
            unsafe { std::arch::x86_64::_mm_clflush(line.as_ptr()) }
        }
        // SAFETY: every processor of the architecture has the instruction.
        unsafe { std::arch::x86_64::_mm_mfence() }
    }
    let _ = memory;
    cfg!(all(target_arch = "x86_64", not(miri)))
}

#[cfg(test)]
impl Trial {
    /// Whether all messages have only operations of this class.
    pub(crate) fn is_of(&self, class: Class) -> bool {
        let operations = self.programs.iter().flatten().flat_map(|program| &program.sequence.operations);
        operations.clone().count() > 0
            && operations.into_iter().all(|operation| operation.leaf.class() == Some(class))
    }
}

fn sizes(class: Class) -> [usize; 2] {
    let sizes = class.shape.sizes();
    let least = if class.size > 0 { sizes[class.size - 1] + 1 } else { 4 };
    match sizes[class.size] {
        4 => [4; 2],
        8 => [8; 2],
        // With its array, larger than the 32 MiB of the recorded processors.
        usize::MAX if class.shape == Shape::Run => [20 << 20; 2],
        usize::MAX => [least / 64 * 96, least / 64 * 96 + 8],
        most => [most, (least + most) / 8 * 4],
    }
}

fn messages(class: Class) -> Result<Vec<Layout>, LayoutError> {
    let byte = Layout::named(Element::Byte);
    let double = Layout::named(Element::Double);
    // By size of a block, number of blocks, and whether it is the first of the two sizes.
    let of_blocks = |layout: &dyn Fn(usize, i64, bool) -> Result<Layout, LayoutError>| {
        let messages = |block| if block > LONG { LONG_MESSAGES } else { MESSAGES };
        let all = [true, false].into_iter().zip(sizes(class)).flat_map(|(is_first, block)| {
            messages(block).map(|message| layout(block, (message / block).max(3) as i64, is_first))
        });
        all.collect()
    };
    match class.shape {
        Shape::Run => {
            // Long runs take most of the time, so there is only one of them.
            let sizes = sizes(class).into_iter().skip(usize::from(class.size >= 6));
            sizes.map(|bytes| Layout::contiguous(bytes as i64, &byte)).collect()
        }
        Shape::Strided => of_blocks(&|block, count, is_first| {
            // Distances that are powers of two, as in arrays of such sizes, and others: vectors are slow at the former.
            let block = block as i64;
            let gap = if is_first { block } else { (block / 2 + 7) / 8 * 8 };
            Layout::hvector(count, 1, block + gap, &Layout::contiguous(block, &byte)?)
        }),
        Shape::LongRows => {
            let rows =
                |row| Layout::hvector((1 << 20) / row + 1, 1, 2 * row + 64, &Layout::contiguous(row, &byte)?);
            [6 << 10, 12 << 10].map(rows).into_iter().collect()
        }
        Shape::ManyPages => {
            let of_size =
                |block| Layout::hvector(1000, 1, 4096 + 64, &Layout::contiguous(block as i64, &byte)?);
            sizes(class).into_iter().map(of_size).collect()
        }
        Shape::Transposed => {
            // Real and complex numbers.
            let (rows, columns, doubles) = if class.size == 0 { (128, 64, 1) } else { (768, 1024, 2) };
            // Padded, because rows at multiples of 4 KiB would share the sets of the caches.
            let column = Layout::vector(rows, doubles, (columns + 8) * doubles, &double)?;
            Ok(vec![Layout::hvector(columns, 1, 8 * doubles, &column)?])
        }
        Shape::Listed => of_blocks(&|block, count, is_first| {
            // Lists of meshes ascend with uneven gaps. Those of particles have no pattern: half of the
            // places, none twice, because 40503 is odd. Gathering wins only in the latter.
            let room = (2 * count as u64).next_power_of_two() as i64;
            let places: Vec<i64> = (0..count)
                .map(|i| if is_first { 3 * i + i * 40_503 / 16 % 2 } else { i * 40_503 % room })
                .collect();
            Layout::indexed_block(
                block as i64,
                &places.iter().map(|at| at * block as i64).collect::<Vec<_>>(),
                &byte,
            )
        }),
        Shape::IndexedRecords => {
            let of_words = |word: &Layout, message: usize| {
                let records = message as i64 / 64;
                let room = (2 * records as u64).next_power_of_two() as i64;
                let index = |i: i64| i * 40_503 % room;
                let values = |i: i64| {
                    [3 * index(i)].into_iter().chain((3..8).map(move |array| array * room + index(i)))
                };
                let lengths = [3, 1, 1, 1, 1, 1].repeat(records as usize);
                Layout::indexed(&lengths, &(0..records).flat_map(values).collect::<Vec<_>>(), word)
            };
            let words = [double, Layout::named(Element::Float)];
            words.iter().flat_map(|word| MESSAGES.map(|message| of_words(word, message))).collect()
        }
        Shape::Runs => MESSAGES
            .map(|message| {
                let lengths: Vec<i64> = (0..message as i64 / 64).map(|i| 1 + i * i * i % 15).collect();
                let places: Vec<i64> = (0..lengths.len() as i64).map(|i| 20 * i).collect();
                Layout::indexed(&lengths, &places, &double)
            })
            .into_iter()
            .collect(),
    }
}

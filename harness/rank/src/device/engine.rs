//! Packing on the device by the pack engine's kernels.

use std::ffi::c_void;

use apps::Side;
use bytemuck::{Pod, Zeroable, cast_slice};
use common::model::conditions::MemoryKind;
use datatypes::{Layout, Segment};
use kernels::device::{
    DevicePart, DevicePlaces, DeviceProgram, DeviceRecords, Divisor, Shape, WORDS_OF_A_THREAD,
};

use super::buffer::Buffer;
use super::driver::{Driver, driver, synchronize};

/// Threads of a group: a multiple of the 32 that run together, and few enough to divide small messages among processors.
const THREADS: u32 = 128;

/// The arguments of a kernel: the structures of `kernels/device/pack.cu`.
#[derive(Clone, Copy)]
enum Arguments {
    Places(PlacesArguments),
    Records(RecordsArguments),
    Blocks(BlocksArguments),
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PlacesArguments {
    array: u64,
    packed: u64,
    listed: u64,
    first: i64,
    strides: [i64; 3],
    block: Divisor,
    inner: Divisor,
    middle: Divisor,
    words: u32,
    unpacks: u32,
    padding: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RecordsArguments {
    array: u64,
    packed: u64,
    offsets: u64,
    scales: u64,
    indices: u64,
    record: Divisor,
    words: u32,
    unpacks: u32,
    padding: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BlocksArguments {
    array: u64,
    packed: u64,
    listed: u64,
    count: u32,
    lanes: u32,
    unpacks: u32,
    padding: u32,
}

/// An entry of a list of blocks.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Block {
    place: i64,
    first: u32,
    words: u32,
}

/// A layout that is ready to be packed on the device.
pub struct DeviceEngine {
    launches: Vec<Launch>,
    /// The lists, which the arguments refer to.
    _lists: Vec<Buffer>,
}

/// One kernel.
struct Launch {
    kernel: usize,
    groups: u32,
    /// Without addresses of array and packed stream.
    arguments: Arguments,
    /// The first byte of its part of the packed stream.
    packed: usize,
}

impl DeviceEngine {
    /// Compiles copies of a layout, whose displacement 0 is byte `origin` of the arrays, for a packed stream
    /// that begins `begin` bytes into aligned memory, and copies its lists to the device.
    ///
    /// # Panics
    /// If the message has more than 2^31 words: the arrays of all tests are smaller.
    pub fn new(layout: &Layout, count: u64, origin: i64, begin: usize) -> Self {
        let program = DeviceProgram::from_layout(layout, count, origin).expect("the arrays are in memory");
        let mut lists = Vec::new();
        let launches = program.parts.iter().map(|part| launch(part, begin, &mut lists)).collect();
        Self { launches, _lists: lists }
    }

    /// Packs or unpacks, and waits for it.
    ///
    /// # Safety
    /// The device can read one of the layout in the arrays and the packed stream, and write the other one.
    #[inline]
    pub unsafe fn run(&self, side: Side, arrays: *mut u8, packed: *mut u8) {
        let unpacks = side == Side::Receive;
        let driver = driver();
        for launch in &self.launches {
            let array = arrays as u64;
            let packed = packed.wrapping_add(launch.packed) as u64;
            let mut arguments = launch.arguments;
            let address: *mut c_void = match &mut arguments {
                Arguments::Places(all) => {
                    (all.array, all.packed, all.unpacks) = (array, packed, unpacks.into());
                    (&raw mut *all).cast()
                }
                Arguments::Records(all) => {
                    (all.array, all.packed, all.unpacks) = (array, packed, unpacks.into());
                    (&raw mut *all).cast()
                }
                Arguments::Blocks(all) => {
                    (all.array, all.packed, all.unpacks) = (array, packed, unpacks.into());
                    (&raw mut *all).cast()
                }
            };
            // SAFETY: the memory is guaranteed by the caller; the arguments have the form of the kernel's.
            unsafe { driver.start(launch, address) };
        }
        synchronize();
    }
}

impl Driver {
    /// # Safety
    /// The kernel may use the memory that its arguments name.
    #[inline]
    unsafe fn start(&self, launch: &Launch, arguments: *mut c_void) {
        let (mut all, none) = ([arguments], std::ptr::null_mut());
        let (groups, threads, stream) = (launch.groups, THREADS, self.stream);
        // SAFETY: guaranteed by the caller; the arguments are copied before the call returns.
        let code = unsafe {
            (self.launch)(launch.kernel, groups, 1, 1, threads, 1, 1, 0, stream, all.as_mut_ptr(), none)
        };
        self.check("cuLaunchKernel", code);
    }
}

/// A list on the device.
fn list<T: Pod>(values: &[T], lists: &mut Vec<Buffer>) -> u64 {
    let bytes: &[u8] = cast_slice(values);
    let buffer = Buffer::new(MemoryKind::Device, bytes.len());
    // SAFETY: the buffer has as many bytes, and is new.
    unsafe { driver().copy_now(buffer.address() as u64, bytes.as_ptr() as u64, bytes.len()) };
    lists.push(buffer);
    lists[lists.len() - 1].address() as u64
}

fn launch(part: &DevicePart, begin: usize, lists: &mut Vec<Buffer>) -> Launch {
    let word = part.word_bytes(begin).expect("a message of at most 2^31 words");
    let words = (part.bytes / word as usize) as u32;
    let (name, threads, arguments) = match &part.shape {
        Shape::Places(places) => {
            let arguments = Arguments::Places(of_places(places, word, words, lists));
            ("places", words.div_ceil(WORDS_OF_A_THREAD), arguments)
        }
        Shape::Records(records) => {
            let arguments = Arguments::Records(of_records(&records.in_words_of(word), words, lists));
            ("records", words.div_ceil(WORDS_OF_A_THREAD), arguments)
        }
        Shape::Blocks(blocks) => {
            let arguments = of_blocks(blocks, word, lists);
            ("blocks", arguments.count * arguments.lanes, Arguments::Blocks(arguments))
        }
    };
    let kernel = driver().kernel(&format!("{name}_{word}"));
    Launch { kernel, groups: threads.div_ceil(THREADS), arguments, packed: part.packed }
}

fn of_places(places: &DevicePlaces, word: u32, words: u32, lists: &mut Vec<Buffer>) -> PlacesArguments {
    let in_loop = |i: usize| places.loops.get(i).copied().unwrap_or((1, 0));
    let divisor = |count: u64| Divisor::new(u32::try_from(count).expect("a message of at most 2^31 words"));
    PlacesArguments {
        listed: places.listed.as_ref().map_or(0, |listed| list(listed, lists)),
        first: places.first,
        strides: [0, 1, 2].map(|i| in_loop(i).1),
        block: divisor(places.block / u64::from(word)),
        inner: divisor(in_loop(0).0),
        middle: divisor(in_loop(1).0),
        words,
        ..Zeroable::zeroed()
    }
}

fn of_records(records: &DeviceRecords, words: u32, lists: &mut Vec<Buffer>) -> RecordsArguments {
    RecordsArguments {
        offsets: list(&records.offsets, lists),
        scales: list(&records.scales, lists),
        indices: list(&records.indices, lists),
        record: Divisor::new(records.offsets.len() as u32),
        words,
        ..Zeroable::zeroed()
    }
}

/// Long blocks are divided, so that all threads have work.
fn of_blocks(blocks: &[Segment], word: u32, lists: &mut Vec<Buffer>) -> BlocksArguments {
    /// Words of a block's part.
    const MOST: u64 = 512;
    /// Threads that run together.
    const TOGETHER: u64 = 32;
    let (mut first, mut all) = (0, Vec::new());
    for block in blocks {
        let words = block.bytes / u64::from(word);
        for from in (0..words).step_by(MOST as usize) {
            let part = (words - from).min(MOST);
            let place = block.offset + (from * u64::from(word)) as i64;
            all.push(Block { place, first, words: part as u32 });
            first += part as u32;
        }
    }
    let mean = u64::from(first) / (all.len() as u64).max(1);
    let lanes = mean.next_power_of_two().clamp(1, TOGETHER) as u32;
    BlocksArguments { listed: list(&all, lists), count: all.len() as u32, lanes, ..Zeroable::zeroed() }
}

//! One operation on a case: memory, numbers and functions that its C statements use, and the result.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::{Mutex, PoisonError};

use common::conformance::items::{Items, UNWRITTEN, Value, packed_difference};
use common::conformance::{FaultKind, Need, Operation, partitions};
use datatypes::Element;

use super::arena::Part;
use super::bench::{Bench, Halt, WrongBytes};
use super::subject::{Dense, Subject};
use crate::checked::operations::{Handles, RawDatatype, Shared};
use crate::checked::{CallError, Datatype, check};
use crate::device::{self, Buffer};

const MOST_FILE_BYTES: i64 = 1 << 24;

/// Every MPI has tags up to this one (MPI-4.1, section 9.1.2).
const LEAST_TAG_UB: u64 = 32767;

/// The state of the functions that statements call.
struct OperationRun<'a> {
    bench: &'a Bench<'a>,
    subject: &'a Subject,
    data: &'a Items,
    /// Data of other operations differs.
    salt: u64,
    at_end: bool,
    /// The memory of the type and its copy.
    typed: [Part; 2],
    /// The expected memory.
    image: Vec<u8>,
    /// The expected values, one after the other.
    expected: Vec<u8>,
    /// All memory whose margins must not change.
    parts: Vec<Part>,
    /// The first wrong result.
    wrong: Option<Halt>,
}

/// One item, and the bytes from it to the next, for the reduction that is running: MPI passes only a handle to the function.
static ITEM: Mutex<(Vec<(isize, usize)>, isize)> = Mutex::new((Vec::new(), 0));

/// Tries an operation with new data.
pub fn run(bench: &Bench<'_>, subject: &Subject, operation: &Operation, salt: u64) -> Result<(), Halt> {
    let call = bench.operations.find(operation.name).ok_or(Halt::Unsuitable)?;
    let comm = match operation.ranks {
        1 => Some(&bench.own),
        _ if operation.is_collective => Some(bench.world),
        _ => bench.pair.as_ref(),
    };
    let Some(comm) = comm else { return Ok(()) };
    let ranks = comm.size()?;
    let blocks = operation.blocks(ranks);
    let data = subject.data_of(blocks);
    if !is_suitable(bench, subject, operation, &data) {
        return Err(Halt::Unsuitable);
    }
    let of_item = data.values.len() / (subject.items as usize * blocks).max(1);
    let (data, dense) = match operation.needs(Need::Short) {
        true => short(bench, subject)?,
        false => (data, None),
    };
    let Dense { datatype: dense, count } = dense.as_ref().unwrap_or(&subject.dense);
    let (bytes, at_end) = (data.bytes(), subject.at_end);
    let part = |arena: &super::arena::Arena, bytes: usize| arena.part(bytes, at_end).ok_or(Halt::Unsuitable);
    let typed = [part(&bench.typed[0], data.span_bytes())?, part(&bench.typed[1], data.span_bytes())?];
    let [packed, values] = [part(&bench.packed, bytes)?, part(&bench.values, bytes)?];
    packed.write(&vec![UNWRITTEN; bytes]);
    let element = data.values.first().map_or(Element::Byte, |value| value.element);
    // One that the statements free.
    let frees = operation.statements.contains("MPI_Type_free(&type)");
    let freed = frees.then(|| subject.another(&bench.own)).transpose()?;
    let datatype = freed.as_ref().unwrap_or(&subject.datatype);
    if operation.statements.contains("exclusive_or") {
        let one = &data.values[..of_item];
        let place = |value: &Value| (value.displacement as isize, value.element.size() as usize);
        let item = (one.iter().map(place).collect(), subject.layout.extent() as isize);
        *ITEM.lock().unwrap_or_else(PoisonError::into_inner) = item;
    }
    let whole = data.values.len().checked_div(of_item).filter(|items| items * of_item == data.values.len());
    let mut state = OperationRun {
        bench,
        subject,
        data: &data,
        salt,
        at_end,
        typed,
        image: vec![UNWRITTEN; data.image_bytes()],
        expected: vec![0; bytes],
        parts: vec![typed[0], typed[1], packed, values],
        wrong: None,
    };
    state.write(0);
    let arguments = if operation.needs(Need::Fits) { subject.arguments() } else { None }.unwrap_or_default();
    let mut shared = Shared {
        state: (&raw mut state).cast(),
        memory: bench.device.as_ref().map_or(typed[0].start(), Buffer::address),
        kept: typed[1].start(),
        packed: packed.start(),
        values: values.start(),
        expected: state.expected.as_mut_ptr(),
        file: bench.files[usize::from(operation.ranks > 1)].as_ptr(),
        handles: Handles::new(datatype, dense, &Datatype::predefined(element), comm),
        all: data.span_bytes() as c_long,
        origin: -data.span.0,
        bytes: bytes as c_long,
        block: (bytes / blocks) as c_long,
        from: data.span.0,
        span: data.span_bytes() as c_long,
        extent: subject.layout.extent() as c_long,
        lower_bound: subject.layout.lower_bound() as c_long,
        right_addresses: arguments.addresses.as_ptr(),
        right_integers: arguments.integers.as_ptr(),
        items: subject.items as c_int,
        value_count: data.values.len() as c_int,
        count: *count,
        whole: whole.map_or(-1, |items| items as c_int),
        partitions: partitions(subject.items) as c_int,
        rank: comm.rank()? as c_int,
        ranks: ranks as c_int,
        tag: (salt % LEAST_TAG_UB) as c_int,
        combiner: arguments.combiner,
        integers: arguments.integers.len() as c_int,
        addresses: arguments.addresses.len() as c_int,
        types: arguments.types,
        fill,
        blank,
        arrive,
        place,
        keep,
        reverse,
        guarded,
        compare,
        compare_number,
        failed,
        make,
        exclusive_or,
    };
    // SAFETY: memory of the arenas, and live handles; the state lives until the call returns, and nothing else uses it.
    unsafe { bench.operations.run(call, &mut shared) };
    // The statements have freed it; after an error they may not have.
    freed.into_iter().for_each(std::mem::forget);
    if state.parts.iter().any(|part| !part.has_clean_margin()) {
        state.is_wrong(FaultKind::ChangedMemory, "a byte next to the buffer has changed".to_owned());
    }
    let sent = data.values.len();
    state.wrong.map_or(Ok(()), |stop| match stop {
        Halt::WrongBytes(wrong) if operation.needs(Need::Short) => {
            let all = subject.data_of(1).values.len();
            let detail = format!("{} after {sent} of {all} values", wrong.detail);
            Err(WrongBytes { detail, ..wrong }.into())
        }
        stop => Err(stop),
    })
}

/// Whether a correct program can do the operation with this data.
fn is_suitable(bench: &Bench<'_>, subject: &Subject, operation: &Operation, data: &Items) -> bool {
    let element = subject.layout.only_element();
    let is_met = |need: &Need| match need {
        Need::Fits => subject.arguments().is_some(),
        Need::Rare => subject.is_one_of_few(),
        Need::Disjoint => data.are_disjoint(),
        Need::WithData => !data.values.is_empty(),
        Need::WithoutData => subject.items > 0 && data.values.is_empty(),
        Need::WithItems => subject.items > 0,
        Need::OneElement => element.is_some(),
        Need::Integers => element.is_some_and(Element::is_integer),
        Need::Viewed => subject.viewed_as().is_some() && data.span.1 <= MOST_FILE_BYTES,
        Need::Own | Need::Plain | Need::Short | Need::Blocks | Need::Neighbours => true,
    };
    bench.has_room(data) && Need::ALL.iter().filter(|need| operation.needs(**need)).all(is_met)
}

/// The first values, and a contiguous description of them: one less than all, or any number that depends on the case.
fn short(bench: &Bench<'_>, subject: &Subject) -> Result<(std::rc::Rc<Items>, Option<Dense>), CallError> {
    let mut data = (*subject.data_of(1)).clone();
    let all = data.values.len();
    let any = (subject.origin as usize).wrapping_mul(31) % all;
    data.values.truncate(if subject.origin.is_multiple_of(2) { all - 1 } else { any });
    let dense = Dense::from_values(&data.values, &bench.own)?;
    Ok((data.into(), Some(dense)))
}

impl OperationRun<'_> {
    /// The state behind the first argument of a function.
    ///
    /// # Safety
    /// It must be the one that [`run`] has passed, and not be used otherwise.
    unsafe fn from_state<'a>(state: *mut c_void) -> &'a mut Self {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *state.cast() }
    }

    /// Writes the image to the memory of the type or to its copy.
    fn write(&self, place: usize) {
        for window in &self.data.windows {
            let from = (window.span.0 - self.data.span.0) as usize;
            self.typed[place].write_at(from, &self.image[window.at..window.end()]);
            if let Some(device) = self.device_of(place) {
                let host = self.typed[place].start().wrapping_add(from);
                // SAFETY: bytes of the data, which is within both memories; MPI does not use them now.
                unsafe { device::copy(device.wrapping_add(from), host, window.bytes()) };
            }
        }
    }

    /// The memory of a device in place of the memory of the type or of its copy.
    fn device_of(&self, place: usize) -> Option<*mut u8> {
        self.bench.device.as_ref().filter(|_| place == 0).map(Buffer::address)
    }

    /// The memory of the type or its copy as it is now.
    fn read(&self, place: usize) -> Vec<u8> {
        let mut image = Vec::with_capacity(self.data.image_bytes());
        for window in &self.data.windows {
            let from = (window.span.0 - self.data.span.0) as usize;
            if let Some(device) = self.device_of(place) {
                let host = self.typed[place].start().wrapping_add(from);
                // SAFETY: as in `write`.
                unsafe { device::copy(host, device.wrapping_add(from), window.bytes()) };
            }
            image.extend_from_slice(self.typed[place].read_at(from, window.bytes()));
        }
        image
    }

    fn is_wrong(&mut self, kind: FaultKind, detail: String) {
        self.wrong.get_or_insert(WrongBytes { kind, detail }.into());
    }
}

/// A text of the statements.
///
/// # Safety
/// It must be a C string.
unsafe fn text<'a>(what: *const c_char) -> std::borrow::Cow<'a, str> {
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(what) }.to_string_lossy()
}

extern "C" fn fill(state: *mut c_void, rank: c_int) {
    // SAFETY: the statements pass it on.
    let run = unsafe { OperationRun::from_state(state) };
    run.image = run.data.filled(run.salt + ((rank as u64) << 20));
    run.write(0);
    run.expected.copy_from_slice(&run.data.gathered(&run.image));
}

extern "C" fn blank(state: *mut c_void) {
    // SAFETY: as above.
    let run = unsafe { OperationRun::from_state(state) };
    run.image.fill(UNWRITTEN);
    run.write(0);
}

extern "C" fn arrive(state: *mut c_void, values: *const u8) {
    // SAFETY: as above; statements pass as many values as the data has.
    let run = unsafe { OperationRun::from_state(state) };
    // SAFETY: as above.
    let values = unsafe { std::slice::from_raw_parts(values, run.data.bytes()) };
    run.image = run.read(0);
    run.data.scatter_into(values, &mut run.image);
}

extern "C" fn place(state: *mut c_void) {
    // SAFETY: as above.
    unsafe { OperationRun::from_state(state) }.write(0);
}

extern "C" fn keep(state: *mut c_void) {
    // SAFETY: as above.
    let run = unsafe { OperationRun::from_state(state) };
    let expected = std::mem::take(&mut run.image);
    run.image = run.read(0);
    run.write(1);
    run.image = expected;
}

extern "C" fn reverse(state: *mut c_void, values: *mut u8) {
    // SAFETY: as above.
    let data = unsafe { OperationRun::from_state(state) }.data;
    // SAFETY: as above.
    let values = unsafe { std::slice::from_raw_parts_mut(values, data.bytes()) };
    let reversed = data.big_endian(values);
    values.copy_from_slice(&reversed);
}

extern "C" fn guarded(state: *mut c_void, bytes: c_long) -> *mut u8 {
    // SAFETY: as above.
    let run = unsafe { OperationRun::from_state(state) };
    let Some(part) = run.bench.buffer(bytes.max(0) as usize, run.at_end) else { return std::ptr::null_mut() };
    run.parts.push(part);
    part.write(&vec![UNWRITTEN; part.bytes()]);
    part.start()
}

extern "C" fn compare(
    state: *mut c_void,
    what: *const c_char,
    right: *const u8,
    found: *const u8,
    bytes: c_long,
) {
    // SAFETY: as above.
    let (run, what) = unsafe { (OperationRun::from_state(state), text(what)) };
    let is_at =
        |place: &usize| run.device_of(*place).unwrap_or(run.typed[*place].start()).cast_const() == found;
    let place = (0..run.typed.len()).find(is_at).filter(|_| right.is_null());
    if let Some(place) = place {
        if let Some(difference) = run.data.difference(&run.image, &run.read(place)) {
            let is_data = difference.is_data && !what.starts_with("sender");
            let kind = if is_data { FaultKind::WrongData } else { FaultKind::ChangedMemory };
            run.is_wrong(kind, difference.text);
        }
        return;
    }
    // SAFETY: statements pass so many bytes.
    let [right, found] =
        [right, found].map(|start| unsafe { std::slice::from_raw_parts(start, bytes as usize) });
    if let Some(detail) = packed_difference(right, found) {
        run.is_wrong(FaultKind::WrongData, detail);
    }
}

extern "C" fn compare_number(state: *mut c_void, what: *const c_char, right: c_long, found: c_long) {
    if right != found {
        // SAFETY: as above.
        let (run, what) = unsafe { (OperationRun::from_state(state), text(what)) };
        run.is_wrong(FaultKind::WrongValue, format!("{what} is {found} instead of {right}"));
    }
}

extern "C" fn failed(state: *mut c_void, call: *const c_char, code: c_int) {
    // SAFETY: as above.
    let (run, call) = unsafe { (OperationRun::from_state(state), text(call)) };
    // The name of a call is a constant elsewhere; few calls fail.
    if let Err(error) = check(call.into_owned().leak(), code) {
        run.wrong.get_or_insert(error.into());
    }
}

extern "C" fn make(state: *mut c_void, made: *mut RawDatatype) -> c_int {
    // SAFETY: as above.
    let run = unsafe { OperationRun::from_state(state) };
    match run.subject.another(&run.bench.own) {
        // SAFETY: statements pass the address of a handle.
        Ok(datatype) => unsafe { *made = datatype.into_raw() },
        Err(error) => {
            run.wrong.get_or_insert(error.into());
        }
    }
    c_int::from(run.wrong.is_some())
}

extern "C" fn exclusive_or(from: *mut c_void, to: *mut c_void, length: *mut c_int, _: *mut c_void) {
    let item = ITEM.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: MPI passes the address of the number of items.
    for number in 0..unsafe { *length } as isize {
        for (at, bytes) in &item.0 {
            let start = number * item.1 + at;
            for place in start..start + *bytes as isize {
                // SAFETY: MPI passes items of the type, to which these bytes belong.
                unsafe { *to.cast::<u8>().offset(place) ^= *from.cast::<u8>().offset(place) };
            }
        }
    }
}

//! The user's loop: `pack` and `unpack` in a shared object that `ddtbench` has compiled from a C or Fortran file.
//!
//! In C they are `void pack(const void *array, void *message, int tag)` and `void unpack(const void *message, void *array, int tag)`.
//! The tag is that of a halo's message and 0 elsewhere; functions without this parameter ignore it, as calling conventions pass it in a
//! separate register. In Fortran they are subroutines with these arguments. The array is the address that MPI would get; if a message
//! has several arrays, it is a table of their addresses, in the order of their first data.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, anyhow};
use apps::{Arrays, Face, Message, MicroApp, PAGE_BYTES, Side, WireOrder};

use crate::memory::{Region, Wire};
use crate::payload::{Link, Mismatch, Moved, Places, Runs, Version, Wrong, source_of};
use crate::spans::{
    Span, data_spans, from_source, in_arrays, packed_data, padded_places, padded_spans, place_in_arrays, runs,
};

static LOADED: OnceLock<[Function; 2]> = OnceLock::new();

/// The most arrays of a message: more than any test has.
const MOST_ARRAYS: usize = 64;

/// A function of the user.
#[derive(Clone, Copy)]
enum Function {
    C(InC),
    Fortran(InFortran),
}

type InC = unsafe extern "C" fn(*const c_void, *mut c_void, c_int);
type InFortran = unsafe extern "C" fn(*const c_void, *mut c_void, *const c_int);

impl Function {
    /// # Safety
    /// The function only uses memory of the caller that it may use.
    #[inline]
    unsafe fn call(self, from: *const c_void, to: *mut c_void, tag: c_int) {
        match self {
            // SAFETY: guaranteed by the caller.
            Self::C(function) => unsafe { function(from, to, tag) },
            // SAFETY: as above.
            Self::Fortran(function) => unsafe { function(from, to, &raw const tag) },
        }
    }
}

/// Loads the functions of a shared object, made of the user's file `source`.
pub fn load(object: &Path, source: &Path) -> anyhow::Result<()> {
    let refusal = || format!("--pack {}", source.display());
    let name = CString::new(object.as_os_str().as_bytes()).with_context(refusal)?;
    // SAFETY: the name is NUL-terminated. The user wants the code that loading runs to be run.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: the call above has failed, and no other thread loads libraries.
        let reason = unsafe { CStr::from_ptr(libc::dlerror()) };
        return Err(anyhow!("{}", reason.to_string_lossy())).with_context(refusal);
    }
    let symbol = |name: &CStr| {
        // SAFETY: the library was loaded, and is never closed.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    // SAFETY: the interface that the head of this file requires; nothing can check it.
    let in_c = |address| Function::C(unsafe { std::mem::transmute::<*mut c_void, InC>(address) });
    // SAFETY: as above.
    let in_fortran =
        |address| Function::Fortran(unsafe { std::mem::transmute::<*mut c_void, InFortran>(address) });
    let function = |c: &CStr, fortran: &CStr| {
        let found = symbol(c).map(in_c).or_else(|| symbol(fortran).map(in_fortran));
        let lack = || anyhow!("has no function `{}`", c.to_string_lossy());
        found.ok_or_else(lack).with_context(refusal)
    };
    let both = [function(c"pack", c"pack_")?, function(c"unpack", c"unpack_")?];
    LOADED.get_or_init(|| both);
    Ok(())
}

/// The user's loop for one end of a message.
pub struct OwnLoop {
    /// Each of the message's arrays, and the byte of it whose address the loop gets.
    arrays: Vec<(usize, usize)>,
    tag: c_int,
}

impl OwnLoop {
    /// For a face; if it `is_described` only by a datatype, the loop gets the address of displacement 0.
    ///
    /// # Panics
    /// If no loop was loaded.
    pub fn new(face: &Face, is_described: bool, tag: usize) -> Self {
        assert!(LOADED.get().is_some(), "the method `own` is refused without --pack");
        let mut arrays: Vec<(usize, usize)> = Vec::new();
        for piece in face.message(WireOrder::Ddt).pieces {
            if arrays.iter().all(|known| known.0 != piece.array) {
                arrays.push((piece.array, if is_described { piece.origin_bytes as usize } else { 0 }));
            }
        }
        assert!(arrays.len() <= MOST_ARRAYS, "{} arrays", arrays.len());
        Self { arrays, tag: tag as c_int }
    }

    #[inline]
    pub fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        // The table is read-only for this function.
        let base = arrays.memory().as_ptr().cast_mut();
        // SAFETY: the user's loop reads arrays and writes a message; `wrong` has shown what else it writes.
        self.with_arrays(arrays, base, |array| unsafe {
            loaded()[0].call(array, packed.as_mut_ptr().cast(), self.tag);
        });
    }

    #[inline]
    pub fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let base = arrays.base();
        // SAFETY: the user's loop reads a message and writes arrays; `wrong` has shown what else it writes.
        self.with_arrays(arrays, base, |array| unsafe {
            loaded()[1].call(packed.as_ptr().cast(), array, self.tag);
        });
    }

    /// Calls a function with the address of the array, or of the table of arrays.
    #[inline]
    fn with_arrays(&self, arrays: &Arrays, base: *mut u8, call: impl FnOnce(*mut c_void)) {
        let address = |&(array, byte): &(usize, usize)| {
            base.wrapping_add(arrays.place(array).start + byte).cast::<c_void>()
        };
        match &self.arrays[..] {
            [] => return,
            [one] => return call(address(one)),
            _ => {}
        }
        let mut table = [std::ptr::null_mut::<c_void>(); MOST_ARRAYS];
        for (entry, array) in table.iter_mut().zip(&self.arrays) {
            *entry = address(array);
        }
        call(table.as_mut_ptr().cast());
    }
}

/// The first error of the function for this side of a test's message, found without communication. The arrays are lost.
pub fn wrong(side: Side, app: &MicroApp, arrays: &mut Arrays) -> Option<Mismatch> {
    let own = OwnLoop::new(app.face(side), !app.has_loops, 0);
    own.wrong(side, &app.message(side, WireOrder::Ddt), arrays)
}

impl OwnLoop {
    /// The first wrong byte of the message that the function for this side moves, or another byte that it changes. The arrays are lost.
    pub fn wrong(&self, side: Side, message: &Message, arrays: &mut Arrays) -> Option<Mismatch> {
        let (version, bytes) = (Version::of_fill(1), message.size() as usize);
        // Bytes before and behind the message that must not change. A loop may pack twice as much.
        let margin = bytes.max(PAGE_BYTES);
        let with_margin = |span: Span| Span { offset: margin + span.offset, ..span };
        let packed: Vec<Span> = packed_data(message).into_iter().map(with_margin).collect();
        let (data, padded) = (data_spans(message, arrays), padded_spans(message, arrays));
        let sources = match side {
            Side::Send => from_source(&data, 0),
            Side::Receive => from_source(&packed, source_of(1, 0, 0)),
        };
        let mut wire = Wire::new(bytes + 2 * margin);
        version.write(0, arrays.memory_mut());
        let (all, in_wire) = (Region::of_arrays(arrays, None), wire.region());
        // SAFETY: the memory exists until this function ends. In turn, these places or the user's function use it.
        let [data, packed, padded] = unsafe {
            let places = |memory, spans: &[Span]| Places::new(memory, runs(spans, &sources));
            [places(all, &data), places(in_wire, &packed), padded_places(all, &padded)]
        };
        let (from, to) = if side == Side::Send { (data, packed) } else { (packed, data) };
        let receives = vec![Link { peer: 0, tag: self.tag as usize, places: to }];
        let moved = Moved { sends: vec![from], receives, padded: Some(padded) };
        moved.write(version);
        let message = margin..margin + bytes;
        let name = match side {
            Side::Send => {
                self.pack(arrays, &mut wire[message.clone()]);
                "pack"
            }
            Side::Receive => {
                self.unpack(&wire[message.clone()], arrays);
                "unpack"
            }
        };
        let found = moved.wrong(version).map(|(link, wrong)| match side {
            Side::Send => in_message(&link.places.runs, margin, arrays, wrong),
            Side::Receive => in_arrays(arrays, wrong),
        });
        // SAFETY: as above.
        let beside = || unsafe { in_wire.stray_byte(Some(message)) };
        // SAFETY: as above.
        let changed = || unsafe { moved.changed(all, 0, version) };
        let elsewhere = || Some(format!("{} (must not change)", in_arrays(arrays, changed()?)));
        Some(format!("{name}: {}", found.or_else(beside).or_else(elsewhere)?))
    }
}

/// Describes a wrong byte of a message, which begins behind a margin and has its sources in the arrays.
fn in_message(runs: &Runs, margin: usize, arrays: &Arrays, wrong: Wrong) -> Mismatch {
    let run = runs.iter().find(|run| (run.at..run.at + run.bytes).contains(&wrong.at)).expect("of a run");
    let from = place_in_arrays(arrays, run.source as usize + wrong.at - run.at);
    format!("packed byte {}, from {from}: {}", wrong.at - margin, wrong.values())
}

fn loaded() -> &'static [Function; 2] {
    LOADED.get().expect("`new` has checked it")
}

//! Memory between pages that cannot be accessed: a byte written or read outside of it ends the process at once.

use std::io;
use std::ptr;

/// Bytes of an arena: only those that are used take memory. Some systems refuse to reserve that much; then there are fewer cases.
const MOST_BYTES: usize = 1 << 34;
const LEAST_BYTES: usize = 1 << 23;

/// Bytes next to the used part that must not change, on the side without an inaccessible page.
const MARGIN: usize = 64;

/// The value of the margin.
const UNTOUCHED: u8 = 0x3C;

/// Memory between two inaccessible pages.
pub struct Arena {
    map: *mut libc::c_void,
    page: usize,
    bytes: usize,
}

/// A part of an arena at one of its ends.
#[derive(Clone, Copy)]
pub struct Part {
    start: *mut u8,
    bytes: usize,
    margin: *mut u8,
}

impl Arena {
    /// Reserves the memory.
    ///
    /// # Errors
    /// If the system has none left.
    pub fn new() -> io::Result<Self> {
        Self::with_bytes(MOST_BYTES).or_else(|_| Self::with_bytes(LEAST_BYTES))
    }

    fn with_bytes(bytes: usize) -> io::Result<Self> {
        // SAFETY: the call takes a constant, and changes nothing.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)?;
        let (all, flags) = (bytes + 2 * page, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: a new mapping at an address that the system chooses.
        let map = unsafe { libc::mmap(ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let arena = Self { map, page, bytes };
        // SAFETY: all but the first and the last page of the mapping above.
        match unsafe { libc::mprotect(arena.base().cast(), bytes, libc::PROT_READ | libc::PROT_WRITE) } {
            0 => Ok(arena),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn base(&self) -> *mut u8 {
        self.map.cast::<u8>().wrapping_add(self.page)
    }

    /// `bytes` of memory with a margin, at the end or at the start of the arena; `None` if it is too small.
    pub fn part(&self, bytes: usize, at_end: bool) -> Option<Part> {
        if bytes + MARGIN > self.bytes {
            return None;
        }
        let place = if at_end { self.bytes - bytes } else { 0 };
        let margin = if at_end { place - MARGIN } else { bytes };
        let part =
            Part { start: self.base().wrapping_add(place), bytes, margin: self.base().wrapping_add(margin) };
        // SAFETY: within the arena, see above; nothing else uses it.
        unsafe { part.margin.write_bytes(UNTOUCHED, MARGIN) };
        Some(part)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, which nothing uses any more.
        unsafe { libc::munmap(self.map, self.bytes + 2 * self.page) };
    }
}

impl Part {
    /// The address of the first byte.
    pub fn start(self) -> *mut u8 {
        self.start
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }

    pub fn write(self, contents: &[u8]) {
        assert_eq!(contents.len(), self.bytes);
        self.write_at(0, contents);
    }

    /// Writes from a byte on.
    pub fn write_at(self, from: usize, contents: &[u8]) {
        assert!(from + contents.len() <= self.bytes);
        // SAFETY: the part is within an arena that outlives the case, and MPI does not use it now.
        unsafe { ptr::copy_nonoverlapping(contents.as_ptr(), self.start.add(from), contents.len()) };
    }

    /// Some of its bytes, until MPI uses it again.
    pub fn read_at(&self, from: usize, bytes: usize) -> &[u8] {
        assert!(from + bytes <= self.bytes);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.start.add(from), bytes) }
    }

    /// Whether the bytes next to it are unchanged.
    pub fn has_clean_margin(self) -> bool {
        // SAFETY: the margin is within the arena.
        let margin = unsafe { std::slice::from_raw_parts(self.margin, MARGIN) };
        margin.iter().all(|byte| *byte == UNTOUCHED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_or_begins_at_an_inaccessible_page() {
        let arena = Arena::new().unwrap();
        for (at_end, bytes) in [(true, 1), (true, 5000), (false, 77), (false, 0)] {
            let part = arena.part(bytes, at_end).unwrap();
            part.write(&vec![7; bytes]);
            assert_eq!((part.read_at(0, bytes).to_vec(), part.has_clean_margin()), (vec![7; bytes], true));
            let guard = if at_end { part.start().wrapping_add(bytes) } else { part.start().wrapping_sub(1) };
            assert!(!is_accessible(guard));
            let inner = if at_end { part.start().wrapping_sub(1) } else { part.start().wrapping_add(bytes) };
            assert!(is_accessible(inner));
            // SAFETY: a byte of the arena.
            unsafe { inner.write(0) };
            assert!(!part.has_clean_margin());
        }
        assert!(arena.part(MOST_BYTES, true).is_none());
    }

    /// Whether the system can read this byte for us.
    fn is_accessible(address: *mut u8) -> bool {
        let mut ends = [0; 2];
        // SAFETY: this process made the pipe; the system refuses addresses that cannot be read.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let written = libc::write(ends[1], address.cast(), 1);
            ends.iter().for_each(|end| _ = libc::close(*end));
            written == 1
        }
    }
}

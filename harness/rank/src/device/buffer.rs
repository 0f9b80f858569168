//! Memory that a device sees: the twin of host memory, and host memory for staging.

use std::ffi::c_void;
use std::ops::Range;

use apps::Side;
use common::model::conditions::MemoryKind;

use super::driver::driver;

/// `cuda.h`: all devices and the host see it.
const GLOBAL: u32 = 1;

/// `cuda.h`: pinned for all contexts, and mapped into the device's addresses.
const PORTABLE_AND_MAPPED: u32 = 1 | 2;

/// Bytes that MPI and kernels use in place of the host's.
pub struct Buffer {
    /// Its address for MPI.
    address: u64,
    kind: MemoryKind,
}

impl Buffer {
    /// This number of bytes of this kind, which is not that of the host.
    pub fn new(kind: MemoryKind, bytes: usize) -> Self {
        let (driver, bytes, mut address) = (driver(), bytes.max(1), 0_u64);
        // SAFETY: the pointer lives through the calls.
        let (call, code) = unsafe {
            match kind {
                MemoryKind::Device | MemoryKind::Simulated => {
                    ("cuMemAlloc", (driver.allocate)(&raw mut address, bytes))
                }
                MemoryKind::Managed => {
                    ("cuMemAllocManaged", (driver.allocate_managed)(&raw mut address, bytes, GLOBAL))
                }
                MemoryKind::Pinned | MemoryKind::Host => {
                    let to = (&raw mut address).cast::<*mut c_void>();
                    ("cuMemHostAlloc", (driver.allocate_host)(to, bytes, PORTABLE_AND_MAPPED))
                }
            }
        };
        driver.check(call, code);
        Self { address, kind }
    }

    pub fn address(&self) -> *mut u8 {
        self.address as *mut u8
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let driver = driver();
        // SAFETY: allocated in `new`, and not used any more.
        let (call, code) = unsafe {
            match self.kind {
                MemoryKind::Device | MemoryKind::Simulated | MemoryKind::Managed => {
                    ("cuMemFree", (driver.free)(self.address))
                }
                MemoryKind::Pinned | MemoryKind::Host => {
                    ("cuMemFreeHost", (driver.free_host)(self.address as *mut c_void))
                }
            }
        };
        driver.check(call, code);
    }
}

/// Host memory between a device and an MPI that does not take device memory.
pub struct Staging {
    _buffer: Buffer,
    pub all: StagedBytes,
}

/// Some bytes of it, which exist as long as it does.
#[derive(Clone, Copy)]
pub struct StagedBytes {
    /// The address for MPI.
    pub address: *mut u8,
    /// The address for kernels.
    pub mapped: *mut u8,
    bytes: usize,
}

impl Staging {
    pub fn new(bytes: usize) -> Self {
        let (driver, buffer, mut mapped) = (driver(), Buffer::new(MemoryKind::Pinned, bytes), 0);
        // SAFETY: the buffer is live, and was allocated for this.
        let code = unsafe { (driver.mapped_address)(&raw mut mapped, buffer.address().cast(), 0) };
        driver.check("cuMemHostGetDevicePointer", code);
        let all = StagedBytes { address: buffer.address(), mapped: mapped as *mut u8, bytes };
        Self { _buffer: buffer, all }
    }
}

impl StagedBytes {
    /// Some of these bytes.
    pub fn part(self, range: Range<usize>) -> Self {
        let [address, mapped] = [self.address, self.mapped].map(|start| start.wrapping_add(range.start));
        Self { address, mapped, bytes: range.len() }
    }

    /// Copies all from a device, to send it, or to a device, after it was received, and waits for it.
    ///
    /// # Safety
    /// As many bytes can be read or written there, and nothing else uses them.
    #[inline]
    pub unsafe fn copy(self, side: Side, device: *mut u8) {
        let (here, there) = (self.address as u64, device as u64);
        let (to, from) = match side {
            Side::Send => (here, there),
            Side::Receive => (there, here),
        };
        // SAFETY: guaranteed by the caller; one method at a time uses this memory, and MPI has received all.
        unsafe { driver().copy_now(to, from, self.bytes) };
    }
}

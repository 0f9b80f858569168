//! Windows for one-sided communication, and memory shared within a node.

use std::ffi::{c_int, c_void};

use mpi::ffi;
use mpi::ffi::MPI_Aint;

use super::large::{Count, call_counted, call_large};
use super::threads::OneThread;
use super::{CallError, Comm, Datatype};

/// A window over memory of this process, with displacements in bytes. It must be freed with [`Window::free`]. Dropping
/// does nothing, because freeing is collective, and a rank that fails while others do not must leave the window.
pub struct Window {
    raw: ffi::MPI_Win,
    _of_one: OneThread,
}

impl Window {
    fn null() -> Self {
        // SAFETY: a constant of the library, to be overwritten.
        Self { raw: unsafe { ffi::RSMPI_WIN_NULL }, _of_one: OneThread::default() }
    }

    /// `MPI_Win_free`; collective.
    pub fn free(mut self) -> Result<(), CallError> {
        // SAFETY: owned and live, and not used afterwards.
        unsafe { call!(MPI_Win_free(&mut self.raw)) }
    }

    fn return_errors(&self) -> Result<(), CallError> {
        // SAFETY: a live window and a predefined error handler.
        unsafe { call!(MPI_Win_set_errhandler(self.raw, ffi::RSMPI_ERRORS_RETURN)) }
    }

    /// `MPI_Win_create` over `bytes` of memory starting at `address`; collective.
    ///
    /// # Safety
    /// The memory must not move until the window is freed or the process ends, and this process must not use it during an epoch in
    /// which another rank accesses it. The address must be valid for all of it, whatever slices are taken in the meantime.
    pub unsafe fn over(address: *mut u8, bytes: usize, comm: &Comm) -> Result<Self, CallError> {
        let mut window = Self::null();
        let (base, bytes) = (address.cast::<c_void>(), bytes as MPI_Aint);
        // SAFETY: the caller guarantees the memory.
        unsafe { call!(MPI_Win_create(base, bytes, 1, ffi::RSMPI_INFO_NULL, comm.raw(), &mut window.raw)) }?;
        window.return_errors()?;
        Ok(window)
    }

    /// Memory of rank 0 of `comm` that all its ranks share: a window to keep, and the address in this process.
    pub fn shared(bytes: usize, comm: &Comm) -> Result<(Self, *mut u8), CallError> {
        let mut window = Self::null();
        let mine = if comm.rank()? == 0 { bytes as MPI_Aint } else { 0 };
        let mut address: *mut c_void = std::ptr::null_mut();
        // SAFETY: `baseptr` is the address of a pointer, passed as void*, as the standard requires.
        unsafe {
            let (info, base) = (ffi::RSMPI_INFO_NULL, (&raw mut address).cast::<c_void>());
            call!(MPI_Win_allocate_shared(mine, 1, info, comm.raw(), base, &mut window.raw))
        }?;
        window.return_errors()?;
        let (mut size, mut unit): (MPI_Aint, c_int) = (0, 0);
        // SAFETY: as above; all pointers live through the call.
        unsafe {
            let base = (&raw mut address).cast::<c_void>();
            call!(MPI_Win_shared_query(window.raw, 0, &mut size, &mut unit, base))
        }?;
        Ok((window, address.cast::<u8>()))
    }
}

/// Functions of a window whose arguments need no memory.
macro_rules! epochs {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $kind:ty)?) = $function:ident($($before:expr),*);)+) => {
        impl Window {
            $($(#[$about])*
            #[inline]
            pub fn $name(&self $(, $argument: $kind)?) -> Result<(), CallError> {
                // SAFETY: a live window, in the state that its user guarantees, and a live group; 0 makes no assertion.
                unsafe { call!($function($($before,)* self.raw)) }
            })+
        }
    };
}

epochs! {
    /// `MPI_Win_fence`, which ends the epoch before it and begins the next.
    fence() = MPI_Win_fence(0);
    /// `MPI_Win_lock` of `target` in shared mode, asserting that no lock conflicts: exclusive locks are never used.
    lock(target: usize) =
        MPI_Win_lock(ffi::MPI_LOCK_SHARED as c_int, target as c_int, ffi::MPI_MODE_NOCHECK as c_int);
    /// `MPI_Win_unlock`, which ends what [`Window::lock`] began.
    unlock(target: usize) = MPI_Win_unlock(target as c_int);
    /// `MPI_Win_flush`: all puts to `target`, which this process has locked, are complete there.
    flush(target: usize) = MPI_Win_flush(target as c_int);
    /// `MPI_Win_sync`: makes puts of others visible to loads of this process.
    synchronise() = MPI_Win_sync();
    /// `MPI_Win_post`: ranks of the group may put into this process's memory.
    post(origins: &Group) = MPI_Win_post(origins.raw, 0);
    /// `MPI_Win_wait`: all ranks that [`Window::post`] admitted have finished.
    wait() = MPI_Win_wait();
    /// `MPI_Win_start`: begins puts into the memory of the group.
    start(targets: &Group) = MPI_Win_start(targets.raw, 0);
    /// `MPI_Win_complete`: ends what [`Window::start`] began.
    complete() = MPI_Win_complete();
}

/// Which side moves the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The sender.
    Put,
    /// The receiver.
    Get,
}

impl Window {
    /// `MPI_Put` of `count` copies at `address` to byte `displacement` of `target`, or `MPI_Get` from there.
    ///
    /// # Safety
    /// Until the next fence, a put's memory here must be readable for the datatype and unchanged, and a get's
    /// writable and otherwise unused. The place at the target must be within its window.
    #[inline]
    pub unsafe fn access(
        &self,
        access: Access,
        (address, count, of): (*mut u8, Count, &Datatype),
        target: usize,
        (displacement, target_count, target_of): (usize, Count, &Datatype),
    ) -> Result<(), CallError> {
        let (of, target, at, target_of) =
            (of.raw(), target as c_int, displacement as MPI_Aint, target_of.raw());
        let (from, to): (*const c_void, *mut c_void) = (address.cast_const().cast(), address.cast());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe {
            match access {
                Access::Put => call_counted!(
                    count, target_count;
                    MPI_Put(from, count, of, target, at, target_count, target_of, self.raw)
                ),
                Access::Get => call_counted!(
                    count, target_count;
                    MPI_Get(to, count, of, target, at, target_count, target_of, self.raw)
                ),
            }
        }
    }
}

/// Some ranks of a communicator.
pub struct Group {
    raw: ffi::MPI_Group,
    _of_one: OneThread,
}

impl Group {
    /// One rank of `comm`.
    pub fn with_rank(comm: &Comm, rank: usize) -> Result<Self, CallError> {
        // SAFETY: null handles to be overwritten.
        let null = || Self { raw: unsafe { ffi::RSMPI_GROUP_NULL }, _of_one: OneThread::default() };
        let (mut all, mut one) = (null(), null());
        let rank = rank as c_int;
        // SAFETY: a live communicator; the pointer lives through the call.
        unsafe { call!(MPI_Comm_group(comm.raw(), &mut all.raw)) }?;
        // SAFETY: a live group and a list of one rank; the pointers live through the call.
        let included = unsafe { call!(MPI_Group_incl(all.raw, 1, &rank, &mut one.raw)) };
        all.free()?;
        included.map(|()| one)
    }

    pub fn free(mut self) -> Result<(), CallError> {
        // SAFETY: owned and live, and not used afterwards.
        unsafe { call!(MPI_Group_free(&mut self.raw)) }
    }
}

//! Communicators, blocking messages, and the few collectives that the harness itself needs.

use std::ffi::{c_int, c_void};

use mpi::ffi;

use super::threads::OneThread;
use super::{CallError, Datatype, check, error::int};

/// Tag of every timed message; the harness's own messages are collective.
const TAG: c_int = 0;

/// A communicator; freed when dropped unless it is the world's.
pub struct Comm {
    raw: ffi::MPI_Comm,
    owned: bool,
    _of_one: OneThread,
}

impl Comm {
    /// `MPI_COMM_WORLD`.
    pub(super) fn world() -> Self {
        // SAFETY: a constant of the library.
        Self { raw: unsafe { ffi::RSMPI_COMM_WORLD }, owned: false, _of_one: OneThread::default() }
    }

    /// `MPI_COMM_SELF`: of the ranks of this communicator, this one.
    pub fn this_process(&self) -> Result<Self, CallError> {
        // SAFETY: a constant of the library.
        let raw = unsafe { ffi::RSMPI_COMM_SELF };
        let comm = Self { raw, owned: false, _of_one: OneThread::default() };
        comm.return_errors()?;
        Ok(comm)
    }

    pub(super) fn raw(&self) -> ffi::MPI_Comm {
        self.raw
    }

    /// Errors of this communicator are returned, not fatal.
    pub fn return_errors(&self) -> Result<(), CallError> {
        // SAFETY: a live communicator and a predefined error handler.
        check("MPI_Comm_set_errhandler", unsafe {
            ffi::MPI_Comm_set_errhandler(self.raw, ffi::RSMPI_ERRORS_RETURN)
        })
    }

    /// This process's rank.
    pub fn rank(&self) -> Result<usize, CallError> {
        let mut rank = 0;
        // SAFETY: a live communicator; the pointer lives through the call.
        check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(self.raw, &mut rank) })?;
        Ok(rank as usize)
    }

    /// Number of ranks.
    pub fn size(&self) -> Result<usize, CallError> {
        let mut size = 0;
        // SAFETY: a live communicator; the pointer lives through the call.
        check("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(self.raw, &mut size) })?;
        Ok(size as usize)
    }

    pub(super) fn owning(raw: ffi::MPI_Comm) -> Result<Self, CallError> {
        let comm = Self { raw, owned: true, _of_one: OneThread::default() };
        comm.return_errors()?;
        Ok(comm)
    }

    /// `MPI_Comm_split`: the ranks with the same colour, ordered by `key`.
    pub fn split(&self, color: usize, key: usize) -> Result<Self, CallError> {
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: a live communicator; the pointer lives through the call.
        let code = unsafe { ffi::MPI_Comm_split(self.raw, color as c_int, key as c_int, &mut raw) };
        check("MPI_Comm_split", code)?;
        Self::owning(raw)
    }

    /// `MPI_Comm_dup`: the same ranks, whose messages are apart from those of this one; collective.
    pub fn duplicate(&self) -> Result<Self, CallError> {
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: a live communicator; the pointer lives through the call.
        check("MPI_Comm_dup", unsafe { ffi::MPI_Comm_dup(self.raw, &mut raw) })?;
        Self::owning(raw)
    }

    /// `MPI_Cart_create`: the ranks on a grid, slowest dimension first; placed anew on the machine's cores if `reorder`.
    pub fn cartesian(&self, dims: &[usize], periodic: bool, reorder: bool) -> Result<Self, CallError> {
        let dims: Vec<c_int> = dims.iter().map(|&n| n as c_int).collect();
        let periods = vec![c_int::from(periodic); dims.len()];
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: a live communicator, lists with their length; the pointers live through the call.
        let code = unsafe {
            ffi::MPI_Cart_create(
                self.raw,
                dims.len() as c_int,
                dims.as_ptr(),
                periods.as_ptr(),
                c_int::from(reorder),
                &mut raw,
            )
        };
        check("MPI_Cart_create", code)?;
        Self::owning(raw)
    }

    /// The ranks of this communicator that share memory with this process.
    pub fn split_shared(&self) -> Result<Self, CallError> {
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: a live communicator, predefined constants; the pointer lives through the call.
        let code = unsafe {
            ffi::MPI_Comm_split_type(self.raw, ffi::RSMPI_COMM_TYPE_SHARED, 0, ffi::RSMPI_INFO_NULL, &mut raw)
        };
        check("MPI_Comm_split_type", code)?;
        Self::owning(raw)
    }

    /// `MPI_Barrier`.
    pub fn barrier(&self) -> Result<(), CallError> {
        // SAFETY: a live communicator.
        check("MPI_Barrier", unsafe { ffi::MPI_Barrier(self.raw) })
    }

    /// `MPI_Iprobe` for any message: whether there is one. It also gives MPI time to work on others.
    pub fn probe_any(&self) -> Result<bool, CallError> {
        let mut flag: c_int = 0;
        // SAFETY: a live communicator, constants of the library; the flag lives through the call.
        check("MPI_Iprobe", unsafe {
            let (source, tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
            ffi::MPI_Iprobe(source, tag, self.raw, &mut flag, ffi::RSMPI_STATUS_IGNORE)
        })?;
        Ok(flag != 0)
    }

    /// `MPI_Send` of `count` copies of `datatype` at `address` to rank `to`.
    ///
    /// # Safety
    /// `address` with the datatype's true bounds must lie within memory that may be read.
    #[inline]
    pub unsafe fn send(
        &self,
        address: *const u8,
        count: c_int,
        datatype: &Datatype,
        to: usize,
    ) -> Result<(), CallError> {
        // SAFETY: the caller vouches for the memory; handles are live.
        check("MPI_Send", unsafe {
            ffi::MPI_Send(address.cast::<c_void>(), count, datatype.raw(), to as c_int, TAG, self.raw)
        })
    }

    /// `MPI_Recv` of `count` copies of `datatype` to `address` from rank `from`.
    ///
    /// # Safety
    /// `address` with the datatype's true bounds must lie within memory that may be written.
    #[inline]
    pub unsafe fn receive(
        &self,
        address: *mut u8,
        count: c_int,
        datatype: &Datatype,
        from: usize,
    ) -> Result<(), CallError> {
        // SAFETY: the caller vouches for the memory; handles are live.
        check("MPI_Recv", unsafe {
            ffi::MPI_Recv(
                address.cast::<c_void>(),
                count,
                datatype.raw(),
                from as c_int,
                TAG,
                self.raw,
                ffi::RSMPI_STATUS_IGNORE,
            )
        })
    }

    /// `MPI_Alltoall`, one block of `count` copies to and from every rank.
    ///
    /// # Safety
    /// As for [`Comm::send`] and [`Comm::receive`], for as many blocks as there are ranks.
    #[inline]
    pub unsafe fn all_to_all(
        &self,
        (from, send_count, send_type): (*const u8, c_int, &Datatype),
        (to, receive_count, receive_type): (*mut u8, c_int, &Datatype),
    ) -> Result<(), CallError> {
        // SAFETY: the caller vouches for the memory; handles are live.
        check("MPI_Alltoall", unsafe {
            ffi::MPI_Alltoall(
                from.cast::<c_void>(),
                send_count,
                send_type.raw(),
                to.cast::<c_void>(),
                receive_count,
                receive_type.raw(),
                self.raw,
            )
        })
    }

    /// `MPI_Pack` of `count` copies at `address` into `packed`, from its start; returns the bytes used.
    ///
    /// # Safety
    /// As for [`Comm::send`].
    #[inline]
    pub unsafe fn pack(
        &self,
        address: *const u8,
        count: c_int,
        datatype: &Datatype,
        packed: &mut [u8],
    ) -> Result<c_int, CallError> {
        let mut position = 0;
        let room = int("MPI_Pack", "outsize", packed.len() as i64)?;
        // SAFETY: the caller vouches for the input; the output's length is given with it.
        check("MPI_Pack", unsafe {
            ffi::MPI_Pack(
                address.cast::<c_void>(),
                count,
                datatype.raw(),
                packed.as_mut_ptr().cast::<c_void>(),
                room,
                &mut position,
                self.raw,
            )
        })?;
        Ok(position)
    }

    /// `MPI_Unpack` of `count` copies from the start of `packed` to `address`.
    ///
    /// # Safety
    /// As for [`Comm::receive`].
    #[inline]
    pub unsafe fn unpack(
        &self,
        packed: &[u8],
        address: *mut u8,
        count: c_int,
        datatype: &Datatype,
    ) -> Result<(), CallError> {
        let mut position = 0;
        let length = int("MPI_Unpack", "insize", packed.len() as i64)?;
        // SAFETY: the caller vouches for the output; the input's length is given with it.
        check("MPI_Unpack", unsafe {
            ffi::MPI_Unpack(
                packed.as_ptr().cast::<c_void>(),
                length,
                &mut position,
                address.cast::<c_void>(),
                count,
                datatype.raw(),
                self.raw,
            )
        })
    }

    /// Bytes that `MPI_Pack` of `count` copies may need.
    pub fn pack_size(&self, count: c_int, datatype: &Datatype) -> Result<usize, CallError> {
        let mut size = 0;
        // SAFETY: live handles; the pointer lives through the call.
        let code = unsafe { ffi::MPI_Pack_size(count, datatype.raw(), self.raw, &mut size) };
        check("MPI_Pack_size", code)?;
        Ok(size as usize)
    }

    /// Rank 0's `value`, on every rank.
    pub fn broadcast<const N: usize>(&self, mut value: [f64; N]) -> Result<[f64; N], CallError> {
        // SAFETY: the array has N doubles.
        check("MPI_Bcast", unsafe {
            ffi::MPI_Bcast(value.as_mut_ptr().cast::<c_void>(), N as c_int, ffi::RSMPI_DOUBLE, 0, self.raw)
        })?;
        Ok(value)
    }

    /// The smallest of each value over all ranks, on every rank.
    pub fn minima(&self, values: &[f64]) -> Result<Vec<f64>, CallError> {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_MIN })
    }

    /// The sum of each value over all ranks, on every rank.
    pub fn sums(&self, values: &[f64]) -> Result<Vec<f64>, CallError> {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_SUM })
    }

    fn reduce(&self, values: &[f64], operation: ffi::MPI_Op) -> Result<Vec<f64>, CallError> {
        let count = int("MPI_Allreduce", "count", values.len() as i64)?;
        let mut reduced = vec![0.0f64; values.len()];
        // SAFETY: both lists have `count` doubles.
        check("MPI_Allreduce", unsafe {
            ffi::MPI_Allreduce(
                values.as_ptr().cast::<c_void>(),
                reduced.as_mut_ptr().cast::<c_void>(),
                count,
                ffi::RSMPI_DOUBLE,
                operation,
                self.raw,
            )
        })?;
        Ok(reduced)
    }

    /// The largest of each value over all ranks, on every rank.
    pub fn maxima(&self, values: &[f64]) -> Result<Vec<f64>, CallError> {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_MAX })
    }

    /// The bytes of every rank, in rank order, on rank 0; empty elsewhere.
    pub fn gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, CallError> {
        let (size, is_root) = (self.size()?, self.rank()? == 0);
        let length = int("MPI_Gather", "sendcount", mine.len() as i64)?;
        let mut lengths: Vec<c_int> = vec![0; size];
        // SAFETY: one int is sent by each rank; the list has room for one from each.
        check("MPI_Gather", unsafe {
            ffi::MPI_Gather(
                (&raw const length).cast::<c_void>(),
                1,
                ffi::RSMPI_INT32_T,
                lengths.as_mut_ptr().cast::<c_void>(),
                1,
                ffi::RSMPI_INT32_T,
                0,
                self.raw,
            )
        })?;
        let total: i64 = lengths.iter().map(|&n| i64::from(n)).sum();
        let total = int("MPI_Gatherv", "sum of recvcounts", total)?;
        let starts: Vec<c_int> =
            lengths.iter().scan(0, |next, n| Some(std::mem::replace(next, *next + n))).collect();
        // Never empty: the address of an empty list may be 1, which is Open MPI's MPI_IN_PLACE.
        let mut all = vec![0u8; total.max(1) as usize];
        let mine = if mine.is_empty() { &[0] } else { mine };
        // SAFETY: the counts and displacements were made for this buffer from what each rank announced.
        check("MPI_Gatherv", unsafe {
            ffi::MPI_Gatherv(
                mine.as_ptr().cast::<c_void>(),
                length,
                super::ddtbench_byte,
                all.as_mut_ptr().cast::<c_void>(),
                lengths.as_ptr(),
                starts.as_ptr(),
                super::ddtbench_byte,
                0,
                self.raw,
            )
        })?;
        if !is_root {
            return Ok(Vec::new());
        }
        let slice = |(&start, &n): (&c_int, &c_int)| all[start as usize..(start + n) as usize].to_vec();
        Ok(starts.iter().zip(&lengths).map(slice).collect())
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: owned, live, and dropped before MPI is finalised, since the world outlives it.
            let code = unsafe { ffi::MPI_Comm_free(&mut self.raw) };
            if let Err(error) = check("MPI_Comm_free", code) {
                eprintln!("{error}");
            }
        }
    }
}

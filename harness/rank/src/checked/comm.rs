//! Communicators, blocking messages, and the few collectives that the harness itself needs.

use std::ffi::{c_int, c_void};

use datatypes::Element;
use mpi::ffi;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::large::{Count, call_counted, call_large, small};
use super::threads::OneThread;
use super::{CallError, Datatype, Envelope, error::int};

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

    /// `MPI_COMM_SELF`: a communicator with only this process.
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
        unsafe { call!(MPI_Comm_set_errhandler(self.raw, ffi::RSMPI_ERRORS_RETURN)) }
    }

    pub fn rank(&self) -> Result<usize, CallError> {
        let mut rank = 0;
        // SAFETY: a live communicator; the pointer lives through the call.
        unsafe { call!(MPI_Comm_rank(self.raw, &mut rank)) }?;
        Ok(rank as usize)
    }

    pub fn size(&self) -> Result<usize, CallError> {
        let mut size = 0;
        // SAFETY: a live communicator; the pointer lives through the call.
        unsafe { call!(MPI_Comm_size(self.raw, &mut size)) }?;
        Ok(size as usize)
    }

    /// The communicator that a call creates.
    pub(super) fn made_by(
        make: impl FnOnce(&mut ffi::MPI_Comm) -> Result<(), CallError>,
    ) -> Result<Self, CallError> {
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
        make(&mut raw)?;
        let comm = Self { raw, owned: true, _of_one: OneThread::default() };
        comm.return_errors()?;
        Ok(comm)
    }

    /// `MPI_Comm_split`: the ranks with the same colour, ordered by `key`.
    pub fn split(&self, color: usize, key: usize) -> Result<Self, CallError> {
        // SAFETY: a live communicator; the pointer lives through the call.
        Self::made_by(|new| unsafe { call!(MPI_Comm_split(self.raw, color as c_int, key as c_int, new)) })
    }

    /// `MPI_Comm_dup`: the same ranks with a separate message context; collective.
    pub fn duplicate(&self) -> Result<Self, CallError> {
        // SAFETY: a live communicator; the pointer lives through the call.
        Self::made_by(|new| unsafe { call!(MPI_Comm_dup(self.raw, new)) })
    }

    /// `MPI_Cart_create`: the ranks on a grid, slowest dimension first; with `reorder`, MPI may reorder them to fit the machine's cores.
    pub fn cartesian(&self, dims: &[usize], periodic: bool, reorder: bool) -> Result<Self, CallError> {
        let dims: Vec<c_int> = dims.iter().map(|&n| n as c_int).collect();
        let periods = vec![c_int::from(periodic); dims.len()];
        let (count, dims, periods) = (dims.len() as c_int, dims.as_ptr(), periods.as_ptr());
        Self::made_by(|new| {
            // SAFETY: a live communicator, lists with their length; the pointers live through the call.
            unsafe { call!(MPI_Cart_create(self.raw, count, dims, periods, c_int::from(reorder), new)) }
        })
    }

    /// `MPI_Dist_graph_create_adjacent` without reordering: the ranks that send to this one, and those that it sends to; collective.
    pub fn graph(&self, sources: &[usize], destinations: &[usize]) -> Result<Self, CallError> {
        const CALL: &str = "MPI_Dist_graph_create_adjacent";
        let ranks = |list: &[usize]| list.iter().map(|&rank| rank as c_int).collect::<Vec<_>>();
        let (sources, destinations) = (ranks(sources), ranks(destinations));
        let in_degree = int(CALL, "indegree", sources.len() as i64)?;
        let out_degree = int(CALL, "outdegree", destinations.len() as i64)?;
        // Weights of 1, because the constant for no weights is a macro with a cast, which the bindings lack.
        let ones = vec![1; sources.len().max(destinations.len()).max(1)];
        // Without the grid: on a graph created from a Cartesian communicator, Open MPI 5.0.11 counts the grid's neighbours.
        let (comm, ones) = (self.split(0, self.rank()?)?, ones.as_ptr());
        let (old, from, to) = (comm.raw(), sources.as_ptr(), destinations.as_ptr());
        Self::made_by(|new| {
            // SAFETY: lists with their lengths; the pointers live through the call.
            unsafe {
                let info = ffi::RSMPI_INFO_NULL;
                call!(MPI_Dist_graph_create_adjacent(
                    old, in_degree, from, ones, out_degree, to, ones, info, 0, new
                ))
            }
        })
    }

    /// The ranks of this communicator that share memory with this process.
    pub fn split_shared(&self) -> Result<Self, CallError> {
        Self::made_by(|new| {
            // SAFETY: a live communicator, predefined constants; the pointer lives through the call.
            unsafe {
                let (shared, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
                call!(MPI_Comm_split_type(self.raw, shared, 0, info, new))
            }
        })
    }

    pub fn barrier(&self) -> Result<(), CallError> {
        // SAFETY: a live communicator.
        unsafe { call!(MPI_Barrier(self.raw)) }
    }

    /// `MPI_Iprobe` for any message: whether there is one. The call also lets MPI progress other messages.
    pub fn probe_any(&self) -> Result<bool, CallError> {
        let mut flag: c_int = 0;
        // SAFETY: a live communicator, constants of the library; the flag lives through the call.
        unsafe {
            let (source, tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
            call!(MPI_Iprobe(source, tag, self.raw, &mut flag, ffi::RSMPI_STATUS_IGNORE))
        }?;
        Ok(flag != 0)
    }

    /// A message without bytes from the rank that `sends` to the other one, which waits for it.
    pub fn pass_token(&self, sends: bool, peer: usize, tag: usize) -> Result<(), CallError> {
        let byte = Datatype::predefined(Element::Byte);
        let envelope = Envelope { count: 0, datatype: &byte, peer, tag, comm: self };
        // SAFETY: no byte is read or written.
        unsafe { envelope.pass(sends, std::ptr::null_mut()) }
    }

    /// `MPI_Alltoall`, one block of `count` copies to and from every rank.
    ///
    /// # Safety
    /// As for [`Envelope::pass`] at both ends, for as many blocks as there are ranks.
    #[inline]
    pub unsafe fn all_to_all(
        &self,
        (from, sendcount, send_type): (*const u8, Count, &Datatype),
        (to, recvcount, receive_type): (*mut u8, Count, &Datatype),
    ) -> Result<(), CallError> {
        let (sendbuf, recvbuf): (*const c_void, *mut c_void) = (from.cast(), to.cast());
        let (send_type, receive_type, comm) = (send_type.raw(), receive_type.raw(), self.raw);
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe {
            call_counted!(
                sendcount, recvcount;
                MPI_Alltoall(sendbuf, sendcount, send_type, recvbuf, recvcount, receive_type, comm)
            )
        }
    }

    /// `MPI_Pack` of `count` copies at `address` into `packed`, from its start.
    ///
    /// # Safety
    /// As for [`Envelope::send`]; `packed` must be writable for its bytes.
    #[inline]
    pub unsafe fn pack(
        &self,
        address: *const u8,
        count: c_int,
        datatype: &Datatype,
        (packed, room): (*mut u8, usize),
    ) -> Result<(), CallError> {
        let (address, of): (*const c_void, _) = (address.cast(), datatype.raw());
        let (room, to): (_, *mut c_void) = (room as Count, packed.cast());
        // SAFETY: the caller guarantees the input; the output's length is given with it.
        unsafe {
            match small("MPI_Pack", "outsize", room) {
                Ok(room) => call!(MPI_Pack(address, count, of, to, room, &mut 0, self.raw)),
                Err(error) => {
                    let (count, mut position): (Count, Count) = (count.into(), 0);
                    call_large!(error, "MPI_Pack_c", (address, count, of, to, room, &mut position, self.raw))
                }
            }
        }
    }

    /// `MPI_Unpack` of `count` copies from the start of `packed` to `address`.
    ///
    /// # Safety
    /// As for [`Envelope::receive`]; `packed` must be readable for its bytes.
    #[inline]
    pub unsafe fn unpack(
        &self,
        (packed, bytes): (*const u8, usize),
        address: *mut u8,
        count: c_int,
        datatype: &Datatype,
    ) -> Result<(), CallError> {
        let (from, length): (*const c_void, _) = (packed.cast(), bytes as Count);
        let (to, of): (*mut c_void, _) = (address.cast(), datatype.raw());
        // SAFETY: the caller guarantees the output; the input's length is given with it.
        unsafe {
            match small("MPI_Unpack", "insize", length) {
                Ok(length) => call!(MPI_Unpack(from, length, &mut 0, to, count, of, self.raw)),
                Err(error) => {
                    let (count, mut position): (Count, Count) = (count.into(), 0);
                    call_large!(error, "MPI_Unpack_c", (from, length, &mut position, to, count, of, self.raw))
                }
            }
        }
    }

    /// Bytes that `MPI_Pack` of `count` copies may need, which have `bytes` of data.
    pub fn pack_size(&self, count: c_int, datatype: &Datatype, bytes: usize) -> Result<usize, CallError> {
        let (of, mut size) = (datatype.raw(), 0);
        // SAFETY: live handles; the pointers live through the calls.
        unsafe {
            match small("MPI_Pack_size", "size", bytes as Count) {
                Ok(_) => call!(MPI_Pack_size(count, of, self.raw, &mut size)).map(|()| size as usize),
                Err(error) => {
                    let (count, mut size): (Count, Count) = (count.into(), 0);
                    call_large!(error, "MPI_Pack_size_c", (count, of, self.raw, &mut size))
                        .map(|()| size as usize)
                }
            }
        }
    }

    /// Rank 0's `value`, on every rank.
    pub fn broadcast<const N: usize>(&self, mut value: [f64; N]) -> Result<[f64; N], CallError> {
        // SAFETY: the array has N doubles.
        unsafe { call!(MPI_Bcast(value.as_mut_ptr().cast(), N as c_int, ffi::RSMPI_DOUBLE, 0, self.raw)) }?;
        Ok(value)
    }

    /// Whether `flag` is true on every rank.
    pub fn everywhere(&self, flag: bool) -> Result<bool, CallError> {
        Ok(self.minima(&[f64::from(u8::from(flag))])?[0] > 0.0)
    }

    /// The smallest of each value over all ranks, on every rank.
    pub fn minima(&self, values: &[f64]) -> Result<Vec<f64>, CallError> {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_MIN })
    }

    /// The largest of each value over all ranks, on every rank.
    pub fn maxima(&self, values: &[f64]) -> Result<Vec<f64>, CallError> {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_MAX })
    }

    /// The sum of each value over all ranks, on every rank.
    pub fn sums(&self, values: &[f64]) -> Result<Vec<f64>, CallError> {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_SUM })
    }

    fn reduce(&self, values: &[f64], by: ffi::MPI_Op) -> Result<Vec<f64>, CallError> {
        let count = int("MPI_Allreduce", "count", values.len() as i64)?;
        let mut reduced = vec![0.0f64; values.len()];
        let (from, to) = (values.as_ptr().cast(), reduced.as_mut_ptr().cast());
        // SAFETY: both lists have `count` doubles.
        unsafe { call!(MPI_Allreduce(from, to, count, ffi::RSMPI_DOUBLE, by, self.raw)) }?;
        Ok(reduced)
    }

    /// Every rank's value, in rank order, on rank 0; empty on other ranks.
    pub fn gather_values<T: Serialize + DeserializeOwned>(&self, mine: &T) -> anyhow::Result<Vec<T>> {
        let all = self.gather(&serde_json::to_vec(mine)?)?;
        Ok(all.iter().map(|text| serde_json::from_slice(text)).collect::<Result<_, _>>()?)
    }

    /// The bytes of every rank, in rank order, on rank 0; empty on other ranks.
    pub fn gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, CallError> {
        let (size, is_root) = (self.size()?, self.rank()? == 0);
        let length = int("MPI_Gather", "sendcount", mine.len() as i64)?;
        let mut lengths: Vec<c_int> = vec![0; size];
        let (mine_length, all_lengths) = ((&raw const length).cast(), lengths.as_mut_ptr().cast());
        // SAFETY: one int is sent by each rank; the list has room for one from each.
        unsafe {
            let int = ffi::RSMPI_INT32_T;
            call!(MPI_Gather(mine_length, 1, int, all_lengths, 1, int, 0, self.raw))
        }?;
        let total: i64 = lengths.iter().map(|&n| i64::from(n)).sum();
        let total = int("MPI_Gatherv", "sum of recvcounts", total)?;
        let starts: Vec<c_int> =
            lengths.iter().scan(0, |next, n| Some(std::mem::replace(next, *next + n))).collect();
        // Never empty: the address of an empty list may be 1, which is Open MPI's MPI_IN_PLACE.
        let mut all = vec![0u8; total.max(1) as usize];
        let mine = if mine.is_empty() { &[0] } else { mine };
        let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
        let (counts, places) = (lengths.as_ptr(), starts.as_ptr());
        // SAFETY: the counts and displacements were made for this buffer from what each rank announced.
        unsafe {
            let byte = ffi::RSMPI_BYTE;
            call!(MPI_Gatherv(from, length, byte, to, counts, places, byte, 0, self.raw))
        }?;
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
            // SAFETY: owned, live, and dropped before MPI is finalised, because the world outlives it.
            if let Err(error) = unsafe { call!(MPI_Comm_free(&mut self.raw)) } {
                eprintln!("{error}");
            }
        }
    }
}

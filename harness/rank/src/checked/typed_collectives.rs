//! Collective operations whose ends have different types, for the conformance checks of datatypes.

use std::ffi::c_int;

use mpi::ffi::MPI_Aint;

use super::typed::End;
use super::{CallError, Comm, Datatype};

impl Comm {
    /// `MPI_Bcast`.
    ///
    /// # Safety
    /// The data must be readable on the root, and writable elsewhere.
    pub unsafe fn bcast(
        &self,
        (address, count, datatype): End<'_, *mut u8>,
        root: usize,
    ) -> Result<(), CallError> {
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe { call!(MPI_Bcast(address.cast(), count, datatype.raw(), root as c_int, self.raw())) }
    }

    /// `MPI_Gather`, of which the received end only counts on the root.
    ///
    /// # Safety
    /// The sent data must be readable; on the root, the received data of all ranks must be writable.
    pub unsafe fn gather_typed(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, received, receive_type): End<'_, *mut u8>,
        root: usize,
    ) -> Result<(), CallError> {
        let (from, to, root) = (from.cast(), to.cast(), root as c_int);
        let (send_type, receive_type) = (send_type.raw(), receive_type.raw());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe { call!(MPI_Gather(from, sent, send_type, to, received, receive_type, root, self.raw())) }
    }

    /// `MPI_Gatherv` to a root, or `MPI_Allgatherv`: the received end has the count and the place of each rank's block, in extents.
    ///
    /// # Safety
    /// The sent data must be readable, and the received blocks writable.
    pub unsafe fn gather_blocks(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, blocks, receive_type): (*mut u8, &[(c_int, c_int)], &Datatype),
        root: Option<usize>,
    ) -> Result<(), CallError> {
        let (from, to) = (from.cast(), to.cast());
        let (counts, places): (Vec<c_int>, Vec<c_int>) = blocks.iter().copied().unzip();
        let (counts, places) = (counts.as_ptr(), places.as_ptr());
        let (send_type, receive_type, comm) = (send_type.raw(), receive_type.raw(), self.raw());
        // SAFETY: the caller guarantees the memory; handles are live, and each list has an entry for each rank.
        unsafe {
            match root {
                Some(root) => call!(MPI_Gatherv(
                    from,
                    sent,
                    send_type,
                    to,
                    counts,
                    places,
                    receive_type,
                    root as c_int,
                    comm
                )),
                None => call!(MPI_Allgatherv(from, sent, send_type, to, counts, places, receive_type, comm)),
            }
        }
    }

    /// `MPI_Alltoallw` in which this rank sends to and receives from one peer only.
    ///
    /// # Safety
    /// The sent data must be readable and the received data writable.
    pub unsafe fn all_to_one(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, received, receive_type): End<'_, *mut u8>,
        peer: usize,
    ) -> Result<(), CallError> {
        let size = self.size()?;
        let only =
            |count: c_int| (0..size).map(|rank| if rank == peer { count } else { 0 }).collect::<Vec<_>>();
        let (sent, received, places) = (only(sent), only(received), vec![0; size]);
        let (send_types, receive_types) = (vec![send_type.raw(); size], vec![receive_type.raw(); size]);
        // SAFETY: the caller guarantees the memory; handles are live, and each list has an entry for each rank.
        unsafe {
            call!(MPI_Alltoallw(
                from.cast(),
                sent.as_ptr(),
                places.as_ptr(),
                send_types.as_ptr(),
                to.cast(),
                received.as_ptr(),
                places.as_ptr(),
                receive_types.as_ptr(),
                self.raw()
            ))
        }
    }

    /// `MPI_Scatter`, of which the sent end only counts on the root.
    ///
    /// # Safety
    /// On the root, the sent data for all ranks must be readable; the received data must be writable.
    pub unsafe fn scatter_typed(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, received, receive_type): End<'_, *mut u8>,
        root: usize,
    ) -> Result<(), CallError> {
        let (from, to, root) = (from.cast(), to.cast(), root as c_int);
        let (send_type, receive_type) = (send_type.raw(), receive_type.raw());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe { call!(MPI_Scatter(from, sent, send_type, to, received, receive_type, root, self.raw())) }
    }

    /// `MPI_Allgather`.
    ///
    /// # Safety
    /// The sent data must be readable, and the received data of all ranks writable.
    pub unsafe fn all_gather_typed(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, received, receive_type): End<'_, *mut u8>,
    ) -> Result<(), CallError> {
        let (from, to) = (from.cast(), to.cast());
        let (send_type, receive_type) = (send_type.raw(), receive_type.raw());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe { call!(MPI_Allgather(from, sent, send_type, to, received, receive_type, self.raw())) }
    }

    /// `MPI_Alltoall`, or `MPI_Neighbor_alltoall` on a graph.
    ///
    /// # Safety
    /// The data sent to all ranks must be readable, and the data received from all writable.
    pub unsafe fn all_to_all_typed(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, received, receive_type): End<'_, *mut u8>,
        is_graph: bool,
    ) -> Result<(), CallError> {
        let (from, to, comm) = (from.cast(), to.cast(), self.raw());
        let (send_type, receive_type) = (send_type.raw(), receive_type.raw());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe {
            match is_graph {
                true => call!(MPI_Neighbor_alltoall(from, sent, send_type, to, received, receive_type, comm)),
                false => call!(MPI_Alltoall(from, sent, send_type, to, received, receive_type, comm)),
            }
        }
    }

    /// `MPI_Neighbor_alltoallw` on a graph on which this rank has one neighbour.
    ///
    /// # Safety
    /// The sent data must be readable and the received data writable.
    pub unsafe fn neighbor_to_one(
        &self,
        (from, sent, send_type): End<'_, *const u8>,
        (to, received, receive_type): End<'_, *mut u8>,
    ) -> Result<(), CallError> {
        let (send_type, receive_type, place): (_, _, MPI_Aint) = (send_type.raw(), receive_type.raw(), 0);
        let (from, to) = (from.cast(), to.cast());
        // SAFETY: the caller guarantees the memory; handles are live, and each list has the entry of the neighbour.
        unsafe {
            call!(MPI_Neighbor_alltoallw(
                from,
                &sent,
                &place,
                &send_type,
                to,
                &received,
                &place,
                &receive_type,
                self.raw()
            ))
        }
    }
}

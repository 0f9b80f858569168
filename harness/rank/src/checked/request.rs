//! Requests: nonblocking and persistent messages of bytes, started, tested and waited for individually.

use std::ffi::{c_int, c_void};

use common::packing::Form;
use mpi::ffi;

use super::large::{Count, call_counted, call_large, check_count, small};
use super::threads::OneThread;
use super::{CallError, Comm, Datatype, error::int};

/// A message's count, type and destination or source: the arguments of all calls that begin a message.
#[derive(Clone, Copy)]
pub struct Envelope<'a> {
    /// The number of elements of `datatype`.
    pub count: usize,
    /// The type of an element.
    pub datatype: &'a Datatype,
    /// Rank of the other side in `comm`.
    pub peer: usize,
    /// Distinguishes messages between the same ranks.
    pub tag: usize,
    pub comm: &'a Comm,
}

impl Envelope<'_> {
    /// `MPI_Send`.
    ///
    /// # Safety
    /// The memory must be readable for the envelope's type.
    #[inline]
    pub unsafe fn send(&self, address: *const u8) -> Result<(), CallError> {
        let (address, MessageArguments { count, of, peer, tag, comm }) =
            (address.cast::<c_void>(), (*self).into());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe { call_counted!(count; MPI_Send(address, count, of, peer, tag, comm)) }
    }

    /// `MPI_Recv`.
    ///
    /// # Safety
    /// The memory must be writable for the envelope's type.
    #[inline]
    pub unsafe fn receive(&self, address: *mut u8) -> Result<(), CallError> {
        let (address, MessageArguments { count, of, peer, tag, comm }) =
            (address.cast::<c_void>(), (*self).into());
        // SAFETY: the caller guarantees the memory; handles are live.
        unsafe {
            let status = ffi::RSMPI_STATUS_IGNORE;
            call_counted!(count; MPI_Recv(address, count, of, peer, tag, comm, status))
        }
    }

    /// `MPI_Send` at the rank that `sends`, `MPI_Recv` at the other one.
    ///
    /// # Safety
    /// As for [`Envelope::send`] and [`Envelope::receive`].
    #[inline]
    pub unsafe fn pass(&self, sends: bool, address: *mut u8) -> Result<(), CallError> {
        // SAFETY: guaranteed by the caller.
        unsafe { if sends { self.send(address) } else { self.receive(address) } }
    }

    /// Refuses a count for which this MPI has no function that makes such a request.
    pub fn check_count(&self, form: Form, is_sent: bool) -> Result<(), CallError> {
        let (call, large) = request_functions(form, is_sent);
        check_count(call, large, self.count as Count)
    }
}

/// The handles and numbers of an [`Envelope`], which do not keep its datatype and communicator alive.
#[derive(Clone, Copy)]
pub struct MessageArguments {
    count: Count,
    of: ffi::MPI_Datatype,
    peer: c_int,
    tag: c_int,
    comm: ffi::MPI_Comm,
}

impl From<Envelope<'_>> for MessageArguments {
    #[inline]
    fn from(envelope: Envelope<'_>) -> Self {
        let Envelope { count, datatype, peer, tag, comm } = envelope;
        let (count, peer, tag) = (count as Count, peer as c_int, tag as c_int);
        Self { count, of: datatype.raw(), peer, tag, comm: comm.raw() }
    }
}

/// The function that makes a request, and its form for large counts.
const fn request_functions(form: Form, is_sent: bool) -> (&'static str, &'static str) {
    match (form, is_sent) {
        (Form::Nonblocking, true) => ("MPI_Isend", "MPI_Isend_c"),
        (Form::Nonblocking, false) => ("MPI_Irecv", "MPI_Irecv_c"),
        (Form::Persistent, true) => ("MPI_Send_init", "MPI_Send_init_c"),
        (Form::Persistent, false) => ("MPI_Recv_init", "MPI_Recv_init_c"),
    }
}

/// `MPI_PROC_NULL` as the [`Envelope::peer`]; it is converted back to MPI's number when it is used.
pub fn proc_null() -> usize {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_PROC_NULL as usize }
}

/// A request; the null request if there is nothing to wait for.
///
/// A persistent one must be freed with [`Request::free`]. Dropping does nothing, because a rank that fails
/// while others do not must leave the request to the end of the process.
pub struct Request {
    raw: ffi::MPI_Request,
    _of_one: OneThread,
}

impl Request {
    /// `MPI_REQUEST_NULL`. The communicator proves that MPI is initialised, and that this thread may call it.
    pub fn null(_: &Comm) -> Self {
        Self::none()
    }

    /// The same, to be overwritten.
    pub(super) fn none() -> Self {
        // SAFETY: a constant of the library.
        Self { raw: unsafe { ffi::RSMPI_REQUEST_NULL }, _of_one: OneThread::default() }
    }

    pub(super) fn raw(&self) -> ffi::MPI_Request {
        self.raw
    }

    pub(super) fn raw_mut(&mut self) -> &mut ffi::MPI_Request {
        &mut self.raw
    }

    /// A message to send or receive: started, by `MPI_Isend` or `MPI_Irecv`, or persistent, to be started repeatedly.
    ///
    /// # Safety
    /// Until the request is complete, and for a persistent request during each use, sent memory must be
    /// readable for the envelope's type and unchanged, and received memory writable and otherwise unused. The
    /// datatype and the communicator must be live.
    #[inline]
    pub unsafe fn of_message(
        form: Form,
        is_sent: bool,
        address: *mut u8,
        envelope: impl Into<MessageArguments>,
    ) -> Result<Self, CallError> {
        let MessageArguments { count, of, peer, tag, comm } = envelope.into();
        let mut request = Self::none();
        let (call, large) = request_functions(form, is_sent);
        let (address, new): (*mut c_void, _) = (address.cast(), &mut request.raw);
        // SAFETY: the caller guarantees the memory; handles are live. The functions for large counts have the
        // same C interface, except that a send's pointer is to constant data.
        unsafe {
            match (form, is_sent, small(call, "count", count)) {
                (Form::Nonblocking, true, Ok(n)) => call!(MPI_Isend(address, n, of, peer, tag, comm, new)),
                (Form::Nonblocking, false, Ok(n)) => call!(MPI_Irecv(address, n, of, peer, tag, comm, new)),
                (Form::Persistent, true, Ok(n)) => call!(MPI_Send_init(address, n, of, peer, tag, comm, new)),
                (Form::Persistent, false, Ok(n)) => {
                    call!(MPI_Recv_init(address, n, of, peer, tag, comm, new))
                }
                (_, _, Err(error)) => call_large!(error, large, (address, count, of, peer, tag, comm, new)),
            }
        }?;
        Ok(request)
    }

    #[inline]
    pub fn start(&mut self) -> Result<(), CallError> {
        // SAFETY: a persistent or partitioned request, whose creator guaranteed its memory.
        unsafe { call!(MPI_Start(&mut self.raw)) }
    }

    /// `MPI_Wait`; returns at once for the null request and for one that was not started.
    #[inline]
    pub fn wait(&mut self) -> Result<(), CallError> {
        // SAFETY: a live request, or the null one.
        unsafe { call!(MPI_Wait(&mut self.raw, ffi::RSMPI_STATUS_IGNORE)) }
    }

    /// `MPI_Wait` with the status: the source, the tag, the number of `datatype` elements (`None` if it is
    /// not a whole number), and whether the request was cancelled.
    pub fn wait_for_status(&mut self, datatype: &Datatype) -> Result<Status, CallError> {
        let mut status = std::mem::MaybeUninit::<ffi::MPI_Status>::zeroed();
        let (mut count, mut cancelled): (c_int, c_int) = (0, 0);
        // SAFETY: a live request, or the null one; the status lives through the call.
        unsafe { call!(MPI_Wait(&mut self.raw, status.as_mut_ptr())) }?;
        // SAFETY: plain numbers, which are valid as zeros, and which the call before has set.
        let status = unsafe { status.assume_init() };
        // SAFETY: the datatype is live, the pointers live through the call.
        unsafe { call!(MPI_Get_count(&status, datatype.raw(), &mut count)) }?;
        // SAFETY: as above.
        unsafe { call!(MPI_Test_cancelled(&status, &mut cancelled)) }?;
        Ok(Status {
            source: status.MPI_SOURCE,
            tag: status.MPI_TAG,
            // MPI_UNDEFINED is negative.
            count: usize::try_from(count).ok(),
            is_cancelled: cancelled != 0,
        })
    }

    /// `MPI_Test`: whether it is complete.
    #[inline]
    pub fn test(&mut self) -> Result<bool, CallError> {
        let mut flag: c_int = 0;
        // SAFETY: a live request, or the null one; the flag lives through the call.
        unsafe { call!(MPI_Test(&mut self.raw, &mut flag, ffi::RSMPI_STATUS_IGNORE)) }?;
        Ok(flag != 0)
    }

    /// `MPI_Request_get_status`: whether it is complete. The call also progresses it, and does not change the request.
    #[inline]
    pub fn status(&self) -> Result<bool, CallError> {
        let mut flag: c_int = 0;
        // SAFETY: a live request, or the null one; the flag lives through the call.
        unsafe { call!(MPI_Request_get_status(self.raw, &mut flag, ffi::RSMPI_STATUS_IGNORE)) }?;
        Ok(flag != 0)
    }

    /// `MPI_Request_free` of a persistent or partitioned request that is not active.
    pub fn free(mut self) -> Result<(), CallError> {
        // SAFETY: owned and live, and not used afterwards.
        unsafe { call!(MPI_Request_free(&mut self.raw)) }
    }
}

/// The status of a message after `MPI_Wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub source: c_int,
    pub tag: c_int,
    pub count: Option<usize>,
    pub is_cancelled: bool,
}

/// Requests in a list of the library's own type, allocated before any time is taken, for calls on all of them. The functions get the
/// requests from `each`, which calls its argument with one after the other, in the same order each time.
pub struct RequestList {
    raws: Vec<ffi::MPI_Request>,
    statuses: Vec<std::mem::MaybeUninit<ffi::MPI_Status>>,
}

impl RequestList {
    /// For at most this number of requests.
    pub fn for_up_to(count: usize) -> Self {
        let statuses = vec![std::mem::MaybeUninit::zeroed(); count];
        Self { raws: Vec::with_capacity(count), statuses }
    }

    /// `MPI_Startall` of persistent or partitioned requests.
    pub fn start_all(&mut self, each: impl FnMut(&mut dyn FnMut(&mut Request))) -> Result<(), CallError> {
        // SAFETY: live requests, whose creators guaranteed their memory.
        self.on_all("MPI_Startall", each, |count, raws, _| unsafe { call!(MPI_Startall(count, raws)) })
    }

    /// `MPI_Waitall`.
    pub fn wait_all(&mut self, each: impl FnMut(&mut dyn FnMut(&mut Request))) -> Result<(), CallError> {
        // SAFETY: live requests and as many statuses.
        self.on_all("MPI_Waitall", each, |count, raws, statuses| unsafe {
            call!(MPI_Waitall(count, raws, statuses))
        })
    }

    /// Calls `MPI_Testall` for nonblocking requests until all are complete. Afterwards they are null.
    pub fn test_until_complete(
        &mut self,
        each: impl FnMut(&mut dyn FnMut(&mut Request)),
    ) -> Result<(), CallError> {
        self.on_all("MPI_Testall", each, |count, raws, statuses| {
            let mut flag: c_int = 0;
            while flag == 0 {
                // SAFETY: live requests and as many statuses; the flag lives through the call.
                unsafe { call!(MPI_Testall(count, raws, &mut flag, statuses)) }?;
            }
            Ok(())
        })
    }

    /// Calls a function with the number of requests and the addresses of the lists, which live through the call.
    fn on_all(
        &mut self,
        name: &'static str,
        mut each: impl FnMut(&mut dyn FnMut(&mut Request)),
        function: impl FnOnce(c_int, *mut ffi::MPI_Request, *mut ffi::MPI_Status) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        self.raws.clear();
        each(&mut |request| self.raws.push(request.raw));
        assert!(self.raws.len() <= self.statuses.len(), "more requests than the list is for");
        let count = int(name, "count", self.raws.len() as i64)?;
        let done = function(count, self.raws.as_mut_ptr(), self.statuses.as_mut_ptr().cast());
        // The library has written to the list.
        let mut raws = self.raws.iter();
        each(&mut |request| raws.next().into_iter().for_each(|raw| request.raw = *raw));
        done
    }
}

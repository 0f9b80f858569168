//! Which threads may call MPI. Handles are neither `Send` nor `Sync`, so safe code calls MPI only from the
//! thread that initialised it. Values that other threads use for calls are lent to them in unsafe code.

use std::marker::PhantomData;

use super::{CallError, Comm, Datatype, Group, Partitioned, Recipe, Request, Window, World};

/// Makes a type that contains it stay with the thread that created it.
pub type OneThread = PhantomData<*mut ()>;

/// Proof that `MPI_THREAD_MULTIPLE` is provided: any thread may call MPI at any time. Returned by
/// [`World::multiple`](super::World::multiple).
#[derive(Clone, Copy, Debug)]
pub struct ThreadMultiple(pub(super) ());

/// Proof that each thread of a team may call MPI: the team is only the thread that initialised MPI, or there
/// is a [`ThreadMultiple`]. Returned by [`World::team_calls`](super::World::team_calls), and required by all
/// code that calls MPI from the threads of a team.
#[derive(Clone, Copy, Debug)]
pub struct TeamCalls(Option<ThreadMultiple>);

impl TeamCalls {
    /// For a team with this number of threads; `None` if they may not call MPI.
    pub(super) fn for_threads(threads: usize, multiple: Option<ThreadMultiple>) -> Option<Self> {
        (threads == 1 || multiple.is_some()).then_some(Self(multiple))
    }

    /// Proof that other threads may call MPI as well, if they may.
    pub fn multiple(self) -> Option<ThreadMultiple> {
        self.0
    }
}

/// A value that calls MPI, lent to the threads of a team.
pub struct Lent<'a, T: ?Sized>(&'a T);

// SAFETY: `new` requires that the threads' uses are permitted.
unsafe impl<T: ?Sized> Sync for Lent<'_, T> {}

impl<'a, T: ?Sized> Lent<'a, T> {
    /// Lends `value`.
    ///
    /// # Safety
    /// Concurrent uses by the threads must be permitted. Threads other than the one that initialised MPI may
    /// call MPI through `value` only if it was created with a [`TeamCalls`] of this team.
    pub unsafe fn new(value: &'a T) -> Self {
        Self(value)
    }

    /// The lent value.
    #[inline]
    pub fn get(&self) -> &'a T {
        self.0
    }
}

/// A partitioned message for use by several threads, which mark or test its partitions.
#[derive(Clone, Copy)]
pub struct SharedMessage<'a>(&'a Partitioned);

// SAFETY: the standard lets threads mark and test partitions of one request at the same time, and MPI_THREAD_MULTIPLE is provided.
unsafe impl Sync for SharedMessage<'_> {}

impl<'a> SharedMessage<'a> {
    /// Lends a message to any threads.
    pub fn new(message: &'a Partitioned, _: ThreadMultiple) -> Self {
        Self(message)
    }

    /// `MPI_Pready`.
    pub fn ready(self, partition: usize) -> Result<(), CallError> {
        self.0.ready(partition)
    }

    /// `MPI_Parrived`.
    pub fn arrived(self, partition: usize) -> Result<bool, CallError> {
        self.0.arrived(partition)
    }
}

/// Implemented for a type that is not [`Sync`]. For a type that is, the two implementations are ambiguous, and the test does not compile.
trait StaysWithItsThread<Which> {
    const HOLDS: bool = true;
}
impl<T: ?Sized> StaysWithItsThread<()> for T {}
impl<T: ?Sized + Sync> StaysWithItsThread<u8> for T {}

const _: () = {
    assert!(<World as StaysWithItsThread<_>>::HOLDS && <Comm as StaysWithItsThread<_>>::HOLDS);
    assert!(<Datatype as StaysWithItsThread<_>>::HOLDS && <Recipe as StaysWithItsThread<_>>::HOLDS);
    assert!(<Request as StaysWithItsThread<_>>::HOLDS && <Partitioned as StaysWithItsThread<_>>::HOLDS);
    assert!(<Window as StaysWithItsThread<_>>::HOLDS && <Group as StaysWithItsThread<_>>::HOLDS);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_calls_mpi_alone_or_where_any_thread_may() {
        assert!(TeamCalls::for_threads(1, None).is_some_and(|calls| calls.multiple().is_none()));
        assert!(TeamCalls::for_threads(2, None).is_none());
        assert!(TeamCalls::for_threads(2, Some(ThreadMultiple(()))).is_some());
    }
}

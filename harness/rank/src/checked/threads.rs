//! Which threads call MPI. Handles are neither `Send` nor `Sync`, so that safe code calls MPI from the thread that initialised
//! it, and from no other. What other threads are to call is lent to them, by someone who vouches for that.

use std::marker::PhantomData;

use super::{CallError, Comm, Datatype, Group, Partitioned, Recipe, Request, Window, World};

/// Makes what has it stay with the thread that made it.
pub type OneThread = PhantomData<*mut ()>;

/// Proof that `MPI_THREAD_MULTIPLE` is in force: any thread may call MPI at any time. Had from
/// [`World::multiple`](super::World::multiple).
#[derive(Clone, Copy, Debug)]
pub struct ThreadMultiple(pub(super) ());

/// Proof that each thread of a team may call MPI: it is one thread, the one that initialised MPI, or there is a
/// [`ThreadMultiple`]. Had from [`World::team_calls`](super::World::team_calls), and asked for by all that calls MPI from the
/// threads of a team.
#[derive(Clone, Copy, Debug)]
pub struct TeamCalls(Option<ThreadMultiple>);

impl TeamCalls {
    /// Of a team of so many threads; `None` where they may not.
    pub(super) fn of(threads: usize, multiple: Option<ThreadMultiple>) -> Option<Self> {
        (threads == 1 || multiple.is_some()).then_some(Self(multiple))
    }

    /// Proof that other threads may call MPI as well, if they may.
    pub fn multiple(self) -> Option<ThreadMultiple> {
        self.0
    }
}

/// What calls MPI, lent to the threads of a team.
pub struct Lent<'a, T: ?Sized>(&'a T);

// SAFETY: whoever lends it vouches for what threads do with it.
unsafe impl<T: ?Sized> Sync for Lent<'_, T> {}

impl<'a, T: ?Sized> Lent<'a, T> {
    /// Lends `value`.
    ///
    /// # Safety
    /// All that threads do with it at the same time is allowed at the same time; and those that did not initialise MPI
    /// call it through `value` only if that was made with a [`TeamCalls`] of this team.
    pub unsafe fn new(value: &'a T) -> Self {
        Self(value)
    }

    /// What was lent.
    #[inline]
    pub fn get(&self) -> &'a T {
        self.0
    }
}

/// A partitioned message of which several threads mark partitions, or ask for them.
#[derive(Clone, Copy)]
pub struct Shared<'a>(&'a Partitioned);

// SAFETY: the standard lets threads mark and look at partitions of one request at the same time, and MPI_THREAD_MULTIPLE is in
// force.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
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

/// Holds of a type that is not [`Sync`]: of one that is, both implementations could be meant, and this does not compile.
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
        assert!(TeamCalls::of(1, None).is_some_and(|calls| calls.multiple().is_none()));
        assert!(TeamCalls::of(2, None).is_none());
        assert!(TeamCalls::of(2, Some(ThreadMultiple(()))).is_some());
    }
}

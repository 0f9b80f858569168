//! The communication, by any method: started, waited for later, and verified to transfer the right bytes.

use crate::checked::CallError;

/// A communication of all ranks, by any of its methods. Every function is collective.
pub trait Traffic {
    /// A method that was set up.
    type Active;

    /// Sets up a method; as for a [`ScheduledCase`](crate::measure::experiment::ScheduledCase).
    fn make(&mut self, method: &str) -> anyhow::Result<Self::Active>;

    /// Writes new data into the send buffers, and overwrites all receive buffers.
    fn fill(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Rewrites a few bytes in every cache line of the send buffers, as if an application had computed them:
    /// cheap, and different each time.
    fn renew(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Starts the communication, after packing.
    fn start(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Progresses it; returns whether it is complete.
    fn test(&mut self, active: &mut Self::Active) -> Result<bool, CallError>;

    /// Ends it; unpacking is included.
    fn wait(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Whether no rank may end it before all have begun it; for communications without received data that would show this.
    fn synchronises(&self) -> bool {
        false
    }

    /// Whether the last communication since [`Traffic::renew`] has transferred a few bytes of each message that this
    /// rank receives: the first, the last and random ones of the rewritten bytes. Returns the first error.
    fn check(&mut self, active: &mut Self::Active) -> Option<String>;

    /// The first error in the data that this rank received last: all of it is compared.
    fn mismatch(&mut self, active: &mut Self::Active) -> Result<Option<String>, CallError>;

    /// Frees a method's resources.
    fn teardown(&mut self, active: Self::Active) -> Result<(), CallError>;
}

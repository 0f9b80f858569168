//! The communication, by any method: started, waited for later, and verified to transfer the right bytes.

use crate::checked::CallError;
use crate::payload::{Checks, Mismatch};

/// A communication of all ranks, by any of its methods. Every function is collective.
pub trait Traffic {
    /// A method that was set up.
    type Active;

    /// Sets up a method; as for a [`ScheduledCase`](crate::measure::experiment::ScheduledCase).
    fn make(&mut self, method: &str) -> anyhow::Result<Self::Active>;

    /// Writes new data into the send buffers, and overwrites all receive buffers.
    fn fill(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Rewrites all data to send, as if an application had computed it: different each time.
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

    /// The checks since the last [`Traffic::fill`].
    fn checks(&mut self) -> &mut Checks;

    /// Looks at a few bytes of each message that the last communication since [`Traffic::renew`] has brought.
    fn look(&mut self);

    /// Compares all data that this rank received last.
    fn compare(&mut self) {
        let wrong = self.wrong();
        self.checks().compare(wrong);
    }

    /// The first error in this data.
    fn wrong(&mut self) -> Option<Mismatch>;

    /// Frees a method's resources.
    fn teardown(&mut self, active: Self::Active) -> Result<(), CallError>;
}

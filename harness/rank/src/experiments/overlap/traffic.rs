//! What is communicated, and how: started, waited for later, and shown to have moved the right bytes.

use common::model::Outcome;

use crate::checked::CallError;

/// A communication of all ranks, by any of its methods. Every function is collective.
pub trait Traffic {
    /// A method that was made.
    type Active;

    /// Makes a method; or says why it cannot be had here.
    fn make(&mut self, method: &str) -> anyhow::Result<Result<Self::Active, Outcome>>;

    /// Writes new data into what is sent, and spoils all that is to be received.
    fn fill(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Writes what is sent anew, a few bytes in every cache line, as an application that has computed it: cheap, and different
    /// each time.
    fn renew(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Starts the communication; what is packed, is packed here.
    fn start(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Brings it forward; whether it is complete.
    fn test(&mut self, active: &mut Self::Active) -> Result<bool, CallError>;

    /// Ends it; what is unpacked, is unpacked here.
    fn wait(&mut self, active: &mut Self::Active) -> Result<(), CallError>;

    /// Whether no rank ends it before all have begun it, of which nothing is received that would show it.
    fn synchronises(&self) -> bool {
        false
    }

    /// Whether the last communication since [`Traffic::renew`] has brought a few bytes of each message that this rank receives: the
    /// first, the last and a random one of those that are written again. Returns the first error.
    fn look(&mut self, active: &mut Self::Active) -> Option<String>;

    /// The first error in the data that this rank received last: all of it is compared.
    fn mismatch(&mut self, active: &mut Self::Active) -> Result<Option<String>, CallError>;

    /// Gives back what a method has.
    fn teardown(&mut self, active: Self::Active) -> Result<(), CallError>;
}

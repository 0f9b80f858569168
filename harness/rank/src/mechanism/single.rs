//! `single`: one persistent message of all partitions, started when all threads have finished: the bulk-synchronous
//! baseline that all else is compared with.

use super::persistent::Requests;
use super::{Channel, Mechanism, Role};
use crate::checked::CallError;

pub struct Single {
    role: Role,
    request: Requests,
}

impl Single {
    pub fn new(channel: &Channel<'_>) -> Result<Self, CallError> {
        let whole = std::iter::once((0..channel.bytes, channel.comm));
        Ok(Self { role: channel.role, request: Requests::new(channel, whole)? })
    }
}

impl Mechanism for Single {
    fn start(&self) -> Result<(), CallError> {
        self.request.start_receives()
    }

    fn ready(&self, _: usize, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn close(&self) -> Result<(), CallError> {
        if self.role == Role::Sender { self.request.start(0) } else { Ok(()) }
    }

    fn wait(&self) -> Result<(), CallError> {
        self.request.wait(0)
    }

    fn messages(&self) -> Option<usize> {
        Some(1)
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.request.free()
    }
}

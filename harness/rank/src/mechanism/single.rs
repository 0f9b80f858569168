//! `single`: one persistent message of all partitions, started when all threads have finished: the bulk-synchronous baseline for
//! comparisons.

use common::packing::Form;

use super::messages::ChannelMessages;
use super::{Channel, Mechanism, Role};
use crate::checked::CallError;

pub struct Single {
    role: Role,
    message: ChannelMessages,
}

impl Single {
    pub fn new(channel: &Channel<'_>) -> Result<Self, CallError> {
        let whole = std::iter::once((0..channel.memory.bytes(), channel.comm));
        Ok(Self { role: channel.role, message: ChannelMessages::new(channel, Form::Persistent, whole)? })
    }
}

impl Mechanism for Single {
    unsafe fn start(&self) -> Result<(), CallError> {
        // SAFETY: no transfer is in progress, and no thread is here.
        unsafe { self.message.start_receives() }
    }

    unsafe fn ready(&self, _: usize, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn close(&self) -> Result<(), CallError> {
        // SAFETY: all partitions are ready, and no thread is here.
        if self.role == Role::Sender { unsafe { self.message.start(0) } } else { Ok(()) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.message.wait(0) }
    }

    fn messages(&self) -> Option<usize> {
        Some(1)
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.message.free()
    }
}

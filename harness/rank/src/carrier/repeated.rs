//! Transfers that are repeated: by a nonblocking call each time, or by a request that is created once.

use common::packing::Form;

use crate::checked::request::MessageArguments;
use crate::checked::{CallError, Envelope, Request};

/// A message or a collective that is started, tested and waited for again and again.
pub struct Repeated {
    /// `None` for the blocking call, which is complete when it returns.
    form: Option<Form>,
    request: Request,
}

impl Repeated {
    /// A transfer whose request `create` creates if it is persistent; otherwise it begins with the `null` one.
    pub fn new(
        form: Option<Form>,
        null: Request,
        create: impl FnOnce() -> Result<Request, CallError>,
    ) -> Result<Self, CallError> {
        Ok(Self { form, request: if form == Some(Form::Persistent) { create()? } else { null } })
    }

    /// Starts it; `call` is its blocking or nonblocking form.
    #[inline]
    pub fn start(&mut self, call: impl FnOnce() -> Result<Request, CallError>) -> Result<(), CallError> {
        if self.form == Some(Form::Persistent) {
            return self.request.start();
        }
        self.request = call()?;
        Ok(())
    }

    /// Whether it is complete.
    #[inline]
    pub fn test(&mut self) -> Result<bool, CallError> {
        if self.form.is_some() { self.request.test() } else { Ok(true) }
    }

    #[inline]
    pub fn wait(&mut self) -> Result<(), CallError> {
        if self.form.is_some() { self.request.wait() } else { Ok(()) }
    }

    /// Frees a persistent request, which is not active.
    pub fn free(self) -> Result<(), CallError> {
        if self.form == Some(Form::Persistent) { self.request.free() } else { Ok(()) }
    }
}

/// One end of a message that is repeated.
pub struct RepeatedMessage {
    is_sent: bool,
    address: *mut u8,
    arguments: MessageArguments,
    transfer: Repeated,
}

impl RepeatedMessage {
    /// A message to send or receive.
    ///
    /// # Safety
    /// As for [`Request::of_message`] from each start to its end. The datatype and the communicator are live
    /// until the last start has ended, and until the message is freed.
    pub unsafe fn new(
        form: Form,
        is_sent: bool,
        address: *mut u8,
        envelope: Envelope<'_>,
    ) -> Result<Self, CallError> {
        envelope.check_count(form, is_sent)?;
        let arguments = envelope.into();
        // SAFETY: guaranteed by the caller.
        let create = || unsafe { Request::of_message(form, is_sent, address, envelope) };
        let transfer = Repeated::new(Some(form), Request::null(envelope.comm), create)?;
        Ok(Self { is_sent, address, arguments, transfer })
    }

    #[inline]
    pub fn start(&mut self) -> Result<(), CallError> {
        let Self { is_sent, address, arguments, .. } = *self;
        self.transfer.start(|| {
            // SAFETY: guaranteed by the caller of `new`.
            unsafe { Request::of_message(Form::Nonblocking, is_sent, address, arguments) }
        })
    }

    /// Starts it, and waits for it.
    #[inline]
    pub fn run(&mut self) -> Result<(), CallError> {
        self.start()?;
        self.request().wait()
    }

    #[inline]
    pub fn request(&mut self) -> &mut Request {
        &mut self.transfer.request
    }

    pub fn free(self) -> Result<(), CallError> {
        self.transfer.free()
    }
}

//! Transfers that are repeated: by a call each time, or by a persistent request.

use common::packing::Form;

use crate::checked::collective::CollectiveCall;
use crate::checked::request::MessageArguments;
use crate::checked::{CallError, Envelope, Request};

/// One end of a message, or a collective, that is started, tested and waited for again and again.
pub struct Repeated {
    /// `None` for the blocking call, which is complete when it returns.
    form: Option<Form>,
    call: Call,
    request: Request,
}

/// The arguments of each call.
enum Call {
    Message { is_sent: bool, address: *mut u8, arguments: MessageArguments },
    Collective(CollectiveCall),
}

impl Repeated {
    /// A message to send or receive.
    ///
    /// # Safety
    /// As for [`Request::of_message`] from each start to its end. The datatype and the communicator are live
    /// until the last start has ended, and until the message is freed.
    pub unsafe fn message(
        form: Form,
        is_sent: bool,
        address: *mut u8,
        envelope: Envelope<'_>,
    ) -> Result<Self, CallError> {
        envelope.check_count(form, is_sent)?;
        let request = match form {
            Form::Nonblocking => Request::null(envelope.comm),
            // SAFETY: guaranteed by the caller.
            Form::Persistent => unsafe { Request::of_message(form, is_sent, address, envelope) }?,
        };
        let call = Call::Message { is_sent, address, arguments: envelope.into() };
        Ok(Self { form: Some(form), call, request })
    }

    /// A collective.
    ///
    /// # Safety
    /// The same for [`CollectiveCall::request`].
    pub unsafe fn collective(form: Option<Form>, call: CollectiveCall) -> Result<Self, CallError> {
        let request = match form {
            None | Some(Form::Nonblocking) => call.null(),
            // SAFETY: guaranteed by the caller.
            Some(Form::Persistent) => unsafe { call.request(form) }?,
        };
        Ok(Self { form, call: Call::Collective(call), request })
    }

    #[inline]
    pub fn start(&mut self) -> Result<(), CallError> {
        if self.form == Some(Form::Persistent) {
            return self.request.start();
        }
        self.request = match self.call {
            // SAFETY: guaranteed by the caller of `message`.
            Call::Message { is_sent, address, arguments } => unsafe {
                Request::of_message(Form::Nonblocking, is_sent, address, arguments)
            },
            // SAFETY: guaranteed by the caller of `collective`.
            Call::Collective(ref call) => unsafe { call.request(self.form) },
        }?;
        Ok(())
    }

    /// Starts it, and waits for it.
    #[inline]
    pub fn run(&mut self) -> Result<(), CallError> {
        self.start()?;
        self.request.wait()
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

    #[inline]
    pub fn request(&mut self) -> &mut Request {
        &mut self.request
    }

    /// Frees a persistent request, which is not active.
    pub fn free(self) -> Result<(), CallError> {
        if self.form == Some(Form::Persistent) { self.request.free() } else { Ok(()) }
    }
}

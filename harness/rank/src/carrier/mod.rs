//! Parts of the transfers of all kinds: the data of a message at one end ([`MessageData`]); a transfer that is
//! repeated by nonblocking calls or by one persistent request ([`Repeated`]); and one end of such a message ([`RepeatedMessage`]).

mod data;
mod repeated;

pub use data::MessageData;
pub use repeated::{Repeated, RepeatedMessage};

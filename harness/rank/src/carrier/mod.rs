//! Parts of the transfers of all kinds: the data of a message at one end ([`MessageData`]); and a message or a
//! collective that is repeated, by a call each time or by one persistent request ([`Repeated`]).

mod data;
mod repeated;

pub use data::MessageData;
pub use repeated::Repeated;

//! How the bytes of a message get from arrays to the wire and back, at each end. The methods of all kinds are composed of these.

use apps::WireOrder;
use datatypes::Equivalent;

use crate::model::conditions::MemoryKind;
use crate::model::{MethodInfo, Place};

/// The place of a message's bytes at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the application's arrays.
    Arrays,
    /// Packed, in the wire buffer.
    Wire,
}

/// How one end of a message is packed or unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// No packing: contiguous bytes of the wire buffer, written before each repetition.
    Wire,
    /// The same, but written only once, as in IMB's and OSU's ping-pongs.
    Untouched,
    /// Contiguous bytes of the wire buffer, passed to MPI as one value of a datatype.
    OneValue,
    /// Contiguous bytes, copied between the wire buffer and the method's own buffer.
    Copied,
    /// By the application's loop.
    ByHand,
    /// By the tuned form of that loop.
    Tuned,
    /// By the user's loop, of `--pack`, in the order of the datatype.
    Own,
    /// By a plain loop over the nesting of the datatype's layout.
    Looped,
    /// By `MPI_Pack` or `MPI_Unpack` with the datatype.
    Mpi,
    /// By our own pack engine, with the datatype's layout.
    Engine,
    /// Through host memory, for data on a device.
    Staged(Staged),
    /// No packing: MPI uses the datatype.
    Datatype,
    /// No packing: MPI uses the same type map made by other constructors.
    Equivalent(Equivalent),
}

/// How data on a device gets to host memory, from where MPI sends it, and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staged {
    /// Contiguous bytes, by a copy.
    Wire,
    /// Packed on the device by our engine, then copied.
    Engine,
    /// Packed by our engine directly into host memory that the device sees.
    Mapped,
    /// By a copy of the driver for each loop over equal blocks.
    Copies,
    /// By `MPI_Pack` or `MPI_Unpack` between device and host memory.
    Mpi,
}

impl Packing {
    /// The kinds of memory in which it is possible: loops run on the host, and only data of a device is staged.
    const fn is_possible_in(self, memory: MemoryKind) -> bool {
        match self {
            Self::ByHand | Self::Tuned | Self::Own | Self::Looped | Self::Copied => {
                matches!(memory, MemoryKind::Host)
            }
            Self::Staged(_) => !matches!(memory, MemoryKind::Host),
            Self::Wire
            | Self::Untouched
            | Self::OneValue
            | Self::Mpi
            | Self::Engine
            | Self::Datatype
            | Self::Equivalent(_) => true,
        }
    }

    /// A method that packs in this way, in the memory where that is possible.
    pub const fn only_where_possible(self, info: MethodInfo) -> MethodInfo {
        match (self.is_possible_in(MemoryKind::Host), self.is_possible_in(MemoryKind::Device)) {
            (true, false) => info.only_in(Place::Host),
            (false, true) => info.only_in(Place::Device),
            _ => info,
        }
    }

    /// The place of the bytes before packing, or after unpacking.
    pub const fn location(self) -> Location {
        match self {
            Self::Wire | Self::Untouched | Self::OneValue | Self::Copied | Self::Staged(Staged::Wire) => {
                Location::Wire
            }
            _ => Location::Arrays,
        }
    }

    /// Whether the loop was written by hand, so that it only has its own order.
    pub const fn is_by_hand(self) -> bool {
        matches!(self, Self::ByHand | Self::Tuned)
    }

    /// Whether it packs from arrays without MPI.
    pub const fn is_ours(self) -> bool {
        self.is_by_hand()
            || matches!(
                self,
                Self::Own
                    | Self::Looped
                    | Self::Engine
                    | Self::Staged(Staged::Engine | Staged::Mapped | Staged::Copies)
            )
    }

    /// Whether it moves bytes itself, so that packing has a time.
    pub const fn packs(self) -> bool {
        self.is_ours() || matches!(self, Self::Mpi | Self::Copied | Self::Staged(_))
    }

    /// Whether MPI uses the application's datatype for the transfer.
    pub const fn is_typed(self) -> bool {
        matches!(self, Self::Datatype | Self::Equivalent(_))
    }

    /// Whether it creates a datatype or a program, so that creation has a time.
    pub const fn creates(self) -> bool {
        self.is_typed()
            || matches!(self, Self::Mpi | Self::OneValue | Self::Engine)
            || matches!(self, Self::Staged(Staged::Mpi | Staged::Engine | Staged::Mapped))
    }
}

/// The work of a method at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Their place before packing.
    pub from: Location,
    /// Their place after unpacking.
    pub to: Location,
    /// The order in which values are packed.
    pub order: WireOrder,
    /// Whether it creates datatypes or programs.
    pub creates: bool,
    /// Whether it packs explicitly.
    pub packs: bool,
    /// Whether it unpacks explicitly.
    pub unpacks: bool,
    /// Whether the send buffer is written before each repetition.
    pub is_renewed: bool,
}

impl Ends {
    /// The work for a message that is packed and unpacked in these ways.
    pub const fn packed_by(send: Packing, receive: Packing) -> Self {
        Self {
            from: send.location(),
            to: receive.location(),
            order: if send.is_by_hand() { WireOrder::Manual } else { WireOrder::Ddt },
            creates: send.creates() || receive.creates(),
            packs: send.packs(),
            unpacks: receive.packs(),
            is_renewed: !matches!(send, Packing::Untouched),
        }
    }

    /// Whether the return of an all-to-all sends the data received in the wire buffer: without packing, no
    /// other data was written as recently.
    pub const fn returns_what_came(self) -> bool {
        self.is_renewed && matches!((self.from, self.to), (Location::Wire, Location::Wire))
    }
}

/// How a transfer is started if the wait for it comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By a nonblocking call each time.
    Nonblocking,
    /// By starting a request that is created once.
    Persistent,
}

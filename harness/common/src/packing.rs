//! How the bytes of a message get from arrays to the wire and back, at each end: what methods of all kinds are made of.

use apps::WireOrder;
use datatypes::Equivalent;

/// Where a message's bytes are at one end.
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
    /// Not at all: contiguous bytes of the wire buffer, written before each repetition.
    Wire,
    /// The same, but never written again: as IMB's and OSU's ping-pongs do.
    Untouched,
    /// Contiguous bytes of the wire buffer, given to MPI as one value of a datatype.
    OneValue,
    /// Contiguous bytes, copied between the wire buffer and a buffer of the method.
    Copied,
    /// By the application's loop.
    ByHand,
    /// By the tuned form of that loop.
    Tuned,
    /// By a plain loop over the nest of the datatype's layout.
    Looped,
    /// By `MPI_Pack` or `MPI_Unpack` with the datatype.
    Mpi,
    /// By our own pack engine, with the datatype's layout.
    Engine,
    /// Not at all: MPI is given the datatype.
    Datatype,
    /// Not at all: MPI is given the same type map by other constructors.
    Equivalent(Equivalent),
}

impl Packing {
    /// Where the bytes are before packing, or after unpacking.
    pub const fn location(self) -> Location {
        match self {
            Self::Wire | Self::Untouched | Self::OneValue | Self::Copied => Location::Wire,
            _ => Location::Arrays,
        }
    }

    /// Whether somebody wrote it by hand, so that it has no order but its own.
    pub const fn is_by_hand(self) -> bool {
        matches!(self, Self::ByHand | Self::Tuned)
    }

    /// Whether it packs from arrays without MPI.
    pub const fn is_ours(self) -> bool {
        self.is_by_hand() || matches!(self, Self::Looped | Self::Engine)
    }

    /// Whether it moves bytes itself, so that packing is worth timing.
    pub const fn packs(self) -> bool {
        self.is_ours() || matches!(self, Self::Mpi | Self::Copied)
    }

    /// Whether MPI is given the application's datatype for the transfer.
    pub const fn is_typed(self) -> bool {
        matches!(self, Self::Datatype | Self::Equivalent(_))
    }

    /// Whether it has a datatype.
    pub const fn has_datatype(self) -> bool {
        self.is_typed() || matches!(self, Self::Mpi | Self::OneValue)
    }

    /// Whether it makes a datatype or a program, so that creation is worth timing.
    pub const fn creates(self) -> bool {
        self.has_datatype() || matches!(self, Self::Engine)
    }
}

/// What a method does at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Where the bytes are before packing.
    pub from: Location,
    /// Where they are after unpacking.
    pub to: Location,
    /// The order in which values are packed.
    pub order: WireOrder,
    /// Whether it makes datatypes or programs.
    pub creates: bool,
    /// Whether it packs explicitly.
    pub packs: bool,
    /// Whether it unpacks explicitly.
    pub unpacks: bool,
    /// Whether what it sends is written before each repetition.
    pub is_renewed: bool,
}

impl Ends {
    /// Those of a message that is packed and unpacked so.
    pub const fn of(send: Packing, receive: Packing) -> Self {
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

    /// Whether an all-to-all's way back sends what the way there has brought to the wire buffer: without packing, nothing
    /// else is as fresh.
    pub const fn returns_what_came(self) -> bool {
        self.is_renewed && matches!((self.from, self.to), (Location::Wire, Location::Wire))
    }
}

/// How a transfer is started that is waited for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By a nonblocking call each time.
    Nonblocking,
    /// By starting a request that is made once.
    Persistent,
}

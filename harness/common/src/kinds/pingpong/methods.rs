//! The methods: ways to send a test's bytes. The rank program implements them.

use apps::{Exchange, MicroApp, WireOrder};
use datatypes::Equivalent;

use super::descriptions::descriptions;
use super::parts::Parting;
use crate::memory::Buffers;
use crate::model::{LOOP, MANUAL, MANUAL_TUNED, MethodInfo, MethodRow, OWN, find_method, info, infos};
use crate::packing::{Ends, Location, Packing, Staged};

/// The method that two-sided ones are compared with.
pub const REFERENCE: &str = "reference";
/// The method that puts are compared with.
pub const PUT_REFERENCE: &str = "put_reference";
/// The method that gets are compared with: they need one more fence for each message than puts.
pub const GET_REFERENCE: &str = "get_reference";

/// The method that those are compared with whose data goes through the host's memory.
pub const STAGED_REFERENCE: &str = "reference:staged";
/// Copies by a device's driver, in place of a kernel.
pub const COPIES: &str = "copies";
pub const BY_COPIES: &str =
    "from a device to the host by copies of its driver, one for each loop over equal blocks";

/// Functions needed for packing with datatypes.
pub const PACK: &[&str] = &["MPI_Pack", "MPI_Unpack", "MPI_Pack_size"];
/// Functions needed for puts.
const PUT: &[&str] = &["MPI_Win_create", "MPI_Win_fence", "MPI_Put", "MPI_Win_free"];
/// Functions needed for gets.
const GET: &[&str] = &["MPI_Win_create", "MPI_Win_fence", "MPI_Get", "MPI_Win_free"];

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// By a send and a receive; how the message is packed and unpacked.
    TwoSided(Packing, Packing),
    /// By puts between fences.
    Put(Packing, Packing),
    /// By gets between fences.
    Get(Packing, Packing),
    /// By persistent requests with datatypes, created together with these.
    Persistent,
    /// By several messages, or by one message of several datatypes.
    InParts(Parting),
}

impl Transfer {
    /// Its work at both ends for the message of `app`. Some messages in parts need no datatypes.
    pub fn ends(self, app: &MicroApp) -> Ends {
        let ends = self.usual_ends();
        match self {
            // Such an application receives directly into its arrays, and so do methods that unpack without MPI; the host has none on a device.
            Self::TwoSided(_, receive)
                if receive.is_ours() && !matches!(receive, Packing::Staged(_)) && app.receives_in_place =>
            {
                Ends { unpacks: false, ..ends }
            }
            _ => ends,
        }
    }

    /// How the message is packed and unpacked.
    pub const fn packings(self) -> (Packing, Packing) {
        match self {
            Self::TwoSided(send, receive) | Self::Put(send, receive) | Self::Get(send, receive) => {
                (send, receive)
            }
            Self::Persistent | Self::InParts(_) => (Packing::Datatype, Packing::Datatype),
        }
    }

    const fn usual_ends(self) -> Ends {
        let (send, receive) = self.packings();
        Ends::packed_by(send, receive)
    }
}

/// Rows, completed with all properties that follow from how the message is sent.
const fn complete<const N: usize>(mut rows: [MethodRow<Transfer>; N]) -> [MethodRow<Transfer>; N] {
    let mut row = 0;
    while row < N {
        let MethodRow { info, made_of } = rows[row];
        let ends = made_of.usual_ends();
        let info = match (ends.from, ends.to) {
            (Location::Arrays, Location::Arrays) => info,
            (Location::Wire, Location::Wire) => info.contiguous(),
            _ => info.partial(),
        };
        let info = match made_of {
            Transfer::Put(Packing::Wire, _) => info.needs(PUT),
            Transfer::Put(..) => info.needs(PUT).against(PUT_REFERENCE),
            Transfer::Get(Packing::Wire, _) => info.needs(GET),
            Transfer::Get(..) => info.needs(GET).against(GET_REFERENCE),
            Transfer::TwoSided(Packing::Mpi, _) => info.needs(PACK),
            Transfer::TwoSided(Packing::Staged(Staged::Mpi), _) => {
                info.needs(PACK).with_buffers(2).against(STAGED_REFERENCE)
            }
            Transfer::TwoSided(Packing::Staged(Staged::Wire), _) => info,
            Transfer::TwoSided(Packing::Staged(_), _) => info.with_buffers(2).against(STAGED_REFERENCE),
            Transfer::TwoSided(Packing::Copied, _) => info.with_buffers(2),
            _ => info,
        };
        let is_by_hand = matches!(ends.order, WireOrder::Manual);
        let info = if is_by_hand { info.by_hand() } else { info };
        let (send, _) = made_of.packings();
        rows[row].info = send.only_where_possible(info);
        row += 1;
    }
    rows
}

/// All methods, in report order.
const ROWS: [MethodRow<Transfer>; 43] = {
    use Packing::Staged as ThroughHost;
    use Packing::{ByHand, Copied, Datatype, Engine, Looped, Mpi, OneValue, Own, Tuned, Untouched, Wire};
    use Transfer::{Get, InParts, Persistent, Put, TwoSided};
    const fn both(packing: Packing) -> Transfer {
        TwoSided(packing, packing)
    }
    const fn equivalent(way: Equivalent) -> Transfer {
        both(Packing::Equivalent(way))
    }
    complete([
        info(REFERENCE, "the same number of contiguous bytes, rewritten before each repetition").originally("reference").made_of(both(Wire)),
        info("reference_untouched", "unchanged bytes, as in IMB and OSU").made_of(both(Untouched)),
        info("reference:contiguous", "the same with the datatype MPI_Type_contiguous").on_request().made_of(both(OneValue)),
        info("reference:copied", "the same, copied by memcpy before and after: the minimum cost of packing").on_request().made_of(both(Copied)),
        info(STAGED_REFERENCE, "the same from memory of a device, copied to the host, which sends it").made_of(both(ThroughHost(Staged::Wire))),
        info(OWN, "your loop, with a contiguous message; with --pack FILE").on_request().made_of(both(Own)),
        info(MANUAL, "the application's pack and unpack loops, with a contiguous message").originally("manual").made_of(both(ByHand)),
        info(MANUAL_TUNED, "these loops tuned by an expert, with a contiguous message").made_of(both(Tuned)),
        info(LOOP, "a generic (interpreted) loop over the datatype's nesting, with a contiguous message; always for `layout`").on_request().made_of(both(Looped)),
        info("mpi_pack", "MPI_Pack and MPI_Unpack with the derived datatype, with a contiguous message").originally("mpi_pack_ddt").made_of(both(Mpi)),
        info("mpi_pack:staged", "the same from memory of a device into that of the host, which sends it").made_of(both(ThroughHost(Staged::Mpi))),
        info("engine", "the datatype compiled by our pack engine, with a contiguous message").made_of(both(Engine)),
        info("engine:mapped", "packed on a device into memory of the host that it sees").made_of(both(ThroughHost(Staged::Mapped))),
        info("engine:staged", "packed on a device, copied to the host, which sends it").made_of(both(ThroughHost(Staged::Engine))),
        info(COPIES, BY_COPIES).made_of(both(ThroughHost(Staged::Copies))),
        info("ddt", "the derived datatype, sent and received directly").originally("mpi_ddt").made_of(both(Datatype)),
        info("persistent_ddt", "the same by persistent requests, created with the datatype: MPI_Send_init, MPI_Recv_init, MPI_Start").on_request().made_of(Persistent),
        info("ddt_to_packed", "the datatype only on the sending side: shows the sender's cost").made_of(TwoSided(Datatype, Wire)),
        info("packed_to_ddt", "the datatype only on the receiving side: shows the receiver's cost").made_of(TwoSided(Wire, Datatype)),
        info("ddt:contiguous", "one of MPI_Type_contiguous, of a part that is resized").on_request().made_of(equivalent(Equivalent::Contiguous)),
        info("ddt:vector", "the same by MPI_Type_vector").on_request().made_of(equivalent(Equivalent::Vector)),
        info("ddt:hvector", "the same by MPI_Type_create_hvector").on_request().made_of(equivalent(Equivalent::Hvector)),
        info("ddt:hvectors", "the same by an hvector of hvectors").on_request().made_of(equivalent(Equivalent::HvectorOfHvectors)),
        info("ddt:indexed_block", "the same by a list of blocks of one length, MPI_Type_create_indexed_block").on_request().made_of(equivalent(Equivalent::IndexedBlock)),
        info("ddt:hindexed_block", "the same with places in bytes, MPI_Type_create_hindexed_block").on_request().made_of(equivalent(Equivalent::HindexedBlock)),
        info("ddt:indexed", "the same by a list of its runs, MPI_Type_indexed").on_request().made_of(equivalent(Equivalent::Indexed)),
        info("ddt:hindexed", "the same with places in bytes, MPI_Type_create_hindexed").on_request().made_of(equivalent(Equivalent::Hindexed)),
        info("ddt:struct", "the same by a structure of its runs, MPI_Type_create_struct").on_request().made_of(equivalent(Equivalent::Struct)),
        info("ddt:subarray", "the same by MPI_Type_create_subarray, with the bounds of the array").on_request().made_of(equivalent(Equivalent::Subarray)),
        info("ddt:subarray_resized", "the same with the bounds of the datatype, MPI_Type_create_resized").on_request().made_of(equivalent(Equivalent::SubarrayResized)),
        info("ddt:subarray_split", "the same with a single loop as two, hence of one dimension more").on_request().made_of(equivalent(Equivalent::SubarraySplit)),
        info("ddt:wrapped", "one of the datatype, MPI_Type_contiguous").on_request().made_of(equivalent(Equivalent::Wrapped)),
        info("ddt:resized", "the datatype with its own bounds, MPI_Type_create_resized").on_request().made_of(equivalent(Equivalent::Resized)),
        info("ddt:nested", "the datatype in a structure of one, resized, contiguous").on_request().made_of(equivalent(Equivalent::Nested)),
        info("ddt:count", "several copies of the datatype's repeated part, such as a vector's blocks").on_request().made_of(InParts(Parting::Count)),
        info("ddt:halves", "two messages, each a datatype of half of the values").on_request().made_of(InParts(Parting::Halves)),
        info("ddt:pieces", "a message for each run of values, without a datatype").on_request().made_of(InParts(Parting::Pieces)),
        info(PUT_REFERENCE, "one-sided: MPI_Put of contiguous bytes between fences").made_of(Put(Wire, Wire)),
        info("put_manual", "one-sided: packed by hand, MPI_Put between fences, unpacked by hand").made_of(Put(ByHand, ByHand)),
        info("put_ddt", "one-sided: MPI_Put between fences with datatypes at origin and target").made_of(Put(Datatype, Datatype)),
        info(GET_REFERENCE, "one-sided: MPI_Get of contiguous bytes between two fences").on_request().made_of(Get(Wire, Wire)),
        info("get_manual", "one-sided: packed by hand, MPI_Get between two fences, unpacked by hand").on_request().made_of(Get(ByHand, ByHand)),
        info("get_ddt", "one-sided: MPI_Get between two fences with datatypes at origin and target").on_request().made_of(Get(Datatype, Datatype)),
    ])
};

/// Their descriptions.
pub const METHODS: &[MethodInfo] = &infos::<_, { ROWS.len() }>(&ROWS);

/// How a message is sent by the method called `name`.
pub fn transfer(name: &str) -> Result<Transfer, String> {
    Ok(find_method(&ROWS, "method", name)?.made_of)
}

/// The memory that the methods with these names need. Those of other kinds need all.
pub fn buffers(names: &[String]) -> Buffers {
    let of = |name: &String| match ROWS.iter().find(|row| row.info.name == name) {
        Some(row) => {
            let (send, receive) = row.made_of.packings();
            Buffers::needed_by(send, receive)
        }
        None => Buffers::ALL,
    };
    names.iter().map(of).fold(Buffers::default(), Buffers::or)
}

/// The alternative description that the method called `name` uses, if it does.
pub fn description(name: &str) -> Option<Equivalent> {
    ROWS.iter().find_map(|row| match row.made_of {
        Transfer::TwoSided(Packing::Equivalent(way), _) if row.info.name == name => Some(way),
        _ => None,
    })
}

/// Whether a method supports a message, as far as that is known without its layout: hand-written loops must
/// exist for methods that use them, and if only one end is packed, values must be of one type. For methods of
/// other messages see [`has_messages`].
pub fn can(app: &MicroApp, method: &MethodInfo) -> bool {
    let one_end_is_packed = !method.array_to_array && !method.is_reference;
    (app.has_loops || !method.by_hand) && (!app.mixes_types || !one_end_is_packed)
}

/// Whether the exchange of a test can consist of the messages of the method called `name`: parts of the
/// message, or persistent ones. Any other method can.
pub fn has_messages(app: &MicroApp, name: &str) -> Result<(), &'static str> {
    // Methods of other kinds send no messages of this kind.
    let Some(row) = ROWS.iter().find(|row| row.info.name == name) else { return Ok(()) };
    match row.made_of {
        Transfer::TwoSided(..) | Transfer::Put(..) | Transfer::Get(..) => Ok(()),
        Transfer::InParts(parting) => parting.places(app).map(drop),
        Transfer::Persistent if app.exchange == Exchange::Pairs => Ok(()),
        Transfer::Persistent => Err("an all-to-all is one call without persistent messages"),
    }
}

/// Whether the method called `name` supports a message. All messages are supported by names that are not of
/// these methods, such as some of the engine's comparison.
pub fn can_by_name(app: &MicroApp, name: &str) -> bool {
    let is_described = |way| descriptions(app).iter().any(|known| known.way == way);
    METHODS.iter().all(|method| method.name != name || can(app, method))
        && has_messages(app, name).is_ok()
        && description(name).is_none_or(is_described)
}

#[cfg(test)]
mod tests {
    use apps::{Context, LAYOUT};

    use super::*;

    #[test]
    fn a_layout_has_the_methods_that_need_no_loop_written_by_hand() {
        let without = |layout: &str| {
            let mut values = LAYOUT.set(LAYOUT.quick_set().name).unwrap();
            values.assign("send", layout).unwrap();
            let app = LAYOUT.build(&values, Context::default()).unwrap();
            let names = METHODS.iter().filter(|method| !can(&app, method)).map(|method| method.name);
            names.collect::<Vec<_>>()
        };
        let with_ends = |wanted: fn(Packing, Packing) -> bool| {
            let is_wanted = |row: &&MethodRow<Transfer>| {
                let (send, receive) = row.made_of.packings();
                wanted(send, receive)
            };
            ROWS.iter().filter(is_wanted).map(|row| row.info.name).collect::<Vec<_>>()
        };
        let by_hand = with_ends(|send, receive| send.is_by_hand() || receive.is_by_hand());
        assert!(["manual", "manual_tuned", "put_manual"].iter().all(|name| by_hand.contains(name)));
        assert_eq!(without("vector(8, 1, 4, double)"), by_hand);
        // With several types, the packed end would have another signature.
        let mixed = with_ends(|send, receive| {
            let in_arrays = [send, receive].map(|end| end.location() == Location::Arrays);
            send.is_by_hand()
                || receive.is_by_hand()
                || in_arrays == [true, false]
                || in_arrays == [false, true]
        });
        assert!(["ddt_to_packed", "packed_to_ddt"].iter().all(|name| mixed.contains(name)));
        assert_eq!(without("struct([1, 2], [0, 8], [int32, double])"), mixed);
        let lu = apps::find("nas_lu_y").unwrap();
        let app = lu.build(&lu.set("408x408").unwrap(), Context::default()).unwrap();
        assert!(METHODS.iter().all(|method| can(&app, method)));
    }
}

//! The methods: how a test's bytes can travel. The rank program implements them.

use apps::MicroApp;

use super::parts::Parting;
use crate::model::{LOOP, MethodInfo};

/// The method that two-sided ones are compared with.
pub const REFERENCE: &str = "reference";
/// The method that one-sided ones are compared with.
pub const PUT_REFERENCE: &str = "put_reference";

/// What packing with datatypes needs.
pub const PACK: &[&str] = &["MPI_Pack", "MPI_Unpack", "MPI_Pack_size"];
/// What one-sided methods need.
const PUT: &[&str] = &["MPI_Win_create", "MPI_Win_fence", "MPI_Put", "MPI_Win_free"];

/// All methods, in report order.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::new(REFERENCE, "the same number of contiguous bytes, written anew before each repetition")
        .contiguous()
        .originally("reference"),
    MethodInfo::new("reference_untouched", "the same bytes again and again, as IMB and OSU send them")
        .contiguous(),
    MethodInfo::new("reference:contiguous", "the same as one of a datatype, MPI_Type_contiguous")
        .contiguous()
        .on_request(),
    MethodInfo::new(
        "reference:copied",
        "the same, copied by memcpy before and after: what packing costs at least",
    )
    .contiguous()
    .with_buffers(2)
    .on_request(),
    MethodInfo::new(
        "manual",
        "the application's pack and unpack loops, as it has them, around a contiguous message",
    )
    .originally("manual")
    .by_hand(),
    MethodInfo::new(
        "manual_tuned",
        "these loops as an expert tunes them by hand, around a contiguous message",
    )
    .by_hand(),
    MethodInfo::new(
        LOOP,
        "a plain loop over the datatype's nest, interpreted, around a contiguous message; of `layout` always",
    )
    .on_request(),
    MethodInfo::new(
        "mpi_pack",
        "MPI_Pack and MPI_Unpack with the derived datatype around a contiguous message",
    )
    .needs(PACK)
    .originally("mpi_pack_ddt"),
    MethodInfo::new("engine", "the datatype compiled by our own pack engine, around a contiguous message"),
    MethodInfo::new("ddt", "the derived datatype, sent and received as it is").originally("mpi_ddt"),
    MethodInfo::new("ddt_to_packed", "the datatype on the sending side only: its cost is the sender's")
        .partial(),
    MethodInfo::new("packed_to_ddt", "the datatype on the receiving side only: its cost is the receiver's")
        .partial(),
    MethodInfo::new("ddt:hindexed", "the same by a list of its runs, MPI_Type_create_hindexed").on_request(),
    MethodInfo::new("ddt:struct", "the same by a structure of its runs, MPI_Type_create_struct").on_request(),
    MethodInfo::new("ddt:wrapped", "one of the datatype, MPI_Type_contiguous").on_request(),
    MethodInfo::new("ddt:resized", "the datatype with the bounds that it has, MPI_Type_create_resized")
        .on_request(),
    MethodInfo::new("ddt:nested", "the datatype in a structure of one, resized, contiguous").on_request(),
    MethodInfo::new("ddt:count", "a count of what the datatype repeats, as a vector's blocks").on_request(),
    MethodInfo::new("ddt:halves", "two messages, each a datatype of half of the values").on_request(),
    MethodInfo::new("ddt:pieces", "a message for each run of values, without a datatype").on_request(),
    MethodInfo::new(PUT_REFERENCE, "one-sided: MPI_Put of contiguous bytes between fences")
        .needs(PUT)
        .contiguous(),
    MethodInfo::new("put_manual", "one-sided: packed by hand, MPI_Put between fences, unpacked by hand")
        .needs(PUT)
        .against(PUT_REFERENCE)
        .by_hand(),
    MethodInfo::new("put_ddt", "one-sided: MPI_Put between fences with datatypes at origin and target")
        .needs(PUT)
        .against(PUT_REFERENCE),
];

/// Whether a message can travel by a method, as far as that is known without its layout: loops must have been written for those by
/// hand, and where one end alone is packed, values must be of one type. [`Parting::places`] says whether it can be parted.
pub fn can(app: &dyn MicroApp, method: &MethodInfo) -> bool {
    let one_end_is_packed = !method.array_to_array && !method.is_reference;
    (app.has_loops() || !method.by_hand) && (!app.mixes_types() || !one_end_is_packed)
}

/// Whether a message can be parted as the method called `name` does, if it does.
pub fn can_be_parted(app: &dyn MicroApp, name: &str) -> bool {
    Parting::of(name).is_none_or(|parting| parting.places(app).is_some())
}

/// Whether a message can travel by the method called `name`; what is none of these methods, as some of the engine's comparison, any
/// message has.
pub fn can_by_name(app: &dyn MicroApp, name: &str) -> bool {
    METHODS.iter().all(|method| method.name != name || can(app, method)) && can_be_parted(app, name)
}

#[cfg(test)]
mod tests {
    use apps::{Context, LAYOUT};

    use super::*;

    #[test]
    fn a_layout_has_the_methods_that_need_no_loop_written_by_hand() {
        let without = |layout: &str| {
            let mut values = LAYOUT.set(LAYOUT.quick_set().name).unwrap();
            values.assign(&LAYOUT, "send", layout).unwrap();
            let app = LAYOUT.build(&values, Context::default()).unwrap();
            let names = METHODS.iter().filter(|method| !can(&*app, method)).map(|method| method.name);
            names.collect::<Vec<_>>()
        };
        let by_hand = ["manual", "manual_tuned", "put_manual"];
        assert_eq!(without("vector(8, 1, 4, double)"), by_hand);
        // The packed end of several types would be of another signature.
        let mixed = without("struct([1, 2], [0, 8], [int32, double])");
        assert_eq!(mixed, ["manual", "manual_tuned", "ddt_to_packed", "packed_to_ddt", "put_manual"]);
        let lu = apps::find("nas_lu_y").unwrap();
        let app = lu.build(&lu.set("408x408").unwrap(), Context::default()).unwrap();
        assert!(METHODS.iter().all(|method| can(&*app, method)));
    }
}

//! C statements that ask an MPI about a type, and compare the answers.

use common::conformance::Contents;
use datatypes::{Construction, Layout, Reported};

/// Only wrong numbers are compared: implementers compute other bounds in other ways, which are accepted.
pub fn bounds(layout: &Layout, detail: &str) -> String {
    let Reported { size, lower_bound, extent, true_lower_bound, true_extent } = Reported::from_layout(layout);
    let calls = [
        (
            "MPI_Type_size",
            format!("int size;\nMPI_Type_size(type, &size);\ncompare_number(\"the size\", {size}, size);\n"),
        ),
        (
            "MPI_Type_get_extent",
            format!(
                "MPI_Aint lower, extent;
MPI_Type_get_extent(type, &lower, &extent);
compare_number(\"the lower bound\", {lower_bound}, lower);
compare_number(\"the extent\", {extent}, extent);
"
            ),
        ),
        (
            "MPI_Type_get_true_extent",
            format!(
                "MPI_Aint true_lower, true_extent;
MPI_Type_get_true_extent(type, &true_lower, &true_extent);
compare_number(\"the true lower bound\", {true_lower_bound}, true_lower);
compare_number(\"the true extent\", {true_extent}, true_extent);
"
            ),
        ),
    ];
    let is_wrong = |call: &str| detail.contains(&format!("{call} "));
    let has_wrong = calls.iter().any(|(call, _)| is_wrong(call));
    calls.iter().filter(|(call, _)| !has_wrong || is_wrong(call)).map(|(_, code)| code.as_str()).collect()
}

/// Constructor and arguments of a type, as it was made.
pub fn contents(layout: &Layout, construction: Construction) -> String {
    let expected = match construction {
        Construction::Duplicated => Contents::of_duplicate(),
        _ => Contents::from_layout(layout),
    };
    let (integers, addresses) = (expected.integers.len(), expected.addresses.len());
    let (first, second, types) = (expected.integers_in_c(), expected.addresses_in_c(), expected.types);
    format!(
        "const int right[] = {{{first}{}0}};
const MPI_Aint right_places[] = {{{second}{}0}};
int integers, addresses, types, combiner, found[{integers} + 1];
MPI_Aint places[{addresses} + 1];
MPI_Datatype children[{types} + 1];
MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
compare_number(\"the constructor\", MPI_COMBINER_{}, combiner);
compare_number(\"the number of integers\", {integers}, integers);
compare_number(\"the number of addresses\", {addresses}, addresses);
compare_number(\"the number of types\", {types}, types);
if (!wrong && combiner != MPI_COMBINER_NAMED) {{
    MPI_Type_get_contents(type, integers, addresses, types, found, places, children);
    for (int i = 0; i < integers; i++)
        compare_number(\"an integer\", right[i], found[i]);
    for (int i = 0; i < addresses; i++)
        compare_number(\"an address\", right_places[i], places[i]);
}}
",
        if integers > 0 { ", " } else { "" },
        if addresses > 0 { ", " } else { "" },
        expected.combiner,
    )
}

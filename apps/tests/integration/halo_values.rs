//! Values that users give to exchanges: their own arrays and layouts, and values that exchanges must refuse.

use datatypes::Element;
use ddtbench_apps::ParameterError;
use ddtbench_apps::halo::{self, HaloApp, HaloContext};

use crate::values;

#[test]
fn an_array_of_your_own_has_a_halo_on_the_axes_that_are_divided() {
    let test = halo::find("subarray").unwrap();
    let error = |changes: &[(&str, &str)]| {
        let context = HaloContext { ranks: 8, periodic: true, dims: None, seed: 1 };
        test.build(&values(test, changes).unwrap(), context).err()
    };
    let refuses = |changes: &[(&str, &str)], message: &str| {
        assert_eq!(error(changes).expect("refused").to_string(), message);
    };
    refuses(
        &[("halo", "0")],
        "parameter halo = 0: must be on 1 to 8 axes: those are divided among the ranks",
    );
    refuses(
        &[("shape", "9x9+9x9x9")],
        "parameter halo = width: must be on as many axes of each shape: those are divided among the ranks",
    );
    refuses(
        &[("shape", "9x9x9x9"), ("order", "c"), ("halo", "0x2x3x2"), ("width", "3")],
        "parameter width = 3: must be from 1 to 2, the halo on axis z of 9x9x9x9",
    );
    refuses(
        &[("shape", "9x9x9"), ("halo", "4"), ("width", "2")],
        "parameter width = 2: must be from 1 to 1, the interior on axis z of 9x9x9",
    );
    refuses(
        &[("halo", "1:0")],
        "parameter halo = 1:0: must be on both sides of a divided axis, or on neither",
    );
    let most = ["2147483647"; 4].join("x");
    let too_large = error(&[("shape", &most)]);
    assert!(too_large.unwrap().to_string().ends_with("larger than an address space"));
    assert_eq!(error(&[("shape", "9x9+9x5x9"), ("halo", "1x1+1x0x1")]), None);
}

#[test]
fn grids_and_bytes_that_do_not_fit_are_refused() {
    let refusal = |name: &str, ranks, dims: &[usize], changes: &[(&str, &str)]| {
        let test = halo::find(name).unwrap();
        let dims = (!dims.is_empty()).then(|| dims.to_vec());
        let built = values(test, changes)
            .and_then(|values| test.build(&values, HaloContext { ranks, periodic: true, dims, seed: 1 }));
        built.err().expect("refused").to_string()
    };
    assert_eq!(
        refusal("nas_lu", 4, &[3, 2], &[]),
        "parameter grid = 3x2: must have 4 ranks, as many as the run; it has 6"
    );
    assert_eq!(
        refusal("nas_lu", 6, &[3, 2, 1], &[]),
        "parameter grid = 3x2x1: must have 2 numbers, one for each dimension of the grid"
    );
    assert_eq!(
        refusal("layout", 6, &[3, 2], &[]),
        "parameter grid = 3x2: must have 1 number, one for each dimension of the grid"
    );
    assert_eq!(
        refusal("subarray", 7, &[3, 2, 1], &[]),
        "parameter grid = 3x2x1: must have 7 ranks, as many as the run; it has 6"
    );
    assert_eq!(
        refusal("fft2d", 4, &[2, 2], &[]),
        "parameter grid = 2x2: the ranks of fft2d are not on a grid; leave it out"
    );
    assert_eq!(
        refusal("nas_lu", 4, &[usize::MAX, 2], &[]),
        format!("parameter grid = {}x2: must have 4 ranks, as many as the run; it has more", usize::MAX)
    );
    let bytes = |name, text| refusal(name, 8, &[], &[("bytes", text)]);
    assert_eq!(bytes("stencil7", "10"), "parameter bytes = 10: must be a multiple of 8; 16 is");
    assert_eq!(bytes("stencil7", "8x0x8"), "parameter bytes = 8x0x8: must be from 1 to 2147483647");
    assert_eq!(
        bytes("stencil7", "8x16"),
        "parameter bytes = 8x16: must be one number, or three for z, y and x, joined by x"
    );
    assert_eq!(
        bytes("stencil27", "8x16x8"),
        "parameter bytes = 8x16x8: must be one number: edges and corners belong to no dimension"
    );
    assert!(bytes("stencil7", "-8").starts_with("parameter bytes = -8: must be a whole number"));
}

#[test]
fn the_grid_of_an_array_is_in_the_order_of_its_shape() {
    let dims = |order| {
        let test = halo::find("subarray").unwrap();
        let context = HaloContext { ranks: 6, periodic: true, dims: Some(vec![3, 2]), seed: 1 };
        let values = values(test, &[("shape", "9x8x5"), ("halo", "1x1x0"), ("order", order)]).unwrap();
        test.build(&values, context).unwrap().grid().unwrap().dims().to_vec()
    };
    assert_eq!((dims("c"), dims("fortran")), (vec![3, 2], vec![2, 3]));
}

/// The exchange of any layout with these values.
fn layout(
    changes: &[(&str, &str)],
    ranks: usize,
    periodic: bool,
) -> Result<Box<dyn HaloApp>, ParameterError> {
    let test = halo::find("layout").unwrap();
    test.build(&values(test, changes)?, HaloContext { ranks, periodic, dims: None, seed: 1 })
}

#[test]
fn a_layout_goes_to_the_neighbours_that_are_named() {
    let peers = |neighbours: &str, ranks, periodic, rank| {
        let app = layout(&[("neighbours", neighbours)], ranks, periodic).unwrap();
        let stage = app.stages(rank).remove(0);
        [stage.sends, stage.receives].map(|list| list.iter().map(|t| t.peer).collect::<Vec<_>>())
    };
    assert_eq!(peers("both", 4, true, 0), [[3, 1], [1, 3]]);
    assert_eq!(peers("both", 4, false, 0), [[1], [1]]);
    assert_eq!(peers("both", 2, true, 1), [[0, 0], [0, 0]]);
    assert_eq!(peers("both", 1, true, 0), [[0, 0], [0, 0]]);
    assert_eq!(peers("next", 4, true, 0), [[1], [3]]);
    assert_eq!(peers("next", 4, false, 0), [vec![1], vec![]]);
    assert_eq!(peers("faces2d", 4, true, 3), [[1, 1, 2, 2], [1, 1, 2, 2]]);
    assert_eq!(peers("faces3d", 8, false, 7), [[3, 5, 6], [3, 5, 6]]);
    assert_eq!(peers("all", 3, false, 1), [[1, 2, 0], [1, 0, 2]]);
}

#[test]
fn arrays_of_a_layout_have_elements_that_its_values_are_made_of_at_both_ends() {
    let element = |send: &str, receive: &str| {
        let app = layout(&[("send", send), ("receive", receive)], 2, true).unwrap();
        let mut elements: Vec<_> = app.arrays(0).iter().map(|spec| spec.element).collect();
        elements.dedup();
        elements
    };
    assert_eq!(element("vector(2, 1, 3, double)", "send"), [Element::Double]);
    assert_eq!(element("double + int32", "send"), [Element::Uint32]);
    assert_eq!(element("contiguous(2, double)", "hvector(2, 1, 10, double)"), [Element::Uint16]);
    assert_eq!(element("contiguous(2, double)", "hvector(2, 1, 9, double)"), [Element::Byte]);
    assert_eq!(element("double_complex", "double_complex @ 8"), [Element::Uint64]);
}

#[test]
fn layouts_are_refused_as_those_of_a_ping_pong_are() {
    let test = ddtbench_apps::find("layout").unwrap();
    for changes in [
        [("send", "vector(3, 2, 1, double)"), ("receive", "send")],
        [("send", "contiguous(3, double)"), ("receive", "contiguous(3, int64)")],
        [("send", "contiguous(3, double)"), ("receive", "contiguous(2, double)")],
        [("send", "vector(3, 1, -4, double) @ 8"), ("receive", "contiguous(3, double)")],
    ] {
        let refused = layout(&changes, 2, true).err().expect("refused");
        assert_eq!(
            Some(refused),
            test.build(&values(test, &changes).unwrap(), ddtbench_apps::Context::default()).err()
        );
    }
    let huge = layout(&[("send", "hvector(2, 1, 4611686018427387904, double)")], 2, true).err();
    assert!(huge.unwrap().to_string().ends_with("larger than an address space"));
}

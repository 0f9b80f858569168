//! Values that users give to exchanges: their own arrays and layouts, and values that exchanges must refuse.

use datatypes::Element;
use ddtbench_apps::halo::HaloContext;

use crate::{exchange, lines, rows};

#[test]
fn what_an_exchange_cannot_have_is_refused() {
    for row in lines(include_str!("tables/halo_refused.txt")) {
        let (given, message) = row.split_once(" => ").unwrap();
        let (name, mut changes) = rows(given).next().unwrap();
        let mut context = HaloContext::periodic(8);
        changes.retain(|(name, value)| {
            match *name {
                "ranks" => context.ranks = value.parse().unwrap(),
                "grid" => context.dims = Some(value.split('x').map(|n| n.parse().unwrap()).collect()),
                _ => return true,
            }
            false
        });
        let refused = exchange(name, &changes, context).err().expect(row).to_string();
        assert!(refused.contains(message), "{row}: {refused}");
    }
    let halos = [("shape", "9x9+9x5x9"), ("halo", "1x1+1x0x1")];
    assert!(exchange("subarray", &halos, HaloContext::periodic(8)).is_ok());
}

#[test]
fn the_grid_of_an_array_is_in_the_order_of_its_shape() {
    let dims = |order| {
        let context = HaloContext { dims: Some(vec![3, 2]), ..HaloContext::periodic(6) };
        let changes = [("shape", "9x8x5"), ("halo", "1x1x0"), ("order", order)];
        exchange("subarray", &changes, context).unwrap().grid().unwrap().dims.clone()
    };
    assert_eq!((dims("c"), dims("fortran")), (vec![3, 2], vec![2, 3]));
}

#[test]
fn a_layout_goes_to_the_neighbours_that_are_named() {
    for row in lines(include_str!("tables/neighbours.txt")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [neighbours, ranks, periodic, rank, expected] = cells[..] else { panic!("{row}") };
        let context =
            HaloContext { periodic: periodic == "true", ..HaloContext::periodic(ranks.parse().unwrap()) };
        let app = exchange("layout", &[("neighbours", neighbours)], context).unwrap();
        let stage = app.stages(rank.parse().unwrap()).remove(0);
        let peers = [stage.sends, stage.receives].map(|list| list.iter().map(|t| t.peer).collect::<Vec<_>>());
        assert_eq!(format!("{peers:?}"), expected, "{row}");
    }
}

#[test]
fn arrays_of_a_layout_have_elements_that_its_values_are_made_of_at_both_ends() {
    let element = |send: &str, receive: &str| {
        let changes = [("send", send), ("receive", receive)];
        let app = exchange("layout", &changes, HaloContext::periodic(2)).unwrap();
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

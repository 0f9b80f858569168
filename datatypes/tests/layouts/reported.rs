//! Bounds that MPIs report.

use ddtbench_datatypes::unusual::unusual_layout;
use ddtbench_datatypes::{Equivalent, Layout, LowerAndExtent, Reported};

use crate::properties::assert_agrees;
use crate::visit;

/// The rows of a table: a layout, a lower bound with an extent, and the last column.
fn rows(table: &'static str) -> impl Iterator<Item = (Layout, LowerAndExtent, &'static str)> {
    table.lines().filter(|row| !row.starts_with('#')).map(|row| {
        let [text, bounds, last] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        (text.parse().unwrap(), lower_and_extent(bounds), last)
    })
}

fn lower_and_extent(text: &str) -> LowerAndExtent {
    let (lower, extent) = text.split_once(' ').unwrap();
    (lower.parse().unwrap(), extent.parse().unwrap())
}

#[test]
fn what_the_standard_leaves_open_is_accepted_and_nothing_else() {
    for (layout, (lower_bound, extent), allowed) in rows(include_str!("allowed_bounds.txt")) {
        let reported = Reported { lower_bound, extent, ..Reported::from_layout(&layout) };
        let fault = reported.fault(&layout);
        assert_eq!(fault.is_none(), allowed == "yes", "{}: {lower_bound}, {extent}", layout.to_text());
    }
}

#[test]
fn a_wrong_size_or_true_extent_is_a_fault() {
    let layout: Layout = "resized(-4, 16, int32)".parse().unwrap();
    let right = Reported::from_layout(&layout);
    assert!(Reported { size: 8, ..right }.fault(&layout).unwrap().contains("gives 8 instead of 4"));
    assert!(Reported { true_extent: 3, ..right }.fault(&layout).unwrap().contains("true_extent"));
}

#[test]
fn known_mpis_are_read_as_their_c_programs_report() {
    for (layout, mpich, open_mpi) in rows(include_str!("known_bounds.txt")) {
        let (open_mpi, readings) = (lower_and_extent(open_mpi), layout.readings());
        let of = |mpi: &str| {
            let found = readings.iter().find(|(names, _)| names.contains(mpi));
            Reported::from_layout(found.map_or(&layout, |(_, read)| read)).bounds()
        };
        let found = [of("MPICH"), of("Intel MPI"), of("Open MPI")];
        assert_eq!(found, [mpich, mpich, open_mpi], "{}", layout.to_text());
        let own = Reported::from_layout(&layout).bounds();
        assert_eq!(readings.is_empty(), [mpich, open_mpi] == [own; 2], "{}", layout.to_text());
    }
}

#[test]
fn explicit_bounds_around_a_type_end_the_warning_if_its_data_is_not_repeated() {
    let parsed = |text: String| text.parse::<Layout>().unwrap();
    let mixed = "struct([1, 1], [0, 32], [contiguous(16, byte), subarray([5], [4], [1], c, int)])";
    let several = |layout: &Layout| {
        layout.read_in_several_ways().iter().map(|(part, _)| part.to_text()).collect::<Vec<_>>()
    };
    let twice = parsed(format!("resized(0, 128, contiguous(2, {mixed}))"));
    assert_eq!(several(&twice), [parsed(mixed.to_owned()).to_text()]);
    assert!(!twice.has_same_places_everywhere() && parsed(mixed.to_owned()).has_same_places_everywhere());
    assert_eq!(several(&parsed(format!("contiguous(2, resized(0, 64, {mixed}))"))), [""; 0]);
    assert_eq!(several(&parsed("vector(408, 5, 2050, double)".to_owned())), [""; 0]);
}

/// All that measures takes a layout's bounds as these readings do: from the inside out, each if it is allowed for the children's.
#[test]
fn readings_are_allowed_and_agree_with_the_type_map() {
    let own = |layout: &Layout| -> LowerAndExtent { Reported::from_layout(layout).bounds() };
    let (mut several, mut elsewhere) = (0, 0);
    for seed in 0..4000 {
        let layout = unusual_layout(seed, 1 + (seed % 4) as u32);
        let readings = layout.readings();
        several += u32::from(!readings.is_empty());
        elsewhere += u32::from(!layout.has_same_places_everywhere());
        for (names, read) in readings {
            let name = format!("{names}: {}", layout.to_text());
            assert_agrees(&read, &name);
            visit(&read, &mut |node| {
                let children = node.constructor().children();
                let unread =
                    if children.is_empty() { node.clone() } else { node.with_children(children).unwrap() };
                let (lower_bound, extent) = own(node);
                let reported = Reported { lower_bound, extent, ..Reported::from_layout(&unread) };
                assert_eq!(reported.fault(&unread), None, "{name}");
            });
            let explicit: Layout = read.with_resized().to_text().parse().unwrap();
            assert!(explicit.is_same_type(&read), "{name}");
        }
    }
    assert!(several > 400 && elsewhere > 50, "{several}, {elsewhere}");
}

/// Other descriptions of an MPI's bytes are the same bytes on this MPI: each is made by the same constructors there.
#[test]
fn other_descriptions_are_the_same_type_on_the_mpi_that_reported_the_bounds() {
    fn unread(layout: &Layout) -> Layout {
        let children: Vec<Layout> = layout.constructor().children().iter().map(unread).collect();
        layout.with_children(&children).unwrap_or_else(|| layout.clone())
    }
    let mut compared = 0;
    for seed in 0..1500 {
        let layout = unusual_layout(seed, 1 + (seed % 4) as u32);
        for (names, read) in layout.readings() {
            let Some(mpi) = ["MPICH", "Open MPI"].into_iter().find(|mpi| names.contains(mpi)) else {
                continue;
            };
            for (way, other) in Equivalent::all_of(&read) {
                let made = unread(&other);
                let again = made.readings().into_iter().find(|(known, _)| known.contains(mpi));
                let again = again.map_or(made, |(_, again)| again);
                let (found, expected) = (again.segments(), read.segments());
                assert!(found.eq(expected), "{names}, {way:?}: {} as {}", layout.to_text(), other.to_text());
                if way.keeps_bounds() {
                    let bounds = |layout: &Layout| Reported::from_layout(layout).bounds();
                    assert_eq!(bounds(&again), bounds(&read), "{names}, {way:?}: {}", layout.to_text());
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

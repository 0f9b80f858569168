//! Bounds that MPIs report.

use ddtbench_datatypes::unusual::unusual_layout;
use ddtbench_datatypes::{Equivalent, Layout, LowerAndExtent, Reported};

use crate::properties::assert_agrees;
use crate::visit;

fn fault(text: &str, lower_bound: i64, extent: i64) -> Option<String> {
    let layout: Layout = text.parse().unwrap();
    Reported { lower_bound, extent, ..Reported::from_layout(&layout) }.fault(&layout)
}

#[test]
fn what_the_standard_leaves_open_is_accepted_and_nothing_else() {
    let rounded = "struct([1, 1], [0, 4], [int32, byte])";
    for (extent, is_right) in [(5, true), (8, true), (6, false), (12, false), (4, false)] {
        assert_eq!(fault(rounded, 0, extent).is_none(), is_right, "{extent}");
    }
    let sticky = "struct([1, 1], [0, 8], [resized(0, 2, byte), int32])";
    for (lower, extent, is_right) in [(0, 2, true), (0, 12, true), (0, 9, false), (1, 2, false)] {
        assert_eq!(fault(sticky, lower, extent).is_none(), is_right, "{lower}, {extent}");
    }
    for (extent, is_right) in [(20, true), (16, false), (24, false)] {
        assert_eq!(fault("vector(3, 1, 2, int32)", 0, extent).is_none(), is_right, "{extent}");
    }
    for (extent, is_right) in [(200, true), (104, false)] {
        let copies = "contiguous(2, resized(0, 100, int32))";
        assert_eq!(fault(copies, 0, extent).is_none(), is_right, "{extent}");
    }
    assert!(fault("resized(0, 5, int32)", 0, 8).is_some());
    assert_eq!(fault("contiguous(0, int32)", 3, 8), None, "no data");
}

#[test]
fn a_wrong_size_or_true_extent_is_a_fault() {
    let layout: Layout = "resized(-4, 16, int32)".parse().unwrap();
    let right = Reported::from_layout(&layout);
    assert!(Reported { size: 8, ..right }.fault(&layout).unwrap().contains("gives 8 instead of 4"));
    assert!(Reported { true_extent: 3, ..right }.fault(&layout).unwrap().contains("true_extent"));
}

/// Values of C programs with MPICH 5.0.2 and Intel MPI 2021.18.1, which agree, and with Open MPI 5.0.11.
#[test]
fn known_mpis_are_read_as_their_c_programs_report() {
    let mixed = "struct([1, 1], [0, 32], [contiguous(16, byte), subarray([5], [4], [1], c, int)])";
    let unaligned = "hindexed([1, 1], [0, 5], int32)";
    let distributed = "struct([1, 2], [0, 160], [darray(2, 0, [4, 4], [block, block], [default, default], [2, 1], c, double), double])";
    for (text, mpich, open_mpi) in [
        (mixed.to_owned(), (0, 52), (32, 20)),
        ("struct([1, 1], [0, 8], [resized(0, 2, byte), int32])".to_owned(), (0, 12), (0, 2)),
        (unaligned.to_owned(), (0, 9), (0, 12)),
        (format!("contiguous(3, {unaligned})"), (0, 27), (0, 36)),
        (distributed.to_owned(), (0, 176), (0, 128)),
        (format!("vector(3, 1, 2, {mixed})"), (0, 260), (32, 100)),
        ("struct([1, 2], [0, 1], [struct([], [], []), char])".to_owned(), (0, 3), (0, 3)),
        ("struct([1, 1], [0, 4], [int32, byte])".to_owned(), (0, 8), (0, 8)),
        (format!("resized(0, 64, {mixed})"), (0, 64), (0, 64)),
    ] {
        let layout: Layout = text.parse().unwrap();
        let readings = layout.readings();
        let of = |mpi: &str| {
            let found = readings.iter().find(|(names, _)| names.contains(mpi));
            Reported::from_layout(found.map_or(&layout, |(_, read)| read)).bounds()
        };
        assert_eq!([of("MPICH"), of("Intel MPI"), of("Open MPI")], [mpich, mpich, open_mpi], "{text}");
        assert_eq!(
            readings.is_empty(),
            [mpich, open_mpi] == [Reported::from_layout(&layout).bounds(); 2],
            "{text}"
        );
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

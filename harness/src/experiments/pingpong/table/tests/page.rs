//! Pages of ping-pongs.

use super::*;

#[test]
fn a_page_has_every_method_its_figures_and_its_notes() {
    let page = html(&TABLE_FORMAT, &sample(), &[], "{\"cpu\": \"<b>\"}", &Compared::default());
    for text in ["wrf_x_vec", "ims=4 ime=27", "80.0 µs", "47%", "[45, 49]", "2.57 GB&#x2f;s", "time limit"] {
        assert!(page.contains(text), "{text} is missing");
    }
    assert!(page.contains("put_ddt wrong data: rank 1, byte 8"));
    assert!(
        page.contains("manual is 2.00 [1.91, 2.10] times as fast as ddt")
            && page.contains("<td>unsteady</td>")
    );
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "text is escaped");
    assert!(!page.contains("http"), "the page needs nothing else");
}

#[test]
fn a_page_shows_that_threads_shared_cores() {
    let mut records = sample();
    assert!(!html(&TABLE_FORMAT, &records, &[], "", &Compared::default()).contains("Oversubscribed"));
    (records[0].runnable_threads, records[0].cores) = (Some(8), Some(2));
    let page = html(&TABLE_FORMAT, &records, &[], "", &Compared::default());
    assert!(page.contains("Oversubscribed") && page.contains("8 runnable threads on 2 cores"), "{page}");
}

/// Widths in format strings are limited to 65,535.
#[test]
fn a_cell_may_be_of_any_length() {
    let long = "x".repeat(70_000);
    let change: [fn(&mut Record, &str); 5] = [
        |record, long| record.case_mut().test = long.to_owned(),
        |record, long| record.case_mut().params = format!("nx={long}"),
        |record, long| record.case_mut().mpi = long.to_owned(),
        |record, long| record.method = long.to_owned(),
        |record, long| record.outcome = Outcome::Crashed { detail: long.to_owned() },
    ];
    for change in change {
        let mut records = sample();
        change(&mut records[0], &long);
        let page = html(&TABLE_FORMAT, &records, &[], "", &Compared::default());
        assert!(page.contains(&long) && table(&records, None).contains(&long));
        for width in [None, Some(80)] {
            assert!(!answer(&records, width).is_empty() && !table(&records, width).is_empty());
        }
    }
}

//! Prepares an exchange for measuring.

use super::{HaloCase, message, methods, rank_bytes};
use crate::experiments::planned::{PlannedCase, set_name};
use crate::experiments::{Context, Prepared, ProcessSettings};

/// If any rank sends to itself, this one does.
const FIRST: usize = 0;

/// The exchange with all values, for these methods.
///
/// # Errors
/// If a test, set or parameter is unknown, or a value or the number of ranks is invalid.
pub fn prepare(planned: &PlannedCase, methods: &[String], setup: Context) -> Result<Prepared, String> {
    let case = HaloCase::parse(&planned.test, planned.named_set(), &planned.params)?;
    let app = case.build(setup.ranks, setup.seed)?;
    let sends_to_itself =
        app.stages(FIRST).into_iter().flat_map(|stage| stage.sends).any(|send| send.peer == FIRST);
    let threads = case.setting.threads;
    let checks = |method: &String| {
        let mut checks = methods::find(method).map_or(Vec::new(), |method| method.checks.concat());
        checks.retain(|check| match *check {
            "pready_threads" => threads > 1,
            "self_communication" => sends_to_itself,
            _ => true,
        });
        (method.clone(), checks)
    };
    let lack = |method: &String| Some((method.clone(), methods::lack(&*app, setup.ranks, method)?));
    let lacking = methods.iter().filter_map(lack).collect();
    let set = Some(set_name(case.test, planned.set.as_deref(), &case.values));
    let planned = PlannedCase { test: case.test.name.to_owned(), set, ..planned.clone() }.with(case.pairs());
    let (message, rank_bytes) = (message(&*app, setup.ranks), rank_bytes(&*app, setup.ranks));
    Ok(Prepared {
        process_settings: ProcessSettings { threads, ..ProcessSettings::default() },
        lacking,
        required_checks: methods.iter().map(checks).collect(),
        ..Prepared::new(planned, case.to_string(), move || message, rank_bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::layout_file;

    #[test]
    fn a_layout_has_its_name_and_the_methods_that_need_no_loop_written_by_hand() {
        let planned =
            layout_file::case("vector(8, 1, 4, double)", &datatypes::Definitions::default()).unwrap();
        let names = methods::methods().iter().map(|method| method.name).chain(["aggregated:bins=2"]);
        let methods: Vec<String> = names.map(str::to_owned).collect();
        let prepared = prepare(&planned, &methods, Context { ranks: 4, seed: 1 }).unwrap();
        assert!(prepared.lacking.keys().eq(["manual", "manual_tuned"]));
        assert_eq!(
            prepared.lacks(&["manual".to_owned(), "ddt".to_owned()]),
            ["manual (it has no hand-written loops; use loop instead)"]
        );
        let again = prepare(&prepared.planned, &methods, Context { ranks: 4, seed: 1 }).unwrap();
        assert_eq!(again.planned, prepared.planned);
        assert_eq!(again.planned.set.as_deref(), Some("vector(8,1,4,double)"));
        assert_eq!(
            again.params,
            "name=unnamed send=vector(8,1,4,double) receive=send neighbours=both threads=1"
        );
        // 8 doubles to each of two neighbours.
        assert_eq!((again.message.bytes, again.message.segments), (128, 16));
    }

    #[test]
    fn messages_between_other_ranks_than_neighbours_on_a_grid_lack_a_method() {
        let lacks = |test: &str| {
            let case = PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
            let methods = ["neighbor_alltoallw", "neighbor_alltoallw:cart"].map(str::to_owned);
            prepare(&case, &methods, Context { ranks: 4, seed: 1 }).unwrap().lacks(&methods)
        };
        for test in ["wrf_vec", "milc", "nas_mg", "nas_lu", "lammps_full", "stencil7", "subarray", "layout"] {
            assert!(lacks(test).is_empty(), "{test}");
        }
        let reason = "not all of its messages go to the next rank along one dimension of a grid";
        for test in ["fft2d", "specfem3d_mt", "specfem3d_oc", "stencil27"] {
            assert_eq!(lacks(test), [format!("neighbor_alltoallw:cart ({reason})")], "{test}");
        }
    }

    #[test]
    fn messages_rest_on_no_check_and_a_rank_that_sends_to_itself_on_one_more() {
        let checks = |threads: &str, periodic: &str, method: &str| {
            let params = [("threads", threads.to_owned()), ("periodic", periodic.to_owned())];
            let case = PlannedCase { test: "nas_mg".to_owned(), ..PlannedCase::default() }.with(params);
            let prepared = prepare(&case, &[method.to_owned()], Context { ranks: 2, seed: 1 }).unwrap();
            prepared.checks(method).to_vec()
        };
        assert!(checks("4", "yes", "ddt").is_empty());
        let requests = checks("1", "no", "partitioned");
        assert_eq!((requests.len(), requests[1]), (5, "ring"));
        assert_eq!(checks("1", "yes", "partitioned")[5..], ["self_communication"]);
        assert_eq!(checks("2", "no", "partitioned_ddt")[5..], ["datatype_with_gaps", "pready_threads"]);
    }
}

//! Sizes that take requested times: found once, on the first MPI of a run, and then the same for all launches, MPIs and sides of
//! a comparison. The stored plan contains them, so that a resumed or repeated run does the same work.

use super::LEAST_US;
use super::operations::Traffic;
use super::{OverlapCase, PARAMETERS};
use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::{Context, Prepared, ProcessSettings};
use crate::model::calibration::{CalibratedSize, SizeOf};
use common::parameter;

/// The cases of a plan, and the requests that find their sizes.
#[derive(Debug)]
pub struct OverlapCalibration {
    cases: Vec<(PlannedCase, OverlapCase)>,
    requests: Vec<Request>,
}

/// The work of one process: the bytes of one communication for some times, and the matrix sizes of one computation.
#[derive(Clone, Debug)]
struct Request {
    /// The case without the times and sizes to find.
    base: PlannedCase,
    traffic: String,
    threads: usize,
    communication_us: Vec<f64>,
    computation_us: Vec<f64>,
    /// Whether the computation must take as long as the communication.
    as_long: bool,
}

impl OverlapCalibration {
    /// `None` if no case lacks sizes.
    pub fn from_cases(cases: &[PlannedCase]) -> Option<Self> {
        let parsed =
            |case: &PlannedCase| OverlapCase::parse(&case.test, case.set.as_deref(), case.given()).ok();
        let cases: Vec<_> = cases.iter().filter_map(|case| Some((case.clone(), parsed(case)?))).collect();
        let mut requests: Vec<Request> = Vec::new();
        for (planned, case) in cases.iter().filter(|(_, case)| case.needs_calibration()) {
            let (traffic, threads) = (traffic_of(planned), case.setting.threads);
            let known = requests
                .iter()
                .position(|request| (&request.traffic, request.threads) == (&traffic, threads));
            let place = known.unwrap_or_else(|| {
                requests.push(Request {
                    base: without_sizes(planned),
                    traffic,
                    threads,
                    communication_us: Vec::new(),
                    computation_us: Vec::new(),
                    as_long: false,
                });
                requests.len() - 1
            });
            if let Some(time) = case.setting.communication_us.filter(|_| case.needs_bytes()) {
                add(&mut requests[place].communication_us, time);
            }
            if case.setting.matrix_order.is_some() {
                continue;
            }
            match case.setting.computation_us {
                // The same computation is used for all tests.
                Some(time) => {
                    let is_asked = |request: &Request| {
                        request.threads == threads && request.computation_us.contains(&time)
                    };
                    if !requests.iter().any(is_asked) {
                        add(&mut requests[place].computation_us, time);
                    }
                }
                None => requests[place].as_long = true,
            }
        }
        // Times increase, so that each search starts with the results of the previous one.
        for request in &mut requests {
            request.communication_us.sort_by(f64::total_cmp);
            request.computation_us.sort_by(f64::total_cmp);
        }
        (!requests.is_empty()).then_some(Self { cases, requests })
    }
}

impl Request {
    fn prepare(&self, methods: &[String], setup: Context) -> Result<Prepared, String> {
        let mut case = super::prepared::prepare(&self.base, methods, setup)?;
        // A reserved core or a progress thread is not needed here.
        let ProcessSettings { threads, .. } = case.process_settings;
        case.process_settings = ProcessSettings { threads, ..ProcessSettings::default() };
        case.arguments.push("--calibrate".to_owned());
        for (name, times_us) in
            [("--communication-s", &self.communication_us), ("--computation-s", &self.computation_us)]
        {
            if !times_us.is_empty() {
                let times: Vec<String> = times_us.iter().map(|time| (time * 1e-6).to_string()).collect();
                case.arguments.extend([name.to_owned(), times.join(",")]);
            }
        }
        if self.as_long {
            case.arguments.push("--as-long".to_owned());
        }
        Ok(case)
    }
}

fn add(times: &mut Vec<f64>, time: f64) {
    if !times.contains(&time) {
        times.push(time);
    }
}

/// Identifies a communication: the test, and the values of the micro-app or the type of the numbers.
fn traffic_of(case: &PlannedCase) -> String {
    let is_own = |name: &str| {
        let is_sized = Traffic::find(&case.test, None).is_ok_and(|traffic| traffic.is_sized());
        // Numbers of another type take another time.
        name != "element" && parameter::place(PARAMETERS, name).is_some() && (name != "bytes" || is_sized)
    };
    let values = case.given().filter(|(name, _)| !is_own(name)).map(|(name, value)| (name, value.to_owned()));
    format!("{} {}", case.test, parameter::joined(values))
}

/// The case without values that are found or irrelevant here.
fn without_sizes(case: &PlannedCase) -> PlannedCase {
    const LEFT_OUT: &str =
        "communication_us computation_us matrix_order rim_percent test_every_us configuration";
    let mut base = case.clone();
    base.params.retain(|name, _| !LEFT_OUT.split_whitespace().any(|other| other == name));
    base
}

impl OverlapCalibration {
    /// The cases of the processes that find sizes.
    ///
    /// # Errors
    /// If a case is invalid.
    pub fn requests(&self, methods: &[String], setup: Context) -> Result<Vec<Prepared>, String> {
        self.requests.iter().map(|request| request.prepare(methods, setup)).collect()
    }

    /// The cases with the sizes that each process found, and notes on those that are left out.
    pub fn frozen(&self, sizes: &[Vec<CalibratedSize>]) -> Selected {
        let mut selected = Selected::default();
        for (planned, case) in &self.cases {
            match self.with_sizes(planned, case, sizes) {
                Ok(case) => selected.add(case),
                Err(note) => selected.notes.push(note),
            }
        }
        selected
    }

    /// The case with its sizes, or why it has none.
    fn with_sizes(
        &self,
        planned: &PlannedCase,
        case: &OverlapCase,
        sizes: &[Vec<CalibratedSize>],
    ) -> Result<PlannedCase, String> {
        let (traffic, threads) = (traffic_of(planned), case.setting.threads);
        let of_traffic = |request: &Request| request.traffic == traffic && request.threads == threads;
        let mine = || {
            let of = self.requests.iter().zip(sizes).filter(|(request, _)| of_traffic(request));
            of.flat_map(|(_, sizes)| sizes)
        };
        let of_threads = || {
            let of = self.requests.iter().zip(sizes).filter(|(request, _)| request.threads == threads);
            of.flat_map(|(_, sizes)| sizes)
        };
        let at = |time_us: f64| {
            move |size: &&CalibratedSize| (size.target_s * 1e6 - time_us).abs() < 1e-6 * time_us
        };
        let mut frozen = planned.clone();
        let mut set = |name: &str, value: String| frozen.params.insert(name.to_owned(), value);
        if let Some(time) = case.setting.communication_us.filter(|_| case.needs_bytes()) {
            let size = mine().filter(|size| size.of == SizeOf::Bytes).find(at(time));
            set("bytes", found(planned, "bytes", time, size)?.size.to_string());
        }
        if case.setting.matrix_order.is_some() {
            return Ok(frozen);
        }
        let time = match case.setting.computation_us {
            Some(time) => time,
            None => {
                let message = mine().find(|size| size.of == SizeOf::Message);
                let message =
                    message.ok_or_else(|| left_out(planned, "the time of its communication is unknown"))?;
                // Rounded to a nanosecond, and at least the shortest valid time.
                let time = ((message.time_s * 1e9).round() / 1e3).max(LEAST_US);
                set("computation_us", time.to_string());
                time
            }
        };
        let size = of_threads().filter(|size| size.of == SizeOf::MatrixOrder).find(at(time));
        set("matrix_order", found(planned, "matrices", time, size)?.size.to_string());
        Ok(frozen)
    }
}

/// A size that was found, or why the case is left out.
fn found<'a>(
    case: &PlannedCase,
    what: &str,
    time_us: f64,
    size: Option<&'a CalibratedSize>,
) -> Result<&'a CalibratedSize, String> {
    match size {
        Some(size) if size.is_found => Ok(size),
        Some(size) => Err(left_out(
            case,
            &format!(
                "no {what} take {time_us} us; the nearest, {}, take {:.0} us",
                size.size,
                size.time_s * 1e6
            ),
        )),
        None => Err(left_out(case, &format!("no {what} were found for {time_us} us"))),
    }
}

fn left_out(case: &PlannedCase, why: &str) -> String {
    let params = parameter::joined(case.given().map(|(name, value)| (name, value.to_owned())));
    format!("left out: {} {params}: {why}", case.test)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(test: &str, params: &[(&str, &str)]) -> PlannedCase {
        let params = params.iter().map(|&(name, value)| (name, value.to_owned()));
        PlannedCase { test: test.to_owned(), ..PlannedCase::default() }.with(params)
    }

    fn size(of: SizeOf, target_s: f64, size: u64) -> CalibratedSize {
        CalibratedSize { of, target_s, size, time_s: target_s * 1.05, is_found: true }
    }

    const GRID: [[(&str, &str); 2]; 2] = [
        [("communication_us", "1000"), ("computation_us", "4000")],
        [("communication_us", "4000"), ("computation_us", "1000")],
    ];

    #[test]
    fn a_process_for_each_communication_and_each_computation_once() {
        let cases = [
            case("ibcast", &GRID[0]),
            case("ibcast", &GRID[1]),
            case("isend", &GRID[0]),
            case("nas_lu_y", &[]),
        ];
        let calibration = OverlapCalibration::from_cases(&cases).unwrap();
        let requests = calibration.requests(&[], Context { ranks: 2, seed: 1 }).unwrap();
        let tails: Vec<String> = requests
            .iter()
            .map(|request| {
                let arguments = &request.arguments;
                let start = arguments.iter().position(|word| word == "--calibrate").unwrap();
                format!("{} {}", arguments[0], arguments[start + 1..].join(" "))
            })
            .collect();
        let expected = [
            "ibcast --communication-s 0.001,0.004 --computation-s 0.001,0.004",
            "isend --communication-s 0.001",
            "nas_lu_y --as-long",
        ];
        assert_eq!(tails, expected);
        let frozen = [case("ibcast", &[("bytes", "8"), ("matrix_order", "8")])];
        assert!(OverlapCalibration::from_cases(&frozen).is_none());
    }

    #[test]
    fn sizes_enter_the_plan_and_missing_ones_are_reported() {
        let cases = [case("ibcast", &GRID[0]), case("ibcast", &GRID[1]), case("nas_lu_y", &[])];
        let calibration = OverlapCalibration::from_cases(&cases).unwrap();
        let missed = CalibratedSize { is_found: false, ..size(SizeOf::Bytes, 4e-3, 9000) };
        let message = CalibratedSize { time_s: 30e-6, ..size(SizeOf::Message, 0.0, 16_000) };
        let sizes = [
            vec![
                size(SizeOf::Bytes, 1e-3, 3000),
                missed,
                size(SizeOf::MatrixOrder, 1e-3, 90),
                size(SizeOf::MatrixOrder, 4e-3, 160),
            ],
            vec![message, size(SizeOf::MatrixOrder, 30e-6, 30)],
        ];
        let selected = calibration.frozen(&sizes);
        let params = |case: &PlannedCase| {
            let given = case.given().map(|(name, value)| (name, value.to_owned()));
            parameter::joined(given)
        };
        let all: Vec<String> = selected.cases.iter().map(params).collect();
        assert_eq!(
            all,
            [
                "bytes=3000 communication_us=1000 computation_us=4000 matrix_order=160",
                "computation_us=30 matrix_order=30"
            ]
        );
        assert!(
            selected.notes[0].contains("no bytes take 4000 us") && selected.notes.len() == 1,
            "{:?}",
            selected.notes
        );
        assert!(OverlapCalibration::from_cases(&selected.cases).is_none(), "nothing is left to be found");
    }
}

//! An exchange, ready to be measured.

use super::{HaloCase, message, methods, rank_bytes};
use crate::experiments::planned::{PlannedCase, Text, check_lengths, set_name};
use crate::experiments::{Context, Prepared, ProcessSettings};
use crate::model::event::MessageFacts;

/// A rank that sends to itself where any does.
const FIRST: usize = 0;

/// An exchange with its values, and what was learnt of it when it was built.
#[derive(Debug)]
pub struct PreparedExchange {
    planned: PlannedCase,
    case: HaloCase,
    message: MessageFacts,
    rank_bytes: Option<u64>,
    /// Whether a rank is its own neighbour.
    sends_to_itself: bool,
    /// Whether loops were written for it by hand.
    has_loops: bool,
}

impl PreparedExchange {
    /// That of a planned case.
    ///
    /// # Errors
    /// An unknown test, set or parameter, a value that cannot be, or ranks that it cannot have.
    pub fn of(planned: &PlannedCase, setup: Context) -> Result<Self, String> {
        let params = planned.given().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        let case = HaloCase::parse(&planned.test, planned.named_set(), &params)?;
        check_lengths(&case.values)?;
        let app = case.build(setup.ranks, setup.seed)?;
        let mut sends = app.stages(FIRST).into_iter().flat_map(|stage| stage.sends);
        Ok(Self {
            planned: PlannedCase {
                set: Some(set_name(case.test, planned.set.as_deref(), &case.values)),
                params: case.pairs().into_iter().map(|(name, value)| (name, Text(value))).collect(),
                ..planned.clone()
            },
            message: message(&*app, setup.ranks),
            rank_bytes: rank_bytes(&*app, setup.ranks),
            has_loops: app.has_loops(),
            sends_to_itself: sends.any(|send| send.peer == FIRST),
            case,
        })
    }
}

impl Prepared for PreparedExchange {
    fn planned(&self) -> PlannedCase {
        self.planned.clone()
    }

    fn params(&self) -> String {
        self.case.to_string()
    }

    fn arguments(&self) -> Vec<String> {
        self.planned.arguments()
    }

    fn message(&self) -> MessageFacts {
        self.message
    }

    fn process_settings(&self) -> ProcessSettings {
        ProcessSettings { threads: self.case.setting.threads, ..ProcessSettings::default() }
    }

    fn has(&self, method: &str) -> bool {
        methods::can(self.has_loops, method)
    }

    fn lacks(&self, _methods: &[&str]) -> &'static str {
        match self.has_loops {
            true => "",
            false => {
                "there are no loops written by hand for it; its methods are all but manual and manual_tuned"
            }
        }
    }

    fn required_checks(&self, method: &str) -> Vec<&'static str> {
        let mut checks = methods::find(method).map_or(Vec::new(), |method| method.checks.concat());
        checks.retain(|check| match *check {
            "pready_threads" => self.case.setting.threads > 1,
            "self_communication" => self.sends_to_itself,
            _ => true,
        });
        checks
    }

    fn rank_bytes(&self, _methods: &[String]) -> Option<u64> {
        self.rank_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::layout_file;

    #[test]
    fn a_layout_has_its_name_and_the_methods_that_need_no_loop_written_by_hand() {
        let planned = layout_file::case("vector(8, 1, 4, double)").unwrap();
        let prepared = PreparedExchange::of(&planned, Context { ranks: 4, seed: 1 }).unwrap();
        let names = methods::METHODS.iter().map(|method| method.name);
        let lacking: Vec<_> = names.filter(|name| !prepared.has(name)).collect();
        assert_eq!(lacking, ["manual", "manual_tuned"]);
        assert!(prepared.has("aggregated:bins=2") && !prepared.lacks(&["manual"]).is_empty());
        let again = PreparedExchange::of(&prepared.planned(), Context { ranks: 4, seed: 1 }).unwrap();
        assert_eq!(again.planned(), prepared.planned());
        assert_eq!(again.planned().set.as_deref(), Some("vector(8,1,4,double)"));
        assert_eq!(
            again.params(),
            "name=unnamed send=vector(8,1,4,double) receive=send neighbours=both threads=1"
        );
        // 8 doubles to each of two neighbours.
        assert_eq!((again.message().bytes, again.message().segments), (128, 16));
        let long = format!("indexed_block(1, [{}0], double)", "0, ".repeat(60_000));
        let case = PlannedCase {
            params: [("send".to_owned(), Text(long)), ("receive".to_owned(), Text("send".to_owned()))].into(),
            ..planned
        };
        assert!(PreparedExchange::of(&case, Context { ranks: 4, seed: 1 }).is_err());
    }

    #[test]
    fn messages_rest_on_no_check_and_a_rank_that_sends_to_itself_on_one_more() {
        let checks = |threads: &str, periodic: &str, method: &str| {
            let params = [("threads", threads), ("periodic", periodic)];
            let params = params.map(|(name, value)| (name.to_owned(), Text(value.to_owned()))).into();
            let case = PlannedCase { test: "nas_mg".to_owned(), params, ..PlannedCase::default() };
            PreparedExchange::of(&case, Context { ranks: 2, seed: 1 }).unwrap().required_checks(method)
        };
        assert!(checks("4", "yes", "ddt").is_empty());
        let requests = checks("1", "no", "partitioned");
        assert_eq!((requests.len(), requests[1]), (5, "ring"));
        assert_eq!(checks("1", "yes", "partitioned")[5..], ["self_communication"]);
        assert_eq!(checks("2", "no", "partitioned_ddt")[5..], ["datatype_with_gaps", "pready_threads"]);
    }
}

//! Finds events in output: launchers may add labels, and an event may follow text without a line end.

use serde::de::DeserializeOwned;

/// The contents of a line of output.
#[derive(Debug, PartialEq, Eq)]
pub struct LineEvents<T> {
    /// Its events, in their order.
    pub events: Vec<T>,
    /// Everything else, without labels of events.
    pub rest: String,
    /// Whether it contains an event that cannot be parsed because other output is within it.
    pub is_torn: bool,
}

impl<T: DeserializeOwned> LineEvents<T> {
    /// Finds the events in a line, whose first member is `tag`.
    pub fn from_line(line: &str, tag: &str) -> Self {
        let start = format!("{{\"{tag}\":");
        let mut found = Self { events: Vec::new(), rest: String::new(), is_torn: false };
        let mut left = line;
        while let Some(at) = left.find(&start) {
            let (before, from_here) = left.split_at(at);
            let mut objects = serde_json::Deserializer::from_str(from_here).into_iter::<T>();
            let event = objects.next();
            if let Some(Ok(event)) = event {
                found.events.push(event);
                found.rest += if is_label(before) { "" } else { before };
                left = &from_here[objects.byte_offset()..];
            } else {
                found.is_torn = true;
                found.rest += before;
                found.rest += &start;
                left = &from_here[start.len()..];
            }
        }
        found.rest += left;
        found
    }
}

/// Whether a text before an event is a launcher's label: `0: ` of Slurm, `[0] ` of Hydra, `[1,0]<stdout>: ` of Open MPI.
fn is_label(text: &str) -> bool {
    let text = text.trim();
    !text.contains(char::is_whitespace) && (text.is_empty() || text.ends_with([':', ']', '>']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Event;

    const DONE: &str = r#"{"event":"done"}"#;
    const ABORTING: &str = r#"{"event":"aborting"}"#;

    #[track_caller]
    fn expect(line: &str, events: &[Event], rest: &str, is_torn: bool) {
        let expected = LineEvents { events: events.to_vec(), rest: rest.to_owned(), is_torn };
        assert_eq!(LineEvents::from_line(line, "event"), expected, "{line}");
    }

    #[test]
    fn an_event_is_found_behind_labels_and_other_text() {
        expect(DONE, &[Event::Done], "", false);
        for label in ["0: ", " 3: ", "[0] ", "[1,0]<stdout>: ", "[prterun-host-7@1,0]<stdout>:"] {
            expect(&format!("{label}{DONE}"), &[Event::Done], "", false);
        }
        expect(&format!("no GPU found; {DONE}"), &[Event::Done], "no GPU found; ", false);
        expect(&format!("{ABORTING}{DONE} ok"), &[Event::Aborting, Event::Done], " ok", false);
        expect("0: rank 1 died", &[], "0: rank 1 died", false);
    }

    #[test]
    fn a_torn_event_is_known_and_costs_no_other() {
        let torn = r#"{"event":"working","method":"a","sta"#;
        expect(torn, &[], torn, true);
        expect(&format!("{torn}{DONE}"), &[Event::Done], torn, true);
    }
}

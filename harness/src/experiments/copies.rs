//! The copies that a device's driver makes for a message: the result of a simulated device.

use crate::model::{PairScope, Quantity, Record};
use crate::report::compared::{Compared, Section};
use crate::report::names::{grouped, on_side, sides, work, work_names};
use crate::stats::{median, sorted};

/// Adds the copies of each method, a sentence for each case, if they were counted.
pub fn add(compared: &mut Compared<'_>, launches: &[Record]) {
    let counted = launches.iter().filter(|record| record.pair == PairScope::All);
    let counted: Vec<(&Record, f64)> =
        counted.filter_map(|record| Some((record, record.value(Quantity::DeviceCopies)?))).collect();
    let cases: Vec<_> = counted.iter().map(|(record, _)| &*record.case).collect();
    let (names, sides) = (work_names(&cases), sides(cases.iter().copied()));
    let sentence = |all: Vec<&(&Record, f64)>| {
        let case = &all[0].0.case;
        let side = sides.iter().find(|(side, _)| on_side(case, side));
        let methods =
            grouped(all, |(record, _)| record.method.as_str()).into_iter().map(|(method, launches)| {
                let copies = median(&sorted(launches.iter().map(|(_, copies)| *copies))).unwrap_or_default();
                format!("{method} {}", (copies * 100.0).round() / 100.0)
            });
        let side = side.map_or("", |(_, name)| name);
        format!("{side}, {}: {}.", names[&work(case)], methods.collect::<Vec<_>>().join(", "))
    };
    let sentences: Vec<String> =
        grouped(counted.iter(), |(record, _)| &*record.case).into_values().map(sentence).collect();
    if !sentences.is_empty() {
        let title = "Copies by the device's driver for one message, of all ranks".to_owned();
        compared.sections.push(Section { title, sentences, ..Section::default() });
    }
}

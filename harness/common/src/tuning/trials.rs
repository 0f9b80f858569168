//! The classes of the pack engine and of the tuned loops, measured, and the tables made of the choices.

use std::collections::HashSet;
use std::time::Instant;

use apps::copy_choice::{CopyClass, CopyTable, CopyTrial, GapSide};
use kernels::{Class, Direction, Measured, Trial, Tuning, Way};

use super::{Choice, Row, Table, choose};

/// Parts of a table.
const ENGINE: &str = "engine";
const LOOPS: &str = "loops";

/// The tables of both parts.
#[derive(Clone, Debug, Default)]
pub struct Tuned {
    pub engine: Tuning,
    pub loops: CopyTable,
}

/// Measures everything. This takes one or two seconds.
pub fn measure() -> Vec<Row> {
    let mut rows = Vec::new();
    for (class, direction) in engine_classes() {
        let mut trial = Trial::new(class, direction);
        let ways = trial.ways().to_vec();
        let shipped = Tuning::shipped().way(class, direction);
        let names: Vec<_> = ways.iter().map(|way| way.name()).collect();
        let shipped_at = position(&ways, shipped);
        let choice = choose(ways.len(), shipped_at, |way, round| engine_speed(&mut trial, way, round));
        rows.push(row(ENGINE, class.to_string(), direction.to_string(), &names, shipped.name(), choice));
    }
    for class in CopyClass::all() {
        let mut trial = CopyTrial::new(class);
        let (ways, shipped) = (class.ways(), class.shipped());
        let names: Vec<_> = ways.iter().map(|way| way.name()).collect();
        let choice = choose(ways.len(), position(&ways, shipped), |way, round| {
            let start = Instant::now();
            let bytes = trial.run(ways[way], round);
            bytes as f64 / start.elapsed().as_secs_f64()
        });
        rows.push(row(LOOPS, class.to_string(), direction(class).to_owned(), &names, shipped.name(), choice));
    }
    rows
}

fn engine_classes() -> impl Iterator<Item = (Class, Direction)> {
    Class::all().flat_map(|class| Direction::ALL.map(|direction| (class, direction)))
}

fn direction(class: CopyClass) -> &'static str {
    match class.side() {
        GapSide::Gather => "pack",
        GapSide::Scatter => "unpack",
    }
}

fn position<W: PartialEq>(ways: &[W], way: W) -> usize {
    ways.iter().position(|other| *other == way).expect("a way of the class")
}

/// Messages up to this size are copied at all places in each round; longer ones, which take long enough, at two.
const AT_ALL_PLACES: usize = 256 << 10;

/// The weight of warm speeds: a message is usually packed soon after it was computed, and unpacked into memory that is
/// about to be used.
const WARM: f64 = 3.0;

/// The speed of one way in bytes per second: the geometric mean of all messages, with warm and with cold caches, because
/// an application's data can be in either state. A warm speed has [`WARM`] times the weight, so that a way that is as
/// fast warm is chosen only if it is 1.23 times as fast cold.
fn engine_speed(trial: &mut Trial, way: usize, round: usize) -> f64 {
    let (mut weights, mut logarithms) = (0.0, 0.0);
    let mut add = |weight: f64, bytes: usize, start: Instant| {
        weights += weight;
        logarithms += weight * (bytes as f64 / start.elapsed().as_secs_f64()).ln();
    };
    for (message, size) in trial.sizes().into_iter().enumerate() {
        let times = if size <= AT_ALL_PLACES { Trial::PLACES } else { 2 };
        // Also the lines that only some places have.
        (round..round + times).for_each(|place| trial.copy(way, message, place));
        let start = Instant::now();
        (round..round + times).for_each(|place| trial.copy(way, message, place));
        add(WARM, times * size, start);
        if trial.evict(message) {
            let start = Instant::now();
            trial.copy(way, message, round);
            add(1.0, size, start);
        }
    }
    (logarithms / weights).exp()
}

fn row(part: &str, class: String, direction: String, names: &[&str], shipped: &str, choice: Choice) -> Row {
    let Choice { way, bytes_per_s, next } = choice;
    Row {
        part: part.to_owned(),
        class,
        direction,
        way: names[way].to_owned(),
        bytes_per_s,
        next: next.map(|(next, bytes_per_s)| (names[next].to_owned(), bytes_per_s)),
        shipped: shipped.to_owned(),
    }
}

impl Table {
    /// The table for the engine and the one for the loops.
    ///
    /// # Errors
    /// If a class is missing, if a class or a way is not known, or if the processor lacks the way.
    pub fn tuned(&self) -> Result<Tuned, String> {
        let mut tuned = Tuned::default();
        for row in &self.rows {
            let is_valid = match &*row.part {
                ENGINE => tuned.choose_for_engine(row),
                LOOPS => tuned.choose_for_loops(row),
                _ => None,
            };
            is_valid
                .ok_or_else(|| format!("{} cannot be used for {}, {}", row.way, row.class, row.direction))?;
        }
        let classes: HashSet<_> =
            self.rows.iter().map(|row| (&row.part, &row.class, &row.direction)).collect();
        let all = engine_classes().count() + CopyClass::all().count();
        match classes.len() == all && self.rows.len() == all {
            true => Ok(tuned),
            false => Err(format!("{} rows for {} of {all} classes", self.rows.len(), classes.len())),
        }
    }
}

impl Tuned {
    fn choose_for_engine(&mut self, row: &Row) -> Option<()> {
        let way = |name: &str| Way::ALL.into_iter().find(|way| way.name() == name);
        let direction =
            Direction::ALL.into_iter().find(|direction| direction.to_string() == row.direction)?;
        let next = row.next.as_ref().and_then(|(name, bytes_per_s)| Some((way(name)?, *bytes_per_s)));
        let measured = Measured { bytes_per_s: row.bytes_per_s, next };
        self.engine.choose(Class::named(&row.class)?, direction, way(&row.way)?, Some(measured)).ok()
    }

    fn choose_for_loops(&mut self, row: &Row) -> Option<()> {
        let is_it = |class: &CopyClass| class.to_string() == row.class && direction(*class) == row.direction;
        let class = CopyClass::all().find(is_it)?;
        let way = class.ways().into_iter().find(|way| way.name() == row.way)?;
        self.loops.choose(class, way).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::Processor;

    fn table(rows: Vec<Row>) -> Table {
        let model = "a model".to_owned();
        Table::new(&Processor { model, microcode: String::new(), library: String::new() }, rows)
    }

    /// A table with the shipped ways.
    fn shipped() -> Table {
        let choice = Choice { way: 0, bytes_per_s: 11.9e9, next: Some((0, 10.2e9)) };
        let of = |part, class: String, direction: String, way: &str| {
            row(part, class, direction, &[way], way, choice)
        };
        let engine = engine_classes().map(|(class, direction)| {
            let way = Tuning::shipped().way(class, direction);
            of(ENGINE, class.to_string(), direction.to_string(), way.name())
        });
        let loops = CopyClass::all()
            .map(|class| of(LOOPS, class.to_string(), direction(class).to_owned(), class.shipped().name()));
        table(engine.chain(loops).collect())
    }

    /// The row of records by index.
    fn records(table: &mut Table) -> &mut Row {
        table.rows.iter_mut().find(|row| row.class == "records by index").unwrap()
    }

    #[test]
    fn rows_become_choices() {
        let class = Class::named("records by index").unwrap();
        let mut table = shipped();
        assert_eq!(table.tuned().unwrap().loops, CopyTable::default());
        records(&mut table).way = "16-byte vectors".to_owned();
        let of_loops = table.rows.last_mut().unwrap();
        let loops = CopyClass::all().last().unwrap();
        let other = loops.ways().into_iter().find(|way| *way != loops.shipped()).unwrap();
        of_loops.way = other.name().to_owned();
        let tuned = table.tuned().unwrap();
        assert_eq!(tuned.engine.way(class, Direction::Pack), Way::Base);
        assert_ne!(tuned.loops, CopyTable::default());
    }

    #[test]
    fn classes_and_ways_that_do_not_exist_are_refused() {
        for (class, way) in
            [("records by index", "magic"), ("nothing", "memcpy"), ("records by index", "memcpy")]
        {
            let mut table = shipped();
            let row = records(&mut table);
            (row.class, row.way) = (class.to_owned(), way.to_owned());
            assert_eq!(table.tuned().unwrap_err(), format!("{way} cannot be used for {class}, pack"));
        }
        let mut table = shipped();
        records(&mut table).part = "others".to_owned();
        assert!(table.tuned().is_err());
    }

    #[test]
    fn a_table_without_a_class_or_with_one_twice_is_refused() {
        let mut table = shipped();
        let all = table.rows.len();
        let last = table.rows.pop().unwrap();
        assert_eq!(table.tuned().unwrap_err(), format!("{} rows for {0} of {all} classes", all - 1));
        table.rows.push(table.rows[0].clone());
        assert_eq!(table.tuned().unwrap_err(), format!("{all} rows for {} of {all} classes", all - 1));
        table.rows.push(last);
        assert_eq!(table.tuned().unwrap_err(), format!("{} rows for {all} of {all} classes", all + 1));
    }
}

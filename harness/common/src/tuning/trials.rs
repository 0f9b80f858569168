//! The classes of the pack engine and of the tuned loops, measured, and the tables made of the choices.

use std::time::{Duration, Instant};

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

/// A message is usually packed soon after it was computed, and unpacked into memory that is about to be used. With 3, rows
/// of 4 KiB were copied in a way that is a fifth faster cold and a quarter slower warm (Zen 5).
const WARM: f64 = 7.0;

/// The speed of one way in bytes per second, with warm and with cold caches, because an application's data can be in
/// either state: their geometric mean, in which the warm speed has [`WARM`] times the weight. Of ways that are equally
/// fast warm, the fastest cold one is chosen.
fn engine_speed(trial: &mut Trial, way: usize, round: usize) -> f64 {
    let (mut bytes, start) = (0, Instant::now());
    for (message, size) in trial.sizes().into_iter().enumerate() {
        let times = if size <= AT_ALL_PLACES { Trial::PLACES } else { 2 };
        (round..round + times).for_each(|place| trial.copy(way, message, place));
        bytes += times * size;
    }
    let warm = bytes as f64 / start.elapsed().as_secs_f64();
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for (message, size) in trial.sizes().into_iter().enumerate() {
        if trial.evict() {
            let start = Instant::now();
            trial.copy(way, message, round);
            time += start.elapsed();
            bytes += size;
        }
    }
    if bytes > 0 {
        (warm.powf(WARM) * bytes as f64 / time.as_secs_f64()).powf(1.0 / (WARM + 1.0))
    } else {
        warm
    }
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
    /// If a class or a way is not known, or if the processor lacks the way.
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
        Ok(tuned)
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
        let processor = Processor { model: "a model".to_owned(), microcode: String::new() };
        Table::new(&processor, rows)
    }

    fn engine_row(class: &str, way: &str) -> Row {
        let choice = Choice { way: 0, bytes_per_s: 11.9e9, next: Some((1, 10.2e9)) };
        row(ENGINE, class.to_owned(), "pack".to_owned(), &[way, "memcpy"], "16-byte vectors", choice)
    }

    #[test]
    fn rows_become_choices() {
        let class = Class::named("records by index").unwrap();
        let rows = vec![engine_row("records by index", "16-byte vectors")];
        let tuned = table(rows).tuned().unwrap();
        assert_eq!(tuned.engine.way(class, Direction::Pack), Way::Base);
        let loops = CopyClass::all().next().unwrap();
        let other = loops.ways().into_iter().find(|way| *way != loops.shipped()).unwrap();
        let choice = Choice { way: 0, bytes_per_s: 1e9, next: None };
        let of_loops =
            row(LOOPS, loops.to_string(), "pack".to_owned(), &[other.name()], loops.shipped().name(), choice);
        let tuned = table(vec![of_loops]).tuned().unwrap();
        assert_ne!(tuned.loops, CopyTable::default());
    }

    #[test]
    fn classes_and_ways_that_do_not_exist_are_refused() {
        for (class, way) in
            [("records by index", "magic"), ("nothing", "memcpy"), ("records by index", "memcpy")]
        {
            let reason = table(vec![engine_row(class, way)]).tuned().unwrap_err();
            assert_eq!(reason, format!("{way} cannot be used for {class}, pack"));
        }
        let mut of_nobody = engine_row("records by index", "16-byte vectors");
        of_nobody.part = "others".to_owned();
        assert!(table(vec![of_nobody]).tuned().is_err());
    }
}

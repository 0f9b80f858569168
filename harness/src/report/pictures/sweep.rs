//! The places of marks of a sweep: the panel, and the place on its axis or axes.

use serde::Deserialize;

use super::axis::{BYTES, COMMUNICATION, COMPUTATION, PARTITION_BYTES};
use super::data::Datum;
use crate::model::{CUSTOM, Case};
use crate::report::names::{conditions, distinct, grouped, number, params, varied, work};

/// The axes on which marks are placed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    #[default]
    Nothing,
    /// The parameter that was swept, or the bytes.
    Swept,
    PartitionSize,
    /// A parameter, and the name of its axis.
    Parameter(String, String),
    /// Cells over two parameters: the first pair that covers most cells.
    Grid(Vec<[String; 2]>),
    /// Cells over the two parameters with most values.
    WidestGrid,
}

impl Over {
    /// The marks that have a place, with the place.
    pub fn place(&self, data: Vec<Datum>) -> Vec<Datum> {
        match self {
            Self::Nothing => data,
            Self::Swept => swept(data),
            Self::PartitionSize => over_partition(data),
            Self::Parameter(parameter, x_name) => over_one(data, parameter, x_name, &[]),
            Self::Grid(axes) => in_grids(data, |_| axes.clone()),
            Self::WidestGrid => in_grids(data, widest),
        }
    }
}

/// Marks of a sweep, with their panel and their place on its axis: the sent bytes, if a panel's cases differ
/// in them, otherwise the swept parameter.
fn swept(data: Vec<Datum>) -> Vec<Datum> {
    let mut placed = Vec::new();
    for of_test in grouped(&data, |datum| &datum.case.test).into_values() {
        let cases = distinct(of_test.iter().map(|datum| &*datum.case));
        let axis = axis(&cases);
        let differing = varied(&cases);
        let panel_of =
            |case: &Case| axis.map_or_else(|| case.test.clone(), |axis| panel(case, &differing, &[axis]));
        for (name, of_panel) in grouped(of_test, |datum| panel_of(&datum.case)) {
            let sizes = distinct(of_panel.iter().map(|datum| datum.bytes)).len();
            let works = distinct(of_panel.iter().map(|datum| work(&datum.case))).len();
            let x_name = axis.filter(|_| sizes != works).unwrap_or(BYTES);
            let x = |datum: &Datum| match x_name {
                BYTES => Some(datum.bytes.to_string()),
                axis => place(&datum.case, axis),
            };
            if works > 1 && (x_name != BYTES || sizes == works) {
                placed.extend(of_panel.into_iter().map(|datum| Datum {
                    x: x(datum),
                    x_name: x_name.to_owned(),
                    panel: name.clone(),
                    ..datum.clone()
                }));
            }
        }
    }
    placed
}

/// The swept parameter of a test: the numeric one with most values. `None` for named sets, which differ in
/// several parameters and in size.
fn axis<'a>(cases: &[&'a Case]) -> Option<&'a str> {
    let values = |name: &str| {
        let values: Option<Vec<String>> =
            cases.iter().map(|case| Some(number(case, name)?.to_string())).collect();
        values.map_or(0, |values| distinct(values).len())
    };
    let named = cases.iter().all(|case| case.set != CUSTOM);
    let widest = varied(cases).into_iter().rev().max_by_key(|name| values(name));
    widest.filter(|name| !named && values(name) > 1)
}

/// The test of a case with the parameters in which cases differ, except those on the axis.
fn panel(case: &Case, differing: &[&str], on_axis: &[&str]) -> String {
    let shown = params(case).into_iter();
    let shown = shown.filter(|(name, _)| differing.contains(name) && !on_axis.contains(name));
    let texts = shown.map(|(name, value)| format!("{name}={value}"));
    std::iter::once(case.test.clone()).chain(texts).collect::<Vec<_>>().join(" ")
}

/// The two parameters of cases that have most values.
fn widest(cases: &[&Case]) -> Vec<[String; 2]> {
    let values = |name: &str| distinct(cases.iter().map(|case| place(case, name))).len();
    let mut names = varied(cases);
    names.sort_by_key(|name| std::cmp::Reverse(values(name)));
    names.first_chunk().map(|pair: &[&str; 2]| pair.map(str::to_owned)).into_iter().collect()
}

/// The place of a case on an axis: a parameter, or a derived value.
fn place(case: &Case, name: &str) -> Option<String> {
    let number = match name {
        PARTITION_BYTES => Some(number(case, BYTES)? / number(case, "partitions")?),
        COMMUNICATION | COMPUTATION => Some(1e-6 * number(case, &name.replace("_s", "_us"))?),
        _ => number(case, name),
    };
    let word = || params(case).into_iter().find(|(known, _)| *known == name).map(|(_, word)| word.to_owned());
    number.map(|number| number.to_string()).or_else(word)
}

/// Marks whose cases differ in two parameters, as cells of heat maps: a map per method, and per value of
/// other differing parameters. It uses the first pair of `axes` with values in more than half of the cells.
fn in_grids(data: Vec<Datum>, axes: impl Fn(&[&Case]) -> Vec<[String; 2]>) -> Vec<Datum> {
    let mut placed = Vec::new();
    for of_test in grouped(&data, |datum| &datum.case.test).into_values() {
        let cases = distinct(of_test.iter().map(|datum| &*datum.case));
        let differing = varied(&cases);
        let cells = axes(&cases)
            .into_iter()
            .map(|axes| of_test.iter().filter_map(|d| cell(d, &differing, &axes)).collect());
        let found = cells.map(filled_maps).find(|cells| !cells.is_empty());
        placed.extend(found.into_iter().flatten());
    }
    placed
}

/// Parameters that an axis represents in addition to its own.
const FOLLOWERS: &[(&str, &[&str])] = &[
    (PARTITION_BYTES, &[BYTES]),
    // These sizes were found for these times.
    (COMMUNICATION, &["communication_us", BYTES]),
    (COMPUTATION, &["computation_us", "matrix_order"]),
];

/// A mark as a cell over two axes.
fn cell(datum: &Datum, differing: &[&str], axes: &[String; 2]) -> Option<Datum> {
    let axes @ [x, y] = axes.each_ref().map(String::as_str);
    let followers =
        FOLLOWERS.iter().filter(|(axis, _)| axes.contains(axis)).flat_map(|(_, followers)| *followers);
    let on_axes: Vec<&str> = axes.into_iter().chain(followers.copied()).collect();
    let panel = format!("{}, {}", datum.method, panel(&datum.case, differing, &on_axes));
    Some(Datum {
        x: Some(place(&datum.case, x)?),
        y: Some(place(&datum.case, y)?),
        x_name: x.to_owned(),
        y_name: y.to_owned(),
        panel,
        ..datum.clone()
    })
}

/// The cells of maps that have at least two places on each axis, and values in more than half of their cells.
fn filled_maps(cells: Vec<Datum>) -> Vec<Datum> {
    let is_map = |of_map: &Vec<&Datum>| {
        let columns = distinct(of_map.iter().map(|datum| &datum.x)).len();
        let rows = distinct(of_map.iter().map(|datum| &datum.y)).len();
        columns > 1 && rows > 1 && 2 * of_map.len() > columns * rows
    };
    let maps = grouped(&cells, |datum| (&datum.panel, conditions(&datum.case)));
    maps.into_values().filter(is_map).flatten().cloned().collect()
}

/// Marks over one parameter, called `x_name`; a panel per test and per value of all other differing parameters.
fn over_one(data: Vec<Datum>, parameter: &str, x_name: &str, followers: &[&str]) -> Vec<Datum> {
    let differing = varied(&distinct(data.iter().map(|datum| &*datum.case)));
    let on_axis = [&[parameter][..], followers].concat();
    let placed = |datum: &Datum| {
        let x = place(&datum.case, parameter)?;
        let panel = panel(&datum.case, &differing, &on_axis);
        Some(Datum { x_name: x_name.to_owned(), x: Some(x), panel, ..datum.clone() })
    };
    data.iter().filter_map(placed).collect()
}

/// Joins panels that differ in one parameter, with a line for each of its values.
pub fn in_series(data: Vec<Datum>, parameter: &str) -> Vec<Datum> {
    let in_line = |datum: Datum| {
        let of_parameter = |word: &&str| word.split('=').next() == Some(parameter);
        let (series, panel): (Vec<&str>, Vec<&str>) = datum.panel.split(' ').partition(of_parameter);
        let (series, panel) = (series.join(" "), panel.join(" "));
        Datum { series, panel, ..datum }
    };
    data.into_iter().map(in_line).collect()
}

/// Marks of partitioned transfers over the size of a partition, for panels with several sizes.
fn over_partition(data: Vec<Datum>) -> Vec<Datum> {
    let differing = varied(&distinct(data.iter().map(|datum| &*datum.case)));
    // If bytes and partitions differ, the same size occurs twice: each line is then for one number of bytes.
    let both = ["partitions", BYTES];
    let followers = if both.iter().all(|name| differing.contains(name)) { &both[..1] } else { &both[..] };
    let placed = over_one(data, PARTITION_BYTES, PARTITION_BYTES, followers);
    let is_swept = |of_panel: &Vec<&Datum>| distinct(of_panel.iter().map(|datum| &datum.x)).len() > 1;
    let panels = grouped(&placed, |datum| &datum.panel);
    panels.into_values().filter(is_swept).flatten().cloned().collect()
}

//! All details of one name: a test, an exchange, a method.

use apps::halo::{HaloTest, all as exchanges};
use apps::{Parameter, ParameterSet, ParameterType, Test, all as tests};

use super::names::{about, named};
use super::{entries_of, preset_name};
use crate::experiments::overlap::operations::{OPERATIONS, Operation};
use crate::experiments::{Kind, halo, overlap};
use crate::report::columns::{Align, Column, fitted, text_width, wrapped};
use crate::report::units;

/// Everything called `name`, within the width of a terminal.
///
/// # Errors
/// If the name is unknown, with the nearest test.
pub fn one(name: &str, width: Option<u16>) -> Result<String, String> {
    let mut parts = Vec::new();
    parts.extend(tests().filter(|test| test.name == name).map(|one| test(one, width)));
    parts.extend(exchanges().filter(|halo| halo.name == name).map(|one| exchange(one, width)));
    let operations = OPERATIONS.iter().filter(|operation| operation.name == name);
    parts.extend(operations.map(|one| operation(one, width)));
    for kind in Kind::ALL {
        let of_kind = kind.methods().iter().filter(|method| method.name == name);
        parts.extend(of_kind.map(|method| {
            let title = format!("{name}  method of `ddtbench {}`: ", kind.row().command);
            let mut text = wrapped(&title, &about(method), text_width(width), 2);
            if !method.needs.is_empty() {
                text += &wrapped("  needs ", &method.needs.join(", "), text_width(width), 4);
            }
            text
        }));
    }
    match parts.len() {
        0 => {
            let error = apps::find(name).err().map_or_else(String::new, |error| error.to_string());
            // A suggestion does not name the command.
            let advice = if error.contains("`ddtbench list`") { "" } else { "; `ddtbench list` shows all" };
            Err(error + advice)
        }
        _ => Ok(parts.join("\n")),
    }
}

/// Name, sent data, and source.
fn heading<M>(test: &Test<M>, what: &str, width: Option<u16>) -> String {
    let width = text_width(width);
    wrapped(&format!("{}  {what}: ", test.name), test.about, width, 2)
        + &wrapped("  from ", test.source, width, 4)
}

fn test(test: &'static Test, width: Option<u16>) -> String {
    let columns = [
        Column::new("set", Align::Left, 0),
        Column::new("preset", Align::Left, 2),
        Column::new("message", Align::Right, 2),
        Column::new("segments", Align::Right, 2),
        Column::new("arrays", Align::Right, 2).rank(1),
        Column::new("values", Align::Left, 2),
    ];
    let rows = entries_of(test).map(|entry| {
        vec![
            entry.set.name.to_owned(),
            preset_name(entry.set.preset).to_owned(),
            units::bytes(entry.bytes),
            entry.segments.to_string(),
            units::bytes(entry.array_bytes),
            entry.values.to_string(),
        ]
    });
    heading(test, "test", width)
        + &sets(&columns, rows.collect(), width)
        + &parameters(test.parameters, width)
        + &run_it(test)
}

fn exchange(halo: &'static HaloTest, width: Option<u16>) -> String {
    let columns = [
        Column::new("set", Align::Left, 0),
        Column::new("preset", Align::Left, 2),
        Column::new("values", Align::Left, 2),
    ];
    let row = |set: &ParameterSet| {
        let values = halo.set(set.name).expect("the set is the exchange's own");
        vec![set.name.to_owned(), preset_name(set.preset).to_owned(), values.to_string()]
    };
    let parameters_of_all = halo::PARAMETERS.iter().map(|own| (own.info.name, own.info.text()));
    heading(halo, "exchange", width)
        + &sets(&columns, halo.sets.iter().map(row).collect(), width)
        + &parameters(halo.parameters, width)
        + "\nParameters of all exchanges\n"
        + &named(width, parameters_of_all)
        + &format!("\nTo run it: ddtbench halo {}\n", halo.name)
}

fn operation(operation: &Operation, width: Option<u16>) -> String {
    let parameters_of_all = overlap::PARAMETERS.iter().map(|own| (own.info.name, own.info.text()));
    wrapped(&format!("{}  operation: ", operation.name), operation.about, text_width(width), 2)
        + "\nParameters of all operations\n"
        + &named(width, parameters_of_all)
        + &format!("\nTo run it: ddtbench overlap {}\n", operation.name)
}

fn sets(columns: &[Column], sets: Vec<Vec<String>>, width: Option<u16>) -> String {
    let header = columns.iter().map(|column| column.name.to_owned()).collect();
    let rows: Vec<_> = std::iter::once(header).chain(sets).collect();
    let lines = fitted(columns, &rows, width.map(usize::from), 2).rows;
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    let title =
        "Sets (--set NAME); a preset runs its own and those of the smaller ones: quick, default, full";
    format!("\n{}{lines}", wrapped("", title, text_width(width), 2))
}

fn parameters(parameters: &'static [Parameter], width: Option<u16>) -> String {
    let text = |parameter: &'static Parameter| {
        let words = parameter.choices().filter(|_| parameter.unit == "word").map(|words| words.join(", "));
        let unit = words.unwrap_or_else(|| parameter.unit.to_owned());
        let unit = if unit.is_empty() { unit } else { format!(" [{unit}]") };
        (parameter.name, format!("{}{unit}", parameter.about))
    };
    let title = "Parameters (-p NAME=VALUE; several values are a case each: -p NAME=VALUE,VALUE)";
    let title = wrapped("", title, text_width(width), 2);
    format!("\n{title}{}", named(width, parameters.iter().map(text)))
}

/// Commands that run a test, without and with a value of its first numeric parameter.
fn run_it(test: &'static Test) -> String {
    let name = test.name;
    let values = test.set(test.quick_set().name).expect("the set is the test's own");
    let is_name = |own: &str| {
        test.parameters.iter().any(|p| p.name == own && matches!(p.value_type, ParameterType::Word))
    };
    let example = values.pairs().find(|(own, _)| !is_name(own)).map_or_else(String::new, |(own, value)| {
        // Brackets mean something else to shells.
        let quote = if value.contains('(') { "'" } else { "" };
        format!(" -p {quote}{own}={value}{quote}")
    });
    format!(
        "\nTo run it:             ddtbench run {name}\nwith your own values:  ddtbench run {name}{example}\n"
    )
}

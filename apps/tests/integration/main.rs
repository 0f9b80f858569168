//! The applications' data, checked for consistency and compared with the original suite. One binary; see each module.

mod conformance; // every test, every parameter set: loops, layouts and places
mod field; // what an exchange must leave behind
mod halo; // exchanges between many ranks, all of them in one process
mod halo_values; // values that users give to exchanges
mod my_array; // the commands of docs/my-array.md, and tests as `subarray`
mod original_sizes; // bytes and runs of DDTBench 1.2
mod refusals; // values that an application cannot have
mod sets; // named sets, and numbers of any size

use ddtbench_apps::halo::{HaloApp, HaloContext};
use ddtbench_apps::{ParameterError, Test, Values};

/// The lines of a table, without its comments.
fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// A name with texts that have names themselves: `wrf_x_vec limit=4`.
type Row<'a> = (&'a str, Vec<(&'a str, &'a str)>);

/// The rows of such a table.
fn rows(table: &'static str) -> impl Iterator<Item = Row<'static>> {
    lines(table).map(|row| {
        let (name, given) = row.split_once(' ').unwrap();
        (name, given.split(' ').map(|value| value.split_once('=').unwrap()).collect())
    })
}

/// The values of a test's quick set, with these changes.
fn values<M>(test: &Test<M>, changes: &[(&str, &str)]) -> Result<Values, ParameterError> {
    let mut values = test.set(test.quick_set().name)?;
    changes.iter().try_for_each(|(name, text)| values.assign(name, text))?;
    Ok(values)
}

/// An exchange with the values of its quick set, and these changes.
fn exchange(
    name: &str,
    changes: &[(&str, &str)],
    context: HaloContext,
) -> Result<Box<dyn HaloApp>, ParameterError> {
    let test = ddtbench_apps::halo::find(name).unwrap();
    test.build(&values(test, changes)?, context)
}

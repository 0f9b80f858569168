//! The flags of parameters that stand in a table: several values of each make a sweep.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use common::parameter::Flag;
use ddtbench::experiments::selection::Lists;

/// A table that flags stand in.
pub trait Table {
    /// All of them, in the order in which help shows them.
    fn flags() -> Vec<&'static Flag>;
}

/// What was given of the flags of a table.
#[derive(Debug)]
pub struct ParameterArgs<T> {
    /// The values.
    pub lists: Lists,
    table: PhantomData<T>,
}

impl<T: Table> ParameterArgs<T> {
    /// One of the flags that were given, with its hyphens.
    pub fn given(&self) -> Option<String> {
        let name = self.lists.names().next()?;
        T::flags().iter().find(|flag| flag.name == name).map(|flag| format!("--{}", flag.long))
    }
}

impl<T: Table> Args for ParameterArgs<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::flags().into_iter().enumerate().map(|(i, flag)| arg(flag, i == 0)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Table> FromArgMatches for ParameterArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = |flag: &'static Flag| match flag.switch {
            Some(value) if matches.get_flag(flag.name) => vec![value.to_owned()],
            Some(_) => Vec::new(),
            None => matches.get_many::<String>(flag.name).into_iter().flatten().cloned().collect(),
        };
        let lists = T::flags().into_iter().map(|flag| (flag.name, values(flag)));
        Ok(Self { lists: Lists::of(lists), table: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A flag as `clap` knows it; the first of a table says what several values do.
fn arg(flag: &'static Flag, is_first: bool) -> Arg {
    let sweep = if is_first { "; several values of this and the next flags make a sweep" } else { "" };
    let mut help = format!("{}{sweep}", flag.about);
    help[..1].make_ascii_uppercase();
    let arg = Arg::new(flag.name).long(flag.long).short(flag.short).conflicts_with_all(flag.instead_of);
    match flag.switch {
        Some(_) => arg.action(ArgAction::SetTrue).help(help),
        None => {
            let arg = arg.action(ArgAction::Append).value_name(flag.value).value_delimiter(',');
            arg.help(help + &flag.default_text())
        }
    }
}

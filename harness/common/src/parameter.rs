//! Parameters of a kind of experiments: each is a row that defines how a value is read, refused, shown and listed.

use std::fmt::Display;

use serde::Serialize;

/// The definition of a parameter, without a value.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ParameterInfo {
    /// Its name in plans, in results and on the command line.
    pub name: &'static str,
    /// Placeholder of a value in help: its unit or its kind.
    pub value: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The default value; if it has several words, a description of what applies without a value; empty if that is clear.
    pub default: &'static str,
}

impl ParameterInfo {
    /// The definition of the parameter with this name.
    pub const fn new(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, value, about, default }
    }

    /// Its description, with its default.
    pub fn text(&self) -> String {
        match self.default {
            "" => self.about.to_owned(),
            default => format!("{} [default: {default}]", self.about),
        }
    }
}

/// A parameter of the setting `S`.
#[derive(Debug)]
pub struct Parameter<S> {
    pub info: ParameterInfo,
    /// Sets its value from a text, or returns what would be right.
    pub assign: fn(&mut S, &str) -> Result<(), String>,
    /// Its value as text; `None` if it is omitted, as most defaults are.
    pub text: fn(&S) -> Option<String>,
}

/// A row: the name, the field of the setting, the value's placeholder in help, the default, how a text is
/// read, how a value is shown, and a description in one line.
macro_rules! parameter {
    ($name:literal, $($field:ident).+: $value:literal = $default:literal, $read:expr, $show:expr; $about:expr) => {
        $crate::parameter::Parameter {
            info: $crate::parameter::ParameterInfo::new($name, $value, $default, $about),
            assign: |setting, text| {
                setting.$($field).+ = $read(text)?.into();
                Ok(())
            },
            text: |setting| $show(&setting.$($field).+),
        }
    };
}

/// A value that is always shown.
pub(crate) fn always(value: &impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// A value that is shown if there is one.
pub(crate) fn given<T: ToString>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(T::to_string)
}

/// A value that is shown unless it is the type's default.
pub(crate) fn unusual<T: ToString + Default + PartialEq>(value: &T) -> Option<String> {
    (*value != T::default()).then(|| value.to_string())
}

/// The setting in which each parameter has its default; those whose default is a description have none.
pub fn usual<S: Default>(rows: &[Parameter<S>]) -> S {
    let mut setting = S::default();
    for row in rows.iter().filter(|row| row.info.default.split_whitespace().count() == 1) {
        (row.assign)(&mut setting, row.info.default).expect("a default is a valid value");
    }
    setting
}

/// The setting from names and values; parameters that are not given have their defaults.
pub fn parse<'a, S: Default>(
    rows: &[Parameter<S>],
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<S, String> {
    let mut setting = usual(rows);
    for (name, text) in given {
        let assigned = match place(rows, name) {
            Some(i) => (rows[i].assign)(&mut setting, text),
            None => {
                let names: Vec<_> = rows.iter().map(|row| row.info.name).collect();
                let near = apps::similar(&names, name).map_or_else(
                    || "; there are".to_owned(),
                    |near| format!(": did you mean {near}? There are"),
                );
                Err(format!("unknown parameter{near} {}", names.join(", ")))
            }
        };
        assigned.map_err(|reason| format!("{name} = {text}: {reason}"))?;
    }
    Ok(setting)
}

/// The index of the parameter called `name` in a table.
pub fn place<S>(rows: &[Parameter<S>], name: &str) -> Option<usize> {
    rows.iter().position(|row| row.info.name.eq_ignore_ascii_case(name))
}

/// Names and values of a setting, from which [`parse`] makes the same setting again.
pub fn pairs<S>(rows: &[Parameter<S>], setting: &S) -> Vec<(&'static str, String)> {
    rows.iter().filter_map(|row| Some((row.info.name, (row.text)(setting)?))).collect()
}

/// Names and values in the form used in results.
pub fn joined<N: Display, V: Display>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Parses the number of threads of a rank.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=4096).contains(threads));
    threads.ok_or_else(|| "must be a whole number from 1 to 4096".to_owned())
}

/// Single values as typed. Values with brackets that were split at a comma are joined again.
pub fn whole(typed: &[String]) -> Vec<String> {
    let open = |text: &str| {
        let count = |brackets: [char; 2]| text.matches(brackets).count();
        count(['(', '[']) > count([')', ']'])
    };
    let mut all: Vec<String> = Vec::new();
    for text in typed {
        match all.last_mut() {
            Some(last) if open(last) => last.extend([",", text]),
            _ => all.push(text.clone()),
        }
    }
    // A declaration of Fortran has a comma before its attributes: `real(8), dimension(4,5) :: u`.
    while let Some(i) = all.iter().skip(1).position(|text| text.contains("::") && !text.contains('=')) {
        let attributes = all.remove(i + 1);
        all[i].extend([",", &attributes]);
    }
    all
}

#[test]
fn brackets_and_declarations_keep_their_commas() {
    let typed = |text: &str| whole(&text.split(',').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(typed("shape=(1:4,5),width=1,2"), ["shape=(1:4,5)", "width=1", "2"]);
    let declared = "shape=real(8), dimension(4,5) :: u";
    assert_eq!(typed(&format!("{declared},width=1")), [declared, "width=1"]);
}

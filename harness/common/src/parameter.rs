//! Parameters of a kind of experiments: a row each, by which a value is read and refused, shown, listed, and typed as a flag.

/// What is said of a parameter on the command line.
#[derive(Debug)]
pub struct Flag {
    /// The parameter's name in plans and results.
    pub name: &'static str,
    /// The flag, without its hyphens.
    pub long: &'static str,
    /// One letter for it.
    pub short: Option<char>,
    /// What help writes in the place of a value: its unit, or what it is.
    pub value: &'static str,
    /// What it is, in a line; of a switch, what the switch does.
    pub about: &'static str,
    /// The value where none is given; in several words what holds then, and empty where that is clear.
    pub default: &'static str,
    /// Where the flag takes no value, the one that it stands for.
    pub switch: Option<&'static str>,
    /// Another flag that says the same in its own way: only one of them can be given.
    pub instead_of: Option<&'static str>,
}

impl Flag {
    /// A flag with the parameter's own name, which takes a value.
    pub const fn new(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, long: name, short: None, value, about, default, switch: None, instead_of: None }
    }

    /// The same under another name.
    pub const fn long(self, long: &'static str) -> Self {
        Self { long, ..self }
    }

    /// The same with a letter.
    pub const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    /// The same without a value: a switch that stands for this one.
    pub const fn switch(self, value: &'static str) -> Self {
        Self { switch: Some(value), ..self }
    }

    /// The same, which cannot be given beside another.
    pub const fn instead_of(self, other: &'static str) -> Self {
        Self { instead_of: Some(other), ..self }
    }

    /// What is said of the default after what it is.
    pub fn default_text(&self) -> String {
        if self.default.is_empty() { String::new() } else { format!(" [default: {}]", self.default) }
    }
}

/// A parameter of the setting `S`.
#[derive(Debug)]
pub struct Parameter<S> {
    /// What is said of it.
    pub flag: Flag,
    /// Takes its value from a text, or says what would be right.
    pub assign: fn(&mut S, &str) -> Result<(), String>,
    /// Its value as text; `None` where that is left out, as most defaults are.
    pub text: fn(&S) -> Option<String>,
}

/// The setting that names and values make; parameters that are not given have their defaults.
///
/// # Errors
/// An unknown name, or a value that cannot be, and what would be right.
pub fn parse<'a, S: Default>(
    rows: &[Parameter<S>],
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<S, String> {
    let mut setting = S::default();
    for (name, text) in given {
        let assigned = match place(rows, name) {
            Some(i) => (rows[i].assign)(&mut setting, text),
            None => {
                let names: Vec<_> = rows.iter().map(|row| row.flag.name).collect();
                Err(format!("there is no such parameter; there are {}", names.join(", ")))
            }
        };
        assigned.map_err(|reason| format!("{name} = {text}: {reason}"))?;
    }
    Ok(setting)
}

/// The place of the parameter called `name` in a table.
pub fn place<S>(rows: &[Parameter<S>], name: &str) -> Option<usize> {
    rows.iter().position(|row| row.flag.name == name)
}

/// Names and values of a setting, of which [`parse`] makes the same again.
pub fn pairs<S>(rows: &[Parameter<S>], setting: &S) -> Vec<(&'static str, String)> {
    rows.iter().filter_map(|row| Some((row.flag.name, (row.text)(setting)?))).collect()
}

/// Names and values as results have them.
pub fn joined<N: std::fmt::Display>(pairs: impl IntoIterator<Item = (N, String)>) -> String {
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Puts a value into its field, if it could be read.
pub(crate) fn set<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

/// Threads of a rank.
///
/// # Errors
/// What would be right.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=4096).contains(threads));
    threads.ok_or_else(|| "must be a whole number from 1 to 4096".to_owned())
}

/// Single values as typed, of which a shell's comma has cut those that have brackets: they are put together again.
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
    all
}

/// Fails unless each name is there once, and each default is the one that a setting has.
#[cfg(test)]
pub(crate) fn expect_sound<S: Default + PartialEq + std::fmt::Debug>(rows: &[Parameter<S>]) {
    let names: std::collections::HashSet<_> = rows.iter().map(|row| row.flag.name).collect();
    assert_eq!(names.len(), rows.len());
    for row in rows.iter().filter(|row| row.flag.default.split_whitespace().count() == 1) {
        let mut setting = S::default();
        (row.assign)(&mut setting, row.flag.default).unwrap();
        assert_eq!(setting, S::default(), "{}", row.flag.name);
    }
}

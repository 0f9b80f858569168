//! Parameters of a test: names, units, named sets, and the values that users can give.

mod values;

use datatypes::{Definitions, Element, declared_arrays, similar};

pub use values::Values;

use crate::{Layouts, MicroApp, bytes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    Integer,
    /// The name of a predefined type; its value is the index in [`Element::ALL`].
    Element,
    /// One of these words; its value is the index among them.
    Choice(&'static [&'static str]),
    /// A number for each axis of an array, joined by `x`, for example `102x102x52`; those of several arrays
    /// are joined by `+`.
    PerAxis(PerAxis),
    /// A name.
    Word,
    Layouts {
        /// The word for "not given"; `None` if the parameter is required.
        absent: Option<&'static str>,
    },
}

/// Properties of a parameter with a number for each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerAxis {
    /// The word for "not given"; `None` if the parameter is required.
    pub absent: Option<&'static str>,
    /// The choice that this parameter replaces. If a user gives only this parameter, the choice becomes its first
    /// word. If a user gives another word of the choice and not this parameter, this one becomes absent.
    pub instead_of: Option<&'static str>,
    /// Whether an axis can have two numbers, such as `1:2`: before the interior and behind it. Lists have both of each axis.
    pub has_two_sides: bool,
}

impl ParameterType {
    /// A number for each axis, which must be given.
    pub(crate) const PER_AXIS: Self =
        Self::PerAxis(PerAxis { absent: None, instead_of: None, has_two_sides: false });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// The unit of its value, e.g. `points`, `elements`, `bytes`.
    pub unit: &'static str,
    pub about: &'static str,
    pub value_type: ParameterType,
    /// The choice that it depends on, if any.
    pub only_with: Option<OnlyWith>,
}

/// A choice on which a parameter depends: if the choice is at its first word, the parameter has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlyWith {
    pub choice: &'static str,
    /// The parameter's value in that case, as it is typed. No other value can be given.
    pub idle: &'static str,
    /// Why it has no meaning, and what would be right.
    pub reason: &'static str,
}

impl Parameter {
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        value_type: ParameterType,
        about: &'static str,
    ) -> Self {
        Self { name, unit, about, value_type, only_with: None }
    }

    pub const fn integer(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self::new(name, unit, ParameterType::Integer, about)
    }

    /// The name of a predefined type.
    pub const fn element(name: &'static str, about: &'static str) -> Self {
        Self::new(name, "type", ParameterType::Element, about)
    }

    /// One of `words`.
    pub const fn choice(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, "word", ParameterType::Choice(words), about)
    }

    /// The parameter, with a choice that it depends on.
    pub const fn only_with(self, only_with: OnlyWith) -> Self {
        Self { only_with: Some(only_with), ..self }
    }

    /// The words that its value can be; `None` for a number.
    pub fn choices(&self) -> Option<Vec<&'static str>> {
        match self.value_type {
            ParameterType::Choice(words) => Some(words.to_vec()),
            ParameterType::Element => Some(Element::ALL.map(Element::name).to_vec()),
            ParameterType::Integer
            | ParameterType::PerAxis(_)
            | ParameterType::Word
            | ParameterType::Layouts { .. } => None,
        }
    }

    /// Reads a value from the user's text; the error says what would be right.
    fn read(&self, text: &str) -> Result<Value, String> {
        let among = |words: &[&str]| {
            let i = words.iter().position(|word| word.eq_ignore_ascii_case(text));
            i.map(|i| Value::Number(i as i64)).ok_or_else(|| {
                let near =
                    similar(words, text).map_or_else(String::new, |near| format!("did you mean {near}? "));
                format!("{near}must be one of {}", words.join(", "))
            })
        };
        match self.value_type {
            ParameterType::Integer if self.unit == "bytes" && !text.starts_with('-') => {
                let value = bytes(text).and_then(|value| i64::try_from(value).ok());
                value.map(Value::Number).ok_or_else(|| {
                    "must be a whole number, also with one of the units kB, MB, GB, KiB, MiB, GiB: 64KiB"
                        .to_owned()
                })
            }
            ParameterType::Integer => text.parse().map(Value::Number).map_err(|_| {
                "must be a whole number, or a name that has one by --define NAME=VALUE".to_owned()
            }),
            ParameterType::Element => {
                let element: Element =
                    text.parse().map_err(|instead| format!("must be a predefined type: {instead}"))?;
                let index = Element::ALL.iter().position(|&one| one == element);
                Ok(Value::Number(index.unwrap_or_default() as i64))
            }
            ParameterType::Choice(words) => among(words),
            ParameterType::PerAxis(_) if self.unit == "bytes" => read_bytes_per_axis(text),
            ParameterType::PerAxis(kind) => match declared_arrays(text).filter(|_| !kind.has_two_sides) {
                Some(arrays) => {
                    arrays.map(|arrays| Value::PerAxis(arrays.extents)).map_err(|error| error.to_string())
                }
                None => read_per_axis(text, kind),
            },
            ParameterType::Word => read_word(text),
            ParameterType::Layouts { absent, .. } if absent == Some(text) => Ok(Value::Layouts(None)),
            ParameterType::Layouts { .. } => {
                let layouts =
                    Layouts::typed(text, &Definitions::default()).map_err(|error| error.to_string())?;
                Ok(Value::Layouts(Some(layouts)))
            }
        }
    }

    /// A value as results show it: as a user would type it, but with a name for long layouts.
    fn label(&self, value: &Value) -> String {
        match value {
            Value::Layouts(Some(layouts)) => layouts.label(),
            value => self.write(value),
        }
    }

    /// A value as a user would type it.
    fn write(&self, value: &Value) -> String {
        match (self.value_type, value) {
            (ParameterType::Element, Value::Number(i)) => Element::ALL[*i as usize].to_string(),
            (ParameterType::Choice(words), Value::Number(i)) => words[*i as usize].to_owned(),
            (_, Value::Number(number)) => number.to_string(),
            (_, Value::Word(word)) => word.clone(),
            (_, Value::Layouts(Some(layouts))) => layouts.value(),
            (ParameterType::Layouts { absent, .. }, Value::Layouts(None)) => {
                absent.unwrap_or_default().to_owned()
            }
            (_, Value::Layouts(None)) => String::new(),
            (ParameterType::PerAxis(PerAxis { absent: Some(absent), .. }), Value::PerAxis(lists))
                if lists.is_empty() =>
            {
                absent.to_owned()
            }
            (ParameterType::PerAxis(kind), Value::PerAxis(lists)) if kind.has_two_sides => {
                lists.iter().map(|list| joined_sides(list)).collect::<Vec<_>>().join("+")
            }
            (_, Value::PerAxis(lists)) => {
                let lists: Vec<_> = lists.iter().map(|list| joined_by_x(list)).collect();
                lists.join("+")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// A number, or the index of a word.
    Number(i64),
    /// A number for each axis, for each array or for all at once; empty if absent.
    PerAxis(Vec<Vec<usize>>),
    /// A name.
    Word(String),
    /// Layouts; `None` if absent.
    Layouts(Option<Layouts>),
}

/// The user's text, shortened for an error message.
fn shortened(text: &str) -> String {
    /// Enough to recognise the text.
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
    }
}

/// A name that can be used in names of files and in lists of values.
fn read_word(text: &str) -> Result<Value, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    match !text.is_empty() && text.chars().all(is_part) {
        true => Ok(Value::Word(text.to_owned())),
        false => Err("must be a name of letters, digits and _ - .".to_owned()),
    }
}

/// Numbers as a shape is written: `102x102x52`.
pub fn joined_by_x(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// Numbers of both sides of each axis: `2x1:2x0`.
pub fn joined_sides(numbers: &[usize]) -> String {
    let axis = |sides: &[usize]| match sides {
        [before, behind] if before != behind => format!("{before}:{behind}"),
        _ => sides[0].to_string(),
    };
    numbers.chunks(2).map(axis).collect::<Vec<_>>().join("x")
}

/// Reads `102x102x52+102x102`, or the word for "not given".
fn read_per_axis(text: &str, kind: PerAxis) -> Result<Value, String> {
    let PerAxis { absent, has_two_sides, .. } = kind;
    if absent == Some(text) {
        return Ok(Value::PerAxis(Vec::new()));
    }
    // At most what MPI takes as `int`.
    let number = |text: &str| text.trim().parse::<i32>().ok().and_then(|number| usize::try_from(number).ok());
    let list = |text: &str| {
        let in_brackets = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let axes = in_brackets.unwrap_or(text).split(if in_brackets.is_some() { ',' } else { 'x' });
        let sides = |axis: &str| {
            let both = axis.split_once(':').filter(|_| has_two_sides).unwrap_or((axis, axis));
            Some([number(both.0)?, number(both.1)?][..1 + usize::from(has_two_sides)].to_vec())
        };
        Some(axes.map(sides).collect::<Option<Vec<_>>>()?.concat())
    };
    let lists = text.split('+').map(list).collect::<Option<Vec<_>>>();
    lists.map(Value::PerAxis).ok_or_else(|| {
        let or = absent.map_or_else(String::new, |word| format!(", or {word}"));
        format!(
            "must be numbers from 0 to {} joined by x, one for each axis, such as {}; those of several arrays joined by +{or}",
            i32::MAX,
            if has_two_sides { "1x1x0, or 1:2x1x0 with 1 before and 2 behind" } else { "102x102x52 or (-1:100,-1:100,52)" }
        )
    })
}

/// Reads `64KiBx4096x4096`.
fn read_bytes_per_axis(text: &str) -> Result<Value, String> {
    let number = |text| bytes(text).and_then(|bytes| usize::try_from(bytes).ok());
    let list = text.split('x').map(number).collect::<Option<Vec<_>>>();
    list.map(|list| Value::PerAxis(vec![list])).ok_or_else(|| {
        "must be a whole number, also with one of the units kB, MB, GB, KiB, MiB, GiB: 64KiB; or one for each axis, joined by x"
            .to_owned()
    })
}

/// The size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// One parameter set per test.
    Quick,
    /// The original's parameter sets.
    Default,
    /// Those and larger ones.
    Full,
}

impl Preset {
    /// A set of this preset; see the fields.
    pub(crate) const fn set(self, name: &'static str, values: &'static str) -> ParameterSet {
        ParameterSet { name, preset: self, values }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSet {
    /// The name, e.g. `16x16x16x16`.
    pub name: &'static str,
    /// The smallest preset that runs it.
    pub preset: Preset,
    /// A value per parameter, in their order, as a user types them, separated by blanks.
    pub values: &'static str,
}

/// Properties of a run that a test needs besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Number of ranks of the run; decides the block size of an all-to-all.
    pub ranks: usize,
    /// Seed of random index lists.
    pub seed: u64,
}

impl Default for Context {
    /// Two ranks, seed 1.
    fn default() -> Self {
        Self { ranks: 2, seed: 1 }
    }
}

/// A micro-app in one direction or variant: a row of [`TESTS`](crate::TESTS); `M` makes the micro-app.
#[derive(Clone, Copy, Debug)]
pub struct Test<M = fn(&Values, Context) -> Built> {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// The name in the original suite's output; `None` for tests that are not in it.
    pub original_name: Option<&'static str>,
    /// Code, version, routine.
    pub source: &'static str,
    /// The sent data, in one line.
    pub about: &'static str,
    pub parameters: &'static [Parameter],
    pub sets: &'static [ParameterSet],
    /// Makes the micro-app; refuses values that the application cannot have.
    pub(crate) make: M,
}

/// A micro-app, or why its values were refused.
pub type Built = Result<MicroApp, ParameterError>;

/// Why parameters were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A value that is not possible.
    #[error("parameter {name} = {value}: {reason}")]
    Value {
        name: &'static str,
        value: String,
        /// A valid value.
        reason: String,
    },
    /// The message for an unknown test, parameter or set, for a number of ranks that an application cannot be
    /// divided among, and for arrays beyond the address space.
    #[error("{0}")]
    Other(String),
}

impl ParameterError {
    /// The error for an unknown parameter or set (`what`) of a test, with the valid names and the closest one.
    fn unknown(test: &str, what: &str, name: &str, candidates: &[&str]) -> Self {
        let all = candidates.join(", ");
        let instead = nearest(candidates, name)
            .map_or(format!("; it has {all}"), |near| format!("{near} It has {all}"));
        Self::Other(format!("{test} has no {what} {name:?}{instead}"))
    }
}

/// `: did you mean "x"?` if a candidate is close to `name`.
fn nearest(candidates: &[&str], name: &str) -> Option<String> {
    similar(candidates, name).map(|candidate| format!(": did you mean {candidate:?}?"))
}

impl<M> Test<M> {
    /// The entry of `all` called `name`, here or in the original suite, in any case; or an error with the nearest name.
    pub(crate) fn find<'a>(
        mut all: impl Iterator<Item = &'a Self> + Clone,
        name: &str,
    ) -> Result<&'a Self, ParameterError> {
        let names: Vec<_> = all.clone().map(|test| test.name).collect();
        let instead = || match name {
            "help" | "version" => format!(": did you mean --{name}?"),
            "mpich" | "openmpi" | "impi" => "; it is an MPI: use --mpi mpich,openmpi".to_owned(),
            _ if std::path::Path::new(name).is_file() => {
                format!("; for a file: --layout {name} if it has a datatype, --pack {name} if it is a loop")
            }
            _ => nearest(&names, name).unwrap_or_else(|| "; `ddtbench list` shows all".to_owned()),
        };
        let unknown = || ParameterError::Other(format!("no test is called {name:?}{}", instead()));
        let is_it = |known: &str| known.eq_ignore_ascii_case(name);
        all.find(|test| is_it(test.name) || test.original_name.is_some_and(is_it)).ok_or_else(unknown)
    }

    /// The values of a named set.
    ///
    /// # Errors
    /// An unknown name; the error lists the valid ones.
    pub fn set(&self, name: &str) -> Result<Values, ParameterError> {
        let set = self.sets.iter().find(|set| set.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let candidates: Vec<_> = self.sets.iter().map(|set| set.name).collect();
            ParameterError::unknown(self.name, "parameter set", name, &candidates)
        })?;
        let texts = set.values.split(' ').zip(self.parameters);
        let values =
            texts.map(|(text, parameter)| parameter.read(text).expect("a set has values of their kinds"));
        Ok(Values::of_set(self.name, self.parameters, values.collect()))
    }

    /// The set that the preset `quick` runs. Single values change this one if no set is named.
    pub fn quick_set(&self) -> &'static ParameterSet {
        self.sets.iter().find(|set| set.preset == Preset::Quick).expect("every test has a quick set")
    }

    /// The sets of a preset, in table order.
    pub fn sets_of(&self, preset: Preset) -> impl Iterator<Item = &'static ParameterSet> {
        self.sets.iter().filter(move |set| set.preset <= preset)
    }
}

impl Test {
    /// The micro-app with these values.
    ///
    /// # Errors
    /// A value that the application cannot have, with what would be right; arrays that cannot be addressed.
    pub fn build(&self, values: &Values, context: Context) -> Built {
        values.refuse_idle()?;
        (self.make)(values, context)
    }
}

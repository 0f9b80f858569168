//! A layout as statements of a program that makes the datatype: in C, and in Fortran with the module `mpi_f08`.

use std::fmt::Write;

use crate::text::{argument_names, signature};
use crate::{Argument, Construction, Constructor, Layout};

/// A language that MPI has an interface for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99 or newer, within a function.
    C,
    /// Fortran 2008: declarations, then statements.
    Fortran,
}

impl Language {
    pub const fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Fortran => "Fortran",
        }
    }
}

impl Layout {
    /// The statements that make the datatype `newtype` and commit it.
    pub fn code(&self, language: Language) -> String {
        self.code_of(language, Construction::Usual)
    }

    /// The same with another construction.
    pub fn code_of(&self, language: Language, construction: Construction) -> String {
        let (declarations, statements, parts) = (String::new(), String::new(), Vec::new());
        let (lists, has_loop, is_large) = (0, false, false);
        let mut code =
            Code { language, construction, declarations, statements, parts, lists, has_loop, is_large };
        let datatype = code.add(self, true);
        code.finish(&datatype)
    }
}

/// Characters of a line, if its parts are no longer: indented it fits a terminal of 80 columns. Fortran takes 132.
const LINE: usize = 72;
/// Characters of a list that is an argument itself; longer ones are variables.
const SHORT_LIST: usize = 60;
/// The fewest values for which a loop is easier to read than a list.
const FEWEST_OF_LOOP: usize = 6;

struct Code<'a> {
    language: Language,
    construction: Construction,
    declarations: String,
    statements: String,
    /// Types made on the way.
    parts: Vec<(&'a Layout, String)>,
    /// Lists that are variables.
    lists: usize,
    /// Whether Fortran needs a loop variable.
    has_loop: bool,
    /// Whether an argument of the call being written is beyond `int`, so that all counts and places are of type `MPI_Count`.
    is_large: bool,
}

impl<'a> Code<'a> {
    /// Adds what makes a type after its children, and gives its name. A child that several parents share is made once.
    fn add(&mut self, layout: &'a Layout, is_last: bool) -> String {
        if let Constructor::Named { element } = layout.constructor() {
            return element.constants()[self.language as usize].to_owned();
        }
        if let Some((_, known)) = self.parts.iter().rfind(|(known, _)| *known == layout) {
            return known.clone();
        }
        let children = layout.constructor().children();
        let types: Vec<String> = children.iter().map(|child| self.add(child, false)).collect();
        self.is_large = self.construction == Construction::Large || is_beyond_int(layout.constructor());
        let is_duplicated = self.construction == Construction::Duplicated;
        let new = |code: &Self, is_part: bool| match is_part {
            true => format!("part{}", code.parts.len() + 1),
            false => "newtype".to_owned(),
        };
        let mut datatype = new(self, is_duplicated || !is_last);
        let mut texts = self.arguments(layout.constructor(), &types);
        texts.push(self.reference(&datatype));
        let name = layout.constructor().name();
        let create = if ["contiguous", "vector", "indexed"].contains(&name) { "" } else { "create_" };
        let suffix = if self.is_large && self.language == Language::C { "_c" } else { "" };
        self.call(&format!("MPI_Type_{create}{name}{suffix}"), &texts);
        if is_duplicated {
            self.parts.push((layout, datatype.clone()));
            let copy = new(self, !is_last);
            let reference = self.reference(&copy);
            self.call("MPI_Type_dup", &[std::mem::replace(&mut datatype, copy), reference]);
        }
        if !is_last {
            self.parts.push((layout, datatype.clone()));
        }
        datatype
    }

    fn finish(mut self, datatype: &str) -> String {
        if datatype != "newtype" {
            // A predefined type is there, and committed.
            return match self.language {
                Language::C => format!("MPI_Datatype newtype = {datatype};\n"),
                Language::Fortran => format!("type(MPI_Datatype) :: newtype\nnewtype = {datatype}\n"),
            };
        }
        let parts: Vec<String> = std::mem::take(&mut self.parts).into_iter().map(|(_, name)| name).collect();
        let freed = parts.iter().map(|part| ("MPI_Type_free", part.as_str()));
        for (function, name) in freed.chain([("MPI_Type_commit", datatype)]) {
            let reference = self.reference(name);
            self.call(function, &[reference]);
        }
        let types = [&["newtype".to_owned()], &parts[..]].concat();
        let Self { language, declarations, statements, has_loop, .. } = self;
        let (begin, end) = match language {
            Language::C => ("MPI_Datatype ", ";"),
            Language::Fortran => ("type(MPI_Datatype) :: ", ""),
        };
        let types: String = chunks(&types, LINE - begin.len())
            .map(|names| format!("{begin}{}{end}\n", names.join(", ")))
            .collect();
        let counter = if has_loop && language == Language::Fortran { "integer :: i\n" } else { "" };
        format!("{types}{counter}{declarations}{statements}")
    }

    /// A type as an argument that a call changes.
    fn reference(&self, name: &str) -> String {
        if self.language == Language::C { format!("&{name}") } else { name.to_owned() }
    }

    fn call(&mut self, function: &str, arguments: &[String]) {
        let (begin, end, go_on) = match self.language {
            Language::C => (format!("{function}("), ");\n", "\n"),
            Language::Fortran => (format!("call {function}("), ")\n", " &\n"),
        };
        let mut column = begin.len();
        self.statements += &begin;
        for (i, argument) in arguments.iter().enumerate() {
            if i > 0 && column + argument.len() > LINE {
                let _ = write!(self.statements, ",{go_on}    {argument}");
                column = 4 + argument.len();
                continue;
            }
            let _ = write!(self.statements, "{}{argument}", if i > 0 { ", " } else { "" });
            column += 2 + argument.len();
        }
        self.statements += end;
    }

    /// The arguments of a call without the new type.
    fn arguments(&mut self, constructor: &Constructor, types: &[String]) -> Vec<String> {
        let is_c = self.language == Language::C;
        let constant = |name: &str| format!("MPI_DISTRIBUTE_{}", name.to_uppercase());
        let names = argument_names(signature(constructor.name()).unwrap_or_default());
        let mut texts: Vec<String> = Vec::new();
        for (name, argument) in names.zip(constructor.arguments()) {
            let name = name.trim_matches(['[', ']']).trim_end_matches("_bytes");
            let int = if is_c { "int" } else { "integer" };
            let of = match (self.is_large, argument) {
                (true, _) if is_c => "MPI_Count",
                (true, _) => "integer(kind=MPI_COUNT_KIND)",
                (false, Argument::Addresses(_)) if is_c => "MPI_Aint",
                (false, Argument::Addresses(_)) => "integer(kind=MPI_ADDRESS_KIND)",
                (false, _) => int,
            };
            texts.push(match argument {
                Argument::Number(value) if ALWAYS_INT.contains(&name) => value.to_string(),
                Argument::Number(value) => self.count(*value),
                Argument::Address(value) => self.address(*value),
                Argument::List(list) if ALWAYS_INT.contains(&name) => {
                    self.list(name, int, list.iter().map(i64::to_string).collect(), None)
                }
                Argument::List(list) => {
                    self.list(name, of, list.iter().map(|value| self.count(*value)).collect(), Some(list))
                }
                Argument::Addresses(list) => {
                    self.list(name, of, list.iter().map(|value| self.address(*value)).collect(), Some(list))
                }
                Argument::Order(order) => format!("MPI_ORDER_{}", order.name().to_uppercase()),
                Argument::Distributions(list) => {
                    let values = list.iter().map(|distribution| constant(distribution.name())).collect();
                    self.list(name, int, values, None)
                }
                Argument::Blocks(list) => {
                    let value = |value: &Option<i64>| {
                        value.map_or_else(|| constant("dflt_darg"), |value| value.to_string())
                    };
                    self.list(name, int, list.iter().map(value).collect(), None)
                }
                Argument::Type(_) => types[0].clone(),
                Argument::Types(_) => {
                    let of = if is_c { "MPI_Datatype" } else { "type(MPI_Datatype)" };
                    self.list(name, of, types.to_vec(), None)
                }
            });
        }
        if let Some((place, length)) = constructor.list_length() {
            let is_of_array =
                matches!(constructor, Constructor::Subarray { .. } | Constructor::Darray { .. });
            texts.insert(place, if is_of_array { length.to_string() } else { self.count(length) });
        }
        if let Constructor::Resized { .. } = constructor {
            texts.rotate_right(1);
        }
        texts
    }

    fn address(&self, value: i64) -> String {
        match self.language {
            Language::C => value.to_string(),
            Language::Fortran if self.is_large => format!("{value}_MPI_COUNT_KIND"),
            Language::Fortran => format!("{value}_MPI_ADDRESS_KIND"),
        }
    }

    /// A number that is of type `int` in calls without large numbers.
    fn count(&self, value: i64) -> String {
        if self.is_large { self.address(value) } else { value.to_string() }
    }

    /// A list as an argument: itself if it is short, otherwise a variable, or in Fortran a loop within
    /// brackets. `numbers`: the values, if they are numbers.
    fn list(&mut self, name: &str, of: &str, values: Vec<String>, numbers: Option<&[i64]>) -> String {
        let is_c = self.language == Language::C;
        if values.is_empty() {
            // Neither language has an empty list without its type.
            return if is_c { "NULL".to_owned() } else { format!("[{of} ::]") };
        }
        let progression = of_loop(&values, numbers);
        let short = values.join(", ");
        if short.len() <= SHORT_LIST && (progression.is_none() || values.len() < FEWEST_OF_LOOP) {
            return match self.language {
                Language::C => format!("({of}[]){{{short}}}"),
                Language::Fortran => format!("[{short}]"),
            };
        }
        let value = progression.map(|(start, step)| match (start, step) {
            (start, 0) => start,
            (start, step) => {
                let is_long = of != "int" && of != "integer";
                let step = match is_long {
                    true if is_c => format!("({of}){step}"),
                    true => self.address(step),
                    false => step.to_string(),
                };
                if start.starts_with('0') { format!("{step} * i") } else { format!("{start} + {step} * i") }
            }
        });
        let length = values.len();
        if let (false, Some(value)) = (is_c, &value) {
            self.has_loop = true;
            return format!("[({value}, i = 0, {})]", length - 1);
        }
        self.lists += 1;
        let name = format!("{name}{}", self.lists);
        match (is_c, value) {
            (true, Some(value)) => {
                let _ = writeln!(self.declarations, "{of} {name}[{length}];");
                let _ = writeln!(self.statements, "for (int i = 0; i < {length}; i++) {name}[i] = {value};");
            }
            // A statement too: its values may be types that were made just before.
            (true, None) => {
                let _ = writeln!(self.statements, "{of} {name}[{length}] = {{");
                chunks(&values, LINE)
                    .for_each(|line| self.statements += &format!("    {},\n", line.join(", ")));
                self.statements += "};\n";
            }
            (false, _) => {
                let _ = writeln!(self.declarations, "{of} :: {name}({length})");
                let mut from = 1;
                // In front of them is the name, with two numbers, which are rarely longer than 5 digits.
                let room = LINE.saturating_sub(name.len() + "(12345:12345) = []".len());
                for line in chunks(&values, room) {
                    let to = from + line.len() - 1;
                    let _ = writeln!(self.statements, "{name}({from}:{to}) = [{}]", line.join(", "));
                    from = to + 1;
                }
            }
        }
        name
    }
}

/// Neighbouring values that take at most `room` characters with ", " between them, or one that is longer.
pub(crate) fn chunks(values: &[String], room: usize) -> impl Iterator<Item = &[String]> {
    let mut column = 0;
    values.chunk_by(move |value, next| {
        column += value.len() + 2;
        let fits = column + next.len() <= room;
        if !fits {
            column = 0;
        }
        fits
    })
}

/// The first value and the step, if values are at even distances or all the same.
fn of_loop(values: &[String], numbers: Option<&[i64]>) -> Option<(String, i64)> {
    let first = values.first()?.clone();
    let step = match numbers {
        Some([first, second, ..]) => second.checked_sub(*first)?,
        _ => 0,
    };
    let is_even = match numbers {
        Some(numbers) => numbers.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step)),
        None => values.iter().all(|value| *value == first),
    };
    (is_even && step >= 0).then_some((first, step))
}

/// Arguments that are of type `int` also in calls with large counts.
const ALWAYS_INT: [&str; 3] = ["size", "rank", "psizes"];

/// Whether a constructor has a number that must be an `int`, and does not fit.
fn is_beyond_int(constructor: &Constructor) -> bool {
    let is_beyond = |value: &i64| i32::try_from(*value).is_err();
    let names = argument_names(signature(constructor.name()).unwrap_or_default());
    let mut arguments = names.map(|name| name.trim_matches(['[', ']'])).zip(constructor.arguments());
    arguments.any(|(name, argument)| match argument {
        _ if ALWAYS_INT.contains(&name) => false,
        Argument::Number(value) => is_beyond(value),
        Argument::List(list) => list.iter().any(is_beyond),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;

    /// `code.txt` has layouts with their code: C, Fortran, or C with constructors of another kind. Its lists
    /// of squares are 100 times those of 1, 2, and so on.
    #[test]
    fn code_of_layouts() {
        let squares =
            |count: i64| (1..=count).map(|i| (100 * i * i).to_string()).collect::<Vec<_>>().join(", ");
        let types =
            (1..20).map(|count| format!("contiguous({count}, double)")).collect::<Vec<_>>().join(", ");
        let ones = vec!["1"; 19].join(", ");
        let mut found = String::new();
        for section in include_str!("code.txt").split("=== ").skip(1) {
            let title = section.lines().next().unwrap();
            let (kind, text) = title.split_once(": ").unwrap();
            let text = text.replace("20 squares", &squares(20)).replace("19 squares", &squares(19));
            let text = text.replace("19 types", &types).replace("19 ones", &ones);
            let layout: Layout = text.parse().unwrap();
            let code = match kind {
                "C" => layout.code(Language::C),
                "Fortran" => layout.code(Language::Fortran),
                "large" => layout.code_of(Language::C, Construction::Large),
                _ => layout.code_of(Language::C, Construction::Duplicated),
            };
            found += &format!("=== {title}\n{code}");
        }
        assert_eq!(found, include_str!("code.txt"));
    }

    #[test]
    fn no_line_is_longer_than_fortran_takes() {
        let random = (0..500).map(|seed| crate::unusual::unusual_layout(seed, 5));
        // Places far apart, and many types.
        let places: Vec<i64> = (1..60).map(|i| 1_000_003 * i * i).collect();
        let parts: Vec<Layout> = (1..60)
            .map(|count| Layout::contiguous(count, &Layout::named(Element::Double)).unwrap())
            .collect();
        let ones = vec![1; places.len()];
        let places_of_doubles = Layout::hindexed(&ones, &places, &parts[0]).unwrap();
        let structure = Layout::structure(&ones, &places, &parts).unwrap();
        for layout in random.chain([places_of_doubles, structure]) {
            for language in [Language::C, Language::Fortran] {
                let code = layout.code(language);
                assert!(code.lines().all(|line| line.len() <= 132), "{code}");
            }
        }
    }
}

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

    /// A list as an argument: itself if it is short, otherwise a variable, or in Fortran a loop within brackets. `numbers`: the values, if
    /// they are numbers.
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
    #[test]
    fn constructors_have_large_counts_or_are_duplicated_on_request() {
        let layout: Layout = "resized(0, 16, vector(2, 1, 3, int32))".parse().unwrap();
        let large = layout.code_of(Language::C, Construction::Large);
        assert!(large.contains("MPI_Type_vector_c(2, 1, 3, MPI_INT32_T, &part1);"), "{large}");
        assert!(large.contains("MPI_Type_create_resized_c(part1, 0, 16, &newtype);"), "{large}");
        let duplicated = layout.code_of(Language::C, Construction::Duplicated);
        for line in [
            "MPI_Datatype newtype, part1, part2, part3;",
            "MPI_Type_dup(part1, &part2);",
            "MPI_Type_create_resized(part2, 0, 16, &part3);",
            "MPI_Type_dup(part3, &newtype);",
            "MPI_Type_free(&part3);",
        ] {
            assert!(duplicated.contains(line), "{line} is not in:\n{duplicated}");
        }
    }

    use super::*;
    use crate::Element;

    fn code(layout: &str, language: Language) -> String {
        layout.parse::<Layout>().unwrap().code(language)
    }

    #[test]
    fn a_datatype_is_made_by_the_calls_of_its_constructors() {
        let nest = "resized(0, 262144, hvector(32, 1, 8192, hvector(32, 1, 256, double)))";
        assert_eq!(
            code(nest, Language::C),
            "MPI_Datatype newtype, part1, part2;\n\
             MPI_Type_create_hvector(32, 1, 256, MPI_DOUBLE, &part1);\n\
             MPI_Type_create_hvector(32, 1, 8192, part1, &part2);\n\
             MPI_Type_create_resized(part2, 0, 262144, &newtype);\n\
             MPI_Type_free(&part1);\n\
             MPI_Type_free(&part2);\n\
             MPI_Type_commit(&newtype);\n"
        );
        assert_eq!(
            code("subarray([1024, 32], [1024, 1], [0, 0], c, double)", Language::Fortran),
            "type(MPI_Datatype) :: newtype\n\
             call MPI_Type_create_subarray(2, [1024, 32], [1024, 1], [0, 0], &\n    \
             MPI_ORDER_C, MPI_DOUBLE_PRECISION, newtype)\n\
             call MPI_Type_commit(newtype)\n"
        );
    }

    #[test]
    fn numbers_beyond_int_are_counts() {
        // Without the ends of lines within calls.
        let found =
            |layout: &str, language| code(layout, language).replace(" &\n    ", " ").replace("\n    ", " ");
        for (layout, language, call) in [
            (
                "indexed_block(1, [0, 3000000000], double)",
                Language::C,
                "MPI_Type_create_indexed_block_c(2, 1, (MPI_Count[]){0, 3000000000}, MPI_DOUBLE, &newtype);",
            ),
            (
                "indexed_block(1, [0, 3000000000], double)",
                Language::Fortran,
                "call MPI_Type_create_indexed_block(2_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, [0_MPI_COUNT_KIND, \
                 3000000000_MPI_COUNT_KIND], MPI_DOUBLE_PRECISION, newtype)",
            ),
            // The number of dimensions is an int also then.
            (
                "subarray([3000000000], [2], [0], c, byte)",
                Language::C,
                "MPI_Type_create_subarray_c(1, (MPI_Count[]){3000000000}, (MPI_Count[]){2}, (MPI_Count[]){0}, MPI_ORDER_C,",
            ),
        ] {
            let found = found(layout, language);
            assert!(found.contains(call), "{found}");
        }
    }

    #[test]
    fn long_lists_are_loops_or_variables() {
        let even = "indexed_block(1, [4, 9, 14, 19, 24, 29, 34], float)";
        assert_eq!(
            code(even, Language::C),
            "MPI_Datatype newtype;\nint displacements1[7];\n\
             for (int i = 0; i < 7; i++) displacements1[i] = 4 + 5 * i;\n\
             MPI_Type_create_indexed_block(7, 1, displacements1, MPI_FLOAT, &newtype);\n\
             MPI_Type_commit(&newtype);\n"
        );
        let even = "hindexed([1, 1, 1, 1, 1, 1], [0, 8, 16, 24, 32, 40], float)";
        let found = code(even, Language::Fortran);
        assert!(found.contains("integer :: i\n") && found.contains("[(1, i = 0, 5)]"), "{found}");
        assert!(found.contains("[(8_MPI_ADDRESS_KIND * i, i = 0, 5)]"), "{found}");
        let list: Vec<i64> = (0..20).map(|i| 100 * i * i).collect();
        let layout = Layout::indexed_block(1, &list, &Layout::named(Element::Int32)).unwrap();
        let (c, fortran) = (layout.code(Language::C), layout.code(Language::Fortran));
        assert!(c.contains("int displacements1[20] = {\n    0, 100, 400,"), "{c}");
        assert!(
            fortran.contains("displacements1(15:20) = [19600, 22500, 25600, 28900, 32400, 36100]"),
            "{fortran}"
        );
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

    #[test]
    fn a_list_of_types_is_filled_after_they_are_made() {
        let parts: Vec<Layout> = (1..20)
            .map(|count| Layout::contiguous(count, &Layout::named(Element::Double)).unwrap())
            .collect();
        let places: Vec<i64> = (1..20).map(|i| 1000 * i * i).collect();
        let code = Layout::structure(&[1; 19], &places, &parts).unwrap();
        for (language, list) in [(Language::C, "MPI_Datatype types"), (Language::Fortran, "types2(1:")] {
            let code = code.code(language);
            let [made, filled] = ["MPI_Type_contiguous(19,", list].map(|text| code.find(text).expect(text));
            assert!(made < filled, "{code}");
        }
    }

    #[test]
    fn a_list_without_values_has_its_type() {
        let layout = Layout::hindexed(&[], &[], &Layout::named(Element::Double)).unwrap();
        assert!(layout.code(Language::C).contains("MPI_Type_create_hindexed(0, NULL, NULL, MPI_DOUBLE"));
        let fortran = layout.code(Language::Fortran);
        let fortran = fortran.replace("&\n    ", "");
        assert!(fortran.contains("(0, [integer ::], [integer(kind=MPI_ADDRESS_KIND) ::],"), "{fortran}");
    }
}

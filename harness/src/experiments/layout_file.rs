//! Layouts that a user gives as text or in a file become cases of the test [`LAYOUT`]. The case contains the
//! layouts, so that a recorded plan needs no file.

use std::path::Path;
use std::sync::OnceLock;

use apps::halo::MESSAGES;
use apps::{Context, LAYOUT, Layouts, ParameterError, UNNAMED};
use datatypes::{Definitions, ListForm, index_list, repeated_index};
use serde::Deserialize;

use super::planned::PlannedCase;

/// Valid input, for error messages.
const EXAMPLE: &str = "a layout such as vector(408, 5, 2050, double), or a file with one";

/// A file with layouts: TOML, or the text of the sent layout.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Given<L = Layouts> {
    name: Option<String>,
    send: L,
    receive: Option<L>,
    /// The ranks that send each layout, if each is a message of an exchange, and those that receive them.
    from: Option<Vec<usize>>,
    to: Option<Vec<usize>>,
}

/// Makes a case of user input: a layout, a file with layouts, or `-` for such a text on standard input.
///
/// # Errors
/// The invalid part, its place, and valid input.
pub fn case(typed: &str, definitions: &Definitions) -> Result<PlannedCase, String> {
    let path = Path::new(typed);
    let (source, mut given) = if typed == "-" {
        // Several definitions need it several times.
        static READ: OnceLock<Result<String, String>> = OnceLock::new();
        let read =
            READ.get_or_init(|| std::io::read_to_string(std::io::stdin()).map_err(|error| error.to_string()));
        let given = read.as_ref().map_err(String::clone).and_then(|text| parse(text, definitions));
        ("standard input", given.map_err(|reason| format!("standard input: {reason}"))?)
    } else if path.is_file() {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{typed}: {error}"))?;
        let is_loop = text.contains("pack(") && !text.to_ascii_lowercase().contains("mpi_type");
        let mut given = parse(&text, definitions).map_err(|reason| match is_list(&text) {
            _ if is_loop => format!("{typed}: no MPI datatype in it: is it a loop for --pack?"),
            true => format!("{typed} is a list of numbers: give it as 'indexed_block(1, @{typed}, double)', with base=1 after the name if the first index is 1"),
            false => format!("{typed}: {reason}"),
        })?;
        given.name = given.name.or_else(|| name_of(path));
        (typed, given)
    } else {
        match Layouts::typed(typed, definitions) {
            Ok(send) => {
                let name = lists(typed).next().and_then(|(file, _)| name_of(Path::new(&file)));
                ("layout", Given { name, send, receive: None, from: None, to: None })
            }
            Err(error) if typed.contains(['(', ';']) => return Err(format!("layout {typed:?}: {error}")),
            Err(_) => return Err(format!("file not found: {typed} (and it is not {EXAMPLE})")),
        }
    };
    let parts = given.name.into_iter().chain(Some(definitions.label()).filter(|label| !label.is_empty()));
    given.name = Some(parts.collect::<Vec<_>>().join("_")).filter(|name| !name.is_empty());
    planned(&given).map_err(|error| {
        let text = std::fs::read_to_string(path).unwrap_or_else(|_| typed.to_owned());
        let repeated = lists(&text).find_map(|(file, form)| {
            let list = std::fs::read_to_string(&file).ok()?;
            let (number, [first, second]) = repeated_index(&list, form)?;
            let lines =
                if first == second { format!("line {first}") } else { format!("lines {first} and {second}") };
            let advice = match leading_count(&list, form) {
                Some(_) => "add count=first if the list begins with its count",
                None => "remove one if it is a mistake",
            };
            Some(format!("{file} has index {number} twice, in {lines}; {advice}: "))
        });
        let is_of_receiver = error.to_string().contains(WRITTEN_TWICE);
        format!("{source}: {}{error}", repeated.filter(|_| is_of_receiver).unwrap_or_default())
    })
}

/// Part of the reason why a layout cannot be received.
const WRITTEN_TWICE: &str = "must write each byte only once";

/// A warning for each list in a file that seems to begin with its count, although the layout does not say so.
pub fn likely_counts(typed: &String) -> Vec<String> {
    let text = std::fs::read_to_string(typed).unwrap_or_else(|_| typed.clone());
    let warning = |(file, form): (String, ListForm)| {
        let n = leading_count(&std::fs::read_to_string(&file).ok()?, form)?;
        let advice = "add count=first if that is the count";
        Some(format!("warning: {file} begins with {n}, and {n} numbers follow: {advice}"))
    };
    lists(&text).filter_map(warning).collect()
}

/// The first number of a list, if as many follow although its form does not say so.
fn leading_count(list: &str, form: ListForm) -> Option<usize> {
    // As a counted list it is refused if its first number is another one.
    let counted = index_list(list, ListForm { is_counted: true, ..form }).ok()?;
    (!form.is_counted && !counted.is_empty()).then_some(counted.len())
}

/// The files with lists that a text names, as in `@halo.txt, base=1)`, and their forms.
fn lists(text: &str) -> impl Iterator<Item = (String, ListForm)> {
    text.split('@').skip(1).filter_map(|rest| {
        let options = rest.split(')').next()?.replace(' ', "");
        let name = match rest.chars().next().filter(|c| "'\"".contains(*c)) {
            Some(quote) => rest[1..].split(quote).next()?,
            None => rest.split([',', ')', ' ', '\n']).next().filter(|name| !name.is_empty())?,
        };
        let base = options.split_once("base=").and_then(|(_, base)| base.split(',').next()?.parse().ok());
        let form = ListForm { base: base.unwrap_or(0), is_counted: options.contains("count=first") };
        Some((name.to_owned(), form))
    })
}

/// The name of a file, without characters that a name cannot have.
fn name_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    let part = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    Some(stem.chars().map(part).collect())
}

/// The case, after a check that it can be built.
fn planned(given: &Given) -> Result<PlannedCase, ParameterError> {
    if given.from.is_some() || given.to.is_some() {
        let ranks = |list: &Option<Vec<usize>>| {
            list.iter().flatten().map(usize::to_string).collect::<Vec<_>>().join("x")
        };
        let lists = [("from", &given.from), ("to", &given.to)];
        if let Some((name, _)) = lists.into_iter().find(|(_, list)| list.is_none()) {
            return Err(ParameterError::Other(format!("`{name}` is missing: give one rank for each layout")));
        }
        let mut values = MESSAGES.set(MESSAGES.quick_set().name)?;
        values.assign("name", given.name.as_deref().unwrap_or(UNNAMED))?;
        values.assign("send", &given.send.to_string())?;
        values.assign("receive", &given.receive.as_ref().unwrap_or(&given.send).to_string())?;
        values.assign("from", &ranks(&given.from))?;
        values.assign("to", &ranks(&given.to))?;
        return Ok(PlannedCase::from_test(&MESSAGES, None, &values));
    }
    let mut values = LAYOUT.set(LAYOUT.quick_set().name)?;
    values.assign("name", given.name.as_deref().unwrap_or(UNNAMED))?;
    values.assign("send", &given.send.to_string())?;
    if let Some(receive) = &given.receive {
        values.assign("receive", &receive.to_string())?;
    }
    LAYOUT.build(&values, Context::default())?;
    Ok(PlannedCase::from_test(&LAYOUT, None, &values))
}

/// Refuses names that the text does not have.
pub(super) fn has_names(text: &str, definitions: &Definitions) -> Result<(), String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let has = |name: &str| text.split(|c| !is_name(c)).any(|word| word.eq_ignore_ascii_case(name));
    // A member such as grid.nx may be `grid->nx` in the text.
    let unknown = definitions.names().find(|name| !name.split('.').all(has));
    unknown.map_or(Ok(()), |name| Err(format!("--define {name}=...: nothing is called `{name}`")))
}

pub(crate) fn parse(text: &str, definitions: &Definitions) -> Result<Given, String> {
    let typed = |text: &str| Layouts::typed(text, definitions).map_err(|error| error.to_string());
    // The first line of a layout has no key: `base=1` is within parentheses.
    let is_key = |key: &str| key.trim().chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().and_then(|line| line.split_once('='));
    if first.is_some_and(|(key, value)| is_key(key) && !value.trim_end().ends_with(';')) {
        let Given::<String> { name, send, receive, from, to } =
            toml::from_str(text).map_err(|error| error.to_string())?;
        let side = |text: String| typed(&text);
        return Ok(Given { name, send: side(send)?, receive: receive.map(side).transpose()?, from, to });
    }
    // Positions in the text are positions in the file.
    let send = typed(text)?;
    Ok(Given { name: None, send, receive: None, from: None, to: None })
}

/// Whether the text is a number per line, and thus not a layout.
fn is_list(text: &str) -> bool {
    index_list(text, ListForm::default()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(typed: &str) -> Result<PlannedCase, String> {
        super::case(typed, &Definitions::default())
    }

    fn given(text: &str) -> Given {
        parse(text, &Definitions::default()).unwrap_or_else(|reason| panic!("{text}: {reason}"))
    }

    #[test]
    fn a_file_may_have_a_name_and_both_sides() {
        let both =
            given("name = 'mine'\nsend = 'vector(2, 1, 4, double)'\nreceive = 'contiguous(2, double)'\n");
        assert_eq!(both.name.as_deref(), Some("mine"));
        assert_eq!(both.receive.unwrap().to_string(), "contiguous(2, double)");
        let defined = super::case("vector(n, m, 4, double)", &Definitions::read("n=16,m=2").unwrap());
        assert_eq!(defined.unwrap().params["name"], "m2_n16");
    }

    #[test]
    fn lists_of_both_sides_are_in_files_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("send.txt"), "9\n1\n4\n").unwrap();
        std::fs::write(path("receive.txt"), "1\n2\n3\n").unwrap();
        let side = |name: &str| format!("indexed_block(1, @{}, base=1, double)", path(name));
        let face = format!("send = \"{}\"\nreceive = \"{}\"\n", side("send.txt"), side("receive.txt"));
        std::fs::write(path("face.toml"), face).unwrap();
        std::fs::write(path("face.txt"), format!("# the halo\n{}", side("send.txt"))).unwrap();
        let value = |case: &PlannedCase, name: &str| case.params[name].clone();
        let both = case(&path("face.toml")).unwrap();
        let (send, receive) = ("indexed_block(1,[8,0,3],double)", "indexed_block(1,[0,1,2],double)");
        assert_eq!((value(&both, "send").as_str(), value(&both, "receive").as_str()), (send, receive));
        assert_eq!(value(&case(&side("send.txt")).unwrap(), "send"), send);
        let list = case(&path("send.txt")).unwrap_err();
        assert!(list.contains("is a list of numbers: give it as 'indexed_block(1, @"), "{list}");
    }

    #[test]
    fn the_file_of_the_documentation_can_be_sent() {
        let page = include_str!("../../../docs/my-array.md");
        let (_, file) = page.split_once("```toml\n# face.toml\n").expect("the page has a file");
        let lines: Vec<_> = file.lines().take_while(|line| *line != "```").collect();
        let face = planned(&given(&lines.join("\n"))).unwrap();
        assert_eq!(face.given().count(), 3);
        let (_, code) = page.split_once("```c\n/* particle.c */").expect("the page has a program");
        let code = code.split("```").next().unwrap();
        let given = parse(code, &Definitions::read("n=64").unwrap()).unwrap();
        let expected = "vector(64, 1, 4, resized(0, 40, struct([1, 3], [0, 8], [int32, double])))";
        assert_eq!(given.send.to_string(), expected);
    }

    #[test]
    fn a_list_gives_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my halo.txt");
        std::fs::write(&file, "4\n1, 5 # left\n\n9 5\n").unwrap();
        let of = |options: &str, receive: &str| {
            let list = format!("indexed_block(1, @'{}'{options}, double)", file.display());
            let text =
                if receive.is_empty() { list } else { format!("send = \"{list}\"\nreceive = '{receive}'\n") };
            let path = folder.path().join("both.toml");
            std::fs::write(&path, &text).unwrap();
            case(if receive.is_empty() { &text } else { path.to_str().unwrap() })
        };
        let received = "contiguous(4, double)";
        let notes = |options: &str| likely_counts(&format!("x(@'{}'{options})", file.display())).concat();
        assert!(notes(", base=1").contains("begins with 4, and 4 numbers follow: add count=first"));
        assert_eq!(notes(", count=first"), "");
        let params = of(", base=1, count=first", received).unwrap().params;
        let expected = "indexed_block(1,[0,4,8,4],double)";
        assert_eq!((params["name"].as_str(), params["send"].as_str()), ("both", expected));
        std::fs::write(&file, "1 2 3\n").unwrap();
        assert_eq!((of("", "").unwrap().params["name"].as_str(), notes("").as_str()), ("my_halo", ""));
    }
}

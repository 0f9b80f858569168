//! Names of types as people write them in C, Fortran and MPI, and the name that a slip most likely means.

use std::str::FromStr;

use crate::Element;

/// All names of all predefined types.
fn names() -> impl Iterator<Item = (&'static str, Element)> {
    let of = |element: Element| element.other_names().iter().copied().chain([element.name()]);
    Element::ALL.into_iter().flat_map(move |element| of(element).map(move |name| (name, element)))
}

/// MPI's names of C types begin with these, in lower case.
const PREFIXES: [&str; 4] = ["mpix_c_", "mpix_", "mpi_c_", "mpi_"];

/// The predefined type at the start of `text`, by its longest name, and the bytes that it takes. Letters have any case.
pub fn element(text: &str) -> Option<(Element, usize)> {
    let prefix = PREFIXES.into_iter().find(|prefix| starts_with(text, prefix).is_some()).unwrap_or_default();
    let rest = &text[prefix.len()..];
    let all = names().filter_map(|(name, element)| Some((element, starts_with(rest, name)?)));
    let ends = |&(_, bytes): &(Element, usize)| !rest[bytes..].starts_with(is_of_a_name);
    all.filter(ends).max_by_key(|&(_, bytes)| bytes).map(|(element, bytes)| (element, prefix.len() + bytes))
}

/// How many bytes of `text` match `name` in any case; a blank of the name is one or more of the text, and may stand before any symbol.
fn starts_with(text: &str, name: &str) -> Option<usize> {
    let mut rest = text;
    for wanted in name.chars() {
        let blanks_end = rest.trim_start();
        rest = match wanted {
            ' ' if blanks_end.len() < rest.len() => blanks_end,
            ' ' => return None,
            symbol if !is_of_a_name(symbol) => blanks_end.strip_prefix(symbol)?,
            letter => rest.strip_prefix(|c: char| c.eq_ignore_ascii_case(&letter))?,
        };
        if !is_of_a_name(wanted) && wanted != ' ' {
            rest = rest.trim_start();
        }
    }
    Some(text.len() - rest.len())
}

impl FromStr for Element {
    /// The name that was most likely meant, or all.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        element(text).filter(|&(_, bytes)| bytes == text.len()).map(|(element, _)| element).ok_or_else(|| {
            similar_type(text).map_or_else(
                || {
                    format!(
                        "there are {}, and their names in C, Fortran and MPI",
                        Self::ALL.map(Self::name).join(", ")
                    )
                },
                |near| format!("did you mean {near}?"),
            )
        })
    }
}

/// The name of a predefined type that `name` is most likely a slip of.
fn similar_type(name: &str) -> Option<&'static str> {
    // Not a slip: a type of Fortran that is not among them.
    if name.eq_ignore_ascii_case("logical") {
        return None;
    }
    let names: Vec<&str> = names().map(|(name, _)| name).collect();
    let prefix = PREFIXES.into_iter().find(|prefix| starts_with(name, prefix).is_some()).unwrap_or_default();
    similar(&names, &name[prefix.len()..])
}

/// A constructor's name without `MPI_Type_create_`, in lower case.
pub fn constructor(written: &str) -> String {
    let name = written.to_ascii_lowercase();
    let short = name.strip_prefix("mpi_type_").unwrap_or(&name);
    short.strip_prefix("create_").unwrap_or(short).to_owned()
}

/// Whether names consist of it.
pub fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// That no `what` is called `name`: the name that was most likely meant, then all.
pub fn no_such(what: &str, name: &str, candidates: &[&str]) -> String {
    let all = candidates.join(", ");
    let instead = similar(candidates, name).map_or_else(
        || format!("; there are {all}"),
        |near| format!(": did you mean {near:?}? There are {all}"),
    );
    format!("no {what} is called {name:?}{instead}")
}

/// The candidate that `name` is most likely a slip of; `None` if it is close to none.
pub fn similar<'a>(candidates: &[&'a str], name: &str) -> Option<&'a str> {
    /// Jaro-Winkler similarity from which a name counts as a slip of the other.
    const CLOSE: f64 = 0.75;
    let name = name.to_ascii_lowercase();
    let similarity = |&candidate: &&'a str| {
        let known = candidate.to_ascii_lowercase();
        // In short names, two letters that were exchanged count as many.
        let is_one_slip = name.len() > 2 && strsim::osa_distance(&known, &name) == 1;
        (strsim::jaro_winkler(&known, &name).max(if is_one_slip { 0.9 } else { 0.0 }), candidate)
    };
    let close = candidates.iter().map(similarity).filter(|(similarity, _)| *similarity >= CLOSE);
    close.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_where_no_name_continues() {
        assert_eq!(element("real(8), 3"), Some((Element::Double, 7)));
        for none in
            ["reals", "MPI_DOUBLES", "doubleprecision", "vector(1, 2, 3, double)", "MPI_", "é", "logical"]
        {
            assert_eq!(element(none), None, "{none}");
        }
    }

    /// A name that two types have would be read as one of them.
    #[test]
    fn no_name_is_of_two_types() {
        let mut names: Vec<&str> = names().map(|(name, _)| name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

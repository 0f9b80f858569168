//! The declaration of an array, copied from a program in C or Fortran.

use datatypes::{Element, Order};

/// An array as a program declares it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    pub element: Element,
    /// That of the language.
    pub order: Order,
    /// The extents, as text: for C `52x102`, for Fortran the bounds in brackets.
    pub shape: String,
}

/// Words before or after a type that say nothing about values.
const QUALIFIERS: [&str; 6] = ["const", "static", "extern", "volatile", "restrict", "register"];

/// Reads `double u[52][102][5]`, `real(8) :: u(102, 52)` or `real(8), dimension(102, 52) :: u`. `None` if the text has no type.
///
/// # Errors
/// The invalid part.
pub(super) fn declaration(text: &str) -> Option<Result<Declaration, String>> {
    let text = text.trim().trim_end_matches(';').trim_end();
    if let Some((head, extents)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        let (element, name) = head.trim_end().rsplit_once(' ')?;
        if head.contains('*') {
            return Some(Err(format!("`{name}` is an array of pointers: give the array that they point to")));
        }
        let words = element.split_whitespace().filter(|word| !QUALIFIERS.contains(word));
        let element = words.collect::<Vec<_>>().join(" ");
        let extents = extents.split(']').map(|extent| extent.trim().trim_start_matches('[').trim());
        let extents: Vec<&str> = extents.collect();
        return Some(made(&element, Order::C, extents.join("x"), &extents));
    }
    let (element, bounds) = match text.split_once("::") {
        Some((left, right)) => {
            let attributes = left.to_ascii_lowercase();
            let element = &left[..outside(&attributes, ',').unwrap_or(left.len())];
            let bounds = match right.split_once('(') {
                Some((_, bounds)) => bounds.trim_end().strip_suffix(')')?,
                None => {
                    let from = attributes.find("dimension")?;
                    left[from..].split_once('(')?.1.split_once(')')?.0
                }
            };
            (element, bounds)
        }
        None => {
            let (head, bounds) = text.strip_suffix(')')?.rsplit_once('(')?;
            (head.trim_end().rsplit_once(' ')?.0, bounds)
        }
    };
    let extents: Vec<&str> = bounds.split(',').map(str::trim).collect();
    Some(made(element.trim(), Order::Fortran, format!("({})", extents.join(",")), &extents))
}

/// The same for several declarations joined by `+`, of one type.
///
/// # Errors
/// The invalid part of one of them.
pub(super) fn declarations(text: &str) -> Option<Result<Declaration, String>> {
    let all: Option<Result<Vec<_>, _>> = text.split('+').map(declaration).collect();
    Some(all?.and_then(|mut all| {
        let shapes: Vec<String> = all.iter().map(|declaration| declaration.shape.clone()).collect();
        let first = all.swap_remove(0);
        match all.iter().all(|other| (other.element, other.order) == (first.element, first.order)) {
            true => Ok(Declaration { shape: shapes.join("+"), ..first }),
            false => Err("all arrays must have one type".to_owned()),
        }
    }))
}

/// The place of a character that is not in brackets.
fn outside(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (c == wanted && depth == 0).then_some(at)
    })
}

fn made(element: &str, order: Order, shape: String, extents: &[&str]) -> Result<Declaration, String> {
    let is_number =
        |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || "-+:".contains(c));
    if let Some(unknown) = extents.iter().find(|text| !is_number(text)) {
        return Err(format!("the extent `{unknown}` must be a number: write its value"));
    }
    let element = element.parse().map_err(|instead| format!("the type `{element}` is unknown: {instead}"))?;
    Ok(Declaration { element, order, shape })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_c_and_fortran() {
        for row in include_str!("declaration.txt").lines() {
            let (text, expected) = row.split_once(" => ").unwrap();
            let Declaration { element, order, shape } = declaration(text).unwrap().unwrap();
            assert_eq!(format!("{element} {order:?} {shape}"), expected, "{text}");
        }
        for text in ["102x102", "q(-2:67,7)", "(4,5)", "u[4][5]"] {
            assert_eq!(declaration(text), None, "{text}");
        }
        let wrong = |text: &str| declaration(text).unwrap().unwrap_err();
        assert!(wrong("double u[N][5]").contains("`N` must be a number"));
        assert!(wrong("float *v[4]").contains("pointers"));
        assert!(wrong("doubel u[4]").contains("`doubel` is unknown: did you mean double"));
    }
}

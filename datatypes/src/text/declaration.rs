//! Declarations of a C or Fortran program: variables with their values, structs, and other names of types.

use super::memory::Memory;
use super::reader::{TextError, TextReader};
use crate::{Element, Order};

/// Arrays as a program declares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredArrays {
    /// The type of their elements and the order of the language. `None` of bounds without a type.
    pub of: Option<(Element, Order)>,
    /// The extents of each, in the order of the text.
    pub extents: Vec<Vec<usize>>,
    /// The name of each.
    pub names: Vec<DeclaredName>,
}

/// A name, which may be empty, and the first index of each axis of Fortran, the slowest first.
pub type DeclaredName = (String, Vec<i64>);

/// Reads `double u[52][102][5]`, `real(8), dimension(102, 52) :: u`, or only bounds such as `(102, -1:52)`;
/// several are joined by `+`. `None` of any other text.
///
/// # Errors
/// The place of the error, and valid text.
pub fn declared_arrays(text: &str) -> Option<Result<DeclaredArrays, TextError>> {
    let mut reader = TextReader::new(text);
    reader.scope.is_fortran = !text.contains('[');
    (text.contains(['(', '[']) && !reader.is_at_number()).then(|| reader.arrays())
}

/// How to declare several arrays.
const JOINED: &str = "several arrays are joined by +, such as double u[4] + double v[5]";

/// A variable or a member.
struct Declared {
    name: String,
    /// The first index of each axis of Fortran, the slowest first.
    firsts: Vec<i64>,
    memory: Memory,
    /// Whether its value is a whole number or a type.
    has_number: bool,
}

impl TextReader<'_> {
    fn arrays(&mut self) -> Result<DeclaredArrays, TextError> {
        let mut arrays = DeclaredArrays { of: None, extents: Vec::new(), names: Vec::new() };
        let order = if self.scope.is_fortran { Order::Fortran } else { Order::C };
        loop {
            let place = self.place();
            let (element, mut extents, name) = self.array()?;
            let of = element.map(|element| (element, order));
            if !arrays.extents.is_empty() && of != arrays.of {
                return Err(self.error_at(place, "all arrays must have one type"));
            }
            if self.scope.is_fortran {
                extents.reverse();
            }
            let least = u8::from(of.is_some()).into();
            // At most what MPI takes as `int`.
            let is_extent = |extent: &i64| (least..=i32::MAX.into()).contains(extent);
            if !extents.iter().all(is_extent) {
                let reason = format!("each axis must have an extent, from {least} to {}", i32::MAX);
                return Err(self.error_at(place, reason));
            }
            arrays.of = of;
            arrays.names.push(name);
            arrays.extents.push(extents.into_iter().map(|extent| extent as usize).collect());
            if !self.eat('+') {
                let place = self.place();
                if self.eat(',') || self.eat(';') && !self.is_at_end() {
                    return Err(self.error_at(place, JOINED));
                }
                self.at = place;
                return self.end("a declaration").map(|()| arrays);
            }
        }
    }

    /// Reads a declaration: the type of elements, which bounds without a type do not have, and extents, the
    /// slowest first; the name with its first indices.
    fn array(&mut self) -> Result<(Option<Element>, Vec<i64>, DeclaredName), TextError> {
        self.qualifiers();
        let place = self.place();
        let Some(memory) = self.memory_type()? else {
            let name = self.name();
            if self.scope.is_fortran && self.eat('(') {
                self.at -= 1;
                let (extents, firsts) = self.fortran_extents()?;
                return Ok((None, extents, (name.to_owned(), firsts)));
            }
            if self.eat('[') {
                return Err(self.error_at(place, format!("`{name}` has no type in front of it; {JOINED}")));
            }
            let instead = name.parse::<Element>().err().unwrap_or_default();
            return Err(self.error_at(place, format!("the type `{name}` is unknown: {instead}")));
        };
        self.qualifiers();
        let extents = self.attributes()?;
        let Declared { name, memory, firsts, .. } = self.declared(&memory, &extents)?;
        match memory.array_of() {
            (None, _) => Err(self.error_at(place, format!("`{name}` is an array of pointers or structs: give the array that they point to, or a datatype by --layout"))),
            (_, []) => Err(self.unexpected("an extent", "to declare an array")),
            (element, extents) => Ok((element, extents.to_vec(), (name, firsts))),
        }
    }

    /// Reads words around a type that say nothing about values.
    fn qualifiers(&mut self) {
        let mut place = self.place();
        while ["const", "static", "extern", "inline", "volatile", "restrict", "register"]
            .contains(&self.name())
        {
            place = self.place();
        }
        self.at = place;
    }

    /// Reads a declaration, if one comes next.
    pub(super) fn declaration(&mut self) -> Result<bool, TextError> {
        let start = self.place();
        let mut is_alias = false;
        let mut place;
        loop {
            self.qualifiers();
            place = self.place();
            match self.name() {
                "typedef" => is_alias = true,
                word if self.scope.variables.contains_key(word) => {
                    self.at = start;
                    return Ok(false);
                }
                word if self.scope.is_fortran && word.eq_ignore_ascii_case("type") && !self.eat('(') => {
                    return self.fortran_type().map(|()| true);
                }
                _ => break,
            }
        }
        self.at = place;
        let Some(memory) = self.memory_type()? else {
            self.at = start;
            return Ok(false);
        };
        let extents = self.attributes()?;
        while self.scope.is_fortran || !self.eat(';') {
            let Declared { name, firsts, memory, has_number } = self.declared(&memory, &extents)?;
            if !self.scope.is_fortran && self.eat('(') {
                return self.parameters().map(|()| true);
            }
            let key = self.scope.key(&name);
            if is_alias {
                self.scope.types.insert(key, memory);
            } else {
                let variable = self.scope.variables.entry(key).or_default();
                variable.is_list |= !memory.is_scalar();
                (variable.first, variable.memory) = (firsts.first().copied().unwrap_or(0), Some(memory));
                if self.eat('=') {
                    match has_number {
                        true => self.assigned(&name, None, None)?,
                        false => {
                            self.skip_to(if self.scope.is_fortran { &[',', ';', '\n'] } else { &[',', ';'] })
                        }
                    }
                }
            }
            if !self.eat(',') {
                if !self.scope.is_fortran {
                    self.symbol(';', || "the end of a declaration".to_owned())?;
                }
                break;
            }
        }
        Ok(true)
    }

    /// Reads the parameters of a function of C. They have no values here, unless they are given.
    fn parameters(&mut self) -> Result<(), TextError> {
        loop {
            let place = self.place();
            self.qualifiers();
            let memory = self.memory_type().ok().flatten();
            self.qualifiers();
            match memory.map(|memory| self.declared(&memory, &Default::default())) {
                Some(Ok(Declared { name, memory, .. })) => {
                    // An array is a pointer to its first element.
                    let pointed = memory.clone().pointed().filter(|_| !memory.is_scalar());
                    let memory = pointed.map_or(memory, Memory::pointer_to);
                    let variable = self.scope.variables.entry(name).or_default();
                    variable.memory = Some(memory);
                    if !variable.is_given {
                        variable.values.clear();
                    }
                }
                _ => self.at = place,
            }
            self.skip_to(&[',', ')']);
            if !self.eat(',') {
                return self.symbol(')', || "the end of the parameters of a function".to_owned());
            }
        }
    }

    /// Reads what Fortran has between a type and the names: the extents of `dimension(...)`.
    fn attributes(&mut self) -> Result<(Vec<i64>, Vec<i64>), TextError> {
        let mut extents = (Vec::new(), vec![1]);
        while self.scope.is_fortran && self.eat(',') {
            if self.name().eq_ignore_ascii_case("dimension") {
                extents = self.fortran_extents()?;
            } else if self.eat('(') {
                self.skip_to(&[')']);
                self.eat(')');
            }
        }
        if self.scope.is_fortran && self.eat(':') {
            self.symbol(':', || "before the names of a declaration".to_owned())?;
        }
        Ok(extents)
    }

    /// Reads a name that is declared, with its extents.
    fn declared(&mut self, memory: &Memory, extents: &(Vec<i64>, Vec<i64>)) -> Result<Declared, TextError> {
        let mut memory = memory.clone();
        let mut has_number = memory.can_be_number();
        while self.eat('*') {
            (memory, has_number) = (Memory::pointer_to(memory), false);
            self.qualifiers();
        }
        let name = self.name().to_owned();
        if name.is_empty() {
            return Err(self.unexpected("a name", "of a variable or a member"));
        }
        let (mut own, mut firsts) = (Vec::new(), Vec::new());
        if self.scope.is_fortran {
            (own, firsts) = extents.clone();
            if self.eat('(') {
                self.at -= 1;
                (own, firsts) = self.fortran_extents()?;
            }
        }
        while !self.scope.is_fortran && self.eat('[') {
            own.push(if self.eat(']') { 0 } else { self.extent(']')? });
        }
        Ok(Declared { name, firsts, memory: memory.array(own), has_number })
    }

    fn extent(&mut self, close: char) -> Result<i64, TextError> {
        let extent = self.expression("an extent")?;
        self.symbol(close, || "after an extent".to_owned())?;
        Ok(extent)
    }

    /// Reads `(n, 0:m)`: extents and first indices, the slowest first. `:` is an extent that is not known.
    fn fortran_extents(&mut self) -> Result<(Vec<i64>, Vec<i64>), TextError> {
        let (mut extents, mut firsts) = (Vec::new(), Vec::new());
        self.symbol('(', || "before extents".to_owned())?;
        loop {
            let (mut extent, mut first) = (0, 1);
            if !self.eat(':') {
                extent = self.expression("an extent")?;
                if self.eat(':') {
                    first = extent;
                    extent =
                        self.expression("the last index of an axis")?.saturating_sub(first).saturating_add(1);
                }
            }
            extents.insert(0, extent);
            firsts.insert(0, first);
            if !self.eat(',') {
                break;
            }
        }
        self.symbol(')', || "after extents".to_owned())?;
        Ok((extents, firsts))
    }

    /// Reads the declaration of members up to its end.
    pub(super) fn members(&mut self) -> Result<Vec<(String, Memory)>, TextError> {
        let place = self.place();
        let Some(memory) = self.memory_type()? else {
            return Err(self.unexpected("a type of C or Fortran", "as that of a member"));
        };
        let extents = self.attributes()?;
        let mut members = Vec::new();
        loop {
            let Declared { name, memory, .. } = self.declared(&memory, &extents)?;
            if memory.bytes() == 0 {
                let reason = format!("the bytes of `{name}` differ between MPIs, or are not known");
                return Err(self.error_at(place, reason));
            }
            members.push((name, memory));
            if !self.eat(',') {
                break;
            }
        }
        if !self.scope.is_fortran {
            self.symbol(';', || "the end of a member".to_owned())?;
        }
        Ok(members)
    }

    /// Reads a derived type of Fortran after `type`, up to `end type NAME`.
    fn fortran_type(&mut self) -> Result<(), TextError> {
        self.attributes()?;
        let tag = self.name();
        let mut members = Vec::new();
        loop {
            let place = self.place();
            match &*self.name().to_ascii_lowercase() {
                "sequence" => {}
                "end" | "endtype" => break,
                _ => {
                    self.at = place;
                    members.extend(self.members()?);
                }
            }
        }
        self.scope.types.insert(self.scope.key(tag), Memory::with_members(members));
        for word in ["type", tag] {
            let place = self.place();
            if !self.name().eq_ignore_ascii_case(word) {
                self.at = place;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_programs_declare_them() {
        let joined = |list: &Vec<usize>| list.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let shown = |text: &str| {
            let DeclaredArrays { of, extents, names } = declared_arrays(text)?.ok()?;
            let of = of.map_or("bounds".to_owned(), |(element, order)| format!("{element} {}", order.name()));
            let firsts = names.iter().find(|(_, firsts)| firsts.iter().any(|first| *first != 1));
            let firsts = firsts.map_or_else(String::new, |(name, firsts)| format!(" {name}{firsts:?}"));
            Some(format!("{of} {}{firsts}", extents.iter().map(joined).collect::<Vec<_>>().join("+")))
        };
        let rows = include_str!("declared.txt").lines().filter(|row| !row.starts_with('#'));
        for (text, expected) in rows.map(|row| row.split_once(" => ").unwrap()) {
            let error = || declared_arrays(text).unwrap().unwrap_err().to_string();
            let found = shown(text).unwrap_or_else(error);
            let is_it = found.starts_with(expected) && (found == expected || found.starts_with("column"));
            assert!(is_it, "{text}: {found}");
        }
        assert_eq!(["102x102", "none", "-1x3"].map(|text| declared_arrays(text).is_none()), [true; 3]);
    }
}

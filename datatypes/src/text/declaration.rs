//! Declarations of a C or Fortran program: variables with their values, structs, and other names of types.

use super::memory::Memory;
use super::reader::{TextError, TextReader};

/// A variable or a member.
struct Declared {
    name: String,
    /// Its first index.
    first: i64,
    memory: Memory,
    /// Whether its value is a whole number or a type.
    has_number: bool,
}

impl TextReader<'_> {
    /// Reads a declaration, if one comes next.
    pub(super) fn declaration(&mut self) -> Result<bool, TextError> {
        let start = self.place();
        let mut is_alias = false;
        let mut place;
        loop {
            place = self.place();
            match self.name() {
                "const" | "static" | "volatile" | "register" | "extern" => {}
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
            let Declared { name, first, memory, has_number } = self.declared(&memory, &extents)?;
            let key = self.scope.key(&name);
            if is_alias {
                self.scope.types.insert(key, memory);
            } else {
                let variable = self.scope.variables.entry(key).or_default();
                variable.is_list |= !memory.is_scalar();
                (variable.first, variable.memory) = (first, Some(memory));
                if self.eat('=') {
                    match has_number {
                        true => self.assigned(&name, None, None)?,
                        false => self.skip_to(&[',', ';']),
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

    /// Reads what Fortran has between a type and the names: the extents of `dimension(...)`.
    fn attributes(&mut self) -> Result<Vec<i64>, TextError> {
        let mut extents = Vec::new();
        while self.scope.is_fortran && self.eat(',') {
            if self.name().eq_ignore_ascii_case("dimension") {
                extents = self.fortran_extents()?.0;
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
    fn declared(&mut self, memory: &Memory, extents: &[i64]) -> Result<Declared, TextError> {
        let mut memory = memory.clone();
        let mut has_number = memory.can_be_number();
        while self.eat('*') {
            (memory, has_number) = (Memory::pointer(), false);
        }
        let name = self.name().to_owned();
        if name.is_empty() {
            return Err(self.unexpected("a name", "of a variable or a member"));
        }
        let mut own = Vec::new();
        let mut first = 0;
        if self.scope.is_fortran {
            (own, first) = (extents.to_vec(), 1);
            if self.eat('(') {
                self.at -= 1;
                (own, first) = self.fortran_extents()?;
            }
        }
        while !self.scope.is_fortran && self.eat('[') {
            own.push(if self.eat(']') { 0 } else { self.extent(']')? });
        }
        Ok(Declared { name, first, memory: memory.array(own), has_number })
    }

    fn extent(&mut self, close: char) -> Result<i64, TextError> {
        let extent = self.expression("an extent")?;
        self.symbol(close, || "after an extent".to_owned())?;
        Ok(extent)
    }

    /// Reads `(n, 0:m)`: extents, the slowest first, and the first index of the last axis. `:` is an extent that is not known.
    fn fortran_extents(&mut self) -> Result<(Vec<i64>, i64), TextError> {
        let (mut extents, mut first) = (Vec::new(), 1);
        self.symbol('(', || "before extents".to_owned())?;
        loop {
            let mut extent = 0;
            if !self.eat(':') {
                (extent, first) = (self.expression("an extent")?, 1);
                if self.eat(':') {
                    first = extent;
                    extent =
                        self.expression("the last index of an axis")?.saturating_sub(first).saturating_add(1);
                }
            }
            extents.insert(0, extent);
            if !self.eat(',') {
                break;
            }
        }
        self.symbol(')', || "after extents".to_owned())?;
        Ok((extents, first))
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

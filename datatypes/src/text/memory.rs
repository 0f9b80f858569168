//! Sizes and places of variables and members: the ABI of C on 64-bit Linux, by natural alignment.

use std::rc::Rc;

use super::names;
use super::reader::{TextError, TextReader};
use crate::Element;

/// The type of a variable or a member.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Memory {
    /// Bytes of an element.
    size: i64,
    alignment: i64,
    /// Extents of an array, the slowest first.
    extents: Vec<i64>,
    members: Rc<[Member]>,
    /// The type of its values, if it is predefined.
    element: Option<Element>,
    /// The type that a pointer points to.
    target: Option<Rc<Self>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub name: String,
    pub offset: i64,
    pub memory: Memory,
}

/// Types of MPI with other sizes in other MPIs, and the type of no value.
const HANDLES: [&str; 6] = ["mpi_datatype", "mpi_request", "mpi_status", "mpi_comm", "mpi_win", "void"];

/// Kinds of Fortran's modules that are types of C.
const KINDS: [(&str, Element); 12] = [
    ("c_double", Element::Double),
    ("real64", Element::Double),
    ("c_float", Element::Float),
    ("real32", Element::Float),
    ("c_int", Element::Int32),
    ("int32", Element::Int32),
    ("c_long", Element::Int64),
    ("c_long_long", Element::Int64),
    ("int64", Element::Int64),
    ("mpi_address_kind", Element::Int64),
    ("mpi_count_kind", Element::Int64),
    ("mpi_offset_kind", Element::Int64),
];

/// Why a place behind a pointer in a struct or an array has no known distance from others.
pub(super) const MEMBER_POINTER: &str = "only the program knows the address in a pointer that is a member";

impl Memory {
    pub fn from_element(element: Element) -> Self {
        Self { element: Some(element), ..Self::scalar(element.size() as i64, element.alignment() as i64) }
    }

    fn scalar(size: i64, alignment: i64) -> Self {
        Self { size, alignment, extents: Vec::new(), members: Rc::default(), element: None, target: None }
    }

    pub fn pointer_to(target: Self) -> Self {
        Self { target: Some(Rc::new(target)), ..Self::scalar(8, 8) }
    }

    /// The type that it points to: of an array, that of its elements.
    pub fn pointed(mut self) -> Option<Self> {
        match self.extents.is_empty() {
            true => self.target.map(|target| (*target).clone()),
            false => {
                self.extents.remove(0);
                Some(self)
            }
        }
    }

    /// Whether it is a single pointer.
    pub fn is_pointer(&self) -> bool {
        self.extents.is_empty() && self.target.is_some()
    }

    /// Elements of all axes.
    pub fn elements(&self) -> i64 {
        self.extents.iter().fold(1, |elements, extent| elements.saturating_mul(*extent))
    }

    /// An array of these.
    pub fn array(self, mut extents: Vec<i64>) -> Self {
        extents.extend(self.extents);
        Self { extents, ..self }
    }

    /// A struct with members of these types, each at the next multiple of its alignment.
    pub fn with_members(members: Vec<(String, Self)>) -> Self {
        let alignment = members.iter().map(|(_, memory)| memory.alignment).max().unwrap_or(1);
        let up = |bytes: i64, multiple: i64| bytes.saturating_add(multiple - 1) / multiple * multiple;
        let mut end: i64 = 0;
        let place = |(name, memory): (String, Self)| {
            let offset = up(end, memory.alignment);
            end = offset.saturating_add(memory.bytes());
            Member { name, offset, memory }
        };
        let members = members.into_iter().map(place).collect();
        Self { members, ..Self::scalar(up(end, alignment), alignment) }
    }

    pub fn is_scalar(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether its value is a whole number or a handle of MPI.
    pub fn can_be_number(&self) -> bool {
        let is_whole =
            |element: Element| element.is_integer() || matches!(element, Element::Char | Element::Byte);
        self.members.is_empty() && self.element.is_none_or(is_whole)
    }

    /// Whether it is a handle of MPI.
    pub fn is_handle(&self) -> bool {
        self.size == 0
    }

    /// The predefined type of its values, and the extents, the slowest first.
    pub fn array_of(&self) -> (Option<Element>, &[i64]) {
        (self.element, &self.extents)
    }

    /// Bytes of all of it.
    pub fn bytes(&self) -> i64 {
        self.elements().saturating_mul(self.size)
    }
}

impl TextReader<'_> {
    /// Reads a type of the language, if one comes next. A struct with its members is declared.
    pub(super) fn memory_type(&mut self) -> Result<Option<Memory>, TextError> {
        let place = self.place();
        let mut name = self.name();
        let is_tag =
            name == "struct" || self.scope.is_fortran && name.eq_ignore_ascii_case("type") && self.eat('(');
        if is_tag {
            name = self.name();
        }
        let mut known = self.scope.types.get(&self.scope.key(name)).cloned();
        if is_tag && self.eat('{') {
            let mut members = Vec::new();
            while !self.eat('}') {
                members.extend(self.nested(place, Self::members)?);
            }
            let memory = Memory::with_members(members);
            self.scope.types.insert(name.to_owned(), memory.clone());
            known = Some(memory);
        }
        known = known.or_else(|| match name.to_ascii_lowercase().as_str() {
            "mpi_aint" | "mpi_count" | "mpi_offset" => Some(Memory::from_element(Element::Int64)),
            name if HANDLES.contains(&name) => Some(Memory::scalar(0, 1)),
            _ => None,
        });
        if is_tag && known.is_none() {
            return Err(self.error_at(place, format!("no struct `{name}` is declared before this line")));
        }
        if is_tag && self.scope.is_fortran {
            self.symbol(')', || "after the name of a type".to_owned())?;
        }
        if known.is_some() {
            return Ok(known);
        }
        // MPI_DOUBLE is a value, not a type.
        let is_mpi = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("MPI_"));
        self.at = place;
        let found = names::element(&self.text[place..]).filter(|_| !is_mpi);
        let Some((element, bytes)) = found else { return Ok(None) };
        self.at += bytes;
        match self.scope.is_fortran && self.eat('(') {
            true => self.kind(place, element).map(Some),
            false => Ok(Some(Memory::from_element(element))),
        }
    }

    /// Reads the kind of a type of Fortran: `kind=8)` or `c_double)`.
    fn kind(&mut self, place: usize, element: Element) -> Result<Memory, TextError> {
        let start = self.place();
        if self.name().eq_ignore_ascii_case("kind") && self.eat('=') {
            self.skip();
        } else {
            self.at = start;
        }
        let start = self.at;
        let name = self.name().to_ascii_lowercase();
        let of_module = KINDS.iter().find(|(kind, _)| *kind == name).map(|(_, element)| *element);
        let element = match of_module {
            Some(element) => Some(element),
            None => {
                self.at = start;
                let kind = self.expression("a kind such as 8").map_err(|mut error| {
                    // Its value is a number of bytes.
                    error.reason = error.reason.replace("=64", "=8");
                    error
                })?;
                let named = |word: &str| format!("{word}({kind})").parse::<Element>().ok();
                match element {
                    Element::Float => named("real"),
                    Element::FloatComplex => named("complex"),
                    Element::Int32 => named("integer"),
                    _ => None,
                }
            }
        };
        self.symbol(')', || "after a kind".to_owned())?;
        element.map(Memory::from_element).ok_or_else(|| {
            self.error_at(place, "no type has this kind: must be its bytes, such as 4 or 8 of real(8), or a name such as c_int")
        })
    }

    /// Reads `(type)`, or a variable with its members: its bytes.
    pub(super) fn size_of(&mut self) -> Result<i64, TextError> {
        let is_in_parentheses = self.eat('(');
        let place = self.place();
        let is_pointed = self.eat('*');
        let memory = match self.memory_type()? {
            Some(memory) if self.eat('*') => Memory::pointer_to(memory),
            Some(memory) => memory,
            None if is_pointed => {
                let pointed = self.variable_place()?.2.pointed();
                pointed.ok_or_else(|| self.error_at(place, "`*` must be before a pointer or an array"))?
            }
            None => self.variable_place()?.2,
        };
        if is_in_parentheses {
            self.symbol(')', || "the end of sizeof".to_owned())?;
        }
        self.in_memory(memory.bytes())
    }

    /// Bytes, unless they exceed every memory: then they are not exact.
    fn in_memory(&self, bytes: i64) -> Result<i64, TextError> {
        const MOST: i64 = 1 << 62;
        match (0..MOST).contains(&bytes) {
            true => Ok(bytes),
            false => Err(self.error_at(self.at, "more bytes than a memory can have")),
        }
    }

    /// Reads `(type, member)`: the member's offset.
    pub(super) fn offset_of(&mut self) -> Result<i64, TextError> {
        self.symbol('(', || "before the arguments of offsetof(type, member)".to_owned())?;
        let Some(memory) = self.memory_type()? else {
            return Err(self.unexpected("a struct that is declared", "the type of offsetof(type, member)"));
        };
        self.symbol(',', || "before the member of offsetof(type, member)".to_owned())?;
        let (offset, memory) = self.member(memory)?;
        let (_, more, _) = self.within(memory)?;
        self.symbol(')', || "the end of offsetof(type, member)".to_owned())?;
        self.in_memory(offset.saturating_add(more))
    }

    /// Reads a variable with members and indices, such as `p[1].x`: its name, the offset in the variable, and the type there.
    /// Places behind a pointer `p` are relative to `*p`.
    pub(super) fn variable_place(&mut self) -> Result<(String, i64, Memory), TextError> {
        let place = self.place();
        let name = self.name();
        let key = self.scope.key(name);
        let Some(memory) = self.scope.variables.get(&key).and_then(|variable| variable.memory.clone()) else {
            self.at = place;
            return Err(self.unexpected("a variable that is declared", "so that its size is known"));
        };
        let (is_pointed, offset, memory) = self.within(memory)?;
        Ok((if is_pointed { format!("*{key}") } else { key }, offset, memory))
    }

    /// Reads indices and members of a variable: whether they are behind it as a pointer, the offset, and the type there.
    fn within(&mut self, mut memory: Memory) -> Result<(bool, i64, Memory), TextError> {
        let mut offset: i64 = 0;
        let mut is_pointed = false;
        let start = self.place();
        loop {
            let place = self.place();
            let is_arrow = self.text[place..].starts_with("->");
            if memory.is_pointer() && (is_arrow || self.text[place..].starts_with('[')) {
                if place > start {
                    return Err(self.error_at(place, MEMBER_POINTER));
                }
                is_pointed = true;
                memory = memory.clone().pointed().unwrap_or(memory).array(vec![1]);
            }
            if is_arrow {
                self.at += 1;
                memory =
                    memory.pointed().ok_or_else(|| self.error_at(place, "`->` must be after a pointer"))?;
            }
            let indices = match () {
                () if is_arrow && self.eat('>')
                    || self.eat('.')
                    || self.scope.is_fortran && self.eat('%') =>
                {
                    let (more, member) = self.member(memory)?;
                    offset = offset.saturating_add(more);
                    memory = member;
                    continue;
                }
                () if self.eat('[') => vec![self.expression("an index")?],
                () if self.scope.is_fortran && self.eat('(') => {
                    let mut indices = vec![self.expression("an index")?.saturating_sub(1)];
                    while self.eat(',') {
                        indices.insert(0, self.expression("an index")?.saturating_sub(1));
                    }
                    indices
                }
                () => return Ok((is_pointed, offset, memory)),
            };
            self.symbol(if self.scope.is_fortran { ')' } else { ']' }, || "after an index".to_owned())?;
            if indices.len() > memory.extents.len() {
                return Err(self.error_at(place, "must be an array with so many axes"));
            }
            for index in indices {
                memory.extents.remove(0);
                offset = offset.saturating_add(index.saturating_mul(memory.bytes()));
            }
        }
    }

    fn member(&mut self, of: Memory) -> Result<(i64, Memory), TextError> {
        let place = self.place();
        let name = self.name();
        let is_it = |member: &&Member| self.scope.key(&member.name) == self.scope.key(name);
        let found = of.members.iter().find(is_it).map(|member| (member.offset, member.memory.clone()));
        found.ok_or_else(|| {
            let names: Vec<&str> = of.members.iter().map(|member| member.name.as_str()).collect();
            self.error_at(place, names::no_such("member", name, &names))
        })
    }
}

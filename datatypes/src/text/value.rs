//! Whole numbers, types and MPI's words in a program: expressions, and variables that have them.

use std::collections::BTreeMap;

use super::memory::Memory;
use super::names;
use super::reader::{TextError, TextReader};
use crate::Layout;

/// A value that an argument of a call can have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Type(Layout),
    /// A constant of MPI that is neither, such as `MPI_ORDER_C`.
    Word(String),
}

impl Value {
    pub fn number(&self) -> Option<i64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub fn layout(&self) -> Option<Layout> {
        if let Self::Type(layout) = self { Some(layout.clone()) } else { None }
    }

    pub fn word(&self) -> Option<&str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }
}

/// A variable of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variable {
    /// Values by their index, from 0; one that is not a list has the first only.
    pub values: BTreeMap<i64, Value>,
    pub is_list: bool,
    /// The index of the first value in the program.
    pub first: i64,
    /// Its place in memory, if the program declares it with a known type.
    pub memory: Option<Memory>,
    /// Whether the user gave its value, which the program does not change.
    pub is_given: bool,
    /// Whether the program uses it.
    pub is_used: bool,
}

/// Values that a user gives to variables of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions(pub(super) BTreeMap<String, Variable>);

impl Definitions {
    /// Reads `bl=3,n=64` or `bl=[1,2],t=MPI_DOUBLE`.
    ///
    /// # Errors
    /// The place of the error, and valid text.
    pub fn read(text: &str) -> Result<Self, TextError> {
        // Members in Fortran.
        let text = &text.replace('%', ".");
        let mut reader = TextReader::new(text);
        loop {
            let name = reader.path();
            if name.is_empty() || !reader.eat('=') {
                return Err(reader.unexpected("NAME=VALUE", "such as n=64"));
            }
            let values = reader.values("the value of a variable")?;
            reader.scope.variables.insert(reader.scope.key(name), Variable { is_given: true, ..values });
            if !reader.eat(',') {
                break;
            }
        }
        reader.end("the value of a variable")?;
        Ok(Self(reader.scope.variables))
    }

    /// The names of the variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.0.get(name).filter(|variable| !variable.is_list)?.values.get(&0)?.number()
    }

    /// The names with their numbers, as part of a name: `n64_m8`.
    pub fn label(&self) -> String {
        let part = |name: &str| Some(format!("{name}{}", self.number(name)?));
        self.names().filter_map(part).collect::<Vec<_>>().join("_")
    }

    /// The text with numbers for names in brackets, or for all of it.
    pub fn replaced(&self, text: &str) -> String {
        let mut depth = 0;
        let piece = |piece: &str| {
            let (word, end) = piece.split_at(piece.trim_end_matches(|c| !names::is_of_a_name(c)).len());
            let number = self.number(word).filter(|_| depth > 0 || word == text);
            depth += end.matches(['(', '[']).count();
            depth = depth.saturating_sub(end.matches([')', ']']).count());
            number.map_or_else(|| word.to_owned(), |number| number.to_string()) + end
        };
        text.split_inclusive(|c| !names::is_of_a_name(c)).map(piece).collect()
    }
}

impl TextReader<'_> {
    /// Sets the values `at` an index of a variable, or of all of it.
    pub(super) fn assign(&mut self, name: &str, at: Option<i64>, new: Variable) {
        let first = i64::from(self.scope.is_fortran);
        let new_variable = || Variable { first, ..Variable::default() };
        let variable = self.scope.variables.entry(self.scope.key(name)).or_insert_with(new_variable);
        match at {
            _ if variable.is_given => {}
            None => {
                let is_list = variable.is_list || new.is_list;
                (variable.values, variable.is_list) = (new.values, is_list);
            }
            Some(at) => {
                variable.is_list = true;
                let first = at.saturating_sub(variable.first);
                variable
                    .values
                    .extend(new.values.into_iter().map(|(i, value)| (first.saturating_add(i), value)));
            }
        }
    }

    /// Reads a value, or a list of them.
    pub(super) fn values(&mut self, what: &str) -> Result<Variable, TextError> {
        if self.is_at_list() {
            let list = self.list("a list", what, |this: &mut Self| this.value(what))?;
            let values = (0..).zip(list).collect();
            return Ok(Variable { values, is_list: true, ..Variable::default() });
        }
        Ok(self.value(what)?.into())
    }

    fn value(&mut self, what: &str) -> Result<Value, TextError> {
        let place = self.place();
        let name = self.name();
        let known = self.scope.variables.contains_key(&self.scope.key(name));
        let is_word = ["mpi_order_", "mpi_distribute_"]
            .iter()
            .any(|prefix| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)));
        if is_word {
            return Ok(Value::Word(name.to_owned()));
        }
        self.at = place;
        let is_type = names::element(&self.text[place..]).is_some() && !known;
        match self.peeked()? {
            Some(value @ (Value::Type(_) | Value::Word(_))) => {
                self.known()?;
                Ok(value)
            }
            _ if is_type => self.layout().map(Value::Type),
            _ => self.expression(what).map(Value::Number),
        }
    }

    /// The value of the variable that comes next, without reading it.
    pub(super) fn peeked(&mut self) -> Result<Option<Value>, TextError> {
        let place = self.place();
        let value = self.known();
        self.at = place;
        value
    }

    /// A variable whose value is used.
    fn used(&mut self, name: &str) -> Option<&Variable> {
        let variable = self.scope.variables.get_mut(&self.scope.key(name))?;
        variable.is_used = true;
        Some(variable)
    }

    /// Reads a variable with its index, if one comes next that is known.
    pub(super) fn known(&mut self) -> Result<Option<Value>, TextError> {
        let place = self.place();
        let name = self.path();
        let Some(variable) = self.used(name).cloned() else {
            self.at = place;
            return Ok(None);
        };
        let index = self.index(variable.is_list)?;
        let element = self.scope.element.filter(|_| variable.is_list);
        if variable.is_list && index.or(element).is_none() {
            let [open, close] = if self.scope.is_fortran { ['(', ')'] } else { ['[', ']'] };
            let first = variable.first;
            let reason = format!(
                "`{name}` is a list where one of its values is expected, such as {name}{open}{first}{close}"
            );
            return Err(self.error_at(place, reason));
        }
        let index = index.map_or(element.unwrap_or(0), |index| index.saturating_sub(variable.first));
        let value = variable.values.get(&index);
        value.cloned().map(Some).ok_or_else(|| self.no_value(place, &self.text[place..self.at]))
    }

    /// Reads an index in brackets, or in a Fortran program in parentheses.
    pub(super) fn index(&mut self, is_list: bool) -> Result<Option<i64>, TextError> {
        let close = match () {
            () if self.eat('[') => ']',
            () if self.scope.is_fortran && is_list && self.eat('(') => ')',
            () => return Ok(None),
        };
        let index = self.expression("an index")?;
        // A section gets a list: its first index counts.
        if self.scope.is_fortran && self.scope.assigned.is_none() && self.eat(':') {
            self.expression("the last index")?;
        }
        self.symbol(close, || "after an index".to_owned())?;
        Ok(Some(index))
    }

    /// The values of the list variable that comes next, `length` of them if this is known.
    pub(super) fn known_list(&mut self, length: Option<i64>) -> Result<Option<Vec<Value>>, TextError> {
        let place = self.place();
        self.eat('&');
        let name = self.path();
        if name == "NULL" {
            return Ok(Some(Vec::new()));
        }
        let Some(variable) = self.used(name) else {
            self.at = place;
            return Ok(None);
        };
        let all = variable.values.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        let (first, values) = (variable.first, &variable.values);
        let list: Result<Vec<Value>, i64> =
            (0..length.unwrap_or(all)).map(|i| values.get(&i).cloned().ok_or(i)).collect();
        list.map(Some).map_err(|i| self.no_value(place, &format!("{name}[{}]", first + i)))
    }

    fn no_value(&self, place: usize, name: &str) -> TextError {
        let (name, plain) = (name.trim(), name.split(['[', '(']).next().unwrap_or_default().trim());
        let plain = &self.scope.key(plain);
        let memory = self.scope.variables.get(plain).and_then(|known| known.memory.as_ref());
        let example = match memory.is_some_and(Memory::is_handle) {
            true => "MPI_DOUBLE",
            false if name.ends_with([']', ')']) => "'[1,2]'",
            false => "64",
        };
        self.error_at(place, format!("`{name}` has no value: give it one by --define {plain}={example}"))
    }

    /// Whether a list in brackets, braces, or `(/ ... /)` comes next. The type of a compound literal is skipped.
    pub(super) fn is_at_list(&mut self) -> bool {
        self.skip();
        let rest = &self.text[self.at..];
        let is_cast = |cast: &str| cast.chars().all(|c| names::is_of_a_name(c) || c == ' ');
        let cast = rest.strip_prefix('(').and_then(|rest| rest.split_once("[])"));
        if let Some((_, list)) = cast.filter(|(cast, _)| is_cast(cast)) {
            self.at += rest.len() - list.trim_start().len();
        }
        ["[", "{", "(/"].iter().any(|open| self.text[self.at..].starts_with(open))
    }

    /// Whether a number, or the name of one, comes next.
    pub(super) fn is_at_expression(&mut self) -> bool {
        let is_number = |value| matches!(value, Ok(Some(Value::Number(_))));
        let place = self.place();
        let is_size = ["sizeof", "offsetof"].contains(&self.name());
        self.at = place;
        is_size || self.is_at_number() || is_number(self.peeked())
    }

    /// Reads an expression of whole numbers; `what` says which number it is.
    pub(super) fn expression(&mut self, what: &str) -> Result<i64, TextError> {
        self.binary(what, &['+', '-'], |this, what| this.binary(what, &['*', '/', '%'], Self::factor))
    }

    fn binary(
        &mut self,
        what: &str,
        symbols: &[char],
        operand: fn(&mut Self, &str) -> Result<i64, TextError>,
    ) -> Result<i64, TextError> {
        let mut left = operand(self, what)?;
        loop {
            let place = self.place();
            let ends_list = self.text[place..].starts_with("/)");
            let Some(symbol) = symbols.iter().find(|symbol| !ends_list && self.eat(**symbol)) else {
                return Ok(left);
            };
            let right = operand(self, what)?;
            left = self.combined(place, (left, *symbol, right), what)?;
        }
    }

    /// The value of two numbers with an operator between them.
    pub(super) fn combined(
        &self,
        place: usize,
        (left, symbol, right): (i64, char, i64),
        what: &str,
    ) -> Result<i64, TextError> {
        let value = match symbol {
            '+' => left.checked_add(right),
            '-' => left.checked_sub(right),
            '*' => left.checked_mul(right),
            '/' => left.checked_div(right),
            _ => left.checked_rem(right),
        };
        value.ok_or_else(|| {
            self.error_at(place, format!("{left} {symbol} {right} is not a 64-bit number, {what}"))
        })
    }

    fn factor(&mut self, what: &str) -> Result<i64, TextError> {
        self.nested(self.at, |this| this.operand(what))
    }

    fn operand(&mut self, what: &str) -> Result<i64, TextError> {
        let place = self.place();
        let rest = &self.text[place..];
        if rest.starts_with('-') && !rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.eat('-');
            let number = self.factor(what)?;
            return self.combined(place, (0, '-', number), what);
        }
        if self.is_at_number() {
            let number = self.number(what)?;
            // 64L, 64UL, 64_MPI_ADDRESS_KIND
            let suffix = self.text[self.at..].chars().take_while(|&c| names::is_of_a_name(c)).count();
            let is_long = self.text[self.at..self.at + suffix].chars().all(|c| "uUlL".contains(c));
            if is_long || self.text[self.at..].starts_with('_') {
                self.at += suffix;
            }
            return Ok(number);
        }
        if self.eat('(') {
            let is_cast = self.memory_type()?.is_some() && self.eat(')');
            if is_cast {
                return self.factor(what);
            }
            let value = self.expression(what)?;
            self.symbol(')', || format!("the end of an expression, {what}"))?;
            return Ok(value);
        }
        match self.known()? {
            Some(Value::Number(number)) => return Ok(number),
            Some(_) => {
                self.at = place;
                return Err(self.unexpected("a whole number", what));
            }
            None => {}
        }
        let name = self.name();
        match name {
            "sizeof" => return self.size_of(),
            "offsetof" => return self.offset_of(),
            _ => {}
        }
        let is_call = self.eat('(');
        if is_call && name.eq_ignore_ascii_case("int") {
            let value = self.expression(what)?;
            while self.eat(',') {
                self.name();
            }
            self.symbol(')', || "the end of int(...)".to_owned())?;
            return Ok(value);
        }
        if is_call && self.scope.is_fortran && name.eq_ignore_ascii_case("size") {
            let (name, _, memory) = self.variable_place()?;
            self.symbol(')', || "the end of size(...)".to_owned())?;
            return match memory.elements() {
                0 => Err(self.no_value(place, &name)),
                elements => Ok(elements),
            };
        }
        if is_call && name == "MPI_Aint_diff" {
            let left = self.expression(what)?;
            self.symbol(',', || "in MPI_Aint_diff".to_owned())?;
            let right = self.expression(what)?;
            self.symbol(')', || "the end of MPI_Aint_diff".to_owned())?;
            return self.combined(place, (left, '-', right), what);
        }
        self.at = place;
        if name.is_empty() || names::element(rest).is_some() {
            return Err(self.unexpected("a whole number", what));
        }
        if is_call {
            let advice = match &self.scope.assigned {
                Some(name) => format!("give `{name}` one by --define {name}=64"),
                None => "write a name such as `n` for it, and --define n=64".to_owned(),
            };
            let reason = format!("the value of `{name}(...)` is not known, {what}: {advice}");
            return Err(self.error_at(place, reason));
        }
        self.path();
        Err(self.no_value(place, &self.text[place..self.at]))
    }
}

impl From<Value> for Variable {
    fn from(value: Value) -> Self {
        Self { values: BTreeMap::from([(0, value)]), ..Self::default() }
    }
}

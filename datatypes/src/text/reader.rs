//! Reads layouts from text, word by word, and says where and why it cannot.

use crate::constructor::ArgumentMut;
use crate::{Constructor, Distribution, Element, Layout, MAX_DEPTH, Order};

use super::names::{self, similar};
use super::program::Scope;
use super::value::{Definitions, Value};
use super::{DEFAULT, ListForm, ORDERS, SIGNATURES, argument_names};

/// Why a text is not a layout: its place, the error, and valid text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", place(*line, *column, *is_single_line))]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// Whether the text has no other line.
    is_single_line: bool,
    /// The error, and valid text.
    pub reason: String,
}

fn place(line: usize, column: usize, is_single_line: bool) -> String {
    if is_single_line { format!("column {column}") } else { format!("line {line}, column {column}") }
}

/// Reads the numbers of the list in `@name`, less the base; or the reason why it cannot.
pub type NamedList = fn(name: &str, form: ListForm) -> Result<Vec<i64>, String>;

/// Begins a statement in Fortran.
const CALL: &str = "call";

/// MPI's names of distributions begin with it, in any case.
const DISTRIBUTE: &str = "mpi_distribute_";

/// Names of the default number of elements of a block.
const DEFAULTS: [(&str, Option<i64>); 2] = [(DEFAULT, None), ("dflt_darg", None)];

/// A text that is read from its start to its end. What surrounds layouts in other texts is read by the same.
#[derive(Clone, Debug)]
pub struct TextReader<'a> {
    pub(super) text: &'a str,
    /// Byte that is read next.
    pub(super) at: usize,
    /// Constructors that are open.
    pub(super) depth: u32,
    named_list: NamedList,
    pub(super) scope: Scope,
    /// The variable that the last call gave the new type to.
    pub(super) new_type: Option<(String, Option<i64>)>,
}

impl<'a> TextReader<'a> {
    /// At the start of `text`.
    pub fn new(text: &'a str) -> Self {
        let no_lists =
            |_: &str, _| Err("no file is read here; the numbers themselves are expected".to_owned());
        Self::with_lists(text, no_lists)
    }

    /// The same of a text in which `@name` may replace a list.
    pub fn with_lists(text: &'a str, named_list: NamedList) -> Self {
        Self { text, at: 0, depth: 0, named_list, scope: Scope::default(), new_type: None }
    }

    /// The same with values of variables.
    #[must_use]
    pub fn with_definitions(mut self, definitions: &Definitions) -> Self {
        self.define(definitions);
        self
    }

    /// The place of the next word, for [`TextReader::error_at`].
    pub fn place(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub fn error_at(&self, place: usize, reason: impl Into<String>) -> TextError {
        let before = &self.text[..place];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        TextError {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[start..].chars().count(),
            is_single_line: !self.text.trim_end().contains('\n'),
            reason: reason.into(),
        }
    }

    /// Reads `symbol`, if it comes next.
    pub fn eat(&mut self, symbol: char) -> bool {
        self.skip();
        let is_next = self.text[self.at..].starts_with(symbol);
        if is_next {
            self.at += symbol.len_utf8();
        }
        is_next
    }

    /// Whether a number comes next.
    pub fn is_at_number(&mut self) -> bool {
        self.skip();
        self.text[self.at..].starts_with(|c: char| c.is_ascii_digit() || c == '-')
    }

    /// Whether nothing is left.
    pub fn is_at_end(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    /// Refuses text after `what`, except for the semicolon of a statement in C.
    ///
    /// # Errors
    /// If anything is.
    pub fn end(&mut self, what: &str) -> Result<(), TextError> {
        let place = self.place();
        if self.is_at_end() || self.eat(';') && self.is_at_end() {
            return Ok(());
        }
        self.at = place;
        Err(self.error_at(place, format!("{} after {what}, which has ended", self.next_word())))
    }

    /// Reads a whole number; `what` says which.
    ///
    /// # Errors
    /// No number, or one beyond 64 bits.
    pub fn number(&mut self, what: &str) -> Result<i64, TextError> {
        self.skip();
        let rest = &self.text[self.at..];
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let bytes = digits.bytes().take_while(u8::is_ascii_digit).count();
        if bytes == 0 {
            return Err(self.unexpected("a whole number", what));
        }
        let (place, word) = (self.at, &rest[..rest.len() - digits.len() + bytes]);
        self.at += word.len();
        word.parse().map_err(|_| {
            self.error_at(place, format!("{word} does not fit in a signed 64-bit number, {what}"))
        })
    }

    /// Reads a type: a predefined one by its name, or a constructor.
    ///
    /// # Errors
    /// If it is not a type, or has arguments that MPI forbids.
    pub fn layout(&mut self) -> Result<Layout, TextError> {
        let before = self.place();
        if !self.name().eq_ignore_ascii_case(CALL) {
            self.at = before;
        }
        let place = self.place();
        match self.known()? {
            Some(Value::Type(layout)) => return Ok(layout),
            Some(_) => {
                self.at = place;
                return Err(self.unexpected("a type", "and not a number"));
            }
            None => {}
        }
        if let Some((element, bytes)) = names::element(&self.text[place..]) {
            self.at += bytes;
            return Ok(Layout::named(element));
        }
        let written = self.name();
        if written.is_empty() {
            let examples = "such as double, or a constructor such as vector(3, 1, 4, double)";
            return Err(self.unexpected("a type", examples));
        }
        let name = &names::constructor(written);
        let Some((signature, mut constructor)) = super::signature(name).zip(Constructor::empty(name)) else {
            let no_type = |instead| format!("no type is called `{written}`: {instead}");
            let is_call = self.eat('(');
            let reason = if is_call {
                no_constructor(written, name)
            } else {
                no_type(written.parse::<Element>().err().unwrap_or_default())
            };
            return Err(self.error_at(place, reason));
        };
        self.nested(place, |this| this.arguments(signature, &mut constructor))?;
        Layout::new(constructor).map_err(|error| self.error_at(place, error.to_string()))
    }

    /// Reads a part that may contain parts of its kind: too many of them would exceed the stack.
    pub(super) fn nested<T>(
        &mut self,
        place: usize,
        read: impl FnOnce(&mut Self) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at(place, format!("at most {MAX_DEPTH} levels can be nested")));
        }
        self.depth += 1;
        let part = read(self);
        self.depth -= 1;
        part
    }

    /// The arguments of a constructor, in parentheses: of the kinds that its signature has. C's and Fortran's calls have more: the
    /// length of lists at the start, the new type at the end, and `MPI_Type_create_resized` has the type first.
    fn arguments(&mut self, signature: &str, constructor: &mut Constructor) -> Result<(), TextError> {
        self.symbol('(', || format!("before the arguments of {signature}"))?;
        let mut arguments: Vec<_> = argument_names(signature).zip(constructor.arguments_mut()).collect();
        if arguments[0].0 == "lower_bound" && !self.is_at_expression() {
            arguments.rotate_right(1);
        }
        let mut length = None;
        for i in 0..arguments.len() {
            let (before, [(written, argument), ..]) = arguments.split_at_mut(i) else { break };
            let name = if *written == ORDERS { "order" } else { written.trim_matches(['[', ']']) };
            let expected = &format!("the {name} of {signature}");
            if i > 0 {
                self.symbol(',', || format!("before {expected}"))?;
            }
            let is_list = written.starts_with('[');
            if is_list && length.is_none() && !self.is_at_list() && self.is_at_expression() {
                length = Some(self.length(before, expected)?);
            }
            let place = self.place();
            self.argument(argument, (written, expected), length)?;
            if let (Some(length), ArgumentMut::List(list) | ArgumentMut::Addresses(list)) = (length, argument)
                && list.len() as i64 != length
            {
                let reason = format!("{} values where {length} were announced, {expected}", list.len());
                return Err(self.error_at(place, reason));
            }
        }
        self.new_type()?;
        self.symbol(')', || format!("the end of {signature}"))
    }

    /// Reads an argument that its signature calls `written`; a list also from a variable with `length` values.
    fn argument(
        &mut self,
        argument: &mut ArgumentMut<'_>,
        (written, expected): (&str, &str),
        length: Option<i64>,
    ) -> Result<(), TextError> {
        let names = (written, expected);
        match argument {
            ArgumentMut::Number(number) | ArgumentMut::Address(number) => {
                **number = self.expression(expected)?;
            }
            ArgumentMut::Type(layout) => **layout = self.layout()?,
            ArgumentMut::Order(order) => {
                let orders = [Order::C, Order::Fortran].map(|order| (order.name(), order));
                **order = self.choice("mpi_order_", &orders, "c or fortran", expected)?;
            }
            ArgumentMut::List(list) | ArgumentMut::Addresses(list) => {
                let place = self.place();
                let (kind, item) =
                    ("a list such as [1, 2] or @FILE", |this: &mut Self| this.expression(expected));
                **list = match self.eat('@') {
                    true => self.named_list(place, expected)?,
                    false => self.list_or_known(kind, names, length, item, Value::number)?,
                };
            }
            ArgumentMut::Types(list) => {
                let kind = "a list of types such as [double, int32]";
                **list = self.list_or_known(kind, names, length, Self::layout, Value::layout)?;
            }
            ArgumentMut::Distributions(list) => {
                let all = Distribution::ALL.map(|distribution| (distribution.name(), distribution));
                let item = |this: &mut Self| this.choice(DISTRIBUTE, &all, "block, cyclic or none", expected);
                let known = |value: &Value| chosen(DISTRIBUTE, &all, value.word()?);
                **list = self.list_or_known("a list such as [block, cyclic]", names, length, item, known)?;
            }
            ArgumentMut::Blocks(list) => {
                let item = |this: &mut Self| match this.is_at_expression() {
                    true => this.expression(expected).map(Some),
                    false => this.choice(DISTRIBUTE, &DEFAULTS, "a whole number or `default`", expected),
                };
                let known = |value: &Value| match value.number() {
                    Some(number) => Some(Some(number)),
                    None => chosen(DISTRIBUTE, &DEFAULTS, value.word()?),
                };
                **list = self.list_or_known("a list such as [2, default]", names, length, item, known)?;
            }
        }
        Ok(())
    }

    /// Reads a list, or the name of a variable with a list.
    fn list_or_known<T>(
        &mut self,
        kind: &str,
        (written, expected): (&str, &str),
        length: Option<i64>,
        item: impl FnMut(&mut Self) -> Result<T, TextError>,
        known: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, TextError> {
        let place = self.place();
        let Some(values) = self.known_list(length)? else { return self.list(kind, expected, item) };
        let list = values.iter().map(known).collect::<Option<_>>();
        list.ok_or_else(|| self.error_at(place, format!("a list that is not one of {written}")))
    }

    /// The length of the lists that follow. `MPI_Type_create_indexed_block` has it before the block length, which comes now.
    fn length(&mut self, before: &mut [(&str, ArgumentMut<'_>)], expected: &str) -> Result<i64, TextError> {
        let mut length = self.expression(expected)?;
        self.symbol(',', || format!("before {expected}"))?;
        if let [(_, ArgumentMut::Number(before))] = before {
            std::mem::swap(&mut **before, &mut length);
        }
        Ok(length)
    }

    /// Reads what calls have at their end: `&newtype` in C, `newtype, ierror` in Fortran.
    fn new_type(&mut self) -> Result<(), TextError> {
        self.new_type = None;
        loop {
            let before = self.at;
            let variable = if self.eat(',') { self.target()? } else { None };
            if variable.is_none() {
                self.at = before;
                return Ok(());
            }
            self.new_type = self.new_type.take().or(variable);
        }
    }

    /// The list with the name and the form in `name, base=1, count=first`. A name ends with a comma, a blank or a parenthesis, unless it is in quotes.
    fn named_list(&mut self, place: usize, expected: &str) -> Result<Vec<i64>, TextError> {
        let quote = ['"', '\''].into_iter().find(|&quote| self.eat(quote));
        let rest = &self.text[self.at..];
        let is_end = |c: char| quote.map_or(c == ',' || c == ')' || c.is_whitespace(), |quote| c == quote);
        let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        if name.is_empty() {
            return Err(self.unexpected("the name of a file", expected));
        }
        self.at += name.len();
        if let Some(quote) = quote {
            self.symbol(quote, || "the end of a name".to_owned())?;
        }
        let mut form = ListForm::default();
        loop {
            let after = self.at;
            let option = if self.eat(',') { self.name().to_ascii_lowercase() } else { String::new() };
            match option.as_str() {
                "base" if self.eat('=') => form.base = self.number("the first index of a list")?,
                "count" if self.eat('=') => {
                    form.is_counted = true;
                    if !self.name().eq_ignore_ascii_case("first") {
                        return Err(self.error_at(place, format!("{name}: count must be `first`")));
                    }
                }
                _ => {
                    self.at = after;
                    break;
                }
            }
        }
        (self.named_list)(name, form).map_err(|reason| self.error_at(place, format!("{name}: {reason}")))
    }

    pub(super) fn list<T>(
        &mut self,
        kind: &str,
        expected: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        let mut list = Vec::new();
        let is_list = self.is_at_list();
        let close = match () {
            () if self.eat('[') => ']',
            () if self.eat('{') => '}',
            () if is_list => {
                self.at += "(/".len();
                '/'
            }
            () => return Err(self.unexpected(kind, expected)),
        };
        let start = self.at;
        // [integer :: 1, 2]
        if !self.scope.is_fortran || self.memory_type()?.is_none() || !self.eat(':') || !self.eat(':') {
            self.at = start;
        }
        loop {
            if self.eat(close) {
                if close == '/' {
                    self.symbol(')', || format!("the end of a list, {expected}"))?;
                }
                return Ok(list);
            }
            if !list.is_empty() {
                self.symbol(',', || format!("or `{close}` in {expected}"))?;
                // C allows a comma before the end.
                if close == '}' && self.eat(close) {
                    return Ok(list);
                }
            }
            list.push(item(self)?);
        }
    }

    /// One of these names in any case, with or without MPI's prefix.
    fn choice<T: Copy>(
        &mut self,
        prefix: &str,
        choices: &[(&str, T)],
        all: &str,
        expected: &str,
    ) -> Result<T, TextError> {
        let place = self.place();
        chosen(prefix, choices, self.name()).ok_or_else(|| {
            self.at = place;
            self.unexpected(all, expected)
        })
    }

    pub(super) fn symbol(&mut self, symbol: char, what: impl FnOnce() -> String) -> Result<(), TextError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"), &what())) }
    }

    /// Reads letters, digits and underscores; empty where none comes next.
    pub(super) fn name(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !names::is_of_a_name(c)).unwrap_or(rest.len());
        let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let name = if is_name { &rest[..end] } else { "" };
        self.at += name.len();
        name
    }

    /// Reads a name, or that of a member with those before it, such as `grid->nx`.
    pub(super) fn path(&mut self) -> &'a str {
        let start = self.place();
        let mut end = start + self.name().len();
        let is_arrow =
            |this: &mut Self| this.text[this.at..].starts_with("->") && this.eat('-') && this.eat('>');
        while end > start
            && (self.eat('.') || self.scope.is_fortran && self.eat('%') || is_arrow(self))
            && !self.name().is_empty()
        {
            end = self.at;
        }
        self.at = end;
        &self.text[start..end]
    }

    /// The error that something else comes next.
    pub(super) fn unexpected(&mut self, expected: &str, what: &str) -> TextError {
        self.skip();
        self.error_at(self.at, format!("{} where {expected} is expected, {what}", self.next_word()))
    }

    /// The next word or symbol, or the end, for errors.
    pub(super) fn next_word(&self) -> String {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        match rest.chars().next() {
            None => "the end".to_owned(),
            Some(first) if is_part(first) => {
                /// Enough to be found again.
                const MOST: usize = 30;
                format!("`{}`", rest.chars().take_while(|&c| is_part(c)).take(MOST).collect::<String>())
            }
            Some(first) => format!("`{first}`"),
        }
    }

    pub(super) fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
}

fn chosen<T: Copy>(prefix: &str, choices: &[(&str, T)], name: &str) -> Option<T> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix(prefix).unwrap_or(&name);
    choices.iter().find(|(choice, _)| *choice == name).map(|&(_, value)| value)
}

/// That no constructor has this name: the nearest, or all.
fn no_constructor(written: &str, name: &str) -> String {
    let names = SIGNATURES.map(|signature| signature.split('(').next().unwrap_or_default());
    let near = similar(&names, name).and_then(super::signature);
    let instead = near.map_or_else(
        || format!("there are {}", SIGNATURES.join(", ")),
        |near| format!("did you mean {near}?"),
    );
    format!("no constructor is called `{written}`: {instead}")
}

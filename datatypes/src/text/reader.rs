//! Reads layouts from text, word by word, and says where and why it cannot.

use crate::{Element, Layout, MAX_DEPTH, Order};

use super::{Argument, ORDERS, SIGNATURES, argument_names, constructor};

/// Why a text is no layout: where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", place(*line, *column, *is_single_line))]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// Whether the text has no other line.
    is_single_line: bool,
    /// What is wrong, and what would be right.
    pub reason: String,
}

fn place(line: usize, column: usize, is_single_line: bool) -> String {
    if is_single_line { format!("column {column}") } else { format!("line {line}, column {column}") }
}

/// A text that is read from its start to its end. What surrounds layouts in other texts is read by the same.
#[derive(Clone, Debug)]
pub struct TextReader<'a> {
    text: &'a str,
    /// Byte that is read next.
    at: usize,
    /// Constructors that are open.
    depth: u32,
}

impl<'a> TextReader<'a> {
    /// At the start of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// The place of the next word, for [`TextReader::error_at`].
    pub fn place(&mut self) -> usize {
        self.skip();
        self.at
    }

    /// An error at a place.
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

    /// Refuses what is left behind `what`.
    ///
    /// # Errors
    /// If anything is.
    pub fn end(&mut self, what: &str) -> Result<(), TextError> {
        if self.is_at_end() {
            return Ok(());
        }
        let place = self.at;
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
    /// What is none, or arguments that MPI forbids.
    pub fn layout(&mut self) -> Result<Layout, TextError> {
        let place = self.place();
        let name = self.name();
        if name.is_empty() {
            return Err(self.unexpected("a type", "as double, or a constructor as vector(3, 1, 4, double)"));
        }
        let element = Element::ALL.into_iter().find(|element| element.name() == name);
        if let Some(element) = element {
            return Ok(Layout::named(element));
        }
        let Some(signature) = super::signature(name) else {
            let reason = match self.eat('(') {
                true => format!("no constructor is called `{name}`: there are {}", SIGNATURES.join(", ")),
                false => {
                    let names = Element::ALL.map(Element::name).join(", ");
                    format!(
                        "no type is called `{name}`: there are {names}, and constructors as {}",
                        SIGNATURES[1]
                    )
                }
            };
            return Err(self.error_at(place, reason));
        };
        if self.depth + 1 >= MAX_DEPTH {
            return Err(self.error_at(place, format!("at most {MAX_DEPTH} levels can be nested")));
        }
        self.depth += 1;
        let mut arguments = self.arguments(signature)?;
        self.depth -= 1;
        let constructor = constructor(name, &mut arguments);
        Layout::new(constructor).map_err(|error| self.error_at(place, error.to_string()))
    }

    /// The arguments of a constructor, in brackets: of the kinds that its signature has.
    fn arguments(&mut self, signature: &'static str) -> Result<Vec<Argument<'static>>, TextError> {
        self.symbol('(', || format!("before the arguments of {signature}"))?;
        let mut arguments = Vec::new();
        for written in argument_names(signature) {
            let name = if written == ORDERS { "order" } else { written.trim_matches(['[', ']']) };
            let expected = &format!("the {name} of {signature}");
            if !arguments.is_empty() {
                self.symbol(',', || format!("before {expected}"))?;
            }
            arguments.push(match written {
                "type" => Argument::Type(self.layout()?),
                "[types]" => {
                    let kind = "a list of types as [double, int32]";
                    Argument::Types(self.list(kind, expected, Self::layout)?.into())
                }
                ORDERS => Argument::Order(self.order(expected)?),
                list if list.starts_with('[') => {
                    let number = |this: &mut Self| this.number(expected);
                    Argument::List(self.list("a list as [1, 2]", expected, number)?.into())
                }
                _ => Argument::Number(self.number(expected)?),
            });
        }
        self.symbol(')', || format!("the end of {signature}"))?;
        Ok(arguments)
    }

    fn list<T>(
        &mut self,
        kind: &str,
        expected: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        let mut list = Vec::new();
        if !self.eat('[') {
            return Err(self.unexpected(kind, expected));
        }
        if self.eat(']') {
            return Ok(list);
        }
        loop {
            list.push(item(self)?);
            if self.eat(']') {
                return Ok(list);
            }
            self.symbol(',', || format!("or `]` in {expected}"))?;
        }
    }

    fn order(&mut self, expected: &str) -> Result<Order, TextError> {
        let place = self.place();
        let name = self.name();
        let order = [Order::C, Order::Fortran].into_iter().find(|order| order.name() == name);
        order.ok_or_else(|| {
            self.at = place;
            self.unexpected("c or fortran", expected)
        })
    }

    fn symbol(&mut self, symbol: char, what: impl FnOnce() -> String) -> Result<(), TextError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"), &what())) }
    }

    /// Reads letters, digits and underscores; empty where none comes next.
    fn name(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic());
        let name = if is_name { &rest[..end] } else { "" };
        self.at += name.len();
        name
    }

    /// The error that something else comes next.
    fn unexpected(&mut self, expected: &str, what: &str) -> TextError {
        self.skip();
        self.error_at(self.at, format!("{} where {expected} is expected, {what}", self.next_word()))
    }

    /// What comes next, for errors: a word, a symbol, or the end.
    fn next_word(&self) -> String {
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

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
}

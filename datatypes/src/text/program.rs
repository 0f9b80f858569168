//! Statements of a C or Fortran program that make a datatype: declarations, assignments of whole numbers and
//! types, loops that count, and calls of MPI. Headers of functions and modules, and macros that are not used,
//! are skipped. Anything else is refused with its place.

use std::collections::{BTreeMap, HashMap};

use super::memory::{MEMBER_POINTER, Memory};
use super::names;
use super::reader::{NamedList, TextError, TextReader};
use super::value::{Definitions, Value, Variable};
use crate::Layout;

/// The names that a program has declared.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub is_fortran: bool,
    pub variables: BTreeMap<String, Variable>,
    /// Structs, and other names of types.
    pub types: HashMap<String, Memory>,
    /// The variable that addresses are relative to.
    base: Option<String>,
    /// The variable whose value is being read, and which element of it if it is a list of Fortran.
    pub assigned: Option<String>,
    pub element: Option<i64>,
    /// Statements that were read; those of loops each time.
    steps: usize,
    sent: Option<(i64, Layout)>,
    committed: Option<Layout>,
    made: Option<Layout>,
}

impl Scope {
    /// A name as it is looked up: Fortran ignores case. Members have a dot before their names.
    pub fn key(&self, name: &str) -> String {
        let name = name.replace("->", ".").replace('%', ".").replace(char::is_whitespace, "");
        if self.is_fortran { name.to_ascii_lowercase() } else { name }
    }
}

/// Enough for loops over short lists, and few enough to end within a second.
const MOST_STEPS: usize = 100_000;

/// Lines of Fortran, and of C the last one, that say nothing about a type, by their first word.
const SKIPPED_LINES: &str =
    "implicit include program module subroutine contains external return end endsubroutine endprogram";

const UNDERSTOOD: &str = "a declaration, an assignment of whole numbers or types, a loop that counts up, or a call such as \
     MPI_Type_vector, MPI_Type_commit, MPI_Get_address or MPI_Send; remove this statement if the type does not depend on it";

fn is_fortran(text: &str) -> bool {
    let starts = |line: &str| line.trim_start().to_ascii_lowercase().starts_with("call ");
    text.lines().any(|line| starts(line) || line.contains(" :: "))
}

/// Whether the text has statements, and thus is more than a type.
pub fn is_program(text: &str) -> bool {
    text.trim().trim_end_matches(';').contains(';') || text.contains("#define") || is_fortran(text)
}

/// The message that a program sends: copies of a type. It is the last one that is sent, else committed, else
/// made. All `definitions` replace the program's own values.
///
/// # Errors
/// The place of the first statement that is not understood, and what would be.
pub fn program(
    text: &str,
    named_list: NamedList,
    definitions: &Definitions,
) -> Result<(i64, Layout), TextError> {
    let is_fortran = is_fortran(text);
    let text = without_comments(text, is_fortran);
    let mut reader = TextReader::with_lists(&text, named_list);
    reader.scope.is_fortran = is_fortran;
    reader.define(definitions);
    while !reader.is_at_end() {
        reader.statement()?;
    }
    let Scope { sent, committed, made, variables, .. } = std::mem::take(&mut reader.scope);
    let has =
        |name: &str| text.split(|c| !names::is_of_a_name(c)).any(|word| word.eq_ignore_ascii_case(name));
    let is_unused =
        |(name, variable): &(&String, &Variable)| variable.is_given && !variable.is_used && has(name);
    if let Some((name, _)) = variables.iter().find(is_unused) {
        return Err(reader.error_at(
            reader.at,
            format!("the type does not depend on `{name}`: remove --define {name}=..., or add the MPI_Send whose count it is"),
        ));
    }
    let one = |layout| (1, layout);
    sent.or(committed.or(made).map(one))
        .ok_or_else(|| reader.error_at(reader.at, "the end, and no MPI_Type_... makes a datatype before it"))
}

/// The text with blanks for comments, `#include`, `use`, and the marks of lines that go on, so that places stay.
fn without_comments(text: &str, is_fortran: bool) -> String {
    let mut blanked = String::with_capacity(text.len());
    let (mut is_in_comment, mut goes_on) = (false, false);
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        let word = line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        // Fixed form has comments with a letter in the first column.
        let is_letter =
            |rest: &str| rest.starts_with(char::is_whitespace) && !rest.trim_start().starts_with('=');
        let is_comment = || word == "use" || line.strip_prefix(['c', 'C', '*']).is_some_and(is_letter);
        let is_directive = word.starts_with("#include") || word == "#pragma";
        let is_skipped = !is_in_comment && (goes_on || is_directive || is_fortran && is_comment());
        goes_on = is_skipped && line.trim_end().ends_with(['&', '\\']);
        while let Some(c) = rest.chars().next() {
            let starts = |mark: &str| rest.starts_with(mark);
            let mut is_shown = !is_in_comment && !is_skipped;
            let mut taken = c.len_utf8();
            if is_in_comment && starts("*/") {
                (is_in_comment, taken) = (false, 2);
            } else if is_shown && !is_fortran && starts("/*") {
                (is_in_comment, is_shown, taken) = (true, false, 2);
            } else if is_shown && (if is_fortran { starts("!") } else { starts("//") }) {
                (is_shown, taken) = (false, rest.len());
            } else if is_fortran && c == '&' || c == '\\' {
                is_shown = false;
            }
            for c in rest[..taken].chars() {
                blanked.push(if is_shown || c == '\n' { c } else { ' ' });
            }
            rest = &rest[taken..];
        }
    }
    blanked
}

impl TextReader<'_> {
    /// Gives variables their values.
    pub(super) fn define(&mut self, definitions: &Definitions) {
        let of_program = |(name, variable): (&String, &Variable)| (self.scope.key(name), variable.clone());
        self.scope.variables = definitions.0.iter().map(of_program).collect();
    }

    /// Counts a statement, or a pass of a loop without any.
    fn step(&mut self, place: usize) -> Result<(), TextError> {
        self.scope.steps += 1;
        if self.scope.steps <= MOST_STEPS {
            return Ok(());
        }
        Err(self.error_at(place, format!("more than {MOST_STEPS} statements, with those in loops")))
    }

    fn statement(&mut self) -> Result<(), TextError> {
        let place = self.place();
        self.step(place)?;
        if self.eat(';') {
            return Ok(());
        }
        if self.eat('#') {
            return self.define_macro(place);
        }
        if self.eat('{') {
            return self.nested(place, |this| {
                while !this.eat('}') {
                    this.statement()?;
                }
                Ok(())
            });
        }
        if self.declaration()? {
            return Ok(());
        }
        let name = self.name();
        match &*name.to_ascii_lowercase() {
            "for" if !self.scope.is_fortran => self.for_loop(place),
            "do" if self.scope.is_fortran => self.do_loop(place),
            word if SKIPPED_LINES.split(' ').any(|known| known == word) => {
                self.skip_to(if self.scope.is_fortran { &['\n', ';'] } else { &[';'] });
                Ok(())
            }
            "call" if self.scope.is_fortran => {
                let place = self.place();
                let name = self.name();
                self.call(place, name)
            }
            "parameter" if self.eat('(') => {
                self.assignments()?;
                self.symbol(')', || "the end of parameter(...)".to_owned())
            }
            // CHECK(MPI_Type_commit(&t))
            _ if self.text[self.at..].starts_with("(MPI_Type") => {
                self.eat('(');
                self.statement()?;
                self.symbol(')', || "the end of a macro".to_owned())
            }
            "if" => Err(self.error_at(place, format!("`if` is not understood: must be {UNDERSTOOD}"))),
            lower if lower.starts_with("mpi_") => self.call(place, name),
            "" if self.eat('*') => self.assignments(),
            "" => Err(self.unexpected(UNDERSTOOD, "as a statement")),
            _ => {
                self.at = place;
                self.assignments()
            }
        }
    }

    /// Reads `#define NAME value`; a name with arguments or without a value that is understood is ignored.
    fn define_macro(&mut self, place: usize) -> Result<(), TextError> {
        let end = self.text[place..].find('\n').map_or(self.text.len(), |end| place + end);
        let is_define = self.name() == "define";
        let name = self.name();
        if !is_define {
            return Err(self.error_at(place, "only #include, #pragma and #define are understood after `#`"));
        }
        let has_arguments = self.text[self.at..].starts_with('(');
        self.skip();
        if self.at < end
            && !has_arguments
            && let Ok(values) = self.values("the value of a macro")
        {
            self.assign(name, None, values);
        }
        self.at = end;
        Ok(())
    }

    /// Reads `a = 1, b[2] += n` up to the end of the statement.
    fn assignments(&mut self) -> Result<(), TextError> {
        loop {
            let place = self.place();
            let Some((name, index)) = self.target()? else {
                return Err(self.unexpected("the name of a variable", "to assign a value"));
            };
            let mut before = None;
            if let Some(symbol) = ['+', '-', '*'].into_iter().find(|&symbol| self.eat(symbol)) {
                let end = std::mem::replace(&mut self.at, place);
                if let Some(Value::Number(number)) = self.known()? {
                    before = Some((symbol, number));
                }
                self.at = end;
            }
            if !self.eat('=') {
                self.at = place;
                let word = self.next_word();
                return Err(self.error_at(place, format!("{word} is not understood: must be {UNDERSTOOD}")));
            }
            self.assigned(&name, index, before)?;
            if !self.eat(',') {
                return Ok(());
            }
        }
    }

    /// Reads the value after `=` and assigns it. A call returns an error code, which has no use here.
    pub(super) fn assigned(
        &mut self,
        name: &str,
        index: Option<i64>,
        before: Option<(char, i64)>,
    ) -> Result<(), TextError> {
        let place = self.place();
        let word = self.name();
        if word.starts_with("MPI_") && names::constructor(word).len() < word.len() {
            return self.call(place, word);
        }
        self.at = place;
        if self.scope.variables.get(&self.scope.key(name)).is_some_and(|variable| variable.is_given) {
            self.skip_to(if self.scope.is_fortran { &[',', ';', ')', '\n'] } else { &[',', ';', ')'] });
            return Ok(());
        }
        if index.is_none()
            && self.scope.base.as_ref().is_some_and(|base| base.strip_prefix('*') == Some(name))
        {
            return Err(self.error_at(
                place,
                format!("addresses before and after a new value of `{name}` have no known distance"),
            ));
        }
        self.scope.assigned = Some(name.to_owned());
        let list =
            self.scope.variables.get(&self.scope.key(name)).filter(|list| list.is_list && index.is_none());
        let elements = list.and_then(|list| list.memory.as_ref()).map(Memory::elements);
        let mut values = match elements.filter(|_| self.scope.is_fortran && !self.is_at_list()) {
            Some(elements) => self.elements(elements)?,
            None => self.values("the value of a variable")?,
        };
        self.scope.assigned = None;
        if let (Some((symbol, before)), Some(Value::Number(number))) = (before, values.values.get_mut(&0)) {
            *number = self.combined(place, (before, symbol, *number), "the value of a variable")?;
        }
        self.assign(name, index, values);
        Ok(())
    }

    /// Reads the value of a list for each of its elements: `d - base` of a list `d`.
    fn elements(&mut self, elements: i64) -> Result<Variable, TextError> {
        let place = self.place();
        let mut values = BTreeMap::new();
        for i in 0..elements.max(1) {
            self.at = place;
            self.step(place)?;
            self.scope.element = Some(i);
            values.extend(self.values("the value of a list")?.values.into_values().map(|value| (i, value)));
        }
        self.scope.element = None;
        Ok(Variable { values, is_list: true, ..Variable::default() })
    }

    /// Reads a variable that gets a value: its name, and its index.
    pub(super) fn target(&mut self) -> Result<Option<(String, Option<i64>)>, TextError> {
        self.eat('&');
        let name = self.path();
        let key = self.scope.key(name);
        let is_list = self.scope.variables.get(&key).is_none_or(|variable| variable.is_list);
        let index = self.index(is_list)?;
        Ok((!name.is_empty()).then_some((key, index)))
    }

    /// Reads `(i = 0; i < n; i++)` and repeats the statement or block after it.
    fn for_loop(&mut self, place: usize) -> Result<(), TextError> {
        let refuse = |this: &Self| {
            this.error_at(place, "only loops such as for (int i = 0; i < n; i++) are understood")
        };
        self.eat('(');
        let _ = self.memory_type()?;
        let name = self.name().to_owned();
        if !self.eat('=') {
            return Err(refuse(self));
        }
        let first = self.expression("the first value of a loop")?;
        let is_same = self.eat(';') && self.name() == name && self.eat('<');
        let is_included = self.eat('=');
        if !is_same {
            return Err(refuse(self));
        }
        let last = self.expression("the end of a loop")?.saturating_sub(i64::from(!is_included));
        self.eat(';');
        let increment = self.place();
        self.skip_to(&[')']);
        let written = self.text[increment..self.at].replace(char::is_whitespace, "");
        let step = match written.strip_prefix(&format!("{name}+=")) {
            Some(step) => step.parse().unwrap_or(0),
            None => i64::from(written == format!("{name}++") || written == format!("++{name}")),
        };
        if step < 1 || !self.eat(')') {
            return Err(refuse(self));
        }
        self.repeat(place, &name, (first, last, step), Self::statement)
    }

    /// Reads `i = 1, n, step` and repeats the statements up to `end do`.
    fn do_loop(&mut self, place: usize) -> Result<(), TextError> {
        let name = self.name().to_owned();
        self.symbol('=', || "the variable of a loop such as do i = 1, n".to_owned())?;
        let first = self.expression("the first value of a loop")?;
        self.symbol(',', || "the last value of a loop".to_owned())?;
        let last = self.expression("the last value of a loop")?;
        let step = if self.eat(',') { self.expression("the step of a loop")? } else { 1 };
        self.repeat(place, &name, (first, last, step), |this| {
            loop {
                let place = this.place();
                match &*this.name().to_ascii_lowercase() {
                    "enddo" => return Ok(()),
                    "end" if this.name().eq_ignore_ascii_case("do") => return Ok(()),
                    _ => this.at = place,
                }
                this.statement()?;
            }
        })
    }

    fn repeat(
        &mut self,
        place: usize,
        name: &str,
        (first, last, step): (i64, i64, i64),
        body: fn(&mut Self) -> Result<(), TextError>,
    ) -> Result<(), TextError> {
        if step < 1 || first > last {
            return Err(
                self.error_at(place, format!("a loop from {first} to {last}: must have values and count up"))
            );
        }
        let start = self.at;
        let mut i = first;
        while i <= last {
            let steps = self.scope.steps;
            self.at = start;
            self.assign(name, None, Value::Number(i).into());
            self.nested(place, body)?;
            if self.scope.steps == steps {
                self.step(place)?;
            }
            i = self.combined(place, (i, '+', step), "the next value of a loop")?;
        }
        Ok(())
    }

    /// Skips to one of these symbols outside of parentheses, or to the end.
    pub(super) fn skip_to(&mut self, ends: &[char]) {
        let mut depth = 0;
        for (i, c) in self.text[self.at..].char_indices() {
            if depth == 0 && ends.contains(&c) {
                self.at += i;
                return;
            }
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        }
        self.at = self.text.len();
    }

    /// Reads a call of MPI after its name.
    fn call(&mut self, place: usize, name: &str) -> Result<(), TextError> {
        let lower = name.to_ascii_lowercase();
        let function = lower.strip_prefix("mpi_").unwrap_or(&lower);
        let is_constructor = super::signature(&names::constructor(name)).is_some();
        if is_constructor {
            self.at = place;
            let layout = self.layout()?;
            self.scope.made = Some(layout.clone());
            if let Some((name, index)) = self.new_type.take() {
                self.assign(&name, index, Value::Type(layout).into());
            }
            return Ok(());
        }
        self.symbol('(', || format!("before the arguments of {name}"))?;
        match function {
            "type_free" | "init" | "init_thread" | "finalize" | "barrier" | "comm_rank" | "comm_size"
            | "wait" | "waitall" | "recv" | "irecv" | "recv_init" => {}
            "type_commit" => {
                self.eat('&');
                self.scope.committed = Some(self.layout()?);
            }
            "type_dup" => {
                let layout = self.layout()?;
                self.results(vec![Value::Type(layout)])?;
            }
            "type_get_extent" | "type_extent" | "type_size" => {
                let layout = self.layout()?;
                let numbers = match function {
                    "type_get_extent" => vec![layout.lower_bound(), layout.extent()],
                    "type_extent" => vec![layout.extent()],
                    _ => vec![layout.size() as i64],
                };
                self.results(numbers.into_iter().map(Value::Number).collect())?;
            }
            "get_address" | "address" => {
                let start = self.at;
                while self.eat('(') || self.eat('&') {}
                let is_value = !self.scope.is_fortran && !self.text[start..self.at].contains('&');
                let (mut variable, offset, memory) = self.variable_place()?;
                if is_value && memory.is_pointer() {
                    if self.text[start..self.at].contains(['.', '[', '>']) {
                        return Err(self.error_at(place, MEMBER_POINTER));
                    }
                    variable.insert(0, '*');
                }
                self.eat(')');
                let base = self.scope.base.get_or_insert_with(|| variable.clone());
                if *base != variable {
                    let reason =
                        format!("the distance of `{variable}` from `{base}` is known only to the compiler");
                    return Err(self.error_at(place, reason));
                }
                self.results(vec![Value::Number(offset)])?;
            }
            "send" | "isend" | "bsend" | "ssend" | "issend" | "rsend" | "send_init" | "sendrecv" => {
                self.skip_to(&[',']);
                self.eat(',');
                let count = self.expression("the count of a message")?;
                self.symbol(',', || "before the type of a message".to_owned())?;
                self.scope.sent = Some((count, self.layout()?));
            }
            _ => {
                return Err(self.error_at(place, format!("`{name}` is not understood: must be {UNDERSTOOD}")));
            }
        }
        self.skip_to(&[')']);
        self.symbol(')', || format!("the end of {name}"))
    }

    /// Reads the arguments in which a call returns these values.
    fn results(&mut self, values: Vec<Value>) -> Result<(), TextError> {
        for value in values {
            self.symbol(',', || "before a result".to_owned())?;
            if let Some((name, index)) = self.target()? {
                self.assign(&name, index, value.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(definitions: &str, text: &str) -> Result<String, TextError> {
        let no_lists: NamedList = |_, _| Err(String::new());
        let definitions = match definitions {
            "" => Definitions::default(),
            given => Definitions::read(given)?,
        };
        let (count, layout) = program(text, no_lists, &definitions)?;
        Ok(if count == 1 { layout.to_text() } else { format!("{count} * {}", layout.to_text()) })
    }

    #[test]
    fn programs_are_read_or_refused_with_the_place() {
        let rows = include_str!("programs.txt").lines().filter(|row| !row.starts_with('#'));
        let mut wrong = Vec::new();
        for row in rows {
            let [definitions, text, expected] = row.splitn(3, "=> ").collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let result = read(definitions.trim(), &text.trim_end().replace("\\n", "\n"));
            let found = result.unwrap_or_else(|error| error.to_string());
            wrong.extend((!found.starts_with(expected)).then(|| format!("{row}\n  {found}")));
            assert!(is_program(&text.replace("\\n", "\n")) || text.matches(';').count() == 1, "{row}");
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// More levels would exceed the stack.
    #[test]
    fn parts_that_are_nested_too_deep_are_refused() {
        for [open, inner, close] in
            [["for (int i = 0; i < 1; i++) ", "k = 1;", ""], ["struct a {", "int x;", "} b;"]]
        {
            let text = |levels: usize| {
                format!("int n; n = 0; {}{inner}{}", open.repeat(levels), close.repeat(levels))
            };
            assert!(!read("", &text(20)).unwrap_err().to_string().contains("nested"));
            let error = read("", &text(10_000)).unwrap_err().to_string();
            assert!(error.contains("levels can be nested"), "{error}");
        }
    }
}

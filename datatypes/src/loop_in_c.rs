//! A message as loops of a C program that pack and unpack it, value by value in the order of the type map: for users to start from.

use std::fmt::Write;

use crate::code::chunks;
use crate::{Element, Layout, Nest, Part};

#[derive(Clone, Copy, Debug)]
pub struct InArray<'a> {
    pub array: &'a str,
    /// Bytes from the address that the loop gets to displacement 0.
    pub origin_bytes: i64,
    pub layout: &'a Layout,
}

/// A file with the functions `pack` of the sent data, and `unpack` into the places of the received data. If
/// one of them has several arrays, it gets a table of their addresses, in the order of their first piece.
pub fn loop_in_c(sent: &[InArray<'_>], received: &[InArray<'_>]) -> String {
    let elements = sent.iter().chain(received).map(|piece| piece.layout.uniform());
    let uniform = elements.reduce(|a, b| if a == b { a } else { None }).flatten();
    let value = uniform.and_then(|element| Some((c_type(element)?, element.size() as i64)));
    let both = |(value, value_bytes): (&'static str, i64)| {
        let mut code = LoopCode { value, value_bytes, lists: Vec::new(), is_exact: true };
        let functions = code.function(sent, true) + "\n" + &code.function(received, false);
        code.is_exact.then(|| code.lists.iter().map(written).collect::<String>() + &functions)
    };
    let in_bytes =
        || "#include <string.h>\n\n".to_owned() + &both(BYTES).expect("every place is a number of bytes");
    value.and_then(both).unwrap_or_else(in_bytes)
}

fn variable(name: &str) -> &str {
    let is_index = name.strip_prefix('i').is_some_and(|number| number.parse::<usize>().is_ok());
    if is_index || ["array", "arrays", "message", "m"].contains(&name) { "a" } else { name }
}

fn written((name, values): &(String, Vec<i64>)) -> String {
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    let lines = chunks(&texts, 72).map(|line| format!("    {},\n", line.join(", ")));
    format!("static const long {name}[{}] = {{\n{}}};\n\n", values.len(), lines.collect::<String>())
}

/// Values that are copied as bytes: of several types, or not at multiples of their size.
const BYTES: (&str, i64) = ("char", 1);

/// The type of an array's values in C; `None` for a type that needs a header or has padding.
const fn c_type(element: Element) -> Option<&'static str> {
    Some(match element {
        Element::Byte | Element::Char | Element::Int8 | Element::Uint8 => "char",
        Element::Int16 | Element::Uint16 => "short",
        Element::Int32 | Element::Uint32 => "int",
        Element::Int64 | Element::Uint64 => "long",
        Element::Float => "float",
        Element::Double => "double",
        Element::FloatComplex => "float _Complex",
        Element::DoubleComplex => "double _Complex",
        _ => return None,
    })
}

/// An index: a number and variables with factors, in bytes.
#[derive(Clone, Default)]
struct Place {
    bytes: i64,
    terms: Vec<(String, i64)>,
}

impl Place {
    fn moved(&self, by: i64) -> Self {
        Self { bytes: self.bytes.wrapping_add(by), ..self.clone() }
    }

    fn stepping(&self, variable: String, stride: i64) -> Self {
        let mut terms = self.terms.clone();
        terms.push((variable, stride));
        Self { terms, ..*self }
    }
}

struct LoopCode {
    value: &'static str,
    value_bytes: i64,
    /// The lists of places, before the functions.
    lists: Vec<(String, Vec<i64>)>,
    /// Whether all places so far are multiples of the value's bytes.
    is_exact: bool,
}

/// A function that is being written.
struct Body<'a> {
    array: &'a str,
    packs: bool,
    text: String,
    depth: usize,
    variables: usize,
}

impl LoopCode {
    fn function(&mut self, pieces: &[InArray<'_>], packs: bool) -> String {
        let mut arrays: Vec<&str> = Vec::new();
        pieces.iter().for_each(|piece| {
            if !arrays.contains(&piece.array) {
                arrays.push(piece.array);
            }
        });
        let value = self.value;
        let (of_array, of_message) = if packs { ("const ", "") } else { ("", "const ") };
        let array = match arrays.len() {
            1 => format!("{of_array}void *array"),
            _ => format!("{of_array}void *const *arrays"),
        };
        let message = format!("{of_message}void *message");
        let mut text = match packs {
            true => format!("void pack({array}, {message})\n{{\n"),
            false => format!("void unpack({message}, {array})\n{{\n"),
        };
        for (i, name) in arrays.iter().enumerate() {
            let from = if arrays.len() == 1 { "array".to_owned() } else { format!("arrays[{i}]") };
            let _ = writeln!(text, "    {of_array}{value} *{} = {from};", variable(name));
        }
        let _ = writeln!(text, "    {of_message}{value} *m = message;");
        for InArray { array, origin_bytes, layout } in pieces {
            let mut body =
                Body { array: variable(array), packs, text: String::new(), depth: 1, variables: 0 };
            self.walk(&mut body, layout, &Place { bytes: *origin_bytes, terms: Vec::new() });
            text += &body.text;
        }
        text + "}\n"
    }

    /// Writes the loops over one copy of a layout.
    fn walk(&mut self, body: &mut Body<'_>, layout: &Layout, place: &Place) {
        if layout.size() == 0 {
            return;
        }
        if let Some(segment) = layout.segment() {
            return self.run(body, &place.moved(segment.offset), segment.bytes as i64);
        }
        if let Some(Nest { first, loops }) = layout.constructor().nest() {
            let (mut place, depth) = (place.clone(), body.depth);
            for (count, stride) in loops.into_iter().rev() {
                place = body.open(count, &place, stride);
            }
            self.part(body, first, &place);
            return body.close(depth);
        }
        let parts = (0..layout.constructor().part_count()).map(|k| layout.constructor().part(k));
        let parts: Vec<Part<'_>> = parts.filter(|part| part.repeat > 0 && part.child.size() > 0).collect();
        let [first, others @ ..] = parts.as_slice() else { return };
        if others.is_empty() || others.iter().any(|part| part.child != first.child) {
            return parts.into_iter().for_each(|part| self.part(body, part, place));
        }
        let units: Vec<i64> = parts.iter().map(|part| self.units(part.displacement)).collect();
        let (depth, list) = (body.depth, self.list("at", &units));
        let variable = body.open_loop(&parts.len().to_string());
        let place = place.stepping(format!("{list}[{variable}]"), self.value_bytes);
        if parts.iter().all(|part| part.repeat == first.repeat) {
            self.part(body, Part { displacement: 0, ..*first }, &place);
        } else {
            let lengths: Vec<i64> = parts.iter().map(|part| part.repeat as i64).collect();
            let list = self.list("count", &lengths);
            let inner = body.open_loop(&format!("{list}[{variable}]"));
            self.walk(body, first.child, &place.stepping(inner, first.child.extent()));
        }
        body.close(depth);
    }

    fn part(&mut self, body: &mut Body<'_>, part: Part<'_>, place: &Place) {
        let depth = body.depth;
        let place = body.open(part.repeat, &place.moved(part.displacement), part.child.extent());
        self.walk(body, part.child, &place);
        body.close(depth);
    }

    /// Writes the copy of contiguous bytes.
    fn run(&mut self, body: &mut Body<'_>, place: &Place, bytes: i64) {
        let (array, depth) = (body.array, body.depth);
        if self.value == BYTES.0 && bytes > 1 {
            let at = self.index(place);
            let copy = match body.packs {
                true => format!("memcpy(m, {array} + {at}, {bytes});"),
                false => format!("memcpy({array} + {at}, m, {bytes});"),
            };
            body.line(&copy);
            return body.line(&format!("m += {bytes};"));
        }
        let count = self.units(bytes);
        let place = body.open(count as u64, place, self.value_bytes);
        let at = self.index(&place);
        body.line(&if body.packs {
            format!("*m++ = {array}[{at}];")
        } else {
            format!("{array}[{at}] = *m++;")
        });
        body.close(depth);
    }

    /// A distance in values.
    fn units(&mut self, bytes: i64) -> i64 {
        self.is_exact &= bytes % self.value_bytes == 0;
        bytes / self.value_bytes
    }

    fn index(&mut self, place: &Place) -> String {
        let start = self.units(place.bytes);
        let mut parts: Vec<String> = Vec::new();
        if start != 0 || place.terms.is_empty() {
            parts.push(start.to_string());
        }
        for (variable, stride) in &place.terms {
            match self.units(*stride) {
                1 => parts.push(variable.clone()),
                stride => parts.push(format!("{stride} * {variable}")),
            }
        }
        parts.join(" + ").replace("+ -", "- ")
    }

    /// A list of numbers before the functions; its name.
    fn list(&mut self, name: &str, values: &[i64]) -> String {
        if let Some((name, _)) = self.lists.iter().find(|(_, known)| known == values) {
            return name.clone();
        }
        let name = format!("{name}{}", self.lists.len());
        self.lists.push((name.clone(), values.to_vec()));
        name
    }
}

impl Body<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    /// Begins a loop, unless it would run once; the place within it.
    fn open(&mut self, count: u64, place: &Place, stride: i64) -> Place {
        if count == 1 {
            return place.clone();
        }
        let variable = self.open_loop(&count.to_string());
        place.stepping(variable, stride)
    }

    fn open_loop(&mut self, count: &str) -> String {
        let variable = format!("i{}", self.variables);
        self.variables += 1;
        self.line(&format!("for (long {variable} = 0; {variable} < {count}; {variable}++) {{"));
        self.depth += 1;
        variable
    }

    /// Ends loops until this depth.
    fn close(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            self.line("}");
        }
    }
}

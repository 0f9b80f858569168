//! The values of a test's parameters, from a named set and from single assignments: checked against each
//! other, and shown.

use std::fmt;
use std::ops::RangeInclusive;

use datatypes::{DeclaredName, Element, declared_arrays};

use super::{OnlyWith, Parameter, ParameterError, ParameterType, PerAxis, Value, joined_by_x, shortened};
use crate::{ArraySpec, Arrays, Layouts};

/// Parameters that the declaration of an array sets.
const SHAPE: &str = "shape";
const ELEMENT: &str = "element";
const ORDER: &str = "order";

const OR_DECLARATION: &str = ", or a declaration, such as double u[52][102][102]";

/// Checked values of a test's parameters.
#[derive(Clone, Debug)]
pub struct Values {
    test: &'static str,
    parameters: &'static [Parameter],
    values: Vec<Value>,
    /// Which values were set one by one, after those of the named set.
    is_given: Vec<bool>,
    /// The values that a declaration has set.
    declared: Vec<usize>,
    /// The declaration of the arrays, if the shape was given by one.
    declaration: Option<String>,
}

impl Values {
    /// The values of a named set of these parameters.
    pub(super) fn of_set(test: &'static str, parameters: &'static [Parameter], values: Vec<Value>) -> Self {
        let is_given = vec![false; values.len()];
        Self { test, parameters, values, is_given, declared: Vec::new(), declaration: None }
    }
}

impl PartialEq for Values {
    /// Compares only the values, not how they were set.
    fn eq(&self, other: &Self) -> bool {
        self.test == other.test && self.values == other.values
    }
}

impl Eq for Values {}

impl Values {
    /// Sets one value from text.
    ///
    /// # Errors
    /// An unknown name, or a text that is not a value of its type.
    pub fn assign(&mut self, name: &str, text: &str) -> Result<(), ParameterError> {
        let is_it = |parameter: &Parameter| parameter.name.eq_ignore_ascii_case(name);
        let i = self.parameters.iter().position(is_it).ok_or_else(|| {
            let candidates: Vec<_> = self.parameters.iter().map(|p| p.name).collect();
            ParameterError::unknown(self.test, "parameter", name, &candidates)
        })?;
        let parameter = &self.parameters[i];
        let refuse = |reason| ParameterError::Value { name: parameter.name, value: shortened(text), reason };
        let declared = declared_arrays(text).filter(|_| parameter.name == SHAPE);
        let or = if parameter.name == SHAPE && declared.is_none() { OR_DECLARATION } else { "" };
        let value = parameter.read(text).map_err(|reason| refuse(reason + or))?;
        if parameter.name == SHAPE {
            self.declaration = declared.is_some().then(|| text.to_owned());
        }
        if let Some((element, order)) = declared.and_then(|arrays| arrays.ok()?.of) {
            self.declare(ELEMENT, element.name())?;
            self.declare(ORDER, order.name())?;
        }
        if self.declared.contains(&i) && self.values[i] != value {
            let declared = parameter.write(&self.values[i]);
            return Err(refuse(format!("the declaration in {SHAPE} says {declared}: remove this parameter")));
        }
        (self.values[i], self.is_given[i]) = (value, true);
        self.replace();
        Ok(())
    }

    /// Sets what a declaration says, which must be what the user has given.
    fn declare(&mut self, name: &str, text: &str) -> Result<(), ParameterError> {
        let (i, before) = (self.index(name), self.values[self.index(name)].clone());
        let was_given = self.is_given[i] && !self.declared.contains(&i);
        self.declared.retain(|declared| *declared != i);
        self.assign(name, text)?;
        if was_given && self.values[i] != before {
            let given = self.parameters[i].write(&before);
            let reason = format!("declares {text}, and {name} is {given}: remove {name}");
            let value = shortened(self.declaration.as_deref().unwrap_or_default());
            return Err(ParameterError::Value { name: SHAPE, value, reason });
        }
        self.declared.push(i);
        Ok(())
    }

    /// A sentence if the order of an array was not given and could be either: its last axis is as short as that of components.
    pub fn note_on_order(&self) -> Option<String> {
        /// No application has as many components, and few grids as few points.
        const SHORT: usize = 10;
        let i = self.parameters.iter().position(|parameter| parameter.name == ORDER)?;
        let shape =
            self.per_axis(SHAPE).iter().find(|list| list.len() > 1 && list[list.len() - 1] < SHORT)?;
        let is_asked = !self.is_given[i] && self.is_given[self.index(SHAPE)];
        let shape = joined_by_x(shape);
        is_asked.then(|| {
            format!(
                "shape={shape} is read as in Fortran, with the first axis the fastest; as in C, with the last the fastest, it is \
                 order=c,shape={shape}"
            )
        })
    }

    /// Removes a value of the set if the user gives the parameter that replaces it.
    fn replace(&mut self) {
        for (i, parameter) in self.parameters.iter().enumerate() {
            let ParameterType::PerAxis(PerAxis { instead_of: Some(choice), .. }) = parameter.value_type
            else {
                continue;
            };
            let choice = self.index(choice);
            let is_absent = self.values[i] == Value::PerAxis(Vec::new());
            if self.is_given[i] && !is_absent && !self.is_given[choice] {
                self.values[choice] = Value::Number(0);
            }
            if self.is_given[choice] && self.values[choice] != Value::Number(0) && !self.is_given[i] {
                self.values[i] = Value::PerAxis(Vec::new());
            }
        }
        for (i, parameter) in self.parameters.iter().enumerate() {
            if let Some(only_with) = parameter.only_with.filter(|only_with| self.is_idle(only_with))
                && !self.is_given[i]
            {
                self.values[i] = parameter.read(only_with.idle).expect("an idle value is one");
            }
        }
    }

    /// Whether the choice is at its first word, so that parameters that depend on it have no meaning.
    fn is_idle(&self, only_with: &OnlyWith) -> bool {
        self.values[self.index(only_with.choice)] == Value::Number(0)
    }

    /// Refuses values of parameters that have no meaning together with the other values.
    pub(super) fn refuse_idle(&self) -> Result<(), ParameterError> {
        for (parameter, value) in self.parameters.iter().zip(&self.values) {
            if let Some(only_with) = parameter.only_with.filter(|only_with| self.is_idle(only_with))
                && parameter.write(value) != only_with.idle
            {
                return Err(self.refuse(parameter.name, only_with.reason));
            }
        }
        Ok(())
    }

    /// Name and value of each parameter, as text; a declared shape is its declaration.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let declaration =
            |parameter: &Parameter| self.declaration.clone().filter(|_| parameter.name == SHAPE);
        let parameters = self.parameters.iter().zip(&self.values);
        parameters.map(move |(parameter, value)| {
            (parameter.name, declaration(parameter).unwrap_or_else(|| parameter.write(value)))
        })
    }

    /// The declared name of each array; empty without a declaration.
    pub fn declared_names(&self) -> Vec<DeclaredName> {
        let declared = self.declaration.as_ref().and_then(|text| declared_arrays(text)?.ok());
        declared.map_or_else(Vec::new, |arrays| arrays.names)
    }

    /// The value of parameter `name` as results show it.
    ///
    /// # Panics
    /// If the test has no parameter of that name.
    pub fn label(&self, name: &str) -> String {
        let i = self.index(name);
        self.parameters[i].label(&self.values[i])
    }

    /// The position of parameter `name`.
    fn index(&self, name: &str) -> usize {
        let i = self.parameters.iter().position(|p| p.name == name);
        i.unwrap_or_else(|| panic!("no parameter {name}"))
    }

    /// The value of parameter `name`.
    ///
    /// # Panics
    /// If the test has no parameter of that name, or it has a number for each axis.
    pub fn get(&self, name: &str) -> i64 {
        match self.values[self.index(name)] {
            Value::Number(number) => number,
            _ => panic!("parameter {name} is not a number"),
        }
    }

    /// The value of parameter `name` as a word.
    ///
    /// # Panics
    /// If the test has no parameter of that name and type.
    pub fn choice(&self, name: &str) -> &'static str {
        let ParameterType::Choice(words) = self.parameters[self.index(name)].value_type else {
            panic!("parameter {name} is not a choice")
        };
        words[self.get(name) as usize]
    }

    /// The numbers of parameter `name`, one for each axis: a list for each array, or one list for all of
    /// them; empty if the parameter is absent.
    ///
    /// # Panics
    /// If the test has no parameter of that name and type.
    pub fn per_axis(&self, name: &str) -> &[Vec<usize>] {
        match &self.values[self.index(name)] {
            Value::PerAxis(lists) => lists,
            _ => panic!("parameter {name} has no number for each axis"),
        }
    }

    /// The layouts of parameter `name`; `None` if absent.
    ///
    /// # Panics
    /// If the test has no parameter of that name and type.
    pub fn layouts(&self, name: &str) -> Option<&Layouts> {
        match &self.values[self.index(name)] {
            Value::Layouts(layouts) => layouts.as_ref(),
            _ => panic!("parameter {name} is not a layout"),
        }
    }

    /// All layouts, to give them the bounds that an MPI reports.
    pub fn layouts_mut(&mut self) -> impl Iterator<Item = &mut Layouts> {
        self.values.iter_mut().filter_map(|value| match value {
            Value::Layouts(layouts) => layouts.as_mut(),
            _ => None,
        })
    }

    /// The value of parameter `name` as an element.
    ///
    /// # Panics
    /// If the test has none of that name and kind.
    pub fn element(&self, name: &str) -> Element {
        Element::ALL[self.get(name) as usize]
    }

    /// The value of parameter `name`, which must be in `range`.
    ///
    /// # Errors
    /// [`ParameterError::Value`] with the range.
    pub fn within(&self, name: &'static str, range: RangeInclusive<i64>) -> Result<i64, ParameterError> {
        let value = self.get(name);
        if range.contains(&value) {
            return Ok(value);
        }
        let reason = match (*range.start(), *range.end()) {
            (least, i64::MAX) => format!("must be at least {least}"),
            (least, most) if least > most => "no value is possible with the others".to_owned(),
            (least, most) => format!("must be from {least} to {most}"),
        };
        Err(self.refuse(name, reason))
    }

    /// The value of parameter `name`, which must be a count of at least 1 that MPI can take as `int`.
    ///
    /// # Errors
    /// [`ParameterError::Value`] with the range.
    pub(crate) fn positive(&self, name: &'static str) -> Result<usize, ParameterError> {
        Ok(self.within(name, 1..=i32::MAX.into())? as usize)
    }

    /// These arrays, if they can be addressed: after this check no byte offset within them can overflow.
    ///
    /// # Errors
    /// If they cannot be addressed.
    pub(crate) fn addressable(&self, arrays: Vec<ArraySpec>) -> Result<Vec<ArraySpec>, ParameterError> {
        match Arrays::footprint_bytes(&arrays) {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(arrays),
            _ => Err(ParameterError::Other(format!(
                "{} {self}: the arrays would be larger than an address space",
                self.test
            ))),
        }
    }

    /// The error that refuses the value of parameter `name`.
    pub fn refuse(&self, name: &'static str, reason: impl Into<String>) -> ParameterError {
        let i = self.index(name);
        let value = self.parameters[i].label(&self.values[i]);
        ParameterError::Value { name, value, reason: reason.into() }
    }
}

impl fmt::Display for Values {
    /// `nx=162 ny=162`, as results show it: long layouts have a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter().zip(&self.values);
        let pairs: Vec<_> = parameters
            .map(|(parameter, value)| format!("{}={}", parameter.name, parameter.label(value)))
            .collect();
        f.pad(&pairs.join(" "))
    }
}

//! The operations that are tried on each layout: the sections of `operations.c`, and other forms of them.

use std::sync::LazyLock;

use apps::similar;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::form;
use crate::model::conditions::MemoryKind;

/// An operation of MPI that uses a datatype.
#[derive(Debug)]
pub struct Operation {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// The comparison, in one line.
    pub asks: &'static str,
    /// The section of MPI-4.1 that defines the result.
    pub clause: &'static str,
    /// The least number of processes.
    pub ranks: usize,
    /// Whether all processes take part; otherwise one, or pairs.
    pub is_collective: bool,
    /// Whether it is another form of an operation before it, with the same arguments.
    pub is_form: bool,
    /// C statements that do it and compare the result. Those of operations that are [`Need::Own`] are for programs of findings only.
    pub statements: String,
    needs: Vec<Need>,
    /// The call that has other forms.
    pub call: Option<&'static str>,
    topology: Option<&'static Section>,
    number: usize,
    /// The numbers of the first operation of the section, and of the one with the same communicator and the usual call.
    section: usize,
    base: usize,
}

named! {
    /// A condition for the type, or how an operation uses it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Need {
        /// It is part of making the datatype, for all commands.
        Own = "own",
        /// The packed form, which the standard does not define, must be the values as they are in memory.
        Plain = "plain",
        /// The arguments of the constructor are numbers of C's `int`.
        Fits = "fits",
        /// It takes long, so that few types are tried.
        Rare = "rare",
        /// Values do not overlap.
        Disjoint = "disjoint",
        /// Items with values.
        WithData = "with_data",
        /// Items without values.
        WithoutData = "without_data",
        /// There are items.
        WithItems = "with_items",
        /// The type is made of one predefined type.
        OneElement = "one_element",
        /// The same, which is one of integers.
        Integers = "integers",
        /// The type can be the view of a file.
        Viewed = "viewed",
        /// Fewer values are sent.
        Short = "short",
        /// The data has the items of all ranks.
        Blocks = "blocks",
        /// The data has the items of all neighbours.
        Neighbours = "neighbours",
    }
}

/// A piece of a file of C statements. Its heading and its description are lines that begin with the same mark.
#[derive(Debug)]
pub struct Section {
    /// The parts of the heading.
    pub head: Vec<&'static str>,
    /// The description.
    pub asks: &'static str,
    pub statements: String,
}

pub fn sections(file: &'static str) -> Vec<Section> {
    let pieces = file.split("\n/// ").collect::<Vec<_>>();
    let section = |pieces: &[&'static str]| {
        let [heading, body] = pieces else { unreachable!("every section has two parts") };
        let (asks, text) = body.split_once('\n').unwrap_or((body, ""));
        let statements = if text.trim().is_empty() { String::new() } else { format!("{}\n", text.trim()) };
        Section { head: heading.split(" | ").collect(), asks, statements }
    };
    pieces[1..].chunks(2).map(section).collect()
}

/// All operations, in the order in which they are tried.
pub static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let sections = sections(include_str!("operations.c"));
    sections.iter().for_each(|section| add(&mut all, section, &sections));
    all
});

/// Adds the operation of a section, and its other forms.
fn add(all: &mut Vec<Operation>, section: &Section, sections: &[Section]) {
    let [name, clause, words] = section.head[..] else {
        panic!("{:?}: a name, a clause and words", section.head)
    };
    let mut words = words.split(' ');
    let (ranks, is_collective) = match words.next() {
        Some("alone") => (1, false),
        Some("pair") => (2, false),
        Some("all") => (2, true),
        other => panic!("{name}: {other:?} is not a number of ranks"),
    };
    let (calls, needs): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with("MPI_"));
    let needs: Vec<Need> = needs.iter().map(|word| word.parse().expect(name)).collect();
    let topologies = if needs.contains(&Need::Neighbours) {
        form::topologies().into_iter().map(Some).collect()
    } else {
        vec![None]
    };
    let statements = match section.statements.trim().strip_prefix("SAME ") {
        Some(same) => sections.iter().find(|other| other.head[0] == same).map(|other| &other.statements),
        None => Some(&section.statements),
    };
    let statements = statements.expect("operations.c has a section of this name");
    let call = calls.first().copied();
    let first = all.len();
    for topology in topologies {
        let base = all.len();
        for form in form::of_call(call, is_collective) {
            let suffix = [topology.map_or("", |topology| topology.head[0]), form.head[0]].concat();
            let described = topology.map_or_else(|| name.to_owned(), |topology| topology.describe(name));
            let text =
                topology.map_or_else(|| statements.clone(), |topology| topology.with_neighbours(statements));
            let asks = form.describe(&described).leak();
            all.push(Operation {
                name: format!("{name}{suffix}").leak(),
                asks: if suffix.is_empty() { section.asks } else { asks },
                clause,
                ranks,
                is_collective,
                is_form: !suffix.is_empty(),
                statements: form.with_calls(&text, &calls),
                needs: needs.clone(),
                call,
                topology,
                number: all.len(),
                section: first,
                base,
            });
        }
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Operation {}

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for &'static Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Operation::find(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Operation {
    /// The operation called `name`.
    ///
    /// # Errors
    /// A message with the nearest name, if there is none.
    pub fn find(name: &str) -> Result<&'static Self, String> {
        OPERATIONS.iter().find(|operation| operation.name == name).ok_or_else(|| {
            let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
            let near =
                similar(&names, name).map_or_else(String::new, |near| format!("did you mean {near:?}? "));
            // All names would hide this one.
            format!("no operation is called {name:?}: {near}`ddtbench conform --help-all` lists all")
        })
    }

    /// Its place in [`OPERATIONS`].
    pub fn number(&self) -> usize {
        self.number
    }

    /// The operation of which this is another form or has another communicator, or itself.
    pub fn section(&self) -> &'static Self {
        &OPERATIONS[self.section]
    }

    /// The operation of which this is another form with the same communicator, or itself.
    pub fn base(&self) -> &'static Self {
        &OPERATIONS[self.base]
    }

    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    /// How many times the data has the items of a message.
    pub fn blocks(&self, ranks: usize) -> usize {
        match self.topology {
            Some(topology) => topology.neighbours(ranks),
            None if self.needs(Need::Blocks) => ranks,
            None => 1,
        }
    }

    /// Whether data can be in this memory: on a device between two processes at most, without files, and without functions of ours.
    pub fn is_possible_in(&self, memory: MemoryKind) -> bool {
        let is_of_host = |word| self.statements.contains(word);
        memory.is_host() || !self.is_collective && !["MPI_File", "exclusive_or"].into_iter().any(is_of_host)
    }

    /// Functions of MPI that the statements call.
    pub fn calls(&self) -> Vec<&str> {
        let mut calls: Vec<&str> = self
            .statements
            .split("MPI_")
            .skip(1)
            .filter_map(|rest| rest.split_once('('))
            .map(|(name, _)| name)
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            .collect();
        calls.sort_unstable();
        calls.dedup();
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_name() {
        for operation in OPERATIONS.iter() {
            assert_eq!(Operation::find(operation.name), Ok(operation));
            assert!(!operation.asks.is_empty() && !operation.clause.is_empty(), "{operation:?}");
            assert_eq!(OPERATIONS[operation.number()].name, operation.name);
            assert!(!operation.calls().is_empty(), "{operation:?}");
        }
        assert!(Operation::find("pac").unwrap_err().contains("pack"));
    }

    #[test]
    fn the_page_has_the_number_of_operations() {
        let sections = OPERATIONS.iter().filter(|operation| operation.section() == *operation).count();
        let text = format!("The command tries {sections} operations in {} forms", OPERATIONS.len());
        assert!(include_str!("../../../../docs/conformance.md").contains(&text), "{text}");
    }

    #[test]
    fn forms_have_their_own_calls() {
        let calls = |name: &str| Operation::find(name).unwrap().calls();
        assert_eq!(calls("gather"), ["Gather"]);
        assert_eq!(calls("gather_nonblocking"), ["Igather", "Wait"]);
        assert_eq!(calls("bcast_mixed_persistent"), ["Bcast_init", "Request_free", "Start", "Wait"]);
        assert_eq!(calls("pack_large"), ["Pack_c", "Pack_size_c"]);
        assert_eq!(calls("short_message_large"), ["Get_count_c", "Get_elements_c", "Sendrecv"]);
        assert!(Operation::find("short_message_large").unwrap().statements.contains("MPI_Count items"));
        let of_file = calls("file_memory_all_large");
        assert!(["File_write_at_all_c", "File_read_at_all_c"].iter().all(|call| of_file.contains(call)));
        assert!(calls("put_locked").contains(&"Win_lock") && calls("put_requested").contains(&"Rput"));
        // Data is compared or changed as soon as a request is complete, apart from data that is compared later.
        let at_once = "MPI_Wait(&request, MPI_STATUS_IGNORE);\n    MPI_Win_unlock";
        let unchecked = OPERATIONS.iter().filter(|operation| operation.statements.contains(at_once));
        assert_eq!(unchecked.map(|operation| operation.name).collect::<Vec<_>>(), ["put_origin_requested"]);
        assert!(calls("neighbor_alltoallv_torus_nonblocking").contains(&"Ineighbor_alltoallv"));
        assert_eq!(Operation::find("neighbor_alltoallv_torus").unwrap().blocks(2), 6);
    }
}

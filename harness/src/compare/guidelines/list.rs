//! The guidelines, a row each: what should not take longer than what, and what a user can write instead.

use crate::report::names::distinct;

/// Something that should not take longer than something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guideline {
    /// Its name.
    pub name: &'static str,
    /// What it says, in a line.
    pub says: &'static str,
    /// What should not take longer ...
    pub takes: Term,
    /// ... than this.
    pub than: Than,
    /// What a user can write instead.
    pub instead: &'static str,
}

/// A time of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// Of a method, by which it is judged.
    Whole(&'static str),
    /// Of its packing alone.
    Packing(&'static str),
    /// Of making its datatypes and freeing them, which is done once.
    Making(&'static str),
}

/// What a time is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Than {
    /// So many times another time of the case.
    Times(f64, Term),
    /// So many times what a round trip by the method itself is shorter than by this one.
    Saved(f64, &'static str),
    /// The same of the next larger message of the test, which differs in one parameter.
    Larger,
    /// The same of the next smaller such message, as many times as it fits into this one.
    Smaller,
}

use Term::{Making, Packing, Whole};

impl Term {
    /// The method.
    pub const fn method(self) -> &'static str {
        match self {
            Whole(method) | Packing(method) | Making(method) => method,
        }
    }
}

impl Guideline {
    const fn new(
        name: &'static str,
        says: &'static str,
        [method, than]: [&'static str; 2],
        instead: &'static str,
    ) -> Self {
        Self { name, says, takes: Whole(method), than: Than::Times(1.0, Whole(than)), instead }
    }

    /// The methods that it is about.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> {
        let than = match self.than {
            Than::Times(_, term) => term.method(),
            Than::Saved(_, method) => method,
            Than::Larger | Than::Smaller => self.takes.method(),
        };
        [than, self.takes.method()].into_iter()
    }
}

/// Round trips after which a datatype must have paid for its creation: a round number of exchanges of one run. Whoever has fewer
/// reads the number after which it has paid, which is told as well.
const USES: f64 = 1000.0;

/// All of them.
pub const GUIDELINES: [Guideline; 20] = [
    Guideline::new(
        "D1",
        "a datatype is sent as fast as MPI_Pack packs and sends it",
        ["ddt", "mpi_pack"],
        "MPI_Pack, send, MPI_Unpack",
    ),
    Guideline::new(
        "D1 by hand",
        "a datatype is sent as fast as the application's loop packs and sends it",
        ["ddt", "manual"],
        "pack by hand",
    ),
    Guideline {
        name: "D2",
        says: "MPI_Pack packs at least half as fast as the application's loop",
        takes: Packing("mpi_pack"),
        than: Than::Times(2.0, Packing("manual")),
        instead: "pack by hand",
    },
    Guideline::new(
        "D3 type",
        "contiguous values as one of MPI_Type_contiguous are as fast as a count of them",
        ["reference:contiguous", "reference"],
        "a count of the predefined type",
    ),
    Guideline::new(
        "D3 count",
        "a count of contiguous values is as fast as one of MPI_Type_contiguous",
        ["reference", "reference:contiguous"],
        "one of MPI_Type_contiguous",
    ),
    Guideline::new(
        "D4 type",
        "a datatype is as fast as a count of what it repeats",
        ["ddt", "ddt:count"],
        "a count of what the datatype repeats, resized",
    ),
    Guideline::new(
        "D4 count",
        "a count of what a datatype repeats is as fast as the datatype",
        ["ddt:count", "ddt"],
        "one datatype of all",
    ),
    Guideline::new(
        "D8 wrapped",
        "one of a datatype, by MPI_Type_contiguous, costs what the datatype does",
        ["ddt:wrapped", "ddt"],
        "a count, without MPI_Type_contiguous",
    ),
    Guideline::new(
        "D5",
        "a datatype is as fast as a list of its runs",
        ["ddt", "ddt:hindexed"],
        "MPI_Type_create_hindexed of the runs",
    ),
    Guideline::new(
        "D6",
        "a nested description is as fast as the flat one",
        ["ddt:nested", "ddt"],
        "the flat description",
    ),
    Guideline::new(
        "D7",
        "a datatype is as fast as a structure of its runs",
        ["ddt", "ddt:struct"],
        "MPI_Type_create_struct of the runs",
    ),
    Guideline::new(
        "D8 resized",
        "MPI_Type_create_resized with the bounds that it has costs nothing",
        ["ddt:resized", "ddt"],
        "the datatype without it",
    ),
    Guideline::new(
        "D9",
        "a datatype is as fast as a message for each of its pieces",
        ["ddt", "ddt:pieces"],
        "a message for each piece",
    ),
    Guideline {
        name: "D10",
        says: "creating a datatype pays within 1000 round trips, against packing by hand",
        takes: Making("ddt"),
        than: Than::Saved(USES, "manual"),
        instead: "pack by hand",
    },
    Guideline::new(
        "D11 send",
        "a datatype at the sender alone is as fast as at both ends",
        ["ddt_to_packed", "ddt"],
        "a datatype at the receiver as well",
    ),
    Guideline::new(
        "D11 receive",
        "a datatype at the receiver alone is as fast as at both ends",
        ["packed_to_ddt", "ddt"],
        "a datatype at the sender as well",
    ),
    Guideline {
        name: "D12",
        says: "copying as many bytes by memcpy is as fast as MPI_Pack: if not, something is wrong",
        takes: Packing("reference:copied"),
        than: Than::Times(1.0, Packing("mpi_pack")),
        instead: "nothing: find out what MPI_Pack leaves out, or what disturbed the copy",
    },
    Guideline::new(
        "split",
        "one message is as fast as two halves of it",
        ["ddt", "ddt:halves"],
        "two messages, a datatype for each half",
    ),
    Guideline {
        name: "split sizes",
        says: "a message is as fast as several of the next smaller one that differs in one parameter",
        takes: Whole("ddt"),
        than: Than::Smaller,
        instead: "several of the smaller message",
    },
    Guideline {
        name: "monotony",
        says: "a message is as fast as the next larger one that differs in one parameter",
        takes: Whole("ddt"),
        than: Than::Larger,
        instead: "the larger message",
    },
];

/// The methods that guidelines hold against each other.
pub fn methods() -> Vec<String> {
    distinct(GUIDELINES.iter().flat_map(Guideline::methods).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Kind;

    #[test]
    fn every_method_of_a_guideline_is_one_of_ping_pongs() {
        for method in methods() {
            assert!(Kind::PingPong.method(&method).is_ok(), "{method}");
        }
    }

    #[test]
    fn guidelines_of_creation_ask_what_they_report() {
        let row = GUIDELINES.iter().find(|guideline| matches!(guideline.takes, Making(_))).unwrap();
        assert!(row.says.contains(&format!("{USES}")), "{}", row.says);
    }
}

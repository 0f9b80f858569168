//! Methods: the rows in the tables of each kind of experiments.

use apps::no_such;

use super::conditions::MemoryKind;

/// The loops that verdicts name. Each may be missing.
pub const LOOPS: [&str; 4] = [OWN, MANUAL, MANUAL_TUNED, LOOP];

/// The user's loop, of `--pack`.
pub const OWN: &str = "own";

/// The application's hand-written loop, unchanged.
pub const MANUAL: &str = "manual";

/// The same, tuned by an expert.
pub const MANUAL_TUNED: &str = "manual_tuned";

/// The plain loop over a datatype's nesting, interpreted: the basis of comparison for a layout without hand-written loops.
pub const LOOP: &str = "loop";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// MPI functions that it calls, except those that every MPI has.
    pub needs: &'static [&'static str],
    /// The checks that its results depend on, in groups that methods share; a case omits those for features that it does not use.
    pub checks: &'static [&'static [&'static str]],
    /// Its name in the original suite's output, if it exists there.
    pub original_name: Option<&'static str>,
    /// Whether an application could use it: the bytes go from arrays to arrays. The other methods are only for comparison.
    pub array_to_array: bool,
    /// The method of contiguous bytes for its pack overhead; `None` for that of its kind of experiments.
    pub reference: Option<&'static str>,
    /// Whether it sends contiguous bytes, as a reference for others.
    pub is_reference: bool,
    /// Whether it is measured in several separate processes, taking turns.
    pub in_own_processes: bool,
    /// Whether it is measured only on request.
    pub on_request: bool,
    /// Whether it needs hand-written loops.
    pub by_hand: bool,
    /// Its additional message-sized buffers at each rank, besides the two that all methods share.
    pub own_buffers: u64,
    /// The place of its data, if not any memory will do.
    pub only_in: Option<Place>,
}

/// The host, or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Host,
    Device,
}

/// A method that goes from arrays to arrays, compared with the reference of its kind of experiments.
pub const fn info(name: &'static str, about: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        about,
        needs: &[],
        checks: &[],
        original_name: None,
        array_to_array: true,
        reference: None,
        is_reference: false,
        in_own_processes: false,
        on_request: false,
        by_hand: false,
        own_buffers: 0,
        only_in: None,
    }
}

impl MethodInfo {
    /// The same, with MPI functions that not every MPI has.
    pub const fn needs(self, functions: &'static [&'static str]) -> Self {
        Self { needs: functions, ..self }
    }

    /// The same, with results that are invalid if one of these checks fails.
    pub const fn checks(self, checks: &'static [&'static [&'static str]]) -> Self {
        Self { checks, ..self }
    }

    /// The same, not from arrays to arrays.
    pub const fn partial(self) -> Self {
        Self { array_to_array: false, ..self }
    }

    /// The same, with contiguous bytes as a reference for others.
    pub const fn contiguous(self) -> Self {
        Self { array_to_array: false, is_reference: true, ..self }
    }

    /// The name in the original suite's output.
    pub const fn originally(self, name: &'static str) -> Self {
        Self { original_name: Some(name), ..self }
    }

    /// Compared with another reference than that of its kind of experiments.
    pub const fn against(self, reference: &'static str) -> Self {
        Self { reference: Some(reference), ..self }
    }

    /// Measured only on request.
    pub const fn on_request(self) -> Self {
        Self { on_request: true, ..self }
    }

    /// With hand-written loops, which not every message has.
    pub const fn by_hand(self) -> Self {
        Self { by_hand: true, ..self }
    }

    /// With data in the memory of this place only.
    pub const fn only_in(self, place: Place) -> Self {
        Self { only_in: Some(place), ..self }
    }

    /// Whether its data can be in this memory.
    pub fn is_possible_in(&self, memory: MemoryKind) -> bool {
        self.only_in.is_none_or(|place| (place == Place::Host) == memory.is_host())
    }

    /// With this number of additional message-sized buffers.
    pub const fn with_buffers(self, own_buffers: u64) -> Self {
        Self { own_buffers, ..self }
    }

    /// Measured in separate processes, and only on request.
    pub const fn in_own_processes(self) -> Self {
        Self { in_own_processes: true, on_request: true, ..self }
    }

    /// The row of a method that transfers its bytes in this way.
    pub const fn made_of<T: Copy>(self, made_of: T) -> MethodRow<T> {
        MethodRow { info: self, made_of }
    }
}

/// A row of a table of methods: the method's description, and its definition for the rank program, which
/// implements it in a `match` over `T` that does not compile if one is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodRow<T> {
    pub info: MethodInfo,
    /// The way it transfers bytes.
    pub made_of: T,
}

/// The descriptions of the methods of a table, in an array of the table's length.
pub const fn infos<T: Copy, const N: usize>(rows: &[MethodRow<T>]) -> [MethodInfo; N] {
    assert!(rows.len() == N);
    let mut infos = [rows[0].info; N];
    let mut row = 1;
    while row < N {
        infos[row] = rows[row].info;
        row += 1;
    }
    infos
}

impl AsRef<MethodInfo> for MethodInfo {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl<T> AsRef<MethodInfo> for MethodRow<T> {
    fn as_ref(&self) -> &MethodInfo {
        &self.info
    }
}

/// The row whose method has this name, in any case; `word` names the rows in the message.
pub fn find_method<'a, R: AsRef<MethodInfo>>(rows: &'a [R], word: &str, name: &str) -> Result<&'a R, String> {
    rows.iter().find(|row| row.as_ref().name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<_> = rows.iter().map(|row| row.as_ref().name).collect();
        no_such(word, name, &names)
    })
}

//! Methods: the rows of the tables that kinds of experiments have.

/// The loops that verdicts name: the application's hand-written ones, as it has them and as an expert tunes them, and the plain
/// one over the datatype's nest. Any may be missing.
pub const LOOPS: [&str; 3] = ["manual", "manual_tuned", LOOP];

/// The plain loop over a datatype's nest, interpreted: what a layout without hand-written loops is held against.
pub const LOOP: &str = "loop";

/// A method's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The functions of MPI that it calls beyond those that every MPI has.
    pub needs: &'static [&'static str],
    /// The checks that its figures rest on, in groups that methods share; a case leaves out those of what it does not do.
    pub checks: &'static [&'static [&'static str]],
    /// The name in the original suite's output, where it has the method.
    pub original_name: Option<&'static str>,
    /// Whether an application could use it: the bytes go from arrays to arrays. The others are for comparison.
    pub array_to_array: bool,
    /// The method of contiguous bytes against which it is an overhead; `None`: that of its kind of experiments.
    pub reference: Option<&'static str>,
    /// Whether it sends contiguous bytes for others to be compared with.
    pub is_reference: bool,
    /// Whether it is measured in several processes of its own, taking turns.
    pub in_own_processes: bool,
    /// Whether it is measured only where it is asked for.
    pub on_request: bool,
    /// Whether it needs hand-written loops.
    pub by_hand: bool,
    /// How many buffers of a message's size it has at each rank, beside the two that all methods share.
    pub own_buffers: u64,
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
    }
}

impl MethodInfo {
    /// The same, by functions that not every MPI has.
    pub const fn needs(self, functions: &'static [&'static str]) -> Self {
        Self { needs: functions, ..self }
    }

    /// The same, with figures that are invalid if one of these checks fails.
    pub const fn checks(self, checks: &'static [&'static [&'static str]]) -> Self {
        Self { checks, ..self }
    }

    /// The same, not from arrays to arrays.
    pub const fn partial(self) -> Self {
        Self { array_to_array: false, ..self }
    }

    /// Contiguous bytes for others to be compared with.
    pub const fn contiguous(self) -> Self {
        Self { array_to_array: false, is_reference: true, ..self }
    }

    /// The name in the original suite's output.
    pub const fn originally(self, name: &'static str) -> Self {
        Self { original_name: Some(name), ..self }
    }

    /// Compared with another reference than that of its kind.
    pub const fn against(self, reference: &'static str) -> Self {
        Self { reference: Some(reference), ..self }
    }

    /// Measured only where it is asked for.
    pub const fn on_request(self) -> Self {
        Self { on_request: true, ..self }
    }

    /// By hand-written loops, which not every message has.
    pub const fn by_hand(self) -> Self {
        Self { by_hand: true, ..self }
    }

    /// With so many buffers of a message's size of its own.
    pub const fn with_buffers(self, own_buffers: u64) -> Self {
        Self { own_buffers, ..self }
    }

    /// Measured in processes of its own, and only where it is asked for.
    pub const fn in_own_processes(self) -> Self {
        Self { in_own_processes: true, on_request: true, ..self }
    }

    /// The row of a method that moves its bytes in this way.
    pub const fn made_of<T: Copy>(self, made_of: T) -> MethodRow<T> {
        MethodRow { info: self, made_of }
    }
}

/// A row of a table of methods: what is known of the method, and how it moves bytes, which the rank program implements: its `match`
/// over `T` does not compile without an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodRow<T> {
    /// What is known of the method.
    pub info: MethodInfo,
    /// How it moves bytes.
    pub made_of: T,
}

/// What is known of the methods of a table; its length is that of the table.
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

/// The row whose method has this name; `word` is what the rows are.
///
/// # Errors
/// A message with all names.
pub fn find_method<'a, R: AsRef<MethodInfo>>(rows: &'a [R], word: &str, name: &str) -> Result<&'a R, String> {
    rows.iter().find(|row| row.as_ref().name == name).ok_or_else(|| {
        let names: Vec<_> = rows.iter().map(|row| row.as_ref().name).collect();
        format!("no {word} is called {name:?}; there are {}", names.join(", "))
    })
}

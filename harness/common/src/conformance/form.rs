//! Other forms of an operation, as changes of its C statements: nonblocking and persistent calls, large counts, other epochs, and the
//! topologies of neighbours.

named! {
    /// How the call of an operation is made. The name is the end of that of the operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Form {
        /// As its section has it.
        Usual = "",
        Nonblocking = "_nonblocking",
        Persistent = "_persistent",
        /// By the function with the suffix `_c`.
        Large = "_large",
        Synchronous = "_synchronous",
        Buffered = "_buffered",
        /// Received after `MPI_Mprobe`.
        Matched = "_matched",
        Locked = "_locked",
        Posted = "_posted",
        /// While the window is locked, by a function that returns a request.
        Requested = "_requested",
    }
}

impl Form {
    /// The forms that a call has.
    pub fn all_of_call(call: Option<&str>, is_collective: bool) -> Vec<Self> {
        let others: &[Self] = match call {
            None => &[],
            Some("MPI_Send") => {
                &[Self::Synchronous, Self::Buffered, Self::Nonblocking, Self::Persistent, Self::Large]
            }
            Some("MPI_Recv") => &[Self::Matched, Self::Nonblocking, Self::Persistent, Self::Large],
            Some(call) if call.starts_with("MPI_Sendrecv") => &[Self::Nonblocking, Self::Large],
            Some(call) if call.starts_with("MPI_Pack") || call.starts_with("MPI_Unpack") => &[Self::Large],
            Some(_) if is_collective => &[Self::Nonblocking, Self::Persistent, Self::Large],
            Some(_) => &[Self::Locked, Self::Posted, Self::Requested, Self::Large],
        };
        [&[Self::Usual], others].concat()
    }

    /// The same for readers.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::Nonblocking => ", nonblocking",
            Self::Persistent => ", persistent",
            Self::Large => " for large counts",
            Self::Synchronous => " by MPI_Ssend",
            Self::Buffered => " by MPI_Bsend",
            Self::Matched => " by MPI_Mprobe and MPI_Mrecv",
            Self::Locked => " while the window is locked",
            Self::Posted => " between MPI_Win_start and MPI_Win_complete",
            Self::Requested => " with a request while the window is locked",
        }
    }

    /// The statements in this form.
    pub fn put_into(self, statements: &str, call: &str) -> String {
        let is_large = self == Self::Large;
        let [count, place, of_item] =
            if is_large { ["MPI_Count", "MPI_Count", "MPI_Aint"] } else { ["int", "MPI_Aint", "int"] };
        let mut words = vec![
            ("COUNT", count.to_owned()),
            ("PLACE", place.to_owned()),
            ("PLACE_OF_ITEM", of_item.to_owned()),
        ];
        let size = format!("{call}_size");
        if is_large {
            words.extend([(call, format!("{call}_c")), (&*size, format!("{size}_c"))]);
        }
        let text = with_words(statements, &words);
        let line = |line: &str| {
            let inner = line.trim_start();
            let blanks = &line[..line.len() - inner.len()];
            let lines = match arguments(inner, "EPOCH") {
                Some(text) => self.epoch(text),
                None => match arguments(inner, call) {
                    Some(text) => self.call(call, text)?,
                    None => return None,
                },
            };
            // After a condition it must be one statement.
            let (open, close, more) = if blanks.is_empty() { ("", "", "") } else { ("{\n", "}\n", "    ") };
            let lines: String = lines.lines().map(|line| format!("{blanks}{more}{line}\n")).collect();
            let frame = |text: &str| if text.is_empty() { String::new() } else { format!("{blanks}{text}") };
            Some(format!("{}{lines}{}", frame(open), frame(close)))
        };
        text.lines().map(|text| line(text).unwrap_or_else(|| format!("{text}\n"))).collect()
    }

    /// A call with a request, or another one with the same arguments; `None` for the usual one.
    fn call(self, call: &str, arguments: &str) -> Option<String> {
        let name = call.strip_prefix("MPI_")?;
        let small = format!("{}{}", name[..1].to_lowercase(), &name[1..]);
        let without_status = arguments.strip_suffix(", MPI_STATUS_IGNORE").unwrap_or(arguments);
        const WAIT: &str = "MPI_Wait(&request, MPI_STATUS_IGNORE);\n";
        Some(match self {
            Self::Nonblocking => {
                format!("MPI_Request request;\nMPI_I{small}({without_status}, &request);\n{WAIT}")
            }
            // The other end sends or receives once.
            Self::Persistent if ["Send", "Recv"].contains(&name) => format!(
                "MPI_Request request;\nMPI_{name}_init({without_status}, &request);\nMPI_Start(&request);\n{WAIT}\
                 MPI_Request_free(&request);\n"
            ),
            Self::Persistent => format!(
                "MPI_Request request;\nMPI_{name}_init({without_status}, MPI_INFO_NULL, &request);\n\
                 for (int use = 0; use < 2; use++) {{\n    MPI_Start(&request);\n    {WAIT}}}\n\
                 MPI_Request_free(&request);\n"
            ),
            Self::Synchronous => format!("MPI_Ssend({arguments});\n"),
            Self::Buffered => format!(
                "int room;\nvoid *attached;\nMPI_Pack_size(ITEMS, type, comm, &room);\nroom += MPI_BSEND_OVERHEAD;\n\
                 MPI_Buffer_attach(guarded(room), room);\nMPI_Bsend({arguments});\nMPI_Buffer_detach(&attached, &room);\n"
            ),
            Self::Matched => {
                let (end, rest) = arguments.split_once(", 0, TAG, ")?;
                let comm = rest.split(',').next()?;
                format!(
                    "MPI_Message message;\nMPI_Mprobe(0, TAG, {comm}, &message, MPI_STATUS_IGNORE);\n\
                     MPI_Mrecv({end}, &message, MPI_STATUS_IGNORE);\n"
                )
            }
            _ => return None,
        })
    }

    /// The access to a window in `origin, target, call`.
    fn epoch(self, arguments: &str) -> String {
        let parts: Vec<_> = arguments.splitn(3, ", ").collect();
        let [origin, target, access] = parts[..] else { panic!("{arguments}: origin, target and call") };
        let with_request = || {
            let (name, rest) = access.strip_prefix("MPI_").unwrap_or(access).split_at(1);
            let call = rest.strip_suffix(')').unwrap_or(rest);
            format!(
                "    MPI_Request request;\n    MPI_R{}{call}, &request);\n    MPI_Wait(&request, MPI_STATUS_IGNORE);\n",
                name.to_lowercase()
            )
        };
        match self {
            Self::Locked | Self::Requested => {
                let access =
                    if self == Self::Requested { with_request() } else { format!("    {access};\n") };
                format!(
                    "MPI_Barrier(comm);\nif (rank == {origin}) {{\n    \
                     MPI_Win_lock(MPI_LOCK_SHARED, {target}, MPI_MODE_NOCHECK, window);\n{access}    \
                     MPI_Win_unlock({target}, window);\n}}\n"
                )
            }
            Self::Posted => format!(
                "MPI_Group all, peer;\nint other = 1 - rank;\nMPI_Comm_group(comm, &all);\n\
                 MPI_Group_incl(all, 1, &other, &peer);\nif (rank == {origin}) {{\n    MPI_Win_start(peer, 0, window);\n    \
                 {access};\n    MPI_Win_complete(window);\n}} else {{\n    MPI_Win_post(peer, 0, window);\n    \
                 MPI_Win_wait(window);\n}}\nMPI_Group_free(&peer);\nMPI_Group_free(&all);\n"
            ),
            _ => format!(
                "MPI_Win_fence(0, window);\nif (rank == {origin})\n    {access};\nMPI_Win_fence(0, window);\n"
            ),
        }
    }
}

/// The arguments of a statement that calls a function.
fn arguments<'a>(line: &'a str, function: &str) -> Option<&'a str> {
    if function.is_empty() {
        return None;
    }
    line.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(");")
}

named! {
    /// A communicator with neighbours. The name is the end of that of the operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Topology {
        /// A graph on which all ranks are neighbours of each.
        Everyone = "",
        /// A periodic grid of one dimension.
        Ring = "_ring",
        /// A grid of one dimension with ends.
        Line = "_line",
        /// A periodic grid of three dimensions, two of which have one rank.
        Torus = "_torus",
        /// A graph with the same neighbour twice, and the rank itself.
        Twice = "_twice",
    }
}

impl Topology {
    /// The same for readers.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Everyone => "",
            Self::Ring => " on a periodic grid",
            Self::Line => " on a grid with ends",
            Self::Torus => " on a grid with sides of one",
            Self::Twice => " on a graph with a neighbour twice",
        }
    }

    /// Neighbours of each of these ranks.
    pub const fn neighbours(self, ranks: usize) -> usize {
        match self {
            Self::Everyone => ranks,
            Self::Ring | Self::Line => 2,
            Self::Torus => 6,
            Self::Twice => 3,
        }
    }

    /// The statements with this topology.
    pub fn put_into(self, statements: &str) -> String {
        let made = match self {
            Self::Everyone => {
                "int sources[RANKS], slots[RANKS], weights[RANKS];
MPI_Comm topology;
for (int i = 0; i < RANKS; i++) {
    sources[i] = i;
    slots[i] = rank;
    weights[i] = 1;
}
MPI_Dist_graph_create_adjacent(comm, RANKS, sources, weights, RANKS, sources, weights, MPI_INFO_NULL, 0, &topology);"
            }
            Self::Ring => {
                "int sizes[1] = {RANKS}, periods[1] = {1}, sources[2] = {(rank + RANKS - 1) % RANKS, (rank + 1) % RANKS}, slots[2] = {1, 0};
MPI_Comm topology;
MPI_Cart_create(comm, 1, sizes, periods, 0, &topology);"
            }
            Self::Line => {
                "int sizes[1] = {RANKS}, periods[1] = {0}, sources[2] = {rank - 1, rank < RANKS - 1 ? rank + 1 : -1}, slots[2] = {1, 0};
MPI_Comm topology;
MPI_Cart_create(comm, 1, sizes, periods, 0, &topology);"
            }
            Self::Torus => {
                "int sizes[3] = {RANKS, 1, 1}, periods[3] = {1, 1, 1}, slots[6] = {1, 0, 3, 2, 5, 4};
int sources[6] = {(rank + RANKS - 1) % RANKS, (rank + 1) % RANKS, rank, rank, rank, rank};
MPI_Comm topology;
MPI_Cart_create(comm, 3, sizes, periods, 0, &topology);"
            }
            Self::Twice => {
                "int sources[3] = {(rank + RANKS - 1) % RANKS, (rank + RANKS - 1) % RANKS, rank}, slots[3] = {0, 1, 2};
int targets[3] = {(rank + 1) % RANKS, (rank + 1) % RANKS, rank}, weights[3] = {1, 1, 1};
MPI_Comm topology;
MPI_Dist_graph_create_adjacent(comm, 3, sources, weights, 3, targets, weights, MPI_INFO_NULL, 0, &topology);"
            }
        };
        let blocks = match self {
            Self::Everyone => "RANKS".to_owned(),
            other => other.neighbours(0).to_string(),
        };
        with_words(statements, &[("NEIGHBOURS", made.to_owned()), ("BLOCKS", blocks)])
    }
}

/// The text with other words.
pub fn with_words(text: &str, replaced: &[(&str, String)]) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (between, from_word) = rest.split_at(start);
        let (word, after) = from_word.split_at(from_word.find(|c| !is_part(c)).unwrap_or(from_word.len()));
        let known = replaced.iter().find(|(name, _)| *name == word);
        result += between;
        result += known.map_or(word, |(_, text)| text);
        rest = after;
    }
    result + rest
}

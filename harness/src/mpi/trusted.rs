//! Programs and variables of a plan. The author of a plan decides what its user runs, so that nothing of it is started before
//! [`Programs::trusted`] has checked it: launchers, compiler wrappers and variables can be used only with its result.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::{Result, other};
use super::{Print, Variant};

/// The values of a plan that are a program, or can make the launcher or the MPI start one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Programs {
    /// Names of the user's MPIs, or paths of compiler wrappers.
    pub mpis: Vec<String>,
    pub variants: Vec<Variant>,
    /// Launcher to use instead of the MPI's own: `srun`, a path, or a command with options. In a command with
    /// options, only `{ranks}` is replaced; without it, `-n RANKS` is appended.
    pub launcher: Option<String>,
    pub launcher_args: Vec<String>,
    /// The file with the user's loop.
    pub pack: Option<PathBuf>,
}

/// Programs that the user has typed, has written or trusts. Only [`Programs::trusted`] makes it, and the default, which names none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trusted(Programs);

/// Who has written a plan. By default this is unknown.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Whether it is made of flags only.
    is_typed: bool,
    /// The file and its folders.
    paths: Vec<PathBuf>,
    /// The part of a file's plan that the user has replaced by flags.
    typed: Programs,
    /// The numbers of the cases that were not named: all tests were selected.
    pub(crate) unnamed: Vec<usize>,
}

/// Plans of different origins can be the same plan.
impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Origin {
    /// That of a plan that is made of flags.
    pub fn typed() -> Self {
        Self { is_typed: true, ..Self::default() }
    }

    /// Adds the file, or a folder whose owner may have put it there.
    #[must_use]
    pub fn within(mut self, path: &Path) -> Self {
        (self.is_typed, self.paths) = (false, [self.paths, vec![path.to_owned()]].concat());
        self
    }

    /// Adds programs that the user has typed.
    #[must_use]
    pub fn with_typed(mut self, typed: Programs) -> Self {
        self.typed = typed;
        self
    }

    /// Why another user may have written the plan. `None` if it is the user's.
    fn strange(&self) -> Option<String> {
        if self.is_typed {
            return None;
        }
        if self.paths.is_empty() {
            return Some("it is not known who has written the plan".to_owned());
        }
        self.paths.iter().find_map(|path| {
            let reason = match fs::metadata(path) {
                Ok(facts) => strange(&facts)?.to_owned(),
                Err(error) => format!("may belong to another user ({error})"),
            };
            Some(format!("{} {reason}", path.display()))
        })
    }
}

/// Why another user may have written a file, or put it into a folder.
fn strange(facts: &fs::Metadata) -> Option<&'static str> {
    const GROUP: u32 = 0o020;
    const OTHERS: u32 = 0o002;
    // SAFETY: `getuid` cannot fail and touches no memory.
    let us = unsafe { libc::getuid() };
    // A group with the same number as its user has no other members.
    let is_own_group = facts.gid() == us;
    match facts.mode() {
        _ if facts.uid() != us => Some("belongs to another user"),
        mode if facts.is_file() && mode & OTHERS != 0 => Some("can be written to by everybody"),
        mode if facts.is_file() && mode & GROUP != 0 && !is_own_group => {
            Some("can be written to by its group")
        }
        _ => None,
    }
}

impl Programs {
    /// Prints which programs a plan file names, and refuses them if another user may have written it. This is
    /// checked last, after everything that can change a plan, and before anything is started.
    ///
    /// # Errors
    /// The programs, the file, and how to trust it.
    pub fn trusted(self, origin: &Origin, is_trusted: bool, print: Print<'_>) -> Result<Trusted> {
        let typed = origin.typed.named();
        let foreign = self.named().into_iter().filter(|name| !typed.contains(name)).collect::<Vec<_>>();
        if foreign.is_empty() || origin.is_typed {
            return Ok(Trusted(self));
        }
        let (place, named) = (origin.paths.first().map(|path| path.display()), foreign.join(", "));
        let text = format!("names programs to run: {named}");
        match (origin.strange().filter(|_| !is_trusted), place) {
            (Some(strange), Some(file)) => {
                return Err(other(format!(
                    "{strange}, and the plan {text}; read {file}, then run it with --trust"
                )));
            }
            (Some(strange), None) => {
                return Err(other(format!("{strange}, which {text}; read it, then run it with --trust")));
            }
            (None, Some(file)) => print(&format!("the plan in {file} {text}")),
            (None, None) => {}
        }
        Ok(Trusted(self))
    }

    /// Each of them with its kind. Names of MPIs are those of the user's own list.
    fn named(&self) -> Vec<String> {
        let launcher = self.launcher.iter().map(|launcher| format!("the launcher `{launcher}`"));
        let options = self.launcher_args.iter().map(|option| format!("the launcher's option `{option}`"));
        let mpis = self.mpis.iter().filter(|mpi| mpi.contains('/')).map(|mpi| format!("the MPI `{mpi}`"));
        let variables = self.variants.iter().flat_map(Variant::settings);
        let variables = variables.map(|variable| format!("the variable `{variable}`"));
        let loops = self.pack.iter().map(|file| format!("the loop `{}`", file.display()));
        launcher.chain(options).chain(mpis).chain(variables).chain(loops).collect()
    }
}

impl Trusted {
    /// The launcher to use instead of the MPI's own.
    pub fn launcher(&self) -> Option<&str> {
        self.0.launcher.as_deref()
    }

    pub fn launcher_args(&self) -> &[String] {
        &self.0.launcher_args
    }

    pub fn variants(&self) -> &[Variant] {
        &self.0.variants
    }

    /// The file with the user's loop.
    pub(super) fn pack(&self) -> Option<&Path> {
        self.0.pack.as_deref()
    }

    /// Whether a compiler wrapper may be run.
    pub(super) fn has_wrapper(&self, path: &str) -> bool {
        self.0.mpis.iter().any(|mpi| mpi == path)
    }

    /// A launcher with options that the user has typed.
    #[cfg(test)]
    pub(crate) fn typed(launcher: Option<&str>, options: &[&str]) -> &'static Self {
        let launcher_args = options.iter().map(|&option| option.to_owned()).collect();
        let launcher = launcher.map(str::to_owned);
        Box::leak(Box::new(Self(Programs { launcher, launcher_args, ..Programs::default() })))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn named() -> Programs {
        Programs {
            mpis: vec!["mpich".to_owned(), "/y/mpicc".to_owned()],
            variants: vec!["v:LD_PRELOAD=/z.so".parse().unwrap()],
            launcher: Some("/x/launch".to_owned()),
            launcher_args: vec!["-launcher-exec".to_owned()],
            pack: Some("/w.c".into()),
        }
    }

    fn check(
        programs: Programs,
        origin: &Origin,
        is_trusted: bool,
    ) -> std::result::Result<Vec<String>, String> {
        let mut printed = Vec::new();
        let found = programs.trusted(origin, is_trusted, &mut |text| printed.push(text.to_owned()));
        found.map(|_| printed).map_err(|error| error.to_string())
    }

    const ALL: [&str; 5] =
        ["`/x/launch`", "`-launcher-exec`", "`/y/mpicc`", "`LD_PRELOAD=/z.so`", "the loop `/w.c`"];

    #[test]
    fn programs_of_a_plan_are_named_and_a_strangers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        fs::write(&file, "").unwrap();
        let own = Origin::default().within(&file);
        // It belongs to root, or to another user.
        let strange = Origin::default().within(&file).within(Path::new("/no/such/folder"));
        let harmless = Programs { mpis: vec!["mpich".to_owned()], ..Programs::default() };
        assert_eq!(check(harmless, &strange, false), Ok(vec![]), "it names none");
        let printed = check(named(), &own, false).unwrap();
        assert!(
            ALL.iter().all(|name| printed[0].contains(name)) && !printed[0].contains("mpich"),
            "{printed:?}"
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        let refusal = check(named(), &own, false).unwrap_err();
        assert!(ALL.iter().all(|name| refusal.contains(name)), "{refusal}");
        let unreadable = Origin::default().within(Path::new("/no/such/folder"));
        assert!(check(named(), &unreadable, false).unwrap_err().contains("/no/such/folder may belong"));
        assert!(check(named(), &Origin::default(), false).unwrap_err().contains("not known who"));
        assert!(check(named(), &strange, true).is_ok() && check(named(), &Origin::default(), true).is_ok());
    }

    #[test]
    fn what_the_user_has_typed_is_not_the_plans() {
        let strange = Origin::default().within(Path::new("/no/such/file"));
        assert_eq!(check(named(), &Origin::typed(), false), Ok(vec![]));
        assert_eq!(check(named(), &strange.clone().with_typed(named()), false), Ok(vec![]));
        let typed = Programs { launcher: Some("srun".to_owned()), ..named() };
        let refusal = check(named(), &strange.with_typed(typed), false).unwrap_err();
        assert!(refusal.contains("`/x/launch`") && !refusal.contains("LD_PRELOAD"), "{refusal}");
    }
}

//! The account that a run keeps of each MPI, and the differences between two accounts of one MPI: settings,
//! launcher, binding, and the library's own account.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use serde::{Deserialize, Serialize};

use super::{RunError, Unit};
use crate::model::conditions::SETTING_PREFIXES;
use crate::model::event::Hello;
use crate::model::mpi_label;
use crate::mpi::{Installation, Target};

/// The account of an MPI of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MpiAccount {
    pub mpi: Installation,
    /// The name of its variant; empty for the unchanged MPI.
    pub variant: String,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// Variables that control it: those of the user's environment, and `env`. Missing in runs before 1.6.
    #[serde(default)]
    pub settings: Option<BTreeMap<String, String>>,
    /// Variables that ddtbench sets by itself, for at least one case.
    #[serde(default)]
    pub added_settings: BTreeMap<String, String>,
    /// Its launcher with the options of the first case. Missing in runs before 1.6.
    #[serde(default)]
    pub launcher: Option<String>,
    /// The command line of the first case.
    pub first_case: String,
    /// The rank program's account of itself, from the first case that ended.
    pub rank_program: Option<Hello>,
    /// Notes of the rank program on cases, such as bounds that other MPIs read in another way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A condition in which two records of an MPI differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of a variable or of another condition.
    pub name: String,
    /// Its values on both sides.
    pub values: [String; 2],
}

impl Difference {
    /// As text: `MPIR_CVAR_CH4_CMA_ENABLE: 0 then, not set now`.
    pub fn text(&self, [here, there]: [&str; 2]) -> String {
        let Self { name, values: [value, other] } = self;
        format!("{name}: {value} {here}, {other} {there}")
    }
}

impl MpiAccount {
    /// The account of an MPI whose first case is run with this command.
    pub fn from_target(target: &Target, first_case: String) -> Self {
        Self {
            mpi: target.installation.clone(),
            variant: target.variant.clone(),
            env: target.installation.env.clone(),
            settings: Some(settings(&target.installation, env::vars_os().filter_map(text))),
            first_case,
            ..Self::default()
        }
    }

    /// Its name in tables.
    pub fn label(&self) -> String {
        mpi_label(&self.mpi.name, &self.variant)
    }

    /// Whether another account must have the same conditions: it is for the MPI of that name in `all`, or
    /// without one for an MPI of the same family.
    pub fn is_held_to(&self, other: &Self, all: &[&Self]) -> bool {
        match all.iter().any(|known| known.label() == self.label()) {
            true => other.label() == self.label(),
            false => other.mpi.family == self.mpi.family,
        }
    }

    /// The conditions in which accounts of an MPI differ. A condition that is unknown on one side is not compared.
    pub fn differences(here: &[&Self], there: &[&Self]) -> Vec<Difference> {
        let sides = [here, there];
        let variants = sides.map(|side| side.iter().map(|account| &account.variant).collect::<BTreeSet<_>>());
        let are_variants = variants[0] != variants[1];
        let all = || here.iter().chain(there);
        // A variant differs on purpose.
        let is_chosen = |name: &String| are_variants && all().any(|account| account.env.contains_key(name));
        let names: BTreeSet<&String> =
            all().filter_map(|account| account.settings.as_ref()).flat_map(BTreeMap::keys).collect();
        let mut differences = Vec::new();
        let mut compare = |name: &str, value: &dyn Fn(&Self) -> Option<String>| {
            let values = sides.map(|side| side.iter().filter_map(|account| value(account)).collect());
            let [here, there]: &[BTreeSet<String>; 2] = &values;
            if here != there && !here.is_empty() && !there.is_empty() {
                let values = values.map(|values| Vec::from_iter(values).join(" and "));
                differences.push(Difference { name: name.to_owned(), values });
            }
        };
        for name in names.iter().filter(|name| !is_chosen(name)) {
            compare(name, &|account| {
                let value = account.settings.as_ref()?.get(*name);
                Some(value.map_or_else(|| "not set".to_owned(), |value| format!("\"{value}\"")))
            });
        }
        compare("launcher", &|account| account.launcher.clone());
        compare("thread level", &|account| Some(account.rank_program.as_ref()?.thread_level.clone()));
        // Cases with other numbers of threads have another binding.
        let threads: BTreeSet<_> =
            all().filter_map(|account| Some(account.rank_program.as_ref()?.threads)).collect();
        if threads.len() == 1 {
            compare("binding", &|account| binding(account.rank_program.as_ref()?));
        }
        let versions: BTreeSet<_> = all().map(|account| &account.mpi.version).collect();
        // The library's account follows from the differences found above, and another version has other defaults.
        if differences.is_empty() && !are_variants && versions.len() == 1 {
            differences.extend(differences_of_accounts(sides));
        }
        differences
    }
}

/// The differences in what the library itself reports.
fn differences_of_accounts(sides: [&[&MpiAccount]; 2]) -> Vec<Difference> {
    let of_side = |side: &[&MpiAccount]| {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, value) in
            side.iter().filter_map(|a| a.rank_program.as_ref()).flat_map(|h| &h.library_account)
        {
            all.entry(name.clone()).or_default().insert(value.clone());
        }
        all
    };
    let [here, there] = sides.map(of_side);
    let values = |values: &BTreeSet<String>| {
        let shown = |value: &String| if value.is_empty() { "not set".to_owned() } else { value.clone() };
        values.iter().map(shown).collect::<Vec<_>>().join(" and ")
    };
    let differs = |(name, value): (&String, &BTreeSet<String>)| {
        let other = there.get(name).filter(|other| *other != value)?;
        Some(Difference { name: name.clone(), values: [values(value), values(other)] })
    };
    here.iter().filter_map(differs).collect()
}

/// The number of hardware threads that each rank may use.
fn binding(hello: &Hello) -> Option<String> {
    let sizes: BTreeSet<usize> = hello.ranks.iter().map(|rank| rank.cpus.len()).collect();
    let all: BTreeSet<(&str, usize)> =
        hello.ranks.iter().flat_map(|rank| rank.cpus.iter().map(|&cpu| (rank.host.as_str(), cpu))).collect();
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    (!all.is_empty())
        .then(|| format!("each rank on {} of {} hardware threads", sizes.join(" or "), all.len()))
}

/// The variables that control an MPI, out of these and those set for it.
fn settings(
    installation: &Installation,
    variables: impl Iterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    // The folder of its installation, which its path shows already.
    let is_place = |name: &str| name == "I_MPI_ROOT";
    let steers = |name: &str| SETTING_PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix));
    let own = installation.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    variables.filter(|(name, _)| steers(name)).chain(own).filter(|(name, _)| !is_place(name)).collect()
}

fn text((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
}

impl super::Run<'_> {
    /// The account of each MPI of the run.
    ///
    /// # Errors
    /// If a launcher cannot be parsed.
    pub(super) fn accounts(&self) -> Result<Vec<MpiAccount>, RunError> {
        let units = self.units();
        let conditions = self.plan.plan.conditions().next().unwrap_or_default();
        let account = |(number, target): (usize, &Target)| {
            let first = Unit { case: 0, conditions, target: number, launch: 0 };
            let mut account = MpiAccount::from_target(target, self.command_line(first)?);
            account.launcher = Some(self.launch(first, &[]).launcher_with_options()?);
            for unit in units.iter().filter(|unit| unit.target == number && unit.launch == 0) {
                account.added_settings.extend(self.launch(*unit, &[]).added_settings());
            }
            Ok(account)
        };
        self.targets.iter().enumerate().map(account).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::RankPlace;
    use crate::mpi::Family;

    fn account(settings: &[(&str, &str)]) -> MpiAccount {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mpi = Installation { family: Family::Mpich, ..Installation::fake("mpiexec") };
        MpiAccount { mpi, settings: Some(settings.collect()), ..MpiAccount::default() }
    }

    fn reported(cpus: &[&[usize]], level: &str, library: &[(&str, &str)]) -> MpiAccount {
        let place = |(rank, cpus): (usize, &&[usize])| RankPlace {
            rank,
            cpus: cpus.to_vec(),
            ..RankPlace::default()
        };
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let hello = Hello {
            thread_level: level.to_owned(),
            ranks: cpus.iter().enumerate().map(place).collect(),
            library_account: library.iter().map(pair).collect(),
            ..Hello::default()
        };
        MpiAccount { rank_program: Some(hello), ..account(&[]) }
    }

    fn texts(here: &MpiAccount, there: &MpiAccount) -> Vec<String> {
        let all = MpiAccount::differences(&[here], &[there]);
        all.iter().map(|difference| difference.text(["then", "now"])).collect()
    }

    #[test]
    fn variables_of_variants_are_set_on_purpose_and_others_are_not() {
        let variant = |name: &str, value: &str| MpiAccount {
            variant: name.to_owned(),
            env: [("A".to_owned(), value.to_owned())].into(),
            ..account(&[("A", value), ("FI_PROVIDER", value)])
        };
        let (plain, slow) = (account(&[("FI_PROVIDER", "tcp")]), variant("slow", "tcp"));
        assert_eq!(texts(&plain, &slow), [""; 0]);
        let unknown = MpiAccount { settings: None, ..account(&[]) };
        assert_eq!(texts(&plain, &unknown), [""; 0], "it was recorded before settings were");
        assert_eq!(texts(&plain, &variant("slow", "shm")).len(), 1, "its other variable");
        assert_eq!(
            texts(&slow, &variant("slow", "shm")).len(),
            2,
            "a variant of that name had another value"
        );
    }

    #[test]
    fn launcher_threads_binding_and_what_the_library_reports_are_conditions() {
        let bound = reported(&[&[0], &[1]], "MPI_THREAD_FUNNELED", &[("CMA", "1"), ("new", "1")]);
        let free = reported(&[&[0, 1], &[0, 1]], "MPI_THREAD_SINGLE", &[("CMA", "1")]);
        assert_eq!(
            texts(&bound, &free),
            [
                "thread level: MPI_THREAD_FUNNELED then, MPI_THREAD_SINGLE now",
                "binding: each rank on 1 of 2 hardware threads then, each rank on 2 of 2 hardware threads now"
            ]
        );
        let off = reported(&[&[0], &[1]], "MPI_THREAD_FUNNELED", &[("CMA", "0")]);
        assert_eq!(texts(&bound, &off), ["CMA: 1 then, 0 now"]);
        let mut other = off.clone();
        other.mpi.version = "2".to_owned();
        assert_eq!(texts(&bound, &other), [""; 0], "another version has other defaults");
        let by = |launcher: &str| MpiAccount { launcher: Some(launcher.to_owned()), ..account(&[]) };
        assert_eq!(
            texts(&by("mpiexec -n 2"), &by("srun -n 2")),
            ["launcher: mpiexec -n 2 then, srun -n 2 now"]
        );
    }

    #[test]
    fn variables_of_an_environment_count_if_they_steer_an_mpi() {
        let pair = |name: &str| (name.to_owned(), "1".to_owned());
        let installation =
            Installation { env: [pair("ANY"), pair("I_MPI_ROOT")].into(), ..Installation::fake("mpiexec") };
        let found = settings(&installation, ["HOME", "FI_PROVIDER", "OMPI_MCA_btl"].map(pair).into_iter());
        assert_eq!(found.keys().collect::<Vec<_>>(), ["ANY", "FI_PROVIDER", "OMPI_MCA_btl"]);
    }

    #[test]
    fn an_mpi_is_held_to_the_one_of_its_name_or_else_of_its_maker() {
        let named = |name: &str, family| MpiAccount {
            mpi: Installation { name: name.to_owned(), family, ..Installation::default() },
            ..MpiAccount::default()
        };
        let (old, new) = (named("mpich-4.3.2", Family::Mpich), named("mpich", Family::Mpich));
        let open = named("openmpi", Family::OpenMpi);
        assert!(new.is_held_to(&old, &[&old]) && !new.is_held_to(&old, &[&old, &new]));
        assert!(new.is_held_to(&new, &[&old, &new]) && !open.is_held_to(&old, &[&old]));
    }
}

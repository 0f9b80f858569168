//! The MPIs of a run: picked by name, with their variants, and built for.

use std::path::PathBuf;

use anyhow::bail;
use ddtbench::experiments::Kind;
use ddtbench::model::mpi_label;
use ddtbench::mpi::{Installation, MpiError, Project, Source, Target, interrupt};
use ddtbench::plan::{Plan, Variant};

use super::output::log;

/// MPIs that were chosen, with their variants; nothing is built for them yet.
#[derive(Debug)]
pub(super) struct Chosen {
    project: Project,
    mpis: Vec<(Installation, Option<Variant>)>,
    /// Whether one that cannot be built for is left out, since nobody has named it.
    may_leave_out: bool,
}

/// Refuses names of MPIs that do not exist. Nothing is installed.
pub(super) fn check_names(plan: &Plan) -> anyhow::Result<()> {
    if !plan.mpis.is_empty() {
        pick(&mut plan.mpis.clone(), &plan.variants, false, false)?;
    }
    Ok(())
}

/// Refuses a variant of an MPI that is not among those named.
fn check_variants(variants: &[Variant], mpis: &[String]) -> anyhow::Result<()> {
    let is_of_none = |variant: &&Variant| !mpis.iter().any(|mpi| variant.is_of(mpi));
    match variants.iter().find(is_of_none) {
        None => Ok(()),
        Some(variant) => bail!(
            "--variant {}/{}: the run is of {}, and not of {0}",
            variant.mpi.as_deref().unwrap_or_default(),
            variant.name,
            mpis.join(", ")
        ),
    }
}

/// The MPIs of a plan, which gets names by which they can be found again. Without a name it is the preferred MPI; the engine is
/// compared on all.
pub(super) fn choose(plan: &mut Plan, verbose: bool) -> anyhow::Result<Chosen> {
    pick(&mut plan.mpis, &plan.variants, plan.experiment == Kind::Engine, verbose)
}

/// The MPIs with these names, which are replaced by names that last. Without a name it is the preferred MPI, or all MPIs.
pub(super) fn pick(
    names: &mut Vec<String>,
    variants: &[Variant],
    all: bool,
    verbose: bool,
) -> anyhow::Result<Chosen> {
    let mut project = Project::locate()?;
    project.verbose = verbose;
    let may_leave_out = names.is_empty();
    if names.is_empty() {
        let mut installations = if all { project.installations(&mut log)? } else { Vec::new() };
        if installations.is_empty() {
            installations.push(project.pick(None, &mut log)?);
        }
        *names = installations.iter().map(lasting_name).collect();
    }
    let named_mpis: Vec<String> = names.iter().map(|name| parted(name).0.to_owned()).collect();
    check_variants(variants, &named_mpis)?;
    let mut mpis: Vec<(Installation, Option<Variant>)> = Vec::new();
    for listed in &*names {
        let (name, variant) = parted(listed);
        let installation = project.pick(Some(name), &mut log)?;
        let chosen = match variant {
            Some(variant) => vec![Some(named(variants, &project, &installation.name, variant)?)],
            None => {
                let is_named = |variant: &Variant| names.contains(&format!("{name}:{}", variant.name));
                let of_mpi = variants.iter().filter(|variant| variant.is_of(name) && !is_named(variant));
                std::iter::once(None).chain(of_mpi.cloned().map(Some)).collect()
            }
        };
        for variant in chosen {
            let is_same = |known: &(Installation, Option<Variant>)| {
                known.0.name == installation.name && known.1 == variant
            };
            if !mpis.iter().any(is_same) {
                mpis.push((installation.clone(), variant));
            }
        }
    }
    Ok(Chosen { project, mpis, may_leave_out })
}

/// An MPI's name and that of its variant. A path has none.
fn parted(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((mpi, variant)) if !name.contains('/') => (mpi, Some(variant)),
        _ => (name, None),
    }
}

/// A name by which a run can be gone on with: of what only a variable names, its path.
fn lasting_name(installation: &Installation) -> String {
    match installation.source {
        Source::MpiccVariable => installation.mpicc.display().to_string(),
        _ => installation.name.clone(),
    }
}

/// The variant of an MPI by its name: of the plan, or of the list of this machine's MPIs.
fn named(variants: &[Variant], project: &Project, mpi: &str, name: &str) -> anyhow::Result<Variant> {
    let is_it = |variant: &&Variant| variant.name == name && variant.is_of(mpi);
    if let Some(variant) = variants.iter().find(is_it) {
        return Ok(variant.clone());
    }
    let listed = project.variants(mpi)?;
    let known: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    match listed.iter().find(|(known, _)| known == name) {
        Some((name, env)) => Ok(Variant { name: name.clone(), mpi: Some(mpi.to_owned()), env: env.clone() }),
        None => bail!(
            "--mpi {mpi}:{name}: there is no such variant of {mpi}{}; give it with --variant {name}:VARIABLE=VALUE",
            if known.is_empty() { String::new() } else { format!(", there are {}", known.join(", ")) }
        ),
    }
}

impl Chosen {
    /// The MPIs, each once.
    pub fn installations(&self) -> Vec<&Installation> {
        let mut all: Vec<&Installation> = Vec::new();
        for (installation, _) in &self.mpis {
            if all.iter().all(|known| known.name != installation.name) {
                all.push(installation);
            }
        }
        all
    }

    /// What tables name them.
    pub fn labels(&self) -> Vec<String> {
        let variant =
            |variant: &Option<Variant>| variant.as_ref().map_or("", |variant| &variant.name).to_owned();
        self.mpis.iter().map(|(mpi, of_mpi)| mpi_label(&mpi.name, &variant(of_mpi))).collect()
    }

    /// What a run is of, for the name of its folder: the MPI, or if there are several, `what`.
    pub fn name_or(&self, what: &str) -> String {
        match self.labels().as_slice() {
            [one] => one.replace(':', "-"),
            _ => what.to_owned(),
        }
    }

    /// Builds the rank program for each. Of those that nobody has named, one that cannot be built for is left out.
    ///
    /// # Errors
    /// If one that was named, or none at all, can be built for.
    pub fn build(&self) -> anyhow::Result<Vec<Target>> {
        let mut programs: Vec<(&str, PathBuf)> = Vec::new();
        for installation in self.installations() {
            if interrupt::requested() {
                return Err(MpiError::Interrupted.into());
            }
            match self.project.rank_program(installation, &mut log) {
                Ok(program) => programs.push((&installation.name, program)),
                Err(error @ MpiError::Interrupted) => return Err(error.into()),
                Err(error) if self.may_leave_out && self.mpis.len() > 1 => log(&format!("left out: {error}")),
                Err(error) => return Err(error.into()),
            }
        }
        let target = |(installation, variant): &(Installation, Option<Variant>)| {
            let (_, program) = programs.iter().find(|(name, _)| *name == installation.name)?;
            let mut installation = installation.clone();
            let variant = variant.as_ref().map(|variant| {
                installation.env.extend(variant.env.clone());
                variant.name.clone()
            });
            Some(Target { installation, variant: variant.unwrap_or_default(), program: program.clone() })
        };
        let targets: Vec<_> = self.mpis.iter().filter_map(target).collect();
        if targets.is_empty() {
            bail!("the rank program could be built for no MPI");
        }
        Ok(targets)
    }
}

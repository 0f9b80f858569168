//! The MPIs of a run: chosen by name, with their variants, and built for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use ddtbench::experiments::Kind;
use ddtbench::folder::OWN_LOOP;
use ddtbench::model::conditions::MemoryKind;
use ddtbench::model::mpi_label;
use ddtbench::mpi::{
    Installation, MpiError, OwnLoop, Project, STANDARD, Source, StandIn, Target, Trusted, Variant, interrupt,
};
use ddtbench::plan::Plan;

use super::output::log;

/// Chosen MPIs with their variants, before anything is built.
#[derive(Debug)]
pub(super) struct Chosen {
    project: Project,
    programs: Trusted,
    mpis: Vec<(Installation, Option<Variant>)>,
    /// An MPI that the user has not named is skipped if building fails.
    may_leave_out: bool,
    /// Whether a device is simulated.
    is_simulated: bool,
    own_loop: Option<OwnLoop>,
}

/// Refuses names of MPIs that do not exist. Installs nothing. Returns the number of MPIs with their variants.
pub(super) fn check_names(plan: &Plan, is_trusted: bool) -> anyhow::Result<usize> {
    if !plan.mpis.is_empty() {
        return Ok(choose(&mut plan.clone(), is_trusted, false)?.mpis.len());
    }
    let programs = plan.trusted(is_trusted, &mut log)?;
    check_libraries(programs.variants())?;
    Ok(1 + programs.variants().len())
}

/// Refuses preloaded libraries that do not exist: the loader ignores them, and an MPI would be compared with itself.
fn check_libraries(variants: &[Variant]) -> anyhow::Result<()> {
    for variant in variants {
        for setting in variant.settings() {
            let libraries = setting.strip_prefix("LD_PRELOAD=").unwrap_or_default();
            let mut paths = libraries.split([':', ' ']).filter(|path| path.contains('/'));
            if let Some(missing) = paths.find(|path| !Path::new(path).is_file()) {
                bail!("--variant {}: LD_PRELOAD: no such file: {missing}", variant.name);
            }
        }
    }
    Ok(())
}

fn check_variants(variants: &[Variant], mpis: &[String]) -> anyhow::Result<()> {
    check_libraries(variants)?;
    let is_of_none = |variant: &&Variant| !mpis.iter().any(|mpi| variant.is_of(mpi));
    match variants.iter().find(is_of_none) {
        None => Ok(()),
        Some(variant) => bail!(
            "--variant {}/{}: the run uses {}, not {0}",
            variant.mpi.as_deref().unwrap_or_default(),
            variant.name,
            mpis.join(", ")
        ),
    }
}

/// The MPIs of a plan, which gets lasting names. Without a name: the preferred MPI, or for the engine all of
/// them. The programs of the plan are checked here, before any of them is started.
pub(super) fn choose(plan: &mut Plan, is_trusted: bool, verbose: bool) -> anyhow::Result<Chosen> {
    let programs = plan.trusted(is_trusted, &mut log)?;
    programs.check_launcher()?;
    let mut project = Project::locate()?;
    project.verbose = verbose;
    let (names, variants, all) = (&mut plan.mpis, programs.variants(), plan.experiment == Kind::Engine);
    let may_leave_out = names.is_empty();
    let mut found = if may_leave_out && all { project.installations(&mut log)? } else { Vec::new() };
    if may_leave_out && found.is_empty() {
        found.push(project.pick(None, &programs, &mut log)?);
    }
    names.extend(found.iter().map(lasting_name));
    let mut found = found.into_iter();
    let named_mpis: Vec<String> = names.iter().map(|name| name_and_variant(name).0.to_owned()).collect();
    check_variants(variants, &named_mpis)?;
    let mut mpis: Vec<(Installation, Option<Variant>)> = Vec::new();
    let mut lasting_names = Vec::new();
    for listed in &*names {
        let (name, variant) = name_and_variant(listed);
        let installation = match found.next() {
            Some(installation) => installation,
            None => project.pick(Some(name), &programs, &mut log)?,
        };
        let of_mpi: Vec<Variant> = variants.iter().filter(|of| of.is_of(name)).cloned().collect();
        let chosen = match variant {
            Some(STANDARD) => vec![Some(Variant::for_mpi(&installation.name, STANDARD, BTreeMap::new()))],
            Some(variant) => vec![Some(named(&of_mpi, &project, &installation.name, variant)?)],
            None => {
                // Once a name has a variant, this applies to the named MPIs only.
                let is_named = |variant: &Variant| {
                    let is_it = |listed: &String| name_and_variant(listed).1 == Some(&variant.name);
                    let is_of_this = |listed: &String| name_and_variant(listed).0 == name;
                    names.iter().any(|of| is_it(of) && (variant.mpi.is_none() || is_of_this(of)))
                };
                let others = of_mpi.into_iter().filter(|variant| !is_named(variant));
                std::iter::once(None).chain(others.map(Some)).collect()
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
        // A resumed run must find the same MPI, even if another one gets a short name such as `mpich`.
        let lasting = if name.contains('/') { name } else { &installation.name };
        lasting_names.push(listed.replacen(name, lasting, 1));
        let only_of_mpi = plan.variants.iter_mut().filter(|of| of.mpi.as_deref() == Some(name));
        only_of_mpi.for_each(|of| of.mpi = Some(lasting.to_owned()));
    }
    plan.mpis = lasting_names;
    let is_simulated = plan.memories.contains(&MemoryKind::Simulated);
    Ok(Chosen { project, programs, mpis, may_leave_out, is_simulated, own_loop: None })
}

/// Separates an MPI's name from its variant. A path has no variant.
fn name_and_variant(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((mpi, variant)) if !name.contains('/') => (mpi, Some(variant)),
        _ => (name, None),
    }
}

/// A name that a resumed run finds again: the path, if only a variable names the MPI.
fn lasting_name(installation: &Installation) -> String {
    match installation.source {
        Source::MpiccVariable => installation.mpicc.display().to_string(),
        _ => installation.name.clone(),
    }
}

/// A variant of an MPI by its name: one of these from the plan, or of this machine's list of MPIs.
fn named(of_mpi: &[Variant], project: &Project, mpi: &str, name: &str) -> anyhow::Result<Variant> {
    if let Some(variant) = of_mpi.iter().find(|variant| variant.name == name) {
        return Ok(variant.clone());
    }
    let listed = project.variants(mpi)?;
    let known: Vec<&str> = listed.iter().map(|variant| variant.name.as_str()).collect();
    match listed.iter().find(|known| known.name == name) {
        Some(variant) => Ok(variant.clone()),
        None => bail!(
            "--mpi {mpi}:{name}: {mpi} has no such variant{}; define it with --variant {name}:VARIABLE=VALUE",
            if known.is_empty() { String::new() } else { format!(", only {}", known.join(", ")) }
        ),
    }
}

impl Chosen {
    /// The MPIs without duplicates.
    pub fn installations(&self) -> Vec<&Installation> {
        let mut all: Vec<&Installation> = Vec::new();
        for (installation, _) in &self.mpis {
            if all.iter().all(|known| known.name != installation.name) {
                all.push(installation);
            }
        }
        all
    }

    pub fn labels(&self) -> Vec<String> {
        let variant =
            |variant: &Option<Variant>| variant.as_ref().map_or("", |variant| &variant.name).to_owned();
        self.mpis.iter().map(|(mpi, of_mpi)| mpi_label(&mpi.name, &variant(of_mpi))).collect()
    }

    /// For the name of the folder: the MPI, or `what` if there are several.
    pub fn name_or(&self, what: &str) -> String {
        match self.labels().as_slice() {
            [one] => one.replace(':', "-"),
            _ => what.to_owned(),
        }
    }

    /// Compiles the user's loop into the folder of a run.
    ///
    /// # Errors
    /// If the file is not a loop.
    pub fn compile_loop(&mut self, dir: &Path) -> anyhow::Result<()> {
        self.own_loop = self.programs.own_loop(&dir.join(OWN_LOOP))?;
        Ok(())
    }

    /// Builds the rank program for each MPI, and skips those that the user has not named if that fails.
    ///
    /// # Errors
    /// If it fails for a named MPI, or for all.
    pub fn build(&self) -> anyhow::Result<Vec<Target>> {
        let mut targets: Vec<Target> = Vec::new();
        for (installation, variant) in &self.mpis {
            if interrupt::requested() {
                return Err(MpiError::Interrupted.into());
            }
            match self.target(installation, variant.as_ref(), &targets) {
                Ok(target) => targets.push(target),
                Err(error @ MpiError::Interrupted) => return Err(error.into()),
                Err(error) if self.may_leave_out && self.mpis.len() > 1 => log(&format!("skipped: {error}")),
                Err(error) => return Err(error.into()),
            }
        }
        if targets.is_empty() {
            bail!("the rank program could not be built for any MPI");
        }
        Ok(targets)
    }

    /// An MPI, with its rank program unless one of these has it.
    fn target(
        &self,
        installation: &Installation,
        variant: Option<&Variant>,
        known: &[Target],
    ) -> Result<Target, MpiError> {
        let mut installation = installation.clone();
        if let Some(variant) = variant {
            if variant.name == STANDARD {
                installation = installation.with_standard_abi()?;
            }
            installation = variant.applied(&self.programs, installation);
        }
        let is_same = |target: &&Target| {
            (&target.installation.name, target.installation.abi) == (&installation.name, installation.abi)
        };
        let program = match known.iter().find(is_same) {
            Some(target) => target.program.clone(),
            None => self.project.rank_program(&installation, &mut log)?,
        };
        let variant = variant.map_or_else(String::new, |variant| variant.name.clone());
        let (programs, stand_in) =
            (self.programs.clone(), known.first().and_then(|known| known.stand_in.clone()));
        let stand_in = match stand_in {
            None if self.is_simulated => Some(Arc::new(StandIn::compile()?)),
            known => known,
        };
        Ok(Target { installation, variant, program, programs, own_loop: self.own_loop.clone(), stand_in })
    }
}

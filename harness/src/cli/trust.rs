//! Plans can name programs and environment variables, so their author decides what the user runs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, bail};
use ddtbench::plan::Plan;

use super::output::log;

/// Logs which programs a plan file names. Refuses them if another user may have written it: `paths` are the file and its folders;
/// one of them belongs to another user, or others may write to the file.
pub(super) fn check(plan: &Plan, paths: &[&Path], is_trusted: bool) -> anyhow::Result<()> {
    let named = named(plan);
    let Some(file) = paths.first().filter(|_| !named.is_empty()) else { return Ok(()) };
    let us = procfs::process::Process::myself().and_then(|own| own.uid()).context("user of this process")?;
    let strange = paths.iter().find_map(|path| {
        let reason = strange(&fs::metadata(path).ok()?, us)?;
        Some(format!("{} {reason}", path.display()))
    });
    let (file, named) = (file.display(), named.join(", "));
    if let Some(strange) = strange.filter(|_| !is_trusted) {
        bail!(
            "{strange}, and the plan names programs to run: {named}; read {file}, then run it with --trust"
        );
    }
    log(&format!("the plan in {file} names programs to run: {named}"));
    Ok(())
}

/// Why another user may have written a file, or put it into a folder.
fn strange(facts: &fs::Metadata, us: u32) -> Option<&'static str> {
    const GROUP: u32 = 0o020;
    const OTHERS: u32 = 0o002;
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

/// Values of a plan that are a program, or can make the launcher or the MPI start one.
fn named(plan: &Plan) -> Vec<String> {
    let launcher = plan.launcher.iter().map(|launcher| format!("the launcher `{launcher}`"));
    let options = plan.launcher_args.iter().map(|option| format!("the launcher's option `{option}`"));
    let mpis = plan.mpis.iter().filter(|mpi| mpi.contains('/')).map(|mpi| format!("the MPI `{mpi}`"));
    let variables = plan.variants.iter().flat_map(|variant| &variant.env);
    let variables = variables.map(|(name, value)| format!("the variable `{name}={value}`"));
    launcher.chain(options).chain(mpis).chain(variables).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_of_a_plan_are_named_and_a_strangers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        fs::write(&file, "").unwrap();
        let mut plan = Plan { mpis: vec!["mpich".to_owned()], ..Plan::default() };
        // Owned by root, or by another user.
        let strange = Path::new("/proc/1/mounts");
        let own = procfs::process::Process::myself().unwrap().uid().unwrap();
        assert!(check(&plan, &[&file, strange], false).is_ok(), "it names none");
        plan.launcher = Some("/x/launch".to_owned());
        plan.mpis.push("/y/mpicc".to_owned());
        assert_eq!(named(&plan), ["the launcher `/x/launch`", "the MPI `/y/mpicc`"]);
        assert!(check(&plan, &[&file], false).is_ok());
        let allow = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        allow(0o666);
        let refusal = check(&plan, &[&file], false).unwrap_err().to_string();
        assert!(refusal.contains("by everybody") && refusal.contains("--trust"), "{refusal}");
        allow(0o644);
        if own == 0 {
            std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        }
        let paths: &[&Path] = if own == 0 { &[&file] } else { &[&file, strange] };
        let refusal = check(&plan, paths, false).unwrap_err().to_string();
        assert!(refusal.contains("/x/launch") && refusal.contains("--trust"), "{refusal}");
        assert!(check(&plan, paths, true).is_ok());
    }
}

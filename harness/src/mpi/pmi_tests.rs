//! Tests of the PMI that is chosen.

use std::fs;

use super::super::fake_program;
use super::*;

fn mpi(family: Family, version: &str) -> Installation {
    Installation { family, version: version.to_owned(), ..Installation::fake("/m/bin/mpiexec") }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn lists_of_old_and_new_versions_are_read() {
    let new =
        "MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\nspecific pmix plugin versions available: pmix_v4";
    assert_eq!(parse(lines(new).iter()), ["none", "pmi2", "pmix"]);
    let old = "srun: MPI types are...\nsrun: none\nsrun: pmi2\nsrun: openmpi";
    assert_eq!(parse(lines(old).iter()), ["none", "pmi2", "openmpi"]);
    assert!(parse(lines("srun: error: Couldn't find the specified plugin name").iter()).is_empty());
}

#[test]
fn the_first_that_both_can_is_chosen() {
    let of = |family, version, listed: Option<&str>| {
        let listed = listed.map(|names| names.split(' ').map(str::to_owned).collect());
        Pmi::of_listed(&mpi(family, version), listed).option().unwrap_or_default()
    };
    let all = Some("none pmi2 pmix");
    assert_eq!(of(Family::Mpich, "5.0.2", all), "--mpi=pmi2");
    assert_eq!(of(Family::Mpich, "5.0.2", Some("none pmix")), "--mpi=pmix");
    assert_eq!(of(Family::OpenMpi, "5.0.11", all), "--mpi=pmix");
    assert_eq!(of(Family::OpenMpi, "5.0.11", Some("none pmi2")), "", "version 5 cannot");
    assert_eq!(of(Family::OpenMpi, "4.1.6", Some("none pmi2")), "--mpi=pmi2");
    assert_eq!(of(Family::Intel, "2021.19", all), "--mpi=pmi2");
    assert_eq!(of(Family::Mpich, "5.0.2", None), "--mpi=pmi2", "it could not be asked");
}

#[test]
fn what_is_chosen_and_what_is_lacking_are_reported() {
    let of = |listed: &str| {
        let listed = listed.split(' ').map(str::to_owned).collect();
        Pmi::of_listed(&mpi(Family::OpenMpi, "5.0.11"), Some(listed)).to_string()
    };
    assert_eq!(
        of("none pmix"),
        "srun gets --mpi=pmix and PMIX_SECURITY_MODE=native, for Open MPI 5.0.11; use -- --mpi=NAME for another"
    );
    assert_eq!(
        of("none pmi2"),
        "Open MPI 5.0.11 needs pmix, but srun has only: none, pmi2; use -- --mpi=NAME for one of these"
    );
}

#[test]
fn srun_runs_once_and_the_users_choice_has_priority() {
    let folder = tempfile::tempdir().unwrap();
    let (srun, asked) = (folder.path().join("srun"), folder.path().join("asked"));
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{}'\necho 'MPI plugin types are...'\necho pmix\n",
        asked.display()
    );
    fake_program(srun.clone(), &script);
    let of = |family, options: &[&str]| {
        let options = lines(&options.join("\n"));
        Pmi::choose(&mpi(family, "5.0"), &srun, &options).unwrap()
    };
    for options in [&["--mpi=pmi2"][..], &["--mpi", "pmi2"]] {
        let given = of(Family::OpenMpi, options);
        assert_eq!(given.option(), None);
        assert_eq!(
            given.to_string(),
            "the PMI was given to srun; without `--mpi` and SLURM_MPI_TYPE, ddtbench chooses a PMI that Open MPI 5.0 supports, pmix if srun has it"
        );
    }
    assert_eq!(of(Family::Other, &[]), Pmi::Unknown);
    assert!(!asked.exists(), "there was nothing to ask");
    assert_eq!(of(Family::OpenMpi, &["--mpibind=on"]).option().unwrap(), "--mpi=pmix");
    assert_eq!(of(Family::Mpich, &[]).option().unwrap(), "--mpi=pmix");
    assert_eq!(fs::read_to_string(&asked).unwrap(), "--mpi=list\n");
    let missing = Pmi::choose(&mpi(Family::Mpich, "5.0"), &folder.path().join("none/srun"), &[]).unwrap();
    assert_eq!(missing.option().unwrap(), "--mpi=pmi2", "its start will report the error");
}

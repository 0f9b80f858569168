//! Tests of the command lines.

use super::super::fake_program;
use super::*;

fn installation(family: Family) -> Installation {
    Installation { family, ..Installation::fake("/m/bin/mpiexec") }
}

/// Four ranks, bound if there are enough cores.
fn on<'a>(installation: &'a Installation, launcher: Option<&str>) -> Launch<'a> {
    Launch {
        installation,
        ranks: 4,
        threads: 1,
        program: Path::new("/p"),
        args: &[],
        programs: Trusted::typed(launcher, &[]),
        bind: true,
        memory: MemoryKind::Host,
        stand_in: None,
        env: BTreeMap::new(),
    }
}

fn line(family: Family, launcher: Option<&str>, more: &[&str], is_oversubscribed: bool) -> String {
    let (installation, args) = (installation(family), ["a b".to_owned()]);
    let programs = Trusted::typed(launcher, more);
    let launch = Launch { args: &args, programs, ..on(&installation, None) };
    launch.command_line_on(is_oversubscribed, false, None, &|_| false).unwrap().to_string()
}

#[test]
fn ranks_are_bound_by_each_maker_unless_there_are_more_than_cores() {
    let (mpich, open) = ("/m/bin/mpiexec -n 4 -bind-to core", "/m/bin/mpiexec -n 4 --bind-to core");
    let intel = "I_MPI_PIN=1 I_MPI_PIN_DOMAIN=core /m/bin/mpiexec -n 4";
    let shared_open =
        "OMPI_MCA_mpi_yield_when_idle=1 /m/bin/mpiexec -n 4 --map-by :OVERSUBSCRIBE --bind-to none";
    for (family, is_oversubscribed, expected) in [
        (Family::Mpich, false, mpich),
        (Family::OpenMpi, false, open),
        (Family::Intel, false, intel),
        (Family::Other, false, "/m/bin/mpiexec -n 4"),
        (Family::Mpich, true, "MPIR_CVAR_DEVICE_COLLECTIVES=none /m/bin/mpiexec -n 4"),
        (Family::OpenMpi, true, shared_open),
        (Family::Intel, true, "I_MPI_PIN=0 /m/bin/mpiexec -n 4"),
    ] {
        assert_eq!(line(family, None, &[], is_oversubscribed), format!("{expected} /p 'a b'"));
    }
}

#[test]
fn other_launchers_and_placements() {
    let of = |launcher| line(Family::Mpich, Some(launcher), &["--x"], false);
    assert_eq!(of("srun"), "srun -n 4 '--cpu-bind=cores' --x /p 'a b'");
    assert_eq!(of("/opt/bin/mpirun"), "/opt/bin/mpirun -n 4 -bind-to core --x /p 'a b'");
    assert_eq!(of("srun --mpi=pmi2"), "srun '--mpi=pmi2' -n 4 --x /p 'a b'");
    assert_eq!(of("jsrun --np {ranks} 'c d'"), "jsrun --np 4 'c d' --x /p 'a b'");
    let placed = line(Family::OpenMpi, None, &["--map-by", "ppr:1:node"], false);
    assert_eq!(placed, "/m/bin/mpiexec -n 4 --map-by ppr:1:node /p 'a b'", "the user's placement");
}

#[test]
fn srun_gets_the_pmi_and_ranks_what_it_needs() {
    let installation = installation(Family::OpenMpi);
    let programs = Trusted::typed(Some("srun"), &["--x"]);
    let launch = Launch { ranks: 2, bind: false, programs, ..on(&installation, None) };
    let pmix = || Some(Pmi::Chosen { mpi: "Open MPI 5".to_owned(), name: "pmix" });
    let of = |pmi, is_set: &dyn Fn(&str) -> bool| {
        launch.command_line_on(false, false, pmi, is_set).unwrap().to_string()
    };
    assert_eq!(
        of(pmix(), &|_| false),
        "PMIX_SECURITY_MODE=native srun -n 2 '--cpu-bind=none' '--mpi=pmix' --x /p"
    );
    assert_eq!(of(pmix(), &|_| true), "srun -n 2 '--cpu-bind=none' '--mpi=pmix' --x /p", "the user's mode");
    assert_eq!(of(Some(Pmi::given(&installation)), &|_| false), "srun -n 2 '--cpu-bind=none' --x /p");
    let with_options = Launch { programs: Trusted::typed(Some("srun -N 2"), &[]), ..launch.clone() };
    let given = Some(Pmi::given(&installation));
    assert_eq!(with_options.pmi().unwrap(), given, "a command with options is not changed");
    assert_eq!(Launch { programs: Trusted::typed(None, &[]), ..launch.clone() }.pmi().unwrap(), None);
}

#[test]
fn variables_of_the_user_stand() {
    let installation = installation(Family::OpenMpi);
    let env = [("X".to_owned(), "1".to_owned())].into();
    let launch = Launch { env, bind: false, ..on(&installation, None) };
    let yields = |name: &str| name == "OMPI_MCA_mpi_yield_when_idle";
    let command = launch.command_line_on(true, true, None, &yields).unwrap();
    let names: Vec<&str> = command.env.keys().map(String::as_str).collect();
    assert_eq!(names, ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "X"]);
    let empty = Launch { programs: Trusted::typed(Some(" "), &[]), ..launch };
    assert!(empty.command_line().is_err());
}

#[test]
fn variables_of_an_outer_launcher_are_removed_for_the_mpis_own() {
    let mpich = installation(Family::Mpich);
    let variables = || {
        ["PMIX_RANK", "PMI_SIZE", "PMIX_SERVER_URI41", "PMIX_MCA_gds", "SLURM_JOB_ID", "HOME"]
            .map(str::to_owned)
    };
    let outer = |launcher| on(&mpich, launcher).outer_variables_of(variables().into_iter()).unwrap();
    assert_eq!(outer(None), ["PMIX_RANK", "PMIX_SERVER_URI41", "PMI_SIZE"]);
    assert_eq!(outer(Some("srun")), [""; 0], "there they are those of the ranks themselves");
    assert_eq!(outer(Some("mpiexec -l -n {ranks}")), [""; 0], "a command of the user's own");
    let without = vec!["PMIX_RANK".to_owned()];
    let line = on(&mpich, None).command_line_on(false, false, None, &|_| false).unwrap();
    let line = CommandLine { without, ..line }.to_string();
    assert_eq!(line, "env -u PMIX_RANK /m/bin/mpiexec -n 4 -bind-to core /p");
}

#[test]
fn settings_for_shared_cores_are_ours_unless_the_user_has_set_them() {
    let mut mpich = installation(Family::Mpich);
    let added = |mpi: &Installation, shared, is_set| {
        on(mpi, None)
            .added_settings_on(shared, &|_| is_set)
            .into_iter()
            .map(|(name, value)| name + "=" + &value)
            .collect::<Vec<_>>()
    };
    assert_eq!(added(&mpich, true, false), ["MPIR_CVAR_DEVICE_COLLECTIVES=none"]);
    assert_eq!((added(&mpich, false, false).len(), added(&mpich, true, true).len()), (0, 0));
    mpich.env.insert("MPIR_CVAR_DEVICE_COLLECTIVES".to_owned(), "all".to_owned());
    assert_eq!(added(&mpich, true, false), [""; 0], "the list of MPIs has it");
}

#[test]
fn a_launcher_is_described_by_its_name_and_options() {
    let mpi = installation(Family::Other);
    assert_eq!(on(&mpi, None).launcher_with_options().unwrap(), "mpiexec -n 4");
    assert_eq!(on(&mpi, Some("a/run -x")).launcher_with_options().unwrap(), "run -x -n 4");
}

#[test]
fn launchers_are_recognised_by_their_version() {
    for (version, maker) in [
        ("HYDRA build details:\n    Version:      5.0.2", Some(Family::Mpich)),
        ("mpiexec (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org", Some(Family::OpenMpi)),
        ("mpirun (Open MPI) 4.1.4", Some(Family::OpenMpi)),
        ("prterun (PRRTE) 3.0.12", Some(Family::OpenMpi)),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260101\nHYDRA", Some(Family::Intel)),
        ("slurm 22.05.8", None),
    ] {
        assert_eq!(maker_of_launcher(version), maker, "{version}");
    }
    assert!(Family::Mpich.starts_under(Family::Intel) && Family::OpenMpi.starts_under(Family::OpenMpi));
    assert!(!Family::Mpich.starts_under(Family::OpenMpi) && !Family::OpenMpi.starts_under(Family::Intel));
}

#[test]
fn a_launcher_of_another_maker_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let launcher = |text: &str| {
        let file = fake_program(dir.path().join("mpiexec"), &format!("#!/bin/sh\necho '{text}'\n"));
        Installation { family: Family::Mpich, ..Installation::fake(&file) }.foreign_launcher().unwrap()
    };
    let reason = launcher("mpiexec (Open MPI) 5.0.11").unwrap();
    assert!(reason.contains("the launcher of Open MPI") && reason.contains("MPICH 1"), "{reason}");
    let mpi = Installation { family: Family::Mpich, ..Installation::fake(dir.path().join("mpiexec")) };
    assert_eq!(on(&mpi, None).advice(), Some(format!("{reason}; use the MPI's own launcher")));
    assert_eq!((launcher("HYDRA build details:"), launcher("slurm 22.05")), (None, None));
}

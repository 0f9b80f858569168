//! Tests of the command lines.

use super::*;

fn installation(family: Family) -> Installation {
    Installation { family, ..Installation::fake("/m/bin/mpiexec") }
}

struct Case<'a> {
    family: Family,
    launcher: Option<&'a str>,
    more: &'a [&'a str],
    bind: bool,
    oversubscribed: bool,
}

fn line(case: &Case<'_>) -> String {
    let installation = installation(case.family);
    let more: Vec<String> = case.more.iter().map(|&word| word.to_owned()).collect();
    let launch = Launch {
        installation: &installation,
        ranks: 4,
        threads: 1,
        program: Path::new("/p"),
        args: &["a b".to_owned()],
        launcher: case.launcher,
        launcher_args: &more,
        bind: case.bind,
        env: BTreeMap::new(),
    };
    launch.command_line_on(case.oversubscribed, false, None, &|_| false).unwrap().to_string()
}

#[test]
fn bound_by_each_maker() {
    let of = |family| line(&Case { family, launcher: None, more: &[], bind: true, oversubscribed: false });
    assert_eq!(of(Family::Mpich), "/m/bin/mpiexec -n 4 -bind-to core /p 'a b'");
    assert_eq!(of(Family::OpenMpi), "/m/bin/mpiexec -n 4 --bind-to core /p 'a b'");
    assert_eq!(of(Family::Intel), "I_MPI_PIN=1 I_MPI_PIN_DOMAIN=core /m/bin/mpiexec -n 4 /p 'a b'");
    assert_eq!(of(Family::Other), "/m/bin/mpiexec -n 4 /p 'a b'");
}

#[test]
fn more_ranks_than_cores_are_not_bound() {
    let of = |family| line(&Case { family, launcher: None, more: &[], bind: true, oversubscribed: true });
    assert_eq!(of(Family::Mpich), "MPIR_CVAR_DEVICE_COLLECTIVES=none /m/bin/mpiexec -n 4 /p 'a b'");
    assert_eq!(
        of(Family::OpenMpi),
        "OMPI_MCA_mpi_yield_when_idle=1 /m/bin/mpiexec -n 4 --map-by :OVERSUBSCRIBE --bind-to none /p 'a b'"
    );
    assert_eq!(of(Family::Intel), "I_MPI_PIN=0 /m/bin/mpiexec -n 4 /p 'a b'");
}

#[test]
fn other_launchers() {
    let of = |launcher| {
        let launcher = Some(launcher);
        line(&Case { family: Family::Mpich, launcher, more: &["--x"], bind: true, oversubscribed: false })
    };
    assert_eq!(of("srun"), "srun -n 4 '--cpu-bind=cores' --x /p 'a b'");
    assert_eq!(of("/opt/bin/mpirun"), "/opt/bin/mpirun -n 4 -bind-to core --x /p 'a b'");
    assert_eq!(of("srun --mpi=pmi2"), "srun '--mpi=pmi2' -n 4 --x /p 'a b'");
    assert_eq!(of("jsrun --np {ranks} 'c d'"), "jsrun --np 4 'c d' --x /p 'a b'");
}

/// Two ranks under the MPI's own launcher, unbound.
fn two_ranks(installation: &Installation) -> Launch<'_> {
    Launch {
        installation,
        ranks: 2,
        threads: 1,
        program: Path::new("/p"),
        args: &[],
        launcher: None,
        launcher_args: &[],
        bind: false,
        env: BTreeMap::new(),
    }
}

#[test]
fn srun_gets_the_pmi_and_ranks_what_it_needs() {
    let installation = installation(Family::OpenMpi);
    let options = ["--x".to_owned()];
    let launch = Launch { launcher: Some("srun"), launcher_args: &options, ..two_ranks(&installation) };
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
    let with_options = Launch { launcher: Some("srun -N 2"), ..launch.clone() };
    let given = Some(Pmi::given(&installation));
    assert_eq!(with_options.pmi().unwrap(), given, "a command with options is left alone");
    assert_eq!(Launch { launcher: None, ..launch.clone() }.pmi().unwrap(), None);
}

#[test]
fn the_users_placement_stands() {
    let more = &["--map-by", "ppr:1:node"];
    let case = Case { family: Family::OpenMpi, launcher: None, more, bind: true, oversubscribed: false };
    assert_eq!(line(&case), "/m/bin/mpiexec -n 4 --map-by ppr:1:node /p 'a b'");
}

#[test]
fn variables_of_the_user_stand() {
    let installation = installation(Family::OpenMpi);
    let env = [("X".to_owned(), "1".to_owned())].into();
    let launch = Launch { env, ..two_ranks(&installation) };
    let yields = |name: &str| name == "OMPI_MCA_mpi_yield_when_idle";
    let command = launch.command_line_on(true, true, None, &yields).unwrap();
    let names: Vec<&str> = command.env.keys().map(String::as_str).collect();
    assert_eq!(names, ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "X"]);
    let empty = Launch { launcher: Some(" "), ..launch };
    assert!(empty.command_line().is_err());
}

//! The library's own report, by its tool information interface, about the paths its messages may take.

use crate::checked::tool_information::{ToolInformation, Variable};
use crate::checked::{CallError, identity};

/// Settings of MPICH and its relatives that permit paths within a host and define the sizes from which they are used:
/// only numbers. For strings such as `MPIR_CVAR_CH4_NETMOD`, MPICH 4.3.2 and 5.0.2 and Intel MPI 2021.18.1 report the
/// built-in default, whatever is set.
const OF_MPICH: &[&str] = &[
    "MPIR_CVAR_NOLOCAL",
    "MPIR_CVAR_ODD_EVEN_CLIQUES",
    "MPIR_CVAR_NUM_CLIQUES",
    "MPIR_CVAR_CH4_CMA_ENABLE",
    "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD",
    "MPIR_CVAR_CH4_XPMEM_ENABLE",
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE",
    "MPIR_CVAR_INTEL_SHM_CMA",
];

/// Settings of Open MPI that choose components, and those that choose OFI's providers. Empty: the library chooses.
const OF_OPEN_MPI: &[&str] =
    &["pml", "mtl", "btl", "smsc", "opal_common_ofi_provider_include", "opal_common_ofi_provider_exclude"];

/// Frameworks of Open MPI whose open components are reported: for `pml` the chosen one, because the others are closed; for
/// `mtl` those that `cm` may use, for `btl` those that `ob1` may use, for `smsc` the way to copy from another process.
const FRAMEWORKS: &[&str] = &["pml", "mtl", "btl", "smsc"];

/// Each component of Open MPI has a variable with a name that ends like this.
const OF_COMPONENT: &str = "_major_version";

/// The account, by the names of settings, and of frameworks such as `pml components`; if there is none, the reason
/// under the interface's own name.
pub fn account() -> Vec<(String, String)> {
    variables().unwrap_or_else(|error| vec![("MPI_T".to_owned(), error.to_string())])
}

fn variables() -> Result<Vec<(String, String)>, CallError> {
    let interface = ToolInformation::initialize()?;
    let variables = interface.variables()?;
    let settings = if identity::is_open_mpi() { OF_OPEN_MPI } else { OF_MPICH };
    let of_name = |name: &&str| variables.iter().find(|variable| variable.name == *name);
    let mut all = Vec::new();
    for variable in settings.iter().filter_map(of_name) {
        all.extend(variable.value()?.map(|value| (variable.name.clone(), value)));
    }
    all.extend(FRAMEWORKS.iter().filter_map(|framework| components(framework, &variables)));
    Ok(all)
}

/// The open components of a framework, if it has any.
fn components(framework: &str, variables: &[Variable<'_>]) -> Option<(String, String)> {
    let component = |variable: &Variable<'_>| {
        let rest = variable.name.strip_prefix(framework)?.strip_prefix('_')?;
        rest.strip_suffix(OF_COMPONENT).map(str::to_owned)
    };
    let names: Vec<_> = variables.iter().filter_map(component).collect();
    (!names.is_empty()).then(|| (format!("{framework} components"), names.join(" ")))
}

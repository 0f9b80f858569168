//! The library's own report, by its tool information interface: all settings, from wherever they come
//! (variables of the environment, files, options of the launcher), and the components that are in use.
//!
//! MPICH 4.3.2 and 5.0.2 and Intel MPI 2021.18.1 report the built-in default of strings such as
//! `MPIR_CVAR_CH4_NETMOD`, whatever is set, and the right values of numbers.

use crate::checked::CallError;
use crate::checked::tool_information::{ToolInformation, Variable};

/// Variables that do not change how messages are sent: the amount of output (Open MPI 5.0.11 does not initialise `mpi_ft_verbose`), and the places
/// where Open MPI looks for files and components, one of which is the current folder.
const NO_SETTINGS: [fn(&str) -> bool; 2] = [|name| name.contains("verbose"), |name| name.starts_with("mca_")];

/// Frameworks of Open MPI whose open components are reported: for `pml` the chosen one, because the others are closed; for
/// `mtl` those that `cm` may use, for `btl` those that `ob1` may use, for `smsc` the way to copy from another process.
const FRAMEWORKS: &[&str] = &["pml", "mtl", "btl", "smsc"];

/// Each component of Open MPI has a variable with a name that ends like this.
const OF_COMPONENT: &str = "_major_version";

/// The account, by the names of settings, and of frameworks such as `pml components`; if there is none, the
/// reason under the interface's own name.
pub fn account() -> Vec<(String, String)> {
    variables().unwrap_or_else(|error| vec![("MPI_T".to_owned(), error.to_string())])
}

fn variables() -> Result<Vec<(String, String)>, CallError> {
    let interface = ToolInformation::initialize()?;
    let variables = interface.variables()?;
    let is_setting = |variable: &&Variable<'_>| {
        !variable.is_constant() && !NO_SETTINGS.iter().any(|is_of| is_of(&variable.name))
    };
    let mut all = Vec::new();
    for variable in variables.iter().filter(is_setting) {
        // Open MPI 5.0.11 lists variables of closed components, which cannot be read.
        all.extend(variable.value().ok().flatten().map(|value| (variable.name.clone(), value)));
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

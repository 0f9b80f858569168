"""Ramble: put this file into `applications/ddtbench/` of a repository of yours.

Figures of merit are the lines of `ddtbench report --format fom`: one for each test, MPI, method and state of the machine.
"""

from ramble.appkit import *


class Ddtbench(ExecutableApplication):
    """Cost of sending non-contiguous application data with MPI"""

    name = "ddtbench"
    tags("synthetic-benchmarks", "mpi")

    software_spec("ddtbench", pkg_spec="ddtbench@0.1.0", package_manager="spack*")
    required_package("ddtbench", package_manager="spack*")

    # `ddtbench` starts the launcher itself, once for each launch.
    executable("measure", "ddtbench run {tests} -m {methods} --out {experiment_run_dir}/run {options}", use_mpi=False)
    executable("report", "ddtbench report {experiment_run_dir}/run --format fom", use_mpi=False)
    workload("pingpong", executables=["measure", "report"])
    workload_variable("tests", default="nas_lu_y", description="Tests", workloads=["pingpong"])
    workload_variable("methods", default="reference,manual,ddt", description="Methods", workloads=["pingpong"])
    workload_variable("options", default="", description="Other flags of ddtbench run", workloads=["pingpong"])

    figure_of_merit(
        "median of {test} {set} {method} on {mpi}, {memory} memory, {state} s from core to core",
        fom_regex=r"^fom test=(?P<test>\S+) set=(?P<set>\S*) method=(?P<method>\S+) mpi=(?P<mpi>\S+) "
        + r".* memory=(?P<memory>\S+) core_to_core_s=(?P<state>\S*) .* median_s=(?P<median>\S+) ",
        group_name="median",
        units="s",
    )

"""A ReFrame test: the times of some tests and methods, as performance variables.

    reframe -c reframe_ddtbench.py -r --performance-report

`ddtbench` is in the PATH; MPI and tests are parameters (`-S DatatypesTest.mpi=openmpi`). References belong into the site's
configuration. ReFrame compares single runs with them: for changes below a factor of two use `ddtbench compare`.
"""

import csv
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_after, run_before, sanity_function, variable


@rfm.simple_test
class DatatypesTest(rfm.RunOnlyRegressionTest):
    """Ping-pongs by `ddtbench run`, which starts the MPI's processes itself."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    executable = "ddtbench"

    mpi = variable(str, value="mpich")
    tests = variable(str, value="nas_lu_y")
    methods = variable(str, value="reference,manual,ddt")
    options = variable(str, value="")

    @run_after("init")
    def describe(self):
        flags = ["--mpi", self.mpi, "-m", self.methods, "--out", "run"]
        self.executable_opts = ["run", *self.tests.split(), *flags, *self.options.split()]

    @run_before("run")
    def start_one_process(self):
        # Its own launcher starts the ranks.
        self.job.launcher = getlauncher("local")()

    def rows(self):
        """The times of all pairs of ranks together, in the state of the machine that most launches met."""
        with open(os.path.join(self.stagedir, "run", "summary.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        most = {}
        for row in rows:
            if row["phase"] == "round_trip" and row["pair"] == "all":
                name = (row["test"], row["params"], row["method"])
                if name not in most or int(row["launches"]) > int(most[name]["launches"]):
                    most[name] = row
        return list(most.values())

    @sanity_function
    def all_were_measured(self):
        measured = {"converged", "time limit", "run limit", "launch limit"}
        rows = self.rows()
        failed = [f"{row['test']} {row['method']}: {row['outcome']}" for row in rows if row["outcome"] not in measured]
        return sn.all([sn.assert_true(rows, "nothing was measured"), sn.assert_false(failed, "; ".join(failed))])

    @run_before("performance")
    def times(self):
        for row in self.rows():
            name = f"{row['test']}_{row['method']}"
            value = float(row["median_s"]) * 1e6
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value), "us")
            if row["state_latency_s"]:
                # Times are comparable only at about the same distance of the cores.
                latency = float(row["state_latency_s"]) * 1e9
                name = f"{row['test']}_core_latency"
                self.perf_variables[name] = sn.make_performance_function(sn.defer(latency), "ns")

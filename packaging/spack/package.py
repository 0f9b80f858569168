"""Spack 1.0 and newer: put this file into `packages/ddtbench/` of a repository of yours, and the source archive into a mirror.

    spack install --no-checksum ddtbench ^openmpi

Without the option, Spack refuses an archive whose sha256 is not in `version`.
"""

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Ddtbench(Package):
    """Cost of sending non-contiguous application data with MPI: hand-written loops, datatypes and other methods."""

    license("MIT OR Apache-2.0")
    # The source archive of `packaging/dist` has all crates: building needs no network.
    version("0.1.0", url="file:///path/of/ddtbench-0.1.0-source.tar.xz")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("binutils", type="build")
    depends_on("mpi", type=("build", "run"))

    def family(self):
        """The families of rank libraries that can be linked with this MPI."""
        return ["openmpi"] if self.spec["mpi"].name in ("openmpi", "hpcx-mpi", "spectrum-mpi") else ["mpich", "standard"]

    def install(self, spec, prefix):
        Executable("./packaging/install")(prefix, *self.family())

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.set("MPICC", join_path(self.spec["mpi"].prefix.bin, "mpicc"))

    def test_run(self):
        """measure a small message"""
        run = Executable(self.prefix.bin.ddtbench)
        run("run", "contiguous", "-p", "bytes=8", "-m", "reference", "--launches", "1", "--max-time", "0.1")

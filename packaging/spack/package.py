# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack: put this folder into a repository of yours as packages/nagaya, and NAGAYA_SOURCE
# into the URL below (a clone or an archive of this project).
from spack.package import *


class Nagaya(CMakePackage):
    """The processes of a parallel job in one address space, each still a process: messages of any
    MPI are plain loads and stores, without a kernel module, a patched MPI or privileges."""

    homepage = "https://example.org/nagaya"
    git = "file:///NAGAYA_SOURCE"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("xmp", default=False, description="the XcalableMP compiler xmpcc")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("hwloc")
    depends_on("zydis@4:")
    depends_on("libsodium")
    depends_on("liburing")
    depends_on("libfabric")
    depends_on("pmix")
    depends_on("openmpi@4.1:5.0")
    depends_on("llvm+clang@14:19", when="+xmp")

    requires("target=x86_64:")

    generator("ninja")

    def cmake_args(self):
        openmpi = self.spec["openmpi"].prefix
        return [
            self.define("BUILD_TESTING", False),
            self.define("NAGAYA_OPENMPI_CC", openmpi.bin.mpicc),
        ]

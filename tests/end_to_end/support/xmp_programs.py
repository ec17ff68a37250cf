# SPDX-License-Identifier: BSD-3-Clause
"""Programs of XcalableMP, compiled by xmpcc when a test first asks for them, as the ordinary user."""
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMPILE_LIMIT_S = 60


class XmpPrograms:
    def __init__(self, user, installation):
        self.user, self.made = user, {}
        self.xmpcc = installation.root / "bin" / "xmpcc"
        self.folder = user.new_folder("xmp")
        self.sources = self.folder / "programs" / "xmp"
        self.examples = self.folder / "examples"
        shutil.copytree(ROOT / "tests/programs/xmp", self.sources)
        shutil.copy(ROOT / "tests/programs/expect.h", self.folder / "programs")
        shutil.copytree(ROOT / "examples/xmp", self.examples)

    def compiled(self, name, *files, options=("-O1",), libraries=("-lm",), compiler=None):
        """Returns the program `name`, compiled from `files`, paths or names in the folder of sources;
        without files from NAME.c."""
        key = (name, *files, *options, compiler)
        if key not in self.made:
            program = self.folder / f"{len(self.made)}-{name}"
            paths = [self.sources / file for file in files or (f"{name}.c",)]
            command = [compiler or self.xmpcc, *options, *paths, "-o", program, *libraries]
            ended = self.user.run(command, cwd=self.folder, timeout=COMPILE_LIMIT_S)
            assert (ended.code, ended.err) == (0, ""), ended
            self.made[key] = program
        return self.made[key]

    def serial(self, name, *files, options=("-O1",)):
        """Compiles as compiled() does, by a compiler to which the pragmas are comments."""
        return self.compiled(name, *files, options=options, compiler="cc")

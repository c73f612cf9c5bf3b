# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Installs the build into a temporary folder, builds examples/ against that alone and runs it.

KAITEN_BUILD names the build folder (default: build), CMAKE the program, CXX and CXXFLAGS the compiler of the build."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
BUILD = os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build")
CMAKE = os.environ.get("CMAKE") or "cmake"
DEMO = os.path.join(ROOT, "models", "demo")


class Install(unittest.TestCase):
    def run_checked(self, *command, **environment):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=os.environ | environment)
        self.assertEqual(done.returncode, 0, f"{command}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def build_example(self, name, prefix, build):
        folder = os.path.join(build, name)
        self.run_checked(CMAKE, "-S", os.path.join(ROOT, "examples", name), "-B", folder,
                         f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
        self.run_checked(CMAKE, "--build", folder)

    def on_two_ranks(self, prefix):
        """What MPI needs is installed under the prefix, as everything is, and found there."""
        if not shutil.which("mpirun") or not os.path.exists(os.path.join(BUILD, "kaiten_mpi.so")):
            tools.must_have("mpirun and Boost.MPI (run `make setup ALL=1` and build again)")
            return
        self.assertEqual(len(glob.glob(os.path.join(prefix, "lib*", "**", "kaiten_mpi.so"), recursive=True)), 1)
        one = ("--kp", "8", "--cp", "4", "--bus", "128", "--wb", "72", "--sb", "36", "--vb", "18")
        told = self.run_checked("mpirun", "--oversubscribe", "-n", "2", os.path.join(prefix, "bin", "kaiten"), "explore", "demo", *one, "--ranks",
                                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.assertEqual(told.count("Pareto set"), 1, told)

    def compile_headers_alone(self, include):
        """Every public header, and it alone, with nothing but the installed folder: what is installed is what is listed."""
        listed = set(tools.public_headers())
        top = os.path.join(include, "kaiten")
        found = {os.path.relpath(os.path.join(path, name), top) for path, _, names in os.walk(top) for name in names}
        self.assertEqual(found, listed)
        compiler = os.environ.get("CXX") or "c++"
        for header in sorted(listed):
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Werror", f"-I{include}", f"-I{top}", "-x", "c++", "-"],
                                  input=f"#include <kaiten/{header}>\n", capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{header}:\n{done.stderr[:2000]}")

    def with_pkg_config(self, prefix, folder, expected):
        """The same program by one call of the compiler."""
        if not shutil.which("pkg-config"):
            tools.must_have("pkg-config")
            return
        found = glob.glob(os.path.join(prefix, "lib*", "**", "kaiten.pc"), recursive=True)
        self.assertEqual(len(found), 1)
        env = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found[0])}
        said = subprocess.run(["pkg-config", "--cflags", "--libs", "kaiten"], capture_output=True, text=True, env=env)
        self.assertEqual(said.returncode, 0, said.stderr)
        program = os.path.join(folder, "by_pkg_config")
        self.run_checked(os.environ.get("CXX") or "c++", "-std=c++20", os.path.join(ROOT, "examples", "classify", "classify.cpp"), "-o", program,
                         *said.stdout.split())
        self.assertEqual(self.run_checked(program, os.path.join(DEMO, "demo.tflite"), os.path.join(folder, "image.bin")).splitlines(), expected)

    def test_examples(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, build = os.path.join(folder, "prefix"), os.path.join(folder, "build")
            self.run_checked(CMAKE, "--install", BUILD, "--prefix", prefix)
            self.run_checked(os.path.join(prefix, "bin", "kaiten"), "--version")
            self.on_two_ranks(prefix)
            for name in ("man/man1/kaiten.1", "man/man1/kaiten-run.1", "bash-completion/completions/kaiten",
                         "zsh/site-functions/_kaiten", "fish/vendor_completions.d/kaiten.fish"):
                self.assertTrue(os.path.isfile(os.path.join(prefix, "share", name)), name)
            # No header or library may come from the source tree or the build.
            for path, _, names in os.walk(prefix):
                for name in names:
                    if name.endswith((".cmake", ".h")):
                        with open(os.path.join(path, name)) as f:
                            text = f.read()
                        for place in (ROOT, BUILD):
                            self.assertNotIn(place + os.sep, text, name)
            self.compile_headers_alone(os.path.join(prefix, "include"))
            self.build_example("convolve", prefix, build)
            self.assertRegex(self.run_checked(os.path.join(build, "convolve", "convolve")), r"\nrelative difference \S+\n$")

            self.build_example("classify", prefix, build)
            with open(os.path.join(DEMO, "golden.tsv")) as f:
                golden = [line.rstrip("\n").split("\t") for line in f][-100:]
            with open(os.path.join(DEMO, "digits.u8"), "rb") as f:
                pixels = f.read()
            logits = [int(v) for v in golden[42][-10:]]
            image = os.path.join(folder, "image.bin")
            with open(image, "wb") as f:
                f.write(bytes((p - 128) & 0xff for p in pixels[1024 * 42:1024 * 43]))
            classify = os.path.join(build, "classify", "classify")
            lines = self.run_checked(classify, os.path.join(DEMO, "demo.tflite"), image).splitlines()
            self.assertEqual(lines[0], f"class {logits.index(max(logits))}: {max(logits)}")
            self.assertRegex(lines[-1], r"^\d+ cycles, every tensor exact$")
            self.with_pkg_config(prefix, folder, lines)
            done = subprocess.run([classify, image, image], capture_output=True, text=True)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()

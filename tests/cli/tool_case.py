# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the programs share: where they are, how they are run, files of a test, what a refusal looks like.

KAITEN_BUILD names the build folder (default: build)."""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build")
KAITEN = os.path.join(BUILD, "kaiten")
TABLES = os.path.join(ROOT, "models", "tables")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools


def run(program, *arguments, limit=120):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=limit)


def table(name):
    return os.path.join(TABLES, name + ".json")


class ToolCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, data=None):
        """Path of a file of this test; with bytes or a text, it is written."""
        path = os.path.join(self.folder, name)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data.encode() if isinstance(data, str) else data)
        return path

    def refused(self, *arguments, program=KAITEN):
        """Exit code 2 and one line on standard error; returns it."""
        done = run(program, *arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stderr}")
        self.assertEqual(len(done.stderr.splitlines()), 1, f"{arguments}: {done.stderr}")
        return done.stderr


    def end_by_signal(self, program, number, seconds):
        """The program ends by this signal within so many seconds of processor time: other programs may slow it down. Returns what it
        wrote to standard error."""
        before = own_seconds(program.pid) + children_seconds()
        program.send_signal(number)
        _, error = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 128 + number, error)
        self.assertLess(children_seconds() - before, seconds)
        return error


def own_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        user, system = f.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """Of those that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class CommandCase(ToolCase):
    """Tests of one command of kaiten, which the class names."""
    COMMAND = ""
    LIMIT = 120  # seconds

    def run_command(self, *arguments):
        return run(KAITEN, self.COMMAND, *arguments, limit=self.LIMIT)

    def report(self, *arguments):
        """What the command writes as JSON."""
        done = self.run_command(*arguments, "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return json.loads(done.stdout)

    def refused(self, *arguments):
        """Exit code 2, one line on standard error, nothing on standard output; returns the line."""
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{arguments}: {done.stderr}")
        self.assertEqual(len(done.stderr.splitlines()), 1, f"{arguments}: {done.stderr}")
        return done.stderr

    def mpirun(self, ranks, *arguments, **environment):
        """The command on so many ranks, in the test's folder: a running process. Without MPI the test is skipped by name."""
        library = os.path.join(BUILD, "kaiten_mpi.so")
        if not shutil.which("mpirun") or not os.path.exists(library):
            tools.must_have("mpirun and Boost.MPI (run `make setup ALL=1` and build again)")
            self.skipTest("mpirun or Boost.MPI is not installed")
        env = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | environment
        return subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(ranks), KAITEN, self.COMMAND, *map(str, arguments)], text=True,
                                env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder)

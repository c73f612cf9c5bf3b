# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/setup.sh in a machine of paper: what it would install for building, what for checking, and what happens without."""
import os
import stat
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Every program notes its arguments in $STATE/calls. Packages are names in files: those installed, those apt does not know.
PROGRAMS = {
    "uname": "echo x86_64",
    "dpkg-query": 'grep -qx -- "${@: -1}" "$STATE/installed" && printf installed',
    "apt-cache": '! grep -qx -- "$2" "$STATE/unknown"',
    "sudo": '"$@"',
    "apt-get": """echo "apt-get $*" >>"$STATE/calls"
[[ " $* " == *" update "* ]] && exit "$(cat "$STATE/network")"
for word; do [[ $word == -* || $word == install ]] || echo "$word" >>"$STATE/installed"; done""",
    "python3": """[[ $1 == -c ]] && exit
[[ $2 == venv ]] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python3" && echo "#!$3/bin/python3" >"$3/bin/pip" && touch "$3/pyvenv.cfg" && exit
echo "python3 $*" >>"$STATE/calls\"""",
}


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("bin"))
        for name, body in PROGRAMS.items():
            self.write(f"bin/{name}", f"#!/bin/bash\n{body}\n")
            os.chmod(self.path(f"bin/{name}"), stat.S_IRWXU)
        for name, text in {"calls": "", "installed": "git\n", "unknown": "", "network": "0"}.items():
            self.write(name, text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def setup(self, *arguments, **environment):
        """Exit code, what it said and what it called since the last time."""
        self.write("calls", "")
        env = {"PATH": self.path("bin") + ":/usr/bin:/bin", "STATE": self.folder, "KAITEN_VENV": self.path("venv"), **environment}
        done = subprocess.run([os.path.join(ROOT, "scripts", "setup.sh"), *arguments], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        with open(self.path("calls")) as f:
            return done.returncode, done.stdout, f.read()

    def test_building_needs_the_compiler_and_verilator_only(self):
        code, _, calls = self.setup()
        self.assertEqual(code, 0)
        self.assertIn(" clang ", calls)
        self.assertIn("requirements-build-x86_64.txt", calls)
        self.assertNotIn("requirements-check", calls)
        self.assertNotIn("clang-tidy", calls)
        self.assertEqual(self.setup()[1:], ("", ""))

    def test_checking_needs_the_rest_too(self):
        self.setup()
        code, _, calls = self.setup("--all")
        self.assertEqual(code, 0)
        self.assertIn("clang-tidy", calls)
        self.assertIn("requirements-check.txt", calls)
        self.assertIn("requirements-check-x86_64.txt", calls)
        self.assertIn("requirements-oracle-x86_64.txt", calls)
        self.assertNotIn("requirements-build", calls)
        self.assertEqual(self.setup("--all")[1:], ("", ""))

    def test_check_lists_and_changes_nothing(self):
        code, said, calls = self.setup("--check")
        self.assertEqual((code, calls), (0, ""))
        building, checking, long, soc = said.splitlines()
        self.assertIn("ninja-build", building)
        self.assertNotIn("shellcheck", building)
        self.assertIn("shellcheck", checking)
        self.assertIn("emscripten", long)
        self.assertIn("riscv", soc)
        self.assertFalse(os.path.exists(self.path("venv")))
        self.setup("--all")
        self.assertEqual(self.setup("--check")[1].count("nothing is missing"), 2)
        self.setup("--long")
        self.assertEqual(self.setup("--check")[1].count("nothing is missing"), 4)

    def test_the_long_check_needs_more_than_checking(self):
        self.assertNotIn("emscripten", self.setup("--all")[2])
        code, _, calls = self.setup("--long")
        self.assertEqual(code, 0)
        self.assertIn("emscripten", calls)
        self.assertNotIn("clang-tidy", calls)
        self.assertEqual(self.setup("--long")[1:], ("", ""))

    def test_the_system_on_chip_has_a_size_of_its_own(self):
        self.assertNotIn("riscv", self.setup("--all")[2])
        code, _, calls = self.setup("--soc")
        self.assertEqual(code, 0)
        self.assertIn("gcc-riscv64-unknown-elf", calls)
        self.assertIn("requirements-soc.txt", calls)
        self.assertNotIn("emscripten", calls)
        self.assertEqual(self.setup("--soc")[1:], ("", ""))

    def test_without_its_compiler_the_system_on_chip_fails_where_it_is_asked_for(self):
        self.write("unknown", "gcc-riscv64-unknown-elf\n")
        self.assertEqual(self.setup("--soc", CI="true")[0], 1)
        code, said, _ = self.setup("--long")
        self.assertEqual(code, 0)
        self.assertIn("no gcc-riscv64-unknown-elf", said)

    def test_a_missing_tool_of_checking_is_told_and_fails_where_ci_is_true(self):
        self.write("unknown", "shellcheck\n")
        code, said, _ = self.setup("--all", CI="true")
        self.assertEqual(code, 1)
        self.assertIn("no shellcheck", said)
        code, said, calls = self.setup("--all")
        self.assertEqual(code, 0)
        self.assertIn("no shellcheck", said)
        self.assertIn("berkeley-abc", calls)

    def test_what_was_left_out_is_missed_where_ci_is_true(self):
        self.write("unknown", "shellcheck\n")
        self.assertEqual(self.setup("--all")[0], 0)
        self.assertEqual(self.setup("--all", CI="true")[0], 1)

    def test_without_network_checking_goes_on_and_building_does_not(self):
        self.setup()
        self.write("network", "1")
        code, said, _ = self.setup("--all")
        self.assertEqual(code, 0)
        self.assertIn("going on without", said)
        self.assertEqual(self.setup("--all", CI="true")[0], 1)
        self.write("installed", "")
        self.assertEqual(self.setup("--all", KAITEN_VENV=self.path("other"))[0], 1)

    def test_a_folder_that_is_no_environment_stays(self):
        os.mkdir(self.path("venv"))
        self.write("venv/precious", "")
        self.assertEqual(self.setup()[0], 1)
        self.assertTrue(os.path.exists(self.path("venv/precious")))


if __name__ == "__main__":
    unittest.main()

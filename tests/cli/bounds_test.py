# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Extremes are answered: inputs without an end, numbers beyond their range, memories of any speed, deep tables."""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from tool_case import BUILD, KAITEN, ROOT, ToolCase, run, table

DEMO = os.path.join(ROOT, "models", "demo")
NANO = ("--config", "nano")
GIB = 1 << 30
# Every option that reads a file, with FILE where its name stands.
READERS = [
    ("run", "FILE"), ("inspect", "FILE"), ("compare", "FILE"), ("disasm", "FILE"), ("report", "FILE", "--output", "/dev/null"),
    ("run", "demo", *NANO, "--input", "FILE"), ("run", "demo", *NANO, "--labels", "FILE"), ("run", "demo", *NANO, "--golden", "FILE"),
    ("compress", "FILE"), ("compress", "demo", "--input", "FILE"), ("plan", "FILE", "--capacity", "1MiB"),
    ("plan", table("nin"), "--capacity", "1MiB", "--energy", "FILE"), ("plan", "demo", *NANO, "--compress", "on", "--input", "FILE"),
    ("offload", "FILE"), ("offload", table("alexnet"), "--densities", "FILE"), ("eval", "demo", "FILE"), ("eval", "FILE", DEMO),
    ("eval", "demo", DEMO, "--labels", "FILE"), ("serve", "--queries", "FILE"), ("serve", "--generate", "uniform:9", "--table", "FILE"),
    ("swap", "FILE", "--topology", "titanxp", "--batch", "8"), ("swap", "alexnet", "--topology", "FILE", "--batch", "8"),
    ("swap", "alexnet", "--topology", "titanxp", "--batch", "8", "--densities", "FILE"),
    ("volume", "FILE", "--size", "40,40,40"), ("volume", os.path.join(ROOT, "models/volumes/small.znni"), "--size", "40,40,40", "--input", "FILE"),
    ("volume", os.path.join(ROOT, "models/volumes/small.znni"), "--size", "40,40,40", "--weights", "FILE"),
    ("volume", os.path.join(ROOT, "models/volumes/small.znni"), "--size", "40,40,40", "--calibration", "FILE"),
]


def within(arguments, seconds, memory, **more):
    """Exit code and standard error of a command that takes so much at most."""
    start = time.monotonic()
    with subprocess.Popen([KAITEN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more) as program:
        error = program.stderr.read()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if usage.ru_utime + usage.ru_stime > seconds or usage.ru_maxrss * 1024 > memory or time.monotonic() - start > 60:
        raise AssertionError(f"{arguments}: {usage.ru_utime + usage.ru_stime:.1f} s, {usage.ru_maxrss / 1024:.0f} MiB")
    return program.returncode, error


class Endless(ToolCase):
    def test_devices(self):
        for reader in READERS:
            arguments = ["/dev/zero" if a == "FILE" else a for a in reader]
            code, error = within(arguments, 1, GIB)
            self.assertEqual((code, len(error.splitlines())), (2, 1), (arguments, error))

    def test_large_files(self):
        """Sizes are looked at before anything is read."""
        large = self.file("large.json")
        with open(large, "wb") as f:
            f.truncate(8 * GIB)
        for reader in READERS:
            arguments = [large if a == "FILE" else a for a in reader]
            code, error = within(arguments, 1, GIB)
            self.assertEqual((code, len(error.splitlines())), (2, 1), (arguments, error))

    def test_pipes(self):
        for arguments in (("run", "-"), ("run", "demo", *NANO, "--input", "-"), ("compress", "-"), ("plan", "-", "--capacity", "1MiB")):
            with open("/dev/zero", "rb") as zeros:
                code, error = within(arguments, 5, GIB, stdin=zeros)
            self.assertEqual((code, len(error.splitlines())), (2, 1), (arguments, error))

    def test_out_of_memory_is_no_hardware_error(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))
        elements = self.file("elements")
        with open(elements, "wb") as f:
            f.truncate(GIB)
        code, error = within(("compress", elements), 10, GIB, preexec_fn=limit)
        self.assertEqual((code, len(error.splitlines())), (2, 1), error)
        self.assertIn("memory", error)


class Numbers(ToolCase):
    def test_numbers_do_not_wrap(self):
        for arguments in (("run", "demo", *NANO, "--seed"), ("compress", "demo", "--seed"), ("compress", "demo", "--window"),
                          ("plan", "demo", *NANO, "--seed"), ("offload", "demo", "--seed"), ("eval", "demo", DEMO, "--limit"),
                          ("serve", "--generate", "uniform:9", "--seed"), ("swap", "alexnet", "--topology", "titanxp", "--batch", "8", "--seed")):
            for value in ("-1", "-18446744073709551615"):
                line = self.refused(*arguments, value)
                self.assertIn(arguments[-1], line)
        self.refused("nin", "--seed", "-1", "--output", self.file("x"), program=os.path.join(BUILD, "kaiten-generate"))

    def test_efficiency_is_a_part(self):
        for value in ("2", "1.0001", "0", "-1", "nan", "inf"):
            self.assertIn("--efficiency", self.refused("offload", table("nin"), "--efficiency", value))
            self.assertIn("--efficiency", self.refused("swap", "alexnet", "--topology", "titanxp", "--batch", "8", "--efficiency", value))

    def test_a_fault_says_what_it_was(self):
        told = run(KAITEN, "run", "demo", *NANO, "--fault", "5:3").stdout
        self.assertRegex(told, r"fault: bit 3 of byte 5 of the \d+ bytes of constants, which was \d+ and is \d+")

    def test_image_errors_name_the_size(self):
        for name, data in (("wide.ppm", b"P6 40000 3 255\n"), ("large.ppm", b"P6 30000 30000 255\n")):
            line = self.refused("run", "demo", *NANO, "--input", self.file(name, data))
            self.assertRegex(line, "40000x3|30000x30000")


class Memory(ToolCase):
    def report(self, *options):
        done = run(KAITEN, "run", "demo", *NANO, *options, "--json", "-")
        self.assertEqual(done.returncode, 0, (options, done.stderr))
        return json.loads(done.stdout)

    def test_the_whole_range_is_exact(self):
        usual = self.report()
        for options in (("--bytes-per-cycle", "0.01"), ("--bytes-per-cycle", "1e6"), ("--latency", "1"), ("--latency", "500000")):
            report = self.report(*options)
            self.assertTrue(report["exact"], options)
            self.assertEqual(report["bytes"], usual["bytes"], options)
            if options[1] == "0.01":
                self.assertAlmostEqual(sum(report["bus_bytes"].values()) / report["cycles"] / 0.01, 1, delta=0.01)

    def test_beyond_the_range(self):
        for option, values in (("--bytes-per-cycle", ("0.0099", "1e-9", "1e7", "1e300", "-1", "nan", "inf", "-nan")),
                               ("--latency", ("0", "-1", "1000001", "99999999999")), ("--stall", ("-1", "100"))):
            for value in values:
                self.assertIn(option, self.refused("run", "demo", *NANO, option, value))


def conv(name, channels=16, **more):
    return {"name": name, "op": "conv", "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1, 1, 1], "channels": channels, "groups": 1, **more}


class Plans(ToolCase):
    def deep(self, layers):
        return self.file("deep.json", json.dumps({"name": "deep", "input": {"height": 56, "width": 56, "channels": 16}, "layers": [
            conv(f"c{i}", **({"add": f"c{i - 3}"} if i % 3 == 2 and i > 3 else {})) for i in range(layers)]}))

    def test_a_thousand_layers(self):
        code, error = within(("plan", self.deep(1000), "--capacity", "3MiB", "--method", "all"), 5, GIB)
        self.assertEqual(code, 0, error)

    def test_a_deep_network_on_all_methods(self):
        code, error = within(("plan", table("resnet152"), "--config", "base", "--method", "all"), 5, GIB)
        self.assertEqual(code, 0, error)

    def test_planning_can_be_interrupted(self):
        with subprocess.Popen([KAITEN, "plan", self.deep(1000), "--config", "base", "--method", "optimal"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as program:
            time.sleep(1.5)
            self.end_by_signal(program, signal.SIGTERM, 3)


if __name__ == "__main__":
    unittest.main()

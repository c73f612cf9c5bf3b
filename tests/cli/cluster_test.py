# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten cluster` from outside: keys, the topology's file, modes, what is refused, Ctrl-C; under mpirun, where there is one."""
import json
import os
import signal
import subprocess
import time
import unittest

from tool_case import KAITEN, ROOT, CommandCase, run

SHARED = os.path.join(ROOT, "examples", "cluster", "shared_uplink.json")
TOPOLOGY = os.path.join(ROOT, "examples", "cluster", "topology.json")
NANO = ("--config", "nano")


class Cluster(CommandCase):
    COMMAND = "cluster"

    def test_stages_on_chips(self):
        j = self.report("demo", "--chips", 3, "--mode", "stap", "--images", 12, *NANO)
        self.assertTrue(j["exact"])
        self.assertEqual((j["images"], j["mode"], len(j["chips"])), (12, "stap", 3))
        self.assertAlmostEqual(j["period_cycles"] / j["modelled_period_cycles"], 1, delta=0.01)
        self.assertAlmostEqual(j["latency_cycles"] / j["modelled_latency_cycles"], 1, delta=0.01)
        stages = sorted({(c["stage"], *c["operators"]) for c in j["chips"]})
        self.assertGreater(len(stages), 1)
        for (_, _, last), (_, first, _) in zip(stages, stages[1:]):
            self.assertEqual(first, last + 1)
        for stage, *_ in stages:
            self.assertEqual(sum(c["images"] for c in j["chips"] if c["stage"] == stage), 12)

    def test_modes_and_topology(self):
        data = self.report("demo", "--topology", TOPOLOGY, "--mode", "data", "--images", 6)
        self.assertEqual({c["stage"] for c in data["chips"]}, {0})
        self.assertEqual([c["name"] for c in data["chips"]], ["left0", "left1", "right0"])
        auto = self.report("demo", "--topology", TOPOLOGY, "--images", 2)
        stap = self.report("demo", "--topology", TOPOLOGY, "--mode", "stap", "--images", 2)
        self.assertEqual(auto["modelled_period_cycles"], min(j["modelled_period_cycles"] for j in (data, stap)))
        self.assertIsNone(auto["period_cycles"])
        self.assertEqual(len(self.report("demo", "--topology", TOPOLOGY, "--chips", 2, "--images", 2)["chips"]), 2)

    def test_text(self):
        done = run(KAITEN, "cluster", "demo", "--chips", "2", "--images", "6", *NANO)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("PASS: outputs of 6 images equal the reference executor's", done.stdout)
        self.assertIn("by the model", done.stdout)

    def test_refusals(self):
        self.assertIn("--chips", self.refused("demo"))
        self.assertIn("1 to 64", self.refused("demo", "--chips", 0))
        self.assertIn("1 to 64", self.refused("demo", "--chips", 65))
        self.assertIn("--resume needs --output", self.refused("demo", "--chips", 2, "--resume"))
        self.assertIn("'-' cannot be", self.refused("demo", "--chips", 2, "--output", "-"))
        self.assertIn("1 to 64", self.refused("demo", "--chips", 2, "--ranks", 65))
        self.assertIn("stap, data or auto", self.refused("demo", "--chips", 2, "--mode", "fast"))
        self.assertIn("--stages", self.refused("demo", "--chips", 2, "--stages", 2))
        self.assertIn("limit: 2 chips", self.refused("demo", "--chips", 1, "--mode", "stap", *NANO))
        self.assertIn("huge", self.refused("demo", "--chips", 2, "--config", "huge"))
        self.assertIn("limit: the 3 devices", self.refused("demo", "--topology", TOPOLOGY, "--chips", 4))
        self.assertIn("nowhere", self.refused("demo", "--topology", os.path.join(self.folder, "nowhere")))
        with open(TOPOLOGY, encoding="utf-8") as f:
            machine = json.load(f)
        machine["latency_cycles"] = 0
        path = self.file("t.json", json.dumps(machine))
        self.assertIn("latency_cycles", self.refused("demo", "--topology", path))
        machine["latency_cycles"] = 100
        machine["devices"][0]["switch"] = "none"
        path = self.file("u.json", json.dumps(machine))
        self.assertIn("u.json:1:", self.refused("demo", "--topology", path))

    def test_spilling(self):
        arguments = ("demo", "--topology", SHARED, "--chips", 2, "--batch", 2, "--spill-limit", "54KiB")
        plain, packed = self.report(*arguments, "--policy", "vdnn-all"), self.report(*arguments, "--spill-compress", "on")
        for j in (plain, packed):
            self.assertTrue(j["exact"])
            self.assertEqual((j["mode"], j["limit_bytes"], len(j["chips"]), len(j["uplinks"])), ("spill", 54 << 10, 2, 2))
            self.assertGreater(j["held_bytes"], j["limit_bytes"])
            for c in j["chips"]:
                self.assertLessEqual(c["peak_bytes"], j["limit_bytes"])
                self.assertEqual(c["out_bytes"], c["in_bytes"])
                self.assertEqual(c["runs"], 2 * 2 * j["segments"])
        stalls = [sum(c["stall_cycles"] for c in j["chips"]) for j in (plain, packed)]
        self.assertGreater(stalls[0], stalls[1])
        done = run(KAITEN, "cluster", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("half of them on maps that were kept, equal the reference executor's", done.stdout)

    def test_spilling_refuses(self):
        arguments = ("demo", "--topology", SHARED)
        self.assertIn("bytes of maps wait: out of memory", self.refused(*arguments, "--spill-limit", "1KiB"))
        self.assertIn("--spill-limit", self.refused(*arguments, "--spill-limit", "none"))
        self.assertIn("--output is not for --spill-limit", self.refused(*arguments, "--spill-limit", "1MiB", "--output", "o"))
        self.assertIn("--batch is for --spill-limit", self.refused(*arguments, "--batch", 2))
        self.assertIn("--mode is not for --spill-limit", self.refused(*arguments, "--spill-limit", "1MiB", "--mode", "data"))
        self.assertIn("vdnn-all", self.refused(*arguments, "--spill-limit", "1MiB", "--policy", "worst"))
        self.assertIn("on or off", self.refused(*arguments, "--spill-limit", "1MiB", "--spill-compress", "yes"))
        self.assertIn("1 to 4096", self.refused(*arguments, "--spill-limit", "1MiB", "--batch", 0))

    def test_outputs_are_those_of_one_chip(self):
        images = self.file("images", os.urandom(5 * 32 * 32))
        alone, several = self.file("alone"), self.file("several")
        done = run(KAITEN, "run", "demo", "--input", images, "--batch", 5, "--output", alone, *NANO)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.report("demo", "--chips", 2, "--images", 5, "--input", images, "--output", several, *NANO)
        with open(alone, "rb") as a, open(several, "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertEqual(sorted(n for n in os.listdir(self.folder) if n.startswith("several")), ["several"])
        self.assertIn("has 5120 bytes", self.refused("demo", "--chips", 2, "--images", 6, "--input", images, *NANO))

    IMAGES = 40
    LONG = ("demo", "--chips", 2, "--mode", "data", "--images", IMAGES, *NANO)

    def some_are_done(self, process):
        """Waits until the run has noted images in out.part; returns how many."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self.assertIsNone(process.poll(), "the run has ended")
            try:
                with open(self.file("out.part.state"), encoding="utf-8") as f:
                    images = json.load(f)["images"]
            except FileNotFoundError:
                images = 0
            if images > 0:
                return images
            time.sleep(0.05)
        self.fail("no image was noted")

    def goes_on(self, noted):
        """The run that was interrupted goes on; the outputs of all images, those that it left too, are exact."""
        j = self.report(*self.LONG, "--output", self.file("out"), "--resume")
        self.assertTrue(j["exact"])
        self.assertEqual((j["images"], sum(c["images"] for c in j["chips"])), (self.IMAGES, self.IMAGES - j["resumed"]))
        self.assertGreaterEqual(j["resumed"], noted)
        self.assertFalse([n for n in os.listdir(self.folder) if ".part" in n])

    def test_goes_on_after_a_signal(self):
        with subprocess.Popen([KAITEN, "cluster", *map(str, self.LONG), "--output", self.file("out")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            noted = self.some_are_done(process)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        out = ("--output", self.file("out"), "--resume")
        self.assertIn("another model", self.refused(*self.LONG, "--seed", 2, *out))
        self.assertIn("another model", self.refused(*self.LONG, "--rounding", "tflm", *out))
        self.goes_on(noted)
        whole = self.file("whole")
        self.report(*self.LONG, "--output", whole, "--no-check")
        with open(self.file("out"), "rb") as a, open(whole, "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_a_rank_that_dies(self):
        self.mpirun(1, "--help").communicate(timeout=60)  # skips where there is none
        with subprocess.Popen([KAITEN, "cluster", *map(str, self.LONG), "--ranks", "2", "--output", self.file("out")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            noted = self.some_are_done(process)
            launcher = self.children(process.pid)
            ranks = self.children(launcher[0])
            self.assertEqual((len(launcher), len(ranks)), (1, 2))
            os.kill(ranks[1], signal.SIGKILL)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, err)
        self.assertEqual(err, "kaiten: rank 1 was ended by signal 9 (Killed)\n")
        self.all_gone(ranks)
        self.goes_on(noted)

    def test_interrupted_ranks(self):
        self.mpirun(1, "--help").communicate(timeout=60)
        with subprocess.Popen([KAITEN, "cluster", *map(str, self.LONG), "--ranks", "2", "--output", self.file("out")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.some_are_done(process)
            ranks = self.children(self.children(process.pid)[0])
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.all_gone(ranks)

    @staticmethod
    def children(pid):
        told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True).stdout
        return [int(p) for p in told.split()]

    def all_gone(self, pids):
        end = time.monotonic() + 20  # a stopped one needs its kill signal to be delivered
        while any(os.path.exists(f"/proc/{pid}") for pid in pids):
            self.assertLess(time.monotonic(), end, "a rank is left")
            time.sleep(0.1)

    def test_ranks_change_nothing(self):
        for ranks, *arguments in ((2, "--chips", 3, "--mode", "stap", "--images", 8, *NANO), (4, "--chips", 3, "--mode", "stap", "--images", 8, *NANO),
                                  (2, "--topology", SHARED, "--chips", 2, "--batch", 2, "--spill-limit", "54KiB")):
            arguments = ("demo", *arguments)
            alone = self.report(*arguments)
            path = self.file("r.json")
            process = self.mpirun(ranks, *arguments, "--json", path)
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(out.count("PASS"), 1)
            with open(path, encoding="utf-8") as f:
                report = json.load(f)
            for j in (report, alone):
                j.pop("options", None)
                j.pop("seconds", None)
            self.assertEqual(report, alone)

    def test_a_mistake_is_told_once(self):
        process = self.mpirun(3, "demo", "--chips", 0)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(err.count("--chips: expected"), 1)

    def test_a_rank_that_hangs_ends_the_run(self):
        process = self.mpirun(2, "demo", "--chips", 2, "--mode", "stap", "--images", 100000, "--no-check", "--output", self.file("out"), *NANO,
                              KAITEN_RANK_PATIENCE="2")
        self.some_are_done(process)
        ranks = self.children(process.pid)
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[1], signal.SIGSTOP)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("has told nothing for 2 s", err)
        self.all_gone(ranks)

    def test_interrupted(self):
        process = subprocess.Popen([KAITEN, "cluster", "demo", "--chips", "2", "--images", "10000", *NANO], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertLess(time.monotonic() - start, 10)


if __name__ == "__main__":
    unittest.main()

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten serve` from outside: keys, what must hold between schedulers, tables and streams of others, errors of one line, Ctrl-C."""
import json
import os
import signal
import subprocess
import time
import unittest

from tool_case import KAITEN, CommandCase

LONG = "LONG" in os.environ
UNIFORM = ("--generate", "uniform:400")
# Latencies of an accelerator that nothing else is known of.
TABLE = "subnet,accuracy,none,shared\nsmall,70,2,1\nlarge,80,5,4\n"


class Serve(CommandCase):
    COMMAND = "serve"
    LIMIT = 900 if LONG else 120

    def test_schedulers_of_both_families(self):
        for supernet in ("ofa-resnet50", "ofa-mobilenetv3"):
            j = self.report(*UNIFORM, "--supernet", supernet, "--scheduler", "all")
            by = {s["scheduler"]: s for s in j["schedulers"]}
            self.assertEqual(list(by), ["sushi", "saved", "none", "static", "unaware", "per-query", "oracle"])
            self.assertEqual(j["scheduler"], "sushi")
            self.assertEqual({s["accuracy_mean"] for s in by.values()}, {j["accuracy_mean"]})  # accuracy is the hard constraint
            for s in by.values():
                self.assertEqual((s["queries"], s["served"], s["violated"]), (400, 400, 0))
                self.assertGreaterEqual(s["end_ms"], by["oracle"]["end_ms"] * (1 - 1e-9))
                self.assertGreaterEqual(s["bytes"]["weights"] + 1, s["bytes"]["loads"])
                total = s["bytes"]["weights"] + s["bytes"]["other"]
                self.assertAlmostEqual(s["energy_millijoules"], total * 48e-9, 6)
            self.assertEqual((by["none"]["hit_ratio"], by["none"]["byte_hit_ratio"], by["none"]["loads"]), (0, 0, 0))
            self.assertLess(by["static"]["service_ms_mean"], by["none"]["service_ms_mean"])
            self.assertEqual(sum(s["queries"] for s in j["subnets"]), 400)
            self.assertIsNone(j["exact"])

    def test_a_slower_and_less_accurate_subnet_is_never_taken(self):
        table = self.file("t.csv", "subnet,accuracy,none\nA,70,2\nMF,76.34,4\nMG,75.71,4.5\n")
        served = self.report(*UNIFORM, "--table", table, "--scheduler", "none")["subnets"]
        self.assertEqual(served[2]["queries"], 0)
        for policy in ("accuracy", "latency"):
            served = self.report("--generate", "uniform:4000", "--table", table, "--scheduler", "none", "--policy", policy, "--latency", "1:9",
                                 "--accuracy", "60:76")["subnets"]
            self.assertEqual([s["queries"] > 0 for s in served], [True, True, False], served)

    def test_latency_policy(self):
        j = self.report(*UNIFORM, "--policy", "latency", "--latency", "1:2")
        self.assertEqual((j["violated"], j["served"]), (400, 400))
        self.assertGreater(j["violated_by"]["mean"], 0)
        j = self.report(*UNIFORM, "--policy", "latency", "--latency", "1:2", "--infeasible", "drop")
        self.assertEqual((j["violated"], j["served"], j["slo_attainment"]), (400, 0, 0))
        j = self.report(*UNIFORM, "--policy", "latency", "--latency", "1e3:1e4", "--supernet", "ofa-mobilenetv3")
        self.assertEqual((j["violated"], j["slo_attainment"]), (0, 1))
        self.assertAlmostEqual(j["accuracy_mean"], 76.34)  # the most accurate one, always

    def test_the_same_seed_serves_the_same(self):
        def figures(*options):
            j = self.report("--generate", "bursty:500", *options)
            return [j[k] for k in ("latency_ms", "accuracy_mean", "bytes", "loads", "hit_ratio")]
        self.assertEqual(figures("--seed", 3), figures("--seed", 3))
        self.assertNotEqual(figures("--seed", 3), figures("--seed", 4))

    def test_no_pb_reads_everything(self):
        none, pb = (self.report(*UNIFORM, "--pb", pb) for pb in ("none", "1728KiB"))
        self.assertEqual((none["byte_hit_ratio"], none["columns"]), (0, 1))
        self.assertGreater(pb["byte_hit_ratio"], 0)

    def test_tables_of_others(self):
        csv = self.file("t.csv", TABLE)
        j = self.report("--table", csv, "--scheduler", "saved", *UNIFORM, "--accuracy", "75:79")
        self.assertAlmostEqual(j["service_ms_mean"], 4, 1)
        self.assertEqual((j["accuracy_mean"], j["hit_ratio"], j["bytes"]["weights"]), (80, None, 0))
        self.assertEqual([s["scheduler"] for s in self.report("--table", csv, "--scheduler", "all", *UNIFORM)["schedulers"]],
                         ["saved", "none", "static", "unaware", "oracle"])
        self.assertIn("codes", self.refused("--table", csv, *UNIFORM))
        written = self.file("w.json")
        first = self.report(*UNIFORM, "--write-table", written)
        again = self.report(*UNIFORM, "--table", written)
        self.assertEqual(first["latency_ms"], again["latency_ms"])
        with open(written, encoding="utf-8") as f:
            table = json.load(f)
        table["latency_ms"][2][7] = None
        self.assertIn("latency_ms", self.refused(*UNIFORM, "--table", self.file("hole.json", json.dumps(table))))

    def test_queries_of_others(self):
        j = self.report("--queries", self.file("q.csv", "arrival_ms,accuracy,latency_ms\n0,80,9\n1,81,1\n100000,99,1e9\n"))
        self.assertEqual((j["queries"], j["violated"]), (3, 1))
        self.assertGreater(j["violated_by"]["max"], 15)
        j = self.report("--queries", self.file("azure.csv", "app,func,end_timestamp,duration\na,b,10,1\na,c,11,5\n"))
        self.assertEqual(j["queries"], 2)
        for text in ("", "arrival_ms,accuracy\n", "arrival_ms,accuracy\n2,80\n1,80\n", "when,accuracy\n1,80\n", "accuracy\nhigh\n"):
            self.refused("--queries", self.file("bad.csv", text))

    def test_trace(self):
        path = self.file("trace.json")
        done = self.run_command("--generate", "poisson:100", "--rate", "200", "--trace", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        queries = sorted((e["ts"], e["dur"]) for e in events if e["ph"] == "X" and e["tid"] == 2)
        self.assertEqual(len(queries), 100)
        for (start, length), (after, _) in zip(queries, queries[1:]):
            self.assertLessEqual(start + length, after + 1e-6)  # one at a time
        self.assertGreater(len([e for e in events if e["ph"] == "b"]), 10)  # at this rate some wait

    def test_bad_options(self):
        for options in ((), (*UNIFORM, "--queries", "x.csv"), ("--generate", "uniform"), ("--generate", "uniform:0"), ("--generate", "uniform:-3"),
                        ("--generate", "rare:10"), (*UNIFORM, "--supernet", "vgg"), (*UNIFORM, "--config", "huge"), (*UNIFORM, "--pb", "many"),
                        (*UNIFORM, "--scheduler", "best"), (*UNIFORM, "--policy", "speed"), (*UNIFORM, "--q", "0"), (*UNIFORM, "--columns", "0"),
                        (*UNIFORM, "--accuracy", "80:70"), (*UNIFORM, "--latency", "5"), (*UNIFORM, "--first", "nobody"), (*UNIFORM, "--clock", "nan"),
                        (*UNIFORM, "--hold", "0.5"), (*UNIFORM, "--table", "absent.csv"), ("--queries", "absent.csv"),
                        (*UNIFORM, "--table", "t.csv", "--pb", "1MiB"), (*UNIFORM, "--first", "RA", "--rate", "-1")):
            self.refused(*options)

    def test_queries_run_on_the_rtl(self):
        j = self.report("--generate", "uniform:3", "--scheduler", "saved", "--q", "1", "--rtl", "--image", "64", "--columns", "4")
        self.assertEqual((j["served"], j["exact"], j["bytes_equal_predicted"]), (3, True, True))
        self.assertGreater(j["rtl_cycles"], 100000)
        for options in (("--supernet", "compofa"), ("--scheduler", "all"), ("--config", "nano"), ("--image", "63"), ("--bus", "192")):
            with self.subTest(options=options):
                self.refused("--generate", "uniform:3", "--rtl", *options)

    def test_the_compilers_table_has_the_memories_of_the_accelerator(self):
        filling = (*UNIFORM, "--supernet", "ofa-mobilenetv3", "--costs", "compiler", "--image", "64", "--columns", "1", "--spot-check", "0")
        self.assertIn("the bus of base", self.refused(*filling, "--bus", "192"))
        self.assertIn("WB of base", self.refused(*filling, "--pb", "1GiB"))
        # All of WB: DB has no room then, and less of it is taken.
        end = {s["scheduler"]: s["end_ms"] for s in self.report(*filling, "--bus", "8", "--pb", "2592KiB", "--scheduler", "all")["schedulers"]}
        self.assertLess(end["static"], end["none"])

    def test_the_compilers_table(self):
        entries = 10 if LONG else 2
        for supernet in ("ofa-resnet50", "ofa-mobilenetv3") if LONG else ("ofa-mobilenetv3",):
            written = self.file(supernet + ".json")
            filling = (*UNIFORM, "--supernet", supernet, "--costs", "compiler", "--image", "64", "--columns", "2", "--bus", "8", "--write-table")
            j = self.report(*filling, written, "--scheduler", "all", "--spot-check", entries)
            self.assertEqual((j["spot_check"]["entries"], j["spot_check"]["exact"]), (entries, True))
            self.assertLess(abs(j["spot_check"]["worst"]), 0.01)
            with open(written, encoding="utf-8") as f:
                table = json.load(f)
            for none, *others in table["latency_ms"]:  # never slower with PB
                self.assertLessEqual(max(others), none)
            self.assertLess(sum(row[1] for row in table["latency_ms"]), sum(row[0] for row in table["latency_ms"]))
            end = {s["scheduler"]: s["end_ms"] for s in j["schedulers"]}
            self.assertLess(end["saved"], end["none"])
            if LONG:
                self.ranks_fill(filling, table)

    def ranks_fill(self, filling, table):
        """The same table by two ranks, of which one tells of it."""
        path = self.file("ranks.json")
        process = self.mpirun(2, *filling, path, "--spot-check", "0")
        out, err = process.communicate(timeout=self.LIMIT)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out.count("a decision takes"), 1, out)
        with open(path, encoding="utf-8") as f:
            self.assertEqual(json.load(f), table)
        for options in (("--supernet", "compofa", "--costs", "compiler"), ("--costs", "rtl"), ("--spot-check", "3"),
                        ("--costs", "compiler", "--image", "63")):
            with self.subTest(options=options):
                self.refused(*UNIFORM, *options)

    def test_ctrl_c_keeps_what_was_served(self):
        path = self.file("j.json")
        # Many queries and columns: some seconds.
        process = subprocess.Popen([KAITEN, "serve", "--generate", "uniform:20000000", "--columns", "3000", "--json", path], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, error)
        self.assertEqual(len(error.splitlines()), 1, error)
        try:
            with open(path, encoding="utf-8") as f:
                j = json.load(f)
        except FileNotFoundError:
            return  # it came before the first query
        self.assertFalse(j["complete"])
        self.assertTrue(0 < j["queries"] < 20000000)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten bridge and kaiten board: a simulated accelerator in one process, the tool in others, and what happens when one of them ends."""
import json
import os
import signal
import subprocess
import time
import unittest

from tool_case import KAITEN, ROOT, CommandCase, run

NANO = ("--config", "nano")
RESNET8 = os.path.join(ROOT, "..", "shared", "models", "tflite", "mlperf-tiny", "pretrainedResnet_quant.tflite")


class Board(CommandCase):
    COMMAND = "board"

    def setUp(self):
        super().setUp()
        self.bridge = self.start(os.path.join(self.folder, "b"))
        self.device = ("--device", f"bridge:{self.folder}/b")

    def start(self, folder, *options):
        bridge = subprocess.Popen([KAITEN, "bridge", folder, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, bridge)
        self.assertIn("bridge in", bridge.stdout.readline())
        return bridge

    @staticmethod
    def end(bridge):
        if bridge.poll() is None:
            bridge.kill()
        bridge.communicate()

    def start_board(self):
        """A process that has the device until it is ended."""
        board = subprocess.Popen([KAITEN, "board", "demo", *self.device, "--runs", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        self.addCleanup(self.end, board)
        while board.poll() is None:
            with open(f"/proc/{board.pid}/maps", encoding="utf-8") as maps:
                if os.path.join("b", "memory") in maps.read():
                    return board
            time.sleep(0.01)
        self.fail(board.communicate())

    def test_runs_what_run_runs(self):
        ran = json.loads(run(KAITEN, "run", "demo", *NANO, "--output", self.file("ran"), "--json", "-").stdout)
        report = self.report("demo", *self.device, "--runs", "3", "--output", self.file("out"))
        self.assertIs(report["exact"], True)
        self.assertEqual(report["config"], "nano")
        self.assertEqual(report["cycles"], ran["cycles"])
        self.assertEqual(report["bytes"]["read"], sum(ran["bytes"]["read"].values()))
        with open(self.file("ran"), "rb") as a, open(self.file("out"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.bridge.send_signal(signal.SIGINT)
        text, errors = self.bridge.communicate(timeout=60)
        self.assertEqual((self.bridge.returncode, errors), (0, ""))
        self.assertRegex(text, r"3 runs, [0-9,]+ register accesses, 3 interrupts")
        self.assertFalse(os.path.exists(self.file("b")))
        self.assertIn("no bridge in", self.refused("demo", *self.device))

    def test_other_models_and_batches(self):
        if not os.path.exists(RESNET8):
            self.skipTest("../shared is not there")
        for options in ((), ("--batch", "3", "--seed", "7"), ("--no-check",)):
            report = self.report(RESNET8, *self.device, *options)
            self.assertEqual(report.get("exact"), None if options == ("--no-check",) else True)

    def test_a_bridge_that_dies(self):
        board = self.start_board()
        self.assertIn("in use", self.refused("demo", *self.device))
        self.bridge.kill()
        self.bridge.wait()
        text, errors = board.communicate(timeout=60)
        self.assertEqual((board.returncode, text), (3, ""))
        self.assertRegex(errors, "^kaiten: the simulated accelerator of '.*' has gone away\n$")
        self.assertIn("has ended", self.refused("demo", *self.device))
        # The next one takes the folder over.
        self.start(os.path.join(self.folder, "b"), "--latency", "5")
        self.assertIs(self.report("demo", *self.device)["exact"], True)

    def test_a_client_that_dies(self):
        for number in (signal.SIGKILL, signal.SIGINT):
            board = self.start_board()
            board.send_signal(number)
            _, errors = board.communicate(timeout=60)
            self.assertEqual((board.returncode, errors), (-9, "") if number == signal.SIGKILL else (130, "kaiten: interrupted\n"))
            self.assertIs(self.report("demo", *self.device)["exact"], True)

    def test_refusals(self):
        self.assertIn("--device", self.refused("demo"))
        self.assertIn("model", self.refused(*self.device))
        self.assertIn("--runs", self.refused("demo", *self.device, "--runs", "0"))
        self.assertIn("batch", self.refused("demo", *self.device, "--batch", "0"))
        self.assertIn("uio0,udmabuf0", self.refused("demo", "--device", "uio0"))
        self.assertIn("No such file", self.refused("demo", "--device", "uio0,udmabuf0"))
        self.COMMAND = "bridge"
        self.assertIn("another bridge works there", self.refused(self.file("b")))
        self.assertIn("folder", self.refused())
        self.assertIn("1 to 4096", self.refused(self.file("c"), "--memory", "0"))
        self.assertIn("configuration", self.refused(self.file("c"), "--config", "nani"))
        self.assertIn("--latency", self.refused(self.file("c"), "--latency", "0"))
        self.file("file", "text")
        self.assertIn("file", self.refused(self.file("file")))
        os.mkdir(self.file("d"))
        self.file("d/memory", "mine")
        self.assertIn("memory", self.refused(self.file("d")))
        with open(self.file("d/memory")) as f:
            self.assertEqual(f.read(), "mine")


if __name__ == "__main__":
    unittest.main()

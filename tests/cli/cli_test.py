# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten` and `tb` from outside: exit codes of docs and --help, errors of one line, whole files or none, Ctrl-C."""
import json
import math
import os
import pty
import random
import select
import signal
import subprocess
import termios
import time
import unittest

from tool_case import BUILD, KAITEN, ROOT, ToolCase, run

TB, GENERATE = (os.path.join(BUILD, name) for name in ("tb", "kaiten-generate"))
DEMO = os.path.join(ROOT, "models", "demo")
SKIPPED = 77  # exit code that ctest takes for a skipped test


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Front(ToolCase):
    def test_tb_without_arguments_runs_the_demo(self):
        done = run(TB)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.splitlines()[-1].startswith("PASS"), done.stdout)
        for word in ("cycles", "utilisation", "bytes read", "kHz"):
            self.assertIn(word, done.stdout)

    def test_help_and_version(self):
        for arguments in (["--help"], ["run", "--help"], ["compare", "--help"], ["inspect", "--help"], ["disasm", "--help"], ["info", "--help"]):
            done = run(KAITEN, *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            self.assertIn("usage: kaiten", done.stdout)
            self.assertEqual(run(KAITEN, "help", *arguments[:1]).stdout, done.stdout)
        self.assertEqual(run(TB, "--help").returncode, 0)
        for program in (KAITEN, TB):
            self.assertRegex(run(program, "--version").stdout, r"^kaiten \d+\.\d+\.\d+ \(.+\), Verilator \d")

    def test_info_lists_the_configurations(self):
        done = run(KAITEN, "info")
        self.assertEqual(done.returncode, 0)
        for name in ("nano", "unit", "small", "base"):
            self.assertIn(name, done.stdout)

    def test_inspect_and_disasm_of_the_demo(self):
        done = run(KAITEN, "inspect", os.path.join(DEMO, "demo.tflite"))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(KAITEN, "disasm", "demo", "--config", "nano", "--output", self.file("program.bin"))
        self.assertEqual(done.returncode, 0, done.stderr)
        again = run(KAITEN, "disasm", self.file("program.bin"))
        commands = [line for line in done.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual(again.stdout.splitlines(), commands)
        self.assertEqual(len(read(self.file("program.bin"))), 64 * len(commands))

    def test_images_of_the_demo(self):
        with open(os.path.join(DEMO, "golden.tsv")) as f:
            golden = [line.rstrip("\n").split("\t") for line in f][-100:]
        pixels = read(os.path.join(DEMO, "digits.u8"))
        for image in (0, 57):
            raw = self.file("in.bin", bytes((p - 128) & 0xff for p in pixels[1024 * image:1024 * (image + 1)]))
            done = run(KAITEN, "run", os.path.join(DEMO, "demo.tflite"), "--config", "nano", "--input", raw,
                       "--output", self.file("out.bin"))
            self.assertEqual(done.returncode, 0, done.stderr)
            logits = [b - 256 if b > 127 else b for b in read(self.file("out.bin"))]
            self.assertEqual(logits, [int(v) for v in golden[image][-10:]], f"image {image}")

    def test_until_a_tensor(self):
        done = run(KAITEN, "run", "demo", "--config", "nano", "--json", "-")
        whole = json.loads(done.stdout)["layers"]
        layer = whole[2]
        done = run(KAITEN, "run", "demo", "--config", "nano", "--until", layer["name"], "--output", self.file("out.bin"), "--json",
                   self.file("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"'{layer['name']}' (--until)", done.stdout)
        report = json.loads(read(self.file("r.json")))
        # Of the two convolutions after the first, one is on a branch that this tensor does not need.
        self.assertEqual([v["name"] for v in report["layers"]], [whole[0]["name"], layer["name"]])
        self.assertEqual([v["name"] for v in report["outputs"]], [layer["name"]])
        self.assertEqual(len(read(self.file("out.bin"))), math.prod(map(int, layer["shape_out"].split("x"))))
        self.assertEqual(run(KAITEN, "inspect", "demo", "--until", layer["name"]).returncode, 0)
        self.assertIn("'none'", self.refused("run", "demo", "--until", "none"))

    def test_batch_of_the_demo(self):
        pixels = read(os.path.join(DEMO, "digits.u8"))
        raw = [bytes((p - 128) & 0xff for p in pixels[1024 * i:1024 * (i + 1)]) for i in (3, 8)]
        outputs = []
        for images in (raw[:1], raw[1:], raw):
            done = run(KAITEN, "run", "demo", "--config", "nano", "--batch", len(images), "--input",
                       self.file("in.bin", b"".join(images)), "--output", self.file("out.bin"), "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            outputs.append(read(self.file("out.bin")))
        self.assertEqual(outputs[2], outputs[0] + outputs[1])
        report = json.loads(done.stdout)
        self.assertEqual(report["batch"], 2)
        self.assertEqual([o["image"] for o in report["outputs"]], [0, 1])
        self.refused("run", "demo", "--batch", "0")
        self.refused("run", "demo", "--batch", "2", "--input", self.file("in.bin", raw[0]))


class Memory(ToolCase):
    def test_the_model_knows_narrow_memories(self):
        """Cycles as the compiler's model says them against those of the RTL: LOADs, results and commands share the memory."""
        for config in ("nano", "base"):
            for rate in ("1", "2", "8"):
                with self.subTest(config=config, rate=rate):
                    j = json.loads(run(KAITEN, "run", "demo", "--config", config, "--no-check", "--bytes-per-cycle", rate, "--json", "-").stdout)
                    self.assertLess(abs(j["predicted_cycles"] / j["cycles"] - 1), 0.015)


class Json(ToolCase):
    KEYS = {"model", "config", "exact", "cycles", "macs", "array_utilization", "mac_utilization", "seconds", "khz", "bytes",
            "bus_bytes", "predicted_bytes", "predicted_bus_bytes", "stalls", "zvc", "layers", "outputs"}
    LAYER = {"name", "op", "shape_in", "shape_out", "macs", "cycles", "utilization", "limited_by", "bytes_read", "bytes_written"}

    def test_standard_output_holds_nothing_else(self):
        done = run(KAITEN, "run", "demo", "--config", "nano", "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(self.KEYS - set(report), set())
        self.assertEqual((report["exact"], report["config"]), (True, "nano"))
        self.assertEqual(set(report["bytes"]), {"read", "written"})
        self.assertEqual(set(report["bytes"]["read"]), {"weights", "parameters", "activations", "commands"})
        self.assertEqual(set(report["predicted_bytes"]), {"read", "written"})
        self.assertEqual(report["predicted_bytes"], report["bytes"])
        self.assertEqual(set(report["bus_bytes"]), {"read", "written"})
        self.assertEqual(report["predicted_bus_bytes"], report["bus_bytes"])
        self.assertEqual(set(report["zvc"]), {"raw_bytes", "packed_bytes", "predicted"})
        for layer in report["layers"]:
            self.assertEqual(self.LAYER - set(layer), set())
        self.assertEqual(sum(layer["macs"] for layer in report["layers"]), report["macs"])
        for output in report["outputs"]:
            self.assertEqual({"name", "shape", "type", "top5"} - set(output), set())

    def test_file(self):
        done = run(KAITEN, "run", "demo", "--config", "nano", "--json", self.file("r.json"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("PASS", done.stdout)
        self.assertTrue(json.loads(read(self.file("r.json")))["exact"])
        self.assertEqual(os.listdir(self.folder), ["r.json"])

    def test_same_seed_same_run(self):
        reports = [json.loads(run(KAITEN, "run", "demo", "--config", "nano", "--seed", "7", "--stall", "20", "--json", "-").stdout)
                   for _ in range(2)]
        self.assertEqual(reports[0]["cycles"], reports[1]["cycles"])
        self.assertEqual(reports[0]["outputs"], reports[1]["outputs"])


class Labels(ToolCase):
    NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    def run_with(self, names):
        return run(KAITEN, "run", "demo", "--config", "nano", "--json", "-",
                   "--labels", self.file("labels.txt", "\r\n".join(names).encode()))

    def best(self, names):
        done = self.run_with(names)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["outputs"][0]["top5"]

    def test_as_many_as_classes(self):
        for best in self.best(self.NAMES):
            self.assertEqual(best["label"], self.NAMES[best["index"]])

    def test_with_and_without_background(self):
        for best in self.best(["background"] + self.NAMES):
            self.assertEqual(best["label"], self.NAMES[best["index"]])
        for best in self.best(self.NAMES[1:]):
            self.assertEqual(best["label"], (["background"] + self.NAMES[1:])[best["index"]])

    def test_lists_of_another_model(self):
        self.assertEqual(self.run_with(self.NAMES * 2).returncode, 2)
        self.assertIn("20 names, the model 10 classes", self.run_with(self.NAMES * 2).stderr)
        self.assertEqual(self.run_with(["ten"] + self.NAMES).returncode, 2)
        self.assertIn("0 names, the model 10 classes", self.run_with([]).stderr)
        self.refused("run", "demo", "--labels", self.file("none.txt"))


class Compare(ToolCase):
    def test_equal(self):
        done = run(KAITEN, "compare", "demo", "--config", "nano")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout.splitlines()[-1], r"^EQUAL demo on nano: [0-9,]+ elements of \d+ tensors$")

    def test_a_flipped_bit_is_found(self):
        # Some bytes of the constants are only padding: look until one matters.
        for byte in range(0, 20000, 997):
            done = run(KAITEN, "compare", "demo", "--config", "nano", "--fault", f"{byte}:6")
            if done.returncode == 0:
                continue
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            self.assertRegex(done.stdout.splitlines()[-1], r"^DIFFERS demo on nano: layer '.+' \(\w+\), tensor '.+', row \d+, "
                             r"column \d+, channel \d+: -?\d+ instead of -?\d+ \(\d+ elements differ\); \d+ of \d+ tensors differ$")
            same = run(KAITEN, "run", "demo", "--config", "nano", "--fault", f"{byte}:6", "--json", "-")
            self.assertEqual((same.returncode, json.loads(same.stdout)["exact"]), (1, False))
            return
        self.fail("no bit made a difference")

    def test_bad_faults(self):
        self.refused("compare")
        self.refused("compare", "demo", "--fault", "x")
        self.refused("compare", "demo", "--config", "nano", "--fault", "99999999")
        self.refused("compare", "demo", "--config", "nano", "--fault", "0:9")


class Trace(ToolCase):
    QUEUES = {1: "LOAD", 3: "CONV", 5: "VECTOR", 7: "STORE"}

    def trace(self, *more):
        path = self.file("trace.json")
        done = run(KAITEN, "run", "demo", "--trace", path, "--json", "-", *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(read(path)), json.loads(done.stdout)

    def check(self, config):
        trace, report = self.trace("--config", config, "--stall", "10")
        events = trace["traceEvents"]
        tracks = {}
        for e in events:
            self.assertIn(e["ph"], "MXC")
            if e["ph"] == "X":
                tracks.setdefault(e["tid"], []).append(e)
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual({t: names[t] for t in self.QUEUES}, self.QUEUES)
        # One slice over all, as long as the run.
        self.assertEqual([(e["ts"], e["dur"]) for e in tracks[0]], [(0, report["cycles"])])
        self.assertEqual(trace["otherData"]["cycles"], report["cycles"])
        for track in tracks.values():
            end = 0
            for e in track:
                self.assertGreaterEqual(e["ts"], end)
                self.assertGreater(e["dur"], 0)
                end = e["ts"] + e["dur"]
            self.assertLessEqual(end, report["cycles"])
        # Every command once, in its queue, with what it moved.
        commands = [e["args"] for q in self.QUEUES for e in tracks[q]]
        self.assertEqual(sorted(c["command"] for c in commands), list(range(tracks[0][0]["args"]["commands"])))
        listed = [line.split()[:2] for line in run(KAITEN, "disasm", "demo", "--config", config).stdout.splitlines()
                  if not line.startswith("#")]
        self.assertEqual({c["command"]: c["op"] for c in commands}, {int(number): op for number, op in listed})
        layers = {layer["name"]: layer for layer in report["layers"]}
        for key in ("bytes_read", "bytes_written"):
            for name, layer in layers.items():
                self.assertEqual(sum(c[key] for c in commands if c["layer"] == name), layer[key], name)
        for q in self.QUEUES:
            for e in tracks[q]:
                self.assertLessEqual(e["args"]["started"], e["ts"])
        # Waits are the stalls of the report, but for those behind a queue's last command.
        for q, queue in self.QUEUES.items():
            for other in self.QUEUES.values():
                shown = sum(e["dur"] for e in tracks.get(q + 1, []) if other in e["name"].split())
                self.assertEqual(shown, report["stalls"][f"{queue.lower()}_wait_{other.lower()}"], (queue, other))
        for e in events:
            if e["ph"] == "C":
                self.assertTrue(all(0 <= v <= 100 for v in e["args"].values()), e)
                self.assertLess(e["ts"], report["cycles"])

    def test_nano(self):
        self.check("nano")

    def test_base(self):
        self.check("base")

    def test_changes_nothing(self):
        _, traced = self.trace("--config", "nano")
        plain = json.loads(run(KAITEN, "run", "demo", "--config", "nano", "--json", "-").stdout)
        for key in ("cycles", "bytes", "stalls", "outputs", "layers"):
            self.assertEqual(traced[key], plain[key], key)


class Wave(ToolCase):
    def test_window(self):
        sizes = []
        for last in (120, 600):
            path = self.file(f"{last}.fst")
            done = run(KAITEN, "run", "demo", "--config", "nano", "--wave", path, "--wave-from", "100", "--wave-to", last)
            if "no debug simulator" in done.stderr:
                print("this build has no debug simulator of nano")
                os._exit(SKIPPED)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            sizes.append(len(read(path)))
            # The header block of FST: type 0, its length, first and last time.
            header = read(path)[:25]
            self.assertEqual((header[0], int.from_bytes(header[9:17], "big")), (0, 200))
            self.assertEqual(int.from_bytes(header[17:25], "big"), 2 * last - 1)
        self.assertGreater(sizes[1], sizes[0])
        self.assertEqual(sorted(os.listdir(self.folder)), ["120.fst", "600.fst"])

    def test_interrupt_leaves_no_file(self):
        proc = subprocess.Popen([KAITEN, "run", "demo", "--config", "nano", "--seconds", "30", "--wave", self.file("x.fst")],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while proc.poll() is None and not os.listdir(self.folder):
            time.sleep(0.01)
        proc.send_signal(signal.SIGINT)
        _, err = proc.communicate(timeout=60)
        if "no debug simulator" not in err:
            self.assertEqual((proc.returncode, err), (130, "kaiten: interrupted\n"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_refusals(self):
        self.refused("run", "demo", "--wave", self.file("x.fst"), "--wave-from", "5", "--wave-to", "5")
        self.refused("run", "demo", "--wave-from", "5")
        self.assertIn("not -5", self.refused("run", "demo", "--wave", self.file("x.fst"), "--wave-from", "-5"))
        self.refused("run", "demo", "--config", "nano", "--wave", os.path.join(self.folder, "no", "x.fst"))
        # Debug models of the large configurations are not built by default: the message says what to do.
        told = run(KAITEN, "run", "demo", "--config", "base", "--wave", self.file("x.fst"), "--wave-to", "10")
        if told.returncode != 0:
            self.assertEqual((told.returncode, len(told.stderr.splitlines())), (2, 1))
            self.assertIn("KAITEN_SIM_DEBUG", told.stderr)
            self.assertEqual(os.listdir(self.folder), [])


class BadInput(ToolCase):
    def test_command_line(self):
        self.refused("fly")
        self.refused("run")
        self.refused("run", "demo", "--speed", "9")
        self.refused("run", "demo", "--config", "huge")
        self.refused("run", "demo", "--latency", "many")
        self.refused("run", "demo", "--latency", "0")
        self.assertIn("not -1", self.refused("run", "demo", "--latency", "-1"))
        self.refused("run", "demo", "--rounding", "up")
        self.assertIn("--optimise is bytes or time, not 'speed'", self.refused("run", "demo", "--optimise", "speed"))
        self.refused("run", "demo", "--seconds", "-1")
        self.refused("run", "demo", "--stall", "100")
        self.refused("run", "demo", "--mean", "1")
        self.refused("run", "demo", "--scale", "0", "--input", self.file("image.pgm", b"P5 32 32 255\n" + bytes(1024)))
        self.assertIn("GIF", self.refused("run", "demo", "--input", self.file("photo.gif", b"GIF89a" + bytes(99))))
        self.assertIn("it ends early", self.refused("run", "demo", "--input", self.file("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(99))))
        self.refused("inspect")
        self.refused("--model", "none.tflite", program=TB)
        self.assertEqual(run(KAITEN).returncode, 2)

    def test_files(self):
        none = self.file("none.tflite")
        self.assertIn("none.tflite", self.refused("run", none))
        self.refused("inspect", none)
        self.refused("disasm", none)
        self.refused("disasm", "demo", "--compress", "yes")
        self.refused("inspect", self.folder)
        self.refused("inspect", self.file("empty", b""))
        self.refused("inspect", os.path.join(DEMO, "README.md"))
        self.refused("disasm", self.file("odd", bytes(65)))
        self.refused("disasm", self.file("illegal", b"\xff" * 64))
        self.refused("run", "demo", "--input", self.file("short", bytes(10)))
        self.refused("run", "demo", "--input", self.file("broken.png", b"\x89PNG\r\n\x1a\n" + bytes(40)))
        self.refused("run", "demo", "--config", "nano", "--json", os.path.join(self.folder, "no", "r.json"))
        self.refused("run", "demo", "--config", "nano", "--output", os.path.join(self.folder, "no", "out.bin"))

    def test_every_prefix_of_the_demo(self):
        demo = read(os.path.join(DEMO, "demo.tflite"))
        for percent in range(100):
            self.refused("inspect", self.file("prefix.tflite", demo[:len(demo) * percent // 100]))

    def test_flipped_bytes_end_in_an_answer(self):
        demo = read(os.path.join(DEMO, "demo.tflite"))
        seed = int(os.environ.get("KAITEN_SEED") or "1", 0)
        print(f"KAITEN_SEED={seed}")
        rng = random.Random(seed)
        for _ in range(20):
            damaged = bytearray(demo)
            damaged[rng.randrange(len(damaged))] ^= rng.randrange(1, 256)
            path = self.file("flipped.tflite", bytes(damaged))
            inspected = run(KAITEN, "inspect", path)
            self.assertIn(inspected.returncode, (0, 2))
            if inspected.returncode == 0:
                done = run(KAITEN, "run", path, "--config", "nano")
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout[-300:])


class Generate(ToolCase):
    def test_a_generated_network_is_a_model(self):
        model = self.file("small.tflite")
        done = run(GENERATE, "mobilenet_v1", "--size", 32, "--output", model)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("zeros", done.stdout)
        self.assertEqual(run(KAITEN, "inspect", model).returncode, 0)

    def test_weights_of_zero_do_not_cross_the_bus(self):
        model = self.file("sparse.tflite")
        done = run(GENERATE, "stem_7x7", "--size", 32, "--zeros", 50, "--output", model)
        self.assertEqual(done.returncode, 0, done.stderr)
        weights = {}
        for compress in ("off", "on", "auto"):
            done = run(KAITEN, "run", model, "--config", "nano", "--compress", compress, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            j = json.loads(done.stdout)
            weights[compress] = j["bytes"]["read"]["weights"]
            self.assertEqual(j["predicted_bytes"]["read"]["weights"], weights[compress])
            listed = run(KAITEN, "disasm", model, "--config", "nano", "--compress", compress).stdout
            self.assertEqual("zvc_beats=" in listed, compress != "off")
        self.assertLess(weights["on"], 0.7 * weights["off"])
        self.assertEqual(weights["auto"], weights["on"])

    def test_bad_input(self):
        for arguments in ([], ["resnet19"], ["resnet18", "--size", 5], ["resnet18", "--size", "many"], ["resnet18", "--zeros", 96], ["resnet18", "--no-such"],
                          ["resnet18", "--size", 32, "--output", "/no/such/folder/file"]):
            self.refused(*arguments, program=GENERATE)

    def test_no_control_character_is_printed(self):
        name = "a\x1b[2J\u009b31m\u202eb\u5c64.tflite"
        made = run(GENERATE, "mobilenet_v1", "--size", 32, "--output", self.file(name))
        self.assertEqual(made.returncode, 0, made.stderr)
        gone = run(GENERATE, "mobilenet_v1", "--size", 32, "--output", os.path.join(self.folder, "no\x1b[2J\nsuch\u5c64", "file"))
        self.assertEqual((gone.returncode, len(gone.stderr.splitlines())), (2, 1), gone.stderr)
        for text in (made.stdout, gone.stderr):
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn("\u5c64", text)


class Interrupt(ToolCase):
    def test_run_ends_with_130_and_without_files(self):
        # SIGINT at several moments: import, compilation, simulation, repetition.
        for delay in (0.01, 0.05, 0.2, 1.0):
            proc = subprocess.Popen([KAITEN, "run", "demo", "--config", "base", "--seconds", "30", "--output", self.file("out.bin"),
                                     "--json", self.file("r.json"), "--trace", self.file("t.json")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            proc.send_signal(signal.SIGINT)
            out, err = proc.communicate(timeout=60)
            if proc.returncode == -signal.SIGINT:
                continue  # before main had set its handler
            self.assertEqual((proc.returncode, out, err), (130, "", "kaiten: interrupted\n"), f"after {delay} s")
            self.assertEqual(os.listdir(self.folder), [])


class Terminal(ToolCase):
    def test_terminal_is_left_as_it_was(self):
        try:
            pid, terminal = pty.fork()
        except OSError as error:
            print(f"no pseudo terminal here: {error}")
            os._exit(SKIPPED)
        if pid == 0:
            os.execv(KAITEN, [KAITEN, "run", "demo", "--config", "base", "--seconds", "30"])
        before = termios.tcgetattr(terminal)
        seen, end, sent = b"", time.time() + 30, False
        status = None
        while time.time() < end and status is None:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    seen += os.read(terminal, 4096)
                except OSError:
                    pass
            if not sent and b"repeating" in seen:  # the progress line stands
                os.write(terminal, b"\x03")
                sent = True
            done, raw = os.waitpid(pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(raw)
        self.assertTrue(sent, seen)
        self.assertEqual(status, 130)
        while select.select([terminal], [], [], 0.2)[0]:
            try:
                more = os.read(terminal, 4096)
            except OSError:
                break
            if not more:
                break
            seen += more
        try:
            self.assertEqual(termios.tcgetattr(terminal), before)
        except termios.error:
            pass  # the terminal went with its last process
        # The progress line is wiped before the last word.
        self.assertIn(b"\r\x1b[K", seen.rpartition(b"repeating")[2])
        os.close(terminal)


if __name__ == "__main__":
    unittest.main()

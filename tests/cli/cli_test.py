"""`kaiten` and `tb` from outside: exit codes of docs and --help, errors of one line, whole files or none, Ctrl-C.

KAITEN_BUILD names the build folder (default: build)."""
import json
import os
import pty
import random
import select
import signal
import subprocess
import tempfile
import termios
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build")
KAITEN, TB, GENERATE = (os.path.join(BUILD, name) for name in ("kaiten", "tb", "kaiten-generate"))
DEMO = os.path.join(ROOT, "models", "demo")
SKIPPED = 77  # exit code that ctest takes for a skipped test


def run(program, *arguments, limit=120):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=limit)


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, data=None):
        path = os.path.join(self.folder, name)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data)
        return path

    def refused(self, *arguments, program=KAITEN):
        """Exit code 2 and one line on standard error; returns it."""
        done = run(program, *arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stderr}")
        self.assertEqual(len(done.stderr.splitlines()), 1, f"{arguments}: {done.stderr}")
        return done.stderr


class Front(Case):
    def test_tb_without_arguments_runs_the_demo(self):
        done = run(TB)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.splitlines()[-1].startswith("PASS"), done.stdout)
        for word in ("cycles", "utilisation", "bytes read", "kHz"):
            self.assertIn(word, done.stdout)

    def test_help_and_version(self):
        for arguments in (["--help"], ["run", "--help"], ["inspect", "--help"], ["disasm", "--help"], ["info", "--help"]):
            done = run(KAITEN, *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            self.assertIn("usage: kaiten", done.stdout)
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


class Json(Case):
    KEYS = {"model", "config", "exact", "cycles", "macs", "array_utilization", "mac_utilization", "seconds", "khz", "bytes",
            "bus_bytes", "predicted_bytes", "stalls", "layers", "outputs"}
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
        self.assertEqual(set(report["bus_bytes"]), {"read", "written"})
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


class BadInput(Case):
    def test_command_line(self):
        self.refused("fly")
        self.refused("run")
        self.refused("run", "demo", "--speed", "9")
        self.refused("run", "demo", "--config", "huge")
        self.refused("run", "demo", "--latency", "many")
        self.refused("run", "demo", "--latency", "0")
        self.refused("run", "demo", "--rounding", "up")
        self.refused("inspect")
        self.refused("--model", "none.tflite", program=TB)
        self.assertEqual(run(KAITEN).returncode, 2)

    def test_files(self):
        none = self.file("none.tflite")
        self.assertIn("none.tflite", self.refused("run", none))
        self.refused("inspect", none)
        self.refused("disasm", none)
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


class Generate(Case):
    def test_a_generated_network_is_a_model(self):
        model = self.file("small.tflite")
        done = run(GENERATE, "mobilenet_v1", "--size", 32, "--output", model)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("zeros", done.stdout)
        self.assertEqual(run(KAITEN, "inspect", model).returncode, 0)

    def test_bad_input(self):
        for arguments in ([], ["resnet19"], ["resnet18", "--size", 5], ["resnet18", "--size", "many"], ["resnet18", "--no-such"],
                          ["resnet18", "--size", 32, "--output", "/no/such/folder/file"]):
            self.refused(*arguments, program=GENERATE)


class Interrupt(Case):
    def test_run_ends_with_130_and_without_files(self):
        # SIGINT at several moments: import, compilation, simulation, repetition.
        for delay in (0.01, 0.05, 0.2, 1.0):
            proc = subprocess.Popen([KAITEN, "run", "demo", "--config", "base", "--seconds", "30", "--output", self.file("out.bin"),
                                     "--json", self.file("r.json")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            proc.send_signal(signal.SIGINT)
            out, err = proc.communicate(timeout=10)
            if proc.returncode == -signal.SIGINT:
                continue  # before main had set its handler
            self.assertEqual((proc.returncode, out, err), (130, "", "kaiten: interrupted\n"), f"after {delay} s")
            self.assertEqual(os.listdir(self.folder), [])


class Terminal(Case):
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

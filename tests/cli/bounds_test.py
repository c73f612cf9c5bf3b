# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Extremes are answered: inputs without an end, numbers beyond their range, memories of any speed, deep tables."""
import json
import os
import resource
import signal
import struct
import subprocess
import time
import unittest
import zlib

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


def png(width, height):
    ihdr = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + ihdr + struct.pack(">I", zlib.crc32(ihdr))


def jpeg(width, height):
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\x00"
    return b"\xff\xd8\xff\xdb\x00\x43\x00" + bytes([1] * 64) + frame + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"


def bmp(width, height):
    return b"BM" + struct.pack("<IIIIiiHHIIiiII", 54, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


# Images of any size without pixels, by the end of their names.
HEADERS = {"png": png, "jpg": jpeg, "bmp": bmp, "ppm": lambda width, height: b"P6 %d %d 255\n" % (width, height)}


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


def field(number, value):
    """Of a protocol buffer: an integer, or bytes."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pooling_model(height, width, channels, layers):
    """An ONNX model of a few hundred bytes: its maps have these sides."""
    dims = b"".join(field(1, field(1, n)) for n in (1, channels, height, width))
    def value(name):
        return field(1, name) + field(2, field(1, field(1, 3) + field(2, dims)))
    scale = field(2, 1) + field(8, b"s") + field(9, struct.pack("<f", 0.5))
    zero = field(2, 3) + field(8, b"z") + field(9, b"\0")
    def node(op, inputs, output):
        window = field(5, field(1, b"kernel_shape") + field(20, 7) + field(8, 1) + field(8, 1)) if op == b"MaxPool" else b""
        return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, op) + window)
    nodes, at = b"", b"x"
    for i in range(layers):
        a, b, out = b"a%d" % i, b"b%d" % i, b"y%d" % i
        nodes += node(b"DequantizeLinear", (at, b"s", b"z"), a) + node(b"MaxPool", (a,), b) + node(b"QuantizeLinear", (b, b"s", b"z"), out)
        at = out
    graph = nodes + field(2, b"g") + field(5, scale) + field(5, zero) + field(11, value(b"x")) + field(12, value(at))
    return field(1, 8) + field(7, graph) + field(8, field(1, b"") + field(2, 13))

class Compress(ToolCase):
    def test_small_files_that_describe_huge_maps(self):
        for name, model, batch in (("sides.onnx", pooling_model(16000, 16000, 1, 2), 1), ("channels.onnx", pooling_model(64, 64, 65000, 1), 1),
                                   ("batch.onnx", pooling_model(1500, 1500, 1, 1), 256), ("more.onnx", pooling_model(16000, 16000, 64, 1), 1)):
            code, error = within(("compress", self.file(name, model), "--batch", str(batch)), 1, GIB)
            self.assertEqual((code, len(error.splitlines())), (2, 1), (name, error))
            self.assertRegex(error, "limit.*(536870912|1073741824|268435456)", name)
        usual = self.file("usual.onnx", pooling_model(8, 8, 16, 2))
        self.assertEqual(run(KAITEN, "compress", usual, "--seconds", "0").returncode, 0)


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
        for form, header in HEADERS.items():
            for width, height in ((40000, 3), (30000, 30000), (640, 480)):  # too wide, too large, without pixels
                name = self.file("image." + form, header(width, height))
                self.assertIn(f"{width}x{height}", self.refused("run", "demo", *NANO, "--input", name), form)
                code, error = within(("run", "demo", *NANO, "--input", name), 1, GIB)
                self.assertEqual(code, 2, error)

    def test_eval_names_the_size_too(self):
        for form, header in HEADERS.items():
            folder = self.file("images_" + form)
            os.makedirs(os.path.join(folder, "0"))
            with open(os.path.join(folder, "0", "a." + form), "wb") as f:
                f.write(header(40000, 3))
            self.assertIn("40000x3", self.refused("eval", "demo", folder), form)


class Memory(ToolCase):
    def report(self, *options):
        """Of the demo's first layer, whose bytes take long enough."""
        done = run(KAITEN, "run", "demo", "--config", "base", "--until", "functional_1/re_lu_1/Relu", *options, "--json", "-")
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

    def test_a_thousand_layers_of_a_configuration(self):
        code, error = within(("plan", self.deep(1000), "--config", "base", "--method", "optimal"), 15, GIB)
        self.assertEqual(code, 0, error)

    def test_a_deep_network_on_all_methods(self):
        code, error = within(("plan", table("resnet152"), "--config", "base", "--method", "all"), 5, GIB)
        self.assertEqual(code, 0, error)

    def test_planning_can_be_interrupted(self):
        with subprocess.Popen([KAITEN, "plan", self.deep(1000), "--config", "base", "--method", "optimal"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as program:
            time.sleep(0.5)
            self.end_by_signal(program, signal.SIGTERM, 3)


if __name__ == "__main__":
    unittest.main()

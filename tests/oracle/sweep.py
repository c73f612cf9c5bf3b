# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Random models, three parties: the interpreter, the reference executor, the RTL. They must agree on every tensor, and `inspect`,
`plan` and `run` on what can run; tflite-micro is asked as well where it has the operators.

usage: sweep.py [--models N] [--first K] [--shard I/N] [--seed S] [--formats tflite,onnx] [--config nano] [--base EVERY] [--keep DIR]
                [--resume FILE] [--cases FILE] [--differences] [--tables] [--docs]
Model K of seed S is always the same. A model on which they disagree is shrunk and kept in DIR (default: build/oracle) with its recipe, inputs
and the interpreter's tensors; --resume FILE notes what is done and goes on there. --cases FILE: recipes that
once found something, before the others. With --base, every EVERY-th model runs on `base`. The
last line is `N models: ...`; exit code 1 after a disagreement, 77 where the interpreters are not installed."""
import argparse
import collections
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build")
WORKER = os.path.join(BUILD, "test-bin", "oracle_worker")
FINE = ("exact", "refused", "rounded")
MOST_STEPS = 150  # of shrinking
# What the report calls the operators of ONNX that may round otherwise.
ROUNDED = {"Conv": "conv", "Depthwise": "depthwise", "Gemm": "fc", "MatMul": "fc"}
sys.path[:0] = [os.path.join(ROOT, "scripts")]
import tools  # noqa: E402

INTERPRETERS = os.path.join(ROOT, "sw", "oracle")
sys.dont_write_bytecode = True


class Child:
    """A program that answers every line with a line, started anew where a model ends it."""

    def __init__(self, *command):
        self.command, self.process = command, None

    def ask(self, line):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        print(line, file=self.process.stdin, flush=True)

    def answer(self):
        """What it says; {"state": "crashed"} where it ends instead."""
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.process = None
        return {"state": "crashed", "why": f"code {code}"}


# The interpreters of sw/oracle/interpreters.py; tflite-micro, which shows its outputs only.
INTERPRET = """
import json, sys
import interpreters
for line in sys.stdin:
    try:
        interpreters.interpret(line.strip())
        print(json.dumps({"state": "done"}), flush=True)
    except Exception as error:
        print(json.dumps({"state": "refused", "why": " ".join(str(error).split())}), flush=True)
"""
MICRO = """
import json, sys
import numpy as np
from tflite_micro.python.tflite_micro import runtime
for line in sys.stdin:
    folder, shape, kind, outputs = json.loads(line)
    try:
        i = runtime.Interpreter.from_file(folder + "/model.tflite", arena_size=1 << 22)
        i.set_input(np.fromfile(folder + "/input", kind).reshape(shape), 0)
        i.invoke()
        data = b"".join(i.get_output(n).tobytes() for n in range(outputs))
        with open(folder + "/tflm", "wb") as f:
            f.write(data)
        print(json.dumps({"state": "done"}), flush=True)
    except Exception as error:
        print(json.dumps({"state": "refused", "why": str(error)}), flush=True)
"""


class Format:
    def __init__(self, name):
        self.name = name
        self.maker = importlib.import_module(f"{name}_models")
        self.interpreter = {"tflite": "litert", "onnx": "onnxruntime"}[name]


def values_for(type_name, shape, random):
    """Stored values of an input: few different ones, a ramp, or any."""
    import numpy as np
    low, high = {"int8": (-128, 127), "uint8": (0, 255)}[type_name]
    kind = random.integers(4)
    if kind == 0:
        few = random.integers(low, high + 1, 2)
        data = random.choice(few, shape)
    elif kind == 1:
        data = (np.arange(np.prod(shape)) % 256 + low).reshape(shape)
    else:
        data = random.integers(low, high + 1, shape)
    return data.astype(type_name)


class Sweep:
    def __init__(self, args):
        import numpy as np
        self.np = np
        self.args = args
        self.formats = [Format(name) for name in args.formats.split(",")]
        self.worker = Child(WORKER)
        self.interpreter = Child(sys.executable, "-c", f"import sys\nsys.path[:0] = [{INTERPRETERS!r}]\n{INTERPRET}")
        self.micro = None if args.no_tflm else Child(sys.executable, "-c", MICRO)
        self.counts = collections.Counter()
        self.refusals = collections.Counter()
        self.elements = 0
        self.micro_counts = collections.defaultdict(collections.Counter)  # by operator: how tflite-micro compares
        self.operators = collections.defaultdict(collections.Counter)  # exact models that hold it, by type or style; "rounded"

    def random(self, *key):
        return self.np.random.default_rng([self.args.seed, *key])

    def prepare(self, folder, form, recipe, number):
        """Writes the model, its inputs and what the interpreter makes of it; False where the interpreter refuses it."""
        os.makedirs(folder, exist_ok=True)
        random = self.random(number, 1)
        values = [form.maker.input_of(recipe, x, values_for(recipe["type"], x["shape"], random)) for x in form.maker.inputs_of(recipe)]
        model = form.maker.build(recipe)
        for name, data in ((f"model.{form.name}", model), ("model", model), ("input", b"".join(x.tobytes() for x in values)),
                           ("recipe.json", json.dumps(recipe, indent=1).encode()),
                           ("request.json", json.dumps({"interpreter": form.interpreter, "images": 1, "inputs": [
                               {"name": f"x{i or ''}", "shape": list(x.shape), "type": x.dtype.name} for i, x in enumerate(values)]}).encode())):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
        self.interpreter.ask(folder)
        answer = self.interpreter.answer()
        if answer["state"] != "done":
            self.counts[f"{answer['state']} by the interpreter"] += 1
            if self.args.differences:
                print(f"model {number}: {answer['state']} by the interpreter:", [layer["op"] for layer in recipe["layers"]], answer["why"][:200],
                      flush=True)
        return answer["state"] == "done"

    def ask_micro(self, folder, recipe):
        """Asks tflite-micro about models of one operator and one input."""
        if recipe["type"] == "int8" and len(recipe["layers"]) == 1 and not recipe.get("more"):
            layer = recipe["layers"][0]
            self.micro.ask(json.dumps([folder, recipe["shape"], recipe["type"], layer["parts"] if layer["op"] == "SPLIT" else 1]))
            self.micro.answer()

    def ask(self, folder, form, config):
        self.worker.ask(f"{folder} model.{form.name} {config}")

    def shrink(self, folder, form, recipe, number, config, state):
        """The simplest recipe found that still fails in this way."""
        steps, going = 0, True
        while going and steps < MOST_STEPS:
            going = False
            for trial in form.maker.simpler(recipe):
                steps += 1
                if steps > MOST_STEPS:
                    break
                shutil.rmtree(folder, ignore_errors=True)
                try:
                    if not self.prepare(folder, form, trial, number):
                        continue
                except ValueError:
                    continue
                self.ask(folder, form, config)
                if self.worker.answer()["state"] == state:
                    recipe, going = trial, True
                    break
        return recipe

    def disagreement(self, form, recipe, number, config, answer):
        kept = os.path.join(self.args.keep, f"{form.name}-{self.args.seed}-{number}")
        if not self.args.differences:
            recipe = self.shrink(kept, form, recipe, number, config, answer["state"])
        shutil.rmtree(kept, ignore_errors=True)
        self.prepare(kept, form, recipe, number)
        self.ask(kept, form, config)
        shrunk = self.worker.answer()
        print(f"model {number} ({form.name}, {config}) {answer['state']}: {shrunk.get('why', answer['why'])[:300]}\n  "
              f"{' '.join(layer['op'] for layer in recipe['layers'])}, kept in {os.path.relpath(kept)}", flush=True)

    def finish(self, number, form, recipe, config):
        answer = self.worker.answer()
        self.counts[answer["state"]] += 1
        if answer["state"] == "refused":
            self.refusals[answer["why"].split(": limit: ")[-1][:110]] += 1
        elif answer["state"] == "rounded":
            kind = answer["why"].split("(")[1].split(")")[0]
            ops = [layer["op"] for layer in recipe["layers"] if ROUNDED.get(layer["op"]) == kind]
            self.operators[form.name, ops[0] if ops else kind]["rounded"] += 1
        elif answer["state"] == "exact":
            self.elements += answer["elements"]
            self.counts["with operators on the host"] += answer["host"] > 0
            for op in {layer["op"] for layer in recipe["layers"]}:
                self.operators[form.name, op][recipe.get("style") or recipe["type"]] += 1
            if answer["unconfirmed"]:
                self.counts["with tensors the interpreter does not show"] += 1
            if answer["tflm"] != "none":
                counts = self.micro_counts[recipe["layers"][0]["op"]]
                counts["with LiteRT: " + answer["tflm_interpreter"]] += 1
                counts["with --rounding tflm: " + answer["tflm"]] += 1
        if answer["state"] not in FINE:
            self.disagreement(form, recipe, number, config, answer)

    def run_cases(self):
        with open(self.args.cases) as f:
            cases = json.load(f)
        for number, recipe in enumerate(cases):
            form = next((form for form in self.formats if form.name == recipe["format"]), None)
            if form is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                ready = self.prepare(folder, form, recipe, number)
                self.ask(folder, form, self.args.config)
                answer = self.worker.answer()
            self.counts["cases"] += 1
            if not ready or answer["state"] != "exact":
                self.counts["failed"] += 1
                print(f"case {number} ({recipe['format']}, {recipe['why']}): {answer['state']}: {answer['why']}", flush=True)

    def run(self):
        args = self.args
        if args.cases:
            self.run_cases()
        first = args.first
        if args.resume and os.path.exists(args.resume):
            with open(args.resume) as f:
                first = max(first, json.load(f)["next"])
        shard, shards = map(int, args.shard.split("/"))
        waiting = None
        with tempfile.TemporaryDirectory() as temporary:
            for number in range(first, args.first + args.models):
                if number % shards != shard - 1:
                    continue
                form = self.formats[number % len(self.formats)]
                recipe = form.maker.draw(self.random(number))
                config = "base" if args.base and number % args.base == 0 else args.config
                folder = os.path.join(temporary, str(number))
                ready = self.prepare(folder, form, recipe, number)
                if ready and self.micro and form.name == "tflite":
                    self.ask_micro(folder, recipe)
                if waiting:
                    self.finish(*waiting[:4])
                    shutil.rmtree(waiting[4])
                waiting = None
                if ready:
                    self.ask(folder, form, config)
                    waiting = (number, form, recipe, config, folder)
                if args.resume and number % 100 == 99 and waiting is None or args.resume and number % 100 == 98:
                    os.makedirs(os.path.dirname(os.path.abspath(args.resume)), exist_ok=True)
                    with open(args.resume, "w") as f:
                        json.dump({"next": number if waiting else number + 1}, f)
            if waiting:
                self.finish(*waiting[:4])
        if args.resume and os.path.exists(args.resume):
            os.remove(args.resume)


def report(sweep, seconds):
    if sweep.args.tables:
        for op, counts in sorted(sweep.micro_counts.items()):
            print(f"  tflite-micro, {op}: {dict(counts)}")
        for why, count in sweep.refusals.most_common(40):
            print(f"  refused {count}: {why}")
        for (form, op), counts in sorted(sweep.operators.items()):
            print(f"  {form} {op}: {dict(counts)}")
    counts = ", ".join(f"{count} {state}" for state, count in sorted(sweep.counts.items()))
    print(f"{sweep.args.models} models: {counts}; {sweep.elements} elements equal the interpreter's; {seconds:.0f} s, seed {sweep.args.seed}")


def write_tables(sweep):
    """The tables of docs/compiler/numerics.md, between its markers."""
    from importlib import metadata
    version = {name: metadata.version(name) for name in ("ai-edge-litert", "onnxruntime", "tflite_micro")}

    def count(number):
        return f"{number:,}" if number else "-"

    rows = {"tflite": [], "onnx": []}
    for (form, op), counts in sorted(sweep.operators.items()):
        if form == "tflite":
            micro = sweep.micro_counts[op]
            same, other = (micro[f"with LiteRT: {verdict}"] for verdict in ("equal", "differs"))
            ours, not_ours = (micro[f"with --rounding tflm: {verdict}"] for verdict in ("equal", "differs"))
            rows[form].append([f"`{op}`", count(counts["int8"]), count(counts["uint8"]), f"{same} of {same + other}" if same + other else "-",
                               f"{ours} of {ours + not_ours}" if ours + not_ours else "-"])
        else:
            rows[form].append([f"`{op}`", count(counts["qdq"]), count(counts["qoperator"]), count(counts["rounded"])])
    args = sweep.args
    text = (f"Of {args.models:,} models (`sweep.py --models {args.models} --first {args.first} --seed {args.seed}`) {sweep.counts['exact']:,} are exact, "
            f"{sweep.elements:,} elements; {sweep.counts['rounded']} round otherwise in a float32 sum, "
            f"{sweep.counts['refused']:,} are refused by `inspect` and `run` alike, none differs.\n\n"
            f"Exact models that hold the operator, against LiteRT {version['ai-edge-litert']} (reference kernels); then models of that operator "
            f"alone, int8: how many tflite-micro {version['tflite_micro']} answers as LiteRT does, and as `--rounding tflm` does:\n\n")
    text += tools.markdown(["TensorFlow Lite", "int8", "uint8", "tflite-micro as LiteRT", "as `--rounding tflm`"], rows["tflite"])
    text += (f"\nThe same against onnxruntime {version['onnxruntime']} (graph optimisation off); the last column: models in which this operator is the "
             "first to round otherwise, by 1:\n\n")
    text += tools.markdown(["ONNX", "QDQ", "QOperator", "rounded otherwise"], rows["onnx"])
    tools.write_between(os.path.join("docs", "compiler", "numerics.md"), "oracle", tools.wrapped(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("KAITEN_SEED") or 1))
    parser.add_argument("--formats", default="tflite,onnx")
    parser.add_argument("--config", default="nano")
    parser.add_argument("--base", type=int, default=0, metavar="EVERY")
    parser.add_argument("--keep", default=os.path.join(BUILD, "oracle"))
    parser.add_argument("--resume")
    parser.add_argument("--cases")
    parser.add_argument("--no-tflm", action="store_true", help="do not ask tflite-micro")
    parser.add_argument("--differences", action="store_true", help="do not shrink; say what the interpreter refuses, too")
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/compiler/numerics.md")
    parser.add_argument("--tables", action="store_true", help="print refusals, operators and how tflite-micro compares")
    args = parser.parse_args()
    try:
        for name in ("numpy", "ai_edge_litert", "onnx", "onnxruntime", *([] if args.no_tflm else ["tflite_micro"])):
            importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(f"{error.name} is not installed")
        return 77
    start = time.time()
    sweep = Sweep(args)
    sweep.run()
    report(sweep, time.time() - start)
    if any(sweep.counts[state] for state in ("differs", "rtl", "disagree", "failed", "crashed")):
        return 1
    if args.docs:
        write_tables(sweep)
    return 0


if __name__ == "__main__":
    sys.exit(main())

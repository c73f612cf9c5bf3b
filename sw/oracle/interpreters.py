# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""A model in the interpreter it was made for, every tensor kept: what `kaiten run --oracle` compares with.

usage: interpreters.py FOLDER
The folder holds `model`, `input` (the inputs' bytes, one after the other, image by image) and `request.json`:
{"interpreter": "litert"|"onnxruntime", "images": N, "inputs": [{"name", "shape", "type"}]}. Written there: `tensors`, values one after
the other, and `tensors.json`: {"name", "version", "tensors": [{"image", "index", "name", "type", "shape", "bytes"}]}; `index` is the
tensor's number in a TensorFlow Lite file, -1 in ONNX. LiteRT runs its reference kernels, onnxruntime without graph optimisation. Where
LiteRT knows an operator in older versions only, it runs the newest of these, which "version" says. The last line of standard error
says what went wrong; exit code 3: a package is missing, 1: anything else."""
import json
import os
import re
import struct
import sys


def with_older(model, name, version):
    """The TensorFlow Lite file with `version` of an operator stated as the one before."""
    from ai_edge_litert import schema_py_generated as schema
    wanted = getattr(schema.BuiltinOperator, name)
    root = schema.Model.GetRootAs(model, 0)
    changed = bytearray(model)
    for i in range(root.OperatorCodesLength()):
        code = root.OperatorCodes(i)
        if max(code.BuiltinCode(), code.DeprecatedBuiltinCode()) == wanted and code.Version() == version:
            at = code._tab.Pos + code._tab.Offset(8)  # the field `version`
            changed[at:at + 4] = struct.pack("<i", version - 1)
    return bytes(changed)


class LiteRt:
    NAME = "LiteRT"

    def __init__(self, model, inputs):
        import ai_edge_litert
        self.version = ai_edge_litert.__version__
        self.interpreter = self.opened(model)
        self.inputs = self.interpreter.get_input_details()
        for detail, wanted in zip(self.inputs, inputs):
            if list(detail["shape"]) != wanted["shape"]:
                self.interpreter.resize_tensor_input(detail["index"], wanted["shape"])
        self.interpreter.allocate_tensors()

    def opened(self, model):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
        older = {}
        while True:
            try:
                interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
                                          experimental_preserve_all_tensors=True, num_threads=1)
                break
            except ValueError as error:
                unknown = re.search(r"builtin opcode '(\w+)' version '(\d+)'", str(error))
                if unknown is None or int(unknown[2]) < 2:
                    raise
                older[unknown[1]] = int(unknown[2]) - 1
                changed = with_older(model, unknown[1], int(unknown[2]))
                if changed == model:
                    raise
                model = changed
        self.version += "".join(f", {name} as of version {version}" for name, version in older.items())
        return interpreter

    def run(self, values):
        """(index, name, array) of every tensor that has values."""
        for detail, value in zip(self.inputs, values):
            self.interpreter.set_tensor(detail["index"], value)
        self.interpreter.invoke()
        for detail in self.interpreter.get_tensor_details():
            try:
                yield detail["index"], detail["name"], self.interpreter.get_tensor(detail["index"])
            except ValueError:
                continue  # no values: optional, a resource, never computed


class OnnxRuntime:
    NAME = "onnxruntime"

    def __init__(self, model, inputs):
        import onnx
        import onnxruntime
        self.version = onnxruntime.__version__
        whole = onnx.load_model_from_string(model)
        known = {output.name for output in whole.graph.output}
        for name in (name for node in whole.graph.node for name in node.output):
            if name and name not in known:
                known.add(name)
                whole.graph.output.append(onnx.ValueInfoProto(name=name))
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.outputs = [output.name for output in self.session.get_outputs()]
        self.inputs = [value.name for value in self.session.get_inputs()]

    def run(self, values):
        results = self.session.run(self.outputs, dict(zip(self.inputs, values)))
        return ((-1, name, value) for name, value in zip(self.outputs, results) if hasattr(value, "dtype"))


INTERPRETERS = {"litert": LiteRt, "onnxruntime": OnnxRuntime}


def images_of(data, inputs, images):
    """The inputs of each image, as arrays."""
    import numpy as np
    at = 0
    for _ in range(images):
        values = []
        for wanted in inputs:
            count = int(np.prod(wanted["shape"], dtype=np.int64))
            value = np.frombuffer(data, wanted["type"], count, at).reshape(wanted["shape"])
            at += value.nbytes
            values.append(value)
        yield values


def interpret(folder):
    def path(name):
        return os.path.join(folder, name)

    with open(path("request.json")) as f:
        request = json.load(f)
    with open(path("model"), "rb") as f:
        model = f.read()
    with open(path("input"), "rb") as f:
        data = f.read()
    interpreter = INTERPRETERS[request["interpreter"]](model, request["inputs"])
    tensors = []
    with open(path("tensors"), "wb") as out:
        for image, values in enumerate(images_of(data, request["inputs"], request["images"])):
            for index, name, value in interpreter.run(values):
                out.write(value.tobytes())
                tensors.append({"image": image, "index": int(index), "name": name, "type": value.dtype.name,
                                "shape": [int(n) for n in value.shape], "bytes": value.nbytes})
    with open(path("tensors.json"), "w") as f:
        json.dump({"name": interpreter.NAME, "version": interpreter.version, "tensors": tensors}, f)


def main():
    try:
        interpret(sys.argv[1])
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 3
    except Exception as error:  # whatever an interpreter has against the model
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

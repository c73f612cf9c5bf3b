# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""A float32 ONNX model to int8 with onnxruntime's quantiser: what `kaiten quantize` runs.

usage: quantizer.py FOLDER describe    `model` to `inputs.json`: [{"name", "shape", "type"}], open dimensions being 1
       quantizer.py FOLDER quantize    `model`, `images` (float32 inputs, one after the other) and `request.json`
                                       {"images", "methods"} to `int8` and `report.json`

Ranges of activations come from the images with even numbers: the least and the largest value (minmax), all but one value of
10,000 (percentile), or those with the least squared error at 8 bits (mse), both of histograms. Which of the methods is taken
is measured on the others: the share of the images for which the int8 model's largest output is the float model's, then the
error of the outputs. Weights are symmetric, one scale a channel. The last line of standard error says what went wrong; exit
code 3: a package is missing, 1: anything else."""
import json
import os
import sys

BINS = 2048
PERCENTILE = 1e-4
# With the quantiser's own, operators that the accelerator computes on int8 values.
MORE_OPERATORS = ["Add", "Concat", "GlobalAveragePool", "HardSigmoid", "HardSwish", "LeakyRelu", "Mul", "Sigmoid", "Sub", "Tanh"]


def session_of(model):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def input_of(model):
    """The model's only input that no initializer fills."""
    filled = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in filled]
    if len(inputs) != 1:
        raise ValueError(f"expected a model of one input, found {len(inputs)}")
    return inputs[0]


def describe(path):
    import onnx
    model = onnx.load_model(path("model"))
    if any(node.op_type in ("QuantizeLinear", "QLinearConv", "DequantizeLinear") for node in model.graph.node):
        raise ValueError("the model is quantised already")
    value = input_of(model)
    tensor = value.type.tensor_type
    shape = [d.dim_value or 1 for d in tensor.shape.dim]
    if tensor.elem_type != onnx.TensorProto.FLOAT:
        raise ValueError(f"expected float32 as input '{value.name}', found {onnx.TensorProto.DataType.Name(tensor.elem_type).lower()}")
    with open(path("inputs.json"), "w") as f:
        json.dump([{"name": value.name, "shape": shape, "type": "float32"}], f)


def prepared(path):
    """The model with open dimensions at 1, shapes inferred, and batch normalisation folded."""
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process
    model = onnx.load_model(path("model"))
    for value in [*model.graph.input, *model.graph.output]:
        for dimension in value.type.tensor_type.shape.dim:
            if not dimension.dim_value:
                dimension.dim_value = 1
    quant_pre_process(model, path("prepared"), skip_symbolic_shape=True)
    return onnx.load_model(path("prepared"))


class Values:
    """Every float tensor of a model, image by image."""

    def __init__(self, model):
        import onnx
        whole = onnx.ModelProto()
        whole.CopyFrom(model)
        self.input = input_of(model).name
        known = {output.name for output in whole.graph.output}
        for name in (name for node in whole.graph.node for name in node.output):
            if name and name not in known:
                known.add(name)
                whole.graph.output.append(onnx.ValueInfoProto(name=name))
        self.outputs = [output.name for output in model.graph.output]
        self.session = session_of(whole)
        self.names = [output.name for output in self.session.get_outputs()]

    def of(self, image):
        import numpy
        results = dict(zip(self.names, self.session.run(self.names, {self.input: image})))
        results[self.input] = image
        return {name: value for name, value in results.items() if getattr(value, "dtype", None) == numpy.float32 and value.size}


def histograms(values, images):
    """Of each tensor: (least, largest, counts)."""
    import numpy
    limits = {}
    for image in images:
        for name, value in values.of(image).items():
            low, high = limits.get(name, (numpy.inf, -numpy.inf))
            limits[name] = min(low, float(value.min())), max(high, float(value.max()))
    counts = {name: numpy.zeros(BINS) for name in limits}
    for image in images:
        for name, value in values.of(image).items():
            low, high = limits[name]
            if high > low:
                counts[name] += numpy.histogram(value, BINS, (low, high))[0]
    return {name: (*limits[name], counts[name]) for name in limits}


def percentile(low, high, counts):
    import numpy
    total, edges = counts.sum(), numpy.linspace(low, high, BINS + 1)
    share = numpy.concatenate([[0], numpy.cumsum(counts)]) / total
    return edges[max(numpy.searchsorted(share, PERCENTILE / 2, "right") - 1, 0)], edges[numpy.searchsorted(share, 1 - PERCENTILE / 2)]


def least_squares(low, high, counts):
    import numpy
    edges = numpy.linspace(low, high, BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    best = None
    for part in numpy.linspace(0.3, 1, 71):
        a, b = min(low * part, 0), max(high * part, 0)
        step = (b - a) / 255
        rounded = numpy.clip(numpy.round((centres - a) / step), 0, 255) * step + a
        error = float((counts * (centres - rounded) ** 2).sum())
        if best is None or error <= best[0]:
            best = error, (a, b)
    return best[1]


RANGES = {"minmax": lambda low, high, counts: (low, high), "percentile": percentile, "mse": least_squares}


def quantized(model, ranges):
    import numpy
    import onnx
    from onnxruntime.quantization import CalibrationMethod, QuantType
    from onnxruntime.quantization.calibrate import TensorData, TensorsData
    from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
    from onnxruntime.quantization.registry import QDQRegistry
    data = {name: TensorData(lowest=numpy.float32(low), highest=numpy.float32(high)) for name, (low, high) in ranges.items()}
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    quantizer = QDQQuantizer(copy, True, False, QuantType.QInt8, QuantType.QInt8, TensorsData(CalibrationMethod.MinMax, data),
                             None, [], [*QDQRegistry, *MORE_OPERATORS], {"WeightSymmetric": True})
    quantizer.quantize_model()
    return quantizer.model.model


def relative_error(wanted, got):
    """Of arrays: root of the squared error over that of the values."""
    import numpy
    square = sum(float((w.astype("float64") ** 2).sum()) for w in wanted)
    error = sum(float(((w.astype("float64") - g) ** 2).sum()) for w, g in zip(wanted, got))
    return float(numpy.sqrt(error / square)) if square else float(numpy.sqrt(error))


def compare(model, wanted, images):
    """How the int8 model does on images for which the float model gives `wanted`."""
    values = Values(model)
    got = [values.of(image) for image in images]
    output = values.outputs[0]
    agreement = sum(int(w[output].argmax() == g[output].argmax()) for w, g in zip(wanted, got)) / len(images)
    layers = []
    for name in wanted[0]:
        quantised = name + "_DequantizeLinear_Output"
        there = quantised if quantised in got[0] else name
        if name != values.input and all(there in g for g in got):
            layers.append({"name": name, "error": relative_error([w[name] for w in wanted], [g[there] for g in got])})
    error = relative_error([w[output] for w in wanted], [g[output] for g in got])
    return {"agreement": agreement, "error": error, "layers": layers}


def quantize(path):
    import numpy
    import onnx
    import onnxruntime
    with open(path("request.json")) as f:
        request = json.load(f)
    model = prepared(path)
    shape = [d.dim_value for d in input_of(model).type.tensor_type.shape.dim]
    images = numpy.fromfile(path("images"), "float32").reshape([request["images"], *shape])
    seen, unseen = images[0::2], images[1::2] if len(images) > 1 else images
    values = Values(model)
    counted = histograms(values, seen)
    wanted = [values.of(image) for image in unseen]
    best, candidates = None, []
    for method in request["methods"]:
        ranges = {name: RANGES[method](*counts) if counts[1] > counts[0] else counts[:2] for name, counts in counted.items()}
        int8 = quantized(model, ranges)
        measured = {"method": method, **compare(int8, wanted, unseen)}
        candidates.append({key: measured[key] for key in ("method", "agreement", "error")})
        if best is None or (-measured["agreement"], measured["error"]) < (-best[0]["agreement"], best[0]["error"]):
            best = measured, int8
    onnx.save_model(best[1], path("int8"))
    with open(path("report.json"), "w") as f:
        json.dump({**best[0], "candidates": candidates, "calibrated": len(seen), "measured": len(unseen), "held_out": len(images) > 1,
                   "quantizer": f"onnxruntime {onnxruntime.__version__}"}, f)


def main():
    folder, task = sys.argv[1:]
    try:
        {"describe": describe, "quantize": quantize}[task](lambda name: os.path.join(folder, name))
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 3
    except Exception as error:  # whatever the quantiser has against the model
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

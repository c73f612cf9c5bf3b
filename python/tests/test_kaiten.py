# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The package against the golden answers of the demo network and, where they are installed, the interpreters themselves."""
import importlib
import os
import pathlib
import threading
import time

import numpy
import pytest

import kaiten
import kaiten.litert
import kaiten.onnxruntime

CONFIG = "nano"


def optional(name):
    """A package that is skipped by name where it is missing, which CI does not allow."""
    return importlib.import_module(name) if os.environ.get("CI") == "true" else pytest.importorskip(name)


def test_a_batch_gives_the_golden_answers(demo, images, golden):
    model = kaiten.load(demo)
    assert (model.name, len(model.inputs), len(model.outputs)) == ("demo", 1, 1) and model.macs > 10**7
    assert (model.inputs[0].shape, model.inputs[0].dtype) == ((1, 32, 32, 1), "int8")
    run = model.run(images[:3], config=CONFIG)
    assert run.exact is True and run.cycles > 10000
    numpy.testing.assert_array_equal(run.outputs[0], golden[:3])
    assert run.report["config"] == CONFIG and run.report["cycles"] == run.cycles
    assert sum(layer["cycles"] for layer in run.layers) <= run.cycles
    assert "PASS" in str(run)


def test_the_reference_gives_the_golden_answers(demo, images, golden):
    model = kaiten.load(pathlib.Path(demo).read_bytes())
    numpy.testing.assert_array_equal(model.reference(images)[0], golden)
    tensors = model.reference_tensors(images[5:6])
    assert len(tensors) > 15
    numpy.testing.assert_array_equal(tensors[model.outputs[0].name], golden[5:6])


def test_a_session_runs_again_and_traces(demo, images, golden):
    session = kaiten.load(demo).compile(CONFIG, keep_weights=True, latency=20)
    first, second = session.run(images[7:8]), session.run(images[8:9], trace=True, check=False)
    assert first.trace is None and second.exact is None and second.cycles < first.cycles
    assert len(second.trace["traceEvents"]) > 10
    numpy.testing.assert_array_equal(second.outputs[0], golden[8:9])
    with pytest.raises(kaiten.InputError, match="batch of 1"):
        session.run(images[:2])


def test_layers_as_a_table(demo, images):
    run = kaiten.load(demo).run(images[:1], config=CONFIG)
    table = run.table()
    try:
        import pandas
    except ImportError:
        assert table == run.layers
    else:
        assert isinstance(table, pandas.DataFrame) and list(table["name"]) == [layer["name"] for layer in run.layers]


def test_questions_without_a_run(demo, images):
    model = kaiten.load(demo)
    facts = model.inspect(CONFIG)
    assert facts["reasons"] == [] and {"array", "vector"} <= {layer["runs_on"] for layer in facts["layers"]}
    assert sum(layer["macs"] for layer in facts["layers"]) == model.macs
    optimal, single = (model.plan(capacity=64 << 10, method=m)["methods"][0] for m in ("optimal", "per-layer"))
    assert optimal["traffic_bytes"] < single["traffic_bytes"]
    plan = model.plan(config=CONFIG)
    assert (plan["mode"], plan["config"]) == ("hardware", CONFIG)
    packed = model.compress(images[:1])
    assert {entry["codec"] for entry in packed} == {"zvc"} and packed[0]["raw_bytes"] > packed[0]["packed_bytes"]
    assert CONFIG in kaiten.configs()


def test_bad_input_is_one_line(demo, images):
    model = kaiten.load(demo)
    calls = [lambda: kaiten.load("/no/such.tflite"), lambda: kaiten.load(b"hello"), lambda: model.run(images[:1], config="none"),
             lambda: model.run(images[:1].astype("float32"), config=CONFIG), lambda: model.run(images[0], config=CONFIG),
             lambda: model.run([images[:1], images[:1]], config=CONFIG), lambda: model.run({"x": images[:1]}, config=CONFIG),
             lambda: model.run(images[:1], config=CONFIG, latency=0), lambda: model.plan(), lambda: model.plan(capacity=1),
             lambda: model.plan(capacity=65536, method="best"), lambda: model.compress(images[:1], codec="none"),
             lambda: model.compile(CONFIG, batch=0), lambda: model.compile(CONFIG, rounding="up"),
             lambda: model.compile(CONFIG, batch="2"), lambda: model.compile(CONFIG, latency=-1), lambda: model.compile(CONFIG, seed=-1),
             lambda: model.compile(CONFIG, stall=-1), lambda: model.compile(CONFIG, rounding=3),
             lambda: model.compile(CONFIG, bytes_per_cycle="fast"), lambda: model.compile(CONFIG, clock=0)]
    for call in calls:
        with pytest.raises(kaiten.InputError) as error:
            call()
        assert str(error.value) and "\n" not in str(error.value)
    assert issubclass(kaiten.InputError, ValueError) and issubclass(kaiten.DeviceError, RuntimeError)
    with pytest.raises(TypeError, match="unexpected keyword"):
        model.compile(CONFIG, speed=3)


def test_a_clock_makes_time_of_cycles(demo, images):
    run = kaiten.load(demo).run(images[:1], config=CONFIG, clock=100)
    assert run.report["milliseconds"] == pytest.approx(run.cycles / 1e5)
    assert run.report["frames_per_second"] == pytest.approx(1e8 / run.cycles)


def test_other_threads_run_meanwhile(demo, images):
    session = kaiten.load(demo).compile(CONFIG)
    stop, ticks = threading.Event(), []

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)
    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    session.run(images[:1])
    end = time.monotonic()
    stop.set()
    thread.join()
    assert sum(begin < t < end for t in ticks) >= 3


def test_stands_in_for_litert(demo, images, golden):
    interpreter = kaiten.litert.Interpreter(str(demo), config=CONFIG)
    interpreter.allocate_tensors()
    given, gives = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    with pytest.raises(kaiten.InputError, match="was not set"):
        interpreter.invoke()
    interpreter.set_tensor(given["index"], images[9:10])
    interpreter.invoke()
    numpy.testing.assert_array_equal(interpreter.get_tensor(gives["index"]), golden[9:10])
    numpy.testing.assert_array_equal(interpreter.tensor(gives["index"])(), golden[9:10])
    assert [d["index"] for d in interpreter.get_tensor_details()] == [given["index"], gives["index"]]
    interpreter.resize_tensor_input(given["index"], given["shape"])
    with pytest.raises(kaiten.InputError, match="found: .2, 32, 32"):
        interpreter.resize_tensor_input(given["index"], [2, *given["shape"][1:]])
    theirs = optional("ai_edge_litert.interpreter").Interpreter(str(demo))
    for ours, other in ((given, theirs.get_input_details()[0]), (gives, theirs.get_output_details()[0])):
        assert (ours["index"], ours["dtype"], ours["name"]) == (other["index"], other["dtype"], other["name"].split(";")[0])
        assert tuple(ours["shape"]) == tuple(other["shape"]) and ours["quantization"] == pytest.approx(other["quantization"])


def test_signatures_are_litert_s(demo, images, golden):
    ours = kaiten.litert.Interpreter(str(demo), config=CONFIG)
    (key, names), = ours.get_signature_list().items()
    (given,), (gives,) = names["inputs"], names["outputs"]
    for runner in (ours.get_signature_runner(), ours.get_signature_runner(key)):
        result = runner(**{given: images[4:5]})
        assert list(result) == [gives]
        numpy.testing.assert_array_equal(result[gives], golden[4:5])
    for wrong, match in (({}, "takes 1 inputs"), ({"other": images[:1]}, "no input 'other'"), ({given: images[:2]}, "found: .2, 32, 32")):
        with pytest.raises(kaiten.InputError, match=match):
            runner(**wrong)
    with pytest.raises(kaiten.InputError, match="no signature 'other'; there are: "):
        ours.get_signature_runner("other")
    litert = optional("ai_edge_litert.interpreter")
    theirs = litert.Interpreter(str(demo), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    assert ours.get_signature_list() == theirs.get_signature_list()
    other = theirs.get_signature_runner()
    assert {n: d["index"] for n, d in runner.get_input_details().items()} == {n: d["index"] for n, d in other.get_input_details().items()}
    assert {n: d["index"] for n, d in runner.get_output_details().items()} == {n: d["index"] for n, d in other.get_output_details().items()}
    numpy.testing.assert_array_equal(result[gives], other(**{given: images[4:5]})[gives])


def test_a_model_without_signatures(images):
    proto = small_onnx(optional("onnx"))
    ours = kaiten.litert.Interpreter(model_content=proto.SerializeToString(), config=CONFIG)
    assert ours.get_signature_list() == {}
    with pytest.raises(kaiten.InputError, match="found: 0"):
        ours.get_signature_runner()


def small_onnx(onnx):
    """x -> QLinearConv of 4 channels -> y."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    rng = numpy.random.default_rng(3)
    constants = {"sx": numpy.float32(0.05), "zx": numpy.int8(3), "w": rng.integers(-90, 90, (4, 3, 3, 3)).astype("int8"),
                 "sw": numpy.float32(0.01), "zw": numpy.int8(0), "sy": numpy.float32(0.1), "zy": numpy.int8(-5)}
    node = helper.make_node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"], ["y"], pads=[1, 1, 1, 1])
    graph = helper.make_graph([node], "small", [helper.make_tensor_value_info("x", onnx.TensorProto.INT8, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.INT8, [1, 4, 8, 8])],
                              [numpy_helper.from_array(numpy.asarray(v), k) for k, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_stands_in_for_onnxruntime():
    onnx, onnxruntime = optional("onnx"), optional("onnxruntime")
    proto = small_onnx(onnx)
    options = kaiten.onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = kaiten.onnxruntime.InferenceSession(proto, options, providers=kaiten.onnxruntime.get_available_providers(), config=CONFIG)
    assert session.get_providers() == kaiten.onnxruntime.get_available_providers()
    theirs = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for ours, other in zip(session.get_inputs() + session.get_outputs(), theirs.get_inputs() + theirs.get_outputs()):
        assert (ours.name, ours.shape, ours.type) == (other.name, other.shape, other.type)
    x = numpy.random.default_rng(4).integers(-128, 128, (2, 3, 8, 8)).astype("int8")
    result = session.run(None, {"x": x})[0]
    numpy.testing.assert_array_equal(result, numpy.concatenate([theirs.run(["y"], {"x": x[i:i + 1]})[0] for i in range(2)]))
    with pytest.raises(kaiten.InputError, match="no output"):
        session.run(["z"], {"x": x})

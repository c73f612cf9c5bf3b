# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Images as inputs, against arrays that NumPy makes of the same pixels."""
import importlib
import os

import numpy
import pytest

import kaiten

SCALE, ZERO = 0.02, 0  # of the colour model's input
SIDE = 8


@pytest.fixture
def digit(images):
    """The seventh image of the demo as pixels."""
    return (images[7, :, :, 0].astype("int16") + 128).astype("uint8")


def colour_model(**properties):
    """One convolution over 8 x 8 x 3, ONNX, with metadata_props."""
    if os.environ.get("CI") != "true":
        pytest.importorskip("onnx")
    onnx = importlib.import_module("onnx")
    helper, constant = onnx.helper, lambda name, x: onnx.numpy_helper.from_array(numpy.asarray(x), name)
    weights = numpy.random.default_rng(1).integers(-99, 99, (10, 3, SIDE, SIDE)).astype("int8")
    node = helper.make_node("QLinearConv", ["image", "s", "z", "w", "sw", "zw", "so", "zo"], ["scores"])
    value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.INT8, shape)
    constants = [constant("w", weights), constant("s", numpy.float32(SCALE)), constant("sw", numpy.float32(.01)),
                 constant("so", numpy.float32(.3)), *(constant(n, numpy.int8(ZERO)) for n in ("z", "zw", "zo"))]
    graph = helper.make_graph([node], "net", [value("image", [1, 3, SIDE, SIDE])], [value("scores", [1, 10, 1, 1])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, properties)
    return kaiten.load(model)


def stored(pixels, mean, scale, order=(0, 1, 2)):
    """1 x 3 x H x W as the colour model takes it."""
    real = (pixels.astype("float64") - mean) * scale / numpy.float32(SCALE)
    rounded = numpy.sign(real) * numpy.floor(numpy.abs(real) + 0.5) + ZERO
    return numpy.clip(rounded, -128, 127).astype("int8")[..., order].transpose(2, 0, 1)[None]


def photo():
    return numpy.random.default_rng(2).integers(0, 256, (SIDE, SIDE, 3)).astype("uint8")


def test_files_bytes_and_pixels_are_one(demo, images, digit, tmp_path):
    model = kaiten.load(demo)
    file = b"P5 32 32 255\n" + digit.tobytes()
    path = tmp_path / "digit.pgm"
    path.write_bytes(file)
    for source in (path, str(path), file, digit, digit[:, :, None], numpy.repeat(digit[:, :, None], 3, 2)):
        numpy.testing.assert_array_equal(model.image(source), images[7:8])
    assert model.run(model.image(path), config="nano").exact


def test_arguments_say_how_pixels_become_values(demo, digit):
    model = kaiten.load(demo)
    scale, zero = model.inputs[0].scales[0], model.inputs[0].zero_points[0]
    wanted = numpy.clip(numpy.round((digit / 255.0 - 0.25) * 0.5 / scale) + zero, -128, 127).astype("int8")
    numpy.testing.assert_array_equal(model.image(digit, mean=63.75, scale=0.5 / 255)[0, :, :, 0], wanted)
    tall = numpy.zeros((64, 32), "uint8")
    tall[16:48] = digit
    numpy.testing.assert_array_equal(model.image(tall)[0, :, :, 0], (digit.astype("int16") - 128).astype("int8"))
    assert (model.image(tall, fit="pad")[0, :, :4] == -128).all()


def test_the_models_metadata_says_the_rest():
    pixels = photo()
    model = colour_model(mean="100,110,120", std="70,60,50", names="['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']",
                         **{"Image.BitmapPixelFormat": "Bgr8"})
    mean, scale = numpy.array([120, 110, 100]), 1 / numpy.array([50, 60, 70])
    assert model.labels == list("abcdefghij")
    numpy.testing.assert_array_equal(model.image(pixels), stored(pixels, mean, scale, (2, 1, 0)))
    numpy.testing.assert_array_equal(model.image(pixels, channels="rgb"), stored(pixels, mean, scale))
    numpy.testing.assert_array_equal(model.image(pixels, mean=[1, 2, 3], scale=.01),
                                     stored(pixels, numpy.array([1, 2, 3]), .01, (2, 1, 0)))
    plain = (pixels.astype("int16") - 128).astype("int8").transpose(2, 0, 1)[None]
    numpy.testing.assert_array_equal(model.image(pixels, metadata=False), plain)
    assert colour_model().labels == []


def test_bad_images_are_one_line(demo, digit, tmp_path):
    model = kaiten.load(demo)
    calls = [lambda: model.image("/no/such.png"), lambda: model.image(tmp_path), lambda: model.image(b"GIF89a"),
             lambda: model.image(b"P5 32 32 255\n"), lambda: model.image(digit.astype("float32")),
             lambda: model.image(digit[None, None]), lambda: model.image(numpy.zeros((4, 4, 2), "uint8")),
             lambda: model.image(numpy.zeros((0, 4), "uint8")), lambda: model.image(digit, fit="squeeze"),
             lambda: model.image(digit, channels="yuv"), lambda: model.image(digit, mean=[1, 2]),
             lambda: model.image(digit, mean=[1, 2, 3]), lambda: model.image(digit, scale=0),
             lambda: model.image(digit, mean=float("nan")), lambda: model.image(digit, mean="120")]
    for call in calls:
        with pytest.raises(kaiten.InputError) as error:
            call()
        assert str(error.value) and "\n" not in str(error.value)
    with pytest.raises(kaiten.InputError, match="but GIF"):
        model.image(b"GIF89a")

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Kaiten, an INT8 CNN accelerator: models compiled for it and run on its simulator, NumPy arrays in and out.

>>> import kaiten, numpy
>>> model = kaiten.load(DEMO)
>>> model.inputs[0]
<Tensor 'serving_default_keras_tensor:0' int8 1x32x32x1>
>>> run = model.run(numpy.zeros((1, 32, 32, 1), "int8"), config="nano")
>>> run.exact, run.outputs[0].shape
(True, (1, 10))
>>> kaiten.load("no such file")
Traceback (most recent call last):
kaiten._kaiten.InputError: ...

kaiten.onnxruntime.InferenceSession and kaiten.litert.Interpreter stand in for the interpreters of these names."""
from ._kaiten import Board, DeviceError, InputError, Model, Result, Session, Tensor, configs, inspect, load

__all__ = ["Board", "DeviceError", "InputError", "Model", "Result", "Session", "Tensor", "configs", "inspect", "load"]

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""LiteRT's Interpreter on the simulated accelerator: the same calls, one more argument, `config`."""
from typing import Any, Callable, Optional, Sequence

import numpy

from ._kaiten import InputError, Result, Tensor, load


def _details(tensor: Tensor) -> dict:
    scales, zero_points = numpy.array(tensor.scales, "float32"), numpy.array(tensor.zero_points, "int32")
    single = (float(scales[0]), int(zero_points[0])) if len(scales) == 1 else (0.0, 0)
    shape = numpy.array(tensor.shape, "int32")
    return {"name": tensor.name, "index": tensor.index, "shape": shape, "shape_signature": shape,
            "dtype": numpy.dtype(tensor.dtype).type, "quantization": single, "sparsity_parameters": {},
            "quantization_parameters": {"scales": scales, "zero_points": zero_points,
                                        "quantized_dimension": tensor.quantized_dimension}}


class SignatureRunner:
    """A signature of a model as a function, from Interpreter.get_signature_runner().

    interpreter: whose model it is
    signature: `inputs` and `outputs`, indices of tensors by name
    """

    def __init__(self, interpreter: "Interpreter", signature: dict):
        self._interpreter = interpreter
        self._inputs: dict[str, int] = signature["inputs"]
        self._outputs: dict[str, int] = signature["outputs"]

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        """Runs the model; the outputs by their names.

        inputs: an array of its type and shape for each name of an input
        """
        if len(inputs) != len(self._inputs):
            raise InputError(f"the signature takes {len(self._inputs)} inputs ({', '.join(self._inputs)}), found: {len(inputs)}")
        for name, value in inputs.items():
            if name not in self._inputs:
                raise InputError(f"the signature has no input '{name}': it takes {', '.join(self._inputs)}")
            self._interpreter.resize_tensor_input(self._inputs[name], numpy.shape(value))
        for name, value in inputs.items():
            self._interpreter.set_tensor(self._inputs[name], value)
        self._interpreter.invoke()
        return {name: self._interpreter.get_tensor(index) for name, index in self._outputs.items()}

    def get_input_details(self) -> dict[str, dict]:
        """What Interpreter.get_input_details() has of each input, by its name."""
        details = {d["index"]: d for d in self._interpreter.get_tensor_details()}
        return {name: details[index] for name, index in self._inputs.items()}

    def get_output_details(self) -> dict[str, dict]:
        """What Interpreter.get_output_details() has of each output, by its name."""
        details = {d["index"]: d for d in self._interpreter.get_tensor_details()}
        return {name: details[index] for name, index in self._outputs.items()}


class Interpreter:
    """Inputs and outputs alone have values here. The last run is `result`.

    model_path: the model's file; or
    model_content: its bytes
    config: the configuration to run on
    _: further arguments of LiteRT's are taken and mean nothing
    """

    def __init__(self, model_path: Any = None, model_content: Optional[bytes] = None, *, config: str = "base", **_: Any):
        if (model_path is None) == (model_content is None):
            raise InputError("Interpreter takes model_path or model_content, one of them")
        self._model = load(model_content if model_path is None else model_path)
        self._config = config
        self._session: Any = None
        self._values: dict[int, Any] = {}
        self.result: Optional[Result] = None

    def get_input_details(self) -> list[dict]:
        """A dictionary an input, with the keys of LiteRT."""
        return [_details(t) for t in self._model.inputs]

    def get_output_details(self) -> list[dict]:
        """A dictionary an output, with the keys of LiteRT."""
        return [_details(t) for t in self._model.outputs]

    def allocate_tensors(self) -> None:
        """Compiles the model; invoke() does so where that has not been done."""
        if self._session is None:
            self._session = self._model.compile(self._config)

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Sets an input.

        tensor_index: its `index`, from get_input_details()
        value: an array of its type and shape
        """
        if tensor_index not in [t.index for t in self._model.inputs]:
            raise InputError(f"tensor {tensor_index} is no input")
        self._values[tensor_index] = numpy.array(value)

    def invoke(self) -> None:
        """Runs the model on the simulated accelerator, every tensor compared with the reference."""
        self.allocate_tensors()
        missing = [t.name for t in self._model.inputs if t.index not in self._values]
        if missing:
            raise InputError(f"input '{missing[0]}' was not set")
        self.result = self._session.run([self._values[t.index] for t in self._model.inputs])

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> Any:
        """The value of an input or, after invoke(), of an output.

        tensor_index: its `index`
        subgraph_index: means nothing
        """
        if self.result is not None:
            for tensor, value in zip(self._model.outputs, self.result.outputs):
                if tensor.index == tensor_index:
                    return value
        if tensor_index in self._values:
            return self._values[tensor_index]
        raise InputError(f"tensor {tensor_index} has no value: inputs have one when set, outputs after invoke()")

    def get_tensor_details(self) -> list[dict]:
        """A dictionary a tensor that has values here: inputs, then outputs."""
        return self.get_input_details() + self.get_output_details()

    def tensor(self, tensor_index: int) -> Callable[[], Any]:
        """A function that gives what get_tensor() gives when it is called, a copy of it.

        tensor_index: its `index`
        """
        return lambda: self.get_tensor(tensor_index)

    def get_signature_list(self) -> dict[str, dict]:
        """Names of inputs and outputs of each signature: {key: {"inputs": [...], "outputs": [...]}}."""
        return {key: {"inputs": list(s["inputs"]), "outputs": list(s["outputs"])} for key, s in self._model.signatures.items()}

    def get_signature_runner(self, signature_key: Optional[str] = None) -> SignatureRunner:
        """A function that runs a signature.

        signature_key: its key; without it the only one
        """
        signatures = self._model.signatures
        if signature_key is None:
            if len(signatures) != 1:
                raise InputError(f"signature_key: limit: None for models of one signature, found: {len(signatures)}")
            signature_key = next(iter(signatures))
        if signature_key not in signatures:
            raise InputError(f"no signature '{signature_key}'; there are: {', '.join(signatures) or 'none'}")
        return SignatureRunner(self, signatures[signature_key])

    def resize_tensor_input(self, input_index: int, tensor_size: Sequence[int], strict: bool = False) -> None:
        """Takes the shape that the input has and refuses others: programs are compiled for the model's shapes.

        input_index: its `index`
        tensor_size: the shape
        strict: means nothing
        """
        shapes = {t.index: list(t.shape) for t in self._model.inputs}
        if input_index not in shapes:
            raise InputError(f"tensor {input_index} is no input")
        size = [int(n) for n in tensor_size]
        if size != shapes[input_index]:
            raise InputError(f"tensor {input_index}: limit: the model's shape {shapes[input_index]}, found: {size}")

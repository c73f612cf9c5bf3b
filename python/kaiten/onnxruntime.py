# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime.InferenceSession on the simulated accelerator: the same calls, one more argument, `config`."""
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from ._kaiten import InputError, Result, Tensor, load

_TYPES = {"float32": "float"}  # ONNX's names where they are not NumPy's


@dataclass(frozen=True)
class NodeArg:
    name: str
    shape: list[int]
    type: str

    @classmethod
    def of(cls, tensor: Tensor) -> "NodeArg":
        return cls(tensor.name, list(tensor.shape), f"tensor({_TYPES.get(tensor.dtype, tensor.dtype)})")


class InferenceSession:
    """`sess_options`, `providers` and `provider_options` are taken and mean nothing here. The last run is `result`."""

    def __init__(self, path_or_bytes: Any, sess_options: Any = None, providers: Any = None, provider_options: Any = None,
                 *, config: str = "base"):
        self._model = load(path_or_bytes)
        self._config = config
        self._sessions: dict[int, Any] = {}
        self.result: Optional[Result] = None

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg.of(t) for t in self._model.inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg.of(t) for t in self._model.outputs]

    def get_providers(self) -> list[str]:
        return ["KaitenExecutionProvider"]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any], run_options: Any = None) -> list:
        names = [t.name for t in self._model.outputs]
        for name in output_names or []:
            if name not in names:
                raise InputError(f"no output '{name}', the model has {', '.join(names)}")
        first = self._model.inputs[0]
        shape = getattr(input_feed.get(first.name), "shape", ())
        batch = shape[0] if shape and first.shape[0] == 1 else 1
        if batch not in self._sessions:
            self._sessions[batch] = self._model.compile(self._config, batch=batch)
        self.result = self._sessions[batch].run(dict(input_feed))
        values = dict(zip(names, self.result.outputs))
        return [values[name] for name in output_names or names]

# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime.InferenceSession on the simulated accelerator: the same calls, one more argument, `config`."""
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from ._kaiten import InputError, Result, Tensor, load

class SessionOptions:
    """Takes any attribute; none means anything here."""


class RunOptions(SessionOptions):
    """Likewise."""


def get_available_providers() -> list[str]:
    """The one that there is."""
    return ["KaitenExecutionProvider"]


def get_device() -> str:
    """The name of the device."""
    return "KAITEN"


_TYPES = {"float32": "float"}  # ONNX's names where they are not NumPy's


@dataclass(frozen=True)
class NodeArg:
    """An input or output, as onnxruntime tells of it.

    name: of the tensor
    shape: of the tensor
    type: such as 'tensor(int8)'
    """
    name: str
    shape: list[int]
    type: str

    @classmethod
    def of(cls, tensor: Tensor) -> "NodeArg":
        """The same of a Tensor.

        tensor: an input or output of a Model
        """
        return cls(tensor.name, list(tensor.shape), f"tensor({_TYPES.get(tensor.dtype, tensor.dtype)})")


class InferenceSession:
    """A model compiled at its first run. The last run is `result`.

    path_or_bytes: as load() takes it
    sess_options: means nothing here
    providers: means nothing here
    provider_options: means nothing here
    config: the configuration to run on
    """

    def __init__(self, path_or_bytes: Any, sess_options: Any = None, providers: Any = None, provider_options: Any = None,
                 *, config: str = "base"):
        self._model = load(path_or_bytes)
        self._config = config
        self._sessions: dict[int, Any] = {}
        self.result: Optional[Result] = None

    def get_inputs(self) -> list[NodeArg]:
        """Name, shape and type of each input."""
        return [NodeArg.of(t) for t in self._model.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """Name, shape and type of each output."""
        return [NodeArg.of(t) for t in self._model.outputs]

    def get_providers(self) -> list[str]:
        """The name of this one."""
        return get_available_providers()

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any], run_options: Any = None) -> list:
        """Runs the model on the simulated accelerator, every tensor compared with the reference.

        output_names: the outputs to give; None: all
        input_feed: an array an input, by name
        run_options: means nothing here
        """
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

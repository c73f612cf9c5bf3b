# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Models compiled for the accelerator and run on its simulator."""



class InputError(ValueError):
    """
    What was given is wrong: a file, an argument, an array. The message is one line: what, where, the limit, the value.
    """

class DeviceError(RuntimeError):
    """
    The simulated hardware reports an error, or a limit inside the tool was hit. The message is one line.
    """

class Tensor:
    """An input or output of a model, as its user sees it."""

    @property
    def name(self) -> str:
        """as the model's file calls it"""

    @property
    def dtype(self) -> str:
        """NumPy's name of the type: 'int8', 'uint8', 'int32', 'int64', 'float32'"""

    @property
    def shape(self) -> tuple:
        """in the model's own layout"""

    @property
    def index(self) -> int:
        """number of the tensor, that of a TensorFlow Lite file"""

    @property
    def scales(self) -> list[float]:
        """real = scale * (stored - zero_point); empty where not quantised"""

    @property
    def zero_points(self) -> list[int]:
        """one a scale"""

    @property
    def quantized_dimension(self) -> int:
        """along which scales differ"""

    def __repr__(self) -> str: ...

class Result:
    """What a run on the simulated accelerator gave."""

    @property
    def outputs(self) -> list:
        """arrays in the order of Model.outputs"""

    @property
    def exact(self) -> bool | None:
        """every tensor equals the reference; None where it was not checked"""

    @property
    def cycles(self) -> int:
        """from the first command to the last result"""

    @property
    def layers(self) -> object:
        """a dictionary a layer, with the keys of `kaiten run --json`"""

    @property
    def report(self) -> object:
        """all of `kaiten run --json`"""

    @property
    def trace(self) -> object:
        """trace events for ui.perfetto.dev, with trace=True"""

    def table(self) -> object:
        """
        layers as a pandas.DataFrame, or as they are where pandas is not installed
        """

    def __str__(self) -> str: ...

class Board:
    """A model on an accelerator that exists: from Model.board()."""

    @property
    def config(self) -> str:
        """that the device's registers tell; 'custom': none of ours"""

    @property
    def modelled_cycles(self) -> int:
        """of a run, by the cycle model"""

    @property
    def memory_bytes(self) -> int:
        """that the model takes in the device's memory"""

    def run(self, inputs: object, *, check: bool = False) -> dict:
        """
        A dictionary: outputs, exact, cycles, array_busy, bytes_read, bytes_written, seconds.

        inputs: as Model.run() takes them, `batch` images
        check: compare the outputs with the reference executor's: `exact`, else None
        """

class Session:
    """A compiled model and the simulator that runs it."""

    def run(self, inputs: object, *, check: bool = True, trace: bool = False) -> Result:
        """
        Runs a batch of the size that the session was compiled for.

        inputs: as Model.run() takes them
        check: compare every tensor with the reference
        trace: record the queues, for Result.trace
        """

class Model:
    """A model that can be compiled: from load()."""

    @property
    def name(self) -> str:
        """of the file, without folder and ending"""

    @property
    def inputs(self) -> list[Tensor]:
        """what run() takes, in this order"""

    @property
    def outputs(self) -> list[Tensor]:
        """what Result.outputs holds, in this order"""

    @property
    def macs(self) -> int:
        """multiply-accumulates of one image"""

    @property
    def notes(self) -> list[str]:
        """where results may differ from the model's own arithmetic"""

    @property
    def signatures(self) -> dict:
        """
        of a TensorFlow Lite file: a dictionary of `inputs` and `outputs`, indices by name, a key
        """

    @property
    def labels(self) -> list[str]:
        """names of the classes, from the model's metadata"""

    def image(self, source: object, *, mean: object | None = None, scale: object | None = None, channels: str = '', fit: str = 'crop', metadata: bool = True) -> object:
        """
        One image as the model's input: an array that run() takes.

        source: a path, the bytes of a PNG, JPEG, BMP, PGM or PPM file, or uint8 pixels, height x width, or height x width x 1 or 3
        mean: real value = (pixel - mean) * scale; one number, or one each for red, green and blue
        scale: see mean; without both what the model's metadata says, else pixel - 128 as stored value
        channels: order of the input's colours, 'rgb' or 'bgr'; empty: the model's metadata, else red, green, blue
        fit: of images of other proportions than the input's: 'crop', 'stretch' or 'pad'
        metadata: take what the arguments leave open from the model's metadata
        """

    def inspect(self, config: str = 'base') -> dict:
        """
        Layers and where they run (`layers`), why the model cannot (`reasons`), both as text (`text`).

        config: the configuration that the layers are to run on
        """

    def compile(self, config: str = 'base', calibration: object | None = None, **options) -> Session:
        """
        Compiles the model once, for any number of runs.

        config: the configuration to compile for
        calibration: inputs as run() takes them, by which compress='auto' chooses maps
        batch: images of a run
        rounding: 'litert', the answers of LiteRT's reference kernels, or 'tflm', tflite-micro's
        compress: of maps and weights on their way through memory: 'off', 'on' or 'auto', what becomes smaller
        keep_weights: further runs find the weights that fit on chip there
        latency: of the memory, cycles
        bytes_per_cycle: bandwidth of the memory, both directions together; 0: no limit; None: the width of the bus
        stall: percent of the cycles in which a channel of the bus stalls
        seed: of the stalls
        clock: of the accelerator, MHz: the report has milliseconds and frames/s, too
        """

    def run(self, inputs: object, config: str = 'base', check: bool = True, trace: bool = False, **options) -> Result:
        """
        Compiles the model for as many images as are given, runs them, compares every tensor with the reference.

        inputs: an array, a list in the order of `inputs`, or a dictionary by name; images along the first dimension
        config: the configuration to run on
        check: compare every tensor with the reference
        trace: record the queues, for Result.trace
        rounding: 'litert', the answers of LiteRT's reference kernels, or 'tflm', tflite-micro's
        compress: of maps and weights on their way through memory: 'off', 'on' or 'auto', what becomes smaller
        keep_weights: further runs find the weights that fit on chip there
        latency: of the memory, cycles
        bytes_per_cycle: bandwidth of the memory, both directions together; 0: no limit; None: the width of the bus
        stall: percent of the cycles in which a channel of the bus stalls
        seed: of the stalls
        clock: of the accelerator, MHz: the report has milliseconds and frames/s, too
        """

    def board(self, device: str, *, batch: int = 1) -> Board:
        """
        The model on an accelerator of this machine's board, or on a simulated one in another process.

        device: 'uio0,udmabuf0', registers and interrupt by UIO, memory by u-dma-buf; or 'bridge:FOLDER' of a `kaiten bridge FOLDER`
        batch: images of a run

        Raises InputError where the device cannot be opened or the model does not fit, DeviceError where it is no Kaiten.
        """

    def reference(self, inputs: object, *, rounding: str = 'litert') -> list:
        """
        Outputs as the reference executor computes them.

        inputs: as run() takes them
        rounding: 'litert' or 'tflm', as compile() takes it
        """

    def reference_tensors(self, inputs: object, *, rounding: str = 'litert') -> dict:
        """
        Every tensor as the reference executor computes it, by name.

        inputs: as run() takes them
        rounding: 'litert' or 'tflm', as compile() takes it
        """

    def plan(self, *, capacity: int = 0, config: str = '', method: str = 'optimal', closure: str = 'rolling', batch: int = 1) -> object:
        """
        Which layers share the chip so that least traffic leaves it: a dictionary with the keys of `kaiten plan --json`.

        capacity: bytes on chip, for the analytic plan; or
        config: the configuration to plan for
        method: 'optimal', 'per-layer', 'greedy', 'residual', 'layer-fusion' or 'bound'
        closure: rows that a span keeps in the analytic plan: 'rolling' or 'paper'
        batch: images that share a span's weights
        """

    def compress(self, inputs: object, *, codec: str = 'zvc') -> object:
        """
        How much smaller the activations of one image and the weights become: a dictionary with the keys of `kaiten compress --json`.

        inputs: one image, as run() takes it
        codec: 'zvc', 'rle', 'zlib', 'lz4' or 'zstd'
        """

    def __repr__(self) -> str: ...

def load(source: object, *, until: str = '') -> Model:
    """
    A TensorFlow Lite or ONNX model that can be compiled.

    source: a path, the bytes of a file, or an onnx.ModelProto
    until: name of a tensor to end at; empty: the whole network

    Raises InputError for a damaged file and for a model that cannot run.
    """

def inspect(source: object, config: str = 'base') -> dict:
    """
    As Model.inspect(), also of what cannot be loaded: every reason.

    source: as load() takes it
    config: the configuration that the layers are to run on
    """

def configs() -> list[str]:
    """
    Configurations that this build simulates, the names that `config` takes.
    """

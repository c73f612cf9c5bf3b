// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What Python's help() says of functions: what it does, then a line an argument. scripts/python_reference.py makes pages of
// it and refuses an argument that is not told.
#ifndef KAITEN_PYTHON_DOCSTRINGS_H
#define KAITEN_PYTHON_DOCSTRINGS_H

namespace kaiten::python::docs {

inline constexpr const char* kModule = "Models compiled for the accelerator and run on its simulator.";

inline constexpr const char* kInputError =
    "What was given is wrong: a file, an argument, an array. The message is one line: what, where, the "
    "limit, "
    "the value.";
inline constexpr const char* kDeviceError =
    "The simulated hardware reports an error, or a limit inside the tool was hit. The message is one line.";

inline constexpr const char* kLoad = R"(A TensorFlow Lite or ONNX model that can be compiled.

source: a path, the bytes of a file, or an onnx.ModelProto
until: name of a tensor to end at; empty: the whole network

Raises InputError for a damaged file and for a model that cannot run.)";

inline constexpr const char* kInspect = R"(As Model.inspect(), also of what cannot be loaded: every reason.

source: as load() takes it
config: the configuration that the layers are to run on)";

inline constexpr const char* kConfigs =
    "Configurations that this build simulates, the names that `config` takes.";

inline constexpr const char* kImage = R"(One image as the model's input: an array that run() takes.

source: a path, the bytes of a PNG, JPEG, BMP, PGM or PPM file, or uint8 pixels, height x width, or height x width x 1 or 3
mean: real value = (pixel - mean) * scale; one number, or one each for red, green and blue
scale: see mean; without both what the model's metadata says, else pixel - 128 as stored value
channels: order of the input's colours, 'rgb' or 'bgr'; empty: the model's metadata, else red, green, blue
fit: of images of other proportions than the input's: 'crop', 'stretch' or 'pad'
metadata: take what the arguments leave open from the model's metadata)";

inline constexpr const char* kBoard =
    R"(The model on an accelerator of this machine's board, or on a simulated one in another process.

device: 'uio0,udmabuf0', registers and interrupt by UIO, memory by u-dma-buf; or 'bridge:FOLDER' of a `kaiten bridge FOLDER`
batch: images of a run

Raises InputError where the device cannot be opened or the model does not fit, DeviceError where it is no Kaiten.)";

inline constexpr const char* kBoardRun =
    R"(A dictionary: outputs, exact, cycles, array_busy, bytes_read, bytes_written, seconds.

inputs: as Model.run() takes them, `batch` images
check: compare the outputs with the reference executor's: `exact`, else None)";

inline constexpr const char* kModelInspect =
    R"(Layers and where they run (`layers`), why the model cannot (`reasons`), both as text (`text`).

config: the configuration that the layers are to run on)";

#define KAITEN_COMPILE_OPTIONS                                                                               \
  "rounding: 'litert', the answers of LiteRT's reference kernels, or 'tflm', tflite-micro's\n"               \
  "compress: of maps and weights on their way through memory: 'off', 'on' or 'auto', what becomes smaller\n" \
  "keep_weights: further runs find the weights that fit on chip there\n"                                     \
  "latency: of the memory, cycles\n"                                                                         \
  "bytes_per_cycle: bandwidth of the memory, both directions together; 0: no limit; None: the width of the " \
  "bus\n"                                                                                                    \
  "stall: percent of the cycles in which a channel of the bus stalls\n"                                      \
  "seed: of the stalls\n"                                                                                    \
  "clock: of the accelerator, MHz: the report has milliseconds and frames/s, too"

inline constexpr const char* kCompile =
    "Compiles the model once, for any number of runs.\n\n"
    "config: the configuration to compile for\n"
    "calibration: inputs as run() takes them, by which compress='auto' chooses maps\n"
    "batch: images of a run\n" KAITEN_COMPILE_OPTIONS;

inline constexpr const char* kModelRun =
    "Compiles the model for as many images as are given, runs them, compares every tensor with the "
    "reference.\n\n"
    "inputs: an array, a list in the order of `inputs`, or a dictionary by name; images along the first "
    "dimension\n"
    "config: the configuration to run on\n"
    "check: compare every tensor with the reference\n"
    "trace: record the queues, for Result.trace\n" KAITEN_COMPILE_OPTIONS;

#undef KAITEN_COMPILE_OPTIONS

inline constexpr const char* kSessionRun =
    R"(Runs a batch of the size that the session was compiled for.

inputs: as Model.run() takes them
check: compare every tensor with the reference
trace: record the queues, for Result.trace)";

inline constexpr const char* kReference = R"(Outputs as the reference executor computes them.

inputs: as run() takes them
rounding: 'litert' or 'tflm', as compile() takes it)";

inline constexpr const char* kReferenceTensors =
    R"(Every tensor as the reference executor computes it, by name.

inputs: as run() takes them
rounding: 'litert' or 'tflm', as compile() takes it)";

inline constexpr const char* kPlan =
    R"(Which layers share the chip so that least traffic leaves it: a dictionary with the keys of `kaiten plan --json`.

capacity: bytes on chip, for the analytic plan; or
config: the configuration to plan for
method: 'optimal', 'per-layer', 'greedy', 'residual', 'layer-fusion' or 'bound'
closure: rows that a span keeps in the analytic plan: 'rolling' or 'paper'
batch: images that share a span's weights)";

inline constexpr const char* kCompress =
    R"(How much smaller the activations of one image and the weights become: a dictionary with the keys of `kaiten compress --json`.

inputs: one image, as run() takes it
codec: 'zvc', 'rle', 'zlib', 'lz4' or 'zstd')";

}  // namespace kaiten::python::docs

#endif  // KAITEN_PYTHON_DOCSTRINGS_H

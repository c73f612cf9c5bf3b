// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Everything a program needs that loads models and runs them on the simulated accelerator; examples/ shows
/// how. Planning, codecs and FFT convolutions have headers of their own: few programs need both.
///
/// @mainpage Kaiten for C++ programs
/// `find_package(kaiten)` gives the target `kaiten::kaiten`: C++20, headers in `<kaiten/...>`.
/// @code
/// #include <kaiten/kaiten.h>
///
/// kaiten::Session session(kaiten::require_graph(kaiten::import_file("model.tflite")), {.config = "nano"});
/// const std::vector<char> image = ...;  // the model's own type and order of bytes
/// const kaiten::RunResult run = session.run(kaiten::raw_inputs(session.graph(), image));
/// std::cout << kaiten::to_text(run.report, 0);
/// @endcode
///
/// | to | include |
/// |---|---|
/// | load models and run them on the simulated accelerator | kaiten.h |
/// | run models on a board, or behind a bridge | board/board.h |
/// | plan off-chip traffic of tables and models | plan/table.h or plan/from_graph.h, then plan/methods.h |
/// | price plans in energy and chips | plan/energy.h, plan/stap.h |
/// | compress buffers of quantised values | codec/codec.h, codec/copy.h |
/// | read and write the accelerator's own compressed maps | codec/zvc_map.h |
/// | convolve by Fourier transform | fft/convolution.h; exactly, of integers: fft/exact.h |
/// | serve queries by SubNets of one SuperNet | serve/table.h, then serve/server.h |
/// | address registers and counters of a device | device/csr.h |
///
/// Errors: InputError for what the caller gave, DeviceError for what the device reports (base/error.h); the
/// FFT library throws std::invalid_argument and fft::OutOfMemory. Threads: functions are thread-safe as long as
/// no thread writes to their arguments meanwhile; each class says what holds for it; structures are plain values.
#ifndef KAITEN_KAITEN_H
#define KAITEN_KAITEN_H

#include "base/error.h"
#include "graph/graph.h"
#include "import/import.h"
#include "import/signatures.h"
#include "report/run_report.h"
#include "run/analysis.h"
#include "run/image_input.h"
#include "run/session.h"

#endif  // KAITEN_KAITEN_H

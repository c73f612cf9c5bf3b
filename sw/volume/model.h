// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Time of layers: the work that fft/work.h counts, times seconds a unit of it that a short calibration measures on this
// machine. Seconds are processor time over threads: what the layer takes on a machine that does nothing else.
#ifndef KAITEN_VOLUME_MODEL_H
#define KAITEN_VOLUME_MODEL_H

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fft/workers.h"
#include "volume/int8_evaluate.h"
#include "volume/plan.h"

namespace kaiten::volume {

// What the search chooses among in float32.
constexpr std::array kMethods = {fft::Method::Blocked, fft::Method::DataParallel, fft::Method::TaskParallel,
                                 fft::Method::Patches};

std::span<const fft::Method> methods_of(Numbers numbers);

// Seconds a unit of each kind of work, at least 0.
struct Rates {
  double image_pass = 0, kernel_pass = 0, product = 0, multiply = 0;
  double voxel = 0;  // read and written: images and results
};

struct Calibration {
  int threads = 1;
  Numbers numbers = Numbers::kFloat32;
  std::array<Rates, kMethods.size()> methods;  // in the order of methods_of(numbers)
  double pooled_voxel = 0;                     // seconds a voxel that a window reads
  double joined_voxel = 0;  // seconds a voxel of what enters a layer, put together with a kept halo
};

// Some seconds. Calls `tick` between measurements, which may throw.
Calibration calibrate(Numbers numbers, fft::Workers& workers, const std::function<void()>& tick);
std::string text_of(const Calibration& calibration);  // JSON
// Throws InputError for anything text_of() does not write.
Calibration parse_calibration(std::string_view text, const std::string& file);

// Seconds of one run.
double layer_seconds(const Calibration& calibration, const Layer& layer, const Choice& choice,
                     const Maps& in);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_MODEL_H

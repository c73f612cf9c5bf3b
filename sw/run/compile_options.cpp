// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/compile_options.h"

namespace kaiten {

CompileOptions compile_options(const SessionOptions& session) {
  CompileOptions options;
  options.rounding = session.rounding;
  options.block_pixels = session.block_pixels;
  options.images = session.batch;
  options.keep_on_chip = !session.spill;
  options.optimise = session.optimise;
  options.compress = session.compress;
  options.cancellation_check = session.cancellation_check;
  return options;
}

}  // namespace kaiten

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How the options of a session reach the compiler.
#ifndef KAITEN_RUN_COMPILE_OPTIONS_H
#define KAITEN_RUN_COMPILE_OPTIONS_H

#include "compile/compiler.h"
#include "run/session.h"

namespace kaiten {

// Without the values of `calibration`, which only the reference executor can compute.
CompileOptions compile_options(const SessionOptions& session);

}  // namespace kaiten

#endif  // KAITEN_RUN_COMPILE_OPTIONS_H

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Everything a program needs that loads models and runs them on the simulated accelerator; examples/ shows
/// how.
#ifndef KAITEN_KAITEN_H
#define KAITEN_KAITEN_H

#include "base/error.h"
#include "graph/graph.h"
#include "import/import.h"
#include "report/run_report.h"
#include "run/session.h"

#endif  // KAITEN_KAITEN_H

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What is compared (docs/compiler/planning.md, "Methods"): every method under the same rules of bytes.
#ifndef KAITEN_PLAN_METHODS_H
#define KAITEN_PLAN_METHODS_H

#include <optional>
#include <string_view>

#include "plan/partition.h"

namespace kaiten::plan {

/// Ways to divide a network into spans.
enum class MethodKind : std::uint8_t { kOptimal, kPerLayer, kGreedy, kResidual, kLayerFusion, kBound };

/// All of them.
constexpr MethodKind kMethodKinds[] = {MethodKind::kOptimal,  MethodKind::kPerLayer,    MethodKind::kGreedy,
                                       MethodKind::kResidual, MethodKind::kLayerFusion, MethodKind::kBound};

std::string_view name_of(MethodKind kind);  ///< as the command line calls it
/// The inverse of name_of(); nothing for other names.
std::optional<MethodKind> method_of(std::string_view name);

/// Analytic mode. Throws InputError when a layer does not fit alone.
Method run_method(MethodKind kind, const Dataflow& dataflow, const PaperOptions& options);

/// Cuts that cross no edge but the one of the boundary itself: where residual blocks and modules begin and
/// end. Element m is true where a cut after layer m - 1 is one.
std::vector<bool> clean_cuts(const Dataflow& dataflow);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_METHODS_H

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// `kaiten run --draw`: what the network found, drawn into its input image.
#ifndef KAITEN_CLI_DRAWING_H
#define KAITEN_CLI_DRAWING_H

#include <boost/program_options.hpp>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "draw/findings.h"
#include "run/image_input.h"

namespace kaiten::cli {

// --draw, --draw-as, --threshold, --anchors.
void add_draw_options(boost::program_options::options_description& all);
// Throws InputError for values that are none.
draw::FindOptions draw_options(const boost::program_options::variables_map& values);

// What the outputs for this image say, in its pixels. Throws InputError where they have nothing to draw.
draw::Findings findings_in(const Graph& graph, const Image& image, Fit fit,
                           const std::vector<Int8Values>& outputs, const draw::FindOptions& options);
// For the report.
nlohmann::ordered_json json_of(const draw::Findings& findings);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_DRAWING_H

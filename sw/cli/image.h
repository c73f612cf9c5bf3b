// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The options of images as inputs: --mean, --scale, --channels, --fit, --no-metadata.
#ifndef KAITEN_CLI_IMAGE_H
#define KAITEN_CLI_IMAGE_H

#include <boost/program_options.hpp>

#include "run/image_input.h"

namespace kaiten::cli {

void add_image_options(boost::program_options::options_description& all);
// Throws InputError for values that are none.
ImageRule image_rule(const boost::program_options::variables_map& values);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_IMAGE_H

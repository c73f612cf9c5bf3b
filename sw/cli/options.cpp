// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/options.h"

#include <iostream>

namespace kaiten::cli {

namespace po = boost::program_options;

bool read_options(const Arguments& arguments, const po::options_description& all, const std::string& first,
                  const std::string& usage, po::variables_map& values, const std::string& ending) {
  po::positional_options_description positional;
  if (!first.empty()) positional.add(first.c_str(), 1);
  po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), values);
  if (values.count("help") != 0) {
    std::cout << usage << "\n" << all << ending;
    return false;
  }
  po::notify(values);
  return true;
}

}  // namespace kaiten::cli

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kaiten-generate: writes a quantised network of random weights as a TensorFlow Lite file and says how alive
// its activations are under the image that `kaiten run` takes with the same seed.
#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>

#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "generate/networks.h"
#include "generate/random_network.h"
#include "generate/statistics.h"
#include "import/import.h"
#include "reference/reference.h"

namespace po = boost::program_options;
using namespace kaiten;

namespace {

constexpr int kUsualSize = 224;

int generate_file(int argc, char** argv) {
  std::string network;
  std::string output;
  int size = 0;
  int zeros = 0;
  int64_t seed = 0;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("network", po::value(&network)->value_name("NETWORK"), "which one (also as first argument)");
  add("output", po::value(&output)->value_name("FILE"), "the model file; without it NETWORK.tflite");
  add("size", po::value(&size)->value_name("PIXELS")->default_value(kUsualSize),
      "rows and columns of the image");
  add("zeros", po::value(&zeros)->value_name("PERCENT")->default_value(zeros),
      "of the weights are zero, as in a pruned network");
  add("seed", po::value(&seed)->value_name("N")->default_value(1), "of weights, scales and image");
  po::positional_options_description positional;
  positional.add("network", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), values);
  po::notify(values);
  if (values.count("help") != 0) {
    std::cout << "usage: kaiten-generate NETWORK [OPTIONS]\nWrites a quantised network of random weights. "
                 "Networks:";
    for (const std::string_view name : generate::network_names()) std::cout << " " << name;
    std::cout << "\nand SubNets: ofa-resnet50/RA to RF, or ofa-resnet50/DEPTH:WIDTH:EXPAND; "
                 "ofa-mobilenetv3/MA to MG, "
                 "or ofa-mobilenetv3/DEPTH:EXPAND:KERNELS\n\n"
              << all;
    return 0;
  }
  if (seed < 0) throw InputError("--seed: expected 0 or more, found " + std::to_string(seed));
  if (network.empty()) throw InputError("which network? (see --help)");
  if (values.count("output") == 0) {
    output = network + ".tflite";
    std::replace(output.begin(), output.end(), '/', '_');
  }
  require_writable(output);

  const std::vector<uint8_t> file = generate::make_network(network, size, uint64_t(seed), zeros);
  const Graph graph = require_graph(import_tflite(file, network));
  const std::vector<Int8Values> inputs = {generate::random_image(size, uint64_t(seed))};
  const std::string statistics = generate::to_text(generate::statistics(graph, run_reference(graph, inputs)));
  write_output(output, file);
  if (output != kStandardOutput)
    std::cout << statistics << printable(output) << ": " << file.size() << " bytes, " << macs(graph)
              << " MACs\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return generate_file(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "kaiten-generate: " << printable(e.what()) << "\n";
    return 2;
  }
}

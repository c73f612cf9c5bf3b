// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Loads a model, runs it on the simulated accelerator and prints the best classes.
#include <kaiten/kaiten.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: classify MODEL INPUT    (the input's values in the model's own type and layout)\n";
    return 2;
  }
  try {
    kaiten::Session session(kaiten::require_graph(kaiten::import_file(argv[1])), {.config = "nano"});
    std::ifstream file(argv[2], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const kaiten::RunResult run = session.run(kaiten::raw_inputs(session.graph(), bytes));
    for (const kaiten::OutputReport& output : run.report.outputs) {
      for (const auto& best : output.top5) std::cout << "class " << best.index << ": " << best.value << "\n";
    }
    std::cout << run.report.cycles << " cycles, "
              << (*run.report.exact ? "every tensor exact\n" : "not exact\n");
    return *run.report.exact ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "classify: " << error.what() << "\n";
    return 2;
  }
}

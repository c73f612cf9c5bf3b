// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/model_run.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/interrupt.h"
#include "reference/reference.h"
#include "run/compile_options.h"

namespace kaiten::cli {

namespace po = boost::program_options;

ModelRunOptions::ModelRunOptions(po::options_description& all) {
  auto add = all.add_options();
  add("no-check", po::bool_switch(&no_check), "do not compare with the reference");
  add("batch", po::value(&batch)->value_name("N")->default_value(1), "images of the run");
}

ModelRun run_model(Job& job, const ModelRunOptions& options, const std::function<void(const Graph&)>& look) {
  if (options.batch < 1 || options.batch > kMostBatch)
    throw InputError(fmt::format("--batch is 1 to {}, not {}", kMostBatch, options.batch));
  if (options.no_check && job.has_interpreter()) throw InputError("--oracle and --no-check together");
  SessionOptions& session_options = job.session_options();
  session_options.batch = options.batch;
  ProgressLine progress;
  Session session = job.open(progress);
  if (look) look(session.graph());
  const ModelInputs inputs = job.inputs(session.graph());
  CompileOptions compile = compile_options(session_options);
  compile.cancellation_check = check_interrupt;
  ModelRun done;
  done.graph = session.graph();
  done.result = session.run(
      inputs.values,
      {.check = !options.no_check, .trace = true, .interpreter = job.interpreter(session.graph())});
  done.result.report.clock_mhz = job.clock_mhz();
  done.result.report.notes.push_back("input: " + inputs.origin);
  std::vector<Int8Values> values;
  if (compile.compress != Compress::kOff) {
    values =
        run_reference_batch(done.graph, compile.images, inputs.values, compile.rounding, check_interrupt);
    compile.known_values = values;
  }
  progress.clear();
  ProgressLine asking;
  done.analysis = analyse(done.graph, preset(session_options.config), compile, [&](double share) {
    asking.show(done.graph.name + ": asking the cycle model what would help", share);
  });
  return done;
}

}  // namespace kaiten::cli

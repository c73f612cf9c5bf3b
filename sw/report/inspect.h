// What `kaiten inspect MODEL` prints: one line per layer of a model that can run, every reason of one that
// cannot.
#ifndef KAITEN_REPORT_INSPECT_H
#define KAITEN_REPORT_INSPECT_H

#include <iosfwd>

#include "import/import.h"

namespace kaiten {

// With a graph: a table of the layers (name, operator, shapes, window, multiply-accumulates, weight bytes,
// quantisation, where it runs), then totals, inputs and outputs. Without: the number of refusals and each on
// a line of its own. Columns are separated by two spaces or more; the numbers are plain decimals.
void print_inspect(std::ostream& out, const ImportResult& model);

}  // namespace kaiten

#endif  // KAITEN_REPORT_INSPECT_H

#include "report/inspect.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace kaiten {
namespace {

constexpr size_t kColumns = 9;
using Row = std::array<std::string, kColumns>;
constexpr size_t kNameWidth = 40;

// The end of a name says more than its beginning.
std::string shortened(const std::string& name) {
  return name.size() <= kNameWidth ? name : "..." + name.substr(name.size() - (kNameWidth - 3));
}

std::string scale_text(const Tensor& tensor) {
  if (tensor.quantization.empty()) return "-";
  std::ostringstream text;
  text << std::setprecision(4) << tensor.quantization.scale.front() << "/" << tensor.zero_point();
  return text.str();
}

// Kernel, stride and dilation: "3x3 /2", "3x3 /2x1 dil 2x2".
std::string window_text(const Op& op) {
  const bool windowed = op.kind == OpKind::Conv2D || op.kind == OpKind::DepthwiseConv2D ||
                        op.kind == OpKind::AveragePool || op.kind == OpKind::MaxPool;
  if (!windowed) return "-";
  const Window& w = op.window;
  std::string text =
      std::to_string(w.kernel_h) + "x" + std::to_string(w.kernel_w) + " /" + std::to_string(w.stride_h);
  if (w.stride_w != w.stride_h) text += "x" + std::to_string(w.stride_w);
  if (w.dilation_h != 1 || w.dilation_w != 1) {
    text += " dil " + std::to_string(w.dilation_h) + "x" + std::to_string(w.dilation_w);
  }
  return text;
}

std::string weights_text(const Graph& graph, const Op& op) {
  if (op.weights == kNoTensor) return "-";
  const Tensor& weights = graph.weights_of(op);
  return std::to_string(weights.bytes()) +
         (weights.quantization.per_channel() ? " per channel" : " per tensor");
}

// Which part of the machine does it.
std::string place(OpKind kind) {
  switch (kind) {
    case OpKind::Conv2D:
    case OpKind::FullyConnected:
      return "array";
    case OpKind::DepthwiseConv2D:
    case OpKind::Add:
    case OpKind::AveragePool:
    case OpKind::MaxPool:
    case OpKind::Mean:
    case OpKind::Quantize:
      return "vector";
    case OpKind::Reshape:
      return "nothing to do";
    case OpKind::Softmax:
    case OpKind::ToInt8:
    case OpKind::ToFloat:
    case OpKind::HostFloat:
      return "host";
    default:
      return "reference only";
  }
}

Row row_of(const Graph& graph, const Op& op) {
  std::string kind(name_of(op.kind));
  if (op.activation != Activation::None) kind += "+" + std::string(name_of(op.activation));
  return {shortened(op.name),
          kind,
          shape_text(graph.input_of(op).shape),
          shape_text(graph.output_of(op).shape),
          window_text(op),
          std::to_string(macs(graph, op)),
          weights_text(graph, op),
          scale_text(graph.output_of(op)),
          place(op.kind)};
}

void print_table(std::ostream& out, const std::vector<Row>& rows) {
  std::array<size_t, kColumns> width{};
  for (const Row& row : rows) {
    for (size_t c = 0; c < kColumns; c++) width[c] = std::max(width[c], row[c].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (size_t c = 0; c < kColumns; c++) {
      const std::string fill(width[c] - row[c].size(), ' ');
      const bool is_number = c == 5;
      line += (c == 0 ? "" : "  ") + (is_number ? fill + row[c] : row[c] + fill);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

void print_tensors(std::ostream& out, const char* role, const Graph& graph, const std::vector<int>& tensors) {
  for (const int index : tensors) {
    const Tensor& tensor = graph.tensors[size_t(index)];
    out << role << ": " << tensor.name << "  " << name_of(tensor.type) << "  " << shape_text(tensor.shape)
        << "  scale/zero point " << scale_text(tensor) << '\n';
  }
}

}  // namespace

void print_inspect(std::ostream& out, const ImportResult& model) {
  if (!model.graph) {
    out << model.name << ": cannot run, " << model.refusals.size()
        << (model.refusals.size() == 1 ? " reason\n" : " reasons\n");
    for (const Refusal& refusal : model.refusals) out << "  " << refusal.text() << '\n';
    return;
  }
  const Graph& graph = *model.graph;
  std::vector<Row> rows = {{"layer", "operator", "input", "output", "window", "MACs", "weight bytes",
                            "scale/zero point", "runs on"}};
  size_t weight_bytes = 0;
  size_t activation_bytes = 0;
  for (const Op& op : graph.ops) {
    rows.push_back(row_of(graph, op));
    if (op.weights != kNoTensor) weight_bytes += graph.weights_of(op).bytes();
    activation_bytes = std::max(activation_bytes, graph.output_of(op).bytes());
  }
  print_table(out, rows);
  out << '\n';
  print_tensors(out, "input", graph, graph.inputs);
  print_tensors(out, "output", graph, graph.outputs);
  out << graph.name << ": " << graph.ops.size() << " layers, " << macs(graph) << " MACs, " << weight_bytes
      << " weight bytes, largest activation " << activation_bytes << " bytes\n";
}

}  // namespace kaiten

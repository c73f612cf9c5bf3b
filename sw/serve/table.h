// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// SushiAbs: how long each SubNet takes with each SubGraph in the persistent part of the weight buffer (PB), and what it then
/// reads. A scheduler knows no more of the accelerator, so a table of any accelerator does. Milliseconds, bytes.
/// Source: Behnam et al., "SubGraph Stationary Hardware-Software Inference Co-design" (MLSys 2023), section 3.2.
#ifndef KAITEN_SERVE_TABLE_H
#define KAITEN_SERVE_TABLE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten::serve {

/// Most SubNets, and most SubGraphs, of a table.
inline constexpr std::size_t kMostRows = 65536;
/// Largest number of kernels or channels in a code.
inline constexpr int kMostExtent = 65536;
/// Longest latency, milliseconds.
inline constexpr double kMostMilliseconds = 1e9;

/// A row: a SubNet that can be served.
struct TableSubNet {
  std::string name;       ///< unique among the rows
  double accuracy = 0;    ///< percent, 0 to 100
  std::vector<int> code;  ///< kernels and channels of each layer in turn; empty: unknown
};

/// A column: what PB may hold.
struct TableSubGraph {
  std::string name;       ///< unique among the columns
  double load_ms = 0;     ///< of its weights into PB
  double bytes = 0;       ///< of its weights
  std::vector<int> code;  ///< as a row's
};

/// The table. check() says what holds of a sound one; other functions rely on it.
struct Table {
  std::string supernet;                  ///< for reports
  std::string origin;                    ///< what filled it
  std::string accuracies;                ///< what the accuracies are
  std::vector<TableSubNet> subnets;      ///< rows
  std::vector<TableSubGraph> subgraphs;  ///< columns; one named kNothing is the empty PB
  std::vector<double> latency_ms;        ///< row by row
  std::vector<double> weight_bytes;      ///< read from memory, row by row; empty: unknown
  std::vector<double> other_bytes;       ///< a row: image and result; empty: unknown

  /// Name of the column with nothing in PB.
  static constexpr std::string_view kNothing = "none";

  /// One load: O(1).
  double latency(std::size_t subnet, std::size_t subgraph) const {
    return latency_ms[subnet * subgraphs.size() + subgraph];
  }
  /// 0 where unknown.
  double weights(std::size_t subnet, std::size_t subgraph) const {
    return weight_bytes.empty() ? 0 : weight_bytes[subnet * subgraphs.size() + subgraph];
  }
  /// The column of the empty PB.
  std::optional<std::size_t> nothing() const;
  /// Every row and column has a code.
  bool coded() const;
};

/// Throws InputError, with `source` before it, for a table without rows or columns, with holes, with a latency, size or
/// accuracy that is negative, not finite or out of range, with names that occur twice or codes of different lengths.
void check(const Table& table, const std::string& source);

/// Throws InputError with file, line and column; the table is checked.
Table table_of_json(std::string_view text, const std::string& file);
/// The text that table_of_json() reads.
std::string table_json(const Table& table);
/// Someone else's latencies: a heading "subnet,accuracy,NAME,NAME..." of SubGraphs, then a line a SubNet, latencies in
/// milliseconds. Nothing is known of codes and bytes; loading a SubGraph takes no time. Throws as table_of_json().
Table table_of_csv(std::string_view text, const std::string& file);

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_TABLE_H

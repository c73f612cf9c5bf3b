// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten compress` tells of one file, or of the activations and weights of a model: the ratio of every
// codec in every layout, beside what zero-value compression and codes of single elements can reach at best.
#ifndef KAITEN_REPORT_COMPRESS_REPORT_H
#define KAITEN_REPORT_COMPRESS_REPORT_H

#include <string>
#include <vector>

#include "codec/map_layout.h"
#include "codec/measure.h"

namespace kaiten {

// Of bytes that are one thing to a reader: a file, a layer's output, its weights. What lies in `by` goes
// codec by codec, layout by layout.
struct CompressItem {
  std::string name;
  std::string op;     // of a layer
  std::string shape;  // as the source writes it
  std::size_t bytes = 0;
  double elements = 0;
  double coded = 0;         // elements that differ from the zero value
  double entropy_bits = 0;  // of all elements together
  std::vector<codec::Measurement> by;

  double density() const { return elements == 0 ? 0 : coded / elements; }
};

struct CompressGroup {
  std::string name;  // "file", "activations", "weights"
  std::vector<CompressItem> items;
  CompressItem total() const;
};

struct CompressReport {
  std::string title;   // the file or the model
  std::string origin;  // of a model: where its inputs come from
  int element_bits = 8;
  std::size_t window = codec::kDefaultWindow;
  std::vector<std::string> codecs;
  std::vector<codec::MapLayout> layouts;
  std::vector<CompressGroup> groups;
  std::vector<std::string> notes;

  // Of the measurements of an item.
  std::size_t index(std::size_t codec, std::size_t layout) const { return codec * layouts.size() + layout; }
  double zvc_limit(const CompressItem& item) const;
  // 0 where the entropy is.
  double entropy_ratio(const CompressItem& item) const;
};

std::string to_text(const CompressReport& report, std::size_t width = 0);
std::string to_html(const CompressReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_COMPRESS_REPORT_H

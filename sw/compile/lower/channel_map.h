// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where the channels of a tensor stand in the pixels of a map. A pixel is a row of words of CP channels; what
// one operator writes begins with a word of its own, so after a concatenation there may be gaps: lanes that
// hold anything. Consumers on the array have zero weights there, those on the vector engine carry them along.
#ifndef KAITEN_COMPILE_LOWER_CHANNEL_MAP_H
#define KAITEN_COMPILE_LOWER_CHANNEL_MAP_H

#include <optional>
#include <vector>

#include "program/channel_span.h"

namespace kaiten {

// Consecutive channels that stand together, from byte 0 of word `group` on.
struct Segment {
  int channels = 0;
  int group = 0;

  bool operator==(const Segment&) const = default;
};

class ChannelMap {
 public:
  ChannelMap() = default;
  explicit ChannelMap(int channels) : segments_{{channels, 0}} {}

  const std::vector<Segment>& segments() const { return segments_; }
  bool dense() const { return segments_.size() == 1; }
  int channels() const;
  // First word, and one past the last.
  int begin() const { return segments_.front().group; }
  int end(int cp) const;
  // Bytes from the first word to the last channel.
  int lanes(int cp) const;
  // The channel of every lane from the first word on, -1 in gaps; empty where lanes and channels are the
  // same.
  std::vector<int> channel_of(int cp) const;
  // The same, by spans; `first_channel` is added to the channels.
  std::vector<ChannelSpan> spans(int cp, int first_channel = 0) const;
  // True where both put every channel on the same lane.
  bool same_lanes(const ChannelMap& other) const;

  void move(int groups);
  // The channels of another map, `groups` words further on, become this one's last channels.
  void append(const ChannelMap& other, int groups, int cp);
  // Channels [begin, end), where they start at the beginning of a word.
  std::optional<ChannelMap> slice(int begin, int end, int cp) const;

 private:
  void add(Segment s, int cp);

  std::vector<Segment> segments_;  // ascending
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_CHANNEL_MAP_H

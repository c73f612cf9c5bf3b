// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/channel_map.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace kaiten {

int ChannelMap::channels() const {
  int n = 0;
  for (const Segment& s : segments_) n += s.channels;
  return n;
}

int ChannelMap::end(int cp) const { return segments_.back().group + ceil_div(segments_.back().channels, cp); }

int ChannelMap::lanes(int cp) const {
  return (segments_.back().group - begin()) * cp + segments_.back().channels;
}

std::vector<int> ChannelMap::channel_of(int cp) const {
  if (dense()) return {};
  std::vector<int> channels(std::size_t(lanes(cp)), -1);
  for (const ChannelSpan& s : spans(cp)) {
    for (int i = 0; i < s.channels; i++) channels[std::size_t(s.lane + i)] = s.channel + i;
  }
  return channels;
}

std::vector<ChannelSpan> ChannelMap::spans(int cp, int first_channel) const {
  std::vector<ChannelSpan> spans;
  for (const Segment& s : segments_) {
    spans.push_back({(s.group - begin()) * cp, first_channel, s.channels});
    first_channel += s.channels;
  }
  return spans;
}

bool ChannelMap::same_lanes(const ChannelMap& other) const {
  return std::equal(segments_.begin(), segments_.end(), other.segments_.begin(), other.segments_.end(),
                    [&](const Segment& a, const Segment& b) {
                      return a.channels == b.channels && a.group - begin() == b.group - other.begin();
                    });
}

void ChannelMap::move(int groups) {
  for (Segment& s : segments_) s.group += groups;
}

void ChannelMap::append(const ChannelMap& other, int groups, int cp) {
  for (Segment s : other.segments_) {
    s.group += groups;
    add(s, cp);
  }
}

std::optional<ChannelMap> ChannelMap::slice(int begin, int end, int cp) const {
  ChannelMap part;
  int first = 0;
  for (const Segment& s : segments_) {
    const int from = std::max(begin - first, 0);
    const int to = std::min(end - first, s.channels);
    first += s.channels;
    if (from >= to) continue;
    if (from % cp != 0) return std::nullopt;
    part.add({to - from, s.group + from / cp}, cp);
  }
  return part;
}

// Segments without a gap between them are one.
void ChannelMap::add(Segment s, int cp) {
  if (!segments_.empty()) {
    Segment& last = segments_.back();
    if (last.channels % cp == 0 && last.group + last.channels / cp == s.group) {
      last.channels += s.channels;
      return;
    }
  }
  segments_.push_back(s);
}

}  // namespace kaiten

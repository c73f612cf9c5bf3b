// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which channels of a tensor stand in the bytes of a pixel.
#ifndef KAITEN_PROGRAM_CHANNEL_SPAN_H
#define KAITEN_PROGRAM_CHANNEL_SPAN_H

namespace kaiten {

// Results from byte `lane` of a pixel on are these channels of a tensor.
struct ChannelSpan {
  int lane = 0;
  int channel = 0;
  int channels = 0;
};

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_CHANNEL_SPAN_H

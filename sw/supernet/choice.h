// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which SubNet: the elastic dimensions of the two families, their texts, and what they come to in the slots of the
/// SuperNet. A ResNet50's text is DEPTH:WIDTH:EXPAND, "00100:000001:20--,000-,0000--,01--" (digits are indices; '-': a
/// slot that the depth leaves unused); a MobileNetV3's DEPTH:EXPAND:KERNELS, "32242:34443336643464444336:7" (digits are
/// values; one kernel for all blocks or twenty).
#ifndef KAITEN_SUPERNET_CHOICE_H
#define KAITEN_SUPERNET_CHOICE_H

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "supernet/supernet.h"

namespace kaiten::supernet {

/// A SubNet of OFA-ResNet50. Every number is an index, its range stands beside it.
struct ResNet50 {
  static constexpr std::array<int, 4> kBaseDepth = {2, 2, 4, 2};  ///< blocks of each stage before depth
  static constexpr std::array<int, 4> kSlots = {4, 4, 6, 4};      ///< most blocks of each stage
  std::array<int, 5> depth = {};                                  ///< stem flag 0 or 2, then 0 to 2 a stage
  std::array<int, 6> width = {};                  ///< into {0.65, 0.8, 1}: stem, its output, stages
  std::array<std::array<int, 6>, 4> expand = {};  ///< into {0.2, 0.25, 0.35}, by stage and block

  /// Blocks of a stage.
  int blocks(std::size_t stage) const { return kBaseDepth[stage] + depth[stage + 1]; }
  int stem_middle() const;                 ///< channels of the first two convolutions
  int stem_out() const;                    ///< channels that enter the first stage
  int stage_out(std::size_t stage) const;  ///< channels of a stage
  /// Channels between the convolutions of a block.
  int middle(std::size_t stage, std::size_t block) const;
};

/// A SubNet of OFA-MobileNetV3 w1.0.
struct MobileNetV3 {
  static constexpr std::size_t kStages = 5;                             ///< of four blocks at most
  static constexpr std::array<int, 5> kWidth = {24, 40, 80, 112, 160};  ///< output channels of a stage
  static constexpr std::array<int, 5> kStride = {2, 2, 2, 1, 2};        ///< of its first block
  static constexpr std::array<bool, 5> kSqueeze = {false, true, false, true,
                                                   true};  ///< squeeze-and-excitation
  std::array<int, 5> depth = {2, 2, 2, 2, 2};              ///< blocks of a stage, 2 to 4
  std::array<std::array<int, 4>, 5> expand = {};           ///< 3, 4 or 6 times the input channels
  std::array<std::array<int, 4>, 5> kernel = {};           ///< 3, 5 or 7
};

/// The slots for an image of `image` x `image` pixels.
SuperNet resnet50_supernet(int image);
/// The same of OFA-MobileNetV3 w1.0.
SuperNet mobilenet_v3_supernet(int image);
/// In the slots of resnet50_supernet().
Encoding encode(const ResNet50& choice);
/// In the slots of mobilenet_v3_supernet().
Encoding encode(const MobileNetV3& choice);

/// The text of the head. Throws InputError naming what is outside the space, where, its limit and what was found.
ResNet50 parse_resnet50(std::string_view text);
/// The same of a MobileNetV3.
MobileNetV3 parse_mobilenet_v3(std::string_view text);

/// CompOFA's space: depths 2, 3, 4 of a stage go with expansions 3, 4, 6 of its blocks, one kernel size: 243 SubNets.
std::vector<MobileNetV3> compofa(int kernel);

}  // namespace kaiten::supernet

#endif  // KAITEN_SUPERNET_CHOICE_H

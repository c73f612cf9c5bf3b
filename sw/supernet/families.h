// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The SubNets that are served, with their accuracies, as models/supernets/README.md says where they come from:
/// ofa-resnet50 (RA to RF), ofa-mobilenetv3 (MA to MG) and compofa (243 SubNets, accuracies predicted).
#ifndef KAITEN_SUPERNET_FAMILIES_H
#define KAITEN_SUPERNET_FAMILIES_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supernet/choice.h"
#include "supernet/supernet.h"

namespace kaiten::supernet {

/// A SubNet that can be served.
struct SubNet {
  std::string name;     ///< "RA"
  std::string text;     ///< as choice.h reads it
  double accuracy = 0;  ///< percent; Family::accuracies says of what
  Encoding encoding;    ///< in the slots of the family's SuperNet
};

/// SubNets of one SuperNet.
struct Family {
  std::string name;             ///< "ofa-resnet50"
  SuperNet net;                 ///< for images of 224 pixels
  std::vector<SubNet> subnets;  ///< in the order of the data
  std::string accuracies;       ///< where they come from
};

/// Names that family() knows.
std::span<const std::string_view> family_names();
/// Throws InputError naming the families there are.
Family family(std::string_view name);

/// A row of the table of measured accuracies.
struct Measured {
  MobileNetV3 choice;  ///< kernels 7x7
  double top1 = 0;     ///< percent
};
/// The 1,000 rows.
std::vector<Measured> measured_mobilenet_v3();

/// Top-1 in percent by least squares over rows of the table above: a constant and one term for each block and expansion.
/// Kernels do not matter. An estimate: over rows it was not fitted to, tests/sw/supernet states its error.
class AccuracyModel {
 public:
  /// `rows`: more than a hundred.
  explicit AccuracyModel(std::span<const Measured> rows);
  /// Percent.
  double top1(const MobileNetV3& choice) const;

 private:
  std::vector<double> terms_;
};

}  // namespace kaiten::supernet

#endif  // KAITEN_SUPERNET_FAMILIES_H

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SubNets of OFA-ResNet50 and OFA-MobileNetV3 (sw/supernet). Synthetic weights, those of a SuperNet: first kernels, channels
// and blocks; depthwise kernels of each size are weights of their own.
#ifndef KAITEN_MODELS_GENERATE_SUBNETS_H
#define KAITEN_MODELS_GENERATE_SUBNETS_H

#include <functional>
#include <string_view>

#include "generate/random_network.h"

namespace kaiten::generate {

// "ofa-resnet50/..." or "ofa-mobilenetv3/...".
bool is_subnet(std::string_view name);

// What builds the SubNet of such a name, a member of the family or a choice as supernet/choice.h reads it, and returns its
// output. Throws InputError for a choice outside the space.
std::function<int(RandomNetwork&)> subnet(std::string_view name);

}  // namespace kaiten::generate

#endif  // KAITEN_MODELS_GENERATE_SUBNETS_H

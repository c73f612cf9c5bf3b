// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A vision transformer after Dosovitskiy et al., "An Image is Worth 16x16 Words": patches of the image as tokens, blocks of
// attention and of two fully connected layers, each behind a layer normalisation; the mean of the tokens is classified.
#ifndef KAITEN_MODELS_GENERATE_TRANSFORMER_H
#define KAITEN_MODELS_GENERATE_TRANSFORMER_H

#include "generate/random_network.h"

namespace kaiten::generate {

struct TransformerShape {
  int channels = 192;  // those of Touvron et al., "Training data-efficient image transformers", DeiT-Ti
  int heads = 3;
  int blocks = 12;
  int patch = 16;
  int classes = 1000;
};

// Returns the logits.
int vision_transformer(RandomNetwork& n, const TransformerShape& shape);

}  // namespace kaiten::generate

#endif  // KAITEN_MODELS_GENERATE_TRANSFORMER_H

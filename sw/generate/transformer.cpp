// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "generate/transformer.h"

#include <cmath>

namespace kaiten::generate {
namespace {

// (1, tokens, channels) as a matrix a head: (1, heads, tokens, channels of a head).
int split(RandomNetwork& n, int x, int heads) {
  const int tokens = n.side(x), channels = n.channels(x);
  return n.transpose(n.reshape(x, {1, tokens, heads, channels / heads}), {0, 2, 1, 3});
}

int attention(RandomNetwork& n, int x, int heads) {
  const int tokens = n.side(x), channels = n.channels(x);
  const int query = split(n, n.fully_connected(x, channels, false), heads);
  const int key = split(n, n.fully_connected(x, channels, false), heads);
  const int value = split(n, n.fully_connected(x, channels, false), heads);
  const int scores = n.batch_matmul(query, key, true, 1.0 / std::sqrt(double(channels) / heads));
  const int mixed = n.batch_matmul(n.softmax(scores), value, false);
  return n.fully_connected(n.reshape(n.transpose(mixed, {0, 2, 1, 3}), {1, tokens, channels}), channels,
                           false);
}

}  // namespace

int vision_transformer(RandomNetwork& n, const TransformerShape& shape) {
  int x = n.conv(n.image(), {.channels = shape.channels,
                             .kernel = shape.patch,
                             .stride = shape.patch,
                             .relu = false,
                             .same = false});
  x = n.constant_add(n.tokens(x));
  for (int block = 0; block < shape.blocks; block++) {
    x = n.add(attention(n, n.layer_norm(x), shape.heads), x, false);
    const int hidden = n.gelu(n.fully_connected(n.layer_norm(x), 4 * shape.channels, false));
    x = n.add(n.fully_connected(hidden, shape.channels, false), x, false);
  }
  return n.fully_connected(n.mean_of_tokens(n.layer_norm(x)), shape.classes, false);
}

}  // namespace kaiten::generate

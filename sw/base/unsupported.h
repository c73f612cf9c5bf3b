// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What importers and lowering throw at a layer that is sound but beyond what Kaiten can do. Whoever knows the
// layer catches it and makes it one refusal, so that a user sees all of them at once.
#ifndef KAITEN_BASE_UNSUPPORTED_H
#define KAITEN_BASE_UNSUPPORTED_H

#include <string>

namespace kaiten {

// A limit that a layer breaks.
struct Unsupported {
  std::string limit;      // what Kaiten can do: "batch of 1"
  std::string value;      // what the layer asks for: "batch of 4"
  std::string hint = {};  // how to get around it; may be empty
};

}  // namespace kaiten

#endif  // KAITEN_BASE_UNSUPPORTED_H

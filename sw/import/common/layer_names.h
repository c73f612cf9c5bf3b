// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Names of layers: the name of the output tensor, which several layers of a file may share.
#ifndef KAITEN_IMPORT_COMMON_LAYER_NAMES_H
#define KAITEN_IMPORT_COMMON_LAYER_NAMES_H

#include <map>
#include <string>

namespace kaiten::importing {

class LayerNames {
 public:
  // `wanted`, with a number after it where another layer has it. The last number tried is kept per name, so
  // that many equal names cost no more than different ones.
  std::string unique(const std::string& wanted) {
    int& last = last_[wanted];
    if (last == 0) {
      last = 1;
      return wanted;
    }
    std::string name;
    do {
      name = wanted + "#" + std::to_string(++last);
    } while (!last_.try_emplace(name, 1).second);
    return name;
  }

 private:
  std::map<std::string, int> last_;
};

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_LAYER_NAMES_H

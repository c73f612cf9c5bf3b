// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/ring.h"

namespace kaiten {

RowLayout::RowLayout(int groups, int width, int pixel)
    : groups(groups),
      pixel(pixel > 0         ? pixel
            : groups % 3 == 0 ? groups + 1
                              : groups),
      width(width),
      slot_size(ceil_div(width * this->pixel, 9)) {}

}  // namespace kaiten

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Codecs of other projects behind the interface, at the default levels of their own tools:
// zlib 6, lz4 as fast as it is, zstd 3. They are here to compare with.
#ifndef KAITEN_CODEC_LIBRARIES_H
#define KAITEN_CODEC_LIBRARIES_H

#include <memory>

#include "codec/codec.h"

namespace kaiten::codec {

std::unique_ptr<Codec> make_zlib();
std::unique_ptr<Codec> make_lz4();   // builds with liblz4
std::unique_ptr<Codec> make_zstd();  // builds with libzstd

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_LIBRARIES_H

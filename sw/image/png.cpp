// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// libpng reports errors with longjmp: between its setjmp and there, no frame holds anything that needs a destructor.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "image/formats.h"

namespace kaiten {

namespace {

constexpr png_alloc_size_t kMostChunkBytes = 1 << 23;  // of a text or colour profile
constexpr png_uint_32 kMostChunks = 1000;              // of those
constexpr std::size_t kMessageBytes = 120;

// What libpng's callbacks share.
struct Source {
  ImageFile file;
  std::size_t at = 0;
  char message[kMessageBytes] = {};
};

void on_error(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->message, message, kMessageBytes - 1);
  longjmp(png_jmpbuf(png), 1);
}
void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}
void on_read(png_structp png, png_bytep bytes, size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (source->file.size() - source->at < count) png_error(png, "it ends early");
  std::memcpy(bytes, source->file.data() + source->at, count);
  source->at += count;
}

// A reader and what it knows of the file.
struct Reader {
  explicit Reader(Source& s)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {
    if (info == nullptr) throw std::bad_alloc();
    png_set_read_fn(png, &s, on_read);
    png_set_user_limits(png, kMaxImageSide, kMaxImageSide);
    png_set_chunk_malloc_max(png, kMostChunkBytes);
    png_set_chunk_cache_max(png, kMostChunks);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  png_structp png;
  png_infop info;
};

// False after an error.
bool read_header(Reader& r) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_read_info(r.png, r.info);
  const int colour = png_get_color_type(r.png, r.info);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r.png);
  if ((colour & PNG_COLOR_MASK_COLOR) == 0) png_set_expand_gray_1_2_4_to_8(r.png);
  png_set_strip_16(r.png);
  png_set_strip_alpha(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(Reader& r, std::uint8_t** rows) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, nullptr);
  return true;
}

struct Sides {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// Of IHDR, the first chunk of a sound file: libpng's errors do not tell them.
std::optional<Sides> sides_of(ImageFile file) {
  constexpr std::size_t kName = 12, kWidth = 16, kHeight = 20;
  if (file.size() < kHeight + 4 || std::memcmp(&file[kName], "IHDR", 4) != 0) return std::nullopt;
  return Sides{png_get_uint_32(&file[kWidth]), png_get_uint_32(&file[kHeight])};
}

}  // namespace

DecodedImage decode_png(ImageFile file) {
  Source source{file};
  Reader r(source);
  const std::optional<Sides> sides = sides_of(file);
  const auto fail = [&](const std::string& why) {
    if (!sides) throw BadImage(why);
    throw BadImage(why, sides->width, sides->height);
  };
  if (sides) check_sides(sides->width, sides->height);
  if (!read_header(r)) fail(source.message);
  const int type = int(file[25]), depth = int(file[24]);  // of IHDR, before the changes above
  Image image = make_image(png_get_image_width(r.png, r.info), png_get_image_height(r.png, r.info),
                           (type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1);
  const std::size_t row_bytes = std::size_t(image.width) * std::size_t(image.channels);
  if (png_get_rowbytes(r.png, r.info) != row_bytes) fail("its rows have another length");
  std::vector<std::uint8_t*> rows(std::size_t(image.height));
  for (std::size_t y = 0; y < rows.size(); y++) rows[y] = &image.data[y * row_bytes];
  if (!read_rows(r, rows.data())) fail(source.message);
  std::vector<std::string> notes;
  if (type == PNG_COLOR_TYPE_PALETTE) notes.emplace_back("palette looked up");
  if (depth == 16) notes.emplace_back("upper 8 of 16 bits");
  if ((type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0)
    notes.emplace_back("alpha left out");
  return {std::move(image), "PNG", std::move(notes)};
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = png_uint_32(image.width);
  png.height = png_uint_32(image.height);
  png.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<std::uint8_t> file(size);
  if (png_image_write_to_memory(&png, file.data(), &size, 0, image.data.data(), 0, nullptr) == 0)
    throw std::runtime_error(std::string("PNG: ") + png.message);
  file.resize(size);
  return file;
}

}  // namespace kaiten

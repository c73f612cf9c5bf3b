// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// libjpeg reports errors through a function that must not return: longjmp, with no frame in between that holds anything
// that needs a destructor. Corrupt data, for it, are warnings after which it makes up pixels; here they are errors.

// jpeglib.h needs <cstdio>, jerror.h needs jpeglib.h
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "image/formats.h"

namespace kaiten {

namespace {

constexpr int kMostScans = 200;  // of a progressive file; usual ones have 10
constexpr std::string_view kExif("Exif\0\0", 6);

struct Errors : jpeg_error_mgr {
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto* errors = static_cast<Errors*>(jpeg->err);
  if (errors->msg_code == JWRN_JPEG_EOF || errors->msg_code == JERR_INPUT_EOF) {
    std::strcpy(errors->message, "it ends early");
  } else {
    errors->format_message(jpeg, errors->message);
  }
  longjmp(errors->jump, 1);
}
void on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  const bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR;
  if (level < 0 && !harmless) on_error(jpeg);
}

struct Reader {
  explicit Reader(ImageFile file) {
    jpeg.err = jpeg_std_error(&errors);
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    if (setjmp(errors.jump) != 0) throw std::bad_alloc();
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file.data(),
                 static_cast<unsigned long>(file.size()));  // NOLINT(google-runtime-int): its type
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xffff);
  }
  ~Reader() { jpeg_destroy_decompress(&jpeg); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  jpeg_decompress_struct jpeg{};
  Errors errors{};
};

// False after an error.
bool read_header(Reader& r) {
  if (setjmp(r.errors.jump) != 0) return false;
  jpeg_read_header(&r.jpeg, TRUE);
  const bool four = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  const bool grey = r.jpeg.jpeg_color_space == JCS_GRAYSCALE;
  r.jpeg.out_color_space = four ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
  return true;
}

// `row`: of four channels where the file has them, else unused.
bool read_rows(Reader& r, std::uint8_t* pixels, std::uint8_t* row) {
  if (setjmp(r.errors.jump) != 0) return false;
  // Scan by scan, so that a small file of countless scans ends here and not in an hour.
  if (jpeg_has_multiple_scans(&r.jpeg)) {
    r.jpeg.buffered_image = TRUE;
    jpeg_start_decompress(&r.jpeg);
    while (!jpeg_input_complete(&r.jpeg)) {
      if (jpeg_consume_input(&r.jpeg) == JPEG_REACHED_SOS && r.jpeg.input_scan_number > kMostScans)
        ERREXIT(&r.jpeg, JERR_NOTIMPL);
    }
    jpeg_start_output(&r.jpeg, r.jpeg.input_scan_number);
  } else {
    jpeg_start_decompress(&r.jpeg);
  }
  const std::size_t width = r.jpeg.output_width;
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    if (r.jpeg.output_components != 4) {
      std::uint8_t* line = pixels + r.jpeg.output_scanline * width * std::size_t(r.jpeg.output_components);
      jpeg_read_scanlines(&r.jpeg, &line, 1);
      continue;
    }
    std::uint8_t* out = pixels + r.jpeg.output_scanline * width * 3;
    jpeg_read_scanlines(&r.jpeg, &row, 1);
    const unsigned inverted = r.jpeg.saw_Adobe_marker ? 0 : 255;  // Adobe's hold 255 less the ink
    for (std::size_t x = 0; x < width; x++) {
      const unsigned black = row[4 * x + 3] ^ inverted;  // light that black lets through
      for (std::size_t c = 0; c < 3; c++) {
        // black - ink * black / 255, as Pillow rounds it
        const unsigned product = ((row[4 * x + c] ^ inverted ^ 255U) * black) + 128;
        const unsigned taken = ((product >> 8) + product) >> 8;
        out[3 * x + c] = std::uint8_t(black - std::min(taken, black));
      }
    }
  }
  if (r.jpeg.buffered_image) jpeg_finish_output(&r.jpeg);
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

int orientation_of(const jpeg_decompress_struct& jpeg) {
  for (const jpeg_marker_struct* m = jpeg.marker_list; m != nullptr; m = m->next) {
    if (m->marker == JPEG_APP0 + 1 && m->data_length > kExif.size() &&
        std::memcmp(m->data, kExif.data(), kExif.size()) == 0)
      return exif_orientation({m->data + kExif.size(), m->data_length - kExif.size()});
  }
  return 1;
}

}  // namespace

DecodedImage decode_jpeg(ImageFile file) {
  Reader r(file);
  const auto fail = [&] {
    if (r.jpeg.image_width == 0) throw BadImage(r.errors.message);
    throw BadImage(r.errors.message, r.jpeg.image_width, r.jpeg.image_height);
  };
  if (!read_header(r)) fail();
  const bool four = r.jpeg.out_color_space == JCS_CMYK, grey = r.jpeg.out_color_space == JCS_GRAYSCALE;
  Image image = make_image(r.jpeg.image_width, r.jpeg.image_height, grey ? 1 : 3);
  const int orientation = orientation_of(r.jpeg);  // finishing forgets the markers
  std::vector<std::uint8_t> row(four ? std::size_t(image.width) * 4 : 0);
  if (!read_rows(r, image.data.data(), row.data())) fail();
  std::vector<std::string> notes;
  if (four) notes.emplace_back("from CMYK, without its colour profile");
  if (orientation != 1) notes.push_back("turned by EXIF orientation " + std::to_string(orientation));
  return {oriented(std::move(image), orientation), "JPEG", std::move(notes)};
}

}  // namespace kaiten

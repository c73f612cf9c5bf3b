// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/image.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"

namespace kaiten::cli {

namespace {

constexpr unsigned kMaxSide = 1U << 14;

bool is_png(std::span<const std::uint8_t> f) { return f.size() >= 8 && png_sig_cmp(f.data(), 0, 8) == 0; }
bool is_netpbm(std::span<const std::uint8_t> f) {
  return f.size() >= 3 && f[0] == 'P' && (f[1] == '5' || f[1] == '6') && std::isspace(f[2]);
}

Image decode_png(std::span<const std::uint8_t> file, const std::string& name) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const auto fail = [&](const std::string& why) {
    png_image_free(&png);
    throw InputError("bad image '" + name + "': " + why);
  };
  if (!png_image_begin_read_from_memory(&png, file.data(), file.size())) fail(png.message);
  if (png.width > kMaxSide || png.height > kMaxSide)
    fail("sides up to " + std::to_string(kMaxSide) + " pixels");
  const bool colour = (png.format & PNG_FORMAT_FLAG_COLOR) != 0;
  png.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  Image image{int(png.height), int(png.width), colour ? 3 : 1, {}};
  image.data.resize(PNG_IMAGE_SIZE(png));
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&png, &black, image.data.data(), 0, nullptr)) fail(png.message);
  return image;
}

Image decode_netpbm(std::span<const std::uint8_t> file, const std::string& name) {
  std::size_t at = 2;
  const auto fail = [&](const char* why) { throw InputError("bad image '" + name + "': " + why); };
  const auto number = [&] {
    while (at < file.size() && (std::isspace(file[at]) || file[at] == '#')) {
      if (file[at] == '#') {
        while (at < file.size() && file[at] != '\n') at++;
      } else {
        at++;
      }
    }
    unsigned n = 0;
    bool any = false;
    for (; at < file.size() && std::isdigit(file[at]); at++) {
      n = std::min(n * 10 + unsigned(file[at] - '0'), 1U << 24);
      any = true;
    }
    if (!any) fail("a number is missing in its header");
    return n;
  };
  const unsigned width = number();
  const unsigned height = number();
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) fail("its size");
  if (number() != 255) fail("its largest value must be 255");
  at++;
  Image image{int(height), int(width), file[1] == '6' ? 3 : 1, {}};
  const std::size_t bytes = std::size_t(width) * height * std::size_t(image.channels);
  if (file.size() < at + bytes) fail("it ends early");
  image.data.assign(file.begin() + std::ptrdiff_t(at), file.begin() + std::ptrdiff_t(at + bytes));
  return image;
}

}  // namespace

bool is_image(std::span<const std::uint8_t> file) { return is_png(file) || is_netpbm(file); }

Image decode_image(std::span<const std::uint8_t> file, const std::string& name) {
  if (is_png(file)) return decode_png(file, name);
  if (is_netpbm(file)) return decode_netpbm(file, name);
  throw InputError("bad image '" + name + "': neither PNG nor PPM");
}

std::string Normalisation::text() const {
  if (!mean && !scale) return "stored values pixel - 128 (the model's 256 values)";
  return fmt::format("values (pixel - {:g}) * {:g}", mean.value_or(0), scale.value_or(1));
}

Int8Values to_input(const Image& image, const Tensor& tensor, const Quantization& quantization,
                    const Normalisation& normalisation) {
  const auto has_channels = [](int n) { return n == 1 || n == 3; };
  const bool is_float = tensor.type == ElementType::Float32;
  const bool planes = is_float && tensor.shape.size() == 4 && has_channels(tensor.shape[1]);
  Nhwc s = tensor.nhwc();
  if (planes) s = {s.n, tensor.shape[2], tensor.shape[3], tensor.shape[1]};
  if (s.n != 1 || s.h != image.height || s.w != image.width || !has_channels(s.c)) {
    throw InputError(fmt::format("the image has {}x{} pixels, input '{}' is {}: resize the image",
                                 image.height, image.width, tensor.name, shape_text(tensor.shape)));
  }
  const double scale = quantization.empty() ? 1.0 : double(quantization.scale.front());
  const int zero_point = quantization.empty() ? -128 : quantization.zero_point.front();
  const bool plain = !normalisation.mean && !normalisation.scale;
  const auto real = [&](double pixel) {
    return plain ? scale * (pixel - 128 - zero_point)
                 : (pixel - normalisation.mean.value_or(0)) * normalisation.scale.value_or(1);
  };
  const auto stored = [&](double pixel) {
    if (plain) return std::int8_t(std::lround(pixel) - 128);
    return std::int8_t(std::clamp(std::round(real(pixel) / scale) + zero_point, -128.0, 127.0));
  };
  Int8Values values(is_float ? 0 : s.elements());
  std::vector<float> reals(is_float ? s.elements() : 0);
  const std::size_t pixels = std::size_t(s.h) * std::size_t(s.w);
  for (std::size_t p = 0; p < pixels; p++) {
    const std::uint8_t* in = &image.data[p * std::size_t(image.channels)];
    for (std::size_t c = 0; c < std::size_t(s.c); c++) {
      double pixel = in[image.channels == 1 ? 0 : c];
      if (s.c == 1 && image.channels == 3) pixel = 0.299 * in[0] + 0.587 * in[1] + 0.114 * in[2];
      const std::size_t at = planes ? c * pixels + p : p * std::size_t(s.c) + c;
      if (is_float) {
        reals[at] = float(real(pixel));
      } else {
        values[at] = stored(pixel);
      }
    }
  }
  return is_float ? bytes_of(reals) : values;
}

}  // namespace kaiten::cli

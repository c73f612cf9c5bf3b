// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The blocked convolutions of the reference executor against the definition in plain loops.
#include "reference/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reference/dot_products.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using reference::Input;

int draw(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<int8_t> values(size_t count, std::mt19937_64& random) {
  std::vector<int8_t> v(count);
  for (int8_t& x : v) x = int8_t(draw(random, -128, 127));
  return v;
}

// Parameters under which about half of the sums of `terms` products saturate.
ConvParams random_params(int channels, int terms, std::mt19937_64& random) {
  ConvParams p;
  p.zp_in = draw(random, -128, 127);
  p.zp_weights = draw(random, 0, 2) == 0 ? draw(random, -128, 127) : 0;
  p.output.zero_point = draw(random, -128, 127);
  p.output.low = draw(random, -128, 0);
  p.output.high = draw(random, 1, 127);
  p.output.rule = draw(random, 0, 1) == 0 ? Rounding::Double : Rounding::Single;
  for (int c = 0; c < channels; c++) {
    p.bias.push_back(draw(random, -terms * 1000, terms * 1000));
    p.multiplier.push_back(draw(random, 1 << 30, std::numeric_limits<int32_t>::max()));
    p.shift.push_back(-draw(random, 3, 12));
  }
  return p;
}

int8_t finish(const ConvParams& p, int channel, int64_t acc) {
  EXPECT_EQ(acc, int32_t(acc));
  const int32_t value = requantize(int32_t(acc), p.channel(size_t(channel)), p.output.rule);
  return int8_t(std::clamp(value + p.output.zero_point, p.output.low, p.output.high));
}

std::vector<int8_t> plain_conv2d(const ConvParams& p, const Window& w, Nhwc in, Input input, Input weights,
                                 Nhwc out, int groups) {
  const int depth = in.c / groups;
  std::vector<int8_t> result;
  for (int n = 0; n < out.n; n++) {
    for (int y = 0; y < out.h; y++) {
      for (int x = 0; x < out.w; x++) {
        for (int o = 0; o < out.c; o++) {
          int64_t acc = p.bias[size_t(o)];
          for (int i = 0; i < w.kernel_h; i++) {
            for (int j = 0; j < w.kernel_w; j++) {
              const int iy = y * w.stride_h - w.pad.top + i * w.dilation_h;
              const int ix = x * w.stride_w - w.pad.left + j * w.dilation_w;
              if (iy < 0 || iy >= in.h || ix < 0 || ix >= in.w) continue;
              for (int c = 0; c < depth; c++) {
                const int from = o / (out.c / groups) * depth + c;
                const int a = input[size_t(((n * in.h + iy) * in.w + ix) * in.c + from)] - p.zp_in;
                const int k =
                    weights[size_t(((o * w.kernel_h + i) * w.kernel_w + j) * depth + c)] - p.zp_weights;
                acc += a * k;
              }
            }
          }
          result.push_back(finish(p, o, acc));
        }
      }
    }
  }
  return result;
}

TEST(DotProducts, EveryBlockShape) {
  std::mt19937_64 random(test::seed());
  for (size_t lines = 1; lines <= 9; lines++) {
    for (size_t kernels = 1; kernels <= 9; kernels++) {
      const size_t length = reference::padded_length(size_t(draw(random, 1, 100)));
      const size_t pitch = kernels + size_t(draw(random, 0, 3));
      std::vector<int16_t> a(lines * length);
      std::vector<int16_t> b(kernels * length);
      for (int16_t& x : a) x = int16_t(draw(random, -255, 255));
      for (int16_t& x : b) x = int16_t(draw(random, -255, 255));
      std::vector<int32_t> sums(lines * pitch, -1);
      reference::dot_products(length, a.data(), lines, b.data(), kernels, sums.data(), pitch);
      for (size_t l = 0; l < lines; l++) {
        for (size_t k = 0; k < pitch; k++) {
          int32_t want = k < kernels ? 0 : -1;
          for (size_t i = 0; i < length && k < kernels; i++) want += a[l * length + i] * b[k * length + i];
          ASSERT_EQ(sums[l * pitch + k], want) << lines << " lines, " << kernels << " kernels";
        }
      }
    }
  }
}

TEST(Conv2d, EqualsPlainLoops) {
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 200; repeat++) {
    const int groups = draw(random, 0, 3) == 0 ? draw(random, 2, 4) : 1;
    const Nhwc in{draw(random, 1, 2), draw(random, 1, 12), draw(random, 1, 12), groups * draw(random, 1, 40)};
    Window w{.kernel_h = draw(random, 1, 5), .kernel_w = draw(random, 1, 5)};
    w.stride_h = draw(random, 1, 3);
    w.stride_w = draw(random, 1, 3);
    w.dilation_h = draw(random, 1, 2);
    w.dilation_w = draw(random, 1, 2);
    const auto pad = [&](int side, int extent, int& before, int& after) {
      before = draw(random, 0, extent - 1);
      after = std::max(draw(random, 0, extent - 1), extent - side - before);
    };
    pad(in.h, w.extent_h(), w.pad.top, w.pad.bottom);
    pad(in.w, w.extent_w(), w.pad.left, w.pad.right);
    const Nhwc out{in.n, window_outputs(in.h, w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h),
                   window_outputs(in.w, w.pad.left, w.pad.right, w.extent_w(), w.stride_w),
                   groups * draw(random, 1, 12)};
    const int terms = w.kernel_h * w.kernel_w * in.c / groups;
    const ConvParams p = random_params(out.c, terms, random);
    const auto input = values(in.elements(), random);
    const auto weights = values(size_t(out.c) * size_t(terms), random);
    std::vector<int8_t> got(out.elements());
    reference::conv2d({p, w, in, out, groups}, input, weights, got);
    ASSERT_EQ(got, plain_conv2d(p, w, in, input, weights, out, groups)) << "case " << repeat;
  }
}

TEST(Conv2d, SumsBesideTheEndsOfInt32) {
  // 40000 products of 255 * 255 exceed int32; the bias brings the accumulator back.
  const Nhwc in{1, 1, 1, 40000};
  const std::vector<int8_t> ones(in.elements(), 127);
  ConvParams p{.zp_in = -128, .zp_weights = -128, .output = {.rule = Rounding::Single}};
  p.bias = {std::numeric_limits<int32_t>::min()};
  p.multiplier = {1 << 30};
  p.shift = {-22};
  std::vector<int8_t> got(1);
  reference::conv2d({p, {}, in, {1, 1, 1, 1}}, ones, ones, got);
  EXPECT_EQ(got, plain_conv2d(p, {}, in, ones, ones, {1, 1, 1, 1}, 1));
  reference::fully_connected(p, 1, ones, ones, got);
  EXPECT_EQ(got, plain_conv2d(p, {}, in, ones, ones, {1, 1, 1, 1}, 1));
}

TEST(FullyConnected, EqualsPlainLoops) {
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 50; repeat++) {
    const int rows = draw(random, 1, 6);
    const Nhwc in{rows, 1, 1, draw(random, 1, 200)};
    const Nhwc out{rows, 1, 1, draw(random, 1, 150)};
    const ConvParams p = random_params(out.c, in.c, random);
    const auto input = values(in.elements(), random);
    const auto weights = values(size_t(out.c) * size_t(in.c), random);
    std::vector<int8_t> got(out.elements());
    reference::fully_connected(p, rows, input, weights, got);
    ASSERT_EQ(got, plain_conv2d(p, {}, in, input, weights, out, 1)) << "case " << repeat;
  }
}

}  // namespace
}  // namespace kaiten

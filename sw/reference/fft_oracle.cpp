// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/fft_oracle.h"

#include <algorithm>
#include <thread>

#include "fft/exact.h"

namespace kaiten {
namespace {

using reference::Input;

// Rows or columns that the windows of `outputs` reach over.
int reach(int outputs, int stride, int kernel) { return (outputs - 1) * stride + kernel; }

// One image and its kernels, with zeros where the map is padded and between dilated taps, channel by channel.
class Planes {
 public:
  Planes(const Op& op, Nhwc in, Nhwc out) : op_(op), in_(in), out_(out) {
    const Window& w = op.window;
    const bool depthwise = op.kind == OpKind::DepthwiseConv2D;
    groups_ = depthwise ? in.c : op.groups;
    layer_.channels = in.c / groups_;
    layer_.outputs = out.c / groups_;
    layer_.kernel = {1, (w.kernel_h - 1) * w.dilation_h + 1, (w.kernel_w - 1) * w.dilation_w + 1};
    layer_.image = {1, reach(out.h, w.stride_h, layer_.kernel.height),
                    reach(out.w, w.stride_w, layer_.kernel.width)};
  }

  int groups() const { return groups_; }
  const fft::Correlation& layer() const { return layer_; }

  std::vector<int16_t> image(Input input, int n, int group, int zero_point) const {
    const Window& w = op_.window;
    const size_t plane = layer_.image.elements();
    std::vector<int16_t> image(plane * size_t(layer_.channels));
    for (int y = 0; y < layer_.image.height; y++) {
      const int iy = y - w.pad.top;
      if (iy < 0 || iy >= in_.h) continue;
      for (int x = 0; x < layer_.image.width; x++) {
        const int ix = x - w.pad.left;
        if (ix < 0 || ix >= in_.w) continue;
        const int8_t* cell =
            input.data() +
            ((size_t(n) * size_t(in_.h) + size_t(iy)) * size_t(in_.w) + size_t(ix)) * size_t(in_.c) +
            size_t(group * layer_.channels);
        const size_t at = size_t(y) * size_t(layer_.image.width) + size_t(x);
        for (size_t c = 0; c < size_t(layer_.channels); c++)
          image[c * plane + at] = int16_t(cell[c] - zero_point);
      }
    }
    return image;
  }

  // Weights are OHWI, of a depthwise convolution HWO.
  std::vector<int16_t> kernels(Input weights, int group, int zero_point) const {
    const Window& w = op_.window;
    const size_t plane = layer_.kernel.elements();
    const auto depth = size_t(layer_.channels);
    std::vector<int16_t> kernels(plane * depth * size_t(layer_.outputs));
    for (size_t o = 0; o < size_t(layer_.outputs); o++) {
      const size_t channel = size_t(group) * size_t(layer_.outputs) + o;
      for (int i = 0; i < w.kernel_h; i++) {
        for (int j = 0; j < w.kernel_w; j++) {
          const size_t tap = size_t(i) * size_t(w.kernel_w) + size_t(j);
          const size_t at = size_t(i * w.dilation_h) * size_t(layer_.kernel.width) + size_t(j * w.dilation_w);
          for (size_t c = 0; c < depth; c++) {
            const size_t from = op_.kind == OpKind::DepthwiseConv2D
                                    ? tap * size_t(out_.c) + channel
                                    : (channel * size_t(w.kernel_h * w.kernel_w) + tap) * depth + c;
            kernels[(o * depth + c) * plane + at] = int16_t(weights[from] - zero_point);
          }
        }
      }
    }
    return kernels;
  }

 private:
  const Op& op_;
  Nhwc in_;
  Nhwc out_;
  int groups_ = 1;
  fft::Correlation layer_;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

}  // namespace

FftOracle::FftOracle(int threads, std::uint64_t limit)
    : workers_(threads > 0 ? threads : int(std::max(1U, std::thread::hardware_concurrency()))),
      memory_(limit) {}

bool FftOracle::run(const Op& op, const ConvParams& params, Nhwc in, Input input, Input weights, Nhwc out,
                    reference::Output output) {
  const Planes planes(op, in, out);
  const fft::Correlation& layer = planes.layer();
  const Window& w = op.window;
  const auto columns = size_t(fft::valid(layer.image, layer.kernel).width);
  try {
    for (int group = 0; group < planes.groups(); group++) {
      const std::vector<int16_t> kernels = planes.kernels(weights, group, params.zp_weights);
      for (int n = 0; n < out.n; n++) {
        const std::vector<int16_t> image = planes.image(input, n, group, params.zp_in);
        const auto take = [&](int o, std::span<const int64_t> sums) {
          const size_t channel = size_t(group) * size_t(layer.outputs) + size_t(o);
          int8_t* result = output.data() + size_t(n) * size_t(out.h * out.w) * size_t(out.c) + channel;
          for (int y = 0; y < out.h; y++) {
            const int64_t* row = sums.data() + size_t(y * w.stride_h) * columns;
            for (int x = 0; x < out.w; x++, result += out.c)
              *result = reference::requantize_sum(params, channel, int32_t(row[x * w.stride_w]));
          }
        };
        const fft::ExactResult r =
            fft::correlate_exactly<double>(layer, image, kernels, workers_, memory_, take);
        if (!r.exact) {
          notices_.push_back("oracle: '" + op.name + "' computed directly: the FFT's sums might be off by " +
                             number(r.bound));
          return false;
        }
        bound_ = std::max(bound_, r.bound);
        distance_ = std::max(distance_, r.distance);
      }
    }
  } catch (const fft::OutOfMemory& error) {
    notices_.push_back("oracle: '" + op.name + "' computed directly: " + error.what());
    return false;
  }
  layers_++;
  return true;
}

std::vector<std::string> FftOracle::notes() const {
  std::vector<std::string> notes = {"oracle: " + std::to_string(layers_) +
                                    " convolutions by FFT; sums within " + number(distance_) +
                                    " of an integer, the bound is " + number(bound_)};
  notes.insert(notes.end(), notices_.begin(), notices_.end());
  return notes;
}

}  // namespace kaiten

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "onednn.h"

#ifdef KAITEN_HAVE_ONEDNN

#include <dnnl.hpp>

namespace kaiten::bench {
namespace {

using dnnl::memory;

class Convolution : public OneDnn {
 public:
  Convolution(const fft::LayerShape& s, std::span<const float> images, std::span<const float> kernels)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const auto dims = [](int a, int b, const fft::Size& size) {
      return memory::dims{a, b, size.depth, size.height, size.width};
    };
    const memory::dims source = dims(s.batch, s.channels, s.image),
                       weights = dims(s.outputs, s.channels, s.kernel),
                       result = dims(s.batch, s.outputs, s.result());
    const auto any = [](const memory::dims& d) {
      return memory::desc(d, memory::data_type::f32, memory::format_tag::any);
    };
    const dnnl::convolution_forward::desc description(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(source), any(weights),
        any(result), {1, 1, 1}, {0, 0, 0}, {0, 0, 0});
    const dnnl::convolution_forward::primitive_desc primitive(description, engine_);
    implementation_ = primitive.impl_info_str();
    convolution_ = dnnl::convolution_forward(primitive);
    source_ = memory(primitive.src_desc(), engine_);
    weights_ = memory(primitive.weights_desc(), engine_);
    result_ = memory(primitive.dst_desc(), engine_);
    dense_ = memory({result, memory::data_type::f32, memory::format_tag::ncdhw}, engine_);
    put(images, {source, memory::data_type::f32, memory::format_tag::ncdhw}, source_);
    put(kernels, {weights, memory::data_type::f32, memory::format_tag::oidhw}, weights_);
  }

  void run() override {
    convolution_.execute(stream_,
                         {{DNNL_ARG_SRC, source_}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, result_}});
    stream_.wait();
  }
  std::vector<float> result() override {
    dnnl::reorder(result_, dense_).execute(stream_, result_, dense_);
    stream_.wait();
    const auto* data = static_cast<const float*>(dense_.get_data_handle());
    return {data, data + dense_.get_desc().get_size() / sizeof(float)};
  }
  std::string implementation() const override { return implementation_; }

 private:
  void put(std::span<const float> values, const memory::desc& layout, memory& to) {
    memory from(layout, engine_, const_cast<float*>(values.data()));
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward convolution_;
  memory source_, weights_, result_, dense_;
  std::string implementation_;
};

}  // namespace

std::unique_ptr<OneDnn> make_onednn(const fft::LayerShape& shape, std::span<const float> images,
                                    std::span<const float> kernels) {
  return std::make_unique<Convolution>(shape, images, kernels);
}

std::string onednn_version() {
  const dnnl::version_t* v = dnnl::version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

}  // namespace kaiten::bench

#else

namespace kaiten::bench {

std::unique_ptr<OneDnn> make_onednn(const fft::LayerShape&, std::span<const float>, std::span<const float>) {
  return nullptr;
}
std::string onednn_version() { return {}; }

}  // namespace kaiten::bench

#endif

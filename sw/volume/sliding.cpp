// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/sliding.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "volume/boxes.h"

namespace kaiten::volume {

using fft::Array;
using fft::Size;

namespace {

template <typename T>
class Slider {
 public:
  Slider(const Network& network, const BlockEvaluator<T>& evaluator, Source& source, fft::Memory& memory)
      : network_(network),
        evaluator_(evaluator),
        source_(source),
        whole_(fft::valid(source.size(), network.field_of_view())),
        block_(block_result(network, evaluator.plan())),
        input_(block_input(network, evaluator.plan())),
        runs_(int(plain_windows(network, evaluator.plan()).elements())),
        together_(blocks_together(network, evaluator.plan())),
        grid_(blocks_of(whole_, block_)) {
    const auto blocks = std::uint64_t(together_);
    inputs_ = Array<T>(memory, blocks * input_elements());
    results_ = Array<T>(memory, blocks * result_elements());
    if (!std::is_same_v<T, float>) voxels_ = Array<float>(memory, input_elements());
  }

  std::int64_t blocks() const { return std::int64_t(grid_.elements()); }
  int together() const { return together_; }

  // Blocks first .. first + together - 1, as far as there are; returns the voxels stored.
  std::uint64_t compute(std::int64_t first, const std::function<void(const BlockOf<T>&)>& store) {
    const int count = int(std::min<std::int64_t>(together_, blocks() - first));
    for (int b = 0; b < count; b++) read(first + b, input(b));
    const Plan& plan = evaluator_.plan();
    const int jobs = count * runs_;
    const Size image = maps_of(network_, plan).front().size;
    const std::size_t image_elements = std::size_t(network_.inputs) * image.elements();
    for (int job = 0; job < jobs; job += plan.batch) {
      Array<T> images = evaluator_.make_images();
      for (int s = 0; s < plan.batch; s++) {
        const int j = std::min(job + s, jobs - 1);  // a batch that is not full repeats its last image
        take_box(network_.inputs, input(j / runs_).data(), input_, shift_of(network_, plan, j % runs_),
                 images.data() + std::size_t(s) * image_elements, image);
      }
      const Array<T> fragments = evaluator_.evaluate(std::move(images));
      const std::size_t each = fragments.size() / std::size_t(plan.batch);
      for (int s = 0; s < plan.batch && job + s < jobs; s++)
        scatter<T>(network_, plan, (job + s) % runs_, fragments.data() + std::size_t(s) * each,
                   result((job + s) / runs_));
    }
    std::uint64_t voxels = 0;
    for (int b = 0; b < count; b++) voxels += hand_over(first + b, result(b), store);
    return voxels;
  }

 private:
  std::size_t input_elements() const { return std::size_t(network_.inputs) * input_.elements(); }
  std::size_t result_elements() const { return std::size_t(network_.outputs()) * block_.elements(); }
  std::span<T> input(int b) { return {inputs_.data() + std::size_t(b) * input_elements(), input_elements()}; }
  std::span<T> result(int b) {
    return {results_.data() + std::size_t(b) * result_elements(), result_elements()};
  }

  void read(std::int64_t block, std::span<T> to) {
    if constexpr (std::is_same_v<T, float>) {
      source_.read(begin_of(block), input_, to);
    } else {
      source_.read(begin_of(block), input_, {voxels_.data(), voxels_.size()});
      std::transform(voxels_.begin(), voxels_.end(), to.begin(),
                     [&](float v) { return evaluator_.stored(v); });
    }
  }

  Size begin_of(std::int64_t block) const {
    const std::int64_t row = block / grid_.width;
    return {int(row / grid_.height) * block_.depth, int(row % grid_.height) * block_.height,
            int(block % grid_.width) * block_.width};
  }

  std::uint64_t hand_over(std::int64_t block, std::span<const T> values,
                          const std::function<void(const BlockOf<T>&)>& store) const {
    BlockOf<T> r;
    r.begin = begin_of(block);
    r.extent = {std::min(block_.depth, whole_.depth - r.begin.depth),
                std::min(block_.height, whole_.height - r.begin.height),
                std::min(block_.width, whole_.width - r.begin.width)};
    r.values.resize(std::size_t(network_.outputs()) * r.extent.elements());
    take_box(network_.outputs(), values.data(), block_, {0, 0, 0}, r.values.data(), r.extent);
    store(r);
    return r.extent.elements();
  }

  const Network& network_;
  const BlockEvaluator<T>& evaluator_;
  Source& source_;
  Size whole_, block_, input_;
  int runs_, together_;
  Size grid_;
  Array<T> inputs_, results_;
  Array<float> voxels_;  // of a block, where T is not float
};

}  // namespace

void require_view(const Network& network, const Size& volume) {
  const Size view = network.field_of_view();
  if (!view.inside(volume))
    throw InputError(
        fmt::format("a volume of {} is smaller than the network's field of view, {}: at least that is needed",
                    volume.text(), view.text()));
}

std::int64_t block_count(const Network& network, const Plan& plan, const Size& volume) {
  return std::int64_t(
      blocks_of(fft::valid(volume, network.field_of_view()), block_result(network, plan)).elements());
}

template <typename T>
Progress slide(const Network& network, const BlockEvaluator<T>& evaluator, Source& source,
               fft::Memory& memory, const std::type_identity_t<SlidingRun<T>>& run) {
  require_view(network, source.size());
  Slider<T> slider(network, evaluator, source, memory);
  Progress progress;
  progress.blocks = slider.blocks();
  const Seconds start = now();
  for (std::int64_t b = run.first; b < progress.blocks; b += slider.together()) {
    progress.voxels += slider.compute(b, run.store);
    progress.done = std::min(b + slider.together(), progress.blocks);
    progress.spent = now() - start;
    run.progress(progress);
  }
  return progress;
}

template Progress slide(const Network&, const BlockEvaluator<float>&, Source&, fft::Memory&,
                        const SlidingRun<float>&);
template Progress slide(const Network&, const BlockEvaluator<std::int8_t>&, Source&, fft::Memory&,
                        const SlidingRun<std::int8_t>&);

}  // namespace kaiten::volume

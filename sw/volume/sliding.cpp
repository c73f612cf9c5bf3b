// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/sliding.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
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
        shift_(evaluator.plan().halos_kept ? most_shift(network, evaluator.plan()) : 0),
        lag_(lag_of(network, evaluator.plan(), network.layers.size())),
        grid_(grid_of(network, evaluator.plan(), whole_)) {
    if (evaluator.plan().halos_kept) keep_halos();
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
    const std::size_t layers = begin_block(first);
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
      const Array<T> fragments = evaluate(std::move(images), job / plan.batch, layers);
      const std::size_t each = fragments.size() / std::size_t(plan.batch);
      for (int s = 0; each > 0 && s < plan.batch && job + s < jobs; s++)
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
    Size begin = begin_of(block);
    begin.depth -= shift_;
    const int outside = std::max(0, -begin.depth);  // slices before the volume's
    begin.depth += outside;
    if constexpr (std::is_same_v<T, float>) {
      source_.read(begin, input_, to);
    } else {
      source_.read(begin, input_, {voxels_.data(), voxels_.size()});
      std::transform(voxels_.begin(), voxels_.end(), to.begin(),
                     [&](float v) { return evaluator_.stored(v); });
    }
    if (outside > 0) move_down(outside, to);
  }

  // The slices of every map, those of the volume's beginning, make room for some of zeros.
  void move_down(int slices, std::span<T> maps) const {
    const auto room = std::ptrdiff_t(slices) * input_.height * input_.width,
               all = std::ptrdiff_t(input_.elements());
    for (auto map = maps.begin(); map != maps.end(); map += all) {
      std::copy_backward(map, map + all - room, map + all);
      std::fill_n(map, room, T(0));
    }
  }

  void keep_halos() {
    const Plan& plan = evaluator_.plan();
    if (runs_ % plan.batch != 0)
      throw std::invalid_argument("halos are kept of one block at a time: the batch is some of its runs");
    for (int run = 0; run < runs_; run += plan.batch) halos_.push_back(evaluator_.make_halos());
  }

  // How many layers have something to compute in this block, where halos are kept.
  std::size_t begin_block(std::int64_t block) {
    std::size_t layers = 0;
    if (halos_.empty()) return layers;
    const std::int64_t row = block % grid_.depth;
    if (row == 0)
      for (Halos<T>& h : halos_) h.clear();
    while (layers < network_.layers.size() && idle_blocks(network_, evaluator_.plan(), layers) <= row)
      layers++;
    return layers;
  }

  Array<T> evaluate(Array<T> images, int group, std::size_t layers) {
    return halos_.empty() ? evaluator_.evaluate(std::move(images))
                          : evaluator_.evaluate_next(std::move(images), halos_[std::size_t(group)], layers);
  }

  // In the grid.
  Size begin_of(std::int64_t block) const {
    const bool down = evaluator_.plan().halos_kept;  // column by column
    const std::int64_t depth = down ? block % grid_.depth : block / grid_.width / grid_.height;
    const std::int64_t column =
        down ? block / grid_.depth : block % (std::int64_t(grid_.width) * grid_.height);
    return {int(depth) * block_.depth, int(column / grid_.width) * block_.height,
            int(column % grid_.width) * block_.width};
  }

  std::uint64_t hand_over(std::int64_t block, std::span<const T> values,
                          const std::function<void(const BlockOf<T>&)>& store) const {
    BlockOf<T> r;
    r.begin = begin_of(block);
    r.begin.depth -= lag_;
    const int outside = std::max(0, -r.begin.depth);  // slices before the volume's
    r.begin.depth += outside;
    r.extent = {std::min(block_.depth - outside, whole_.depth - r.begin.depth),
                std::min(block_.height, whole_.height - r.begin.height),
                std::min(block_.width, whole_.width - r.begin.width)};
    if (r.extent.depth <= 0) return 0;
    r.values.resize(std::size_t(network_.outputs()) * r.extent.elements());
    take_box(network_.outputs(), values.data(), block_, {outside, 0, 0}, r.values.data(), r.extent);
    store(r);
    return r.extent.elements();
  }

  const Network& network_;
  const BlockEvaluator<T>& evaluator_;
  Source& source_;
  Size whole_, block_, input_;
  int runs_, together_;
  int shift_, lag_;  // with kept halos: what a block reads and its results lie so much before its place
  Size grid_;
  std::vector<Halos<T>> halos_;  // of each batch of runs, where they are kept
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
  return std::int64_t(grid_of(network, plan, fft::valid(volume, network.field_of_view())).elements());
}

std::int64_t first_block(const Network& network, const Plan& plan, const Size& volume, std::int64_t done) {
  if (!plan.halos_kept) return done;
  return done - done % grid_of(network, plan, fft::valid(volume, network.field_of_view())).depth;
}

template <typename T>
Progress slide(const Network& network, const BlockEvaluator<T>& evaluator, Source& source,
               fft::Memory& memory, const std::type_identity_t<SlidingRun<T>>& run) {
  require_view(network, source.size());
  Slider<T> slider(network, evaluator, source, memory);
  Progress progress;
  progress.blocks = slider.blocks();
  const Seconds start = now();
  if (run.first != first_block(network, evaluator.plan(), source.size(), run.first))
    throw std::invalid_argument("a column of blocks with kept halos is begun in its middle");
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

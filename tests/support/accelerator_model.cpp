// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/accelerator_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "codec/zvc.h"

namespace kaiten::test {

namespace {

// Behind the end of a weight or parameter memory comes its beginning, in WB the first row of the ring DB.
template <class Memory>
auto& ring_at(Memory& memory, int at, int first = 0) {
  const int size = int(memory.size());
  return memory[std::size_t(at < size ? at : at - size + first)];
}

constexpr std::size_t kInFlight = 3;
constexpr int kTableWords = 32;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("accelerator model: " + what); }

std::int64_t divide_away(std::int64_t x, int bits) {  // x / 2^bits, ties away from zero
  if (bits == 0) return x;
  const std::int64_t half = std::int64_t(1) << (bits - 1);
  return x >= 0 ? (x + half) >> bits : -((-x + half) >> bits);
}

}  // namespace

int AcceleratorModel::Ring::at(int slot, int rows) const {
  for (; rows > 0; rows--) slot = next(slot);
  return slot;
}

AcceleratorModel::AcceleratorModel(const Config& config, std::uint64_t seed) : config_(config), rng_(seed) {
  const auto noise = [&](std::size_t words, std::size_t bytes) {
    std::vector<std::vector<std::int8_t>> m(words, std::vector<std::int8_t>(bytes));
    for (auto& w : m) {
      for (auto& b : w) b = std::int8_t(rng_());
    }
    return m;
  };
  const std::size_t cp = std::size_t(config.cp);
  sb_ = noise(std::size_t(config.sb_depth) * 9, cp);
  vb_ = noise(std::size_t(config.vb_depth) * 9, cp);
  wb_ = noise(std::size_t(config.wb_rows), 9 * cp);
  vwb_ = noise(std::size_t(config.vwb_rows), 9 * cp);
  zsb_array_.resize(std::size_t(config.zsb_array));
  zsb_vector_.resize(std::size_t(config.zsb_vector));
}

AcceleratorModel::Word& AcceleratorModel::word(bool vb, int slot, int row_mod3, int position) {
  auto& buffer = vb ? vb_ : sb_;
  const int bank = (position + 3 * row_mod3) % 9;
  // Words beyond a row's last one are read and multiplied by zero: the address wraps like the memory's.
  const std::size_t address = std::size_t(slot + position / 9) % (buffer.size() / 9);
  return buffer[address * 9 + std::size_t(bank)];
}

// --- order
// ------------------------------------------------------------------------------------------------------------

void AcceleratorModel::run(std::span<const std::uint8_t> bytes) {
  commands_.clear();
  queues_ = {};
  early_.reset();
  Decoder decoder;
  for (std::size_t at = 0; at + kCommandBytes <= bytes.size(); at += kCommandBytes) {
    const auto command = decoder.next(bytes.subspan(at).first<kCommandBytes>());
    if (!command) continue;
    if (command->extension && !config_.resident && !config_.conv_table) fail("an extension");
    commands_.push_back(*command);
    queues_[std::size_t(commands_.back().queue())].waiting.push_back(std::uint32_t(commands_.size()) - 1);
  }
  store_data_.assign(commands_.size(), {});
  stored_.assign(commands_.size(), false);
  tell_completed();
  std::size_t left = commands_.size();
  std::vector<std::function<void()>> steps;
  while (left > 0) {
    steps.clear();
    for (int q = 0; q < kQueues; q++) {
      Queued& queue = queues_[std::size_t(q)];
      if (!queue.waiting.empty()) {
        const std::uint32_t head = queue.waiting.front();
        const Command& c = commands_[head];
        if (queue.in_flight.size() < kInFlight && may_start(c)) {
          steps.push_back([&, head] {
            queue.waiting.pop_front();
            InFlight f{head, false, {}, false};
            if (commands_[head].queue() == Queue::kLoad && random(2) == 0) {
              f.fetched = fetch(commands_[head].body);
              f.has_fetched = true;
            }
            queue.in_flight.push_back(std::move(f));
          });
        }
        const auto* conv = std::get_if<ConvCommand>(&c.body);
        if (conv && !early_ && c.wait[0] <= queues_[0].completed) {
          steps.push_back([&, head, conv] {
            early_ = head;
            const auto& extension = commands_[head].extension;
            const bool in_pb = extension && extension->resident_passes > 0;
            const std::int64_t from = in_pb ? extension->resident : conv->weights;
            early_rows_.assign(wb_.begin() + from, wb_.begin() + from + config_.kp);
          });
        }
      }
      // Commands of one queue execute in order.
      const auto next = std::find_if(queue.in_flight.begin(), queue.in_flight.end(),
                                     [](const InFlight& f) { return !f.executed; });
      if (next != queue.in_flight.end() && may_execute(*next)) steps.push_back([&, next] { execute(*next); });
      if (!queue.in_flight.empty() && queue.in_flight.front().executed) {
        steps.push_back([&, q] {
          complete(Queue(q));
          left--;
        });
      }
    }
    if (steps.empty()) fail("the program hangs with " + std::to_string(left) + " commands left");
    steps[std::size_t(random(std::int64_t(steps.size())))]();
  }
}

bool AcceleratorModel::may_start(const Command& c) const {
  for (std::size_t q = 0; q < kQueues; q++) {
    if (queues_[q].completed < c.wait[q]) return false;
  }
  return true;
}

bool AcceleratorModel::may_execute(const InFlight& f) const {
  const Command& c = commands_[f.index];
  if (c.queue() == Queue::kStore) return stored_[f.index];
  if (c.queue() == Queue::kLoad) return true;
  const bool to_store = std::visit(
      [](const auto& b) {
        if constexpr (requires { b.to_store; }) return b.to_store != 0;
        return false;
      },
      c.body);
  if (!to_store) return true;
  // Its results go to the STORE immediately before it, which must have started.
  if (f.index == 0 || commands_[f.index - 1].queue() != Queue::kStore) fail("a producer without a STORE");
  const auto& stores = queues_[std::size_t(Queue::kStore)].in_flight;
  return std::any_of(stores.begin(), stores.end(), [&](const InFlight& s) { return s.index == f.index - 1; });
}

void AcceleratorModel::execute(InFlight& f) {
  f.executed = true;
  const Command& c = commands_[f.index];
  if (c.queue() == Queue::kLoad) {
    execute_load(c.body, f.has_fetched ? f.fetched : fetch(c.body));
  } else if (const auto* conv = std::get_if<ConvCommand>(&c.body)) {
    this->conv(f.index, *conv);
    if (early_ == f.index) early_.reset();
  } else if (const auto* window = std::get_if<WindowCommand>(&c.body)) {
    this->window(f.index, *window);
  } else if (const auto* add = std::get_if<AddCommand>(&c.body)) {
    this->add(f.index, *add);
  }
  if (f.index > 0 && c.queue() != Queue::kLoad && c.queue() != Queue::kStore &&
      commands_[f.index - 1].queue() == Queue::kStore) {
    stored_[f.index - 1] = true;
    if (random(2) == 0) {
      write_store(std::get<StoreCommand>(commands_[f.index - 1].body));
      store_data_[f.index - 1].clear();
    }
  }
}

void AcceleratorModel::complete(Queue queue) {
  Queued& q = queues_[std::size_t(queue)];
  const std::uint32_t index = q.in_flight.front().index;
  if (queue == Queue::kStore && !store_data_[index].empty())
    write_store(std::get<StoreCommand>(commands_[index].body));
  q.in_flight.pop_front();
  q.completed++;
  tell_completed();
}

void AcceleratorModel::tell_completed() const {
  if (!completed_) return;
  std::array<std::uint32_t, kQueues> counts;
  for (std::size_t q = 0; q < kQueues; q++) counts[q] = queues_[q].completed;
  completed_(counts);
}

void AcceleratorModel::spoil(bool vb, int first, int end) {
  auto& buffer = vb ? vb_ : sb_;
  for (std::size_t w = std::size_t(first) * 9; w < std::size_t(end) * 9; w++) {
    for (auto& byte : buffer[w]) byte = std::int8_t(byte + 53);
  }
}

void AcceleratorModel::spoil_weights(bool vwb, int first, int end) {
  auto& rows = vwb ? vwb_ : wb_;
  for (int row = first; row < end; row++) {
    for (auto& byte : rows[std::size_t(row)]) byte = std::int8_t(byte + 53);
  }
}

// --- LOAD and STORE
// ---------------------------------------------------------------------------------------------------

std::vector<std::uint8_t> AcceleratorModel::fetch(const CommandBody& body) const {
  std::vector<std::uint8_t> bytes;
  const auto read = [&](std::int64_t base, std::int64_t offset, std::int64_t n) {
    const auto& m = memory_[std::size_t(base)];
    if (offset + n > std::int64_t(m.size())) fail("LOAD beyond the end of memory " + std::to_string(base));
    bytes.insert(bytes.end(), m.begin() + offset, m.begin() + offset + n);
  };
  if (const auto* l = std::get_if<LoadRowsCommand>(&body)) {
    for (std::int64_t row = 0; row < l->rows; row++) {
      for (std::int64_t s = 0; s < l->segments; s++) {
        const std::int64_t pixel = s + 1 == l->segments ? l->last_pixel_bytes : l->pixel_bytes;
        const std::int64_t at = l->offset + row * l->row_pitch + s * l->segment_pitch;
        if (l->zvc) {
          if (l->step_bytes || at % config_.axi_bytes != 0)
            fail("a compressed segment where there cannot be one");
          const std::int64_t surface = l->surface + row * l->segments + s;
          const auto& m = memory_[std::size_t(l->base)];
          if (surface >= std::int64_t(m.size())) fail("a size surface beyond the end of memory");
          expand(l->base, at, pixel * l->columns, m[std::size_t(surface)], int(l->fill), bytes);
        } else {
          read(l->base, at, l->step_bytes ? l->row_bytes : pixel * l->columns);
        }
      }
    }
    if (l->zvc && l->rows * l->segments > 1024) fail("a LOAD with too long a size surface");
  } else if (const auto* l = std::get_if<LoadWeightsCommand>(&body)) {
    if (l->bytes > 16384) fail("LOAD of more than 16 KiB of weights");
    if (l->zvc_beats == 0) {
      read(l->base, l->offset, l->bytes);
    } else {
      if (l->offset % config_.axi_bytes != 0) fail("compressed weights off the bus");
      expand(l->base, l->offset, l->bytes, l->zvc_beats, int(l->fill), bytes);
    }
  } else if (const auto* l = std::get_if<LoadParamsCommand>(&body)) {
    read(l->base, l->offset, l->count * 9);
  }
  return bytes;
}

void AcceleratorModel::expand(std::int64_t base, std::int64_t offset, std::int64_t n, std::int64_t units,
                              int zero, std::vector<std::uint8_t>& out) const {
  const auto& m = memory_[std::size_t(base)];
  const std::int64_t read = units == 0 ? n : units * config_.axi_bytes;
  if (offset + read > std::int64_t(m.size())) fail("LOAD beyond the end of memory " + std::to_string(base));
  const auto memory = std::span(m).subspan(std::size_t(offset), std::size_t(read));
  const codec::ZvcFormat format = codec::accelerator_format(config_.axi_bytes, zero);
  std::vector<std::uint8_t> raw(static_cast<std::size_t>(n));
  if (units > 255) {  // weights: their size is no byte
    if (units >= (n + config_.axi_bytes - 1) / config_.axi_bytes)
      fail("packed weights that are longer than raw ones");
    codec::zvc_expand(format, memory, raw);
  } else {
    codec::zvc_load(format, memory, std::uint8_t(units), raw);
  }
  out.insert(out.end(), raw.begin(), raw.end());
}

void AcceleratorModel::execute_load(const CommandBody& body, const std::vector<std::uint8_t>& bytes) {
  std::size_t at = 0;
  if (const auto* l = std::get_if<LoadRowsCommand>(&body)) {
    for (int buffer = 0; buffer < 2; buffer++) {
      if (!(buffer == 0 ? l->to_sb : l->to_vb)) continue;
      const Ring ring = buffer == 0 ? Ring{int(l->sb_first), int(l->sb_last), int(l->slot_size)}
                                    : Ring{int(l->vb_first), int(l->vb_last), int(l->slot_size)};
      int slot = int(buffer == 0 ? l->sb_slot : l->vb_slot);
      at = 0;
      for (int row = 0; row < l->rows; row++, slot = ring.next(slot)) {
        for (int s = 0; s < l->segments; s++) {
          const int pixel = int(s + 1 == l->segments ? l->last_pixel_bytes : l->pixel_bytes);
          const int row_bytes = int(l->step_bytes ? l->row_bytes : pixel * l->columns);
          std::vector<int> banks;  // of the words that are written together
          for (int column = 0; column < l->columns; column++) {
            const int first = int(l->step_bytes ? column * l->step_bytes - l->lead_bytes : column * pixel);
            if (column % (l->more_pixels + 1) == 0) banks.clear();
            for (int word = 0; word * config_.cp < pixel; word++) {
              const int position = int(l->first + column * l->pixel + s * l->segment_groups) + word;
              if (l->more_pixels > 0) {
                if (std::find(banks.begin(), banks.end(), position % 9) != banks.end())
                  fail("two words for one bank");
                banks.push_back(position % 9);
              }
              Word& w = this->word(buffer == 1, slot, int(l->row_mod3 + row) % 3, position);
              for (int i = 0; i < config_.cp; i++) {
                const int byte = word * config_.cp + i;  // of the pixel
                const bool held = byte < pixel && first + byte >= 0 && first + byte < row_bytes;
                w[std::size_t(i)] =
                    std::int8_t(held ? bytes.at(at + std::size_t(first + byte)) : std::uint8_t(l->fill));
              }
            }
          }
          at += std::size_t(row_bytes);
        }
      }
    }
  } else if (const auto* l = std::get_if<LoadWeightsCommand>(&body)) {
    auto& memory = l->to_vwb ? vwb_ : wb_;
    for (int pass = 0; pass < l->passes; pass++) {
      const bool last = (l->first_pass + pass) % l->tile_passes == l->tile_passes - 1;
      const int n = int(last ? l->last_row_bytes : 9 * config_.cp);
      for (int k = 0; k < l->rows; k++) {
        auto& row = ring_at(memory, int(l->row + pass * l->pass_pitch) + k, l->to_vwb ? 0 : wb_split_);
        std::fill(row.begin(), row.end(), std::int8_t(l->fill));
        int left = n;
        for (int word = 0; word < 9; word++) {
          const int word_bytes = int(last && word >= l->last_full_words ? l->last_word_bytes : config_.cp);
          for (int i = 0; i < word_bytes && left > 0; i++, left--)
            row.at(std::size_t(word * config_.cp + i)) = std::int8_t(bytes.at(at++));
        }
      }
    }
    if (at != bytes.size()) fail("LOAD of weights with a wrong number of bytes");
  } else if (const auto* l = std::get_if<LoadParamsCommand>(&body)) {
    auto& memory = l->to_vector ? zsb_vector_ : zsb_array_;
    const auto number = [&](std::size_t a) {
      return std::int32_t(std::uint32_t(bytes[a]) | std::uint32_t(bytes[a + 1]) << 8 |
                          std::uint32_t(bytes[a + 2]) << 16 | std::uint32_t(bytes[a + 3]) << 24);
    };
    for (int i = 0; i < l->count; i++, at += 9) {
      memory.at(std::size_t(l->index + i)) = {number(at), number(at + 4), std::int8_t(bytes[at + 8])};
    }
  }
}

void AcceleratorModel::write_store(const StoreCommand& s) {
  const std::size_t index = [&] {
    for (std::size_t i = 0; i < commands_.size(); i++) {
      if (std::get_if<StoreCommand>(&commands_[i].body) == &s) return i;
    }
    fail("unknown STORE");
  }();
  const auto& data = store_data_[index];
  std::size_t at = 0;
  auto& m = memory_[std::size_t(s.base)];
  for (std::int64_t segment = 0; segment < s.segments; segment++) {
    const std::int64_t pixel = segment + 1 == s.segments ? s.last_pixel_bytes : s.pixel_bytes;
    for (std::int64_t row = 0; row < s.rows; row++) {
      if (s.zvc) {
        const std::int64_t to = s.offset + row * s.row_pitch + segment * s.segment_pitch;
        const std::int64_t surface = s.surface + row * s.surface_pitch + segment;
        const std::int64_t n = s.columns * pixel;
        if (to % config_.axi_bytes != 0 || n > std::int64_t(config_.zvc_beats) * config_.axi_bytes)
          fail("a compressed segment where there cannot be one");
        if (std::max(to + n, surface + 1) > std::int64_t(m.size()))
          fail("STORE beyond the end of memory " + std::to_string(s.base));
        const std::span<const std::uint8_t> raw(reinterpret_cast<const std::uint8_t*>(&data.at(at)),
                                                std::size_t(n));
        m[std::size_t(surface)] =
            codec::zvc_store(codec::accelerator_format(config_.axi_bytes, int(s.zero_value)), raw,
                             std::span(m).subspan(std::size_t(to), std::size_t(n)));
        at += std::size_t(n);
        continue;
      }
      for (std::int64_t i = 0; i < s.columns * pixel; i++) {
        const std::int64_t to = s.offset + row * s.row_pitch + segment * s.segment_pitch + i;
        if (to >= std::int64_t(m.size())) fail("STORE beyond the end of memory " + std::to_string(s.base));
        m[std::size_t(to)] = std::uint8_t(data.at(at++));
      }
    }
  }
  if (s.zvc && (s.rows - 1) * s.surface_pitch + s.segments > 1024)
    fail("a STORE with too long a size surface");
  if (at != data.size()) fail("STORE of a wrong number of bytes");
}

// --- results
// ----------------------------------------------------------------------------------------------------------

std::int64_t AcceleratorModel::round(std::int64_t x, const Param& p, int rule) const {
  if (rule == 3) {  // float32, half to even
    const float y = float(x) * std::ldexp(float(p.mult), p.shift - 31);
    return std::int64_t(std::nearbyint(std::clamp(y, -1.0e6F, 1.0e6F)));
  }
  const int left = std::max(p.shift, 0);
  const int right = std::max(-p.shift, 0);
  const std::int64_t shifted = x * (std::int64_t(1) << left);
  if (rule == 0) return divide_away((shifted * p.mult + (std::int64_t(1) << 30)) >> 31, right);
  return divide_away(shifted * p.mult, 31 + right);
}

std::int8_t AcceleratorModel::requantise(std::int64_t acc, const Param& p, int rule, int zero, int low,
                                         int high) const {
  std::int64_t y = 0;
  if (rule == 2) {
    const std::int64_t twice = 2 * std::abs(acc) + p.bias;
    y = (twice * p.mult) >> (31 - p.shift);
    if (acc < 0) y = -y;
  } else {
    y = round(acc + p.bias, p, rule);
  }
  return std::int8_t(std::clamp<std::int64_t>(y + zero, low, high));
}

std::int8_t AcceleratorModel::looked_up(const std::vector<Param>& zsb, std::int64_t table,
                                        std::int8_t value) {
  const int entry = value + 128;
  const Param& p = ring_at(zsb, int(table) + entry / 8);
  const std::int32_t half = entry % 8 < 4 ? p.bias : p.mult;
  return std::int8_t(half >> (8 * (entry % 4)));
}

template <class Body>
void AcceleratorModel::result(std::uint32_t index, const Body& c, int lanes, int tile, int row, int column,
                              const std::vector<std::int8_t>& values) {
  const int words = lanes / config_.cp;
  if (watch_) {
    const int exist = std::clamp(int(c.out_groups - c.out_group) - tile * words, 0, words) * config_.cp;
    watch_(index, int(c.tiles) - 1 - tile, int(c.rows) - 1 - row, int(c.columns) - 1 - column,
           std::span(values).first(std::size_t(exist)));
  }
  for (int w = 0; w < words; w++) {
    if (c.out_group + tile * words + w >= c.out_groups) continue;
    const int position = int(c.out_first + column * c.out_pixel) + tile * words + w;
    const int mod3 = int(c.out_row_mod3 + row) % 3;
    const std::span<const std::int8_t> bytes =
        std::span(values).subspan(std::size_t(w * config_.cp), std::size_t(config_.cp));
    if (c.to_sb) {
      const Ring ring{int(c.sb_first), int(c.sb_last), int(c.out_slot_size)};
      std::copy(bytes.begin(), bytes.end(),
                word(false, ring.at(int(c.sb_slot), row), mod3, position).begin());
    }
    if (c.to_vb) {
      const Ring ring{int(c.vb_first), int(c.vb_last), int(c.out_slot_size)};
      std::copy(bytes.begin(), bytes.end(), word(true, ring.at(int(c.vb_slot), row), mod3, position).begin());
    }
  }
  if (c.to_store) {
    const StoreCommand& s = std::get<StoreCommand>(commands_[index - 1].body);
    const std::int64_t n = tile + 1 == s.segments ? s.last_pixel_bytes : s.pixel_bytes;
    store_data_[index - 1].insert(store_data_[index - 1].end(), values.begin(), values.begin() + n);
  }
}

// --- engines
// ----------------------------------------------------------------------------------------------------------

// Two windows at once: what the compiler must keep to.
void AcceleratorModel::require_pairs(const ConvCommand& c) const {
  if (!config_.two_pixels) fail("two windows at once");
  if (c.pair_groups > 4 || c.mode != 1 || c.more_kernel_tile_rows != 0 || c.more_kernel_tile_columns != 0)
    fail("two windows at once of a kernel with several taps");
  if (c.pad_left != 0 || (c.columns - 1) * c.column_stride >= c.in_width || c.weight_zero != 0)
    fail("two windows at once outside the map, or weights with a zero point");
  if (c.passes > 1 && c.rows * c.columns < 3) fail("two windows at once in a pass of fewer than three");
  const auto apart = [](std::int64_t pixel, std::int64_t words) {
    return pixel % 9 >= words && pixel % 9 <= 9 - words;
  };
  if (!apart(c.in_step, c.pair_groups)) fail("two windows at once whose words meet in a bank");
}

void AcceleratorModel::conv(std::uint32_t index, const ConvCommand& c) {
  const Ring ring{int(c.in_first), int(c.in_last), int(c.in_slot_size)};
  const int kp = config_.kp;
  const int cp = config_.cp;
  if (c.rows * c.columns > config_.ob_pixels) fail("a CONV of more pixels than OB holds");
  if ((c.in_last - c.in_first) / c.in_slot_size + 1 < c.stride && c.rows > 1)
    fail("a stride longer than the ring");
  const int kernel_tile_columns = int(c.more_kernel_tile_columns) + 1;
  const int kernel_tiles = (int(c.more_kernel_tile_rows) + 1) * kernel_tile_columns;
  if (c.tiles * kernel_tiles * c.passes * kp > config_.wb_rows)
    fail("a CONV with more weights than WB holds");
  const ExtendConvCommand extension = commands_[index].extension.value_or(ExtendConvCommand{});
  const int resident = int(extension.resident_passes);
  if (resident > c.passes) fail("a CONV with more resident passes than passes");
  if (c.pair_groups != 0) require_pairs(c);
  // The WB row of a pass's first kernel.
  const auto row_of = [&](int tile, int kernel_tile, int pass) {
    const int k = tile * kernel_tiles + kernel_tile;
    if (pass < resident) return int(extension.resident + k * extension.resident_pitch) + pass * kp;
    return int(c.weights) + (k * (int(c.passes) - resident) + pass - resident) * kp;
  };
  const Word pad(std::size_t(cp), std::int8_t(c.pad_value));
  const Word absent(std::size_t(cp), 0);
  for (int tile = 0; tile < c.tiles; tile++) {
    for (int y = 0; y < c.rows; y++) {
      for (int x = 0; x < c.columns; x++) {
        std::vector<std::int32_t> acc(std::size_t(kp), 0);
        for (int kernel_tile = 0; kernel_tile < kernel_tiles; kernel_tile++) {
          // Rows below the first tap row of the command, and columns right of its first tap column.
          const int down = int(y * c.stride) + (c.mode == 1 ? 1 : 3) * (kernel_tile / kernel_tile_columns);
          const int right = (c.mode == 0 ? 3 : 1) * (kernel_tile % kernel_tile_columns);
          const int left = int(x * c.column_stride - c.pad_left) + right;
          for (int pass = 0; pass < c.passes; pass++) {
            const Word* taps[9];
            for (int t = 0; t < 9; t++) {
              if (c.pair_groups != 0 && pass == c.passes - 1 &&
                  t >= c.pair_groups) {  // words of the other window
                taps[t] = &absent;
                continue;
              }
              if (extension.last_groups != 0 && c.mode != 0 && pass == c.passes - 1 &&
                  (c.mode == 1 ? t : t / 3) >= extension.last_groups) {
                taps[t] = &absent;
                continue;
              }
              const int step = down + (c.mode == 1 ? 0 : t % 3);
              const int row = int(c.top_row) + step;
              const int column = left + (c.mode == 0 ? t / 3 : 0);
              if (row < 0 || row >= c.in_height || column < 0 || column >= c.in_width) {
                taps[t] = &pad;
                continue;
              }
              int position = int(c.in_group);
              if (c.mode == 0) {
                position += int(column * c.in_pixel) + pass;
              } else {
                if (position >= 1152) position -= 2304;
                position +=
                    int(x * c.in_step + right * c.in_pixel) + (c.mode == 1 ? 9 * pass + t : 3 * pass + t / 3);
              }
              taps[t] = &word(false, ring.at(int(c.in_slot), step), (int(c.top_mod3) + step) % 3, position);
            }
            for (int k = 0; k < kp; k++) {
              const auto& weights = early_ == index && tile == 0 && kernel_tile == 0 && pass == 0
                                        ? early_rows_[std::size_t(k)]
                                        : ring_at(wb_, row_of(tile, kernel_tile, pass) + k, wb_split_);
              std::int32_t sum = 0;
              for (int t = 0; t < 9; t++) {
                for (int i = 0; i < cp; i++) {
                  const int weight = weights[std::size_t(t * cp + i)] - int(c.weight_zero);
                  sum += (*taps[t])[std::size_t(i)] * weight;
                }
              }
              acc[std::size_t(k)] += sum;
            }
          }
        }
        std::vector<std::int8_t> values;
        for (int k = 0; k < kp; k++) {
          values.push_back(requantise(acc[std::size_t(k)], ring_at(zsb_array_, int(c.params) + tile * kp + k),
                                      int(c.rule), int(c.zero), int(c.low), int(c.high)));
          if (extension.look_up) values.back() = looked_up(zsb_array_, extension.table_word, values.back());
        }
        result(index, c, kp, tile, y, x, values);
      }
    }
  }
}

void AcceleratorModel::window(std::uint32_t index, const WindowCommand& c) {
  const Ring ring{int(c.in_first), int(c.in_last), int(c.in_slot_size)};
  const int cp = config_.cp;
  const int lanes = 3 * cp;
  const int kernel_tiles = int(c.kernel_rows + 2) / 3;
  for (int tile = 0; tile < c.tiles; tile++) {
    for (int y = 0; y < c.rows; y++) {
      for (int x = 0; x < c.columns; x++) {
        std::vector<std::int32_t> acc(std::size_t(lanes), c.kind == 1 ? -128 : 0);
        int rows_outside = 0;
        int columns_outside = 0;
        for (int i = 0; i < c.kernel_rows; i++) {
          const int step = int(y * c.stride) + i;
          const int row = int(c.top_row) + step;
          const bool row_outside = row < 0 || row >= c.in_height;
          rows_outside += row_outside;
          const int slot = ring.at(int(c.in_slot), step);
          for (int j = 0; j < c.kernel_columns; j++) {
            const int column = int(x * c.stride - c.pad_left) + j;
            const bool column_outside = column < 0 || column >= c.in_width;
            if (i == 0) columns_outside += column_outside;
            for (int lane = 0; lane < lanes; lane++) {
              const int g = lane / cp;
              const int a =
                  row_outside || column_outside
                      ? int(c.pad_value)
                      : word(true, slot, (int(c.top_mod3) + step) % 3,
                             int(column * c.in_pixel + c.in_group) + 3 * tile + g)[std::size_t(lane % cp)];
              std::int32_t& s = acc[std::size_t(lane)];
              if (c.kind == 0) {
                const auto& w =
                    ring_at(vwb_, int(c.weights) + (tile * kernel_tiles + i / 3) * int(c.kernel_columns) + j);
                s += a * (w[std::size_t((3 * (i % 3) + g) * cp + lane % cp)] - int(c.weight_zero));
              } else if (c.kind == 1) {
                s = std::max(s, a);
              } else {
                s += a;
              }
            }
          }
        }
        std::vector<std::int8_t> values;
        for (int lane = 0; lane < lanes; lane++) {
          int at = int(c.params);
          if (c.kind == 0) at += tile * lanes + lane;
          if (c.kind == 2) at += rows_outside * int(c.kernel_columns) + columns_outside;
          values.push_back(requantise(acc[std::size_t(lane)], ring_at(zsb_vector_, at), int(c.rule),
                                      int(c.zero), int(c.low), int(c.high)));
          if (c.look_up) values.back() = looked_up(zsb_vector_, c.table_word, values.back());
        }
        result(index, c, lanes, tile, y, x, values);
      }
    }
  }
}

void AcceleratorModel::add(std::uint32_t index, const AddCommand& c) {
  const Ring ring[2] = {{int(c.in_first), int(c.in_last), int(c.in_slot_size)},
                        {int(c.in2_first), int(c.in2_last), int(c.in_slot_size)}};
  const int first[2] = {int(c.in_slot), int(c.in2_slot)};
  const int operands = 2 + int(c.more_operands);
  const int params = int(c.params);
  const int lanes = 3 * config_.cp;
  if (c.pair) {
    const int banks = int(c.operand_step + 3 * (3 + c.in2_mod3 - c.top_mod3)) % 9;
    if (!config_.add_pair) fail("a pair of operands");
    if (c.broadcast || c.more_operands > 0 || banks < 3 || banks > 6)
      fail("operands of a pair meet in a bank");
  }
  for (int tile = 0; tile < c.tiles; tile++) {
    for (int y = 0; y < c.rows; y++) {
      for (int x = 0; x < c.columns; x++) {
        std::vector<std::int8_t> values;
        for (int lane = 0; lane < lanes; lane++) {
          std::int64_t first_operand = 0;  // less its zero point
          std::int64_t all = 0;
          for (int i = 0; i < operands; i++) {
            const Param& p = ring_at(zsb_vector_, params + i);
            const Ring& in = ring[std::min(i, 1)];
            const int slot = first[std::min(i, 1)];
            const bool one = i == 1 && c.broadcast;  // one pixel
            const int mod3 = int(i == 0 ? c.top_mod3 : c.in2_mod3);
            const int a = word(true, one ? slot : in.at(slot, y), one ? mod3 : (mod3 + y) % 3,
                               int((one ? 0 : x) * c.in_pixel + c.in_group + i * c.operand_step) + 3 * tile +
                                   lane / config_.cp)[std::size_t(lane % config_.cp)];
            const std::int64_t operand = a + p.bias;
            const std::int64_t scaled = round(operand << 20, {0, p.mult, p.shift}, 0);
            if (c.kind == 2) {
              all = first_operand * operand;
            } else {
              all += (c.kind == 1 && i > 0) || (c.kind == 3 && i == 0) ? -scaled : scaled;
            }
            if (i == 0) first_operand = operand;
          }
          values.push_back(requantise(all, ring_at(zsb_vector_, params + operands), int(c.rule), int(c.zero),
                                      int(c.low), int(c.high)));
          if (c.look_up) values.back() = looked_up(zsb_vector_, c.table_word, values.back());
        }
        result(index, c, lanes, tile, y, x, values);
      }
    }
  }
}

}  // namespace kaiten::test

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/command.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiten {

namespace {

constexpr int kWordModBits = 4;
constexpr std::int64_t kWordsPerAddress = 9;

// Largest and smallest value a field holds.
struct FieldLimits {
  std::int64_t min;
  std::int64_t max;
};

FieldLimits limits(int bits, FieldKind kind) {
  const std::int64_t one = 1;
  switch (kind) {
    case FieldKind::kUnsigned:
      return {0, (one << bits) - 1};
    case FieldKind::kCount:
      return {1, (one << bits) - 1};
    case FieldKind::kSigned:
      return {-(one << (bits - 1)), (one << (bits - 1)) - 1};
    case FieldKind::kWord:
      return {0, (one << (bits - kWordModBits)) * kWordsPerAddress - 1};
  }
  return {0, 0};
}

void put_bits(CommandBytes& bytes, int first, int bits, std::uint64_t value) {
  for (int i = 0; i < bits;) {
    const int at = first + i;
    const int n = std::min(8 - at % 8, bits - i);
    bytes[std::size_t(at / 8)] |= std::uint8_t(((value >> i) & ((1U << n) - 1)) << (at % 8));
    i += n;
  }
}

std::uint64_t get_bits(std::span<const std::uint8_t, kCommandBytes> bytes, int first, int bits) {
  std::uint64_t value = 0;
  for (int i = 0; i < bits;) {
    const int at = first + i;
    const int n = std::min(8 - at % 8, bits - i);
    value |= std::uint64_t((bytes[std::size_t(at / 8)] >> (at % 8)) & ((1U << n) - 1)) << i;
    i += n;
  }
  return value;
}

// A visitor that writes fields into a command's bytes.
struct Writer {
  CommandBytes& bytes;
  std::string_view command;

  void operator()(const char* name, std::int64_t value, int first, int bits, FieldKind kind) const {
    const FieldLimits limit = limits(bits, kind);
    if (value < limit.min || value > limit.max) {
      throw DeviceError("command " + std::string(command) + ": field " + name + " holds " +
                        std::to_string(limit.min) + " to " + std::to_string(limit.max) + ", not " +
                        std::to_string(value));
    }
    std::uint64_t raw = std::uint64_t(value);
    if (kind == FieldKind::kWord) {
      raw = std::uint64_t(value / kWordsPerAddress) << kWordModBits | std::uint64_t(value % kWordsPerAddress);
    }
    put_bits(bytes, first, bits, raw);
  }
};

// A visitor that reads fields and remembers where the last one ended.
struct Reader {
  std::span<const std::uint8_t, kCommandBytes> bytes;
  int& end;

  void operator()(const char* name, std::int64_t& value, int first, int bits, FieldKind kind) const {
    const std::uint64_t raw = get_bits(bytes, first, bits);
    end = first + bits;
    switch (kind) {
      case FieldKind::kUnsigned:
        value = std::int64_t(raw);
        break;
      case FieldKind::kCount:
        if (raw == 0) throw InputError(std::string("field ") + name + " must not be 0");
        value = std::int64_t(raw);
        break;
      case FieldKind::kSigned: {
        const std::uint64_t sign = std::uint64_t(1) << (bits - 1);
        value = std::int64_t(raw ^ sign) - std::int64_t(sign);
        break;
      }
      case FieldKind::kWord: {
        const std::int64_t mod = std::int64_t(raw & 15);
        if (mod >= kWordsPerAddress) {
          throw InputError(std::string("field ") + name +
                           ": the lower part of a position is at most 8, not " + std::to_string(mod));
        }
        value = std::int64_t(raw >> kWordModBits) * kWordsPerAddress + mod;
        break;
      }
    }
  }
};

CommandHeader header_of(const Command& command) {
  CommandHeader h;
  h.op = std::int64_t(command.opcode());
  h.wait_arrived = command.arrived;
  h.wait_load = command.wait[std::size_t(Queue::kLoad)];
  h.wait_conv = command.wait[std::size_t(Queue::kConv)];
  h.wait_vector = command.wait[std::size_t(Queue::kVector)];
  h.wait_store = command.wait[std::size_t(Queue::kStore)];
  return h;
}

}  // namespace

std::string_view name_of(Queue queue) {
  switch (queue) {
    case Queue::kLoad:
      return "LOAD";
    case Queue::kConv:
      return "CONV";
    case Queue::kVector:
      return "VECTOR";
    case Queue::kStore:
      return "STORE";
  }
  return "";
}

Opcode Command::opcode() const {
  return std::visit([](const auto& b) { return std::decay_t<decltype(b)>::kOpcode; }, body);
}

std::string_view Command::name() const {
  return std::visit([](const auto& b) { return std::string_view(std::decay_t<decltype(b)>::kName); }, body);
}

CommandBytes encode(const Command& command) {
  CommandBytes bytes{};
  const Writer write{bytes, command.name()};
  const CommandHeader header = header_of(command);
  CommandHeader::fields(header, write);
  std::visit([&](const auto& b) { std::decay_t<decltype(b)>::fields(b, write); }, command.body);
  return bytes;
}

CommandBytes encode(const ExtendConvCommand& extension) {
  CommandBytes bytes{};
  const Writer write{bytes, ExtendConvCommand::kName};
  CommandHeader header;
  header.op = std::int64_t(ExtendConvCommand::kOpcode);
  CommandHeader::fields(header, write);
  ExtendConvCommand::fields(extension, write);
  return bytes;
}

namespace {

CommandHeader read_header(std::span<const std::uint8_t, kCommandBytes> bytes) {
  int end = 0;
  CommandHeader header;
  CommandHeader::fields(header, Reader{bytes, end});
  return header;
}

void check_spare(std::span<const std::uint8_t, kCommandBytes> bytes, int end, std::string_view name) {
  for (int bit = end; bit < kCommandBytes * 8; bit += 32) {
    if (get_bits(bytes, bit, std::min(32, kCommandBytes * 8 - bit)) != 0) {
      throw InputError("reserved bits of a " + std::string(name) + " command are set");
    }
  }
}

}  // namespace

std::optional<Command> Decoder::next(std::span<const std::uint8_t, kCommandBytes> bytes) {
  const CommandHeader header = read_header(bytes);
  const bool extends = header.op == std::int64_t(ExtendConvCommand::kOpcode);
  if (extension_ && header.op != std::int64_t(ConvCommand::kOpcode))
    throw InputError("no conv command follows an extend_conv");
  if (!extends) {
    Command command = decode(bytes);
    command.extension = std::exchange(extension_, std::nullopt);
    return command;
  }
  if ((header.wait_arrived | header.wait_load | header.wait_conv | header.wait_vector | header.wait_store) !=
      0)
    throw InputError("an extend_conv waits for commands");
  int end = 0;
  ExtendConvCommand extension;
  ExtendConvCommand::fields(extension, Reader{bytes, end});
  check_spare(bytes, end, ExtendConvCommand::kName);
  extension_ = extension;
  return std::nullopt;
}

Command decode(std::span<const std::uint8_t, kCommandBytes> bytes) {
  int end = 0;
  const CommandHeader header = read_header(bytes);
  Command command;
  command.wait = {std::uint32_t(header.wait_load), std::uint32_t(header.wait_conv),
                  std::uint32_t(header.wait_vector), std::uint32_t(header.wait_store)};
  bool known = false;
  for_each_command_kind([&](auto kind) {
    if (std::int64_t(decltype(kind)::kOpcode) != header.op) return;
    known = true;
    decltype(kind)::fields(kind, Reader{bytes, end});
    command.body = kind;
  });
  command.arrived = std::uint32_t(header.wait_arrived);
  if (!known) throw InputError("operation " + std::to_string(header.op) + " does not exist");
  check_spare(bytes, end, command.name());
  if (command.arrived != 0 && command.queue() != Queue::kLoad)
    throw InputError("a " + std::string(command.name()) + " command waits for rows from outside");
  return command;
}

std::string to_text(const Command& command) {
  std::string text(command.name());
  text.resize(std::max<std::size_t>(text.size() + 1, 13), ' ');
  text += "wait";
  for (std::uint32_t w : command.wait) text += " " + std::to_string(w);
  if (command.arrived != 0) text += " arrived " + std::to_string(command.arrived);
  text += " ";
  const auto print = [&](const char* name, std::int64_t value, int, int, FieldKind) {
    if (value != 0) text += std::string(" ") + name + "=" + std::to_string(value);
  };
  std::visit([&](const auto& b) { std::decay_t<decltype(b)>::fields(b, print); }, command.body);
  if (command.extension) ExtendConvCommand::fields(*command.extension, print);
  return text;
}

}  // namespace kaiten

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Commands of the accelerator as values: encoding into the 64 bytes that docs/formats/commands.md describes, decoding,
// and one line of text for people. All three walk the generated field list, so none of them can disagree with
// the hardware's package.
#ifndef KAITEN_PROGRAM_COMMAND_H
#define KAITEN_PROGRAM_COMMAND_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "program/command_fields.h"

namespace kaiten {

constexpr int kQueues = 4;
// Commands of each queue, in the order of enum Queue.
using Counts = std::array<std::uint32_t, kQueues>;

// Slots of a row in the last pass.
constexpr std::int64_t last_slots_of_row(const ConvCommand& c) {
  return c.pair_groups > 0 ? (c.columns + 1) / 2 : c.columns;
}

// "LOAD", "CONV", "VECTOR", "STORE".
std::string_view name_of(Queue queue);

using CommandBody = std::variant<LoadRowsCommand, LoadWeightsCommand, LoadParamsCommand, ConvCommand,
                                 WindowCommand, AddCommand, StoreCommand>;

struct Command {
  Counts wait{};  // completed commands of each queue before this one may start
  CommandBody body;
  // Of a conv: stands before it in memory. It has neither number nor waits, so the two are one command everywhere else.
  std::optional<ExtendConvCommand> extension = {};
  // Of a LOAD: rows of the input that must have arrived from outside before it may start (register `arrived`).
  std::uint32_t arrived = 0;

  // Blocks of kCommandBytes in memory.
  int blocks() const { return extension ? 2 : 1; }
  Queue queue() const { return kQueues[body.index()]; }
  Opcode opcode() const;
  std::string_view name() const;

 private:
  template <class... Bodies>
  static constexpr std::array<Queue, sizeof...(Bodies)> queues_of(const std::variant<Bodies...>*) {
    return {Bodies::kQueue...};
  }
  static const std::array<Queue, std::variant_size_v<CommandBody>> kQueues;  // by alternative
};

inline constexpr std::array<Queue, std::variant_size_v<CommandBody>> Command::kQueues =
    Command::queues_of(static_cast<const CommandBody*>(nullptr));

using CommandBytes = std::array<std::uint8_t, kCommandBytes>;

// The command without its extension, and an extension. Throw DeviceError naming command, field, limit and value where a
// value does not fit its field: such a program is a limit of the format that the compiler should have met earlier.
CommandBytes encode(const Command& command);
CommandBytes encode(const ExtendConvCommand& extension);

// Blocks of a program to commands, in order.
class Decoder {
 public:
  // Nothing where the block is an extension: the next command has it. Throws InputError for an unknown operation, a nonzero
  // reserved bit, a position whose lower part is 9 or more, and for an extension that no conv follows.
  std::optional<Command> next(std::span<const std::uint8_t, kCommandBytes> bytes);
  // An extension waits for its command.
  bool waits() const { return extension_.has_value(); }

 private:
  std::optional<ExtendConvCommand> extension_;
};
// A command of one block; otherwise as Decoder::next.
Command decode(std::span<const std::uint8_t, kCommandBytes> bytes);

// "conv  wait 3 0 0 0  in_first=0 in_last=90 ...": fields that are zero are left out; "wait 3 0 0 0 arrived 8" with rows.
std::string to_text(const Command& command);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_COMMAND_H

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <regex>

#include "base/error.h"
#include "program/config.h"
#include "program/program.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

// Smallest or largest value, or one between.
std::int64_t some_value(std::mt19937_64& rng, int bits, FieldKind kind) {
  std::int64_t low = kind == FieldKind::kCount;
  std::int64_t high = (std::int64_t(1) << bits) - 1;
  if (kind == FieldKind::kSigned) {
    low = -(std::int64_t(1) << (bits - 1));
    high = -low - 1;
  }
  if (kind == FieldKind::kWord) high = (std::int64_t(1) << (bits - 4)) * 9 - 1;
  switch (rng() % 4) {
    case 0:
      return low;
    case 1:
      return high;
    default:
      return low + std::int64_t(rng() % std::uint64_t(high - low + 1));
  }
}

template <class Body>
void fill(Body& body, std::mt19937_64& rng) {
  Body::fields(body, [&](const char*, std::int64_t& value, int, int bits, FieldKind kind) {
    value = some_value(rng, bits, kind);
  });
}

// The smallest command of a kind that can be encoded: every count 1, all else 0.
template <class Body>
Body smallest() {
  Body body;
  Body::fields(body, [](const char*, std::int64_t& value, int, int, FieldKind kind) {
    value = kind == FieldKind::kCount;
  });
  return body;
}

TEST(Command, DecodesWhatItEncodes) {
  std::mt19937_64 rng(test::seed());
  for (int round = 0; round < 200; round++) {
    for_each_command_kind([&](auto body) {
      fill(body, rng);
      Command c;
      for (auto& w : c.wait) w = std::uint32_t(some_value(rng, 20, FieldKind::kUnsigned));
      c.body = body;
      const CommandBytes bytes = encode(c);
      const Command back = decode(bytes);
      EXPECT_EQ(back.wait, c.wait);
      EXPECT_EQ(back.opcode(), c.opcode());
      EXPECT_EQ(to_text(back), to_text(c));
      EXPECT_EQ(encode(back), bytes);
    });
  }
}

TEST(Command, RefusesValuesThatDoNotFit) {
  for_each_command_kind([](auto body) {
    using Body = decltype(body);
    body = smallest<Body>();
    Body::fields(body, [&](const char* name, std::int64_t& value, int, int bits, FieldKind kind) {
      const std::int64_t high = kind == FieldKind::kSigned ? (std::int64_t(1) << (bits - 1)) - 1
                                : kind == FieldKind::kWord ? (std::int64_t(1) << (bits - 4)) * 9 - 1
                                                           : (std::int64_t(1) << bits) - 1;
      const std::int64_t good = value;
      for (std::int64_t bad : {high + 1, kind == FieldKind::kSigned  ? -high - 2
                                         : kind == FieldKind::kCount ? std::int64_t(0)
                                                                     : std::int64_t(-1)}) {
        value = bad;
        try {
          encode({{}, body});
          ADD_FAILURE() << Body::kName << "." << name << " took " << bad;
        } catch (const DeviceError& e) {
          EXPECT_NE(std::string(e.what()).find(name), std::string::npos);
        }
      }
      value = good;
    });
  });
}

TEST(Command, RefusesBytesThatAreNoCommand) {
  CommandBytes bytes{};
  EXPECT_THROW(decode(bytes), InputError);  // operation 0
  bytes[0] = 8;
  EXPECT_THROW(decode(bytes), InputError);
  bytes = encode({{}, smallest<StoreCommand>()});
  bytes[63] = 0x80;
  EXPECT_THROW(decode(bytes), InputError);
  bytes = encode({{}, smallest<StoreCommand>()});
  bytes[1] = 1;
  EXPECT_THROW(decode(bytes), InputError);
  bytes = encode({{}, smallest<LoadParamsCommand>()});
  bytes[131 / 8] &= std::uint8_t(~(1 << 131 % 8));  // count 1 becomes 0
  EXPECT_THROW(decode(bytes), InputError);
}

// The bits of every field as docs/formats/commands.md states them.
TEST(Command, AgreesWithTheDocument) {
  std::ifstream file(test::source_file("docs/formats/commands.md"));
  ASSERT_TRUE(file);
  std::vector<std::tuple<std::string, std::string, int, int, char>> rows;
  std::string section = "header";
  const std::regex heading(R"(## (\d+) (\w+).*)");
  const std::regex row(R"(\| (\d+):(\d+) \| `(\w+)` \| (\w) \|.*)");
  for (std::string line; std::getline(file, line);) {
    std::smatch m;
    if (std::regex_match(line, m, heading)) section = m[2];
    if (std::regex_match(line, m, row))
      rows.emplace_back(section, m[3], std::stoi(m[1]), std::stoi(m[2]), m[4].str()[0]);
  }
  std::size_t checked = 0;
  const auto check = [&](const std::string& kind, const std::string& name, std::int64_t, int first, int bits,
                         FieldKind k) {
    const char letter = k == FieldKind::kUnsigned ? 'u'
                        : k == FieldKind::kCount  ? 'c'
                        : k == FieldKind::kSigned ? 's'
                                                  : 'w';
    const std::tuple expected{kind, name, first + bits - 1, first, letter};
    EXPECT_NE(std::find(rows.begin(), rows.end(), expected), rows.end()) << kind << "." << name;
    checked++;
  };
  CommandHeader header;
  CommandHeader::fields(header, [&](const char* n, std::int64_t v, int f, int b, FieldKind k) {
    check("header", n, v, f, b, k);
  });
  for_each_command_kind([&](auto body) {
    decltype(body)::fields(body, [&](const char* n, std::int64_t v, int f, int b, FieldKind k) {
      check(decltype(body)::kName, n, v, f, b, k);
    });
  });
  const ExtendConvCommand extension;
  ExtendConvCommand::fields(extension, [&](const char* n, std::int64_t v, int f, int b, FieldKind k) {
    check(ExtendConvCommand::kName, n, v, f, b, k);
  });
  EXPECT_EQ(checked, rows.size());
}

TEST(Config, PresetsAreThoseOfTheFile) {
  ASSERT_EQ(presets().size(), 9U);
  const Config& base = preset("base");
  EXPECT_EQ(base.kp, 32);
  EXPECT_EQ(base.cp, 8);
  EXPECT_EQ(base.axi_bytes, 64);
  EXPECT_EQ(base.wb_rows, 36864);
  EXPECT_EQ(base.ob_pixels, 512);
  EXPECT_EQ(base.array_multipliers(), 2304);
  EXPECT_EQ(preset("nano").zsb_vector, 1024);
  EXPECT_TRUE(base.float_rule && base.average && base.table);
  EXPECT_FALSE(preset("micro").float_rule);
  EXPECT_TRUE(preset("micro").table);
  EXPECT_TRUE(base.conv_table);
  EXPECT_FALSE(preset("nano").conv_table);
  EXPECT_THROW(preset("huge"), InputError);
}

TEST(Decoder, AnExtensionBelongsToTheConvAfterIt) {
  Command conv;
  conv.body = ConvCommand{.columns = 1, .rows = 1, .tiles = 1, .passes = 3};
  conv.extension =
      ExtendConvCommand{.resident = 40, .resident_pitch = 8, .resident_passes = 2, .last_groups = 5};
  Program program;
  program.commands = {conv};
  EXPECT_EQ(program.command_blocks(), 2U);
  const std::vector<std::uint8_t> bytes = program.command_bytes();
  ASSERT_EQ(bytes.size(), 2U * kCommandBytes);
  const auto block = [&](std::size_t i) {
    return std::span(bytes).subspan(i * kCommandBytes).first<kCommandBytes>();
  };
  Decoder decoder;
  EXPECT_FALSE(decoder.next(block(0)));
  EXPECT_TRUE(decoder.waits());
  const auto command = decoder.next(block(1));
  ASSERT_TRUE(command && command->extension);
  EXPECT_FALSE(decoder.waits());
  EXPECT_EQ(command->extension->resident, 40);
  EXPECT_EQ(command->extension->last_groups, 5);
  EXPECT_NE(to_text(*command).find("resident_passes=2"), std::string::npos);
}

TEST(Decoder, RefusesAnExtensionWithoutConv) {
  const CommandBytes extension =
      encode(ExtendConvCommand{.resident = 1, .resident_pitch = 1, .resident_passes = 1});
  Command load;
  load.body = LoadParamsCommand{.count = 1};
  Decoder decoder;
  EXPECT_FALSE(decoder.next(extension));
  EXPECT_THROW(decoder.next(encode(load)), InputError);
  Decoder twice;
  EXPECT_FALSE(twice.next(extension));
  EXPECT_THROW(twice.next(extension), InputError);
  CommandBytes waits = extension;
  waits[2] = 1;  // wait_load
  EXPECT_THROW(Decoder().next(waits), InputError);
}

}  // namespace
}  // namespace kaiten

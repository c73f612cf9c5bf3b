// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What goes wrong on the device: bus errors in every stream, illegal commands, programs that hang, a device that does not
// answer. Each stops with cause and command, becomes a DeviceError with that text and the layer's name, and leaves a
// device on which the next run is exact.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "device/csr.h"
#include "sim/axi_monitor.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

constexpr std::uint8_t kSlaveError = sim::kRespSlverr, kDecodeError = sim::kRespDecerr;

// Every operation and every kind of load; with all tensors in memory all of them are stored and loaded, too.
Graph every_engine() {
  test::GraphBuilder g(5);
  const int in = g.input(10, 9, 5);
  const int a = g.conv(in, 14, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int b = g.depthwise(a, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int c = g.add(a, b, Activation::None);
  const int d = g.conv(c, 22, 1, 1, 1, {}, Activation::None);
  const int e = g.pool(OpKind::MaxPool, d, 2, 2, 2, {}, Activation::None);
  g.output(g.softmax(g.fully_connected(g.mean(e), 7, Activation::None)));
  return g.graph;
}

class Errors : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    random_.seed(test::seed());
    graph_ = every_engine();
    sim::SimOptions options;
    options.memory.read_latency = 20;
    options.memory.write_latency = 10;
    device_ = test::make_device(GetParam(), test::seed(), options);
    session_ = std::make_unique<test::Session>(*device_, graph_, preset(GetParam()),
                                               CompileOptions{.keep_on_chip = false});
    session_->driver().set_watchdog(20'000);
    inputs_ = test::draw_inputs(graph_, random_);
    first_ = session_->run(inputs_);
  }

  const Program& program() { return session_->program(); }

  // First command for which the predicate holds, from `start` on.
  template <class Body>
  std::size_t find(
      std::size_t start, const std::function<bool(const Body&)>& wanted = [](const Body&) { return true; }) {
    for (std::size_t i = start; i < program().commands.size(); i++) {
      const auto* body = std::get_if<Body>(&program().commands[i].body);
      if (body && wanted(*body)) return i;
    }
    ADD_FAILURE() << "the program has no such command";
    return 0;
  }

  // " command 7 (conv) of layer 'layer2'"
  std::string place(std::size_t command) {
    const int op = program().meta[command].op;
    return "command " + std::to_string(command) + " (" + std::string(program().commands[command].name()) +
           ") of layer '" + graph_.ops.at(std::size_t(op)).name + "'";
  }

  std::string error_of_run() {
    try {
      session_->driver().run(inputs_);
    } catch (const sim::ProtocolViolation& e) {
      return std::string("protocol: ") + e.what();
    } catch (const DeviceError& e) {
      return e.what();
    }
    return "none";
  }

  // The device works again, as if nothing had happened.
  void expect_exact_run() {
    const auto again = session_->run(inputs_);
    EXPECT_EQ(again.outputs, first_.outputs);
    EXPECT_EQ(again.cycles(), first_.cycles());
  }

  // Bus address of a byte `offset` behind a command's own start in memory.
  template <class Body>
  std::uint64_t address(const Body& body, std::int64_t offset = 0) {
    return session_->base_address(int(body.base)) + std::uint64_t(body.offset + offset);
  }

  // First LOAD that reads the bus beat of an address.
  std::size_t first_reader(std::uint64_t at) {
    const std::uint64_t beat = std::uint64_t(program().config.axi_bytes);
    const std::uint64_t low = at / beat * beat, high = low + beat;
    const auto hit = [&](std::uint64_t first, std::int64_t bytes) {
      return first < high && first + std::uint64_t(bytes) > low;
    };
    for (std::size_t i = 0; i < program().commands.size(); i++) {
      const CommandBody& body = program().commands[i].body;
      if (const auto* w = std::get_if<LoadWeightsCommand>(&body); w && hit(address(*w), w->bytes)) return i;
      if (const auto* p = std::get_if<LoadParamsCommand>(&body); p && hit(address(*p), 9 * p->count))
        return i;
      if (const auto* r = std::get_if<LoadRowsCommand>(&body)) {
        for (std::int64_t row = 0; row < r->rows; row++) {
          for (std::int64_t s = 0; s < r->segments; s++) {
            const std::int64_t pixel = s + 1 == r->segments ? r->last_pixel_bytes : r->pixel_bytes;
            if (hit(address(*r, row * r->row_pitch + s * r->segment_pitch), pixel * r->columns)) return i;
          }
        }
      }
    }
    ADD_FAILURE() << "nobody reads there";
    return 0;
  }

  // First STORE that writes the byte.
  std::size_t first_writer(std::uint64_t at) {
    for (std::size_t i = 0; i < program().commands.size(); i++) {
      const auto* s = std::get_if<StoreCommand>(&program().commands[i].body);
      if (!s) continue;
      for (std::int64_t row = 0; row < s->rows; row++) {
        for (std::int64_t k = 0; k < s->segments; k++) {
          const std::int64_t pixel = k + 1 == s->segments ? s->last_pixel_bytes : s->pixel_bytes;
          const std::uint64_t first = address(*s, row * s->row_pitch + k * s->segment_pitch);
          if (at >= first && at < first + std::uint64_t(pixel * s->columns)) return i;
        }
      }
    }
    ADD_FAILURE() << "nobody writes there";
    return 0;
  }

  // Puts another command in place of one in the device's memory; the driver keeps the sound program.
  void patch(std::size_t index, const CommandBytes& bytes) {
    device_->write_memory(session_->command_address(index), bytes);
  }
  void restore(std::size_t index) { patch(index, encode(program().commands[index])); }

  std::mt19937_64 random_;
  Graph graph_;
  std::unique_ptr<sim::SimDevice> device_;
  std::unique_ptr<test::Session> session_;
  std::vector<Int8Values> inputs_;
  test::Session::Result first_;
};

TEST_P(Errors, ReadErrors) {
  const std::size_t commands[] = {
      find<LoadWeightsCommand>(0, [](const auto& c) { return !c.to_vwb; }),
      find<LoadWeightsCommand>(0, [](const auto& c) { return c.to_vwb != 0; }),
      find<LoadWeightsCommand>(program().commands.size() / 8),
      find<LoadParamsCommand>(0, [](const auto& c) { return !c.to_vector; }),
      find<LoadParamsCommand>(0, [](const auto& c) { return c.to_vector != 0; }),
      find<LoadRowsCommand>(0),
      find<LoadRowsCommand>(0, [](const auto& c) { return c.to_sb && c.base == int(Base::kActivations); }),
      find<LoadRowsCommand>(0, [](const auto& c) { return c.to_vb && c.base == int(Base::kActivations); })};
  for (std::size_t command : commands) {
    for (const std::uint8_t response : {kSlaveError, kDecodeError}) {
      SCOPED_TRACE("read of command " + std::to_string(command) + ", response " + std::to_string(response));
      const std::uint64_t at = std::visit(
          [&](const auto& body) -> std::uint64_t {
            if constexpr (requires { body.offset; }) return address(body);
            return 0;
          },
          program().commands[command].body);
      const std::size_t reader = first_reader(at);
      device_->memory().fail_range(at, at, response, true, false);
      const std::string expected = std::string("the hardware stopped: bus error of LOAD (") +
                                   (response == kSlaveError ? "slave" : "decode") + " error), " +
                                   place(reader);
      EXPECT_EQ(error_of_run(), expected);
      // The fault is still there after the reset.
      EXPECT_EQ(error_of_run(), expected);
      device_->memory().clear_failures();
      expect_exact_run();
    }
  }
}

TEST_P(Errors, WriteErrors) {
  const std::size_t last = program().commands.size() - 1;
  std::size_t stores = 0;
  for (std::size_t i = 0; i <= last; i++) {
    const auto* store = std::get_if<StoreCommand>(&program().commands[i].body);
    if (!store || (stores++ % 4 != 0 && i + 3 < last)) continue;
    for (const std::uint8_t response : {kSlaveError, kDecodeError}) {
      SCOPED_TRACE("write of command " + std::to_string(i));
      const std::uint64_t at = address(*store, (store->rows - 1) * store->row_pitch);
      device_->memory().fail_range(at, at, response, false, true);
      const std::string expected = std::string("the hardware stopped: bus error of STORE (") +
                                   (response == kSlaveError ? "slave" : "decode") + " error), " +
                                   place(first_writer(at));
      EXPECT_EQ(error_of_run(), expected);
      device_->memory().clear_failures();
      expect_exact_run();
    }
  }
  EXPECT_GE(stores, 5U);
}

TEST_P(Errors, FetchErrors) {
  const std::size_t last = program().commands.size() - 1;
  const std::size_t beats = std::size_t(kCommandBytes / std::min(kCommandBytes, program().config.axi_bytes));
  for (std::size_t command : {std::size_t(0), std::size_t(1), last / 2, last}) {
    // Any beat of the command.
    const std::uint64_t at =
        session_->command_address(command) + random_() % beats * std::uint64_t(program().config.axi_bytes);
    device_->memory().fail_range(at, at, kSlaveError, true, false);
    EXPECT_EQ(error_of_run(),
              "the hardware stopped: bus error while fetching commands (slave error), " + place(command));
    device_->memory().clear_failures();
    expect_exact_run();
  }
}

TEST_P(Errors, IllegalCommands) {
  struct Kind {
    const char* text;
    std::function<void(CommandBytes&, const Command&)> spoil;
  };
  // Waits for the most there can be, or for one command more than came before.
  const auto wait = [](Queue queue) {
    return [queue](CommandBytes& bytes, const Command& command) {
      Command c = command;
      c.wait[std::size_t(queue)] = 0xfffff;
      bytes = encode(c);
    };
  };
  const auto wait_for_next = [this](Queue queue) {
    return [this, queue](CommandBytes& bytes, const Command& command) {
      const auto& commands = program().commands;
      Command c = command;
      c.wait[std::size_t(queue)] =
          std::uint32_t(1 + std::count_if(commands.data(), &command, [queue](const Command& before) {
                          return before.queue() == queue;
                        }));
      bytes = encode(c);
    };
  };
  // Clears all counts of the command.
  const auto zero = [](CommandBytes& bytes, const Command& command) {
    std::visit(
        [&](const auto& body) {
          std::decay_t<decltype(body)>::fields(
              body, [&](const char*, std::int64_t, int first, int bits, FieldKind kind) {
                if (kind != FieldKind::kCount) return;
                for (int bit = first; bit < first + bits; bit++)
                  bytes[std::size_t(bit / 8)] &= std::uint8_t(~(1 << bit % 8));
              });
        },
        command.body);
  };
  const Kind kinds[] = {
      {"a count of 0", zero},
      {"unknown operation", [](CommandBytes& b, const Command&) { b[0] = std::uint8_t(b[0] & 0xf0); }},
      {"unknown operation", [](CommandBytes& b, const Command&) { b[0] = std::uint8_t((b[0] & 0xf0) | 15); }},
      {"reserved bits set", [](CommandBytes& b, const Command&) { b[0] |= 0x10; }},
      {"reserved bits set", [](CommandBytes& b, const Command&) { b[1] |= 0x80; }},
      {"spare bits set", [](CommandBytes& b, const Command&) { b[63] |= 0x80; }},
      {"waits for a later LOAD", wait(Queue::kLoad)},
      {"waits for a later LOAD", wait_for_next(Queue::kLoad)},
      {"waits for a later CONV", wait(Queue::kConv)},
      {"waits for a later CONV", wait_for_next(Queue::kConv)},
      {"waits for a later VECTOR", wait(Queue::kVector)},
      {"waits for a later VECTOR", wait_for_next(Queue::kVector)},
      {"waits for a later STORE", wait(Queue::kStore)},
      {"waits for a later STORE", wait_for_next(Queue::kStore)},
  };
  const std::size_t last = program().commands.size() - 1;
  for (const Kind& kind : kinds) {
    for (std::size_t command : {std::size_t(0), 1 + std::size_t(random_() % (last - 1)), last}) {
      // A LOAD has a field there (Arrivals).
      if (std::string_view(kind.text) == "reserved bits set" &&
          program().commands[command].queue() == Queue::kLoad)
        continue;
      SCOPED_TRACE(std::string(kind.text) + " at command " + std::to_string(command));
      CommandBytes bytes = encode(program().commands[command]);
      kind.spoil(bytes, program().commands[command]);
      patch(command, bytes);
      EXPECT_EQ(error_of_run(),
                std::string("the hardware stopped: illegal command (") + kind.text + "), " + place(command));
      restore(command);
      expect_exact_run();
    }
  }
  // Everything wrong at once is said at once.
  CommandBytes bytes;
  bytes.fill(0xff);
  patch(0, bytes);
  EXPECT_EQ(error_of_run(),
            "the hardware stopped: illegal command (unknown operation, waits for a later "
            "LOAD, waits for a later CONV, waits for a later VECTOR, waits for a later STORE), " +
                place(0));
  restore(0);
  expect_exact_run();
}

// A LOAD whose loops leave bytes of its own request, or take some of the next one's. The bytes would reach the next run.
TEST_P(Errors, BytesAndCountsDisagree) {
  const std::int64_t beat = program().config.axi_bytes;
  const std::size_t commands[] = {find<LoadWeightsCommand>(0, [](const auto& c) { return !c.to_vwb; }),
                                  find<LoadWeightsCommand>(0, [](const auto& c) { return c.to_vwb != 0; })};
  for (std::size_t command : commands) {
    for (std::int64_t more : {beat, -beat}) {
      SCOPED_TRACE("command " + std::to_string(command) + ", " + std::to_string(more) + " bytes");
      Command c = program().commands[command];
      std::get<LoadWeightsCommand>(c.body).bytes += more;
      patch(command, encode(c));
      EXPECT_EQ(
          error_of_run(),
          "the hardware stopped: illegal command (its counts and its bytes disagree), " + place(command));
      restore(command);
      expect_exact_run();
    }
  }
}

// Rows of 2^20 bytes, more than a request can name: no request of no bytes, and nothing waits for ever.
TEST_P(Errors, EndlessRows) {
  const auto long_row = [](auto& body) {
    body.columns = 512;
    body.pixel_bytes = body.last_pixel_bytes = 2048;
  };
  const std::size_t commands[] = {find<LoadRowsCommand>(0, [](const auto& c) { return !c.step_bytes; }),
                                  find<StoreCommand>(0)};
  for (std::size_t command : commands) {
    Command c = program().commands[command];
    if (auto* load = std::get_if<LoadRowsCommand>(&c.body)) long_row(*load);
    if (auto* store = std::get_if<StoreCommand>(&c.body)) long_row(*store);
    patch(command, encode(c));
    const std::string error = error_of_run();
    EXPECT_EQ(error.rfind("the hardware stopped: ", 0), 0U) << error;
    restore(command);
    expect_exact_run();
  }
}

// A command that waits for the STORE it feeds itself: every count names an earlier command, and yet it cannot end.
TEST_P(Errors, Deadlock) {
  session_->driver().set_watchdog(0);
  const std::size_t commands[] = {find<ConvCommand>(0, [](const auto& c) { return c.to_store != 0; }),
                                  find<WindowCommand>(0, [](const auto& c) { return c.to_store != 0; }),
                                  find<AddCommand>(0, [](const auto& c) { return c.to_store != 0; }),
                                  find<ConvCommand>(program().commands.size() - 3)};
  for (std::size_t command : commands) {
    Command c = program().commands[command];
    c.wait[std::size_t(Queue::kStore)] = 0;
    for (std::size_t i = 0; i < command; i++)
      c.wait[std::size_t(Queue::kStore)] += program().commands[i].queue() == Queue::kStore;
    // The driver would refuse such a program.
    std::vector<Command> all = program().commands;
    all[command] = c;
    EXPECT_THROW(check_rules(all), DeviceError);
    patch(command, encode(c));
    const std::string error = error_of_run();
    EXPECT_EQ(error.rfind("the hardware stopped: deadlock: commands wait for what cannot happen (queues ", 0),
              0U)
        << error;
    EXPECT_NE(error.find(name_of(c.queue())), std::string::npos) << error;
    EXPECT_NE(error.find("), " + place(command)), std::string::npos) << error;
    restore(command);
    expect_exact_run();
  }
}

// A STORE without results, and a memory that takes too long.
TEST_P(Errors, Timeout) {
  const std::size_t last = find<ConvCommand>(program().commands.size() - 1);
  Command c = program().commands[last];
  std::get<ConvCommand>(c.body).to_store = 0;
  patch(last, encode(c));
  session_->driver().set_watchdog(5'000);
  EXPECT_EQ(error_of_run(),
            "the hardware stopped: timeout: no command was completed for too long (queues STORE), " +
                place(last - 1));
  restore(last);
  expect_exact_run();

  sim::AxiMemoryOptions options = device_->memory().options();
  const sim::AxiMemoryOptions usual = options;
  options.read_latency = 9'000;
  device_->memory().set_options(options);
  const std::string error = error_of_run();
  EXPECT_EQ(error.rfind("the hardware stopped: timeout: no command was completed for too long", 0), 0U)
      << error;
  EXPECT_NE(error.find(", " + place(0)), std::string::npos) << error;
  device_->memory().set_options(usual);
  expect_exact_run();
}

// The registers as they are read without a driver.
TEST_P(Errors, RegistersTellCauseAndCommand) {
  const std::size_t command = find<LoadRowsCommand>(program().commands.size() / 2);
  const std::uint64_t at = address(std::get<LoadRowsCommand>(program().commands[command].body));
  const std::size_t reader = first_reader(at);
  device_->memory().fail_range(at, at, kDecodeError, true, false);
  device_->write_register(csr::kControl, csr::kControlStart.mask() | csr::kControlIrqEnable.mask());
  ASSERT_TRUE(device_->wait_interrupt(1'000'000));
  device_->memory().clear_failures();
  EXPECT_EQ(device_->read_register(csr::kIrqStatus), csr::kIrqStatusError.mask());
  EXPECT_EQ(device_->read_register(csr::kStatus), csr::kStatusError.mask());
  EXPECT_EQ(device_->read_register(csr::kErrorCause), std::uint32_t(csr::ErrorCause::kLoadRead));
  EXPECT_EQ(device_->read_register(csr::kErrorIndex), reader);
  EXPECT_EQ(device_->read_register(csr::kErrorInfo), kDecodeError);
  // Nothing goes on from here, not even a start ...
  device_->write_register(csr::kControl, csr::kControlStart.mask() | csr::kControlIrqEnable.mask());
  device_->step(100);
  EXPECT_EQ(device_->read_register(csr::kStatus), csr::kStatusError.mask());
  // ... but a reset.
  device_->write_register(csr::kControl, csr::kControlSoftReset.mask() | csr::kControlIrqEnable.mask());
  for (int i = 0; i < 1000 && csr::kStatusResetting.get(device_->read_register(csr::kStatus)); i++)
    device_->step(1);
  EXPECT_EQ(device_->read_register(csr::kStatus), 0U);
  EXPECT_EQ(device_->read_register(csr::kErrorCause), 0U);
  EXPECT_EQ(device_->read_register(csr::kIrqStatus), csr::kIrqStatusError.mask());  // kept over the reset
  device_->write_register(csr::kIrqStatus, csr::kIrqStatusError.mask());
  EXPECT_FALSE(device_->interrupt());
  expect_exact_run();
}

// Errors at random moments, with transactions under way in both directions, and then another program.
TEST_P(Errors, AnotherProgramAfterAnError) {
  test::GraphBuilder g(9);
  g.output(g.conv(g.input(7, 8, 9), 10, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  const auto other_inputs = test::draw_inputs(g.graph, random_);
  for (int i = 0; i < 10; i++) {
    test::draw_timing(*device_, random_);
    device_->memory().fail_read_beat(random_() % 300, kSlaveError);
    const std::string error = error_of_run();
    EXPECT_EQ(error.rfind("the hardware stopped: bus error", 0), 0U) << error;
    device_->memory().clear_failures();
    test::draw_timing(*device_, random_);
    test::run_on(*device_, g.graph, preset(GetParam()), {}, other_inputs);
    // The first program again: loading the second overwrote its memory.
    session_ = std::make_unique<test::Session>(*device_, graph_, preset(GetParam()),
                                               CompileOptions{.keep_on_chip = false});
    EXPECT_EQ(session_->run(inputs_).outputs, first_.outputs);
  }
}

// The user gives up (Ctrl-C): the driver's progress function throws in the middle of a run.
TEST_P(Errors, GivingUpARun) {
  struct GaveUp {};
  sim::AxiMemoryOptions options = device_->memory().options();
  const sim::AxiMemoryOptions usual = options;
  options.read_latency = 500'000;  // a run takes longer than the driver waits between two calls
  device_->memory().set_options(options);
  session_->driver().set_watchdog(0);
  session_->driver().set_progress([](std::uint64_t) { throw GaveUp(); });
  EXPECT_THROW(session_->driver().run(inputs_), GaveUp);
  session_->driver().set_progress(nullptr);
  device_->memory().set_options(usual);
  expect_exact_run();
}

// A memory that breaks the protocol (EXOKAY for an ordinary read) fails the run: the monitors watch every port.
TEST_P(Errors, ProtocolViolation) {
  const std::uint64_t at = session_->command_address(program().commands.size() / 2);
  device_->memory().fail_range(at, at, sim::kRespExokay, true, false);
  const std::string error = error_of_run();
  EXPECT_EQ(error.rfind("protocol: ", 0), 0U) << error;
}

INSTANTIATE_TEST_SUITE_P(Configurations, Errors, testing::Values("nano", "unit", "base"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten

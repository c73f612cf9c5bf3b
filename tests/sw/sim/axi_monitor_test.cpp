// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Every rule of the monitors: a legal trace is silent, a trace with one fault trips exactly the rule it
// breaks.
#include "sim/axi_monitor.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/sw/sim/axi_signals.h"

namespace {

using namespace kaiten::sim;
using kaiten::test::ReadSignals;
using kaiten::test::WriteSignals;

// What the log holds, as text: "rule channel value" of every error.
std::string errors(const ProtocolLog& log) {
  std::string s;
  for (const auto& e : log.errors())
    s +=
        (s.empty() ? "" : "; ") + std::string(name(e.rule)) + " " + e.channel + " " + std::to_string(e.value);
  return s;
}

std::string error(AxiRule rule, const char* channel, uint64_t value) {
  return std::string(name(rule)) + " " + channel + " " + std::to_string(value);
}

// ---- read

struct Read : ReadSignals<16> {
  ProtocolLog log;
  AxiReadMonitor monitor{port(), {.name = "test", .max_beats = 16, .outstanding = 3, .ids = 2}, log};
  uint64_t cycle = 0;
  void step() { monitor.sample(cycle++); }
  void address(uint64_t a, unsigned beats, uint8_t id = 0, unsigned wait = 0) {
    ar_valid = 1;
    ar_addr = a;
    ar_len = static_cast<uint8_t>(beats - 1);
    ar_id = id;
    ar_ready = 0;
    while (wait--) step();
    ar_ready = 1;
    step();
    ar_valid = 0;
  }
  void beat(bool last, uint8_t id = 0, unsigned wait = 0, uint8_t resp = 0) {
    r_valid = 1;
    r_last = last;
    r_id = id;
    r_resp = resp;
    r_data[0]++;
    r_ready = 0;
    while (wait--) step();
    r_ready = 1;
    step();
    r_valid = 0;
  }
  void done() { monitor.finish(cycle); }
};

TEST(AxiReadMonitor, LegalTraceIsSilent) {
  Read t;
  t.monitor.sample_in_reset(0);
  t.address(0x1000, 2, 0, 2);
  t.address(0x2ff0, 1, 1);
  t.step();
  t.beat(false, 0, 3);
  t.beat(true, 1, 1, 2);  // SLVERR is a legal answer
  t.beat(true, 0);
  t.address(0x1f00, 16);
  for (int i = 0; i < 16; i++) t.beat(i == 15, 0, i % 2);
  t.done();
  EXPECT_EQ(errors(t.log), "");
  EXPECT_TRUE(t.log.clean());
}

struct ReadCase {
  const char* label;
  std::function<void(Read&)> trace;
  std::string expected;
};

class AxiReadRules : public ::testing::TestWithParam<ReadCase> {};

TEST_P(AxiReadRules, Trips) {
  Read t;
  GetParam().trace(t);
  EXPECT_EQ(errors(t.log), GetParam().expected);
}

// An address that waits one cycle, then changes as `change` says, then is taken and answered.
std::function<void(Read&)> ar_change(std::function<void(Read&)> change) {
  return [change](Read& t) {
    t.ar_valid = 1;
    t.ar_addr = 0x1000;
    t.ar_len = 0;
    t.ar_ready = 0;
    t.step();
    change(t);
    t.ar_ready = 1;
    t.step();
    t.ar_valid = 0;
  };
}

std::function<void(Read&)> r_change(std::function<void(Read&)> change) {
  return [change](Read& t) {
    t.address(0x1000, 2);
    t.address(0x1000, 2, 1);
    t.r_valid = 1;
    t.step();
    change(t);
    t.step();
  };
}

INSTANTIATE_TEST_SUITE_P(
    Rules, AxiReadRules,
    ::testing::Values(
        ReadCase{"ArDropped", [](Read& t) { t.ar_valid = 1; t.step(); t.ar_valid = 0; t.step(); },
                 error(AxiRule::kValidDropped, "AR", 0)},
        ReadCase{"ArAddress", ar_change([](Read& t) { t.ar_addr = 0x2000; }), error(AxiRule::kPayloadChanged, "AR", 0)},
        ReadCase{"ArId", ar_change([](Read& t) { t.ar_id = 1; }), error(AxiRule::kPayloadChanged, "AR", 1)},
        ReadCase{"ArLen", ar_change([](Read& t) { t.ar_len = 1; }), error(AxiRule::kPayloadChanged, "AR", 2)},
        ReadCase{"ArSizeChanged", ar_change([](Read& t) { t.ar_size = 3; }), error(AxiRule::kPayloadChanged, "AR", 3)},
        ReadCase{"ArBurstChanged", ar_change([](Read& t) { t.ar_burst = 2; }), error(AxiRule::kPayloadChanged, "AR", 4)},
        ReadCase{"BurstType", [](Read& t) { t.ar_burst = 0; t.address(0x1000, 1); }, error(AxiRule::kBurstType, "AR", 0)},
        ReadCase{"BurstSize", [](Read& t) { t.ar_size = 2; t.address(0x1000, 1); }, error(AxiRule::kBurstSize, "AR", 2)},
        ReadCase{"BurstLength", [](Read& t) { t.address(0x1000, 17); }, error(AxiRule::kBurstLength, "AR", 17)},
        ReadCase{"Unaligned", [](Read& t) { t.address(0x1008, 1); }, error(AxiRule::kUnaligned, "AR", 0x1008)},
        ReadCase{"Page", [](Read& t) { t.address(0x1ff0, 2); }, error(AxiRule::kPage, "AR", 0x1ff0)},
        ReadCase{"Id", [](Read& t) { t.address(0x1000, 1, 2); }, error(AxiRule::kIdentifier, "AR", 2)},
        ReadCase{"Outstanding", [](Read& t) { for (int i = 0; i < 4; i++) t.address(0x1000, 1); },
                 error(AxiRule::kOutstanding, "AR", 4)},
        ReadCase{"RDropped", [](Read& t) { t.address(0x1000, 2); t.r_valid = 1; t.step(); t.r_valid = 0; t.step(); },
                 error(AxiRule::kValidDropped, "R", 0)},
        ReadCase{"RId", r_change([](Read& t) { t.r_id = 1; }), error(AxiRule::kPayloadChanged, "R", 0)},
        ReadCase{"RResp", r_change([](Read& t) { t.r_resp = 2; }), error(AxiRule::kPayloadChanged, "R", 1)},
        ReadCase{"RLast", r_change([](Read& t) { t.r_last = 1; }), error(AxiRule::kPayloadChanged, "R", 2)},
        ReadCase{"RData", r_change([](Read& t) { t.r_data[3] = 1; }), error(AxiRule::kPayloadChanged, "R", 3)},
        ReadCase{"LastMissing", [](Read& t) { t.address(0x1000, 2); t.beat(false); t.beat(false); },
                 error(AxiRule::kLast, "R", 2)},
        ReadCase{"LastEarly", [](Read& t) { t.address(0x1000, 2); t.beat(true); t.beat(true); },
                 error(AxiRule::kLast, "R", 1)},
        ReadCase{"NoRequest", [](Read& t) { t.beat(true); }, error(AxiRule::kNoRequest, "R", 0)},
        ReadCase{"NoRequestOfThisId", [](Read& t) { t.address(0x1000, 1); t.beat(true, 1); },
                 error(AxiRule::kNoRequest, "R", 1)},
        // an answer at the edge that takes the address is too early
        ReadCase{"AnswerTooSoon",
                 [](Read& t) { t.ar_valid = t.ar_ready = t.r_valid = t.r_ready = t.r_last = 1; t.step(); },
                 error(AxiRule::kNoRequest, "R", 0)},
        ReadCase{"Exokay", [](Read& t) { t.address(0x1000, 1); t.beat(true, 0, 0, 1); },
                 error(AxiRule::kResponse, "R", 1)},
        ReadCase{"ArInReset", [](Read& t) { t.ar_valid = 1; t.monitor.sample_in_reset(0); },
                 error(AxiRule::kReset, "AR", 0)},
        ReadCase{"RInReset", [](Read& t) { t.r_valid = 1; t.monitor.sample_in_reset(0); },
                 error(AxiRule::kReset, "R", 0)},
        ReadCase{"Unfinished", [](Read& t) { t.address(0x1000, 2); t.beat(false); t.done(); },
                 error(AxiRule::kUnfinished, "R", 1)}),
    [](const auto& info) { return info.param.label; });

// ---- write

struct Write : WriteSignals<16> {
  ProtocolLog log;
  AxiWriteMonitor monitor{port(), {.name = "test", .max_beats = 16, .outstanding = 3}, log};
  uint64_t cycle = 0;
  void step() { monitor.sample(cycle++); }
  void address(uint64_t a, unsigned beats, uint8_t id = 0, unsigned wait = 0) {
    aw_valid = 1;
    aw_addr = a;
    aw_len = static_cast<uint8_t>(beats - 1);
    aw_id = id;
    aw_ready = 0;
    while (wait--) step();
    aw_ready = 1;
    step();
    aw_valid = 0;
  }
  void beat(bool last, unsigned wait = 0) {
    w_valid = 1;
    w_last = last;
    w_data[0]++;
    w_ready = 0;
    while (wait--) step();
    w_ready = 1;
    step();
    w_valid = 0;
  }
  void answer(uint8_t resp = 0, unsigned wait = 0, uint8_t id = 0) {
    b_valid = 1;
    b_resp = resp;
    b_id = id;
    b_ready = 0;
    while (wait--) step();
    b_ready = 1;
    step();
    b_valid = 0;
  }
  void done() { monitor.finish(cycle); }
};

TEST(AxiWriteMonitor, LegalTraceIsSilent) {
  Write t;
  t.monitor.sample_in_reset(0);
  t.address(0x1000, 2, 0, 1);
  t.beat(false, 2);
  t.address(0x3f00, 16);
  t.w_strb = 0x00ff;
  t.beat(true);
  t.answer(0, 3);
  for (int i = 0; i < 16; i++) t.beat(i == 15);
  t.answer(3);
  // data before their address, once as a whole, once in part
  t.beat(true);
  t.address(0x1000, 1);
  t.beat(false);
  t.address(0x1000, 2);
  t.beat(true);
  t.answer();
  t.answer();
  // the next, shorter burst's address in the middle of a burst
  t.address(0x1000, 4);
  for (int i = 0; i < 3; i++) t.beat(false);
  t.address(0x2000, 2);
  t.beat(true);
  t.beat(false);
  t.beat(true);
  t.answer();
  t.answer();
  t.done();
  EXPECT_EQ(errors(t.log), "");
}

struct WriteCase {
  const char* label;
  std::function<void(Write&)> trace;
  std::string expected;
};

class AxiWriteRules : public ::testing::TestWithParam<WriteCase> {};

TEST_P(AxiWriteRules, Trips) {
  Write t;
  GetParam().trace(t);
  EXPECT_EQ(errors(t.log), GetParam().expected);
}

std::function<void(Write&)> aw_change(std::function<void(Write&)> change) {
  return [change](Write& t) {
    t.aw_valid = 1;
    t.aw_addr = 0x1000;
    t.step();
    change(t);
    t.step();
  };
}
std::function<void(Write&)> w_change(std::function<void(Write&)> change) {
  return [change](Write& t) {
    t.address(0x1000, 2);
    t.w_valid = 1;
    t.step();
    change(t);
    t.step();
  };
}
std::function<void(Write&)> b_change(std::function<void(Write&)> change) {
  return [change](Write& t) {
    t.address(0x1000, 1);
    t.beat(true);
    t.b_valid = 1;
    t.step();
    change(t);
    t.step();
  };
}

INSTANTIATE_TEST_SUITE_P(
    Rules, AxiWriteRules,
    ::testing::Values(
        WriteCase{"AwDropped", [](Write& t) { t.aw_valid = 1; t.step(); t.aw_valid = 0; t.step(); },
                  error(AxiRule::kValidDropped, "AW", 0)},
        WriteCase{"AwAddress", aw_change([](Write& t) { t.aw_addr = 0; }), error(AxiRule::kPayloadChanged, "AW", 0)},
        WriteCase{"AwId", aw_change([](Write& t) { t.aw_id = 1; }), error(AxiRule::kPayloadChanged, "AW", 1)},
        WriteCase{"AwLen", aw_change([](Write& t) { t.aw_len = 1; }), error(AxiRule::kPayloadChanged, "AW", 2)},
        WriteCase{"AwSizeChanged", aw_change([](Write& t) { t.aw_size = 3; }), error(AxiRule::kPayloadChanged, "AW", 3)},
        WriteCase{"AwBurstChanged", aw_change([](Write& t) { t.aw_burst = 2; }),
                  error(AxiRule::kPayloadChanged, "AW", 4)},
        WriteCase{"BurstType", [](Write& t) { t.aw_burst = 2; t.address(0x1000, 1); },
                  error(AxiRule::kBurstType, "AW", 2)},
        WriteCase{"BurstSize", [](Write& t) { t.aw_size = 5; t.address(0x1000, 1); },
                  error(AxiRule::kBurstSize, "AW", 5)},
        WriteCase{"BurstLength", [](Write& t) { t.address(0x1000, 20); }, error(AxiRule::kBurstLength, "AW", 20)},
        WriteCase{"Unaligned", [](Write& t) { t.address(0x1001, 1); }, error(AxiRule::kUnaligned, "AW", 0x1001)},
        WriteCase{"Page", [](Write& t) { t.address(0x2fe0, 3); }, error(AxiRule::kPage, "AW", 0x2fe0)},
        WriteCase{"Id", [](Write& t) { t.address(0x1000, 1, 1); }, error(AxiRule::kIdentifier, "AW", 1)},
        WriteCase{"Outstanding", [](Write& t) { for (int i = 0; i < 4; i++) t.address(0x1000, 1); },
                  error(AxiRule::kOutstanding, "AW", 4)},
        WriteCase{"WDropped", [](Write& t) { t.w_valid = 1; t.step(); t.w_valid = 0; t.step(); },
                  error(AxiRule::kValidDropped, "W", 0)},
        WriteCase{"WStrobes", w_change([](Write& t) { t.w_strb = 1; }), error(AxiRule::kPayloadChanged, "W", 0)},
        WriteCase{"WLastChanged", w_change([](Write& t) { t.w_last = 1; }), error(AxiRule::kPayloadChanged, "W", 1)},
        WriteCase{"WData", w_change([](Write& t) { t.w_data[2] = 9; }), error(AxiRule::kPayloadChanged, "W", 2)},
        WriteCase{"NoStrobe", [](Write& t) { t.w_strb = 0; t.address(0x1000, 1); t.beat(true); },
                  error(AxiRule::kStrobe, "W", 0)},
        WriteCase{"LastMissing", [](Write& t) { t.address(0x1000, 2); t.beat(false); t.beat(false); },
                  error(AxiRule::kLast, "W", 2)},
        WriteCase{"LastEarly", [](Write& t) { t.address(0x1000, 2); t.beat(true); }, error(AxiRule::kLast, "W", 1)},
        WriteCase{"LastWrongBeforeAddress", [](Write& t) { t.beat(false); t.beat(true); t.address(0x1000, 3); },
                  error(AxiRule::kLast, "W", 2)},
        WriteCase{"TooManyBeforeAddress", [](Write& t) { for (int i = 0; i < 16; i++) t.beat(false); },
                  error(AxiRule::kLast, "W", 16)},
        WriteCase{"BDropped",
                  [](Write& t) {
                    t.address(0x1000, 1);
                    t.beat(true);
                    t.b_valid = 1;
                    t.step();
                    t.b_valid = 0;
                    t.step();
                  },
                  error(AxiRule::kValidDropped, "B", 0)},
        WriteCase{"BId", b_change([](Write& t) { t.b_id = 1; }), error(AxiRule::kPayloadChanged, "B", 0)},
        WriteCase{"BResp", b_change([](Write& t) { t.b_resp = 2; }), error(AxiRule::kPayloadChanged, "B", 1)},
        WriteCase{"NoRequest", [](Write& t) { t.answer(); }, error(AxiRule::kNoRequest, "B", 0)},
        WriteCase{"AnswerBeforeData", [](Write& t) { t.address(0x1000, 1); t.answer(); },
                  error(AxiRule::kNoRequest, "B", 0)},
        WriteCase{"AnswerBeforeAddress", [](Write& t) { t.beat(true); t.answer(); },
                  error(AxiRule::kNoRequest, "B", 0)},
        WriteCase{"AnswerTooSoon",
                  [](Write& t) {
                    t.address(0x1000, 1);
                    t.w_valid = t.w_ready = t.w_last = t.b_valid = t.b_ready = 1;
                    t.step();
                  },
                  error(AxiRule::kNoRequest, "B", 0)},
        WriteCase{"Exokay", [](Write& t) { t.address(0x1000, 1); t.beat(true); t.answer(1); },
                  error(AxiRule::kResponse, "B", 1)},
        WriteCase{"AwInReset", [](Write& t) { t.aw_valid = 1; t.monitor.sample_in_reset(0); },
                  error(AxiRule::kReset, "AW", 0)},
        WriteCase{"WInReset", [](Write& t) { t.w_valid = 1; t.monitor.sample_in_reset(0); },
                  error(AxiRule::kReset, "W", 0)},
        WriteCase{"BInReset", [](Write& t) { t.b_valid = 1; t.monitor.sample_in_reset(0); },
                  error(AxiRule::kReset, "B", 0)},
        WriteCase{"Unfinished", [](Write& t) { t.address(0x1000, 1); t.beat(true); t.done(); },
                  error(AxiRule::kUnfinished, "B", 1)},
        WriteCase{"UnfinishedData", [](Write& t) { t.beat(false); t.done(); }, error(AxiRule::kUnfinished, "W", 1)}),
    [](const auto& info) { return info.param.label; });

// ---- AXI4-Lite

struct Lite {
  uint8_t aw_valid = 0, aw_ready = 0, w_valid = 0, w_ready = 0, b_valid = 0, b_ready = 0, b_resp = 0;
  uint8_t ar_valid = 0, ar_ready = 0, r_valid = 0, r_ready = 0, r_resp = 0, w_strb = 0xf;
  uint16_t aw_addr = 0, ar_addr = 0;
  uint32_t w_data = 0, r_data = 0;
  AxiLitePort port() {
    return {4,        &aw_valid, &aw_ready, &aw_addr,  &w_valid, &w_ready, &w_data,  &w_strb, &b_valid,
            &b_ready, &b_resp,   &ar_valid, &ar_ready, &ar_addr, &r_valid, &r_ready, &r_data, &r_resp};
  }
  ProtocolLog log;
  AxiLiteMonitor monitor{port(), {.name = "csr", .outstanding = 1}, log};
  uint64_t cycle = 0;
  void step() { monitor.sample(cycle++); }
  void pulse(uint8_t& valid, uint8_t& ready, unsigned wait = 0) {
    valid = 1;
    ready = 0;
    while (wait--) step();
    ready = 1;
    step();
    valid = 0;
  }
  void aw(uint16_t a = 0, unsigned wait = 0) {
    aw_addr = a;
    pulse(aw_valid, aw_ready, wait);
  }
  void w(unsigned wait = 0) { pulse(w_valid, w_ready, wait); }
  void b(uint8_t resp = 0, unsigned wait = 0) {
    b_resp = resp;
    pulse(b_valid, b_ready, wait);
  }
  void ar(uint16_t a = 0, unsigned wait = 0) {
    ar_addr = a;
    pulse(ar_valid, ar_ready, wait);
  }
  void r(uint8_t resp = 0, unsigned wait = 0) {
    r_resp = resp;
    pulse(r_valid, r_ready, wait);
  }
};

TEST(AxiLiteMonitor, LegalTraceIsSilent) {
  Lite t;
  t.monitor.sample_in_reset(0);
  t.aw(4, 2);
  t.w(1);
  t.b(0, 2);
  t.w();
  t.aw(8);
  t.b(2);
  t.ar(12, 1);
  t.r(0, 3);
  t.ar(16);
  t.r(2);
  t.monitor.finish(t.cycle);
  EXPECT_EQ(errors(t.log), "");
}

struct LiteCase {
  const char* label;
  std::function<void(Lite&)> trace;
  std::string expected;
};

class AxiLiteRules : public ::testing::TestWithParam<LiteCase> {};

TEST_P(AxiLiteRules, Trips) {
  Lite t;
  GetParam().trace(t);
  EXPECT_EQ(errors(t.log), GetParam().expected);
}

std::function<void(Lite&)> dropped(uint8_t Lite::*valid) {
  return [valid](Lite& t) {
    t.aw();
    t.w();
    t.ar();
    t.*valid = 1;
    t.aw_ready = t.w_ready = t.ar_ready = 0;
    t.step();
    t.*valid = 0;
    t.step();
  };
}
template <class T>
std::function<void(Lite&)> changed(uint8_t Lite::*valid, T Lite::*payload) {
  return [valid, payload](Lite& t) {
    t.aw();
    t.w();
    t.ar();
    t.*valid = 1;
    t.aw_ready = t.w_ready = t.ar_ready = 0;
    t.step();
    t.*payload ^= 8;
    t.step();
  };
}

INSTANTIATE_TEST_SUITE_P(
    Rules, AxiLiteRules,
    ::testing::Values(
        LiteCase{"AwDropped", dropped(&Lite::aw_valid), error(AxiRule::kValidDropped, "AW", 0)},
        LiteCase{"WDropped", dropped(&Lite::w_valid), error(AxiRule::kValidDropped, "W", 0)},
        LiteCase{"BDropped", dropped(&Lite::b_valid), error(AxiRule::kValidDropped, "B", 0)},
        LiteCase{"ArDropped", dropped(&Lite::ar_valid), error(AxiRule::kValidDropped, "AR", 0)},
        LiteCase{"RDropped", dropped(&Lite::r_valid), error(AxiRule::kValidDropped, "R", 0)},
        LiteCase{"AwAddress", changed(&Lite::aw_valid, &Lite::aw_addr), error(AxiRule::kPayloadChanged, "AW", 0)},
        LiteCase{"WData", changed(&Lite::w_valid, &Lite::w_data), error(AxiRule::kPayloadChanged, "W", 0)},
        LiteCase{"WStrobes", changed(&Lite::w_valid, &Lite::w_strb), error(AxiRule::kPayloadChanged, "W", 1)},
        LiteCase{"BResp", changed(&Lite::b_valid, &Lite::b_resp), error(AxiRule::kPayloadChanged, "B", 0)},
        LiteCase{"ArAddress", changed(&Lite::ar_valid, &Lite::ar_addr), error(AxiRule::kPayloadChanged, "AR", 0)},
        LiteCase{"RData", changed(&Lite::r_valid, &Lite::r_data), error(AxiRule::kPayloadChanged, "R", 0)},
        LiteCase{"RResp", changed(&Lite::r_valid, &Lite::r_resp), error(AxiRule::kPayloadChanged, "R", 1)},
        LiteCase{"AwUnaligned", [](Lite& t) { t.aw(6); }, error(AxiRule::kUnaligned, "AW", 6)},
        LiteCase{"ArUnaligned", [](Lite& t) { t.ar(2); }, error(AxiRule::kUnaligned, "AR", 2)},
        LiteCase{"NoStrobe", [](Lite& t) { t.w_strb = 0; t.w(); }, error(AxiRule::kStrobe, "W", 0)},
        LiteCase{"BNoAddress", [](Lite& t) { t.w(); t.b(); }, error(AxiRule::kNoRequest, "B", 0)},
        LiteCase{"BNoData", [](Lite& t) { t.aw(); t.b(); }, error(AxiRule::kNoRequest, "B", 0)},
        LiteCase{"RNoAddress", [](Lite& t) { t.r(); }, error(AxiRule::kNoRequest, "R", 0)},
        LiteCase{"BExokay", [](Lite& t) { t.aw(); t.w(); t.b(1); }, error(AxiRule::kResponse, "B", 1)},
        LiteCase{"RExokay", [](Lite& t) { t.ar(); t.r(1); }, error(AxiRule::kResponse, "R", 1)},
        LiteCase{"AwOutstanding", [](Lite& t) { t.aw(); t.aw(); }, error(AxiRule::kOutstanding, "AW", 2)},
        LiteCase{"ArOutstanding", [](Lite& t) { t.ar(); t.ar(); }, error(AxiRule::kOutstanding, "AR", 2)},
        LiteCase{"Reset", [](Lite& t) { t.r_valid = 1; t.monitor.sample_in_reset(0); }, error(AxiRule::kReset, "R", 0)},
        LiteCase{"UnfinishedWrite", [](Lite& t) { t.aw(); t.monitor.finish(9); }, error(AxiRule::kUnfinished, "B", 1)},
        LiteCase{"UnfinishedRead", [](Lite& t) { t.ar(); t.monitor.finish(9); }, error(AxiRule::kUnfinished, "R", 1)}),
    [](const auto& info) { return info.param.label; });

// ---- log

TEST(ProtocolLog, ThrowsAtOnceOrWhenAsked) {
  const ProtocolError e{17, "m_axi", "AR", AxiRule::kPage, 0xff0};
  ProtocolLog now(true), later;
  EXPECT_THROW(now.add(e), ProtocolViolation);
  later.add(e);
  EXPECT_FALSE(later.clean());
  try {
    later.check();
    FAIL();
  } catch (const ProtocolViolation& v) {
    EXPECT_STREQ(v.what(), "AXI protocol error on m_axi AR in cycle 17: burst crosses a 4 KiB line (0xff0)");
    EXPECT_EQ(v.error.cycle, 17u);
  }
}

}  // namespace

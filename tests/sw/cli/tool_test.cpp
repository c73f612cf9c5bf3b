// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The programs themselves, as users start them: exit codes, streams, files, damaged models, Ctrl-C.
#include "cli/tool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/output.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/support/temporary_folder.h"

namespace kaiten::cli {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;  // 128 + signal when killed
  std::string out;
  std::string err;
};

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Tool : public testing::Test {
 protected:
  // Starts a program with its output in files of the test's folder.
  pid_t start(const std::string& program, const Arguments& arguments) {
    const std::string out = (dir_ / "stdout").string();
    const std::string err = (dir_ / "stderr").string();
    const pid_t child = fork();
    if (child != 0) return child;
    signal(SIGINT, SIG_DFL);
    const int o = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int e = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(o, 1);
    dup2(e, 2);
    std::vector<char*> argv;
    std::string name = program;
    argv.push_back(name.data());
    Arguments copy = arguments;
    for (std::string& a : copy) argv.push_back(a.data());
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(99);
  }
  Outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    Outcome r;
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.out = slurp(dir_ / "stdout");
    r.err = slurp(dir_ / "stderr");
    return r;
  }
  Outcome run(const std::string& program, const Arguments& arguments) {
    return finish(start(program, arguments));
  }
  Outcome kaiten(const Arguments& arguments) { return run(KAITEN_TOOL, arguments); }

  // Exit code 2 and one line that says why.
  void expect_refused(const Outcome& r, const std::string& word) {
    EXPECT_EQ(r.code, kBadInput) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find(word), std::string::npos) << r.err;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(dir_)) {
      const std::string name = e.path().filename().string();
      if (name != "stdout" && name != "stderr") names.push_back(name);
    }
    return names;
  }

  const test::TemporaryFolder own_;
  const fs::path& dir_ = own_.path();
};

TEST_F(Tool, RunsTheDemoNetwork) {
  const Outcome r = run(KAITEN_TB, {});
  EXPECT_EQ(r.code, kDone) << r.err;
  EXPECT_EQ(r.err, "");
  const std::size_t last = r.out.rfind('\n', r.out.size() - 2);
  EXPECT_EQ(r.out.substr(last + 1, 5), "PASS ") << r.out;
  for (char c : r.out) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));  // no escapes in piped output
}

TEST_F(Tool, WritesOutputAndReport) {
  const std::string out = (dir_ / "out.bin").string();
  const std::string json = (dir_ / "report.json").string();
  ASSERT_EQ(kaiten({"run", "demo", "--config", "nano", "--seed", "7", "--output", out, "--json", json}).code,
            kDone);
  EXPECT_EQ(slurp(out).size(), 10U);
  const auto report = nlohmann::json::parse(slurp(json));
  EXPECT_EQ(report["exact"], true);
  EXPECT_EQ(report["bytes"], report["predicted_bytes"]);
  std::uint64_t cycles = 0;
  for (const auto& l : report["layers"]) cycles += l["cycles"].get<std::uint64_t>();
  EXPECT_EQ(report["cycles"], cycles);

  // The image as a raw input gives the same; JSON on standard output stands alone.
  const auto image = demo_images().subspan(7 * kDemoImageBytes, kDemoImageBytes);
  std::vector<std::uint8_t> raw;
  for (std::uint8_t p : image) raw.push_back(std::uint8_t(p - 128));
  write_output(dir_ / "in.bin", raw);
  write_output(dir_ / "in.pgm", "P5 32 32 255\n" + std::string(image.begin(), image.end()));
  for (const char* input : {"in.bin", "in.pgm"}) {
    const std::string again = (dir_ / "again.bin").string();
    const Outcome r = kaiten({"run", "demo", "--config", "nano", "--input", (dir_ / input).string(),
                              "--output", again, "--json", "-"});
    ASSERT_EQ(r.code, kDone) << r.err;
    EXPECT_EQ(nlohmann::json::parse(r.out)["exact"], true);
    EXPECT_EQ(slurp(again), slurp(out));
  }
}

TEST_F(Tool, ComputesConvolutionsByFft) {
  for (const char* command : {"run", "compare"}) {
    const Outcome r = kaiten({command, "demo", "--config", "nano", "--oracle", "fft"});
    EXPECT_EQ(r.code, kDone) << r.err;
    EXPECT_NE(r.out.find("oracle: 12 convolutions by FFT"), std::string::npos) << r.out;
    EXPECT_EQ(r.out.find("computed directly"), std::string::npos) << r.out;
  }
}

// A model with float32 input and outputs: planes of reals, or the image they were made from.
TEST_F(Tool, FeedsFloatModels) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: no ONNX model to run";
  const std::string model =
      (*shared / "models/onnx/derived/resnet8_cifar10_qoperator_s8_perchannel.onnx").string();
  const std::vector<std::uint8_t> stored = read_file(*shared / "models/vectors/resnet8/quant_bird.dat");
  std::vector<std::uint8_t> raw(stored.size() * 4);
  std::string image = "P6 32 32 255\n";
  for (std::size_t i = 0; i < stored.size(); i++) {
    const std::uint8_t pixel = stored[i] ^ 0x80;
    const float real = pixel;
    std::memcpy(&raw[(i % 3 * (stored.size() / 3) + i / 3) * 4], &real, 4);
    image += char(pixel);
  }
  write_output(dir_ / "in.f32", raw);
  write_output(dir_ / "in.ppm", image);
  std::string first;
  for (const char* input : {"in.f32", "in.ppm"}) {
    const std::string out = (dir_ / "out.f32").string();
    const Outcome r = kaiten({"run", model, "--config", "nano", "--input", (dir_ / input).string(),
                              "--output", out, "--json", "-"});
    ASSERT_EQ(r.code, kDone) << r.err;
    const auto report = nlohmann::json::parse(r.out);
    EXPECT_EQ(report["exact"], true);
    const auto& best = report["outputs"][0]["top5"][0];
    EXPECT_EQ(best["index"], 2);  // a bird
    EXPECT_GT(best["value"].get<double>(), 0.99);
    EXPECT_EQ(slurp(out).size(), 80U);  // prob and logits
    if (first.empty()) first = slurp(out);
    EXPECT_EQ(slurp(out), first);
  }
  raw.resize(100);
  write_output(dir_ / "short.f32", raw);
  expect_refused(kaiten({"run", model, "--config", "nano", "--input", (dir_ / "short.f32").string()}),
                 "has 100 bytes, the model's inputs have 12288");
}

TEST_F(Tool, MemoryTimingChangesCyclesOnly) {
  const auto report = [&](Arguments more) {
    Arguments a{"run", "demo", "--config", "unit", "--json", "-"};
    a.insert(a.end(), more.begin(), more.end());
    const Outcome r = kaiten(a);
    EXPECT_EQ(r.code, kDone) << r.err;
    return nlohmann::json::parse(r.out);
  };
  const auto fast = report({"--latency", "1", "--bytes-per-cycle", "0"});
  const auto slow = report({"--latency", "300", "--bytes-per-cycle", "1"});
  const auto stalled = report({"--stall", "30"});
  EXPECT_LT(fast["cycles"], slow["cycles"]);
  EXPECT_EQ(fast["bytes"], slow["bytes"]);
  EXPECT_EQ(fast["outputs"], slow["outputs"]);
  EXPECT_EQ(fast["outputs"], stalled["outputs"]);
}

TEST_F(Tool, EveryCommandHasHelp) {
  for (const char* command : {"run", "inspect", "disasm", "info"}) {
    const Outcome r = kaiten({command, "--help"});
    EXPECT_EQ(r.code, kDone);
    EXPECT_NE(r.out.find("usage: kaiten " + std::string(command)), std::string::npos) << r.out;
  }
  EXPECT_EQ(kaiten({"--help"}).code, kDone);
  const Outcome version = kaiten({"--version"});
  EXPECT_EQ(version.code, kDone);
  EXPECT_NE(version.out.find("Verilator"), std::string::npos);
  EXPECT_EQ(run(KAITEN_TB, {"--help"}).code, kDone);
}

TEST_F(Tool, RefusesBadCommandLines) {
  EXPECT_EQ(kaiten({}).code, kBadInput);
  expect_refused(kaiten({"fly"}), "fly");
  expect_refused(kaiten({"run"}), "model");
  expect_refused(kaiten({"run", "demo", "--colour", "red"}), "colour");
  expect_refused(kaiten({"run", "demo", "--config", "huge"}), "huge");
  expect_refused(kaiten({"run", "demo", "--latency", "0"}), "latency");
  expect_refused(kaiten({"run", "demo", "--latency", "many"}), "latency");
  expect_refused(kaiten({"run", "demo", "--rounding", "up"}), "rounding");
  expect_refused(kaiten({"run", "demo", "--oracle", "dft"}),
                 "--oracle is direct, fft, litert or onnxruntime, not 'dft'");
  expect_refused(kaiten({"run", "demo", "--bytes-per-cycle", "-3"}), "bytes-per-cycle");
  expect_refused(kaiten({"run", "/nowhere/x.tflite"}), "/nowhere/x.tflite");
  expect_refused(kaiten({"run", dir_.string()}), dir_.string());
  expect_refused(kaiten({"run", "demo", "--input", "/nowhere/x.bin"}), "/nowhere/x.bin");
  expect_refused(kaiten({"run", "demo", "--config", "nano", "--output", "/nowhere/x.bin"}), "/nowhere/x.bin");
  expect_refused(kaiten({"info", "--config", "huge"}), "huge");
  write_output(dir_ / "short.bin", std::string("12345"));
  expect_refused(kaiten({"run", "demo", "--input", (dir_ / "short.bin").string()}), "5 bytes");
  expect_refused(kaiten({"disasm", (dir_ / "short.bin").string()}), "5 bytes");
  write_output(dir_ / "zero.bin", std::string(64, '\0'));
  expect_refused(kaiten({"disasm", (dir_ / "zero.bin").string()}), "command 0");
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(Tool, DisassemblesProgramsAndModels) {
  const std::string program = (dir_ / "program.bin").string();
  const Outcome model = kaiten({"disasm", "demo", "--config", "nano", "--output", program});
  ASSERT_EQ(model.code, kDone) << model.err;
  const Outcome again = kaiten({"disasm", program});
  ASSERT_EQ(again.code, kDone) << again.err;
  std::string without_layers;
  std::istringstream in(model.out);
  for (std::string l; std::getline(in, l);) {
    if (l.front() != '#') without_layers += l + "\n";
  }
  EXPECT_EQ(without_layers, again.out);
}

TEST_F(Tool, InspectsModels) {
  const Outcome r = kaiten({"inspect", "demo"});
  EXPECT_EQ(r.code, kDone) << r.err;
  EXPECT_NE(r.out.find("on base:"), std::string::npos) << r.out;
  const Outcome info = kaiten({"info", "--config", "base"});
  EXPECT_EQ(info.code, kDone);
  EXPECT_NE(info.out.find("32 x 8"), std::string::npos) << info.out;
}

// Damaged files: inspect and run in this process, so that a thousand of them take seconds.
class Damaged : public Tool {
 protected:
  int quietly(const Arguments& arguments, std::string& err) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = kaiten_main(arguments);
    testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return code;
  }
  void inspect(const std::vector<std::uint8_t>& file, const std::string& what, int& sound) {
    write_output(dir_ / "m.tflite", file);
    std::string err;
    const int code = quietly({"inspect", (dir_ / "m.tflite").string()}, err);
    if (code == kDone) {
      sound++;
      return;
    }
    EXPECT_EQ(code, kBadInput) << what << ": " << err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << what << ": " << err;
  }
};

TEST_F(Damaged, PrefixesOfTheDemoModel) {
  const auto model = demo_model();
  int sound = 0;
  for (std::size_t percent = 0; percent < 100; percent++) {
    inspect({model.begin(), model.begin() + std::ptrdiff_t(model.size() * percent / 100)},
            std::to_string(percent) + " %", sound);
  }
  EXPECT_EQ(sound, 0);
}

TEST_F(Damaged, FlippedBytes) {
  std::mt19937_64 random(test::seed());
  const auto model = demo_model();
  int sound = 0;
  int simulated = 0;
  for (int i = 0; i < 1000; i++) {
    std::vector<std::uint8_t> file(model.begin(), model.end());
    const std::size_t at = random() % file.size();
    file[at] ^= std::uint8_t(1 + random() % 255);
    const int before = sound;
    inspect(file, "flip " + std::to_string(i) + " at byte " + std::to_string(at), sound);
    // A flip that leaves a sound model leaves one that runs exactly.
    if (sound > before && simulated < 20 && i % 11 == 0) {
      simulated++;
      std::string err;
      EXPECT_EQ(quietly({"run", (dir_ / "m.tflite").string(), "--config", i % 2 ? "nano" : "base"}, err),
                kDone)
          << "flip " << i << " at byte " << at << ": " << err;
    }
  }
  EXPECT_EQ(simulated, 20);
  std::printf("%d of 1000 flips left a sound model\n", sound);
}

TEST_F(Tool, InterruptLeavesNothingBehind) {
  const pid_t child =
      start(KAITEN_TOOL, {"run", "demo", "--config", "nano", "--seconds", "600", "--output",
                          (dir_ / "out.bin").string(), "--json", (dir_ / "report.json").string()});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  kill(child, SIGINT);
  const auto start_time = std::chrono::steady_clock::now();
  const Outcome r = finish(child);
  EXPECT_EQ(r.code, kOfSignal + SIGINT);
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, std::chrono::seconds(10));
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err, "kaiten: interrupted\n");
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace kaiten::cli

// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Programs on Linux: the C driver, Device and Board on a simulated accelerator behind a bridge, with the answers of LiteRT and
// of the reference; UIO and u-dma-buf with files in their places; what is wrong with each, in one sentence.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "board/board.h"
#include "bridge/bridge.h"
#include "compile/compiler.h"
#include "device/csr.h"
#include "device/driver.h"
#include "device/program_image.h"
#include "firmware/kaiten_registers.h"
#include "linux_driver/kaiten_linux.h"
#include "linux_driver/linux_device.h"
#include "sim/sim_device.h"
#include "tests/support/demo_network.h"
#include "tests/support/graph_builder.h"
#include "tests/support/temporary_folder.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAddress = 0x4000'0000;
constexpr std::uint64_t kBytes = 1U << 20;

// A simulated accelerator of its own thread.
class Server {
 public:
  explicit Server(const fs::path& folder, std::uint64_t bytes = kBytes) : shared_(folder, kAddress, bytes) {
    sim::SimOptions options;
    options.memory.base = kAddress;
    options.memory.bytes = bytes;
    options.memory.storage = shared_.memory();
    options.memory.read_latency = 20;
    options.memory.stall_r = options.memory.stall_w = 10;
    device_ = sim::make_sim_device("nano", options);
    bridge_ = std::make_unique<Bridge>(*device_, shared_);
    shared_.publish();
    thread_ = std::thread([this] { bridge_->serve([this] { return !over_; }); });
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  const Bridge::Counts& counts() const { return bridge_->counts(); }  // once stopped
  sim::AxiMemory& memory() { return device_->memory(); }

 private:
  SharedFolder shared_;
  std::unique_ptr<sim::SimDevice> device_;
  std::unique_ptr<Bridge> bridge_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

std::string fault_of(const std::string& device, const std::string& root = "") {
  kaiten_linux l;
  std::array<char, 512> fault{};
  if (kaiten_linux_open(&l, device.c_str(), root.c_str(), fault.data(), fault.size())) {
    kaiten_linux_close(&l);
    return "";
  }
  return fault.data();
}

class CDriver : public testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 512> fault{};
    const std::string device = "bridge:" + folder_.path().string();
    ASSERT_TRUE(kaiten_linux_open(&l_, device.c_str(), "", fault.data(), fault.size())) << fault.data();
    l_.interrupts = &k_;
    ASSERT_EQ(kaiten_open(&k_, &l_.port), KAITEN_OK);
    const Graph graph = test::demo_network();
    image_ = program_image(compile(graph, preset("nano")), graph);
    ASSERT_EQ(
        kaiten_load(&k_, image_.data(), std::uint32_t(image_.size()), l_.memory_address, l_.memory_bytes),
        KAITEN_OK);
  }
  void TearDown() override { kaiten_linux_close(&l_); }

  void expect_demo(std::size_t image, kaiten_wait how) {
    ASSERT_EQ(kaiten_write_input(&k_, 0, 0, test::demo_images().at(image).data()), KAITEN_OK);
    ASSERT_EQ(kaiten_run(&k_, how), KAITEN_OK);
    Int8Values logits(test::kDemoClasses);
    ASSERT_EQ(kaiten_read_output(&k_, 0, 0, logits.data()), KAITEN_OK);
    EXPECT_EQ(logits, test::demo_goldens().at(image).logits);
  }

  test::TemporaryFolder folder_;
  Server server_{folder_.path()};
  kaiten_linux l_{};
  kaiten_device k_{};
  std::vector<std::uint8_t> image_;
};

TEST_F(CDriver, GivesLiteRtsAnswersByInterruptAndByPolling) {
  EXPECT_EQ(l_.memory_address, kAddress);
  for (std::size_t image = 0; image < 3; image++) expect_demo(image, KAITEN_INTERRUPT);
  expect_demo(3, KAITEN_POLL);
  expect_demo(4, KAITEN_INTERRUPT);
  server_.stop();
  EXPECT_EQ(server_.counts().interrupts, 4U);
  EXPECT_EQ(server_.counts().runs, 5U);
}

TEST_F(CDriver, StopsAtErrorsAndWorksAfterwards) {
  const std::uint64_t third = k_.program + 2 * KAITEN_COMMAND_BYTES;
  std::uint8_t saved = 0;
  const std::uint8_t wrong = 0xff;
  l_.port.read_memory(&l_, third, &saved, 1);
  for (const kaiten_wait how : {KAITEN_INTERRUPT, KAITEN_POLL}) {
    l_.port.write_memory(&l_, third, &wrong, 1);
    EXPECT_EQ(kaiten_run(&k_, how), KAITEN_STOPPED);
    EXPECT_EQ(k_.stop.cause, KAITEN_ERROR_CAUSE_ILLEGAL);
    EXPECT_EQ(k_.stop.command, 2U);
    l_.port.write_memory(&l_, third, &saved, 1);
    expect_demo(0, how);
  }
  k_.watchdog = 10;
  EXPECT_EQ(kaiten_run(&k_, KAITEN_INTERRUPT), KAITEN_STOPPED);
  EXPECT_EQ(k_.stop.cause, KAITEN_ERROR_CAUSE_TIMEOUT);
}

TEST_F(CDriver, GivesUpWhenItsPatienceEnds) {
  k_.watchdog = 0;
  l_.patience = -1;
  EXPECT_EQ(kaiten_run(&k_, KAITEN_POLL), KAITEN_TIMED_OUT);
  l_.patience = 10'000;
  expect_demo(0, KAITEN_POLL);
}

TEST_F(CDriver, ReadsOnesWhereThereIsNoRegister) {
  EXPECT_EQ(l_.port.read_register(&l_, 0x3f0), UINT32_MAX);
  expect_demo(0, KAITEN_INTERRUPT);
}

TEST_F(CDriver, HasTheAcceleratorForItself) {
  EXPECT_EQ(fault_of("bridge:" + folder_.path().string()),
            "'" + (folder_.path() / "memory").string() + "' is in use by another program");
  EXPECT_THROW(Server(folder_.path()), InputError);
  expect_demo(0, KAITEN_INTERRUPT);
}

TEST(LinuxDriver, SaysWhatIsWrongWithABridge) {
  const test::TemporaryFolder folder;
  const std::string name = "bridge:" + folder.path().string();
  EXPECT_NE(fault_of(name).find("no bridge in '"), std::string::npos);
  const fs::path page = folder.path() / "registers";
  std::ofstream(page) << "short";
  EXPECT_EQ(fault_of(name), "'" + page.string() + "' is not a bridge's");
  std::ofstream(page) << std::string(KAITEN_BRIDGE_PAGE_BYTES, 'x');
  EXPECT_EQ(fault_of(name), "'" + page.string() + "' is not a bridge's");
  // Neither side touches what is somebody else's.
  EXPECT_THROW(SharedFolder(folder.path(), kAddress, kBytes), InputError);
  EXPECT_EQ(fs::file_size(page), KAITEN_BRIDGE_PAGE_BYTES);
  fs::remove(page);
  std::ofstream(folder.path() / "memory") << "mine";
  EXPECT_THROW(SharedFolder(folder.path(), kAddress, kBytes), InputError);
  EXPECT_EQ(fs::file_size(folder.path() / "memory"), 4U);
  EXPECT_FALSE(fs::exists(page));
  fs::remove(folder.path() / "memory");
  fs::create_symlink(folder.path() / "elsewhere", page);
  EXPECT_THROW(SharedFolder(folder.path(), kAddress, kBytes), InputError);
  EXPECT_FALSE(fs::exists(folder.path() / "elsewhere"));
}

TEST(LinuxDriver, LeavesNothingOfABridge) {
  const test::TemporaryFolder parent;
  const fs::path folder = parent.path() / "made";
  {
    const SharedFolder shared(folder, kAddress, kBytes);
    EXPECT_EQ(fs::file_size(folder / "memory"), kBytes);
    EXPECT_EQ(fs::status(folder / "memory").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_FALSE(fs::exists(folder));
  // What a bridge that was killed left is taken over.
  { const SharedFolder shared(parent.path(), kAddress, kBytes); }
  std::vector<char> left(KAITEN_BRIDGE_PAGE_BYTES);
  std::memcpy(left.data(), "KTBR", 4);
  std::ofstream(parent.path() / "registers").write(left.data(), std::streamsize(left.size()));
  std::ofstream(parent.path() / "memory") << "left";
  { const SharedFolder shared(parent.path(), kAddress, kBytes); }
  EXPECT_TRUE(fs::is_empty(parent.path()));
}

TEST(LinuxDriver, NoticesThatTheAcceleratorIsGone) {
  const test::TemporaryFolder folder;
  auto server = std::make_unique<Server>(folder.path());
  LinuxDevice device("bridge:" + folder.path().string());
  EXPECT_EQ(device.read_register(csr::kId), csr::kIdValue);
  server.reset();
  EXPECT_THROW(device.read_register(csr::kId), DeviceError);
  EXPECT_THROW(device.write_register(csr::kControl, 1), DeviceError);
  EXPECT_THROW(device.wait_interrupt(1), DeviceError);
}

TEST(LinuxDriver, ReachesItsMemoryAndNoOther) {
  const test::TemporaryFolder folder;
  const Server server(folder.path());
  LinuxDevice device("bridge:" + folder.path().string());
  std::array<std::uint8_t, 4> bytes{1, 2, 3, 4}, read{};
  device.write_memory(kAddress + kBytes - bytes.size(), bytes);
  device.read_memory(kAddress + kBytes - bytes.size(), read);
  EXPECT_EQ(read, bytes);
  EXPECT_THROW(device.write_memory(kAddress + kBytes - 3, bytes), DeviceError);
  EXPECT_THROW(device.read_memory(kAddress - 1, read), DeviceError);
  EXPECT_THROW(device.read_memory(UINT64_MAX - 1, read), DeviceError);
}

// Registers and memory in files where the kernel's drivers have them.
class Mapped : public testing::Test {
 protected:
  void SetUp() override {
    put("sys/class/uio/uio3/maps/map0/size", "0x1000\n");
    put("sys/class/u-dma-buf/udmabuf1/size", "65536\n");
    put("sys/class/u-dma-buf/udmabuf1/phys_addr", "0x0000000030001000\n");
    std::string registers(4096, '\0');
    registers.replace(0, 4, "TIAK");  // `id`, low byte first
    put("dev/uio3", registers);
    put("dev/udmabuf1", std::string(65536, '\0'));
  }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  std::string bytes_of(const std::string& name, std::size_t at, std::size_t count) const {
    std::ifstream file(folder_.path() / name, std::ios::binary);
    file.seekg(std::streamoff(at));
    std::string bytes(count, '\0');
    file.read(bytes.data(), std::streamsize(count));
    return bytes;
  }
  std::string fault(const std::string& device = "uio3,udmabuf1") const {
    return fault_of(device, folder_.path().string());
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  test::TemporaryFolder folder_;
};

TEST_F(Mapped, ReachesRegistersAndMemory) {
  LinuxDevice device("uio3,udmabuf1", folder_.path().string());
  EXPECT_EQ(device.memory_base(), 0x30001000U);
  EXPECT_EQ(device.memory_bytes(), 65536U);
  EXPECT_EQ(device.read_register(csr::kId), csr::kIdValue);
  device.write_register(csr::kWatchdog, 0x12345678);
  const std::array<std::uint8_t, 3> bytes{'a', 'b', 'c'};
  device.write_memory(0x30001005, bytes);
  EXPECT_EQ(bytes_of("dev/uio3", csr::kWatchdog, 4), "\x78\x56\x34\x12");
  EXPECT_EQ(bytes_of("dev/udmabuf1", 5, 3), "abc");
  EXPECT_EQ(fault(), "'" + path("dev/uio3") + "' is in use by another program");
}

TEST_F(Mapped, SaysWhatIsMissing) {
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(fault("uio3"), "a device is 'UIO,BUFFER', as 'uio0,udmabuf0', or 'bridge:FOLDER', not 'uio3'");
  EXPECT_EQ(fault("../uio3,udmabuf1"),
            "a device is 'UIO,BUFFER', as 'uio0,udmabuf0', or 'bridge:FOLDER', not '../uio3,udmabuf1'");
  EXPECT_EQ(fault("uio0,udmabuf1"),
            "cannot read '" + path("sys/class/uio/uio0/maps/map0/size") + "': No such file or directory");
  EXPECT_EQ(fault("uio3,udmabuf0"),
            "cannot read '" + path("sys/class/u-dma-buf/udmabuf0/size") + "': No such file or directory");
  put("sys/class/u-dma-buf/udmabuf1/phys_addr", "0x30001010\n");
  EXPECT_EQ(fault(), "'udmabuf1' has 65536 bytes at 0x30001010, which is no multiple of 4096");
  put("sys/class/u-dma-buf/udmabuf1/phys_addr", "somewhere\n");
  EXPECT_EQ(fault(), "no number in '" + path("sys/class/u-dma-buf/udmabuf1/phys_addr") + "'");
  put("sys/class/uio/uio3/maps/map0/size", "0x100\n");
  EXPECT_EQ(fault(), "'uio3' maps 256 bytes of registers, at least 1024 are needed");
  put("sys/class/uio/uio3/maps/map0/size", "0x1000\n");
  fs::remove(path("dev/uio3"));
  EXPECT_EQ(fault(), "cannot open '" + path("dev/uio3") + "': No such file or directory");
}

class OnABoard : public testing::Test {
 protected:
  Board board(Graph graph, int batch = 1) const {
    return {std::move(graph), open_device("bridge:" + folder_.path().string()), {.batch = batch}};
  }
  static std::vector<Int8Values> inputs(test::GraphBuilder& g, int batch) {
    std::vector<Int8Values> values;
    for (int i = 0; i < batch; i++) {
      for (const int t : g.graph.inputs) {
        values.emplace_back(g.graph.tensors[std::size_t(t)].bytes());
        for (std::int8_t& v : values.back()) v = std::int8_t(g.uniform(-128, 127));
      }
    }
    return values;
  }

  test::TemporaryFolder folder_;
  Server server_{folder_.path()};
};

TEST_F(OnABoard, RunsWhatTheRegistersSay) {
  Board b = board(test::demo_network());
  EXPECT_EQ(b.config().name, "nano");
  EXPECT_EQ(b.programs(), 1);
  for (const std::size_t image : {0U, 5U}) {
    const BoardRun run = b.run(std::vector<Int8Values>{test::demo_images().at(image)});
    EXPECT_EQ(run.outputs.at(0), test::demo_goldens().at(image).logits);
    EXPECT_GT(run.cycles, run.array_busy);
    EXPECT_GT(run.bytes_read, 0U);
  }
}

TEST_F(OnABoard, ComputesOnTheHostInBetween) {
  test::GraphBuilder g(3);
  const int a = g.input(6, 6, 8);
  const int conv = g.conv(a, 16, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  g.output(g.conv(g.softmax(conv), 8, 1, 1, 1, {}, Activation::Relu));  // softmax is the host's
  const int batch = 2;
  Board b = board(g.graph, batch);
  EXPECT_GT(b.programs(), 1);
  const std::vector<Int8Values> in = inputs(g, batch);
  EXPECT_EQ(b.run(in).outputs, b.expected(in));
  EXPECT_THROW(b.run(std::vector<Int8Values>(1)), InputError);
  EXPECT_EQ(b.run(in).outputs, b.expected(in));
}

TEST_F(OnABoard, RunsAgainAfterAnError) {
  Board b = board(test::demo_network());
  const std::vector<Int8Values> in{test::demo_images().at(1)};
  const std::vector<Int8Values> expected = b.expected(in);
  EXPECT_EQ(b.run(in).outputs, expected);
  server_.memory().fail_range(kAddress, kAddress, sim::kRespSlverr);
  EXPECT_THROW(b.run(in), DeviceError);
  server_.memory().clear_failures();
  EXPECT_EQ(b.run(in).outputs, expected);
}

TEST_F(OnABoard, RefusesWhatDoesNotFit) {
  EXPECT_THROW(board(test::demo_network(), 0), InputError);
  test::GraphBuilder g(1);
  const int a = g.input(64, 64, 128);
  g.output(g.conv(a, 128, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  EXPECT_THROW(board(g.graph), DeviceError);  // a MiB of memory
}

}  // namespace
}  // namespace kaiten

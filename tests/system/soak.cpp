// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kaiten-soak: episodes (soak_runs.h) on all configurations until time or beats are enough, in parts: what is done stands in a file,
// and the next part goes on behind it. Ranks of mpirun, or those of --ranks, share the episodes of a round.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "base/output.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/ranks.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "cluster/mpi.h"
#include "report/table.h"
#include "tests/system/soak_runs.h"

namespace po = boost::program_options;
using namespace kaiten;

namespace {

using Json = nlohmann::ordered_json;
using test::SoakCounts;

struct Options {
  std::string state, configs, episode;
  double minutes = 1, beats = 1e9;
  std::uint64_t seed = 1;
  int ranks = 0;
};

// Of one configuration.
struct Part {
  std::uint64_t episodes = 0;
  SoakCounts counts;
};
using State = std::map<std::string, Part>;

std::uint64_t beats_of(const State& state) {
  std::uint64_t beats = 0;
  for (const auto& [name, part] : state) beats += part.counts.beats();
  return beats;
}

Json json_of(const State& state, std::uint64_t seed, double seconds) {
  Json j{{"seed", seed}, {"seconds", std::uint64_t(seconds)}, {"beats", beats_of(state)}};
  for (const auto& [name, part] : state) {
    Json& c = j["configs"][name];
    c["episodes"] = part.episodes;
    SoakCounts::fields([&, &counts = part.counts](const char* key, std::uint64_t SoakCounts::*member) {
      c[key] = counts.*member;
    });
  }
  return j;
}

// What an earlier part left; the seconds it took.
double read_state(const Options& o, State& state) {
  std::ifstream file(o.state);
  if (!file) return 0;
  const Json j = Json::parse(file);
  if (j.at("seed") != o.seed)
    throw InputError("'" + o.state + "' is of seed " + std::to_string(j.at("seed").get<std::uint64_t>()));
  for (auto& [name, part] : state) {
    if (!j.at("configs").contains(name)) continue;
    const Json& c = j["configs"][name];
    part.episodes = c.at("episodes");
    SoakCounts::fields([&, &counts = part.counts](const char* key, std::uint64_t SoakCounts::*member) {
      counts.*member = c.at(key);
    });
  }
  return j.at("seconds");
}

// Of an episode, of all that there could be: splitmix64.
std::uint64_t seed_of(std::uint64_t seed, std::size_t config, std::uint64_t episode) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15 + config * 0xbf58476d1ce4e5b9 + episode + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool small(const Config& config) { return config.array_multipliers() < 1000; }

// Maps of some size, and small ones with so many channels that weights keep the bus busy.
std::array<test::NetworkSize, 2> sizes_for(const Config& config) {
  return {small(config) ? test::NetworkSize{16, 30, 12} : test::NetworkSize{30, 80, 12}, {4, 300, 8}};
}

// Episodes of a configuration and rank in a round: all configurations take about the same time.
std::size_t episodes_of(const std::string& config) { return small(preset(config)) ? 12 : 4; }

// The devices of this process, which live as long as it does.
class Devices {
 public:
  explicit Devices(std::uint64_t seed) : seed_(seed) {}

  SoakCounts episode(const std::string& config, std::uint64_t seed) {
    auto found = soaks_.find(config);
    if (found == soaks_.end())
      found = soaks_.try_emplace(config, config, seed_, sim::SimOptions{}, sizes_for(preset(config))).first;
    return found->second.episode(seed);
  }

 private:
  std::uint64_t seed_;
  std::map<std::string, test::Soak> soaks_;
};

std::string text_of(const SoakCounts& counts) {
  std::string text;
  SoakCounts::fields(
      [&](const char*, std::uint64_t SoakCounts::*member) { text += std::to_string(counts.*member) + " "; });
  return text;
}

SoakCounts counts_of(const std::string& text) {
  std::istringstream in(text);
  SoakCounts counts;
  SoakCounts::fields([&](const char*, std::uint64_t SoakCounts::*member) { in >> counts.*member; });
  return counts;
}

class Run {
 public:
  Run(const Options& o, State& state, cluster::Exchange* ranks)
      : o_(o), state_(state), ranks_(ranks), devices_(o.seed + (ranks ? std::uint64_t(ranks->rank()) : 0)) {
    if (cli::first_rank()) before_ = read_state(o, state);
  }

  // True where all that ran was right.
  bool work() {
    while (!agreed(over())) {
      if (!round()) return false;
    }
    return true;
  }

  double seconds() const {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - start_;
    return now.count();
  }
  double all_seconds() const { return before_ + seconds(); }

 private:
  struct Item {
    std::string config;
    std::uint64_t seed = 0;
  };

  bool over() const { return seconds() >= o_.minutes * 60 || double(beats_of(state_)) >= o_.beats; }
  // What rank 0 says.
  bool agreed(bool own) const {
    if (ranks_ == nullptr) return own;
    const char told = char(own);
    return cluster::decode_bytes(ranks_->gather(cluster::encode_bytes({&told, 1})).front(), 0).front() != 0;
  }

  std::vector<std::string> run(const std::vector<Item>& items, const std::vector<std::size_t>& mine) {
    std::vector<std::string> answers;
    for (const std::size_t i : mine) {
      cli::check_interrupt();
      progress_.show(std::to_string(beats_of(state_)) + " beats", seconds() / (o_.minutes * 60));
      const SoakCounts counts = devices_.episode(items[i].config, items[i].seed);
      if (testing::Test::HasFailure()) {
        answers.push_back("--configs " + items[i].config + " --episode " + std::to_string(items[i].seed));
        answers.resize(mine.size());
        break;
      }
      answers.push_back(text_of(counts));
    }
    return answers;
  }

  bool round() {
    const auto all = [&](const std::string& config) {
      return episodes_of(config) * std::size_t(ranks_ ? ranks_->ranks() : 1);
    };
    std::vector<Item> items;
    std::size_t config = 0;
    for (auto& [name, part] : state_) {
      const std::uint64_t first = first_episode(part);
      for (std::size_t e = 0; e < all(name); e++)
        items.push_back({name, seed_of(o_.seed, config, first + e)});
      config++;
    }
    const auto work = [&](const std::vector<std::size_t>& mine) { return run(items, mine); };
    std::vector<std::size_t> every(items.size());
    std::iota(every.begin(), every.end(), std::size_t(0));
    const std::vector<std::string> answers =
        ranks_ ? cli::shared_by(*ranks_, items.size(), work) : work(every);
    for (const std::string& answer : answers) {
      if (answer.rfind("--", 0) != 0) continue;
      if (cli::first_rank()) std::cerr << "FAIL: kaiten-soak " << answer << "\n";
      return false;
    }
    auto answer = answers.begin();
    for (auto& [name, part] : state_) {
      for (std::size_t e = 0; e < all(name); e++) part.counts += counts_of(*answer++);
      part.episodes += all(name);
    }
    if (cli::first_rank() && !o_.state.empty())
      write_output(o_.state, json_of(state_, o_.seed, all_seconds()).dump(1) + "\n");
    return true;
  }

  // Rank 0 alone has read what an earlier part left.
  std::uint64_t first_episode(const Part& part) const {
    if (ranks_ == nullptr) return part.episodes;
    return cluster::decode_values<std::uint64_t>(
               ranks_->gather(cluster::encode_values(std::span(&part.episodes, 1))).front(), 0)
        .front();
  }

  const Options& o_;
  State& state_;
  cluster::Exchange* ranks_;
  Devices devices_;
  cli::ProgressLine progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double before_ = 0;
};

State state_for(const std::string& configs) {
  State state;
  std::istringstream in(configs);
  for (std::string name; std::getline(in, name, ',');) state[preset(name).name];
  if (state.empty()) {
    for (const std::string& name : sim::sim_configs()) {
      if (std::any_of(presets().begin(), presets().end(), [&](const Config& c) { return c.name == name; }))
        state[name];
    }
  }
  return state;
}

int soak(int argc, char** argv) {
  Options o;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("configs", po::value(&o.configs)->value_name("NAMES"),
      "with commas between them; without it all that are built");
  add("minutes", po::value(&o.minutes)->default_value(o.minutes), "of this part");
  add("beats", po::value(&o.beats)->default_value(o.beats, "1e9"), "enough of them, all parts together");
  add("seed", po::value(&o.seed)->default_value(o.seed), "of all episodes");
  add("state", po::value(&o.state)->value_name("FILE"), "what is done; where it exists, go on behind it");
  add("ranks", po::value(&o.ranks)->value_name("N"), "processes under mpirun");
  add("episode", po::value(&o.episode)->value_name("SEED"),
      "this one alone, on a new device (with one of --configs)");
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).run(), values);
  po::notify(values);
  if (values.count("help") != 0) {
    std::cout << "usage: kaiten-soak [OPTIONS]\nRandom networks, bus errors, soft resets and repetitions on "
                 "devices that are never "
                 "exchanged;\nevery tensor compared with the reference executor, every beat counted on both "
                 "sides.\n"
              << all;
    return 0;
  }
  if (o.ranks > 0 && !cluster::launched_rank()) return cli::launch_ranks(o.ranks, {argv + 1, argv + argc});
  State state = state_for(o.configs);
  if (!o.episode.empty()) {
    std::cout << text_of(Devices(o.seed).episode(state.begin()->first, std::stoull(o.episode))) << "\n";
    return testing::Test::HasFailure() ? cli::kDiffers : cli::kDone;
  }
  cluster::Exchange* const ranks = cli::other_ranks();
  Run run(o, state, ranks);
  const bool right = run.work();
  if (ranks != nullptr) ranks->finish();
  if (!cli::first_rank()) return cli::kDone;
  SoakCounts sum;
  for (const auto& [name, part] : state) sum += part.counts;
  std::cout << "soak: " << grouped(sum.beats()) << " beats (" << grouped(sum.beats_read) << " read, "
            << grouped(sum.beats_written) << " written), " << grouped(sum.cycles) << " cycles, "
            << grouped(sum.networks) << " networks, " << grouped(sum.runs) << " runs, " << grouped(sum.errors)
            << " bus errors, " << grouped(sum.resets) << " soft resets on " << state.size()
            << " configurations in " << std::uint64_t(run.all_seconds()) << " s\n";
  return right ? cli::kDone : cli::kDiffers;
}

}  // namespace

int main(int argc, char** argv) {
  int none = 0;  // the options are not GoogleTest's
  testing::InitGoogleTest(&none, argv);
  return cli::guarded("kaiten-soak", [&] { return soak(argc, argv); });
}

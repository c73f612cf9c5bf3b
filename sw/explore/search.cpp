// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "explore/search.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/parallel.h"

namespace kaiten::explore {

namespace {

// Candidates of a round: enough for many processors, few enough that what one round finds spares work in the next.
constexpr std::size_t kRound = 32;

bool within(const Resources& area, const Resources& budget) {
  const auto fits = [](double used, double most) { return most <= 0 || used <= most; };
  return fits(area.lut, budget.lut) && fits(area.dsp, budget.dsp) && fits(area.ram, budget.ram) &&
         fits(area.uram, budget.uram);
}

bool no_more(const Resources& a, const Resources& b) {
  return a.lut <= b.lut && a.dsp <= b.dsp && a.ram <= b.ram && a.uram <= b.uram;
}

class Searcher {
 public:
  Searcher(const Problem& problem, const Share& share, const Progress& progress)
      : problem_(problem), share_(share), progress_(progress) {}

  Found run() {
    found_.candidates = problem_.areas.size();
    for (std::size_t i = 0; i < problem_.areas.size(); i++) {
      if (within(problem_.areas[i], problem_.budget)) {
        waiting_.push_back(i);
      } else {
        found_.over_budget++;
      }
    }
    find_bounds();
    look_at_all();
    std::sort(found_.front.begin(), found_.front.end(), [&](const Point& a, const Point& b) {
      return std::pair(a.outcome.total(), a.candidate) < std::pair(b.outcome.total(), b.candidate);
    });
    return std::move(found_);
  }

 private:
  // In rounds, of those that are `wanted` when their round begins: after(item, answer) for every answer that there is.
  void in_rounds(const char* step, const std::vector<std::size_t>& items, const Work& work,
                 const std::function<bool(std::size_t)>& wanted,
                 const std::function<void(std::size_t, const Outcome&)>& after) {
    for (std::size_t next = 0; next < items.size() && found_.complete;) {
      std::vector<std::size_t> round;
      for (; next < items.size() && round.size() < kRound; next++) {
        if (wanted(items[next])) round.push_back(items[next]);
      }
      const std::vector<std::optional<Outcome>> answers = share_(round, work);
      for (std::size_t i = 0; i < round.size(); i++) {
        if (answers[i]) {
          after(round[i], *answers[i]);
        } else {
          found_.complete = false;
        }
      }
      if (progress_) progress_(step, next, items.size());
    }
  }

  void refuse(const Outcome& outcome) {
    found_.refused++;
    if (found_.reason.empty()) found_.reason = outcome.refusal;
  }

  void find_bounds() {
    bounds_.assign(problem_.areas.size(), 0);
    std::vector<std::size_t> left;
    in_rounds(
        "bounds", waiting_, problem_.least, [](std::size_t) { return true; },
        [&](std::size_t i, const Outcome& least) {
          bounds_[i] = least.total();
          if (least.refusal.empty()) {
            left.push_back(i);
          } else {
            refuse(least);
          }
        });
    // What is small may beat what is large; of equals the one that promises more comes first.
    const auto size = [&](std::size_t i) {
      const Resources& a = problem_.areas[i];
      return a.lut / largest_.lut + a.dsp / largest_.dsp + a.ram / largest_.ram + a.uram / largest_.uram;
    };
    for (const std::size_t i : left) {
      const Resources& a = problem_.areas[i];
      largest_ = {std::max(largest_.lut, a.lut), std::max(largest_.dsp, a.dsp), std::max(largest_.ram, a.ram),
                  std::max(largest_.uram, a.uram)};
    }
    std::vector<std::tuple<double, std::int64_t, std::size_t>> order;
    order.reserve(left.size());
    for (const std::size_t i : left) order.emplace_back(size(i), bounds_[i], i);
    std::sort(order.begin(), order.end());
    waiting_.clear();
    for (const auto& entry : order) waiting_.push_back(std::get<2>(entry));
  }

  bool beaten(std::size_t i) const {
    return std::any_of(found_.front.begin(), found_.front.end(), [&](const Point& p) {
      return beats(p.outcome.total(), problem_.areas[p.candidate], bounds_[i], problem_.areas[i]);
    });
  }

  void look_at_all() {
    in_rounds(
        "candidates", waiting_, problem_.modelled,
        [&](std::size_t i) {
          const bool wanted = !problem_.prune || !beaten(i);
          if (!wanted) found_.pruned++;
          return wanted;
        },
        [&](std::size_t i, const Outcome& outcome) {
          found_.looked_at++;
          if (outcome.refusal.empty()) {
            take({i, outcome});
          } else {
            refuse(outcome);
          }
        });
  }

  void take(Point point) {
    const Resources& area = problem_.areas[point.candidate];
    const std::int64_t cycles = point.outcome.total();
    const auto beats_it = [&](const Point& p) {
      return beats(p.outcome.total(), problem_.areas[p.candidate], cycles, area);
    };
    if (std::any_of(found_.front.begin(), found_.front.end(), beats_it)) return;
    std::erase_if(found_.front, [&](const Point& p) {
      return beats(cycles, area, p.outcome.total(), problem_.areas[p.candidate]);
    });
    found_.front.push_back(std::move(point));
  }

  const Problem& problem_;
  const Share& share_;
  const Progress& progress_;
  Found found_;
  std::vector<std::size_t> waiting_;
  std::vector<std::int64_t> bounds_;  // of each candidate
  Resources largest_{1, 1, 1, 1};
};

}  // namespace

std::int64_t Outcome::total() const { return std::accumulate(cycles.begin(), cycles.end(), std::int64_t(0)); }

bool beats(std::int64_t cycles, const Resources& area, std::int64_t other_cycles, const Resources& other) {
  if (cycles > other_cycles || !no_more(area, other)) return false;
  return cycles < other_cycles || !no_more(other, area);
}

Found search(const Problem& problem, const Share& share, const Progress& progress) {
  return Searcher(problem, share, progress).run();
}

Share on_threads(int threads, std::function<bool(std::exception_ptr)> interrupted) {
  return
      [threads, interrupted = std::move(interrupted)](std::span<const std::size_t> items, const Work& work) {
        std::vector<std::optional<Outcome>> answers(items.size());
        try {
          parallel(items.size(), threads, [&](std::size_t i) { answers[i] = work(items[i]); });
        } catch (...) {
          if (!interrupted || !interrupted(std::current_exception())) throw;
        }
        return answers;
      };
}

}  // namespace kaiten::explore

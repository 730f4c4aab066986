//===- SiteRuns.h - Intervals of ranks as runs ------------------*- C++ -*-===//
//
// Intervals of ranks are what could grow with the number of ranks. They are
// written as runs where these are shorter, of the intervals or of how much they
// differ from those that are owned: of equal shards, and of halos around any,
// there are one or two whatever the number of ranks. Runs that repeat, as where
// ranks exchange blocks pair by pair, are written once.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_SITERUNS_H
#define SHARDRT_SITERUNS_H

#include "shardc/Layout/Exchange.h"
#include <cstdint>
#include <vector>

namespace shardrt::detail {

/// Entries of a table whose begins grow by the same, and whose ends do. Or,
/// where `entries` is below zero, the last -`entries` runs again: `step.begin`
/// times, each time `first` further on.
struct IntervalRun {
  int64_t entries = 0;
  shardc::Interval first, step;
};
inline constexpr int64_t wordsOfRun = 5;

/// Wraps around, as what a damaged table says may.
inline shardc::Interval plus(shardc::Interval a, shardc::Interval b) {
  auto sum = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) +
                                static_cast<uint64_t>(y));
  };
  return {sum(a.begin, b.begin), sum(a.end, b.end)};
}
inline shardc::Interval minus(shardc::Interval a, shardc::Interval b) {
  auto difference = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) -
                                static_cast<uint64_t>(y));
  };
  return {difference(a.begin, b.begin), difference(a.end, b.end)};
}
/// Not ==, to which all empty intervals are one.
inline bool isSame(shardc::Interval a, shardc::Interval b) {
  return a.begin == b.begin && a.end == b.end;
}

/// `runs` with those that repeat written once.
inline std::vector<IntervalRun>
foldRepeats(const std::vector<IntervalRun> &runs) {
  constexpr size_t longest = 64;
  std::vector<IntervalRun> folded;
  for (size_t at = 0; at < runs.size();) {
    // How many runs repeat, and how often, so that most are left out.
    size_t repeated = 0, times = 0;
    shardc::Interval shift;
    for (size_t length = 1; length <= longest && at + 2 * length <= runs.size();
         ++length) {
      shardc::Interval by = minus(runs[at + length].first, runs[at].first);
      size_t end = at + length;
      for (; end < runs.size(); ++end) {
        const IntervalRun &run = runs[end], &before = runs[end - length];
        if (run.entries != before.entries || !isSame(run.step, before.step) ||
            !isSame(minus(run.first, before.first), by))
          break;
      }
      size_t more = (end - at) / length - 1;
      if (length * more > repeated * times) {
        repeated = length;
        times = more;
        shift = by;
      }
    }
    if (repeated * times <= 1) {
      folded.push_back(runs[at++]);
      continue;
    }
    folded.insert(folded.end(), runs.begin() + at,
                  runs.begin() + at + repeated);
    folded.push_back({-static_cast<int64_t>(repeated),
                      shift,
                      {static_cast<int64_t>(times), 0}});
    at += repeated * (times + 1);
  }
  return folded;
}

/// The runs that `values` are, or `values` less `base` where there is one.
inline std::vector<IntervalRun>
runsOf(const std::vector<shardc::Interval> &values,
       const std::vector<shardc::Interval> *base) {
  std::vector<IntervalRun> runs;
  shardc::Interval last;
  for (size_t i = 0; i < values.size(); ++i) {
    shardc::Interval value = base ? minus(values[i], (*base)[i]) : values[i];
    shardc::Interval step = minus(value, last);
    last = value;
    if (!runs.empty()) {
      IntervalRun &run = runs.back();
      if (run.entries == 1)
        run.step = step;
      if (isSame(run.step, step)) {
        ++run.entries;
        continue;
      }
    }
    runs.push_back({1, value, {}});
  }
  return foldRepeats(runs);
}

} // namespace shardrt::detail

#endif // SHARDRT_SITERUNS_H

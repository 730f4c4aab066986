//===- BalanceTest.cpp - Sizes by which all ranks finish together ---------===//
//
// Ranks of these tests are as fast, and elements take as long, as the test
// says: what a step takes is their sum, and the best sizes are known.
//
//===----------------------------------------------------------------------===//
#include "shardc/Layout/Balance.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

using namespace shardc;

namespace {

/// One dim along one axis.
struct Planted {
  std::vector<double> work; ///< of each element, in nanoseconds
  std::vector<double> pace; ///< of each rank: 2 is half as fast
  double fixed = 0;         ///< of each rank, whatever it has
  double noise = 0;         ///< standard deviation of a step, relative

  std::vector<double> times(std::span<const int64_t> sizes) const {
    std::vector<double> result;
    auto at = work.begin();
    for (size_t rank = 0; rank < sizes.size(); at += sizes[rank++])
      result.push_back(fixed +
                       pace[rank] * std::accumulate(at, at + sizes[rank], 0.0));
    return result;
  }
  double imbalance(std::span<const int64_t> sizes) const {
    std::vector<double> all = times(sizes);
    return *std::max_element(all.begin(), all.end()) *
           static_cast<double>(all.size()) /
           std::accumulate(all.begin(), all.end(), 0.0);
  }
};

/// So much work for each of `size` elements that a step is a trial.
std::vector<double> uniform(int64_t size, double each = 1e6) {
  return std::vector<double>(size, each);
}

Balance balanceOf(int64_t size, int64_t shards) {
  return Balance({shards},
                 {{0, 0, {0}, Boundaries::balanced(size, shards).sizes()}});
}

/// Makes `steps` steps. `each` looks at the sizes of each.
void run(Balance &balance, const Planted &planted, int64_t steps,
         std::mt19937_64 &random,
         const std::function<void(std::span<const int64_t>)> &each = {}) {
  std::normal_distribution<double> error(0, 1);
  for (int64_t step = 0; step < steps; ++step) {
    const std::vector<int64_t> &sizes = balance.dims()[0].sizes;
    if (each)
      each(sizes);
    std::vector<double> times = planted.times(sizes);
    for (double &time : times)
      time *= std::max(0.1, 1 + planted.noise * error(random));
    balance.add(times);
  }
}

TEST(BalanceCut, LeavesWhatIsBalanced) {
  std::vector<Timing> seen = {{{0, 5, 10}, {3, 3}}};
  BalancedCut cut = balanceCut(seen);
  EXPECT_EQ(cut.bounds, (std::vector<int64_t>{0, 5, 10}));
  EXPECT_NEAR(cut.time, 3, 1e-9);
}

TEST(BalanceCut, TellsASlowRankFromMuchWork) {
  // The middle went from one rank to the other and took as long there: the
  // work lies there.
  std::vector<Timing> work = {{{0, 50, 100}, {5, 15}}, {{0, 60, 100}, {8, 12}}};
  // Work 0.1 each below 50, 0.3 above: 50 + 16.67 are half of it.
  EXPECT_NEAR(static_cast<double>(balanceCut(work).bounds[1]), 66.7, 2);
  // It took a third as long: the second rank is slow, and 3 : 1 is right.
  std::vector<Timing> pace = {{{0, 50, 100}, {5, 15}}, {{0, 60, 100}, {6, 12}}};
  EXPECT_NEAR(static_cast<double>(balanceCut(pace).bounds[1]), 75, 5);
}

TEST(BalanceCut, KeepsWhatItKnowsNothingOf) {
  for (const Timing &timing :
       {Timing{{0, 0, 0}, {1, 2}}, Timing{{0, 2, 4}, {0, 0}}}) {
    std::vector<Timing> seen = {timing};
    EXPECT_EQ(balanceCut(seen).bounds, timing.bounds);
  }
}

TEST(BalanceCut, CutsWholeDimsWhateverItIsTold) {
  std::mt19937_64 random(1);
  auto upTo = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    int64_t shards = 1 + upTo(6), size = upTo(3) ? upTo(60) : upTo(INT32_MAX);
    std::vector<Timing> seen(1 + upTo(9));
    for (Timing &timing : seen) {
      timing.bounds = {0, size};
      for (int64_t i = 1; i < shards; ++i)
        timing.bounds.push_back(upTo(size));
      std::sort(timing.bounds.begin(), timing.bounds.end());
      for (int64_t i = 0; i < shards; ++i)
        timing.times.push_back(upTo(2) ? static_cast<double>(upTo(1000)) / 7
                                       : upTo(2) * 1e18);
    }
    BalancedCut cut = balanceCut(seen);
    ASSERT_EQ(cut.bounds.size(), static_cast<size_t>(shards) + 1);
    EXPECT_EQ(cut.bounds.front(), 0);
    EXPECT_EQ(cut.bounds.back(), size);
    EXPECT_TRUE(std::is_sorted(cut.bounds.begin(), cut.bounds.end()));
    EXPECT_GE(cut.time, 0);
  }
}

TEST(BalanceCut, GivesLessToARankThatTookLonger) {
  int64_t last = 1000;
  for (double time = 1; time < 200; time *= 1.3) {
    std::vector<Timing> seen = {{{0, 500, 1000}, {time, 10}}};
    int64_t bound = balanceCut(seen).bounds[1];
    EXPECT_LE(bound, last);
    last = bound;
  }
  EXPECT_LT(last, 300);
}

TEST(Balance, FindsHowFastRanksAre) {
  std::mt19937_64 random(2);
  for (int64_t shards : {2, 3, 4, 8})
    for (int64_t slow = 0; slow < shards; ++slow) {
      Planted planted{uniform(1000), std::vector<double>(shards, 1.0)};
      planted.pace[slow] = 2;
      Balance balance = balanceOf(1000, shards);
      run(balance, planted, 10, random);
      balance.settle();
      EXPECT_LT(planted.imbalance(balance.dims()[0].sizes), 1.03)
          << shards << " ranks, of which " << slow << " is slow";
      EXPECT_NEAR(balance.firstImbalance(), 2.0 * shards / (shards + 1), 0.02);
    }
}

TEST(Balance, FindsWhereTheWorkIs) {
  std::mt19937_64 random(3);
  for (int64_t shards : {2, 4, 8}) {
    std::vector<std::vector<double>> works(3, uniform(8000));
    for (int64_t i = 0; i < 8000; ++i) {
      works[0][i] = 1e3 * static_cast<double>(i);      // causal
      works[1][i] = i < 3000 || i >= 5000 ? 1e3 : 1e6; // a field in the middle
    }
    for (int hub = 0; hub < 100; ++hub)
      works[2][random() % 1000] += 2e7;
    for (const std::vector<double> &work : works) {
      Planted planted{work, std::vector<double>(shards, 1.0)};
      Balance balance = balanceOf(8000, shards);
      run(balance, planted, 20, random);
      balance.settle();
      EXPECT_LT(planted.imbalance(balance.dims()[0].sizes), 1.1)
          << shards << " ranks, work " << &work - works.data();
    }
  }
}

TEST(Balance, ComesToRestAndStaysThere) {
  std::mt19937_64 random(4);
  for (double noise : {0.0, 0.02, 0.1})
    for (int round = 0; round < 30; ++round) {
      Planted planted{uniform(2000), {1, 1.5, 1, 1.2}, 0, noise};
      Balance balance = balanceOf(2000, 4);
      run(balance, planted, 40, random);
      EXPECT_TRUE(balance.isSettled() || noise > 0.05);
      EXPECT_LT(planted.imbalance(balance.dims()[0].sizes), 1.02 + 1.5 * noise);
      int64_t moves = balance.moves();
      EXPECT_LE(moves, noise > 0.05 ? 24 : 12);
      if (noise > 0.02)
        continue;
      run(balance, planted, 200, random);
      EXPECT_EQ(balance.moves(), moves);
    }
}

TEST(Balance, LeavesBalancedRanksAlone) {
  std::mt19937_64 random(5);
  Planted planted{uniform(1000), {1, 1, 1}, 0, 0.003};
  Balance balance = balanceOf(1000, 3);
  run(balance, planted, 50, random);
  EXPECT_EQ(balance.moves(), 0);
  EXPECT_NEAR(balance.imbalance(), 1, 0.02);
}

TEST(Balance, NoticesThatTheWorkHasChanged) {
  std::mt19937_64 random(6);
  Planted planted{uniform(1000), {1, 2}};
  Balance balance = balanceOf(1000, 2);
  run(balance, planted, 30, random);
  EXPECT_TRUE(balance.isSettled());
  planted.pace = {2, 1};
  EXPECT_GT(planted.imbalance(balance.dims()[0].sizes), 1.3);
  run(balance, planted, 30, random);
  EXPECT_LT(planted.imbalance(balance.dims()[0].sizes), 1.03);
}

TEST(Balance, TakesTheFastestOfWhatItTried) {
  // Each trial is slower than the first: there is nothing to be gained.
  Balance balance = balanceOf(100, 2);
  std::vector<int64_t> first = balance.dims()[0].sizes;
  double slower = 1;
  for (int step = 0; step < 30; ++step) {
    const std::vector<int64_t> &sizes = balance.dims()[0].sizes;
    bool isFirst = sizes == first;
    double times[] = {1e8, isFirst ? 3e8 : 4e8 * (slower *= 1.1)};
    balance.add(times);
  }
  EXPECT_TRUE(balance.isSettled());
  EXPECT_EQ(balance.dims()[0].sizes, first);
}

TEST(Balance, ShardsMayBecomeEmpty) {
  // What a rank takes whatever it has is more than all of the others' work.
  std::mt19937_64 random(7);
  Balance balance = balanceOf(6, 3);
  std::vector<int64_t> last;
  for (int step = 0; step < 40; ++step) {
    last = balance.dims()[0].sizes;
    ASSERT_EQ(std::accumulate(last.begin(), last.end(), int64_t(0)), 6);
    double times[] = {1e8 * static_cast<double>(last[0]),
                      1e8 * static_cast<double>(last[1]),
                      1e10 * static_cast<double>(last[2])};
    balance.add(times);
  }
  EXPECT_EQ(last, (std::vector<int64_t>{3, 3, 0}));
}

TEST(Balance, CountsNoFirstStepAndLetsShortStepsBeSeveral) {
  Balance balance = balanceOf(100, 2);
  double cold[] = {1e9, 1e6}, warm[] = {1e5, 3e5};
  EXPECT_FALSE(balance.add(cold));
  for (int64_t step = 1; step < Balance::trialSteps; ++step)
    EXPECT_FALSE(balance.add(warm));
  EXPECT_TRUE(balance.add(warm));
  EXPECT_NEAR(balance.firstImbalance(), 1.5, 1e-9);
  EXPECT_GT(balance.dims()[0].sizes[0], 50);
}

TEST(Balance, DimsOfAnAxisGoTogether) {
  Balance balance({2, 2}, {{0, 0, {0}, {50, 50}},
                           {1, 1, {0}, {10, 10}},
                           {2, 0, {1}, {30, 30}},
                           {3, 0, {0, 1}, {5, 5, 5, 5}},
                           {4, 0, {}, {7}}});
  // The ranks of the second place along the first axis are slow.
  double times[] = {1e8, 1e8, 3e8, 3e8};
  balance.add(times);
  ASSERT_TRUE(balance.add(times));
  const std::vector<FreeDim> &dims = balance.dims();
  int64_t fine = dims[3].sizes[0] + dims[3].sizes[1];
  EXPECT_GT(fine, 10);
  EXPECT_EQ(dims[0].sizes, (std::vector<int64_t>{fine * 5, 100 - fine * 5}));
  EXPECT_EQ(dims[1].sizes, (std::vector<int64_t>{fine, 20 - fine}));
  EXPECT_EQ(dims[2].sizes, (std::vector<int64_t>{30, 30}));
  EXPECT_EQ(dims[4].sizes, (std::vector<int64_t>{7}));
}

TEST(Balance, AxesAreChosenApart) {
  // Rank (i, j) takes rows[i] * columns[j], of 100 x 60 elements.
  auto timesOf = [](const std::vector<FreeDim> &dims) {
    std::vector<double> times;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        times.push_back(1e5 * static_cast<double>(dims[0].sizes[i]) * (1 + i) *
                        static_cast<double>(dims[1].sizes[j]) * (3 - j));
    return times;
  };
  Balance balance({2, 2}, {{0, 0, {0}, {50, 50}}, {0, 1, {1}, {30, 30}}});
  for (int step = 0; step < 20; ++step)
    balance.add(timesOf(balance.dims()));
  balance.settle();
  EXPECT_NEAR(static_cast<double>(balance.dims()[0].sizes[0]), 66.7, 2);
  EXPECT_NEAR(static_cast<double>(balance.dims()[1].sizes[0]), 24, 2);
}

TEST(Balance, GoesBackWhereSizesAreRefused) {
  Balance balance = balanceOf(100, 2);
  std::vector<int64_t> first = balance.dims()[0].sizes;
  double times[] = {1e8, 3e8};
  balance.add(times);
  ASSERT_TRUE(balance.add(times));
  balance.refuse();
  EXPECT_TRUE(balance.isRefused());
  EXPECT_EQ(balance.dims()[0].sizes, first);
  for (int step = 0; step < 20; ++step)
    EXPECT_FALSE(balance.add(times));
}

TEST(Balance, HasNoChoiceWhereNothingIsCut) {
  Balance balance({2}, {{0, 0, {}, {7}}});
  EXPECT_FALSE(balance.hasChoice());
  double times[] = {1e8, 3e8};
  EXPECT_FALSE(balance.add(times));
  EXPECT_FALSE(balance.settle());
}

} // namespace

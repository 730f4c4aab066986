//===- ExtentsTest.cpp - Numbers that follow from open extents ------------===//
#include "shardc/Layout/Extents.h"
#include "shardc/Layout/ExtentSums.h"
#include "shardc/Layout/Formula.h"
#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace shardc;

namespace {

using Dims = std::map<std::pair<int64_t, int64_t>, int64_t>;

/// n = dim 0 of argument 0, m = dim 1 of argument 2, n / 2, n + m.
struct Sample {
  Extents extents;
  int64_t n, m, half, sum;
  Sample() {
    n = extents.addDim(0, 0, 225383);
    m = extents.addDim(2, 1, 246713);
    half = *extents.add(ExtentKind::Divide, {n, extents.addConstant(2)});
    sum = *extents.add(ExtentKind::Add, {n, m});
  }
  int64_t resolve(int64_t number, int64_t nIs, int64_t mIs) const {
    std::string error;
    std::vector<int64_t> values =
        extents.evaluate(Dims{{{0, 0}, nIs}, {{2, 1}, mIs}}, error);
    EXPECT_EQ(error, "");
    return extents.resolve(number, values);
  }
};

TEST(Extents, NumbersFollowFromPlaceholders) {
  Sample sample;
  EXPECT_EQ(sample.resolve(225383, 7, 5), 7);
  EXPECT_EQ(sample.resolve(225383 - 3, 7, 5), 4);
  EXPECT_EQ(sample.resolve(-225383 + 1, 7, 5), -6);
  EXPECT_EQ(sample.resolve(3 * 225383 + 2, 7, 5), 23);
  EXPECT_EQ(sample.resolve(128 * 246713, 7, 5), 640);
  EXPECT_EQ(sample.resolve(225383 / 2, 7, 5), 3);
  EXPECT_EQ(sample.resolve(225383 + 246713, 7, 5), 12);
  EXPECT_EQ(sample.resolve(225383, 0, 5), 0);
}

TEST(Extents, OtherNumbersAreWhatTheyAre) {
  Sample sample;
  for (int64_t number : {int64_t(0), int64_t(1), int64_t(-7), int64_t(4096),
                         int64_t(32000), int64_t(50257), int64_t(1) << 20,
                         int64_t(1) << 40, INT64_MAX, INT64_MIN})
    EXPECT_EQ(sample.resolve(number, 7, 5), number) << number;
}

TEST(Extents, ANumberMayFollowFromTwoExtents) {
  Sample sample;
  auto readingsOf = [&](int64_t number) {
    std::vector<std::array<int64_t, 3>> found;
    for (const LinearExtent &reading : sample.extents.readings(number))
      found.push_back({reading.extent, reading.coefficient, reading.constant});
    return found;
  };
  using Readings = std::vector<std::array<int64_t, 3>>;
  EXPECT_EQ(readingsOf(225382),
            (Readings{{sample.n, 1, -1}, {sample.half, 2, 0}}));
  EXPECT_EQ(readingsOf(-225382),
            (Readings{{sample.n, -1, 1}, {sample.half, -2, 0}}));
  EXPECT_EQ(readingsOf(246713), (Readings{{sample.m, 1, 0}}));
  EXPECT_EQ(readingsOf(12), Readings());
  EXPECT_EQ(readingsOf(INT64_MIN), Readings());
}

TEST(Extents, ConstantsAreFolded) {
  Extents extents;
  int64_t n = extents.addDim(0, 0, 225383), two = extents.addConstant(2);
  EXPECT_EQ(extents.add(ExtentKind::Add, {n, extents.addConstant(0)}), n);
  EXPECT_EQ(extents.add(ExtentKind::Multiply, {extents.addConstant(1), n}), n);
  std::optional<int64_t> four = extents.add(ExtentKind::Multiply, {two, two});
  ASSERT_TRUE(four);
  EXPECT_TRUE(extents.isConstant(*four));
  EXPECT_EQ(extents[*four].placeholder, 4);
  EXPECT_EQ(extents.add(ExtentKind::Divide, {n, two}),
            extents.add(ExtentKind::Divide, {n, two}));
  EXPECT_FALSE(extents.add(ExtentKind::Divide, {n, extents.addConstant(0)}));
}

TEST(Extents, ConditionsSayWhatIsWrong) {
  Sample sample;
  int64_t odd = *sample.extents.add(ExtentKind::Remainder,
                                    {sample.n, sample.extents.addConstant(2)});
  int64_t isEven = *sample.extents.add(ExtentKind::Equal,
                                       {odd, sample.extents.addConstant(0)});
  sample.extents.conditions.push_back({isEven, "{0} is odd", {sample.n}});
  std::string error;
  EXPECT_FALSE(
      sample.extents.evaluate(Dims{{{0, 0}, 8}, {{2, 1}, 1}}, error).empty());
  EXPECT_TRUE(
      sample.extents.evaluate(Dims{{{0, 0}, 9}, {{2, 1}, 1}}, error).empty());
  EXPECT_EQ(error, "9 is odd");
  EXPECT_TRUE(sample.extents.evaluate(Dims{{{0, 0}, 8}}, error).empty());
  EXPECT_EQ(error, "argument 2, dim 1: its extent is not given");
}

TEST(Extents, NothingOverflows) {
  Extents extents;
  int64_t n = extents.addDim(0, 0, 225383);
  ASSERT_TRUE(extents.add(ExtentKind::Multiply, {n, n}));
  std::string error;
  EXPECT_TRUE(extents.evaluate(Dims{{{0, 0}, INT64_MAX / 2}}, error).empty());
  EXPECT_NE(error.find("overflows"), std::string::npos);
}

TEST(Extents, WhatExtentsShareCancels) {
  Sample sample;
  using K = ExtentKind;
  Extents &extents = sample.extents;
  auto number = [&](int64_t id) { return extents[id].placeholder; };
  auto make = [&](K kind, int64_t a, int64_t b) {
    return *extents.add(kind, {a, b});
  };
  auto constant = [&](int64_t value) { return extents.addConstant(value); };
  int64_t even = make(K::Multiply, constant(2), sample.half),
          padded = make(K::Add, even, constant(40)),
          part = make(K::Subtract, padded, constant(33)),
          rest = make(K::Subtract, sample.sum, sample.m),
          up = make(K::Subtract, make(K::Add, sample.n, constant(90)), even);
  int64_t n = number(sample.n);
  EXPECT_EQ(constantDifference(extents, n + 3, n - 2), 5);
  EXPECT_EQ(constantDifference(extents, n, n), 0);
  EXPECT_EQ(constantDifference(extents, 12, 5), 7);
  EXPECT_EQ(constantDifference(extents, number(padded), number(part)), 33);
  EXPECT_EQ(constantDifference(extents, number(part), number(padded)), -33);
  EXPECT_EQ(constantDifference(extents, n + 1, number(rest)), 1);
  EXPECT_EQ(constantDifference(extents, 2 * n + 1, 2 * number(rest)), 1);
  // What an extent leaves over, other extents, and numbers.
  EXPECT_EQ(constantDifference(extents, n + 1, number(even)), std::nullopt);
  EXPECT_EQ(constantDifference(extents, number(padded), n), std::nullopt);
  EXPECT_EQ(constantDifference(extents, n, number(sample.m)), std::nullopt);
  EXPECT_EQ(constantDifference(extents, n, 5), std::nullopt);
  EXPECT_EQ(constantDifference(extents, 2 * n, n), std::nullopt);
  // A difference that is 90 or 91 has no placeholder, but is none of n either.
  EXPECT_EQ(constantDifference(extents, n + number(up), n), number(up));
}

TEST(Extents, ZeroIsLessThanWhatIsNotNegative) {
  // max(n / 2 + more, 0), and n / 2: the sum itself is in no shape, and has no
  // placeholder.
  auto difference = [](int64_t more) {
    Sample sample;
    Extents &extents = sample.extents;
    int64_t constant = extents.addConstant(more), zero = extents.addConstant(0),
            inner = *extents.add(ExtentKind::Add, {sample.half, constant}),
            most = *extents.add(ExtentKind::Max, {inner, zero});
    std::vector<int64_t> words = extents.words();
    size_t at = 1;
    for (int64_t i = 0; i < inner; ++i)
      at += 3 + words[at + 2];
    words[at + 1] = 0;
    std::span<const int64_t> rest = words;
    Extents named;
    EXPECT_EQ(named.read(rest), "");
    return constantDifference(named, extents[most].placeholder,
                              extents[sample.half].placeholder);
  };
  EXPECT_EQ(difference(70), 70);
  EXPECT_EQ(difference(-70), std::nullopt);
}

TEST(Extents, WordsComeBack) {
  Sample sample;
  sample.extents.conditions.push_back({sample.half, "half {0}", {sample.half}});
  std::vector<int64_t> words = sample.extents.words();
  std::span<const int64_t> rest(words);
  Extents read;
  EXPECT_EQ(read.read(rest), "");
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(read.words(), words);
}

/// Words that nobody vouches for are refused, or mean something.
TEST(Extents, DamagedWordsAreRefusedOrRead) {
  Sample sample;
  sample.extents.conditions.push_back({sample.half, "half {0}", {sample.half}});
  const std::vector<int64_t> words = sample.extents.words();
  std::mt19937_64 random(3);
  int64_t refused = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    std::vector<int64_t> damaged = words;
    if (i % 3 == 0)
      damaged.resize(random() % damaged.size());
    else
      damaged[random() % damaged.size()] =
          i % 2 ? static_cast<int64_t>(random()) : int64_t(random() % 9) - 2;
    Extents read;
    std::span<const int64_t> rest(damaged);
    if (!read.read(rest).empty()) {
      ++refused;
      continue;
    }
    std::string error;
    std::vector<int64_t> values =
        read.evaluate(Dims{{{0, 0}, 3}, {{2, 1}, 4}}, error);
    if (!values.empty())
      read.resolve(225383, values);
  }
  EXPECT_GT(refused, 1000);
}

/// A formula for placeholders says what one for the extents themselves does.
TEST(Extents, FormulasFollow) {
  Sample sample;
  Formula window = Formula::size(Formula::positions(
      -1, {1, 1},
      {Formula::shards(Formula::refine(Formula::whole(225383), 3), {0}),
       Formula::same({0, 3})}));
  for (int64_t n : {0, 1, 2, 7, 100}) {
    Binding binding{{3}, {}, sample.extents, {}};
    std::string error;
    binding.values =
        sample.extents.evaluate(Dims{{{0, 0}, n}, {{2, 1}, 1}}, error);
    FormulaList list;
    int64_t open = list.add(window);
    std::vector<BoundTable> tables = list.evaluate(binding, error);
    ASSERT_EQ(error, "");
    for (int64_t shard = 0; shard < 3; ++shard) {
      int64_t size = n / 3 + (shard < n % 3 ? 1 : 0);
      EXPECT_EQ(tables[open].numbers[shard], size ? size + 2 : 0)
          << n << " " << shard;
    }
  }
}

} // namespace

//===- CompareTest.cpp - Are two arrays the same? -------------------------===//

#include "Compare.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace shardc;

static HostArray floats(std::vector<float> values) {
  HostArray array{ElementType::F32, {static_cast<int64_t>(values.size())}, {}};
  array.data.resize(values.size() * sizeof(float));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

static HostArray parse(llvm::StringRef text) {
  llvm::Expected<HostArray> array = parseArray(text);
  EXPECT_TRUE(bool(array)) << toString(array.takeError());
  return array ? std::move(*array) : HostArray();
}

TEST(Compare, EqualBits) {
  Comparison result = compareArrays(floats({1, 2}), floats({1, 2}), {0, 0});
  EXPECT_TRUE(result.bitwiseEqual);
  EXPECT_EQ(result.outside, 0);
  EXPECT_EQ(result.largestAt, -1);
}

TEST(Compare, ToleranceIsNumPys) {
  // |got - expected| <= 0.5 + 0.1 * |expected|
  EXPECT_EQ(compareArrays(floats({11.5f}), floats({10}), {0.1, 0.5}).outside,
            0);
  Comparison result =
      compareArrays(floats({0, 11.75f}), floats({0, 10}), {0.1, 0.5});
  EXPECT_EQ(result.outside, 1);
  EXPECT_EQ(result.firstOutside, 1);
  EXPECT_EQ(result.largestAt, 1);
  EXPECT_EQ(result.largest, 1.75);
}

TEST(Compare, NaNEqualsNaNAndNothingElse) {
  float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  Comparison same =
      compareArrays(floats({-nan, inf}), floats({nan, inf}), {0, 0});
  EXPECT_EQ(same.outside, 0);
  EXPECT_EQ(same.largestUlp, 0u);
  EXPECT_FALSE(same.bitwiseEqual);
  EXPECT_EQ(compareArrays(floats({nan}), floats({1}), {1, 1}).outside, 1);
  EXPECT_EQ(compareArrays(floats({nan}), floats({1}), {1, 1}).largestUlp,
            UINT64_MAX);
  EXPECT_EQ(compareArrays(floats({inf}), floats({-inf}), {1, 1}).outside, 1);
  EXPECT_EQ(compareArrays(floats({inf}), floats({1}), {1, 1}).outside, 1);
}

TEST(Compare, CountsRepresentableNumbers) {
  EXPECT_EQ(compareArrays(floats({std::nextafterf(1, 2)}), floats({1}), {})
                .largestUlp,
            1u);
  EXPECT_EQ(compareArrays(floats({0.0f}), floats({-0.0f}), {}).largestUlp, 0u);
  float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(compareArrays(floats({least}), floats({-least}), {}).largestUlp,
            2u);
}

TEST(Compare, IntegersMustBeEqual) {
  Comparison result =
      compareArrays(parse("3xi32=1,-5,3"), parse("3xi32=1,7,3"), {10, 10});
  EXPECT_EQ(result.outside, 1);
  EXPECT_EQ(result.largest, 12);
  EXPECT_EQ(compareArrays(parse("i64=9223372036854775807"),
                          parse("i64=9223372036854775806"), {})
                .largestUlp,
            1u);
}

TEST(Compare, ComplexPartsAreComparedEach) {
  HostArray got = parse("2xcomplex<f32>=1"), expected = got;
  float imaginary = 2;
  std::memcpy(got.data.data() + 12, &imaginary, 4);
  Comparison result = compareArrays(got, expected, {0, 0.5});
  EXPECT_EQ(result.outside, 1);
  EXPECT_EQ(result.firstOutside, 1);
  EXPECT_EQ(result.largest, 2);
}

TEST(Compare, IndexIsRowMajor) {
  EXPECT_EQ(printIndex({2, 3, 4}, 23), "[1, 2, 3]");
  EXPECT_EQ(printIndex({}, 0), "[]");
}

TEST(Compare, NaNsAndInfinitiesAreCounted) {
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(countNotFinite(floats({1, inf, std::nanf(""), -inf, 0})), 3);
  EXPECT_EQ(countNotFinite(floats({3.4e38f, -0.0f, 1e-45f})), 0);
  EXPECT_EQ(countNotFinite(parse("4xbf16=nan")), 4);
  EXPECT_EQ(countNotFinite(parse("3xf16=65504")), 0);
  EXPECT_EQ(countNotFinite(parse("2xf64=inf")), 2);
  EXPECT_EQ(countNotFinite(parse("2xi32=-1")), 0);
  // One with both parts NaN counts once.
  HostArray complex = parse("2xcomplex<f32>=1");
  std::memset(complex.data.data(), 0xff, 8);
  EXPECT_EQ(countNotFinite(complex), 1);
  // This one has no infinity: its largest exponent is a number but for NaN.
  EXPECT_EQ(countNotFinite(parse("2xf8E4M3FN=448")), 0);
  EXPECT_EQ(countNotFinite(parse("2xf8E4M3FN=nan")), 2);
}

//===- HostArrayTest.cpp - Arrays from text and from seeds ----------------===//

#include "HostArray.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace shardc;

/// All elements as text.
static std::string show(StringRef text) {
  Expected<HostArray> array = parseArray(text);
  if (!array)
    return toString(array.takeError());
  std::string out = describeArray(array->type, array->shape);
  for (int64_t i = 0; i < array->numElements(); ++i)
    out += " " + printElement(array->type, array->element(i));
  return out;
}

TEST(HostArray, ReadsTypesShapesAndValues) {
  EXPECT_EQ(show("2x3xf32=0.5"), "f32 [2, 3] 0.5 0.5 0.5 0.5 0.5 0.5");
  EXPECT_EQ(show("3xi32=1,-2,3"), "i32 [3] 1 -2 3");
  EXPECT_EQ(show("f64=0.1"), "f64 [] 0.1");
  EXPECT_EQ(show("2xbf16=1.0"), "bf16 [2] 1 1");
  EXPECT_EQ(show("2xi1=true,0"), "i1 [2] true false");
  EXPECT_EQ(show("2xf16"), "f16 [2] 0 0");
  EXPECT_EQ(show("0x4xf32=1"), "f32 [0, 4]");
  EXPECT_EQ(show("2xcomplex<f32>=1.5"), "complex<f32> [2] (1.5,0) (1.5,0)");
  EXPECT_EQ(show("2xui64=18446744073709551615"),
            "ui64 [2] 18446744073709551615 18446744073709551615");
  EXPECT_EQ(show("2xi4=-8,7"), "i4 [2] -8 7");
  EXPECT_EQ(show("3xf32=nan,inf,-inf"), "f32 [3] nan inf -inf");
  EXPECT_EQ(show("2xf8E8M0FNU=nan,4"), "f8E8M0FNU [2] nan 4");
}

TEST(HostArray, SaysWhatItCannotRead) {
  auto has = [](StringRef text, StringRef part) {
    return StringRef(show(text)).contains(part) ||
           (ADD_FAILURE() << show(text), false);
  };
  EXPECT_EQ(show("2x3xf33=1"),
            "'2x3xf33=1': 'f33' is no element type; expected for example "
            "4x8xf32=0.5 or @file.npy");
  EXPECT_TRUE(has("2x3=1", "a size must be followed by x"));
  EXPECT_TRUE(has("", "is no element type"));
  EXPECT_TRUE(has("3xf32=1,2", "2 values for 3 elements"));
  EXPECT_TRUE(has("2xi8=300", "'300' is not a value of type i8"));
  EXPECT_TRUE(has("2xi4=8", "'8' is not a value of type i4"));
  EXPECT_TRUE(has("2xui8=-1", "'-1' is not a value of type ui8"));
  EXPECT_TRUE(has("2xf32=abc", "'abc' is not a value of type f32"));
  EXPECT_TRUE(has("2xf32=", "'' is not a value of type f32"));
  EXPECT_TRUE(has("99999999999x99999999999xf32=1", "more than 2^40 elements"));
  EXPECT_TRUE(
      has("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32", "more than 16 dims"));
}

TEST(HostArray, RandomNumbersAreShortFractions) {
  HostArray array = randomArray(ElementType::F32, {1000}, 7, 0);
  for (int64_t i = 0; i < 1000; ++i) {
    double value = toDouble(array.type, array.element(i));
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 1);
    EXPECT_EQ(value * 64, static_cast<int>(value * 64));
  }
  EXPECT_EQ(array.data, randomArray(ElementType::F32, {1000}, 7, 0).data);
  EXPECT_NE(array.data, randomArray(ElementType::F32, {1000}, 7, 1).data);
  EXPECT_NE(array.data, randomArray(ElementType::F32, {1000}, 8, 0).data);
  HostArray positive =
      randomArray(ElementType::F32, {1000}, 7, 0, /*low=*/0, /*high=*/1);
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_EQ(toDouble(ElementType::F32, positive.element(i)),
              (toDouble(ElementType::F32, array.element(i)) + 1) / 2);
  // The first numbers are part of the documentation: changing them is a change
  // of format.
  HostArray first = randomArray(ElementType::BF16, {1000}, 7, 0);
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_EQ(toDouble(first.type, first.element(i)),
              toDouble(array.type, array.element(i)));
}

TEST(HostArray, RandomIntegersFitTheirType) {
  auto range = [](ElementType type) {
    HostArray array = randomArray(type, {500}, 3, 2);
    double low = 1e9, high = -1e9;
    for (int64_t i = 0; i < 500; ++i) {
      low = std::min(low, toDouble(type, array.element(i)));
      high = std::max(high, toDouble(type, array.element(i)));
    }
    return std::pair(low, high);
  };
  EXPECT_EQ(range(ElementType::I32), std::pair(-8.0, 7.0));
  EXPECT_EQ(range(ElementType::UI8), std::pair(0.0, 15.0));
  EXPECT_EQ(range(ElementType::I1), std::pair(0.0, 1.0));
  EXPECT_EQ(range(ElementType::I2), std::pair(-2.0, 1.0));
}

TEST(HostArray, KnowsHowNumPyStoresTypes) {
  EXPECT_EQ(npyTypeOf(ElementType::BF16).str(), "<u2");
  EXPECT_TRUE(canHold(ElementType::BF16, {'V', 2}));
  EXPECT_FALSE(canHold(ElementType::UI16, {'V', 2}));
  EXPECT_FALSE(canHold(ElementType::F32, {'i', 4}));
  EXPECT_EQ(npyTypeOf(ElementType::I1).str(), "|b1");
  EXPECT_EQ(npyTypeOf(ElementType::Complex128).str(), "<c16");
  EXPECT_EQ(npyTypeOf(ElementType::F8E5M2).str(), "|u1");
}

//===- Compare.cpp - Are two arrays the same? -----------------------------===//

#include "Compare.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace shardc;

Tolerance shardc::defaultTolerance(ElementType type) {
  switch (partType(type)) {
  case ElementType::F64:
    return {1e-10, 1e-12};
  case ElementType::F32:
    return {1e-4, 1e-5};
  case ElementType::F16:
  case ElementType::BF16:
    return {2e-2, 2e-2};
  default:
    return {0.25, 0.25};
  }
}

double shardc::leastRelative(ElementType type) {
  switch (partType(type)) {
  case ElementType::F16:
    return 0x1p-10;
  case ElementType::BF16:
    return 0x1p-7;
  default:
    return 0;
  }
}

/// |a - b|; 0 for two NaNs and for equal infinities, infinity where one is NaN.
static double absoluteDifference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::infinity();
  return std::fabs(a - b);
}

Comparison shardc::compareArrays(const HostArray &got,
                                 const HostArray &expected,
                                 Tolerance tolerance) {
  Comparison result;
  if (got.data == expected.data)
    return result;
  result.bitwiseEqual = false;
  ElementType part = partType(got.type);
  int64_t partBytes = shardrt::elementBytes(part),
          bytes = shardrt::elementBytes(got.type);
  bool exact = !isFloat(part);
  for (int64_t i = 0, count = got.numElements(); i < count; ++i) {
    if (std::memcmp(got.element(i), expected.element(i), bytes) == 0)
      continue;
    bool within = true;
    double difference = 0;
    for (int64_t at = 0; at < bytes; at += partBytes) {
      const char *a = got.element(i) + at, *b = expected.element(i) + at;
      double x = toDouble(part, a), y = toDouble(part, b);
      uint64_t ulp = distance(part, a, b);
      double apart =
          exact ? static_cast<double>(ulp) : absoluteDifference(x, y);
      result.largestUlp = std::max(result.largestUlp, ulp);
      difference = std::max(difference, apart);
      if (exact)
        within &= ulp == 0;
      else if (apart != 0)
        within &=
            std::isfinite(apart) &&
            apart <= tolerance.absolute + tolerance.relative * std::fabs(y);
    }
    if (difference != 0 &&
        (result.largestAt < 0 || difference > result.largest)) {
      result.largest = difference;
      result.largestAt = i;
    }
    if (!within && result.outside++ == 0)
      result.firstOutside = i;
  }
  return result;
}

/// Elements of `array`, `parts` words each, in which a word has all bits of
/// `exponent`.
template <typename Word>
static int64_t countFullExponents(const HostArray &array, Word exponent,
                                  int64_t parts) {
  int64_t count = 0;
  for (int64_t i = 0, end = array.numElements(); i < end; ++i) {
    bool full = false;
    for (int64_t part = 0; part < parts; ++part) {
      Word word;
      std::memcpy(&word, array.element(i) + part * sizeof(Word), sizeof(Word));
      full |= (word & exponent) == exponent;
    }
    count += full;
  }
  return count;
}

int64_t shardc::countNotFinite(const HostArray &array) {
  ElementType part = partType(array.type);
  if (!isFloat(part))
    return 0;
  int64_t parts = isComplex(array.type) ? 2 : 1;
  switch (part) {
  case ElementType::F64:
    return countFullExponents<uint64_t>(array, 0x7ff0000000000000, parts);
  case ElementType::F32:
    return countFullExponents<uint32_t>(array, 0x7f800000, parts);
  case ElementType::F16:
    return countFullExponents<uint16_t>(array, 0x7c00, parts);
  case ElementType::BF16:
    return countFullExponents<uint16_t>(array, 0x7f80, parts);
  default: {
    // 8-bit floats: some have no infinity, one no exponent of its own for NaN.
    int64_t count = 0;
    for (int64_t i = 0, end = array.numElements(); i < end; ++i)
      count += !std::isfinite(toDouble(part, array.element(i)));
    return count;
  }
  }
}

double shardc::rootMeanSquare(const HostArray &array) {
  ElementType part = partType(array.type);
  if (!isFloat(part))
    return 0;
  int64_t partBytes = shardrt::elementBytes(part),
          bytes = shardrt::elementBytes(array.type);
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0, end = array.numElements(); i < end; ++i)
    for (int64_t at = 0; at < bytes; at += partBytes)
      if (double x = toDouble(part, array.element(i) + at); std::isfinite(x)) {
        sum += x * x;
        ++count;
      }
  return count ? std::sqrt(sum / count) : 0;
}

std::string shardc::printIndex(ArrayRef<int64_t> shape, int64_t flat) {
  SmallVector<int64_t> index(shape.size());
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  std::string text = "[";
  raw_string_ostream out(text);
  interleaveComma(index, out);
  out << "]";
  return text;
}

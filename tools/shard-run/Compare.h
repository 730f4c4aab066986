//===- Compare.h - Are two arrays the same? ---------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_COMPARE_H
#define SHARDC_TOOLS_SHARD_RUN_COMPARE_H

#include "HostArray.h"
#include <optional>

namespace shardc {

/// How far two elements may be apart: |got - expected| <= absolute + relative *
/// |expected|, as NumPy's allclose has it. NaN equals NaN, an infinity itself.
/// Integers and booleans must be equal.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// What is taken where nobody says: 1e-10 and 1e-12 for f64, 1e-4 and 1e-5 for
/// f32, 2e-2 and 2e-2 for f16 and bf16, 0.25 for 8-bit floats.
Tolerance defaultTolerance(ElementType type);

/// The smallest relative tolerance above 0 that says something for `type`: one
/// step between neighbours of f16 (2^-10) and bf16 (2^-7); 0 for the others.
double leastRelative(ElementType type);

struct Comparison {
  int64_t outside = 0;       ///< elements beyond the tolerance
  int64_t firstOutside = -1; ///< the first of them
  double largest = 0; ///< |got - expected|; infinity where NaN meets a number
  int64_t largestAt = -1;  ///< -1 if all elements are equal
  uint64_t largestUlp = 0; ///< over all elements
  bool bitwiseEqual = true;
};

/// Requires the same type and shape.
Comparison compareArrays(const HostArray &got, const HostArray &expected,
                         Tolerance tolerance);

/// How many elements are NaN or infinite: a complex number that has such a part
/// counts once, integers never do.
int64_t countNotFinite(const HostArray &array);

/// The root of the mean of the squares of the finite elements (of complex
/// numbers, of their parts); 0 where there are none, and for integers.
double rootMeanSquare(const HostArray &array);

/// "[0, 3, 1]": the indices of element `flat` of an array of `shape`.
std::string printIndex(llvm::ArrayRef<int64_t> shape, int64_t flat);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_COMPARE_H

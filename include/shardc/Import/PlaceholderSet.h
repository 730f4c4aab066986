//===- PlaceholderSet.h - Which numbers stand for open extents --*- C++ -*-===//
#ifndef SHARDC_IMPORT_PLACEHOLDERSET_H
#define SHARDC_IMPORT_PLACEHOLDERSET_H

namespace shardc {

/// The others are those of twins, by which it is seen that numbers follow from
/// extents as they are read.
enum class PlaceholderSet {
  Usual, ///< primes
  Even,  ///< with other remainders, also by 2: n - 1 is not 2 (n / 2)
  Odd    ///< other primes: what is rounded is rounded as in the usual ones
};

} // namespace shardc

#endif // SHARDC_IMPORT_PLACEHOLDERSET_H

//===- NumberFormula.h - Arithmetic of numbers that are bound ---*- C++ -*-===//
//
// What code computes of the sizes that it looks up: formulas of numbers that
// are made of formulas of numbers. Sums are in one form, so that n + 1 - n is
// 1 whatever n is.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_NUMBERFORMULA_H
#define SHARDC_LAYOUT_NUMBERFORMULA_H

#include "shardc/Layout/Formula.h"

namespace shardc {

/// The same number everywhere.
Formula constantFormula(int64_t number);
/// The number that `formula` is whatever is bound, if it is one.
std::optional<int64_t> constantOf(const Formula &formula);

/// `first * a + second * b`.
Formula sumFormula(const Formula &a, int64_t first, const Formula &b,
                   int64_t second);
Formula productFormula(const Formula &a, const Formula &b);
/// `number / divisor`, rounded down. Requires divisor >= 1.
Formula quotientFormula(const Formula &number, int64_t divisor);
Formula greatestFormula(const Formula &a, const Formula &b);
/// `a` where `condition` is greater than 0, else `b`.
Formula choiceFormula(const Formula &condition, const Formula &a,
                      const Formula &b);

} // namespace shardc

#endif // SHARDC_LAYOUT_NUMBERFORMULA_H

//===- Kinds.h - Kinds of formulas with headers of their own ----*- C++ -*-===//
#ifndef SHARDC_LIB_LAYOUT_KINDS_H
#define SHARDC_LIB_LAYOUT_KINDS_H

#include "shardc/Layout/Formula.h"

namespace shardc {

// shardc/Layout/TravelFormula.h
inline constexpr auto kHull = FormulaKind(23);    ///< intervals
inline constexpr auto kPacked = FormulaKind(24);  ///< boundaries
inline constexpr auto kJoined = FormulaKind(25);  ///< intervals
inline constexpr auto kDiffers = FormulaKind(26); ///< numbers

// shardc/Layout/NumberFormula.h: numbers
inline constexpr auto kSum = FormulaKind(27);
inline constexpr auto kProduct = FormulaKind(28);
inline constexpr auto kQuotient = FormulaKind(29);
inline constexpr auto kGreatest = FormulaKind(30);
inline constexpr auto kChoice = FormulaKind(31);

} // namespace shardc

#endif // SHARDC_LIB_LAYOUT_KINDS_H

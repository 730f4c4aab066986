//===- FunctionTable.h - Formulas by the op that they replace ---*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_FUNCTIONTABLE_H
#define SHARDC_LIB_KERNELGEN_CPU_FUNCTIONTABLE_H

#include "shardc/Support/Functions.h"
#include "llvm/ADT/StringMap.h"

namespace shardc::functions {

using Unary = Num (*)(Num);

/// By the name of an op of the math dialect. The formulas of f32 use ops of
/// f64, which have formulas of their own, or are calls of libm that round right
/// to less than one unit.
const llvm::StringMap<Unary> &singleFunctions();
const llvm::StringMap<Unary> &doubleFunctions();

/// Those of f64 of which as many digits are asked for as f32 has, and some.
const llvm::StringMap<Unary> &briefFunctions();
Num powerSingle(Num x, Num y);
Num angleSingle(Num y, Num x);
Num angleBrief(Num y, Num x);

/// 1 / (1 + exp(-x)).
Num logistic(Num x);
Num logisticDouble(Num x);

/// exp of an f64 within +-700, to more digits than f32 has.
Num expWide(Num x);

} // namespace shardc::functions

#endif // SHARDC_LIB_KERNELGEN_CPU_FUNCTIONTABLE_H

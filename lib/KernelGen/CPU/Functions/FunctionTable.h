//===- FunctionTable.h - Formulas by the op that they replace ---*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_FUNCTIONS_FUNCTIONTABLE_H
#define SHARDC_LIB_KERNELGEN_CPU_FUNCTIONS_FUNCTIONTABLE_H

#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/Functions.h"
#include "llvm/ADT/StringMap.h"

namespace shardc::functions {

using Unary = Num (*)(Num);

/// A call of libm.
template <typename MathOp> Num libraryCall(Num x) {
  auto op = MathOp::create(*x.b, x.v);
  spmd::contract::LibraryCall::set(op);
  return {x.b, op};
}

using Formula = llvm::function_ref<Num(Num)>;

/// `common` where `inside` holds, else `rare`, lane by lane; `rare` is computed
/// only if a lane needs it.
Num mostly(Num x, Mask inside, Formula common, Formula rare);

/// A polynomial by pairs of terms: of long formulas few are under way at a
/// time, so that they wait for Horner's chain.
Num pairwise(Num x, llvm::ArrayRef<Num> coefficients);
Num pairwise(Num x, llvm::ArrayRef<double> coefficients);

/// A polynomial by Horner's rule of x^2 on pairs of terms: half of the chain,
/// and no more products where x^2 is computed anyway.
Num inPairs(Num x, llvm::ArrayRef<double> coefficients);

/// A polynomial whose coefficients differ lane by lane: products cost more than
/// choices.
Num eitherPolynomial(Mask c, Num x, llvm::ArrayRef<double> yes,
                     llvm::ArrayRef<double> no);

/// By the name of an op of the math dialect. The formulas of f32 use ops of
/// f64, which have formulas of their own.
const llvm::StringMap<Unary> &singleFunctions();
const llvm::StringMap<Unary> &doubleFunctions();

/// Those of f32 that are faster where a register's elements are permuted, 8 at
/// a time (AVX2) or up to 16 (AVX-512), and of these the ones whose argument
/// and result are of 16 bits.
const llvm::StringMap<Unary> &permutingFunctions(int64_t lanes);
const llvm::StringMap<Unary> &narrowFunctions(int64_t lanes);

/// Of either type.
const llvm::StringMap<Unary> &arcFunctions();
/// The angle of (x, y), as atan2 has it, of either type.
Num angle(Num y, Num x);

/// Those of f64 of which as many digits are asked for as f32 has, and some.
const llvm::StringMap<Unary> &briefFunctions();
Num powerSingle(Num x, Num y);
Num powerDouble(Num x, Num y);

/// 1 / (1 + exp(-x)).
Num logistic(Num x);
Num logisticDouble(Num x);

/// `value` where x is positive and finite, else what log has there.
Num logLimits(Num x, Num value);

/// The cube root of an f64 that is no zero and finite, to more digits than f32
/// has; among normal numbers.
Num cbrtWide(Num x);

/// exp of an f64 within +-700, to more digits than f32 has.
Num expWide(Num x);

} // namespace shardc::functions

#endif // SHARDC_LIB_KERNELGEN_CPU_FUNCTIONS_FUNCTIONTABLE_H

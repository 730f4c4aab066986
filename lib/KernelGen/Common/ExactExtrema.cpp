//===- ExactExtrema.cpp - Maxima and minima, NaN and signed zeros kept ----===//
//
// StableHLO's maximum is IEEE 754-2019's: NaN if either operand is, and -0
// below +0. LLVM's intrinsics are that, on floats that a processor has
// registers for.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_EXACTEXTREMAPASS
#include "shardc/KernelGen/Passes.h.inc"

/// The bits of `type`, as integers.
static Type wordsOf(Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type word = IntegerType::get(type.getContext(), width);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(word) : word;
}

/// By comparisons alone. Equal numbers differ in the sign of zero at most.
static Value selectExtreme(ImplicitLocOpBuilder &b, Value x, Value y,
                           bool isMax) {
  Type type = x.getType(), words = wordsOf(type);
  auto compare = [&](arith::CmpFPredicate predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, predicate, l, r);
  };
  Value p = arith::BitcastOp::create(b, words, x),
        q = arith::BitcastOp::create(b, words, y);
  Value both = isMax ? arith::AndIOp::create(b, p, q).getResult()
                     : arith::OrIOp::create(b, p, q).getResult();
  Value wins = compare(
      isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, x, y);
  Value other = arith::SelectOp::create(b, wins, x, y);
  Value ordered =
      arith::SelectOp::create(b, compare(arith::CmpFPredicate::OEQ, x, y),
                              arith::BitcastOp::create(b, type, both), other);
  return arith::SelectOp::create(b, compare(arith::CmpFPredicate::UNO, y, y), y,
                                 ordered);
}

/// By the greater of x and y and that of y and x, as x86 has them: each is the
/// second operand where both are zeros, or one is NaN, and else they have the
/// same bits. What either has set keeps NaN; the sign of a maximum is what both
/// have. With 512 bits that is three or four instructions, fewer than LLVM's
/// own.
static Value joinExtremes(ImplicitLocOpBuilder &b, Value x, Value y,
                          bool isMax) {
  Type type = x.getType(), words = wordsOf(type);
  auto first = [&](Value l, Value r) -> Value {
    Value wins = arith::CmpFOp::create(
        b, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, l, r);
    Value chosen = arith::SelectOp::create(b, wins, l, r);
    return arith::BitcastOp::create(b, words, chosen);
  };
  Value p = first(x, y), q = first(y, x);
  Value result = arith::OrIOp::create(b, p, q);
  if (isMax) {
    auto all = APInt::getSignedMaxValue(
        getElementTypeOrSelf(words).getIntOrFloatBitWidth());
    Value magnitude = arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<ShapedType>(words), all));
    result = arith::OrIOp::create(b, arith::AndIOp::create(b, p, q),
                                  arith::AndIOp::create(b, result, magnitude));
  }
  return arith::BitcastOp::create(b, type, result);
}

/// True for 512 bits of numbers that are not known now.
static bool isLong(Value x, Value y) {
  auto vector = dyn_cast<VectorType>(x.getType());
  return vector &&
         vector.getNumElements() * vector.getElementTypeBitWidth() >= 512 &&
         !matchPattern(x, m_Constant()) && !matchPattern(y, m_Constant());
}

namespace {
struct ExactExtremaPass final
    : shardc::impl::ExactExtremaPassBase<ExactExtremaPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      bool isMax = isa<arith::MaximumFOp>(op);
      if (!isMax && !isa<arith::MinimumFOp>(op))
        return;
      ImplicitLocOpBuilder b(op->getLoc(), op);
      Value x = op->getOperand(0), y = op->getOperand(1), result;
      auto vector = dyn_cast<VectorType>(x.getType());
      Type element = getElementTypeOrSelf(x.getType());
      if ((!element.isF32() && !element.isF64()) ||
          (vector && vector.getRank() != 1))
        result = selectExtreme(b, x, y, isMax);
      else if (isLong(x, y))
        result = joinExtremes(b, x, y, isMax);
      else if (isMax)
        result = LLVM::MaximumOp::create(b, x, y);
      else
        result = LLVM::MinimumOp::create(b, x, y);
      op->replaceAllUsesWith(ValueRange(result));
      op->erase();
    });
  }
};
} // namespace

} // namespace shardc

//===- GpuFunctions.cpp - Functions that GPUs have units for --------------===//
//
// A multiprocessor has a unit for 2^x, 1/x and 1/sqrt(x) that is right to two
// units in the last place, once arguments are small. So exp is a reduction of
// the argument in front of it. Where a result is rounded to 16 bits at once,
// or may be less exact, the reduction is left out. The emulated device has
// libm's function in the unit's place, and divides and takes roots exactly.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_USEGPUFUNCTIONSPASS
#define GEN_PASS_DEF_SELECTGPUINSTRUCTIONSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

/// log2(e), and in two parts.
static constexpr double kLog2e = 0x1.71547652b82fep+0,
                        kLog2eHigh = 0x1.715476p+0, kLog2eLow = 0x1.4ae0cp-26;

static bool mayBeBrief(Operation *op) {
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
  if (flags &&
      arith::bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn))
    return true;
  return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<arith::TruncFOp>(user);
  });
}

/// e^x of f32.
static Value expOf(ImplicitLocOpBuilder &b, Value x, bool isBrief) {
  Type type = x.getType();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  };
  auto fma = [&](Value x, double factor, Value y) -> Value {
    return math::FmaOp::create(b, x, number(factor), y);
  };
  // The unit's own: subnormal arguments and results may be zero.
  auto power = [&](Value x) -> Value {
    return LLVM::Exp2Op::create(b, type, x, LLVM::FastmathFlags::afn);
  };
  if (isBrief)
    return power(arith::MulFOp::create(b, x, number(kLog2e)));
  // x log2(e) = n + r. n stays within the exponents of normal numbers: of x
  // beyond, r has the rest, so that the product below overflows, or is rounded
  // as subnormal numbers are. n + 127 stands in the low bits of `shifted`.
  constexpr double kSpan = 252, kShift = 0x1.8p+23 + 127;
  Value part = fma(x, kLog2e / kSpan, number(0.5));
  // NaN becomes a number here, and stays NaN in r.
  part = LLVM::MaxNumOp::create(b, part, number(0));
  part = LLVM::MinNumOp::create(b, part, number(1));
  Value shifted = fma(part, kSpan, number(kShift - kSpan / 2));
  Value n = arith::SubFOp::create(b, shifted, number(kShift));
  Value r = fma(x, kLog2eHigh, arith::NegFOp::create(b, n));
  r = fma(x, kLog2eLow, r);
  Type word = b.getI32Type();
  Value bits = arith::BitcastOp::create(b, word, shifted);
  bits =
      arith::ShLIOp::create(b, bits, arith::ConstantIntOp::create(b, word, 23));
  return arith::MulFOp::create(b, power(r),
                               arith::BitcastOp::create(b, type, bits));
}

static void replaceExp(math::ExpOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x = op.getOperand();
  Type type = x.getType(), single = b.getF32Type();
  Value result;
  if (type.isF32()) {
    result = expOf(b, x, mayBeBrief(op));
  } else {
    Value wide = arith::ExtFOp::create(b, single, x);
    result = arith::TruncFOp::create(b, type, expOf(b, wide, true));
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

/// True if `op` is the exp of a logistic, 1 / (1 + exp(-x)): where exp
/// overflows its result is a small number, which a formula of its own gives.
static bool isOfLogistic(math::ExpOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *sum) {
    return isa<arith::AddFOp>(sum) &&
           llvm::any_of(sum->getUsers(), [](Operation *quotient) {
             return spmd::contract::Logistic::has(quotient);
           });
  });
}

namespace {
struct UseGpuFunctionsPass final
    : shardc::impl::UseGpuFunctionsPassBase<UseGpuFunctionsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<math::ExpOp> exps;
    getOperation().walk([&](gpu::LaunchOp launch) {
      launch.walk([&](math::ExpOp op) {
        Type type = op.getType();
        if ((type.isF32() || type.isF16() || type.isBF16()) &&
            !isOfLogistic(op))
          exps.push_back(op);
      });
    });
    llvm::for_each(exps, replaceExp);
  }
};

/// PTX's instructions for what LLVM would do exactly.
struct SelectGpuInstructionsPass final
    : shardc::impl::SelectGpuInstructionsPassBase<SelectGpuInstructionsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<LLVM::Exp2Op, LLVM::FDivOp>(op) &&
          op->getResult(0).getType().isF32())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto power = dyn_cast<LLVM::Exp2Op>(op)) {
        if (LLVM::bitEnumContainsAll(power.getFastmathFlags(),
                                     LLVM::FastmathFlags::afn))
          replace(op, "llvm.nvvm.ex2.approx.ftz.f", power.getIn());
      } else {
        selectDivision(cast<LLVM::FDivOp>(op));
      }
    }
  }

private:
  static void replace(Operation *op, StringRef name, ValueRange operands) {
    OpBuilder b(op);
    auto call = LLVM::CallIntrinsicOp::create(b, op->getLoc(),
                                              op->getResult(0).getType(),
                                              b.getStringAttr(name), operands);
    op->replaceAllUsesWith(call);
    op->erase();
  }
  static void selectDivision(LLVM::FDivOp op) {
    // Of constants LLVM knows what is exact as a product.
    if (matchPattern(op.getRhs(), m_Constant()))
      return;
    if (auto root = op.getRhs().getDefiningOp<LLVM::SqrtOp>();
        root && matchPattern(op.getLhs(), m_OneFloat()))
      return replace(op, "llvm.nvvm.rsqrt.approx.f", root.getIn());
    replace(op, "llvm.nvvm.div.full", op.getOperands());
  }
};
} // namespace
} // namespace shardc

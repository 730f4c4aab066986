//===- GpuFunctions.cpp - Functions that GPUs have units for --------------===//
//
// A multiprocessor has a unit for 2^x, 1/x and 1/sqrt(x) that is right to two
// units in the last place, once arguments are small. So exp is a reduction of
// the argument in front of it, and tanh a quotient behind it. log is a
// polynomial: the unit's error near one is absolute. Where a result is rounded
// to 16 bits at once, or may be less exact, all that is left out. The emulated
// device has libm's function in the unit's place, and divides and takes roots
// exactly.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/Functions.h"
#include <numbers>

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_USEGPUFUNCTIONSPASS
#define GEN_PASS_DEF_SELECTGPUINSTRUCTIONSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

/// log2(e) in two parts.
static constexpr double kLog2eHigh = 0x1.715476p+0, kLog2eLow = 0x1.4ae0cp-26;

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
    return power(arith::MulFOp::create(b, x, number(std::numbers::log2e)));
  // x log2(e) = n + r. n stays within the exponents of normal numbers: of x
  // beyond, r has the rest, so that the product below overflows, or is rounded
  // as subnormal numbers are. n + 127 is in the low bits of `shifted`.
  constexpr double kSpan = 252, kShift = 0x1.8p+23 + 127;
  Value part = fma(x, std::numbers::log2e / kSpan, number(0.5));
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

/// 1 / x by the unit: x is no number whose reciprocal is subnormal.
static functions::Num reciprocal(functions::Num x) {
  return {x.b, arith::DivFOp::create(*x.b, x.of(1).v, x.v,
                                     arith::FastMathFlags::afn)};
}

/// 1.5 2^23: an integer added to it is in the low bits.
static constexpr double kRounder = 0x1.8p+23;

/// log of f32, to less than one unit in the last place.
static Value logOf(ImplicitLocOpBuilder &b, Value value) {
  using namespace functions;
  Num x{&b, value};
  // x = 2^n (1 + f), f from sqrt(1/2) - 1 to sqrt(2) - 1.
  Mask isSmall = x < 0x1p-126;
  constexpr int64_t kRoot = 0x3F3504F3;
  Bits shifted = choose(isSmall, x * 0x1p23, x).bits() - kRoot;
  Num n = asFloat((shifted >> 23) + 0x4B400000, x) -
          choose(isSmall, x.of(kRounder + 23), x.of(kRounder));
  Num f = asFloat((shifted & 0x007FFFFF) + kRoot, x) - 1.0;
  Num p = polynomial(f, {-0.5, 0x1.555546p-2, -0x1.00000ap-2, 0x1.99a546p-3,
                         -0x1.555ae4p-3, 0x1.232cfap-3, -0x1.fc4da0p-4,
                         0x1.e7a54ep-4, -0x1.dd6510p-4, 0x1.11c874p-4});
  Num result = fma(n, 0x1.62e43p-1, fma(f * f, p, f));
  Num limit = choose(x == 0.0, -kInfinity, choose(x > 0.0, x, x.of(kNan)));
  return choose((x > 0.0) & (x < kInfinity), result, limit).v;
}

/// tanh of f32. Where the units are off by as much as NVIDIA says, 2^-22 for
/// 2^x and 2^-23 for 1/x, it is off by 1.82 units in the last place.
static Value tanhOf(ImplicitLocOpBuilder &b, Value value) {
  using namespace functions;
  Num x{&b, value}, a = abs(x), square = a * a;
  // Below 5/4 a + a^3 p(a^2), p of least relative error there; above it 1 - 2 /
  // (e^2a + 1), of whose quotient less than a sixth remains.
  Num near =
      fma(a * square,
          polynomial(square, {-0x1.555528p-2, 0x1.110982p-3, -0x1.b93ba2p-5,
                              0x1.5fe510p-6, -0x1.077a50p-7, 0x1.4a8d5ap-9,
                              -0x1.1f4964p-11, 0x1.e7acbap-15}),
          a);
  Num power{&b, expOf(b, (a * 2.0).v, /*isBrief=*/true)};
  Num far = fma(reciprocal(power + 1.0), -2, x.of(1));
  return copySign(choose(a < 1.25, near, far), x).v;
}

/// What computes `op` on f32; of 16 bits, results are rounded once more.
static Value computed(ImplicitLocOpBuilder &b, Operation *op, Value x) {
  if (isa<math::TanhOp>(op))
    return tanhOf(b, x);
  if (isa<math::LogOp>(op))
    return logOf(b, x);
  return expOf(b, x, !op->getResult(0).getType().isF32() || mayBeBrief(op));
}

static void replaceFunction(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(0);
  Type type = x.getType(), single = b.getF32Type();
  Value result;
  if (type.isF32()) {
    result = computed(b, op, x);
  } else {
    Value wide = arith::ExtFOp::create(b, single, x);
    result = arith::TruncFOp::create(b, type, computed(b, op, wide));
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
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
    SmallVector<Operation *> ops;
    getOperation().walk([&](gpu::LaunchOp launch) {
      launch.walk([&](Operation *op) {
        if (!isa<math::ExpOp, math::LogOp, math::TanhOp>(op))
          return;
        Type type = op->getResult(0).getType();
        auto exp = dyn_cast<math::ExpOp>(op);
        if ((type.isF32() || type.isF16() || type.isBF16()) &&
            !(exp && isOfLogistic(exp)))
          ops.push_back(op);
      });
    });
    llvm::for_each(ops, replaceFunction);
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
      if (auto quotient = dyn_cast<LLVM::FDivOp>(op))
        selectDivision(quotient);
      else if (isBrief(op))
        replace(op, "llvm.nvvm.ex2.approx.ftz.f", op->getOperand(0));
    }
  }

private:
  static bool isBrief(Operation *op) {
    auto flags =
        cast<LLVM::FastmathFlagsInterface>(op).getFastmathAttr().getValue();
    return LLVM::bitEnumContainsAll(flags, LLVM::FastmathFlags::afn);
  }
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
    if (isBrief(op) && matchPattern(op.getLhs(), m_OneFloat()))
      return replace(op, "llvm.nvvm.rcp.approx.ftz.f", op.getRhs());
    replace(op, "llvm.nvvm.div.full", op.getOperands());
  }
};
} // namespace
} // namespace shardc

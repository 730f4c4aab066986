//===- RoundBFloats.cpp - f32 to bf16, in words of 32 bits ----------------===//
//
// A bf16 is the upper half of an f32. A number that is rounded to bf16 and goes
// on in f32, as between the ops of a program in bf16, never leaves its register
// for one of halves. NaNs need care only where their lower half may hold
// something: else what rounding adds does not reach the upper half.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/Functions.h"

using namespace mlir;

using namespace shardc;

static bool isBFloat(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// True for an op that is NaN with the bits of one of its operands, or with the
/// processor's own, whose lower bits are zero.
static bool keepsNan(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::SelectOp, math::FmaOp, math::AbsFOp,
             math::SqrtOp, math::ErfOp, math::ErfcOp, math::ExpOp, math::TanhOp,
             vector::FMAOp, vector::BroadcastOp>(op);
}

/// True if the lower half of `value`, where it is a NaN, may be other than
/// zero. `fuel` bounds the number of ops that are looked at.
static bool mayHaveLongNan(Value value, int &fuel) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValue().isNaN();
  SplatElementsAttr numbers;
  if (matchPattern(value, m_Constant(&numbers)))
    return numbers.getSplatValue<APFloat>().isNaN();
  Operation *op = value.getDefiningOp();
  if (!op || --fuel < 0)
    return true;
  if (isa<arith::ExtFOp>(op))
    return !isBFloat(op->getOperand(0).getType());
  return !keepsNan(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<FloatType>(getElementTypeOrSelf(operand.getType())) &&
           mayHaveLongNan(operand, fuel);
  });
}

/// Words of 16 bits. Those of two registers are picked by one instruction.
static Value upperHalves(functions::Bits words) {
  ImplicitLocOpBuilder &b = *words.b;
  Type half = functions::withElement(words.v.getType(), b.getI16Type());
  auto shape = dyn_cast<VectorType>(half);
  int64_t count = shape ? shape.getNumElements() : 1;
  if (count < 32) {
    Value upper = arith::ShRUIOp::create(b, words.v, words.of(16).v);
    return arith::TruncIOp::create(b, half, upper);
  }
  Value line = vector::ShapeCastOp::create(
      b, VectorType::get({count}, b.getI32Type()), words.v);
  line = vector::BitCastOp::create(
      b, VectorType::get({2 * count}, b.getI16Type()), line);
  SmallVector<int64_t> odd(count);
  for (auto [at, half] : llvm::enumerate(odd))
    half = 2 * int64_t(at) + 1;
  line = vector::ShuffleOp::create(b, line, line, odd);
  return vector::ShapeCastOp::create(b, shape, line);
}

static void roundToBFloat(arith::TruncFOp op) {
  constexpr int64_t kUpper = 0xFFFF0000;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  functions::Num x{&b, op.getIn()};
  functions::Bits bits = x.bits();
  // To the nearest; of two, to the one whose last bit is zero.
  functions::Bits last{&b, arith::ShRUIOp::create(b, bits.v, bits.of(16).v)};
  functions::Num rounded = functions::asFloat(bits + ((last & 1) + 0x7FFF), x);
  int fuel = 64;
  if (mayHaveLongNan(x.v, fuel))
    rounded = choose(isNan(x), functions::kNan, rounded);
  functions::Bits word = rounded.bits();
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa<arith::ExtFOp>(user) &&
        user->getResult(0).getType() == x.v.getType()) {
      ImplicitLocOpBuilder at(user->getLoc(), user);
      user->replaceAllUsesWith(ValueRange{
          functions::asFloat(functions::Bits{&at, word.v} & kUpper, {&at, x.v})
              .v});
      user->erase();
    }
  if (!op.use_empty())
    op.replaceAllUsesWith(
        arith::BitcastOp::create(b, op.getType(), upperHalves(word))
            .getResult());
  op.erase();
}

namespace {
struct RoundBFloats final
    : PassWrapper<RoundBFloats, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RoundBFloats)
  StringRef getArgument() const override { return "spmd-round-bfloats"; }
  StringRef getDescription() const override {
    return "Round f32 to bf16 by integers, in registers of f32.";
  }
  void runOnOperation() override {
    SmallVector<arith::TruncFOp> ops;
    getOperation().walk([&](arith::TruncFOp op) {
      if (isBFloat(op.getType()) &&
          getElementTypeOrSelf(op.getIn().getType()).isF32())
        ops.push_back(op);
    });
    // Backwards: what an op is made of still says where its NaNs come from.
    llvm::for_each(llvm::reverse(ops), roundToBFloat);
  }
};
} // namespace

std::unique_ptr<Pass> shardc::createRoundBFloatsPass() {
  return std::make_unique<RoundBFloats>();
}

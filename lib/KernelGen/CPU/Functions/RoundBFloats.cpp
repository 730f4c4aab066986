//===- RoundBFloats.cpp - f32 to bf16, in words of 32 bits ----------------===//
//
// A bf16 is the upper half of an f32. A number that is rounded to bf16 and goes
// on in f32, as between the ops of a program in bf16, never leaves its register
// for one of halves. NaNs need care only where their lower half may hold
// something: else what rounding adds does not reach the upper half.
//
// AVX512-BF16 has an instruction for what is rounded and goes on as bf16. It
// takes subnormal numbers for zero and keeps bits of NaNs, so vectors that hold
// such numbers go by integers still: the bits are the same on all processors.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/Functions.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_ROUNDBFLOATSPASS
#include "shardc/KernelGen/Passes.h.inc"

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

/// Words of f32 whose upper halves are `x` rounded to bf16.
static functions::Bits roundedWords(functions::Num x, bool mayHaveLongNan) {
  functions::Bits bits = x.bits();
  // To the nearest; of two, to the one whose last bit is zero.
  functions::Bits last{x.b,
                       arith::ShRUIOp::create(*x.b, bits.v, bits.of(16).v)};
  functions::Num rounded = functions::asFloat(bits + ((last & 1) + 0x7FFF), x);
  if (mayHaveLongNan)
    rounded = choose(isNan(x), functions::kNan, rounded);
  return rounded.bits();
}

/// The numbers of whole registers `line` as bf16. None is subnormal or NaN.
static Value convert(ImplicitLocOpBuilder &b, ArrayRef<Value> line,
                     VectorType type) {
  auto intrinsic = [&](StringRef name, ValueRange operands) {
    auto part =
        VectorType::get({16 * int64_t(operands.size())}, b.getBF16Type());
    return LLVM::CallIntrinsicOp::create(b, part, b.getStringAttr(name),
                                         operands)
        .getResult(0);
  };
  auto whole = VectorType::get({type.getNumElements()}, b.getBF16Type());
  Value result;
  for (size_t at = 0; at < line.size(); at += 2) {
    // The second operand's numbers come first.
    Value part =
        at + 1 < line.size()
            ? intrinsic("llvm.x86.avx512bf16.cvtne2ps2bf16.512",
                        {line[at + 1], line[at]})
            : intrinsic("llvm.x86.avx512bf16.cvtneps2bf16.512", line[at]);
    if (part.getType() == whole) {
      result = part;
      continue;
    }
    if (!result)
      result = functions::splat(b, whole, b.getFloatAttr(b.getBF16Type(), 0));
    result = vector::InsertStridedSliceOp::create(
        b, part, result, ArrayRef<int64_t>{16 * int64_t(at)},
        ArrayRef<int64_t>{1});
  }
  return vector::ShapeCastOp::create(b, type, result);
}

/// `op` by AVX512-BF16, where no lane needs more.
static Value convertMostly(arith::TruncFOp op, VectorType type,
                           bool mayHaveLongNan) {
  constexpr int64_t kLanes = 16;
  // Quiet NaNs, subnormal numbers and signalling NaNs, as vfpclass has them.
  constexpr int32_t kRare = 1 | 1 << 5 | 1 << 7;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t count = type.getNumElements();
  Value flat = vector::ShapeCastOp::create(
      b, VectorType::get({count}, b.getF32Type()), op.getIn());
  Value kinds = arith::ConstantOp::create(b, b.getI32IntegerAttr(kRare));
  SmallVector<Value> line;
  Value rare;
  for (int64_t at = 0; at < count; at += kLanes) {
    line.push_back(vector::ExtractStridedSliceOp::create(
        b, flat, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{kLanes},
        ArrayRef<int64_t>{1}));
    Value here = LLVM::CallIntrinsicOp::create(
                     b, VectorType::get({kLanes}, b.getI1Type()),
                     b.getStringAttr("llvm.x86.avx512.fpclass.ps.512"),
                     ValueRange{line.back(), kinds})
                     .getResult(0);
    rare = rare ? arith::OrIOp::create(b, rare, here).getResult() : here;
  }
  rare = vector::ReductionOp::create(b, vector::CombiningKind::OR, rare);
  auto branch = scf::IfOp::create(
      b, rare,
      [&](OpBuilder &outer, Location loc) {
        ImplicitLocOpBuilder inner(loc, outer);
        Value words =
            upperHalves(roundedWords({&inner, op.getIn()}, mayHaveLongNan));
        Value result = arith::BitcastOp::create(inner, type, words);
        scf::YieldOp::create(inner, result);
      },
      [&](OpBuilder &outer, Location loc) {
        ImplicitLocOpBuilder inner(loc, outer);
        Value result = convert(inner, line, type);
        scf::YieldOp::create(inner, result);
      });
  return branch.getResult(0);
}

static void roundToBFloat(arith::TruncFOp op, bool converts) {
  constexpr int64_t kUpper = 0xFFFF0000;
  auto isWidened = [&](Operation *user) {
    return isa<arith::ExtFOp>(user) &&
           user->getResult(0).getType() == op.getIn().getType();
  };
  int fuel = 64;
  bool isLong = mayHaveLongNan(op.getIn(), fuel);
  auto vector = dyn_cast<VectorType>(op.getType());
  if (converts && vector && !vector.isScalable() &&
      vector.getNumElements() % 16 == 0 &&
      llvm::none_of(op->getUsers(), isWidened)) {
    op.replaceAllUsesWith(convertMostly(op, vector, isLong));
    op.erase();
    return;
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  functions::Num x{&b, op.getIn()};
  functions::Bits word = roundedWords(x, isLong);
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isWidened(user)) {
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
struct RoundBFloatsPass final
    : shardc::impl::RoundBFloatsPassBase<RoundBFloatsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<arith::TruncFOp> ops;
    getOperation().walk([&](arith::TruncFOp op) {
      if (isBFloat(op.getType()) &&
          getElementTypeOrSelf(op.getIn().getType()).isF32())
        ops.push_back(op);
    });
    // Backwards: what an op is made of still says where its NaNs come from.
    for (arith::TruncFOp op : llvm::reverse(ops))
      roundToBFloat(op, converts);
  }
};
} // namespace
} // namespace shardc

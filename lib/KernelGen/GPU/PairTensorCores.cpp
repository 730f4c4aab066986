//===- PairTensorCores.cpp - Steps of 16-bit floats on tensor cores -------===//
//
// A warp has 16 rows; the four lanes that share a row are the four of a
// fragment. Scores are products of 16-bit numbers, as the program has them.
// Weights are f32: each is taken apart into 16-bit numbers that add up to it,
// so that it is not rounded to one of these (bf16: three, which is all of an
// f32; f16: two, of a weight of at most 1).
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

/// Elements from one row of 16-bit numbers to the next: eight rows, at one
/// column, meet all banks.
static constexpr int64_t kHalfPitch = 40;

bool PairSteps::fitsTensorCores(Weigh weigh, const Tensor *factor) {
  half = getElementTypeOrSelf(query.memref.getType());
  if (!factor || !type.isF32() || !op.getPair().empty() ||
      op.getCombine() != PairCombine::Softmax || !isHalf(key) ||
      !isHalf(*factor))
    return false;
  if (ShapedType::isStatic(sizeOf(rowDim)) && sizeOf(rowDim) < 16)
    return false;
  // Numbers of f16 end early: weights that are no larger than 1 alone.
  return half.isBF16() ||
         (half.isF16() && weigh == Weigh::Forward && op.getWeight().empty());
}

Value PairSteps::halfAt(Value area, Value row, Value column) {
  Value offset = mul(add(mul(row, kHalfPitch), column), 2);
  return sharedByte(area, offset);
}

/// Adds to `sums` the products of what stands in both areas.
SmallVector<Value> PairSteps::multiplyParts(ArrayRef<Value> sums) {
  SmallVector<Value> next(sums);
  Value lane = rem(thread, kWarp), warp = div(thread, kWarp);
  Value row = rem(lane, 8), first = rem(div(lane, 8), 2),
        second = div(lane, 16);
  for (int64_t from = 0; from < kPart; from += 16) {
    Value leftRow = add(mul(warp, 16), add(mul(first, 8), row));
    SmallVector<Value> left = loadMatrices(
        b, loc, halfAt(leftArea, leftRow, add(mul(second, 8), index(from))),
        false);
    for (int64_t j = 0; j < ownColumns() / 2; j += 2) {
      Value rightRow = add(add(mul(second, 8), row), index(8 * j));
      SmallVector<Value> right = loadMatrices(
          b, loc, halfAt(rightArea, rightRow, add(mul(first, 8), index(from))),
          false);
      for (int64_t k = 0; k < 2; ++k) {
        auto spot = [&](int64_t word) -> Value & {
          return next[word / 2 * ownColumns() + 2 * (j + k) + word % 2];
        };
        SmallVector<Value> made = multiplyFragments(
            b, loc, half, left, {right[2 * k], right[2 * k + 1]},
            {spot(0), spot(1), spot(2), spot(3)});
        for (int64_t word = 0; word < 4; ++word)
          spot(word) = made[word];
      }
    }
  }
  return next;
}

/// A thread's weights as left fragments: for each 16 columns of a tile, and
/// each term of the weights, four words.
SmallVector<SmallVector<Value>>
PairSteps::weightFragments(ArrayRef<Value> weights) {
  int64_t terms = half.isBF16() ? 3 : 2;
  SmallVector<SmallVector<Value>> fragments;
  SmallVector<Value> rest(weights);
  for (int64_t term = 0; term < terms; ++term) {
    SmallVector<Value> bits;
    for (Value &weight : rest) {
      Value part = arith::TruncFOp::create(b, loc, half, weight);
      Value bit = arith::BitcastOp::create(b, loc, b.getIntegerType(16), part);
      bits.push_back(arith::ExtUIOp::create(b, loc, b.getI32Type(), bit));
      if (term + 1 == terms)
        continue;
      Value wide = arith::ExtFOp::create(b, loc, type, part);
      Value left = arith::SubFOp::create(b, loc, weight, wide);
      // What is infinite is so in its first part.
      Value finite =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, left, left);
      weight = select(finite, left, number(0));
    }
    Value shift = arith::ConstantIntOp::create(b, loc, 16, 32);
    for (int64_t column = 0; column < ownColumns(); column += 4) {
      SmallVector<Value> words;
      for (int64_t pair = 0; pair < 4; pair += 2)
        for (int64_t row = 0; row < 2; ++row) {
          size_t at = row * ownColumns() + column + pair;
          words.push_back(arith::OrIOp::create(
              b, loc, bits[at],
              arith::ShLIOp::create(b, loc, bits[at + 1], shift)));
        }
      fragments.push_back(words);
    }
  }
  return fragments;
}

void PairSteps::accumulateOnCores(ArrayRef<Value> weights,
                                  const Tensor &columns, unsigned dim,
                                  int64_t from, Carried &carried) {
  int64_t features = carried.totals.size() / perThread;
  SmallVector<SmallVector<Value>> lefts = weightFragments(weights);
  int64_t steps = ownColumns() / 4; // of 16 columns
  Value lane = rem(thread, kWarp);
  Value row = rem(lane, 8), first = rem(div(lane, 8), 2),
        second = div(lane, 16);
  for (int64_t part = 0; part < features; part += kOwn) {
    gpu::BarrierOp::create(b, loc); // the area has been read
    stage(columns, columnDim, firstColumn, kColumns, dim,
          index(from + part * kPerRow), rightArea, /*halves=*/true);
    gpu::BarrierOp::create(b, loc);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t j = 0; j < kOwn / 2; j += 2) {
        Value column = add(add(mul(first, 8), row), index(16 * step));
        SmallVector<Value> right = loadMatrices(
            b, loc,
            halfAt(rightArea, column, add(mul(second, 8), index(8 * j))), true);
        for (int64_t k = 0; k < 2; ++k) {
          auto spot = [&](int64_t word) -> Value & {
            return carried
                .totals[word / 2 * features + part + 2 * (j + k) + word % 2];
          };
          for (size_t left = step; left < lefts.size(); left += steps) {
            SmallVector<Value> made = multiplyFragments(
                b, loc, half, lefts[left], {right[2 * k], right[2 * k + 1]},
                {spot(0), spot(1), spot(2), spot(3)});
            for (int64_t word = 0; word < 4; ++word)
              spot(word) = made[word];
          }
        }
      }
  }
}

//===- PairTensorCores.cpp - Steps of 16-bit floats on tensor cores -------===//
//
// A warp has 16 rows; the four lanes that share a row are the four of a
// fragment. Scores are products of 16-bit numbers, as the program has them.
// Weights are f32: each is split into 16-bit numbers that add up to it,
// so that it is not rounded to one of these (bf16: three, which is all of an
// f32; f16: two, of a weight of at most 1).
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

/// Elements from one row of 16-bit numbers to the next: eight rows, at one
/// column, meet all banks.
static constexpr int64_t kHalfPitch = 40;

bool PairSteps::fitsTensorCores(Weigh weigh, const Tensor *factor,
                                bool orWide) {
  half = getElementTypeOrSelf(query.memref.getType());
  if (!factor || !type.isF32() || !op.getPair().empty() ||
      op.getCombine() != PairCombine::Softmax || !isHalf(key) ||
      !(isHalf(*factor) || (orWide && roundsWide(*factor))))
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

SmallVector<Value> PairSteps::takeApart(Value low, Value high, int64_t terms,
                                        bool isFinite) {
  Type word = b.getI32Type();
  SmallVector<Value> values = {low, high}, words;
  while (true) {
    // One instruction rounds two numbers to a word.
    Value pair = vector::FromElementsOp::create(
        b, loc, VectorType::get({2}, type), values);
    Value rounded =
        arith::TruncFOp::create(b, loc, VectorType::get({2}, half), pair);
    words.push_back(LLVM::BitcastOp::create(b, loc, word, rounded));
    if (static_cast<int64_t>(words.size()) == terms)
      return words;
    for (auto [i, value] : llvm::enumerate(values)) {
      Value wide = wideOf(words.back(), i);
      Value left = arith::SubFOp::create(b, loc, value, wide);
      value = left;
      if (isFinite)
        continue;
      // What is infinite is so in its first part.
      Value finite =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, left, left);
      value = select(finite, left, number(0));
    }
  }
}

/// Number `i` of the two 16-bit numbers in a word, as f32.
Value PairSteps::wideOf(Value word, int64_t i) {
  Type type32 = b.getI32Type();
  if (half.isBF16()) {
    // The upper half of an f32.
    Value bits = i == 0 ? arith::ShLIOp::create(
                              b, loc, word,
                              arith::ConstantIntOp::create(b, loc, type32, 16))
                              .getResult()
                        : arith::AndIOp::create(b, loc, word,
                                                arith::ConstantIntOp::create(
                                                    b, loc, type32, -65536))
                              .getResult();
    return arith::BitcastOp::create(b, loc, type, bits);
  }
  Value pair =
      LLVM::BitcastOp::create(b, loc, VectorType::get({2}, half), word);
  Value number = vector::ExtractOp::create(b, loc, pair, i);
  return arith::ExtFOp::create(b, loc, type, number);
}

/// A thread's weights as left fragments: for each term of the weights, and each
/// 16 columns of a tile, four words. Those of a softmax are finite, or NaN.
SmallVector<SmallVector<Value>>
PairSteps::weightFragments(ArrayRef<Value> weights, bool isFinite) {
  int64_t terms = shortWeights ? 1 : half.isBF16() ? 3 : 2;
  int64_t columns = ownColumns();
  SmallVector<SmallVector<Value>> apart; // of two neighbours each
  for (size_t at = 0; at < weights.size(); at += 2)
    apart.push_back(takeApart(weights[at], weights[at + 1], terms, isFinite));
  SmallVector<SmallVector<Value>> fragments;
  for (int64_t term = 0; term < terms; ++term)
    for (int64_t column = 0; column < columns; column += 4) {
      SmallVector<Value> words;
      for (int64_t pair = 0; pair < 4; pair += 2)
        for (int64_t row = 0; row < 2; ++row)
          words.push_back(apart[(row * columns + column + pair) / 2][term]);
      fragments.push_back(words);
    }
  return fragments;
}

void PairSteps::accumulateOnCores(ArrayRef<Value> weights,
                                  const Tensor &columns, unsigned dim,
                                  int64_t from, Carried &carried,
                                  bool isFinite) {
  int64_t features = carried.totals.size() / perThread;
  SmallVector<SmallVector<Value>> lefts = weightFragments(weights, isFinite);
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

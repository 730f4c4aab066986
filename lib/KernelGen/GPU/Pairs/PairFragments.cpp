//===- PairFragments.cpp - Steps of 16-bit floats on tensor cores ---------===//
#include "PairFragments.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Number `i` of the two 16-bit numbers in a word, as f32.
static Value wideOf(PairPoint &point, Value word, int64_t i) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  Type type = point.step.type, half = point.step.half, type32 = b.getI32Type();
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

SmallVector<Value> gpukernels::pairs::splitToHalves(PairPoint &point, Value low,
                                                    Value high, int64_t terms,
                                                    bool isFinite) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  Type type = point.step.type, half = point.step.half, word = b.getI32Type();
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
      Value wide = wideOf(point, words.back(), i);
      Value left = arith::SubFOp::create(b, loc, value, wide);
      value = left;
      if (isFinite)
        continue;
      // What is infinite is so in its first part.
      Value finite =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, left, left);
      value = point.choose(finite, left, point.number(0));
    }
  }
}

SmallVector<SmallVector<Value>>
gpukernels::pairs::weightFragments(PairBlock &block, ArrayRef<Value> weights,
                                   bool isFinite) {
  const Step &step = block.step;
  int64_t terms = step.shortWeights ? 1 : step.half.isBF16() ? 3 : 2;
  int64_t columns = block.shape.columnsOfThread();
  SmallVector<SmallVector<Value>> split; // of two neighbours each
  for (size_t at = 0; at < weights.size(); at += 2)
    split.push_back(
        splitToHalves(block, weights[at], weights[at + 1], terms, isFinite));
  SmallVector<SmallVector<Value>> fragments;
  for (int64_t term = 0; term < terms; ++term)
    for (int64_t column = 0; column < columns; column += 4) {
      SmallVector<Value> words;
      for (int64_t pair = 0; pair < 4; pair += 2)
        for (int64_t row = 0; row < 2; ++row)
          words.push_back(split[(row * columns + column + pair) / 2][term]);
      fragments.push_back(words);
    }
  return fragments;
}

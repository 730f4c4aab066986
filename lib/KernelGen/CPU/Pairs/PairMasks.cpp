//===- PairMasks.cpp - Tiles without weight -------------------------------===//
#include "PairEmitter.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;
using spmd::PairCombine;

void PairEmitter::findMask() {
  if (op.getCombine() != PairCombine::Softmax)
    return;
  Block &body = op.getScore().front();
  auto select =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select)
    return;
  auto numberOf = [](Value value) -> std::optional<double> {
    FloatAttr number;
    if (!matchPattern(value, m_Constant(&number)))
      return std::nullopt;
    return number.getValueAsDouble();
  };
  std::optional<double> number = numberOf(select.getFalseValue());
  if (!number && (number = numberOf(select.getTrueValue())))
    masksWhereTrue = true;
  // Positions alone are a band, which tiles follow already.
  bool readsScore = false, readsExtra = false;
  SmallVector<Value> worklist = {select.getCondition()};
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (Operation *inner = value.getDefiningOp())
      llvm::append_range(worklist, inner->getOperands());
    else
      (cast<BlockArgument>(value).getArgNumber() ? readsExtra : readsScore) |=
          cast<BlockArgument>(value).getArgNumber() <= extras.size();
  }
  if (!number || !(*number <= -1e4) || readsScore || !readsExtra)
    return;
  masked = *number;
  IRMapping mapping;
  op.getScore().cloneInto(&mask, mapping);
  mask.front().getTerminator()->setOperand(
      0, mapping.lookup(select.getCondition()));
}

Value PairEmitter::hasWeight(const Tile &tile) {
  auto lanesOf = VectorType::get({lanes}, b.getI1Type());
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(lanesOf));
  auto loop = scf::ForOp::create(b, loc, arith.index(0), arith.get(tile.rows),
                                 arith.index(1), none);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar(), some = loop.getRegionIterArg(0);
    for (int64_t vector : llvm::seq(vectors)) {
      Value keeps = evaluate(mask, code.number(0, lanes),
                             surroundings(tile, row, vector));
      if (masksWhereTrue) {
        Value all = arith::ConstantOp::create(
            b, loc, DenseElementsAttr::get(lanesOf, true));
        keeps = arith::XOrIOp::create(b, loc, keeps, all);
      }
      some = arith::OrIOp::create(b, loc, some, keeps);
    }
    // Beside a large enough maximum exp(masked - maximum) is exactly 0; -inf
    // adds nothing to a state, whatever that is.
    if (backward || std::isfinite(masked)) {
      const Access &maxima = backward ? rows[0] : states[0];
      Value most = code.load(
          pointer(maxima, {{q, arith.add(tile.q0, Quantity::of(row))}}),
          maxima.element, 1);
      Value far = arith::SubFOp::create(b, loc, most, code.number(masked, 1));
      Value isNear =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULE, far,
                                code.number(type.isF64() ? 709 : 88, 1));
      some = arith::OrIOp::create(b, loc, some, code.splat(isNear, lanes));
    }
    scf::YieldOp::create(b, loc, some);
  }
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR,
                                     loop.getResult(0));
}

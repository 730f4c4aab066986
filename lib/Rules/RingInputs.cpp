//===- RingInputs.cpp - What each step of a ring reads --------------------===//
#include "RingInputs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

RingInputs::RingInputs(Ring &ring) : ring(ring) {
  for (unsigned i = 0; i < ring.op->getNumOperands(); ++i) {
    pieces.push_back(ring.operand(i));
    maps.push_back(ring.op.getMap(i));
  }
}

SmallVector<Value> RingInputs::at(int64_t step, bool hasValue) {
  SmallVector<Value> values(pieces.size());
  unsigned first = 1;
  if (hasValue) {
    // Joined before the first step, so that it may travel during that.
    if (step == 0)
      pair = ring.join(pieces[1][0], pieces[2][0]);
    std::tie(values[1], values[2]) =
        ring.at(pair, pieces[1][0], pieces[2][0], step);
    first = 3;
  }
  for (unsigned i = first; i < pieces.size(); ++i)
    if (pieces[i].size() == 1)
      values[i] = ring.at(pieces[i][0], step);
  return values;
}

void RingInputs::renew(ArrayRef<unsigned> operands) {
  SmallVector<Value> held;
  for (unsigned i : operands)
    for (Piece &piece : pieces[i])
      held.push_back(piece.value);
  SmallVector<Type> types =
      llvm::map_to_vector(held, [](Value value) { return value.getType(); });
  ValueRange kept =
      stablehlo::OptimizationBarrierOp::create(ring.b, ring.loc, types, held)
          ->getResults();
  for (unsigned i : operands)
    for (Piece &piece : pieces[i]) {
      piece.value = kept.front();
      kept = kept.drop_front();
    }
}

SmallVector<Value> RingInputs::of(ArrayRef<Value> shared, const Here &here,
                                  int64_t part) {
  SmallVector<Value> values(shared);
  for (auto [value, of] : llvm::zip_equal(values, pieces))
    if (const Piece &piece = of[of.size() > 1 ? part : 0]; !value)
      value = here.isPassed ? ring.columnsOf(piece, here)
                            : ring.at(piece, here.step);
  return values;
}

SmallVector<Piece> RingInputs::travelling(bool hasValue) {
  SmallVector<Piece> result;
  if (hasValue && (pair = ring.join(pieces[1][0], pieces[2][0])))
    result.push_back(ring.inBuffer(*pair));
  for (unsigned i = pair ? 3 : 1; i < pieces.size(); ++i)
    if (pieces[i].size() == 1 && ring.travels(pieces[i][0]))
      result.push_back(ring.inBuffer(pieces[i][0]));
  return result;
}

SmallVector<Value> RingInputs::from(ValueRange blocks) {
  SmallVector<Value> values(pieces.size());
  if (pair) {
    std::tie(values[1], values[2]) =
        ring.split(blocks.front(), pieces[1][0], pieces[2][0]);
    blocks = blocks.drop_front();
  }
  for (unsigned i = pair ? 3 : 1; i < pieces.size(); ++i)
    if (pieces[i].size() == 1 && ring.travels(pieces[i][0])) {
      values[i] = blocks.front();
      blocks = blocks.drop_front();
    }
  return values;
}

//===- RingForward.cpp - Every query with every key -----------------------===//
#include "Ring.h"
#include "RingInputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/PairsOrders.h"
#include "shardc/Interfaces/StepLoop.h"
#include "shardc/Support/Slices.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

/// Merges the states of ranks that used different keys: maxima, sums and what
/// values add up to, which are cut as `maps` say.
static void mergeSoftmax(Ring &ring, SmallVectorImpl<Value> &state,
                         ArrayRef<AffineMap> maps, int64_t part) {
  OpBuilder &b = ring.b;
  Location loc = ring.loc;
  Localization &localization = ring.localization;
  ArrayRef<int64_t> axes = ring.mergeAxes();
  Value largest = localization.allReduce(state[0], ReductionKind::Max, axes,
                                         "finds the largest score of each row");
  // exp(-inf - -inf) is NaN where it should not matter.
  auto type = cast<RankedTensorType>(largest.getType());
  Value same = stablehlo::CompareOp::create(b, loc, state[0], largest,
                                            stablehlo::ComparisonDirection::EQ);
  Value factor = stablehlo::ExpOp::create(
      b, loc, type,
      stablehlo::SubtractOp::create(b, loc, type, state[0], largest)
          .getResult());
  factor = stablehlo::SelectOp::create(
      b, loc, type, same, ring.filled(maps[0], {}, part, 1.0), factor);
  auto sumType = cast<RankedTensorType>(state[1].getType());
  Value sum =
      stablehlo::MulOp::create(b, loc, sumType, state[1],
                               ring.finish(factor, maps[0], maps[1], sumType));
  Value wide = ring.spread(factor, maps[0], state[2], maps[2]);
  Value acc =
      stablehlo::MulOp::create(b, loc, state[2].getType(), state[2], wide);
  state[0] = largest;
  state[1] = localization.allReduce(sum, ReductionKind::Sum, axes,
                                    "adds up what ranks with other keys weigh");
  state[2] = localization.allReduce(acc, ReductionKind::Sum, axes,
                                    "adds up what ranks with other keys found");
}

LocalResults rules::localizeAllPairs(AllPairsOp op,
                                     Localization &localization) {
  auto self = cast<AllPairsOpInterface>(op.getOperation());
  FailureOr<RingPlan> plan = planRing(self, localization);
  if (failed(plan))
    return failure();
  Ring ring(self, localization, std::move(*plan));
  OpBuilder &b = ring.b;
  Location loc = ring.loc;
  bool hasValue = bool(op.getValue());
  RingInputs inputs(ring);
  // Keys that another op has used would be there whole, if their blocks were
  // kept until here.
  auto usedBefore = [&](Operation *user) {
    return user != op && isa<AllPairsOp>(user) &&
           user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
  };
  if (ring.countSteps() > 1 && llvm::any_of(op.getKey().getUsers(), usedBefore))
    inputs.renew(hasValue
                     ? ArrayRef<unsigned>{0, 1, 2}
                     : ArrayRef<unsigned>{0, 1}); // with queries, which differ

  PairCombine combine = op.getCombine();
  // The state of each part of the queries.
  SmallVector<AffineMap> maps;
  SmallVector<SmallVector<Value>> states(ring.countParts());
  auto beginWith = [&](AffineMap map, TypedAttr number) {
    maps.push_back(map);
    for (auto [part, state] : llvm::enumerate(states))
      state.push_back(ring.filled(map, {}, part, number));
  };
  auto begin = [&](AffineMap map, double number) {
    beginWith(map, b.getFloatAttr(ring.accumulator, number));
  };
  AffineMap out = self.getResultMap(0);
  constexpr double kInfinity = HUGE_VAL;
  switch (combine) {
  case PairCombine::Softmax:
    begin(self.getResultMap(1), -kInfinity);
    begin(self.getResultMap(2), 0);
    begin(ring.stateMap(out, ring.featureDim), 0);
    break;
  case PairCombine::Sum:
    begin(hasValue ? ring.stateMap(out, ring.featureDim) : out, 0);
    break;
  case PairCombine::Max:
  case PairCombine::Min:
    begin(out, combine == PairCombine::Max ? -kInfinity : kInfinity);
    break;
  case PairCombine::TopK:
    begin(ring.stateMap(out, ring.featureDim), -kInfinity);
    beginWith(ring.stateMap(self.getResultMap(1), ring.featureDim),
              b.getI32IntegerAttr(std::numeric_limits<int32_t>::max()));
    break;
  }
  Ring::PairPass pass{
      combine,
      /*backward=*/false,
      hasValue,
      /*numRows=*/0,
      inputs.maps,
      maps,
      {&op.getPair(), &op.getScore(), &op.getWeight(), nullptr}};
  auto visit = [&](const Here &here, ArrayRef<Value> shared) {
    for (auto [part, keyPart] : ring.partsAt(here))
      states[part] = ring.pairStep(pass, here, part, keyPart,
                                   inputs.of(shared, here, part), states[part]);
  };
  if (ring.isLoop()) {
    SmallVector<Piece> travelling = inputs.travelling(hasValue);
    auto unflatten = [&](ValueRange flat) {
      for (SmallVector<Value> &state : states) {
        state.assign(flat.begin(), flat.begin() + state.size());
        flat = flat.drop_front(state.size());
      }
    };
    auto flatten = [&] {
      SmallVector<Value> flat;
      for (const SmallVector<Value> &state : states)
        llvm::append_range(flat, state);
      return flat;
    };
    for (const Run &run : ring.runs())
      unflatten(ring.runSteps(
          run, travelling, flatten(),
          [&](const Here &here, ValueRange blocks, ValueRange flat) {
            unflatten(flat);
            visit(here, inputs.from(blocks));
            return flatten();
          }));
  } else {
    for (int64_t step = 0; step < ring.countSteps(); ++step)
      visit({step}, inputs.at(step, hasValue));
  }

  auto result = [&](int64_t state, int64_t number) {
    SmallVector<Value> values = llvm::map_to_vector(
        states, [&](ArrayRef<Value> values) { return values[state]; });
    return ring.deliver(values, maps[state], number);
  };
  switch (combine) {
  case PairCombine::Softmax: {
    for (auto [part, state] : llvm::enumerate(states)) {
      if (!ring.mergeAxes().empty())
        mergeSoftmax(ring, state, maps, part);
      Value &out = state[2];
      if (!op.getUnnormalized())
        out = stablehlo::DivOp::create(
            b, loc, out.getType(), out,
            ring.spread(state[1], maps[1], out, maps[2]));
    }
    return SmallVector<Value>{result(2, 0), result(0, 1), result(1, 2)};
  }
  case PairCombine::Sum:
  case PairCombine::Max:
  case PairCombine::Min: {
    ReductionKind kind = combine == PairCombine::Sum   ? ReductionKind::Sum
                         : combine == PairCombine::Max ? ReductionKind::Max
                                                       : ReductionKind::Min;
    if (!ring.mergeAxes().empty())
      for (SmallVector<Value> &state : states)
        state[0] =
            localization.allReduce(state[0], kind, ring.mergeAxes(),
                                   "combines what ranks with other keys found");
    return SmallVector<Value>{result(0, 0)};
  }
  case PairCombine::TopK:
    return SmallVector<Value>{result(0, 0), result(1, 1)};
  }
  llvm_unreachable("all kinds are listed");
}

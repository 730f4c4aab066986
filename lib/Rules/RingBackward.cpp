//===- RingBackward.cpp - Gradients of queries and keys -------------------===//
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

/// Axes that cut batch dims which `map` lacks: its gradient is partial there.
static SmallVector<int64_t> partialAxes(Ring &ring, AffineMap map) {
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < ring.queryDim; ++dim)
    if (!map.isFunctionOfDim(dim))
      llvm::append_range(axes, ring.axesOf(dim));
  return axes;
}

/// The steps of a loop. Gradients of a block travel with it: each rank adds its
/// share to what comes, one step behind the block itself, and after the last
/// step they go home.
static void passGradients(Ring &ring, RingInputs &inputs,
                          ArrayRef<AffineMap> maps,
                          MutableArrayRef<SmallVector<Value>> total,
                          llvm::function_ref<void(const Here &, ArrayRef<Value>,
                                                  MutableArrayRef<Value>)>
                              visit) {
  SmallVector<Piece> travelling = inputs.travelling(/*hasValue=*/true);
  const Here anyBlock{0, /*isPassed=*/true};
  Piece gradients[2];
  for (unsigned i : {1u, 2u})
    gradients[i - 1] = {ring.filled(maps[i], anyBlock, 0, 0.0), maps[i],
                        ring.tablesOf(maps[i], {}, 0)};
  auto flatten = [&](ArrayRef<Value> blocks) {
    SmallVector<Value> flat(blocks);
    for (auto [i, values] : llvm::enumerate(total))
      if (i != 1 && i != 2)
        llvm::append_range(flat, values);
    return flat;
  };
  auto unflatten = [&](ValueRange flat) {
    for (auto [i, values] : llvm::enumerate(total))
      if (i != 1 && i != 2) {
        values.assign(flat.begin(), flat.begin() + values.size());
        flat = flat.drop_front(values.size());
      }
  };
  std::string why = ring.whyPassed(/*isGradient=*/true);
  for (const Run &run : ring.runs()) {
    SmallVector<Value> last = ring.runSteps(
        run, travelling, flatten({gradients[0].value, gradients[1].value}),
        [&](const Here &here, ValueRange blocks, ValueRange flat) {
          unflatten(flat.drop_front(2));
          Value share[] = {ring.filled(maps[1], here, 0, 0.0),
                           ring.filled(maps[2], here, 0, 0.0)};
          visit(here, inputs.from(blocks), share);
          for (unsigned i : {0u, 1u}) {
            Value come = ring.pass(flat[i], gradients[i], 1, why);
            share[i] = AccumulateOp::create(ring.b, ring.loc, share[i], come);
          }
          return flatten(share);
        });
    unflatten(ArrayRef(last).drop_front(2));
    for (unsigned i : {1u, 2u}) {
      Value home = ring.fromBuffer(
          ring.pass(last[i - 1], gradients[i - 1], ring.shiftHome(run), why),
          maps[i], gradients[i - 1].tables);
      if (total[i].empty())
        total[i] = {home};
      else
        total[i][0] = AccumulateOp::create(ring.b, ring.loc, home, total[i][0]);
    }
  }
}

LocalResults rules::localizeAttentionBackward(AttentionBackwardOp op,
                                              Localization &localization) {
  auto self = cast<AllPairsOpInterface>(op.getOperation());
  FailureOr<RingPlan> plan = planRing(self, localization);
  if (failed(plan))
    return failure();
  Ring ring(self, localization, std::move(*plan));
  RingInputs inputs(ring);
  SmallVector<AffineMap> maps{
      ring.stateMap(self.getResultMap(0), ring.depthDim),
      ring.stateMap(self.getResultMap(1), ring.depthDim),
      ring.stateMap(self.getResultMap(2), ring.featureDim)};
  for (unsigned i = 3; i < op->getNumResults(); ++i) {
    AffineMap map = self.getResultMap(i);
    if (ring.areKeysCut() && map.isFunctionOfDim(ring.keyDim))
      return op.emitOpError()
             << "asks for the gradient of what scores are made of (result " << i
             << "), with keys cut; leave its keys whole";
    maps.push_back(map);
  }
  // Blocks travel once more: those of the forward pass, kept until here, would
  // be all keys and values on every rank.
  if (ring.countSteps() > 1)
    inputs.renew({1, 2, 5});
  // Gradients of queries stay; those of keys and values are of one block.
  SmallVector<SmallVector<Value>> total(op->getNumResults());
  for (auto [i, values] : llvm::enumerate(total))
    if (i != 1 && i != 2)
      for (int64_t part = 0; part < ring.countOf(maps[i]); ++part)
        values.push_back(ring.filled(maps[i], {}, part, 0.0));
  Ring::PairPass pass{
      PairCombine::Softmax,
      /*backward=*/true,
      /*hasValue=*/true,
      /*numRows=*/3,
      inputs.maps,
      maps,
      {nullptr, &op.getScore(), &op.getWeight(), &op.getSlope()}};
  // Adds to `block`, gradients of keys `here`, and to those of queries.
  auto visit = [&](const Here &here, ArrayRef<Value> shared,
                   MutableArrayRef<Value> block) {
    for (auto [part, keyPart] : ring.partsAt(here)) {
      auto mine = [&](unsigned i) -> Value & {
        return i == 1 || i == 2 ? block[i - 1]
                                : total[i][ring.numberOf(maps[i], part)];
      };
      SmallVector<Value> state =
          llvm::map_to_vector(llvm::seq<unsigned>(total.size()),
                              [&](unsigned i) { return mine(i); });
      state = ring.pairStep(pass, here, part, keyPart,
                            inputs.of(shared, here, part), state);
      for (auto [i, value] : llvm::enumerate(state))
        mine(i) = value;
    }
  };
  if (ring.isLoop()) {
    passGradients(ring, inputs, maps, total, visit);
  } else {
    // What came back of the step before is added when this one is computed.
    SmallVector<Arrival, 2> arriving;
    auto receive = [&] {
      for (auto [i, arrival] : llvm::enumerate(arriving))
        total[i + 1][0] = ring.receive(total[i + 1][0], arrival);
      arriving.clear();
    };
    for (int64_t step = 0; step < ring.countSteps(); ++step) {
      SmallVector<Value> shared = inputs.at(step, /*hasValue=*/true);
      Value block[] = {ring.filled(maps[1], {step}, 0, 0.0),
                       ring.filled(maps[2], {step}, 0, 0.0)};
      visit({step}, shared, block);
      receive();
      if (step == 0) {
        total[1] = {block[0]};
        total[2] = {block[1]};
        continue;
      }
      for (unsigned i : {1u, 2u})
        arriving.push_back(ring.home(block[i - 1], maps[i], step));
    }
    receive();
  }

  SmallVector<Value> results;
  for (auto [i, values] : llvm::enumerate(total)) {
    SmallVector<int64_t> axes = partialAxes(ring, maps[i]);
    auto addAxes = [&](ArrayRef<int64_t> more) {
      for (int64_t axis : more)
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
    };
    // Ranks that share queries used other keys; those that share keys, other
    // queries.
    if (!maps[i].isFunctionOfDim(ring.keyDim))
      addAxes(ring.mergeAxes());
    if (!maps[i].isFunctionOfDim(ring.queryDim))
      for (int64_t axis : ring.queryAxes())
        if (!maps[i].isFunctionOfDim(ring.keyDim) ||
            !llvm::is_contained(ring.homeAxes(), axis))
          addAxes(axis);
    // Every rank that used a block has sent its share home.
    if (maps[i].isFunctionOfDim(ring.keyDim))
      llvm::erase_if(axes, [&](int64_t axis) {
        return llvm::is_contained(ring.homeAxes(), axis);
      });
    if (!axes.empty())
      for (Value &value : values)
        value = localization.allReduce(value, ReductionKind::Sum, axes,
                                       "adds up gradients of what ranks share");
    results.push_back(ring.deliver(values, maps[i], i));
  }
  return results;
}

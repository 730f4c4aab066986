//===- SiblingSums.cpp - Sums over the same elements, in one kernel -------===//
//
// A layer's gradients are sums of columns: of a cotangent, and of products with
// it. Reductions over the same dims that share an input become one op of
// several results, which reads what they share once.
//
//===----------------------------------------------------------------------===//
#include "../Effects.h"
#include "Points.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Results of one kernel, each of which has a place for every thread in shared
/// memory; and ops between two of them. [shape]
static constexpr unsigned kMostResults = 6;
static constexpr int64_t kMostBetween = 64;

/// True for reductions whose neighbours in memory are of different results: of
/// columns. Those of rows are one kernel with what is around them.
static bool isColumnSum(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 && isParallel(op) &&
         !combinersOf(op).empty() && !readsAlongReduction(op) &&
         llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
}

/// True if both read all elements of one buffer, at the same places.
static bool shareInput(linalg::GenericOp a, linalg::GenericOp b) {
  return llvm::any_of(a.getDpsInputOperands(), [&](OpOperand *mine) {
    AffineMap map = a.getMatchingIndexingMap(mine);
    return isa<MemRefType>(mine->get().getType()) &&
           map.getNumResults() == a.getNumLoops() &&
           llvm::any_of(b.getDpsInputOperands(), [&](OpOperand *theirs) {
             return theirs->get() == mine->get() &&
                    b.getMatchingIndexingMap(theirs) == map;
           });
  });
}

/// The op that does what both do, in the place of `second`.
static linalg::GenericOp join(linalg::GenericOp first,
                              linalg::GenericOp second) {
  OpBuilder b(second);
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> inputMaps, initMaps;
  // What both read is read once.
  DenseMap<std::pair<Value, AffineMap>, unsigned> known;
  linalg::GenericOp ops[] = {first, second};
  SmallVector<SmallVector<unsigned>> places(2);
  for (auto [op, of] : llvm::zip_equal(ops, places)) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      auto [found, isNew] =
          known.try_emplace({input->get(), map}, inputs.size());
      if (isNew) {
        inputs.push_back(input->get());
        inputMaps.push_back(map);
      }
      of.push_back(found->second);
    }
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(init.get());
      initMaps.push_back(op.getMatchingIndexingMap(&init));
    }
  }
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  Location loc = b.getFusedLoc({first.getLoc(), second.getLoc()});
  auto joined = linalg::GenericOp::create(
      b, loc, inputs, inits, maps, second.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        SmallVector<Value> results;
        unsigned init = inputs.size();
        for (auto [op, of] : llvm::zip_equal(ops, places)) {
          IRMapping map;
          for (auto [argument, place] :
               llvm::zip_equal(op.getRegionInputArgs(), of))
            map.map(argument, arguments[place]);
          for (BlockArgument argument : op.getRegionOutputArgs())
            map.map(argument, arguments[init++]);
          for (Operation &each : op.getBody()->without_terminator())
            inner.clone(each, map);
          for (Value result : op.getBody()->getTerminator()->getOperands())
            results.push_back(map.lookupOrDefault(result));
        }
        linalg::YieldOp::create(inner, loc, results);
      });
  first.erase();
  second.erase();
  return joined;
}

void gpukernels::joinSiblingSums(
    Block &block, llvm::function_ref<bool(Operation *)> isTaken) {
  SmallVector<linalg::GenericOp> sums;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (!isTaken(op) && isColumnSum(op))
      sums.push_back(op);
  // The first goes down to the second, over what does not touch its results.
  for (size_t i = 0; i < sums.size(); ++i) {
    linalg::GenericOp first = sums[i];
    Touched touched = touchedBy(first);
    int64_t between = 0;
    for (Operation *op = first->getNextNode(); op && between < kMostBetween;
         op = op->getNextNode()) {
      auto second = dyn_cast<linalg::GenericOp>(op);
      auto place = second ? llvm::find(sums, second) : sums.end();
      if (place != sums.end() &&
          second.getStaticLoopRanges() == first.getStaticLoopRanges() &&
          second.getIteratorTypesArray() == first.getIteratorTypesArray() &&
          first.getNumDpsInits() + second.getNumDpsInits() <= kMostResults &&
          shareInput(first, second) && !conflict(touched, touchedBy(second))) {
        *place = join(first, second);
        sums[i] = nullptr;
        break;
      }
      // What belongs to a product is done where the product is.
      if (op->hasTrait<OpTrait::IsTerminator>() || isTaken(op) ||
          conflict(touched, touchedBy(op)))
        break;
      between += !isMemoryEffectFree(op);
    }
  }
}

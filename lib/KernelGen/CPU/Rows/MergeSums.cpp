//===- MergeSums.cpp - Sums of the same elements in one pass --------------===//
//
// A norm's gradient sums the same two arrays several times, each time times
// something else. Sums whose loops are alike and that read an array in common
// become one loop with several accumulators: what is read is loaded once.
//
//===----------------------------------------------------------------------===//
#include "MergeSums.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Analysis/StructuredOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// Ops between two sums, sums that become one, and what such a one reads.
static constexpr int64_t kMostBetween = 64;
static constexpr unsigned kMostOutputs = 4, kMostInputs = 8;

/// True for a sum (or a maximum, and so on) that reads each element once.
static bool isPlainSum(linalg::GenericOp op) {
  if (!op || !canDescribe(op) || op.getNumReductionLoops() == 0 ||
      op.hasIndexSemantics() || op.getNumDpsInits() >= kMostOutputs ||
      !op.getBody()->getOps<memref::LoadOp>().empty())
    return false;
  for (unsigned i : llvm::seq<unsigned>(op.getNumDpsInits()))
    if (!combinerOf(op, i))
      return false;
  return !isContraction(op) ||
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return op.getMatchingIndexingMap(input).getNumResults() ==
                  op.getNumLoops();
         });
}

/// True if `x` and `y` have the same loops and read a whole array in common.
static bool areAlike(linalg::GenericOp x, linalg::GenericOp y) {
  if (x.getIteratorTypesArray() != y.getIteratorTypesArray() ||
      x.getStaticLoopRanges() != y.getStaticLoopRanges() ||
      x.getNumDpsInits() + y.getNumDpsInits() > kMostOutputs)
    return false;
  unsigned inputs = x.getNumDpsInputs();
  bool share = false;
  for (OpOperand *input : y.getDpsInputOperands()) {
    AffineMap map = y.getMatchingIndexingMap(input);
    bool isKnown = llvm::any_of(x.getDpsInputOperands(), [&](OpOperand *own) {
      return own->get() == input->get() && x.getMatchingIndexingMap(own) == map;
    });
    inputs += !isKnown;
    share |= isKnown && isa<MemRefType>(input->get().getType()) &&
             map.getNumResults() == x.getNumLoops();
  }
  return share && inputs <= kMostInputs;
}

/// True if `op` and `other` may change places.
static bool mayPass(linalg::GenericOp op, Operation *other) {
  if (isMemoryEffectFree(other) || isa<memref::AllocOp>(other))
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() == other;
    });
  auto generic = dyn_cast<linalg::GenericOp>(other);
  if (!generic)
    return false;
  auto mayOverlap = [&](Value written, linalg::GenericOp by) {
    return llvm::any_of(by->getOperands(),
                        [&](Value operand) {
                          return isa<MemRefType>(operand.getType()) &&
                                 mayAlias(rootOf(operand), rootOf(written));
                        }) ||
           !by.getBody()->getOps<memref::LoadOp>().empty();
  };
  return llvm::none_of(op.getDpsInits(),
                       [&](Value init) { return mayOverlap(init, generic); }) &&
         llvm::none_of(generic.getDpsInits(),
                       [&](Value init) { return mayOverlap(init, op); });
}

/// Both as one op, where `second` is.
static linalg::GenericOp merge(linalg::GenericOp first,
                               linalg::GenericOp second) {
  OpBuilder b(second);
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  auto placeOf = [&](linalg::GenericOp op, OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    for (auto [place, known] : llvm::enumerate(inputs))
      if (known == input->get() && maps[place] == map)
        return unsigned(place);
    inputs.push_back(input->get());
    maps.push_back(map);
    return unsigned(inputs.size() - 1);
  };
  for (linalg::GenericOp op : {first, second})
    for (OpOperand *input : op.getDpsInputOperands())
      (void)placeOf(op, input);
  unsigned count = inputs.size();
  for (linalg::GenericOp op : {first, second})
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(init.get());
      maps.push_back(op.getMatchingIndexingMap(&init));
    }
  auto merged = linalg::GenericOp::create(
      b, second.getLoc(), inputs, inits, maps, second.getIteratorTypesArray(),
      [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        SmallVector<Value> yielded;
        unsigned output = count;
        for (linalg::GenericOp op : {first, second}) {
          IRMapping map;
          for (OpOperand *input : op.getDpsInputOperands())
            map.map(op.getMatchingBlockArgument(input),
                    arguments[placeOf(op, input)]);
          for (BlockArgument sum : op.getRegionOutputArgs())
            map.map(sum, arguments[output++]);
          for (Operation &inner : op.getBody()->without_terminator())
            inside.clone(inner, map);
          for (Value value : op.getBody()->getTerminator()->getOperands())
            yielded.push_back(map.lookupOrDefault(value));
        }
        linalg::YieldOp::create(inside, loc, yielded);
      });
  merged->setDiscardableAttrs(second->getDiscardableAttrDictionary());
  first.erase();
  second.erase();
  return merged;
}

void cpu::mergeSums(func::FuncOp function) {
  function.walk([&](Block *block) {
    SmallVector<linalg::GenericOp> sums;
    for (Operation &op : *block)
      if (auto generic = dyn_cast<linalg::GenericOp>(op); isPlainSum(generic))
        sums.push_back(generic);
    for (linalg::GenericOp &second : sums) {
      // The nearest one before it that can come down to it.
      Operation *at = second->getPrevNode();
      for (int64_t left = kMostBetween; at && left > 0; --left) {
        Operation *before = at->getPrevNode();
        auto first = dyn_cast<linalg::GenericOp>(at);
        if (isPlainSum(first) && areAlike(first, second)) {
          bool canPass = mayPass(first, second);
          for (Operation *between = first->getNextNode();
               canPass && between != second; between = between->getNextNode())
            canPass = mayPass(first, between);
          if (canPass)
            second = merge(first, second);
          if (!canPass || second.getNumDpsInits() >= kMostOutputs)
            break;
        }
        at = before;
      }
    }
  });
}

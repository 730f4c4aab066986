//===- MergeSums.cpp - Ops on the same elements in one pass ---------------===//
//
// A norm's gradient sums the same two arrays several times, each time times
// something else. Sums whose loops are alike and that read an array in common
// become one loop with several accumulators: what is read is loaded once. So
// do elementwise ops: the three columns of a cross product, the two halves of
// what is rotated.
//
//===----------------------------------------------------------------------===//
#include "MergeSums.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/Strides.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// Ops between two that become one. [limit]
static constexpr int64_t kMostBetween = 64;
/// Sums that become one, and what such a one reads. An accumulator is several
/// registers all the time, what an elementwise op makes is stored at once.
/// [shape]
static constexpr unsigned kMostSums = 4, kMostTerms = 8;
static constexpr unsigned kMostPoints = 9, kMostRead = 12;

/// True for a sum (or a maximum, and so on) that reads each element once.
static bool isPlainSum(linalg::GenericOp op) {
  if (!op || !canDescribe(op) || op.getNumReductionLoops() == 0 ||
      op.hasIndexSemantics() || op.getNumDpsInits() >= kMostSums ||
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

/// What reductions of `function` write: the kernel of one may go on with its
/// one reader.
static llvm::DenseSet<Value> findReduced(func::FuncOp function) {
  llvm::DenseSet<Value> reduced;
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() > 0)
      reduced.insert_range(op.getDpsInits());
  });
  return reduced;
}

/// True for an elementwise op that reads nothing of what it writes.
static bool isPlainPoint(linalg::GenericOp op,
                         const llvm::DenseSet<Value> &reduced) {
  return op && canDescribe(op) && op.getNumReductionLoops() == 0 &&
         op.getNumDpsInits() < kMostPoints &&
         op.getBody()->getOps<memref::LoadOp>().empty() &&
         llvm::all_of(
             op.getRegionOutputArgs(),
             [](BlockArgument out) { return out.use_empty(); }) &&
         llvm::none_of(
             op.getDpsInputs(),
             [&](Value input) {
               return reduced.contains(input) ||
                      (isa<BaseMemRefType>(input.getType()) &&
                       reduced.contains(rootOf(input)));
             });
}

/// Loops of more than one iteration.
static int64_t countLoops(linalg::GenericOp op) {
  return llvm::count_if(op.getStaticLoopRanges(),
                        [](int64_t size) { return size != 1; });
}

/// Bytes that a pass over `input` brings along: whole lines of `line` bytes,
/// each once. As much as it may be on any rank.
static double bytesPassed(Value input, ShardSizes &sizes, double line) {
  auto type = cast<MemRefType>(input.getType());
  double bytes = elementBytes(type.getElementType()), count = 1, reach = 1;
  SmallVector<int64_t> strides = stridesAndOffset(type).first;
  for (int64_t dim : llvm::seq(type.getRank())) {
    OpFoldResult known = sizes.of(input, dim);
    double size = (known ? Quantity::of(known) : Quantity()).guess();
    count *= size;
    reach += (size - 1) * (ShapedType::isDynamic(strides[dim])
                               ? line
                               : std::abs(double(strides[dim])));
  }
  return std::min(bytes * std::max(reach, count), line * count);
}

/// True if `x` and `y` store their results in the same order of elements.
static bool storeAlike(linalg::GenericOp x, linalg::GenericOp y) {
  AffineMap map = x.getMatchingIndexingMap(x.getDpsInitOperand(0));
  auto type = cast<MemRefType>(x.getDpsInits().front().getType());
  return llvm::all_of(y.getDpsInitsMutable(), [&](OpOperand &init) {
    auto other = cast<MemRefType>(init.get().getType());
    return y.getMatchingIndexingMap(&init) == map &&
           (other == type ||
            stridesAndOffset(other).first == stridesAndOffset(type).first);
  });
}

/// True if `x` and `y` have the same loops and read a whole array in common; of
/// elementwise ops one that is no small part of what a core's own cache holds:
/// one more pass over it costs more than what else a loop has to do.
static bool areAlike(linalg::GenericOp x, linalg::GenericOp y,
                     ShardSizes *sizes) {
  bool areSums = x.getNumReductionLoops() > 0;
  unsigned mostOutputs = areSums ? kMostSums : kMostPoints,
           mostInputs = areSums ? kMostTerms : kMostRead;
  if (x.getIteratorTypesArray() != y.getIteratorTypesArray() ||
      x.getStaticLoopRanges() != y.getStaticLoopRanges() ||
      x.getNumDpsInits() + y.getNumDpsInits() > mostOutputs)
    return false;
  if (!areSums && !storeAlike(x, y))
    return false;
  auto isFarAway = [&](Value array) {
    Machine machine = machineOf(x);
    return bytesPassed(array, *sizes, machine.lineBytes) >=
           machine.cacheBytes / 8;
  };
  unsigned inputs = x.getNumDpsInputs();
  bool share = false;
  for (OpOperand *input : y.getDpsInputOperands()) {
    AffineMap map = y.getMatchingIndexingMap(input);
    bool isKnown = llvm::any_of(x.getDpsInputOperands(), [&](OpOperand *own) {
      return own->get() == input->get() && x.getMatchingIndexingMap(own) == map;
    });
    inputs += !isKnown;
    share |= isKnown && isa<MemRefType>(input->get().getType()) &&
             (areSums ? map.getNumResults() == x.getNumLoops()
                      : map.getNumResults() >= countLoops(x) &&
                            isFarAway(input->get()));
  }
  return share && inputs <= mostInputs;
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
                                 mayAlias(operand, written);
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

/// Merges those of `function` of which `isPlain` is true.
static void mergeAlike(func::FuncOp function,
                       llvm::function_ref<bool(linalg::GenericOp)> isPlain,
                       unsigned mostOutputs, ShardSizes *sizes = nullptr) {
  function.walk([&](Block *block) {
    SmallVector<linalg::GenericOp> ops;
    llvm::DenseSet<Operation *> plain;
    for (Operation &op : *block)
      if (auto generic = dyn_cast<linalg::GenericOp>(op); isPlain(generic)) {
        ops.push_back(generic);
        plain.insert(generic);
      }
    for (linalg::GenericOp &second : ops) {
      // The nearest one before it that can come down to it.
      Operation *at = second->getPrevNode();
      for (int64_t left = kMostBetween; at && left > 0; --left) {
        Operation *before = at->getPrevNode();
        auto first = dyn_cast<linalg::GenericOp>(at);
        if (plain.contains(at) && areAlike(first, second, sizes)) {
          bool canPass = mayPass(first, second);
          for (Operation *between = first->getNextNode();
               canPass && between != second; between = between->getNextNode())
            canPass = mayPass(first, between);
          if (canPass) {
            plain.erase(first);
            plain.erase(second);
            second = merge(first, second);
            if (isPlain(second))
              plain.insert(second);
          }
          if (!canPass || second.getNumDpsInits() >= mostOutputs)
            break;
        }
        at = before;
      }
    }
  });
}

void cpu::mergeSums(func::FuncOp function) {
  mergeAlike(function, isPlainSum, kMostSums);
}

void cpu::mergePoints(func::FuncOp function, ShardSizes &sizes) {
  llvm::DenseSet<Value> reduced = findReduced(function);
  mergeAlike(
      function, [&](linalg::GenericOp op) { return isPlainPoint(op, reduced); },
      kMostPoints, &sizes);
}

//===- CutPositions.cpp - A share of the positions for each part ----------===//
//
// Whatever is written is at one position of a dim, which an iteration reads
// from an index: each part has a share of these positions (owner computes),
// looks at 64 iterations at a time as bits of a word, and does those that are
// at home there. Scatters of single elements and of short rows.
//
//===----------------------------------------------------------------------===//
#include "../Nests/Nest.h"
#include "CutLoops.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Support/Strides.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu::loops;
using cpu::mayAlias;
using cpu::rootOf;

namespace {
/// Where iterations write: at one position of a dim.
struct Positions {
  scf::ForOp loop = {}; ///< the innermost one of a nest of nothing but loops
  Value at = {};
  SetVector<Operation *> slice = {}; ///< what computes `at` in an iteration
  Value root = {};                   ///< one of the buffers, and its dim
  unsigned dim = 0;
  int64_t granule = 1; ///< positions that share a line of the cache
};
} // namespace

/// The dim of `root` in which all of `accesses` to it are at `at`.
static std::optional<unsigned> dimAt(Value at, Value root,
                                     ArrayRef<Access> accesses) {
  auto rank = cast<MemRefType>(root.getType()).getRank();
  for (unsigned dim : llvm::seq<unsigned>(rank))
    if (llvm::all_of(accesses, [&](const Access &access) {
          return access.root != root ||
                 (!access.offsets.empty() &&
                  access.offsets[dim] == OpFoldResult(at) &&
                  isConstantIntValue(access.sizes[dim], 1));
        }))
      return dim;
  return std::nullopt;
}

/// True if loads of what nobody writes and arithmetic on numbers are all that
/// computes a position, from the loop's index.
static bool isComputedFirst(Positions &positions, ArrayRef<Access> accesses) {
  bool isIndexed = false;
  for (Operation *op : positions.slice) {
    auto load = dyn_cast<memref::LoadOp>(op);
    Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
    if (!type || !type.isIntOrIndex() ||
        !(load || op->hasTrait<OpTrait::ConstantLike>() ||
          (OpTrait::hasElementwiseMappableTraits(op) && isSpeculatable(op) &&
           isMemoryEffectFree(op))))
      return false;
    if (load && llvm::any_of(accesses, [&](const Access &access) {
          return access.writes && access.root == rootOf(load.getMemRef());
        }))
      return false;
    isIndexed |=
        llvm::is_contained(op->getOperands(), positions.loop.getInductionVar());
  }
  return isIndexed;
}

/// Finds out where `nest` writes, if all of it is at one position that is read
/// from memory.
static std::optional<Positions> positionsOf(scf::ForOp nest,
                                            ArrayRef<Access> accesses) {
  Positions found;
  for (scf::ForOp loop = nest; loop;) {
    if (loop->getNumResults() || !isConstantIntValue(loop.getStep(), 1))
      return std::nullopt;
    found.loop = loop;
    Block *body = loop.getBody();
    bool isPerfect = body->getOperations().size() == 2;
    loop = isPerfect ? dyn_cast<scf::ForOp>(body->front()) : scf::ForOp();
  }
  Block *body = found.loop.getBody();
  const Access *first =
      llvm::find_if(accesses, [](const Access &a) { return a.writes; });
  found.root = first->root;
  for (OpFoldResult offset : first->offsets) {
    auto at = dyn_cast<Value>(offset);
    if (!at || at.getParentBlock() != body || !at.getDefiningOp())
      continue;
    bool isShared = llvm::all_of(accesses, [&](const Access &write) {
      return !write.writes ||
             (isFixedIn(write.root, nest) && dimAt(at, write.root, accesses) &&
              llvm::none_of(accesses, [&](const Access &access) {
                return access.root != write.root &&
                       mayAlias(access.root, write.root);
              }));
    });
    if (!isShared)
      continue;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    options.filter = [&](Operation *op) { return op->getBlock() == body; };
    found.slice.clear();
    found.at = at;
    found.dim = *dimAt(at, found.root, accesses);
    int64_t stride = strideBytes(found.root, found.dim);
    if (!stride || failed(getBackwardSlice(at, &found.slice, options)) ||
        !isComputedFirst(found, accesses))
      continue;
    found.granule = std::max<int64_t>(llvm::divideCeil(64, stride), 1);
    return found;
  }
  return std::nullopt;
}

/// Iterations whose bits make a word. [shape]
constexpr int64_t kWord = 64;

/// `value` in each of a word's iterations.
static Value inEach(OpBuilder &b, Location loc, Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({kWord}, value.getType());
  return vector::BroadcastOp::create(b, loc, type, value);
}

/// What `load` reads in a word's iterations, which begin at `first`; `map` has
/// what it depends on.
static Value loadEach(OpBuilder &b, memref::LoadOp load, Value index,
                      Value first, const IRMapping &map) {
  Location loc = load.getLoc();
  SmallVector<Value> at;
  for (Value i : load.getIndices())
    at.push_back(i == index ? first : map.lookupOrDefault(i));
  auto type = VectorType::get({kWord}, load.getType());
  auto memref = load.getMemRefType();
  SmallVector<int64_t> strides;
  int64_t offset;
  // Booleans have a byte each in memory, in a vector of them a bit.
  bool hasBytes = load.getType().isIndex() ||
                  load.getType().getIntOrFloatBitWidth() % 8 == 0;
  bool isInLine =
      hasBytes && llvm::count(load.getIndices(), index) == 1 &&
      load.getIndices().back() == index &&
      llvm::none_of(at, [](Value i) { return isa<VectorType>(i.getType()); }) &&
      succeeded(getStridesAndOffset(memref, strides, offset)) &&
      strides.back() == 1;
  if (isInLine)
    return vector::LoadOp::create(b, loc, type, load.getMemRef(), at);
  SmallVector<Value> elements;
  for (int64_t lane : llvm::seq(kWord)) {
    Value number = arith::ConstantIndexOp::create(b, loc, lane);
    Value here = arith::AddIOp::create(b, loc, first, number);
    SmallVector<Value> place;
    for (auto [i, value] : llvm::zip_equal(load.getIndices(), at)) {
      if (isa<VectorType>(value.getType()))
        value = vector::ExtractOp::create(b, loc, value, lane);
      place.push_back(i == index ? here : value);
    }
    elements.push_back(memref::LoadOp::create(b, loc, load.getMemRef(), place));
  }
  return vector::FromElementsOp::create(b, loc, type, elements);
}

/// The bits of a word's iterations, from `first` on: those whose positions are
/// in the share that is `size` from `from` on.
static Value bitsOf(OpBuilder &b, Positions &positions, Value first, Value from,
                    Value size) {
  Location loc = positions.loop.getLoc();
  Value index = positions.loop.getInductionVar();
  IRMapping map;
  for (Operation *op : positions.slice) {
    bool isFixed = llvm::all_of(op->getOperands(), [&](Value operand) {
      return operand != index &&
             !isa<VectorType>(map.lookupOrDefault(operand).getType());
    });
    if (isFixed) {
      b.clone(*op, map);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      map.map(load.getResult(), loadEach(b, load, index, first, map));
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        if (operand == index && !map.contains(index)) {
          auto type = VectorType::get({kWord}, b.getIndexType());
          Value lanes = vector::StepOp::create(b, loc, type);
          map.map(index,
                  arith::AddIOp::create(b, loc, lanes, inEach(b, loc, first)));
        }
        operands.push_back(inEach(b, loc, map.lookupOrDefault(operand)));
      }
      Type type = op->getResult(0).getType();
      Operation *each =
          b.create(loc, op->getName().getIdentifier(), operands,
                   VectorType::get({kWord}, type), op->getAttrs());
      map.map(op->getResult(0), each->getResult(0));
    }
  }
  // In the narrow type that was read, where all positions have it.
  Value at = map.lookup(positions.at);
  auto widening = positions.at.getDefiningOp<arith::IndexCastOp>();
  auto narrow = widening ? dyn_cast<IntegerType>(widening.getIn().getType())
                         : IntegerType();
  int64_t extent =
      cast<MemRefType>(positions.root.getType()).getDimSize(positions.dim);
  if (narrow && narrow.getWidth() < 64 && !ShapedType::isDynamic(extent) &&
      llvm::isIntN(narrow.getWidth(), extent)) {
    at = map.lookup(widening.getIn());
    from = arith::IndexCastOp::create(b, loc, narrow, from);
    size = arith::IndexCastOp::create(b, loc, narrow, size);
  }
  Value ahead = arith::SubIOp::create(b, loc, at, inEach(b, loc, from));
  Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, ahead,
                                       inEach(b, loc, size));
  Value word = vector::BitCastOp::create(
      b, loc, VectorType::get({1}, b.getI64Type()), isHere);
  return vector::ExtractOp::create(b, loc, word, 0);
}

/// The bits of `count` iterations, fewer than a word has, one by one.
static Value bitsOneByOne(OpBuilder &b, Positions &positions, Value first,
                          Value count, Value from, Value size) {
  Location loc = positions.loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1),
        none = arith::ConstantIntOp::create(b, loc, 0, 64);
  auto loop = scf::ForOp::create(
      b, loc, zero, count, one, none,
      [&](OpBuilder &b, Location loc, Value i, ValueRange words) {
        IRMapping map;
        map.map(positions.loop.getInductionVar(),
                arith::AddIOp::create(b, loc, first, i));
        for (Operation *op : positions.slice)
          b.clone(*op, map);
        Value ahead =
            arith::SubIOp::create(b, loc, map.lookup(positions.at), from);
        Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             ahead, size);
        Value bit = arith::ExtUIOp::create(b, loc, b.getI64Type(), isHere);
        Value by = arith::IndexCastOp::create(b, loc, b.getI64Type(), i);
        bit = arith::ShLIOp::create(b, loc, bit, by);
        Value word = arith::OrIOp::create(b, loc, words.front(), bit);
        scf::YieldOp::create(b, loc, word);
      });
  return loop.getResult(0);
}

/// Puts parts around `nest`, at most `parts`, each with the iterations whose
/// positions are its own; false if that is too little.
static bool cutAt(scf::ForOp nest, Positions &positions, int64_t parts) {
  Location loc = nest.getLoc();
  int64_t extent =
      cast<MemRefType>(positions.root.getType()).getDimSize(positions.dim);
  if (!ShapedType::isDynamic(extent)) {
    int64_t lines = llvm::divideCeil(extent, positions.granule);
    parts = llvm::divideCeil(lines, llvm::divideCeil(lines, parts));
  }
  if (parts < 2 || tripsOf(positions.loop) < kWord)
    return false;
  scf::ForOp partLoop = beginParts(nest, parts);
  nest->moveBefore(partLoop.getBody()->getTerminator());
  OpBuilder b(nest);
  Value whole = getValueOrCreateConstantIndexOp(
      b, loc, memref::getMixedSize(b, loc, positions.root, positions.dim));
  auto [from, size] = shareOf(b, loc, partLoop.getInductionVar(), parts, whole,
                              positions.granule);
  scf::ForOp loop = positions.loop;
  b.setInsertionPoint(loop);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1),
        word = arith::ConstantIndexOp::create(b, loc, kWord);
  auto words = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), word);
  b.setInsertionPointToStart(words.getBody());
  Value first = words.getInductionVar();
  Value rest = arith::SubIOp::create(b, loc, loop.getUpperBound(), first);
  Value isWhole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, rest, word);
  auto branch = scf::IfOp::create(
      b, loc, isWhole,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, bitsOf(b, positions, first, from, size));
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(
            b, loc, bitsOneByOne(b, positions, first, rest, from, size));
      });
  Value bits = branch.getResult(0);
  Value count = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                           math::CtPopOp::create(b, loc, bits));
  auto mine = scf::ForOp::create(b, loc, zero, count, one, bits);
  b.setInsertionPointToStart(mine.getBody());
  Value left = mine.getRegionIterArg(0);
  Value lane = math::CountTrailingZerosOp::create(b, loc, left);
  lane = arith::IndexCastOp::create(b, loc, b.getIndexType(), lane);
  Value i = arith::AddIOp::create(b, loc, first, lane);
  Value lowest = arith::ConstantIntOp::create(b, loc, 1, 64);
  Value below = arith::SubIOp::create(b, loc, left, lowest);
  Value others = arith::AndIOp::create(b, loc, left, below);
  loop.getInductionVar().replaceAllUsesWith(i);
  Block *body = loop.getBody();
  body->getTerminator()->erase();
  mine.getBody()->getOperations().splice(mine.getBody()->end(),
                                         body->getOperations());
  b.setInsertionPointToEnd(mine.getBody());
  scf::YieldOp::create(b, loc, others);
  loop.erase();
  return true;
}

bool cpu::loops::cutPositions(scf::ForOp nest, ArrayRef<Access> accesses,
                              int64_t parts) {
  std::optional<Positions> positions = positionsOf(nest, accesses);
  return positions && cutAt(nest, *positions, parts);
}

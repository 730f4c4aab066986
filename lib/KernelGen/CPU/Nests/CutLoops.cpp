//===- CutLoops.cpp - Loops of single elements in parts, for threads ------===//
//
// Scans, scatters and solvers are loops that lowering wrote down, not nests of
// linalg. Parts of one may run at the same time where none touches what another
// one writes. Three things show that:
//
// - all iterations of a loop use its index as the position in one dim of
//   whatever is written: each part has some of the iterations, and buffers of
//   its own in place of those that are made in the loop;
// - whatever is written is written by elementwise ops that are alike along one
//   dim: each part does all iterations, for its share of that dim. Wherever the
//   rows of a scatter fall, a part has its own columns of them;
// - whatever is written is at one position of a dim, which an iteration reads
//   from an index: each part has a share of these positions (owner computes),
//   looks at 64 iterations at a time as bits of a word, and does those that are
//   at home there. Scatters of single elements and of short rows.
//
// In all of these each element is computed by one part as the whole loop does
// it, so the bits do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/ShardSizes.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/KernelAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_CUTLOOPSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

using namespace shardc;
using cpu::mayAlias;
using cpu::rootOf;

namespace {
/// One op that reads or writes memory.
struct Access {
  Operation *op = nullptr;
  OpOperand *operand = nullptr; ///< of a linalg op: what it reads or writes
  Value root = {};
  bool writes = false;
  /// For each dim of `root`, where the op is in it, and how much of it it
  /// touches; empty where that is not known.
  SmallVector<OpFoldResult> offsets = {}, sizes = {};
  llvm::SmallBitVector dropped = {}; ///< dims that the op's view does not have
};
} // namespace

/// Finds the offsets of `access`'s view in its root.
static void locate(Value memref, Access &access) {
  access.root = rootOf(memref);
  if (memref == access.root) {
    auto type = cast<MemRefType>(memref.getType());
    OpBuilder b(memref.getContext());
    for (int64_t size : type.getShape()) {
      access.offsets.push_back(b.getIndexAttr(0));
      access.sizes.push_back(ShapedType::isDynamic(size)
                                 ? OpFoldResult(memref)
                                 : b.getIndexAttr(size));
    }
    access.dropped.resize(type.getRank());
    return;
  }
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  if (!view || view.getSource() != access.root ||
      !llvm::all_of(view.getMixedStrides(), [](OpFoldResult stride) {
        return isConstantIntValue(stride, 1);
      }))
    return;
  access.offsets = view.getMixedOffsets();
  access.sizes = view.getMixedSizes();
  access.dropped = view.getDroppedDims();
}

/// The most bytes that `alloc` asks for, in whole lines of the cache.
static std::optional<int64_t> mostBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  int64_t bytes = elementBytes(type.getElementType());
  for (OpFoldResult size : alloc.getMixedSizes()) {
    std::optional<int64_t> most = getConstantIntValue(size);
    if (!most)
      most = factsOf(cast<Value>(size)).most;
    if (!most || *most < 0 || llvm::MulOverflow(bytes, *most, bytes))
      return std::nullopt;
  }
  return type.getLayout().isIdentity()
             ? std::optional<int64_t>(llvm::alignTo(bytes, 64))
             : std::nullopt;
}

/// All that `nest` reads and writes, and the buffers that it makes, of sizes
/// that have a bound; nothing if it does more than that.
static std::optional<SmallVector<Access>>
accessesIn(scf::ForOp nest, SmallVectorImpl<memref::AllocOp> &buffers) {
  SmallVector<Access> found;
  auto element = [&](Operation *op, Value memref, ValueRange at, bool writes) {
    Access access;
    access.op = op;
    access.writes = writes;
    access.root = rootOf(memref);
    if (memref == access.root) {
      llvm::append_range(access.offsets, at);
      access.sizes.assign(at.size(), OpBuilder(op).getIndexAttr(1));
      access.dropped.resize(at.size());
    }
    found.push_back(access);
  };
  auto visit = [&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      element(op, load.getMemRef(), load.getIndices(), false);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      element(op, store.getMemRef(), store.getIndices(), true);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<MemRefType>(operand.get().getType()))
          continue;
        Access access;
        access.op = op;
        access.operand = &operand;
        access.writes = generic.isDpsInit(&operand);
        locate(operand.get(), access);
        found.push_back(access);
      }
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (!mostBytes(alloc))
        return WalkResult::interrupt();
      buffers.push_back(alloc);
    } else if (!isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) &&
               !isMemoryEffectFree(op)) {
      return WalkResult::interrupt();
    }
    // A buffer under another name in each iteration is not followed.
    bool hasBuffers =
        isa<scf::ForOp, scf::IfOp>(op) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
    return hasBuffers ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (nest.walk([&](Operation *op) { return visit(op); }).wasInterrupted())
    return std::nullopt;
  return found;
}

/// True if `value` is the same number wherever in `nest` it is asked for.
static bool isFixedIn(Value value, scf::ForOp nest) {
  Operation *op = value.getDefiningOp();
  return getConstantIntValue(value) ||
         !nest->isAncestor(op ? op : value.getParentBlock()->getParentOp());
}

/// How often `loop` goes round, or is taken to.
static double tripsOf(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  int64_t to = cpu::Quantity::of(loop.getUpperBound()).guess();
  return std::max<int64_t>(to - from.value_or(0), 0);
}

/// About how many elements `block` reads or writes.
static double elementsIn(Block &block) {
  double elements = 0;
  for (Operation &op : block) {
    double times = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      times = tripsOf(loop);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (int64_t range : generic.getStaticLoopRanges())
        times *= ShapedType::isDynamic(range) ? cpu::Quantity{}.guess() : range;
      elements += times;
      continue;
    } else if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      elements += 0.5;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        elements += times * elementsIn(inner);
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Some of the iterations for each part
//===----------------------------------------------------------------------===//

/// True if no iteration of `loop`, in `nest`, touches what another one writes,
/// once each has buffers of its own.
static bool areApart(scf::ForOp loop, ArrayRef<Access> accesses) {
  for (const Access &write : accesses) {
    Operation *made = write.root.getDefiningOp();
    if (!write.writes || (made && loop->isProperAncestor(made)))
      continue;
    llvm::SmallBitVector dims(cast<MemRefType>(write.root.getType()).getRank(),
                              true);
    for (const Access &access : accesses) {
      if (access.root != write.root) {
        if (mayAlias(access.root, write.root))
          return false;
        continue;
      }
      if (access.offsets.empty())
        return false;
      for (unsigned dim : llvm::seq<unsigned>(dims.size()))
        if (!isConstantIntValue(access.sizes[dim], 1) ||
            access.offsets[dim] != OpFoldResult(loop.getInductionVar()))
          dims.reset(dim);
    }
    if (dims.none())
      return false;
  }
  return true;
}

/// The loop of `nest`, itself or one of which it has nothing else, that is best
/// cut in `parts`; null if there is none.
static scf::ForOp loopToCut(scf::ForOp nest, ArrayRef<Access> accesses,
                            int64_t parts) {
  scf::ForOp best;
  double most = 1.0 / parts; // what one part alone would make of the threads
  for (scf::ForOp loop = nest; loop && !loop->getNumResults();) {
    if (isConstantIntValue(loop.getStep(), 1) &&
        isFixedIn(loop.getLowerBound(), nest) &&
        isFixedIn(loop.getUpperBound(), nest) && areApart(loop, accesses)) {
      auto count = int64_t(tripsOf(loop));
      // The share of its time that a thread is busy.
      double busy = double(count) / (llvm::divideCeil(count, parts) * parts);
      if (count > 1 && busy > most * Cost::kMargin) {
        most = busy;
        best = loop;
      }
    }
    Block *body = loop.getBody();
    bool isPerfect = body->getOperations().size() == 2;
    loop = isPerfect ? dyn_cast<scf::ForOp>(body->front()) : scf::ForOp();
  }
  return best;
}

/// A loop over `parts` before `nest`.
static scf::ForOp beginParts(scf::ForOp nest, int64_t parts) {
  OpBuilder b(nest);
  Location loc = nest.getLoc();
  auto index = [&](int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  auto loop = scf::ForOp::create(b, loc, index(0), index(parts), index(1));
  spmd::contract::Parts::set(loop, b.getI64IntegerAttr(parts));
  return loop;
}

/// Gives each of the `parts` of `partLoop` a share of one buffer in place of
/// `alloc`.
static void makeOwn(memref::AllocOp alloc, scf::ForOp partLoop, int64_t parts) {
  Location loc = alloc.getLoc();
  OpBuilder b(partLoop);
  int64_t bytes = *mostBytes(alloc);
  auto all = memref::AllocOp::create(
      b, loc, MemRefType::get({parts * bytes}, b.getI8Type()), ValueRange(),
      b.getI64IntegerAttr(64));
  b.setInsertionPoint(alloc);
  Value share = arith::ConstantIndexOp::create(b, loc, bytes);
  Value from = arith::MulIOp::create(b, loc, partLoop.getInductionVar(), share);
  Value own = memref::ViewOp::create(b, loc, alloc.getType(), all, from,
                                     alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(own);
  alloc.erase();
}

static void cutIterations(scf::ForOp nest, scf::ForOp loop, int64_t parts,
                          ArrayRef<memref::AllocOp> buffers) {
  scf::ForOp partLoop = beginParts(nest, parts);
  Location loc = nest.getLoc();
  nest->moveBefore(partLoop.getBody()->getTerminator());
  OpBuilder b(loop);
  Value from = loop.getLowerBound(), to = loop.getUpperBound();
  Value all = arith::SubIOp::create(b, loc, to, from);
  Value count = arith::ConstantIndexOp::create(b, loc, parts);
  auto boundary = [&](Value part) -> Value {
    Value share = arith::MulIOp::create(b, loc, all, part);
    share = arith::DivSIOp::create(b, loc, share, count);
    return arith::AddIOp::create(b, loc, from, share);
  };
  Value part = partLoop.getInductionVar();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  loop.setLowerBound(boundary(part));
  loop.setUpperBound(boundary(arith::AddIOp::create(b, loc, part, one)));
  for (memref::AllocOp buffer : buffers)
    makeOwn(buffer, partLoop, parts);
}

//===----------------------------------------------------------------------===//
// A share of a dim for each part
//===----------------------------------------------------------------------===//

namespace {
/// Along which loop of each op parts have shares.
struct Shares {
  llvm::MapVector<Operation *, unsigned> loops;
  OpFoldResult extent; ///< of these loops
  int64_t granule = 1; ///< multiples of it begin in lines of the cache alone
};
} // namespace

/// The dim of its root that `access` walks along by loop `loop` of its op.
static std::optional<unsigned> dimOfRoot(const Access &access, unsigned loop) {
  auto op = cast<linalg::GenericOp>(access.op);
  AffineMap map = op.getMatchingIndexingMap(access.operand);
  unsigned result = 0;
  for (unsigned dim : llvm::seq<unsigned>(access.offsets.size())) {
    if (access.dropped[dim])
      continue;
    AffineExpr position = map.getResult(result++);
    if (position == getAffineDimExpr(loop, map.getContext()))
      return dim;
  }
  return std::nullopt;
}

/// The loop of `access`'s op that walks along dim `dim` of its root.
static std::optional<unsigned> loopOf(const Access &access, unsigned dim) {
  if (access.offsets.empty() || access.dropped[dim])
    return std::nullopt;
  auto op = cast<linalg::GenericOp>(access.op);
  unsigned result = 0;
  for (unsigned before : llvm::seq<unsigned>(dim))
    result += !access.dropped[before];
  auto position = dyn_cast<AffineDimExpr>(
      op.getMatchingIndexingMap(access.operand).getResult(result));
  if (!position)
    return std::nullopt;
  return position.getPosition();
}

/// Bytes between elements of `root` that are neighbours along `dim`.
static int64_t strideBytes(Value root, unsigned dim) {
  auto type = cast<MemRefType>(root.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(strides[dim]))
    return 0;
  return strides[dim] * elementBytes(type.getElementType());
}

/// The shares of parts if the first op of `accesses` that writes has them along
/// its loop `loop`; nothing if ops do not agree.
static std::optional<Shares> sharesAlong(ArrayRef<Access> accesses,
                                         unsigned loop) {
  Shares shares;
  const Access *first =
      llvm::find_if(accesses, [](const Access &a) { return a.writes; });
  auto follow = [&](Operation *op, unsigned loop) {
    auto [entry, isNew] = shares.loops.insert({op, loop});
    return isNew || entry->second == loop;
  };
  auto isElementwise = [](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && !generic.getNumReductionLoops() &&
           generic.getBody()->getOps<linalg::IndexOp>().empty() &&
           llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
             return map.isProjectedPermutation();
           });
  };
  if (!isElementwise(first->op))
    return std::nullopt;
  follow(first->op, loop);
  // Ops are added while others lead to them.
  for (size_t i = 0; i < shares.loops.size(); ++i) {
    auto [op, along] = *(shares.loops.begin() + i);
    for (const Access &write : accesses) {
      if (write.op != op || !write.writes)
        continue;
      std::optional<unsigned> dim =
          write.offsets.empty() ? std::nullopt : dimOfRoot(write, along);
      int64_t stride = dim ? strideBytes(write.root, *dim) : 0;
      if (!stride)
        return std::nullopt;
      shares.extent = write.sizes[*dim];
      shares.granule =
          std::max<int64_t>(shares.granule, llvm::divideCeil(64, stride));
      for (const Access &access : accesses) {
        if (access.root != write.root) {
          if (mayAlias(access.root, write.root))
            return std::nullopt;
          continue;
        }
        std::optional<unsigned> loop;
        if (access.operand && isElementwise(access.op))
          loop = loopOf(access, *dim);
        if (!loop || access.offsets[*dim] != write.offsets[*dim] ||
            access.sizes[*dim] != write.sizes[*dim] ||
            !follow(access.op, *loop))
          return std::nullopt;
      }
    }
  }
  bool isWhole = llvm::all_of(accesses, [&](const Access &access) {
    return !access.writes || shares.loops.contains(access.op);
  });
  // Sizes that are not known differ from op to op.
  if (!isWhole ||
      (!getConstantIntValue(shares.extent) && shares.loops.size() > 1))
    return std::nullopt;
  return shares;
}

/// What `op` does, for `size` of its iterations along `loop` from `from` on.
static void narrow(linalg::GenericOp op, unsigned loop, Value from,
                   OpFoldResult size) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(b, loc, operand.get());
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
        ones(sizes.size(), b.getIndexAttr(1));
    bool changes = false;
    for (auto [i, position] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (position == getAffineDimExpr(loop, b.getContext())) {
        offsets[i] = from;
        sizes[i] = size;
        changes = true;
      }
    if (changes)
      operand.set(memref::SubViewOp::create(b, loc, operand.get(), offsets,
                                            sizes, ones));
  }
}

/// Where the share of `part` of `parts` begins, of `whole` in granules, and how
/// much it is.
static std::pair<Value, Value> shareOf(OpBuilder &b, Location loc, Value part,
                                       int64_t parts, Value whole,
                                       int64_t granule) {
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  Value lines = arith::CeilDivUIOp::create(b, loc, whole, index(granule));
  Value each = arith::CeilDivUIOp::create(b, loc, lines, index(parts));
  each = arith::MulIOp::create(b, loc, each, index(granule));
  Value from = arith::MulIOp::create(b, loc, part, each);
  from = arith::MinSIOp::create(b, loc, from, whole);
  Value rest = arith::SubIOp::create(b, loc, whole, from);
  return {from, arith::MinSIOp::create(b, loc, each, rest)};
}

/// Puts parts around `nest`, at most `parts`, each with a share of what
/// `shares` says; false if that is too little.
static bool cutShares(scf::ForOp nest, const Shares &shares, int64_t parts) {
  Location loc = nest.getLoc();
  std::optional<int64_t> extent = getConstantIntValue(shares.extent);
  int64_t share = 0;
  if (extent) {
    int64_t lines = llvm::divideCeil(*extent, shares.granule);
    share = llvm::divideCeil(lines, parts) * shares.granule;
    parts = llvm::divideCeil(*extent, share);
    if (parts < 2)
      return false;
  }
  scf::ForOp partLoop = beginParts(nest, parts);
  Value part = partLoop.getInductionVar();
  // The nest, with shares of `size` or, where that is 0, of what is known then.
  auto write = [&](Operation *before, int64_t size) {
    OpBuilder b(before);
    IRMapping map;
    Operation *copy = b.clone(*nest, map);
    SmallVector<linalg::GenericOp> ops, copies;
    nest.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    copy->walk([&](linalg::GenericOp op) { copies.push_back(op); });
    for (auto [op, mine] : llvm::zip_equal(ops, copies)) {
      auto entry = shares.loops.find(op);
      if (entry == shares.loops.end())
        continue;
      b.setInsertionPoint(mine);
      auto index = [&](int64_t number) -> Value {
        return arith::ConstantIndexOp::create(b, loc, number);
      };
      if (size) {
        Value from = arith::MulIOp::create(b, loc, part, index(share));
        narrow(mine, entry->second, from, b.getIndexAttr(size));
        continue;
      }
      OpOperand *init = mine.getDpsInitOperand(0);
      AffineMap map = mine.getMatchingIndexingMap(init);
      unsigned dim = *map.getResultPosition(
          getAffineDimExpr(entry->second, b.getContext()));
      Value whole = memref::DimOp::create(b, loc, init->get(), dim);
      auto [from, count] = shareOf(b, loc, part, parts, whole, shares.granule);
      narrow(mine, entry->second, from, count);
    }
  };
  Operation *end = partLoop.getBody()->getTerminator();
  int64_t last = extent ? *extent - (parts - 1) * share : 0;
  if (last == share) {
    write(end, share);
  } else {
    OpBuilder b(end);
    Value number = arith::ConstantIndexOp::create(b, loc, parts - 1);
    Value isLast =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, number);
    auto branch = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/true);
    write(branch.thenBlock()->getTerminator(), last);
    write(branch.elseBlock()->getTerminator(), share);
  }
  nest.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// A share of the positions for each part
//===----------------------------------------------------------------------===//

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

/// Iterations whose bits make a word.
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
      succeeded(memref.getStridesAndOffset(strides, offset)) &&
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
static bool cutPositions(scf::ForOp nest, Positions &positions, int64_t parts) {
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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Cuts `nest` in parts if that gains time; false if it is as it was.
static bool cutLoop(scf::ForOp nest, int64_t parts) {
  if (nest->getNumResults())
    return false;
  Cost cost(machineOf(nest));
  // About as many bytes as an element that is read and written has.
  double seconds = cost.access(8 * tripsOf(nest) * elementsIn(*nest.getBody()));
  if (seconds < cost.getMachine().forkSeconds)
    return false;
  SmallVector<memref::AllocOp> buffers;
  std::optional<SmallVector<Access>> accesses = accessesIn(nest, buffers);
  auto writes = [](const Access &access) { return access.writes; };
  if (!accesses || llvm::none_of(*accesses, writes) ||
      llvm::any_of(*accesses, [&](const Access &access) {
        return access.writes && !isFixedIn(access.root, nest) &&
               !access.root.getDefiningOp<memref::AllocOp>();
      }))
    return false;
  if (scf::ForOp loop = loopToCut(nest, *accesses, parts)) {
    cutIterations(nest, loop, parts, buffers);
    return true;
  }
  if (!buffers.empty())
    return false;
  auto first =
      dyn_cast<linalg::GenericOp>(llvm::find_if(*accesses, writes)->op);
  // The outermost dim whose lines of the cache are enough for all parts, or
  // else the one that makes the most of them.
  std::optional<Shares> best;
  int64_t most = 1;
  for (unsigned loop : llvm::seq<unsigned>(first ? first.getNumLoops() : 0)) {
    std::optional<Shares> shares = sharesAlong(*accesses, loop);
    if (!shares)
      continue;
    int64_t extent = cpu::Quantity::of(shares->extent).guess();
    int64_t lines = llvm::divideCeil(extent, shares->granule);
    if (std::min(lines, parts) > most) {
      most = std::min(lines, parts);
      best = shares;
    }
  }
  if (best)
    return cutShares(nest, *best, parts);
  std::optional<Positions> positions = positionsOf(nest, *accesses);
  return positions && cutPositions(nest, *positions, parts);
}

/// Cuts loops of `region`, outer ones first.
static void cutLoopsIn(Region &region, int64_t parts) {
  for (Operation &op : llvm::make_early_inc_range(region.getOps())) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (isa<linalg::LinalgOp>(op) || spmd::contract::Parts::has(&op) ||
        (loop && cutLoop(loop, parts)))
      continue;
    for (Region &inner : op.getRegions())
      cutLoopsIn(inner, parts);
  }
}

namespace {
struct CutLoopsPass final : shardc::impl::CutLoopsPassBase<CutLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (threads > 1)
      cutLoopsIn(getOperation().getBody(), threads);
  }
};
} // namespace

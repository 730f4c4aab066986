//===- FindPaddedBlocks.cpp - Blocks that padded operands may be cut to ---===//
#include "PaddedBlocks.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// The value of `expr`, linear, at `at`; nothing where it is not linear or
/// falls anywhere.
static std::optional<int64_t> valueAt(AffineExpr expr, ArrayRef<int64_t> at) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return at[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> a = valueAt(binary.getLHS(), at),
                         b = valueAt(binary.getRHS(), at);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *a + *b;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !factor || factor.getValue() < 0)
    return std::nullopt;
  return *a * *b;
}

std::optional<int64_t> cpu::spanOf(AffineExpr expr, ArrayRef<int64_t> extents) {
  SmallVector<int64_t> first(extents.size(), 0), last(extents);
  for (int64_t &index : last)
    --index;
  std::optional<int64_t> from = valueAt(expr, first), to = valueAt(expr, last);
  return from && to && *from == 0 ? std::optional(*to - *from + 1)
                                  : std::nullopt;
}

int64_t cpu::stepOf(AffineExpr expr, unsigned loop, unsigned loops) {
  SmallVector<int64_t> at(loops, 0);
  at[loop] = 1;
  return valueAt(expr, at).value_or(0);
}

/// The one parallel loop that `expr` has, or nothing.
static std::optional<unsigned> parallelLoopIn(AffineExpr expr,
                                              linalg::GenericOp op) {
  std::optional<unsigned> found;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && expr.isFunctionOfDim(loop)) {
      if (found)
        return std::nullopt;
      found = loop;
    }
  return found;
}

/// True if all sizes of what `op` reads and writes (without `except`) are
/// known, but for those along one of its loops.
static bool hasKnownMemory(linalg::GenericOp op, OpOperand *except = nullptr) {
  std::optional<unsigned> open;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()) || &operand == except)
      continue;
    auto memref = dyn_cast<MemRefType>(operand.get().getType());
    if (!memref)
      return false;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (int64_t dim = 0; dim < memref.getRank(); ++dim) {
      if (!memref.isDynamicDim(dim))
        continue;
      auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
      if (!expr || open.value_or(expr.getPosition()) != expr.getPosition())
        return false;
      open = expr.getPosition();
    }
  }
  return true;
}

/// True for an op that moves elements, or does little with each, and does not
/// ask where it is.
static bool isCheapCopy(linalg::GenericOp op) {
  if (op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      !op.getRegionOutputArgs()[0].use_empty() || !hasKnownMemory(op) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return false;
  int64_t ops = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getDialect()->getNamespace() == "math" ||
        isa<linalg::IndexOp, memref::LoadOp>(inner) || ++ops > 4)
      return false;
  }
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).isProjectedPermutation();
  });
}

/// True if nothing between `op` and `end` writes what `op` reads.
static bool mayMoveTo(linalg::GenericOp op, Operation *end) {
  if (op == end)
    return true;
  auto writesInput = [&](Value output) {
    return llvm::any_of(op.getDpsInputs(), [&](Value input) {
      return isa<MemRefType>(input.getType()) && mayAlias(input, output);
    });
  };
  for (Operation *between = op->getNextNode(); between;
       between = between->getNextNode()) {
    auto other = dyn_cast<linalg::GenericOp>(between);
    if (other ? llvm::any_of(other.getDpsInits(), writesInput)
              : !isa<memref::AllocOp>(between) && !isMemoryEffectFree(between))
      return false;
    if (between == end)
      return true;
  }
  return false;
}

/// True if `op` finishes the results of a reduction, which is better.
static bool isEpilogue(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    return llvm::any_of(input.getUsers(), [&](Operation *user) {
      auto producer = dyn_cast<linalg::GenericOp>(user);
      return producer && producer != op && cpu::findEpilogue(producer) == op;
    });
  });
}

/// Finds who writes and who reads `buffer`.
static std::optional<Padded> findPadded(memref::AllocOp buffer) {
  Padded found;
  found.buffer = buffer;
  if (buffer.getType().getNumDynamicDims() > 1 ||
      !buffer.getType().getLayout().isIdentity())
    return std::nullopt;
  auto isFirst = [](auto &slot, auto op) {
    bool none = !slot;
    slot = op;
    return none;
  };
  auto isRead = [&](OpOperand &use) {
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!op || !op.isDpsInput(&use) || !isFirst(found.reader, op))
      return false;
    found.operand = &use;
    return true;
  };
  for (OpOperand &use : buffer->getUses()) {
    Operation *user = use.getOwner();
    if (auto box = dyn_cast<memref::SubViewOp>(user)) {
      if (!isFirst(found.box, box))
        return std::nullopt;
    } else if (auto view = dyn_cast<memref::ExpandShapeOp>(user)) {
      if (!isFirst(found.view, view) || !view->hasOneUse() ||
          !isRead(*view->use_begin()))
        return std::nullopt;
    } else if (auto fill = dyn_cast<linalg::GenericOp>(user);
               fill && fill.isDpsInit(&use) && filledWith(fill)) {
      if (!isFirst(found.fill, fill))
        return std::nullopt;
    } else if (auto margins = dyn_cast<spmd::RunSiteOp>(user)) {
      if (!isFirst(found.margins, margins) || margins.getAccumulates() ||
          margins.getInits().size() != 1 ||
          margins.getInits()[0] != buffer.getResult() ||
          llvm::is_contained(margins.getInputs(), buffer.getResult()))
        return std::nullopt;
    } else if (!isRead(use)) {
      return std::nullopt;
    }
  }
  if (!found.fill == !found.margins || !found.box || !found.reader ||
      !found.box->hasOneUse() || !found.box.hasUnitStride() ||
      !found.box.getDroppedDims().none())
    return std::nullopt;
  found.copy = dyn_cast<linalg::GenericOp>(*found.box->user_begin());
  if (!found.copy || found.copy.getDpsInits()[0] != found.box.getResult() ||
      !isCheapCopy(found.copy) || isEpilogue(found.copy))
    return std::nullopt;
  found.whole = buffer.getMixedSizes();
  found.in = found.box.getMixedSizes();
  found.low = found.box.getMixedOffsets();
  for (auto [size, whole] : llvm::zip_equal(found.in, found.whole))
    if (isa<Value>(size) != isa<Value>(whole))
      return std::nullopt;
  return found;
}

/// Finds what goes into the block with the reader, and whether all of it may
/// stand where the last op of it does.
static bool findBlock(Padded &found) {
  linalg::GenericOp reader = found.reader;
  Block *block = reader->getBlock();
  auto isHere = [&](Operation *op) { return op->getBlock() == block; };
  Operation *edges =
      found.fill ? found.fill.getOperation() : found.margins.getOperation();
  if (!isHere(edges) || !isHere(found.copy) || !isHere(found.buffer) ||
      !edges->isBeforeInBlock(found.copy) ||
      !found.copy->isBeforeInBlock(reader) || !reader.getNumReductionLoops() ||
      reader.getNumDpsInits() != 1 || !hasKnownMemory(reader, found.operand) ||
      !reader.getMatchingIndexingMap(reader.getDpsInitOperand(0))
           .isProjectedPermutation() ||
      !reader.getBody()->getOps<linalg::IndexOp>().empty() ||
      !reader.getBody()->getOps<memref::LoadOp>().empty())
    return false;
  for (OpOperand *input : reader.getDpsInputOperands())
    if (input != found.operand &&
        cpu::rootOf(input->get()) == found.buffer.getResult())
      return false;
  found.begin = cpu::findFill(reader, 0);
  found.epilogue = cpu::findEpilogue(reader);
  if (found.epilogue &&
      (!found.begin || !hasKnownMemory(found.epilogue) ||
       !found.epilogue.getBody()->getOps<linalg::IndexOp>().empty() ||
       !found.epilogue.getBody()->getOps<memref::LoadOp>().empty() ||
       llvm::any_of(found.epilogue.getIndexingMapsArray(), [](AffineMap map) {
         return !map.isProjectedPermutation();
       })))
    return false;
  Operation *end = found.epilogue ? found.epilogue : reader;
  return mayMoveTo(found.copy, end) && mayMoveTo(reader, end);
}

/// Bytes of memory of these sizes, on the rank that has most.
static int64_t bytesOf(Type element, ArrayRef<OpFoldResult> sizes) {
  int64_t bytes = elementBytes(element);
  for (OpFoldResult size : sizes)
    bytes *= cpu::Quantity::of(size).guess();
  return bytes;
}

/// Finds how often loops of the reader run; false where more than one number is
/// not known.
static bool findRanges(Padded &found, ShardSizes &sizes) {
  linalg::GenericOp reader = found.reader;
  OpOperand *init = reader.getDpsInitOperand(0);
  AffineMap stores = reader.getMatchingIndexingMap(init);
  int64_t open = 0;
  for (auto [loop, range] : llvm::enumerate(reader.getStaticLoopRanges())) {
    cpu::Quantity count = cpu::Quantity::of(range);
    if (ShapedType::isDynamic(range)) {
      count = {};
      for (auto [dim, expr] : llvm::enumerate(stores.getResults()))
        if (expr.isFunctionOfDim(loop))
          if (OpFoldResult size = sizes.of(init->get(), dim))
            count = cpu::Quantity::of(size);
      if (!count.value || open++)
        return false;
    }
    found.ranges.push_back(count);
  }
  return true;
}

/// True if rows that are made twice are the same: nothing that makes them reads
/// what they are written over.
static bool mayRepeat(const Padded &found) {
  linalg::GenericOp reader = found.reader, epilogue = found.epilogue,
                    copy = found.copy;
  if (!found.begin || (epilogue && !llvm::all_of(epilogue.getRegionOutputArgs(),
                                                 [](BlockArgument argument) {
                                                   return argument.use_empty();
                                                 })))
    return false;
  SmallVector<Value> inputs = copy.getDpsInputs();
  llvm::append_range(inputs, reader.getDpsInputs());
  if (epilogue)
    llvm::append_range(inputs, epilogue.getDpsInputs());
  return llvm::none_of(
      (epilogue ? epilogue : reader).getDpsInits(), [&](Value output) {
        return llvm::any_of(inputs, [&](Value input) {
          return isa<MemRefType>(input.getType()) && mayAlias(input, output);
        });
      });
}

/// Of blocks of at most `most` of `count` rows: those that take least, where to
/// move one of the `shared` rows to the next block takes a quarter of making
/// it.
static int64_t cheapestStep(int64_t count, int64_t most, int64_t shared) {
  auto cost = [&](int64_t step) {
    return int64_t(llvm::divideCeil(count, step)) * (4 * step + shared);
  };
  int64_t best = most;
  for (int64_t step = most - 1; step > most / 2; --step)
    if (cost(step) < cost(best))
      best = step;
  return best;
}

/// Chooses what a block has; false if blocks gain nothing.
static bool chooseBlock(Padded &found) {
  linalg::GenericOp reader = found.reader;
  const Machine &machine = Cost(machineOf(reader)).getMachine();
  auto budget = int64_t(machine.cacheBytes * 5 / 8);
  int64_t bytes = bytesOf(found.type().getElementType(), found.whole);
  if (bytes <= int64_t(machine.cacheBytes))
    return false;
  // What all blocks read is read again by each.
  for (OpOperand *input : reader.getDpsInputOperands())
    if (auto type = dyn_cast<MemRefType>(input->get().getType());
        type && input != found.operand && type.hasStaticShape() &&
        type.getNumElements() * int64_t(elementBytes(type.getElementType())) >
            budget / 2)
      return false;
  SmallVector<int64_t> extents = llvm::map_to_vector(
      found.ranges, [](const cpu::Quantity &range) { return range.guess(); });
  AffineMap map = reader.getMatchingIndexingMap(found.operand);
  AffineMap stores = reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  // Dims of the buffer, as the reader sees them.
  SmallVector<unsigned> dimOf(map.getNumResults());
  std::iota(dimOf.begin(), dimOf.end(), 0);
  auto shape = cast<MemRefType>(found.operand->get().getType()).getShape();
  if (found.view) {
    for (auto [dim, group] :
         llvm::enumerate(found.view.getReassociationIndices()))
      for (int64_t at : group)
        dimOf[at] = dim;
  }
  for (auto [at, expr] : llvm::enumerate(map.getResults())) {
    if (bytes <= budget)
      break;
    std::optional<unsigned> loop = parallelLoopIn(expr, reader);
    unsigned dim = dimOf[at];
    if (!loop || shape[at] != found.type().getDimSize(dim) ||
        llvm::is_contained(found.loops, *loop) ||
        !stores.isFunctionOfDim(*loop) ||
        llvm::count_if(map.getResults(), [&](AffineExpr other) {
          return other.isFunctionOfDim(*loop);
        }) != 1)
      continue;
    int64_t size = cpu::Quantity::of(found.whole[dim]).guess();
    int64_t count = extents[*loop], each = bytes / size;
    bool isPlain = isa<AffineDimExpr>(expr);
    if (isPlain && found.isPadded(dim))
      return false;
    auto use = [&](int64_t step) {
      found.loops.push_back(*loop);
      found.steps.push_back(step);
      found.dims.push_back(dim);
    };
    if (isPlain && each >= budget) {
      use(1);
      bytes = each;
      continue;
    }
    auto spanOfBlock = [&](int64_t step) {
      SmallVector<int64_t> block(extents);
      block[*loop] = step;
      return spanOf(expr, block);
    };
    // As many rows as fit; no rank that has rows has fewer.
    SmallVector<int64_t> counts = found.ranges[*loop].entries();
    int64_t most = count;
    for (int64_t rows : counts)
      if (rows > 0)
        most = std::min(most, rows);
    for (; most > 0; --most) {
      std::optional<int64_t> span = spanOfBlock(most);
      if (!span || *span > size)
        return false;
      if (*span * each <= budget)
        break;
    }
    // Moved in the cache: not more than half as much as is copied.
    auto isShort = [&](int64_t step) {
      return step == 0 || 2 * *spanOfBlock(step) >
                              3 * step * stepOf(expr, *loop, extents.size());
    };
    int64_t step = most;
    while (step > 0 &&
           llvm::any_of(counts, [&](int64_t rows) { return rows % step != 0; }))
      --step;
    if (most > 0 && (counts.empty() || (isShort(step) && mayRepeat(found))))
      step = cheapestStep(count, most, *spanOfBlock(1) - 1);
    if (isShort(step))
      return false;
    use(step);
    return true;
  }
  return bytes <= budget && !found.loops.empty();
}

/// True if what a block holds has sizes that are known.
static bool cutsUnknown(const Padded &found) {
  for (auto [loop, range] : llvm::enumerate(found.ranges))
    if (!range.fixed && !llvm::is_contained(found.loops, loop))
      return false;
  for (auto [dim, size] : llvm::enumerate(found.whole))
    if (isa<Value>(size) && !llvm::is_contained(found.dims, dim))
      return false;
  return true;
}

std::optional<Padded> cpu::findPaddedBlocks(memref::AllocOp buffer,
                                            ShardSizes &sizes) {
  std::optional<Padded> padded = findPadded(buffer);
  if (!padded || !findBlock(*padded) || !findRanges(*padded, sizes) ||
      !chooseBlock(*padded) || !cutsUnknown(*padded))
    return std::nullopt;
  return padded;
}

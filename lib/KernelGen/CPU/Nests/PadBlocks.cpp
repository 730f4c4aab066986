//===- PadBlocks.cpp - Padded operands block by block ---------------------===//
//
// A window that reaches past the edge reads a padded copy of its operand. In
// memory that copy costs more than what it is made of: it is written, and read
// again. Here a block of the result's rows has its share of the copy in the
// second-level cache, made when the block needs it; rows that windows of two
// blocks read move to the front of it.
//
// All blocks have as many rows, so that kernels know how many. Where these do
// not fill the rows exactly, or each rank has another number of rows, the last
// block begins earlier, and makes some of the rows before it once more. Where
// no table says how many rows there are, they may be fewer than a block has:
// then the last block has as many as are left.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using cpu::filledWith;
using cpu::mayAlias;

namespace shardc {
#define GEN_PASS_DEF_PADBLOCKSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

namespace {
/// A padded buffer, who writes it and the one op that reads it.
struct Padded {
  memref::AllocOp buffer;
  linalg::GenericOp fill;  ///< null: `margins` writes what is around the box
  spmd::RunSiteOp margins; ///< or null
  linalg::GenericOp copy, reader;
  memref::SubViewOp box;        ///< where `copy` writes
  memref::ExpandShapeOp view;   ///< between buffer and reader, or null
  OpOperand *operand = nullptr; ///< the reader's
  linalg::GenericOp begin;      ///< fills the reader's result, or null
  linalg::GenericOp epilogue;   ///< or null
  /// By dim of the buffer: where the box begins, its size, and the whole. One
  /// dim may have a size that differs by rank.
  SmallVector<OpFoldResult> low, in, whole;
  /// Loops of the reader that blocks cut, in the order of the buffer's dims,
  /// how many iterations of each a block has, and the buffer's dim.
  SmallVector<unsigned> loops;
  SmallVector<int64_t> steps;
  SmallVector<unsigned> dims;
  SmallVector<cpu::Quantity> ranges; ///< of all loops of the reader

  MemRefType type() { return buffer.getType(); }
  bool isPadded(unsigned dim) {
    return !isEqualConstantIntOrValue(whole[dim], in[dim]);
  }
};
} // namespace

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

/// Of `expr`, linear: how many positions iterations of these extents take, from
/// the first to the last.
static std::optional<int64_t> spanOf(AffineExpr expr,
                                     ArrayRef<int64_t> extents) {
  SmallVector<int64_t> first(extents.size(), 0), last(extents);
  for (int64_t &index : last)
    --index;
  std::optional<int64_t> from = valueAt(expr, first), to = valueAt(expr, last);
  return from && to && *from == 0 ? std::optional(*to - *from + 1)
                                  : std::nullopt;
}

/// By how much `expr` grows with loop `loop`.
static int64_t stepOf(AffineExpr expr, unsigned loop, unsigned loops) {
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

namespace {
/// Writes the loop over blocks.
class BlockEmitter {
public:
  BlockEmitter(Padded &padded, int64_t threads)
      : p(padded), b(padded.epilogue ? padded.epilogue : padded.reader),
        loc(padded.reader.getLoc()), arith(b, loc) {
    for (const cpu::Quantity &range : p.ranges)
      extents.push_back(range.guess());
    int64_t most = 1;
    for (auto [loop, step] : llvm::zip_equal(p.loops, p.steps)) {
      counts.push_back(blocksIn(p.ranges[loop], step));
      most *= llvm::divideCeil(extents[loop], step);
      blocks = arith.mul(blocks, counts.back());
      extents[loop] = step;
    }
    parts = std::min(threads, most);
  }
  void emit();

private:
  void emitBlock(Value first, Value number);
  Value keepRows(Value isNext);
  void fillSlab(Value slab, ArrayRef<OpFoldResult> from,
                ArrayRef<OpFoldResult> sizes);
  void pad(Value slab, Value kept);
  void copy(Value from, Value to);
  OpFoldResult sum(OpFoldResult x, OpFoldResult y);
  Value shareOf(linalg::GenericOp op, OpOperand *operand, ArrayRef<int> loopOf);
  Value makeSlab(ArrayRef<int64_t> shape, Type element);

  Padded &p;
  OpBuilder b;
  Location loc;
  cpu::Arith arith;
  /// How many blocks of `step` rows `rows` are.
  cpu::Quantity blocksIn(const cpu::Quantity &rows, int64_t step);
  /// Whether the last block of the last loop has the rows that are left: no
  /// table says how many these are.
  bool mayEndEarly() {
    const cpu::Quantity &rows = p.ranges[p.loops.back()];
    return !rows.fixed && rows.entries().empty() && p.steps.back() > 1;
  }
  /// How many rows of cut loop `cut` a block has.
  OpFoldResult rowsOf(size_t cut) {
    return rows && cut + 1 == p.loops.size()
               ? OpFoldResult(rows)
               : OpFoldResult(b.getIndexAttr(p.steps[cut]));
  }
  /// What the block has of dim `dim` of the padded buffer.
  OpFoldResult wholeOf(unsigned dim);
  Value cutTo(Value memory, unsigned dim, OpFoldResult size);
  /// Whether the last block of the last loop may begin earlier.
  bool mayOverlap() {
    return llvm::any_of(p.ranges[p.loops.back()].entries(), [&](int64_t rows) {
      return rows % p.steps.back() != 0;
    });
  }

  SmallVector<int64_t> extents; ///< of a block's loops
  /// Rows of the last cut dim that a block has of the one before, and from
  /// where.
  int64_t shared = 0, sharedFrom = 0;
  Value rows; ///< of the last cut loop, of a block; null: as all have
  SmallVector<cpu::Quantity> counts; ///< blocks, by cut loop
  cpu::Quantity blocks = cpu::Quantity::of(1);
  int64_t parts = 1;
  Value slab, result;              ///< of the part
  SmallVector<OpFoldResult> bases; ///< where the slab begins in the buffer
  SmallVector<Value> begins;       ///< by cut loop
};
} // namespace

cpu::Quantity BlockEmitter::blocksIn(const cpu::Quantity &rows, int64_t step) {
  if (rows.fixed)
    return cpu::Quantity::of(int64_t(llvm::divideCeil(*rows.fixed, step)));
  Value more = arith::AddIOp::create(b, loc, rows.value, arith.index(step - 1));
  return cpu::Quantity::of(
      arith::DivUIOp::create(b, loc, more, arith.index(step)).getResult());
}

OpFoldResult BlockEmitter::wholeOf(unsigned dim) {
  int64_t size = cast<MemRefType>(slab.getType()).getDimSize(dim);
  if (!rows || dim != p.dims.back())
    return b.getIndexAttr(size);
  int64_t step = sharedFrom / p.steps.back();
  return arith.get(
      arith.add(arith.mul(cpu::Quantity::of(rows), cpu::Quantity::of(step)),
                cpu::Quantity::of(size - sharedFrom)));
}

/// `memory` with `size` elements in dim `dim`.
Value BlockEmitter::cutTo(Value memory, unsigned dim, OpFoldResult size) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      ones(type.getRank(), b.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
  sizes[dim] = size;
  return memref::SubViewOp::create(b, loc, memory, offsets, sizes, ones);
}

/// Memory of `shape` for each part, no line of the cache for two.
Value BlockEmitter::makeSlab(ArrayRef<int64_t> shape, Type element) {
  SmallVector<int64_t> all(shape);
  if (parts > 1) {
    int64_t bytes = elementBytes(element);
    for (int64_t size : shape)
      bytes *= size;
    if (bytes % 64)
      all.back() = llvm::alignTo(
          all.back(), 64 / std::gcd<int64_t>(64, elementBytes(element)));
    all.insert(all.begin(), parts);
  }
  return memref::AllocOp::create(b, loc, MemRefType::get(all, element),
                                 ValueRange(), b.getI64IntegerAttr(64));
}

/// The block's share of an operand of `op`, whose loop i is cut loop loopOf[i]
/// (-1: not cut).
Value BlockEmitter::shareOf(linalg::GenericOp op, OpOperand *operand,
                            ArrayRef<int> loopOf) {
  auto type = dyn_cast<MemRefType>(operand->get().getType());
  if (!type)
    return operand->get();
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
      ones(type.getRank(), b.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  bool isCut = false;
  for (auto [at, expr] :
       llvm::enumerate(op.getMatchingIndexingMap(operand).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    int cut = dim ? loopOf[dim.getPosition()] : -1;
    if (cut < 0)
      continue;
    offsets[at] = begins[cut];
    sizes[at] = rowsOf(cut);
    isCut = true;
  }
  return isCut ? memref::SubViewOp::create(b, loc, operand->get(), offsets,
                                           sizes, ones)
                     .getResult()
               : operand->get();
}

void BlockEmitter::copy(Value from, Value to) {
  unsigned rank = cast<MemRefType>(to.getType()).getRank();
  AffineMap same = b.getMultiDimIdentityMap(rank);
  linalg::GenericOp::create(
      b, loc, ValueRange{from}, ValueRange{to}, ArrayRef{same, same},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inside, at, arguments[0]);
      });
}

OpFoldResult BlockEmitter::sum(OpFoldResult x, OpFoldResult y) {
  return arith.get(arith.add(cpu::Quantity::of(x), cpu::Quantity::of(y)));
}

void BlockEmitter::fillSlab(Value slab, ArrayRef<OpFoldResult> from,
                            ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> ones(from.size(), b.getIndexAttr(1));
  Value view = memref::SubViewOp::create(b, loc, slab, from, sizes, ones);
  unsigned rank = from.size();
  if (!p.fill) {
    SmallVector<OpFoldResult> there;
    for (auto [base, offset] : llvm::zip_equal(bases, from))
      there.push_back(sum(base, offset));
    return copy(memref::SubViewOp::create(b, loc, p.buffer, there, sizes, ones),
                view);
  }
  Value value = filledWith(p.fill);
  linalg::GenericOp::create(
      b, loc, ValueRange(), ValueRange{view}, b.getMultiDimIdentityMap(rank),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location at, ValueRange) {
        linalg::YieldOp::create(inside, at, value);
      });
}

/// Moves the rows that the block before has left to where this one has them;
/// returns how many rows are there.
Value BlockEmitter::keepRows(Value isNext) {
  auto branch = scf::IfOp::create(b, loc, isNext, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  auto type = cast<MemRefType>(slab.getType());
  unsigned rank = type.getRank(), dim = p.dims.back();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
      ones(rank, b.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  sizes[dim] = b.getIndexAttr(shared);
  Value to = memref::SubViewOp::create(b, loc, slab, offsets, sizes, ones);
  offsets[dim] = b.getIndexAttr(sharedFrom);
  Value from = memref::SubViewOp::create(b, loc, slab, offsets, sizes, ones);
  copy(from, to);
  b.setInsertionPointAfter(branch);
  return arith::SelectOp::create(b, loc, isNext, arith.index(shared),
                                 arith.index(0));
}

/// Makes the block's share of the padded buffer, but for the first `kept` rows:
/// its edges, and the copy.
void BlockEmitter::pad(Value slab, Value kept) {
  auto type = cast<MemRefType>(slab.getType());
  unsigned rank = type.getRank();
  linalg::GenericOp reader = p.reader;
  AffineMap map = reader.getMatchingIndexingMap(p.operand);
  // In the slab: where the copy begins, and how much of it there is; in what is
  // copied, from where.
  SmallVector<OpFoldResult> to, sizes, from, begin(rank, b.getIndexAttr(0));
  bases.clear();
  for (unsigned dim : llvm::seq(rank)) {
    auto cut = llvm::find(p.dims, dim);
    bases.push_back(b.getIndexAttr(0));
    OpFoldResult low = p.low[dim], in = p.in[dim], whole = wholeOf(dim);
    if (cut == p.dims.end()) {
      to.push_back(low);
      sizes.push_back(in);
      from.push_back(b.getIndexAttr(0));
      continue;
    }
    size_t at = cut - p.dims.begin();
    int64_t step = 0;
    for (AffineExpr expr : map.getResults())
      step += stepOf(expr, p.loops[at], extents.size());
    Value first = arith.get(
        arith.mul(cpu::Quantity::of(begins[at]), cpu::Quantity::of(step)));
    bases.back() = first;
    if (!p.isPadded(dim)) {
      to.push_back(b.getIndexAttr(0));
      sizes.push_back(whole);
      from.push_back(first);
      continue;
    }
    // Of what is copied, rows first - low and on, as far as there are such.
    Value zero = arith.index(0);
    first =
        arith::SubIOp::create(b, loc, first, arith.get(cpu::Quantity::of(low)));
    Value end = arith::AddIOp::create(b, loc, first,
                                      arith.get(cpu::Quantity::of(whole)));
    Value a = first;
    if (kept && dim == p.dims.back()) {
      a = arith::AddIOp::create(b, loc, first, kept);
      begin[dim] = kept;
    }
    a = arith::MaxSIOp::create(b, loc, a, zero);
    Value e =
        arith::MinSIOp::create(b, loc, end, arith.get(cpu::Quantity::of(in)));
    to.push_back(arith::SubIOp::create(b, loc, a, first).getResult());
    Value count = arith::SubIOp::create(b, loc, e, a);
    sizes.push_back(arith::MaxSIOp::create(b, loc, count, zero).getResult());
    from.push_back(a);
  }
  // Edges, dim by dim, each as wide as the edges before it leave.
  auto difference = [&](OpFoldResult x, OpFoldResult y) -> OpFoldResult {
    return arith.get(arith.sub(cpu::Quantity::of(x), cpu::Quantity::of(y)));
  };
  SmallVector<OpFoldResult> corner(begin), extent;
  for (auto [dim, from] : llvm::enumerate(begin))
    extent.push_back(difference(wholeOf(dim), from));
  for (unsigned dim : llvm::seq(rank)) {
    if (p.isPadded(dim)) {
      OpFoldResult end = sum(to[dim], sizes[dim]);
      OpFoldResult behind = difference(wholeOf(dim), end);
      extent[dim] = difference(to[dim], begin[dim]);
      if (!isConstantIntValue(extent[dim], 0))
        fillSlab(slab, corner, extent);
      corner[dim] = end;
      extent[dim] = behind;
      if (!isConstantIntValue(extent[dim], 0))
        fillSlab(slab, corner, extent);
    }
    corner[dim] = to[dim];
    extent[dim] = sizes[dim];
  }
  // The copy, whose loops are the buffer's dims.
  linalg::GenericOp source = p.copy;
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  SmallVector<Value> operands;
  for (OpOperand *input : source.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType())) {
      operands.push_back(input->get());
      continue;
    }
    SmallVector<OpFoldResult> begin, count;
    for (AffineExpr expr : source.getMatchingIndexingMap(input).getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      begin.push_back(from[dim]);
      count.push_back(sizes[dim]);
    }
    SmallVector<OpFoldResult> strides(begin.size(), b.getIndexAttr(1));
    operands.push_back(
        memref::SubViewOp::create(b, loc, input->get(), begin, count, strides));
  }
  operands.push_back(memref::SubViewOp::create(b, loc, slab, to, sizes, ones));
  Operation *clone = b.clone(*source);
  clone->setOperands(operands);
}

void BlockEmitter::emitBlock(Value first, Value number) {
  linalg::GenericOp reader = p.reader;
  begins.assign(p.loops.size(), Value());
  Value rest = number, last;
  for (size_t k = p.loops.size(); k-- > 0;) {
    Value at = rest;
    if (k > 0) {
      Value count = arith.get(counts[k]);
      at = arith::RemUIOp::create(b, loc, rest, count);
      rest = arith::DivUIOp::create(b, loc, rest, count);
    }
    last = last ? last : at;
    begins[k] = arith.get(
        arith.mul(cpu::Quantity::of(at), cpu::Quantity::of(p.steps[k])));
  }
  Value isApart; // as far behind the block before as others are
  if (mayOverlap()) {
    Value end = arith.get(
        arith.sub(p.ranges[p.loops.back()], cpu::Quantity::of(p.steps.back())));
    isApart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                    begins.back(), end);
    begins.back() = arith::MinSIOp::create(b, loc, begins.back(), end);
  }
  rows = {};
  if (mayEndEarly())
    rows = arith::MinSIOp::create(
        b, loc, arith.index(p.steps.back()),
        arith.get(arith.sub(p.ranges[p.loops.back()],
                            cpu::Quantity::of(begins.back()))));
  Value kept;
  if (shared) {
    auto isAfter = [&](Value x, Value y) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, y);
    };
    Value isNext = arith::AndIOp::create(b, loc, isAfter(number, first),
                                         isAfter(last, arith.index(0)));
    if (isApart)
      isNext = arith::AndIOp::create(b, loc, isNext, isApart);
    kept = keepRows(isNext);
  }
  pad(slab, kept);
  SmallVector<int> loopOf(reader.getNumLoops(), -1);
  for (auto [k, loop] : llvm::enumerate(p.loops))
    loopOf[loop] = k;
  Value read = rows ? cutTo(slab, p.dims.back(), wholeOf(p.dims.back())) : slab;
  if (p.view) {
    auto type = cast<MemRefType>(p.view.getType());
    SmallVector<OpFoldResult> shape =
        getAsIndexOpFoldResult(b.getContext(), type.getShape());
    auto groups = p.view.getReassociationIndices();
    for (auto [dim, group] : llvm::enumerate(groups))
      for (int64_t at : group)
        if (type.getDimSize(at) == p.type().getDimSize(dim))
          shape[at] = wholeOf(dim);
    read = memref::ExpandShapeOp::create(
        b, loc, decomposeMixedValues(shape).first, read, groups, shape);
  }
  OpOperand *init = reader.getDpsInitOperand(0);
  Value output = p.epilogue ? result : shareOf(reader, init, loopOf);
  if (p.epilogue && rows)
    for (auto [dim, expr] :
         llvm::enumerate(reader.getMatchingIndexingMap(init).getResults()))
      if (expr.isFunctionOfDim(p.loops.back()))
        output = cutTo(result, dim, rows);
  if (p.begin) {
    Operation *begin = b.clone(*p.begin);
    begin->setOperand(begin->getNumOperands() - 1, output);
  }
  SmallVector<Value> operands;
  for (OpOperand *input : reader.getDpsInputOperands())
    operands.push_back(input == p.operand ? read
                                          : shareOf(reader, input, loopOf));
  operands.push_back(output);
  b.clone(*reader)->setOperands(operands);
  if (!p.epilogue)
    return;
  // Loops of the epilogue by the reader's.
  AffineMap stored = reader.getMatchingIndexingMap(init), read2;
  for (OpOperand *input : p.epilogue.getDpsInputOperands())
    if (input->get() == init->get())
      read2 = p.epilogue.getMatchingIndexingMap(input);
  SmallVector<int> epilogueLoop(p.epilogue.getNumLoops(), -1);
  for (auto [at, expr] : llvm::enumerate(stored.getResults()))
    epilogueLoop[read2.getDimPosition(at)] =
        loopOf[cast<AffineDimExpr>(expr).getPosition()];
  SmallVector<Value> views;
  for (OpOperand &operand : p.epilogue->getOpOperands())
    views.push_back(operand.get() == init->get()
                        ? output
                        : shareOf(p.epilogue, &operand, epilogueLoop));
  b.clone(*p.epilogue)->setOperands(views);
}

void BlockEmitter::emit() {
  linalg::GenericOp reader = p.reader;
  SmallVector<int64_t> shape(p.type().getShape()), resultShape;
  AffineMap map = reader.getMatchingIndexingMap(p.operand);
  for (auto [loop, dim] : llvm::zip_equal(p.loops, p.dims))
    for (AffineExpr expr : map.getResults())
      if (expr.isFunctionOfDim(loop)) {
        shape[dim] = *spanOf(expr, extents);
        sharedFrom = extents[loop] * stepOf(expr, loop, extents.size());
        shared = std::max<int64_t>(shape[dim] - sharedFrom, 0);
      }
  OpOperand *init = reader.getDpsInitOperand(0);
  AffineMap stores = reader.getMatchingIndexingMap(init);
  for (AffineExpr expr : stores.getResults())
    resultShape.push_back(extents[cast<AffineDimExpr>(expr).getPosition()]);
  Value slabs = makeSlab(shape, p.type().getElementType()), results;
  if (p.epilogue)
    results = makeSlab(
        resultShape, cast<MemRefType>(init->get().getType()).getElementType());
  auto loop = [&](Value from, Value to, llvm::function_ref<void(Value)> body) {
    auto op = scf::ForOp::create(b, loc, from, to, arith.index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    body(op.getInductionVar());
    return op;
  };
  // A last block is of the part that has the block before: both make some of
  // the same rows.
  auto withLast = [&](Value number) -> Value {
    const cpu::Quantity &count = counts.back();
    if (!mayOverlap() || count.is(1))
      return number;
    auto isEqual = [&](Value x, Value y) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
    };
    Value one = arith.index(1),
          several =
              arith::MaxUIOp::create(b, loc, arith.get(count), arith.index(2)),
          next = arith::AddIOp::create(b, loc, number, one);
    Value rest = arith::RemUIOp::create(b, loc, next, several);
    Value isLast = isEqual(rest, arith.index(0));
    Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           number, arith.get(blocks));
    isLast = arith::AndIOp::create(b, loc, isLast, isInside);
    isLast = arith::AndIOp::create(b, loc, isLast,
                                   isEqual(several, arith.get(count)));
    return arith::SelectOp::create(b, loc, isLast, next, number);
  };
  auto ofPart = [&](Value part) {
    slab = part ? cpu::elementOf(b, loc, slabs, part, shape) : slabs;
    if (results)
      result =
          part ? cpu::elementOf(b, loc, results, part, resultShape) : results;
    Value from = arith.index(0), to = arith.get(blocks);
    if (part) {
      auto boundary = [&](Value number) -> Value {
        Value product =
            arith::MulIOp::create(b, loc, number, arith.get(blocks));
        return withLast(
            arith::DivUIOp::create(b, loc, product, arith.index(parts)));
      };
      from = boundary(part);
      to = boundary(arith::AddIOp::create(b, loc, part, arith.index(1)));
    }
    loop(from, to, [&](Value number) { emitBlock(from, number); });
  };
  if (parts == 1) {
    ofPart({});
  } else {
    scf::ForOp op = loop(arith.index(0), arith.index(parts), ofPart);
    spmd::contract::Parts::set(op, b.getI64IntegerAttr(parts));
  }
  if (p.epilogue)
    p.epilogue.erase();
  reader.erase();
  if (p.begin)
    p.begin.erase();
  p.copy.erase();
  if (p.fill)
    p.fill.erase();
  p.box.erase();
  if (p.view)
    p.view.erase();
}

static bool isInParts(Operation *op) {
  while ((op = op->getParentOp()))
    if (spmd::contract::Parts::has(op))
      return true;
  return false;
}

namespace {
struct PadBlocksPass final : shardc::impl::PadBlocksPassBase<PadBlocksPass> {
  using Base::Base;
  void runOnOperation() override {
    ShardSizes sizes(getOperation());
    SmallVector<memref::AllocOp> buffers;
    getOperation().walk(
        [&](memref::AllocOp buffer) { buffers.push_back(buffer); });
    for (memref::AllocOp buffer : buffers) {
      std::optional<Padded> padded = findPadded(buffer);
      if (!padded || !findBlock(*padded) || !findRanges(*padded, sizes) ||
          !chooseBlock(*padded) || !cutsUnknown(*padded))
        continue;
      // A buffer that is made in a part is there once for all of them.
      if (!isInParts(padded->reader))
        BlockEmitter(*padded, threads).emit();
    }
    for (memref::AllocOp buffer : buffers)
      if (buffer.use_empty())
        buffer.erase();
  }
};
} // namespace

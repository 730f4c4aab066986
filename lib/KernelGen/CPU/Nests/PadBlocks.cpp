//===- PadBlocks.cpp - Padded operands block by block ---------------------===//
//
// A window that reaches past the edge reads a padded copy of its operand. In
// memory that copy costs more than what it is made of: it is written, and read
// again. Here a block of the result's rows has its share of the copy in the
// second-level cache, made when the block needs it; rows that windows of two
// blocks read move to the front of it.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdSites.h"
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
  SmallVector<int64_t> low, in; ///< by dim of the buffer: the box
  /// Loops of the reader that blocks cut, in the order of the buffer's dims,
  /// how many iterations of each a block has, and the buffer's dim.
  SmallVector<unsigned> loops;
  SmallVector<int64_t> steps;
  SmallVector<unsigned> dims;

  MemRefType type() { return buffer.getType(); }
  int64_t blocks() {
    int64_t count = 1;
    for (auto [loop, step] : llvm::zip_equal(loops, steps))
      count *= reader.getStaticLoopRanges()[loop] / step;
    return count;
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

static bool hasStaticMemory(linalg::GenericOp op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref ? memref.hasStaticShape() : !isa<ShapedType>(type);
  });
}

/// True for an op that moves elements, or does little with each, and does not
/// ask where it is.
static bool isCheapCopy(linalg::GenericOp op) {
  if (op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      !op.getRegionOutputArgs()[0].use_empty() || !hasStaticMemory(op) ||
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
  if (!buffer.getType().hasStaticShape() ||
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
  for (auto [from, size] : llvm::zip_equal(found.box.getStaticOffsets(),
                                           found.box.getStaticSizes())) {
    if (ShapedType::isDynamic(from) || ShapedType::isDynamic(size))
      return std::nullopt;
    found.low.push_back(from);
    found.in.push_back(size);
  }
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
      reader.getNumDpsInits() != 1 || !hasStaticMemory(reader) ||
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
      (!found.begin || !hasStaticMemory(found.epilogue) ||
       !found.epilogue.getBody()->getOps<linalg::IndexOp>().empty() ||
       !found.epilogue.getBody()->getOps<memref::LoadOp>().empty() ||
       llvm::any_of(found.epilogue.getIndexingMapsArray(), [](AffineMap map) {
         return !map.isProjectedPermutation();
       })))
    return false;
  Operation *end = found.epilogue ? found.epilogue : reader;
  return mayMoveTo(found.copy, end) && mayMoveTo(reader, end);
}

static int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

/// Chooses what a block has; false if blocks gain nothing.
static bool chooseBlock(Padded &found) {
  linalg::GenericOp reader = found.reader;
  const Machine &machine = Cost(machineOf(reader)).getMachine();
  auto budget = int64_t(machine.cacheBytes * 5 / 8);
  int64_t bytes = bytesOf(found.type());
  if (bytes <= int64_t(machine.cacheBytes))
    return false;
  // What all blocks read is read again by each.
  for (OpOperand *input : reader.getDpsInputOperands())
    if (auto type = dyn_cast<MemRefType>(input->get().getType());
        type && input != found.operand && bytesOf(type) > budget / 2)
      return false;
  SmallVector<int64_t> extents = reader.getStaticLoopRanges();
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
    int64_t count = extents[*loop], each = bytes / shape[at];
    bool isPlain = isa<AffineDimExpr>(expr);
    if (isPlain && found.in[dim] != shape[at])
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
    for (int64_t step = count; step > 0; --step) {
      SmallVector<int64_t> block(extents);
      block[*loop] = step;
      std::optional<int64_t> span = spanOf(expr, block);
      if (!span || *span > shape[at])
        return false;
      if (count % step || *span * each > budget)
        continue;
      // Moved in the cache: not more than half as much as is copied.
      if (2 * *span > 3 * step * stepOf(expr, *loop, extents.size()))
        return false;
      use(step);
      return true;
    }
    return false;
  }
  return bytes <= budget && !found.loops.empty();
}

namespace {
/// Writes the loop over blocks.
class BlockEmitter {
public:
  BlockEmitter(Padded &padded, int64_t threads)
      : p(padded), b(padded.epilogue ? padded.epilogue : padded.reader),
        loc(padded.reader.getLoc()), arith(b, loc),
        extents(padded.reader.getStaticLoopRanges()) {
    blocks = p.blocks();
    parts = std::min(threads, blocks);
    for (auto [loop, step] : llvm::zip_equal(p.loops, p.steps))
      extents[loop] = step;
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
  SmallVector<int64_t> extents; ///< of a block's loops
  /// Rows of the last cut dim that a block has of the one before, and from
  /// where.
  int64_t shared = 0, sharedFrom = 0;
  int64_t blocks = 1, parts = 1;
  Value slab, result;              ///< of the part
  SmallVector<OpFoldResult> bases; ///< where the slab begins in the buffer
  SmallVector<Value> begins;       ///< by cut loop
};
} // namespace

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
    sizes[at] = b.getIndexAttr(p.steps[cut]);
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
    int64_t low = p.low[dim], in = p.in[dim], whole = type.getDimSize(dim);
    if (cut == p.dims.end()) {
      to.push_back(b.getIndexAttr(low));
      sizes.push_back(b.getIndexAttr(in));
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
    if (p.type().getDimSize(dim) == in) {
      to.push_back(b.getIndexAttr(0));
      sizes.push_back(b.getIndexAttr(whole));
      from.push_back(first);
      continue;
    }
    // Of what is copied, rows first - low and on, as far as there are such.
    Value zero = arith.index(0);
    first = arith::SubIOp::create(b, loc, first, arith.index(low));
    Value end = arith::AddIOp::create(b, loc, first, arith.index(whole));
    Value a = first;
    if (kept && dim == p.dims.back()) {
      a = arith::AddIOp::create(b, loc, first, kept);
      begin[dim] = kept;
    }
    a = arith::MaxSIOp::create(b, loc, a, zero);
    Value e = arith::MinSIOp::create(b, loc, end, arith.index(in));
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
  for (auto [size, from] : llvm::zip_equal(type.getShape(), begin))
    extent.push_back(difference(b.getIndexAttr(size), from));
  for (unsigned dim : llvm::seq(rank)) {
    bool isPadded = p.type().getDimSize(dim) != p.in[dim];
    if (isPadded) {
      OpFoldResult end = sum(to[dim], sizes[dim]);
      OpFoldResult behind =
          difference(b.getIndexAttr(type.getDimSize(dim)), end);
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
  SmallVector<int64_t> ranges = reader.getStaticLoopRanges();
  begins.assign(p.loops.size(), Value());
  Value rest = number, last;
  for (size_t k = p.loops.size(); k-- > 0;) {
    Value at = rest;
    if (k > 0) {
      Value count = arith.index(ranges[p.loops[k]] / p.steps[k]);
      at = arith::RemUIOp::create(b, loc, rest, count);
      rest = arith::DivUIOp::create(b, loc, rest, count);
    }
    last = last ? last : at;
    begins[k] = arith.get(
        arith.mul(cpu::Quantity::of(at), cpu::Quantity::of(p.steps[k])));
  }
  Value kept;
  if (shared) {
    auto isAfter = [&](Value x, Value y) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, y);
    };
    kept = keepRows(arith::AndIOp::create(b, loc, isAfter(number, first),
                                          isAfter(last, arith.index(0))));
  }
  pad(slab, kept);
  SmallVector<int> loopOf(reader.getNumLoops(), -1);
  for (auto [k, loop] : llvm::enumerate(p.loops))
    loopOf[loop] = k;
  Value read = slab;
  if (p.view) {
    auto type = cast<MemRefType>(p.view.getType());
    SmallVector<int64_t> shape(type.getShape());
    auto groups = p.view.getReassociationIndices();
    for (auto [dim, group] : llvm::enumerate(groups))
      for (int64_t at : group)
        if (shape[at] == p.type().getDimSize(dim))
          shape[at] = cast<MemRefType>(slab.getType()).getDimSize(dim);
    read = memref::ExpandShapeOp::create(b, loc, shape, slab, groups);
  }
  OpOperand *init = reader.getDpsInitOperand(0);
  Value output = p.epilogue ? result : shareOf(reader, init, loopOf);
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
                        ? result
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
  auto ofPart = [&](Value part) {
    slab = part ? cpu::elementOf(b, loc, slabs, part, shape) : slabs;
    if (results)
      result =
          part ? cpu::elementOf(b, loc, results, part, resultShape) : results;
    Value from = arith.index(0), to = arith.index(blocks);
    if (part) {
      auto boundary = [&](Value number) -> Value {
        Value product =
            arith::MulIOp::create(b, loc, number, arith.index(blocks));
        return arith::DivUIOp::create(b, loc, product, arith.index(parts));
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
    SmallVector<memref::AllocOp> buffers;
    getOperation().walk(
        [&](memref::AllocOp buffer) { buffers.push_back(buffer); });
    for (memref::AllocOp buffer : buffers) {
      std::optional<Padded> padded = findPadded(buffer);
      if (!padded || !findBlock(*padded) || !chooseBlock(*padded))
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

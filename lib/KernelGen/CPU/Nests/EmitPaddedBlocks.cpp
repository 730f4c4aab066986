//===- EmitPaddedBlocks.cpp - A padded operand, block by block ------------===//
#include "PaddedBlocks.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

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

void cpu::emitPaddedBlocks(Padded &padded, int64_t threads) {
  BlockEmitter(padded, threads).emit();
}

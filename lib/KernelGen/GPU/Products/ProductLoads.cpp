//===- ProductLoads.cpp - From device to shared memory --------------------===//
//
// Threads copy a tile piece by piece: neighbours that are side by side in
// memory, or an element that is computed on the way.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

Value ProductKernel::computed(const Factor &factor) {
  IRMapping map;
  SmallVector<OpOperand *> operands = *operandsOf(op, factor.value);
  for (OpOperand *operand : operands) {
    Value value = operand->get();
    if (isa<MemRefType>(value.getType()))
      value =
          memref::LoadOp::create(b, loc, value, emitter.subscripts(*operand));
    map.map(op.getMatchingBlockArgument(operand), value);
  }
  llvm::SmallPtrSet<Operation *, 8> needed;
  SmallVector<Value> pending{factor.value};
  while (!pending.empty())
    if (Operation *inner = pending.pop_back_val().getDefiningOp();
        inner && inner->getBlock() == op.getBody() &&
        needed.insert(inner).second)
      llvm::append_range(pending, inner->getOperands());
  for (Operation &inner : *op.getBody())
    if (needed.contains(&inner))
      b.clone(inner, map);
  return map.lookupOrDefault(factor.value);
}

Value ProductKernel::addressOf(PointEmitter &emitter, OpOperand &operand) {
  return gpukernels::addressOf(b, loc, operand.get(),
                               emitter.subscripts(operand));
}

std::pair<int64_t, bool> ProductKernel::pieceOf(const Factor &factor) const {
  int64_t length = factor.run;
  // Neighbours that are not side by side come one by one.
  if (isAlongLines(factor) != factor.alongLines)
    length = 1;
  bool async = factor.isPlain() && length * elementBytes() >= 4;
  return {async ? length : 1, async};
}

std::pair<Value, Value> ProductKernel::placeOf(const Factor &factor,
                                               Value piece) {
  int64_t length = pieceOf(factor).first;
  int64_t across = factor.alongLines ? linesOf(factor) : tiling.depth;
  Value fast = mul(rem(piece, across / length), length);
  Value slow = div(piece, across / length);
  if (factor.alongLines)
    std::swap(fast, slow);
  return {slow, fast};
}

void ProductKernel::loadPiece(const Factor &factor, Value line, Value from,
                              Value tile, Value piece) {
  auto [length, async] = pieceOf(factor);
  auto [ownLine, ownDepth] = placeOf(factor, piece);
  Value atLine = add(line, ownLine), atDepth = add(from, ownDepth);
  Value numLines = &factor == &product.left ? rows : columns;
  Value inside = arith::AndIOp::create(b, loc, less(atLine, numLines),
                                       less(atDepth, last));
  // What is past an edge reads nothing (the first element), and is zero.
  Value none = index(0);
  atLine = arith::SelectOp::create(b, loc, inside, atLine, none);
  atDepth = arith::SelectOp::create(b, loc, inside, atDepth, none);
  dims.place(b, loc, emitter, factor.lines, atLine);
  dims.place(b, loc, emitter, product.depth, atDepth);
  Value to = at(tile, offsetIn(factor, ownLine, ownDepth));
  if (!async) {
    Value read = computed(factor);
    // LLVM knows no floats of 8 bits.
    if (elementBytes() == 1)
      read = arith::BitcastOp::create(b, loc, b.getI8Type(), read);
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(read.getType()));
    read = arith::SelectOp::create(b, loc, inside, read, zero);
    LLVM::StoreOp::create(b, loc, read, to, elementBytes());
    return;
  }
  int64_t bytes = length * elementBytes();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  Value read =
      arith::SelectOp::create(b, loc, inside, number(bytes), number(0));
  // Pieces of 16 bytes pass by the first cache, which nobody would read again.
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                           : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, loc, to, addressOf(emitter, *factor.operand),
                          static_cast<uint32_t>(bytes), cache, read);
}

/// Bytes from an element of `operand` to its neighbour along `dim` of `op`;
/// nothing where no constant says it.
static std::optional<int64_t> bytesAlong(linalg::GenericOp op,
                                         OpOperand &operand, unsigned dim) {
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset, apart = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides)) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (!isa<AffineDimExpr>(expr) || ShapedType::isDynamic(stride))
      return std::nullopt;
    apart += stride;
  }
  return apart * type.getElementTypeBitWidth() / 8;
}

bool ProductKernel::loadRows(const Factor &factor, Value line, Value from,
                             Value tile) {
  auto [length, async] = pieceOf(factor);
  ArrayRef<unsigned> dimsOfRows =
      factor.alongLines ? ArrayRef(product.depth) : ArrayRef(factor.lines);
  int64_t ofRow = (factor.alongLines ? linesOf(factor) : tiling.depth) / length;
  // Past the depth's end what is read would have to be chosen piece by piece.
  if (layout != TileLayout::Swizzled || !async || !product.isStatic ||
      product.depths % tiling.depth != 0 || dimsOfRows.size() != 1 ||
      producers % ofRow != 0)
    return false;
  std::optional<int64_t> rowBytes =
      bytesAlong(op, *factor.operand, dimsOfRows.front());
  int64_t numRows = factor.alongLines ? tiling.depth : linesOf(factor);
  if (!rowBytes || !llvm::isInt<32>(numRows * *rowBytes))
    return false;
  bool isLeft = &factor == &product.left;
  bool fits = (isLeft ? product.rows : product.columns) % linesOf(factor) == 0;
  int64_t rowsApart = producers / ofRow, bytes = length * elementBytes();
  int64_t pieces = linesOf(factor) * tiling.depth / length / producers;
  // Rows of one piece and of the one so many behind are swapped alike.
  int64_t alike = std::max<int64_t>(kSwappedRows / rowsApart, 1);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  SmallVector<Value> sources, targets, lines;
  for (int64_t i = 0; i < pieces; ++i) {
    int64_t first = i % alike, rowsBehind = (i - first) * rowsApart;
    if (i == first) {
      auto [ownLine, ownDepth] =
          placeOf(factor, add(thread, index(i * producers)));
      lines.push_back(add(line, ownLine));
      dims.place(b, loc, emitter, factor.lines, lines.back());
      dims.place(b, loc, emitter, product.depth, add(from, ownDepth));
      sources.push_back(addressOf(emitter, *factor.operand));
      targets.push_back(at(tile, offsetIn(factor, ownLine, ownDepth)));
    }
    Value source = LLVM::GEPOp::create(
        b, loc, sources[first].getType(), b.getI8Type(), sources[first],
        LLVM::GEPArg(static_cast<int32_t>(rowsBehind * *rowBytes)));
    Value target =
        at(targets[first], index(rowsBehind * pitch(factor) * elementBytes()));
    Value read; // of lines past the edge nothing
    if (!fits) {
      Value atLine = factor.alongLines ? lines[first]
                                       : add(lines[first], index(rowsBehind));
      read =
          arith::SelectOp::create(b, loc, less(atLine, isLeft ? rows : columns),
                                  number(bytes), number(0));
    }
    auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                             : NVVM::LoadCacheModifierKind::CA;
    NVVM::CpAsyncOp::create(b, loc, target, source,
                            static_cast<uint32_t>(bytes), cache, read);
  }
  return true;
}

void ProductKernel::load(const Factor &factor, Value line, Value from,
                         Value tile) {
  int64_t pieces = linesOf(factor) * tiling.depth / pieceOf(factor).first;
  assert(pieces % producers == 0 && "threads without work");
  constexpr int64_t kUnrolled = 8; // [limit]
  // Producers have few registers: where lines run, each piece has a depth
  // of its own to find.
  bool isLean = layout == TileLayout::Panels;
  if (pieces / producers <= kUnrolled && !(isLean && factor.alongLines)) {
    if (loadRows(factor, line, from, tile))
      return;
    for (int64_t i = 0; i < pieces; i += producers)
      loadPiece(factor, line, from, tile, add(thread, index(i)));
    return;
  }
  auto loop =
      scf::ForOp::create(b, loc, thread, index(pieces), index(producers));
  if (isLean)
    setUnrolling(loop, 2);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  loadPiece(factor, line, from, tile, loop.getInductionVar());
}

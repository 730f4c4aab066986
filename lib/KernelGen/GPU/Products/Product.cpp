//===- Product.cpp - Contractions as tiled matrix products ----------------===//
//
// A block has a tile of the results. Tiles of both operands travel through a
// ring of stages in shared memory: while one is multiplied, others are on their
// way (cp.async, where elements are only moved; pieces of 16 bytes, where they
// lie so in memory). One barrier a step: behind it a stage is whole for all,
// and the one before has been read by all, and may be written again.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "../Warpgroups.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Below these a tile would be mostly zeros. [shape]
static constexpr int64_t kLeastRows = 16, kLeastColumns = 8, kLeastDepth = 8;
/// Depth of a product of 16-bit floats on tensor cores. [shape]
static constexpr int64_t kLeastHalfDepth = 16;
/// What is not known is taken to be this: a guess about programs, not a price.
/// [guess]
static constexpr int64_t kLarge = 1024;
/// Pieces that are copied at once, at most. [shape]
static constexpr int64_t kPieceBytes = 16;
/// A depth is cut into parts of at least so much: some stages of each tile, or
/// copies are waited for instead of being ahead. [shape]
static constexpr int64_t kLeastPart = 256;

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

std::optional<SmallVector<OpOperand *>>
gpukernels::operandsOf(linalg::GenericOp op, Value value) {
  llvm::SmallSetVector<OpOperand *, 4> found;
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument && argument.getOwner() == op.getBody()) {
      if (argument.getArgNumber() >= op.getNumDpsInputs())
        return std::nullopt;
      found.insert(op.getDpsInputOperand(argument.getArgNumber()));
      continue;
    }
    Operation *inner = next.getDefiningOp();
    if (!inner || inner->getBlock() != op.getBody())
      continue; // the same everywhere
    if (inner->getNumRegions() || isa<linalg::IndexOp>(inner) ||
        !isMemoryEffectFree(inner))
      return std::nullopt;
    if (seen.insert(inner).second)
      llvm::append_range(pending, inner->getOperands());
  }
  return found.takeVector();
}

OpOperand *gpukernels::widestOf(linalg::GenericOp op,
                                ArrayRef<OpOperand *> operands) {
  for (OpOperand *operand : operands) {
    if (!isa<ShapedType>(operand->get().getType()))
      continue;
    AffineMap own = op.getMatchingIndexingMap(operand);
    if (llvm::all_of(operands, [&](OpOperand *other) {
          AffineMap map = op.getMatchingIndexingMap(other);
          return llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned dim) {
            return own.isFunctionOfDim(dim) || !map.isFunctionOfDim(dim);
          });
        }))
      return operand;
  }
  return nullptr;
}

/// What `factor` is read from; false unless it is computed from elements in
/// memory, of which one changes with all dims that the others change with.
static bool matchFactor(linalg::GenericOp op, Value value, Factor &factor) {
  factor.value = value;
  auto operands = operandsOf(op, value);
  if (!operands)
    return false;
  factor.operand = widestOf(op, *operands);
  return factor.operand && isa<MemRefType>(factor.operand->get().getType());
}

static bool is16Bit(Type type) { return type.isBF16() || type.isF16(); }

/// The 16-bit float that `value` is widened from, or itself.
static Value narrowed(Value value) {
  auto widened = value.getDefiningOp<arith::ExtFOp>();
  return widened && is16Bit(widened.getIn().getType()) ? widened.getIn()
                                                       : value;
}

bool gpukernels::beginsAligned(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (auto bytes = dyn_cast<memref::ViewOp>(*view)) {
      std::optional<int64_t> shift = getConstantIntValue(bytes.getByteShift());
      if (!shift || *shift % kPieceBytes != 0)
        return false;
    }
    memref = view.getViewSource();
  }
  return true;
}

int64_t gpukernels::runOf(linalg::GenericOp op, OpOperand &operand,
                          ArrayRef<unsigned> dims) {
  auto type = cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides, sizes = op.getStaticLoopRanges();
  int64_t offset;
  if (type.getRank() == 0 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      !ShapedType::isStatic(offset) || !beginsAligned(operand.get()))
    return 1;
  // The last dims of the memref that are the last of `dims`, one behind the
  // other in memory.
  int64_t covered = 1, at = type.getRank();
  while (at > 0 && !dims.empty()) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(at - 1));
    if (!dim || dim.getPosition() != dims.back() ||
        strides[at - 1] != covered || ShapedType::isDynamic(sizes[dims.back()]))
      break;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (static_cast<int64_t>(i) != at - 1 &&
          expr.isFunctionOfDim(dim.getPosition()))
        return 1;
    covered *= sizes[dims.back()];
    dims = dims.drop_back();
    --at;
  }
  int64_t run = kPieceBytes * 8 / type.getElementTypeBitWidth();
  auto fits = [&](int64_t number) {
    while (run > 1 && (ShapedType::isDynamic(number) || number % run != 0))
      run /= 2;
  };
  if (at == type.getRank())
    return 1;
  fits(covered);
  fits(offset);
  for (int64_t i = 0; i < at; ++i)
    if (type.getDimSize(i) != 1)
      fits(strides[i]);
  return run;
}

/// The 8-bit float of which `value`, an f32, is the number, whatever the ops
/// between are: they are evaluated for each of its 256 codes.
static Value narrowOf(linalg::GenericOp op, Value value) {
  auto operands = operandsOf(op, value);
  if (!value.getType().isF32() || !operands || operands->size() != 1)
    return Value();
  BlockArgument element = op.getMatchingBlockArgument(operands->front());
  auto type = dyn_cast<FloatType>(element.getType());
  if (!isa_and_nonnull<Float8E4M3FNType, Float8E5M2Type>(type) ||
      !isa<MemRefType>(operands->front()->get().getType()))
    return Value();
  SmallVector<Operation *> needed;
  llvm::SmallPtrSet<Value, 16> wanted{value};
  for (Operation &inner : llvm::reverse(op.getBody()->without_terminator()))
    if (inner.getNumResults() == 1 && wanted.contains(inner.getResult(0))) {
      needed.push_back(&inner);
      wanted.insert_range(inner.getOperands());
    }
  for (unsigned code = 0; code < 256; ++code) {
    APFloat number(type.getFloatSemantics(), APInt(8, code));
    llvm::DenseMap<Value, Attribute> known;
    known[element] = FloatAttr::get(type, number);
    for (Operation *inner : llvm::reverse(needed)) {
      SmallVector<Attribute> values;
      for (Value operand : inner->getOperands()) {
        Attribute &found = known[operand];
        if (!found)
          matchPattern(operand, m_Constant(&found));
        values.push_back(found);
      }
      SmallVector<OpFoldResult> results;
      if (failed(inner->fold(values, results)) || results.size() != 1)
        return Value();
      known[inner->getResult(0)] = isa<Attribute>(results[0])
                                       ? cast<Attribute>(results[0])
                                       : known.lookup(cast<Value>(results[0]));
    }
    auto made = dyn_cast_or_null<FloatAttr>(known.lookup(value));
    bool isLost;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &isLost);
    if (!made || made.getValue().isNaN() != number.isNaN() ||
        (!number.isNaN() && !made.getValue().bitwiseIsEqual(number)))
      return Value();
  }
  return element;
}

/// The number of `element`, an 8-bit float, as f16, which has all of them.
static Value asHalf(OpBuilder &b, Location loc, Value element) {
  auto bits = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(b, loc, number, 16);
  };
  Value code = arith::ExtUIOp::create(
      b, loc, b.getI16Type(),
      arith::BitcastOp::create(b, loc, b.getI8Type(), element));
  auto shifted = [&](Value value, int64_t by) -> Value {
    return arith::ShLIOp::create(b, loc, value, bits(by));
  };
  // An f16 whose last eight bits are left out.
  if (isa<Float8E5M2Type>(element.getType()))
    return arith::BitcastOp::create(b, loc, b.getF16Type(), shifted(code, 8));
  // Exponents of four bits: those of f16 are eight more. The product is exact.
  Value size = arith::AndIOp::create(b, loc, code, bits(0x7f));
  Value sign = shifted(arith::AndIOp::create(b, loc, code, bits(0x80)), 8);
  Value small = arith::BitcastOp::create(
      b, loc, b.getF16Type(),
      arith::OrIOp::create(b, loc, shifted(size, 7), sign));
  Value number = arith::MulFOp::create(
      b, loc, small, arith::ConstantOp::create(b, loc, b.getF16FloatAttr(256)));
  Value isNaN =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, bits(0x7f));
  Value nan = arith::BitcastOp::create(b, loc, b.getF16Type(), bits(0x7e00));
  return arith::SelectOp::create(b, loc, isNaN, nan, number);
}

static void findDirection(linalg::GenericOp op, const Product &product,
                          Factor &factor) {
  int64_t lines = runOf(op, *factor.operand, factor.lines);
  int64_t depth = runOf(op, *factor.operand, product.depth);
  AffineMap map = op.getMatchingIndexingMap(factor.operand);
  // Where neither runs, threads of a warp read neighbouring lines if they can.
  factor.alongLines = lines > depth;
  if (lines == depth && map.getNumResults() > 0)
    factor.alongLines = llvm::any_of(factor.lines, [&](unsigned dim) {
      return map.getResults().back().isFunctionOfDim(dim);
    });
  factor.run = factor.isPlain() ? std::max(lines, depth) : 1;
}

/// How many products on tensor cores make what `multiply`, of f32, says that it
/// is (spmd::contract::TensorFloat); 0 where it must be one of f32.
static int64_t tensorTerms(arith::MulFOp multiply, bool tf32) {
  spmd::TensorFloatKindAttr said = spmd::contract::TensorFloat::get(multiply);
  if (!said || !multiply.getType().isF32())
    return 0;
  switch (said.getValue()) {
  case spmd::TensorFloatKind::Tf32:
    return 1;
  case spmd::TensorFloatKind::Tf32x3:
    return 3;
  case spmd::TensorFloatKind::Default:
    return tf32 ? 1 : 0;
  case spmd::TensorFloatKind::High:
    return tf32 ? 3 : 0;
  }
  llvm_unreachable("all kinds are listed");
}

std::optional<Product> gpukernels::matchProduct(linalg::GenericOp op,
                                                bool tf32) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Operation *sum = combinerOf(op, 0);
  if (!sum || !isa<arith::AddFOp>(sum))
    return std::nullopt;
  Value term = sum->getOperand(0) == op.getRegionOutputArgs()[0]
                   ? sum->getOperand(1)
                   : sum->getOperand(0);
  auto multiply = term.getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return std::nullopt;
  Product product;
  product.sum = cast<FloatType>(multiply.getType());
  if (!product.sum.isF32() && !product.sum.isF64())
    return std::nullopt;
  Value left = multiply.getLhs(), right = multiply.getRhs();
  product.element = product.sum;
  if (product.sum.isF32() && is16Bit(narrowed(left).getType()) &&
      narrowed(left).getType() == narrowed(right).getType()) {
    left = narrowed(left);
    right = narrowed(right);
    product.element = cast<FloatType>(left.getType());
  }
  Value narrowLeft, narrowRight;
  if (product.element.isF32()) {
    product.tensorTerms = tensorTerms(multiply, tf32);
    narrowLeft = narrowOf(op, left);
    narrowRight = narrowLeft ? narrowOf(op, right) : Value();
  }
  if (!matchFactor(op, left, product.left) ||
      !matchFactor(op, right, product.right))
    return std::nullopt;
  AffineMap leftMap = op.getMatchingIndexingMap(product.left.operand);
  AffineMap rightMap = op.getMatchingIndexingMap(product.right.operand);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto grow = [&](int64_t &count, int64_t size) {
    product.isStatic &= ShapedType::isStatic(size);
    count = llvm::SaturatingMultiply<uint64_t>(
        count, ShapedType::isDynamic(size) ? kLarge : size);
    count = std::min<uint64_t>(count, INT64_MAX / 64);
  };
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inLeft = leftMap.isFunctionOfDim(i),
         inRight = rightMap.isFunctionOfDim(i);
    if (kind == utils::IteratorType::reduction) {
      product.depth.push_back(i);
      grow(product.depths, sizes[i]);
    } else if (inLeft == inRight) {
      if (!inLeft && sizes[i] != 1)
        return std::nullopt;
      product.batch.push_back(i);
      grow(product.batches, sizes[i]);
    } else {
      (inLeft ? product.left : product.right).lines.push_back(i);
      grow(inLeft ? product.rows : product.columns, sizes[i]);
    }
  }
  if (product.rows < kLeastRows || product.columns < kLeastColumns ||
      product.depths < kLeastDepth)
    return std::nullopt;
  // Windows go over their images as the other operand has these in memory.
  bool leftIsPlain = leftMap.isProjectedPermutation(true),
       rightIsPlain = rightMap.isProjectedPermutation(true);
  if (leftIsPlain != rightIsPlain) {
    AffineMap plain = leftIsPlain ? leftMap : rightMap;
    auto placeOf = [&](unsigned dim) {
      for (auto [i, expr] : llvm::enumerate(plain.getResults()))
        if (expr.isFunctionOfDim(dim))
          return static_cast<int64_t>(i);
      return int64_t(-1);
    };
    llvm::stable_sort(product.depth, [&](unsigned x, unsigned y) {
      return placeOf(x) < placeOf(y);
    });
  }
  if (narrowRight && product.depths >= kLeastHalfDepth) {
    OpBuilder b(multiply);
    product.element = b.getF16Type();
    product.shortSums = product.tensorTerms == 1;
    product.tensorTerms = 0;
    product.left.narrow = narrowLeft;
    product.right.narrow = narrowRight;
    for (Factor *factor : {&product.left, &product.right})
      factor->value = asHalf(b, op.getLoc(), factor->narrow);
  }
  findDirection(op, product, product.left);
  findDirection(op, product, product.right);
  return product;
}

std::optional<Product> gpukernels::inEightBits(linalg::GenericOp op,
                                               const Product &product) {
  if (!product.shortSums)
    return std::nullopt;
  Product narrow = product;
  for (Factor *factor : {&narrow.left, &narrow.right})
    factor->value = factor->narrow;
  narrow.element = cast<FloatType>(narrow.left.value.getType());
  findDirection(op, narrow, narrow.left);
  findDirection(op, narrow, narrow.right);
  return narrow;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

ProductKernel::ProductKernel(OpBuilder &b, linalg::GenericOp op,
                             const Product &product, Tiling tiling,
                             TileLayout layout)
    : IndexBuilder(b, op.getLoc()), op(op), product(product), tiling(tiling),
      layout(layout), dims(b, op), emitter(b, op), producers(tiling.threads) {}

int64_t ProductKernel::pitch(const Factor &factor) const {
  if (layout == TileLayout::DepthMajor)
    return linesOf(factor) + kPieceBytes / elementBytes();
  return factor.alongLines ? linesOf(factor) : tiling.depth;
}

int64_t ProductKernel::tileBytes(const Factor &factor) const {
  if (layout == TileLayout::Panels)
    return linesOf(factor) * tiling.depth * elementBytes();
  return (isAlongLines(factor) ? tiling.depth : linesOf(factor)) *
         pitch(factor) * elementBytes();
}

Value ProductKernel::at(Value base, Value bytes) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), bytes);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value ProductKernel::offsetIn(const Factor &factor, Value line, Value depth) {
  bool byDepth = isAlongLines(factor);
  Value row = byDepth ? depth : line, column = byDepth ? line : depth;
  if (layout == TileLayout::Panels)
    return WarpgroupBuilder(b, loc).placeInPanels(
        row, mul(column, elementBytes()),
        byDepth ? tiling.depth : linesOf(factor));
  int64_t width = pitch(factor);
  if (layout == TileLayout::Swizzled) {
    // Eight rows of 16 bytes must use all banks: rows of a multiple of 128
    // bytes take eight places, two of an odd multiple of 64 bytes take four.
    int64_t perPiece = kPieceBytes / elementBytes();
    bool narrow = width * elementBytes() % 128 == 64;
    assert((narrow || width * elementBytes() % 128 == 0) && "odd rows");
    Value swap = narrow ? rem(div(row, 2), 4) : rem(row, 8);
    Value piece = bitXor(div(column, perPiece), swap);
    column = add(mul(piece, perPiece), rem(column, perPiece));
  }
  return mul(add(mul(row, width), column), elementBytes());
}

Value ProductKernel::addressIn(const Factor &factor, Value tile, Value line,
                               int64_t linesBehind, Value depth,
                               int64_t depthsBehind) {
  int64_t bytes = 0;
  if (layout == TileLayout::Swizzled) {
    int64_t &behind = isAlongLines(factor) ? depthsBehind : linesBehind;
    int64_t alike = behind - behind % kSwappedRows;
    bytes = alike * pitch(factor) * elementBytes();
    behind -= alike;
  }
  Value offset = offsetIn(factor, add(line, index(linesBehind)),
                          add(depth, index(depthsBehind)));
  return at(at(tile, offset), index(bytes));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value gpukernels::addressOf(OpBuilder &b, Location loc, Value memref,
                            ArrayRef<Value> subscripts) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  LogicalResult known = type.getStridesAndOffset(strides, offset);
  assert(succeeded(known) && "kernels are given strided buffers");
  (void)known;
  memref::ExtractStridedMetadataOp metadata;
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  auto either = [&](int64_t number, auto computed) -> Value {
    if (ShapedType::isStatic(number))
      return index(number);
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    return computed();
  };
  Value place = either(offset, [&] { return metadata.getOffset(); });
  for (auto [i, subscript] : llvm::enumerate(subscripts)) {
    Value stride = either(strides[i], [&] { return metadata.getStrides()[i]; });
    Value step = arith::MulIOp::create(b, loc, subscript, stride);
    place = arith::AddIOp::create(b, loc, place, step);
  }
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
  Value bytes = arith::MulIOp::create(b, loc, place,
                                      index(type.getElementTypeBitWidth() / 8));
  Value address = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), arith::AddIOp::create(b, loc, start, bytes));
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
}

SmallVector<Value> ProductKernel::pipeline(Value row, Value column,
                                           ArrayRef<Value> sums, Step step) {
  int64_t leftBytes = tileBytes(product.left);
  int64_t stageBytes = leftBytes + tileBytes(product.right);
  auto loadStage = [&](Value from, Value stage) {
    auto some = scf::IfOp::create(b, loc, less(from, last), false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      Value begin = mul(stage, stageBytes);
      load(product.left, row, from, at(base, begin));
      load(product.right, column, from, at(base, add(begin, index(leftBytes))));
    }
    // Also where there is nothing: groups are counted.
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  };
  int64_t ahead = tiling.stages - 1;
  for (int64_t stage = 0; stage < ahead; ++stage)
    loadStage(add(first, index(stage * tiling.depth)), index(stage));
  SmallVector<Value> carried = {index(0), index(ahead)};
  llvm::append_range(carried, sums);
  auto loop =
      scf::ForOp::create(b, loc, first, last, index(tiling.depth), carried);
  // A step is long enough: several side by side would only want registers.
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value reads = loop.getRegionIterArg(0), writes = loop.getRegionIterArg(1);
  NVVM::CpAsyncWaitGroupOp::create(b, loc, static_cast<uint32_t>(ahead - 1));
  gpu::BarrierOp::create(b, loc);
  loadStage(add(loop.getInductionVar(), index(ahead * tiling.depth)), writes);
  Value begin = mul(reads, stageBytes);
  SmallVector<Value> next =
      step(at(base, begin), at(base, add(begin, index(leftBytes))),
           llvm::to_vector_of<Value>(loop.getRegionIterArgs().drop_front(2)));
  Value behind = add(reads, index(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, behind,
                                      index(tiling.stages));
  // What is read in this step is written in the next.
  SmallVector<Value> yielded = {
      arith::SelectOp::create(b, loc, wraps, index(0), behind), reads};
  llvm::append_range(yielded, next);
  scf::YieldOp::create(b, loc, yielded);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(2));
}

void ProductKernel::store(const Share &share, ArrayRef<Value> sums, Value row,
                          Value column) {
  SmallVector<Value> atRows, atColumns;
  for (Value own : share.rows)
    atRows.push_back(add(row, own));
  for (Value own : share.columns)
    atColumns.push_back(add(column, own));
  // The offset of each row and column is computed once, not in every branch.
  auto placesOf = [&](ArrayRef<unsigned> lines, ArrayRef<Value> all) {
    SmallVector<SmallVector<Value>> places;
    for (Value one : all) {
      dims.place(b, loc, emitter, lines, one);
      places.push_back(llvm::map_to_vector(
          lines, [&](unsigned dim) -> Value { return emitter.at()[dim]; }));
    }
    return places;
  };
  SmallVector<SmallVector<Value>> rowPlaces, columnPlaces;
  if (splits == 1) {
    rowPlaces = placesOf(product.left.lines, atRows);
    columnPlaces = placesOf(product.right.lines, atColumns);
  }
  // Neighbours are done at once where no edge comes between them.
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t run = share.run, known = 1;
  for (unsigned dim : product.right.lines)
    known = ShapedType::isDynamic(sizes[dim]) || known == 0
                ? 0
                : known * sizes[dim];
  while (run > 1 && (known == 0 || known % run != 0))
    run /= 2;
  for (auto [i, atRow] : llvm::enumerate(atRows))
    for (size_t j = 0; j < atColumns.size(); j += run) {
      Value atColumn = atColumns[j];
      Value inside = arith::AndIOp::create(b, loc, less(atRow, rows),
                                           less(atColumn, columns));
      auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard insertion(b);
      b.setInsertionPointToStart(guard.thenBlock());
      ArrayRef<Value> values = sums.slice(i * atColumns.size() + j, run);
      if (splits > 1) {
        Value line = add(arith::MulIOp::create(b, loc, place, rows), atRow);
        Value spot =
            add(arith::MulIOp::create(b, loc, line, columns), atColumn);
        Value all = vector::FromElementsOp::create(
            b, loc, VectorType::get({run}, product.sum), values);
        vector::StoreOp::create(
            b, loc, all, scratch, spot, /*nontemporal=*/false,
            llvm::MaybeAlign(run * product.sum.getIntOrFloatBitWidth() / 8));
        continue;
      }
      for (auto [dim, at] : llvm::zip(product.left.lines, rowPlaces[i]))
        emitter.at()[dim] = at;
      storeRun(values, [&](int64_t lane) {
        for (auto [dim, at] :
             llvm::zip(product.right.lines, columnPlaces[j + lane]))
          emitter.at()[dim] = at;
      });
    }
}

static bool isByteWise(OpOperand &operand) {
  Type type = cast<MemRefType>(operand.get().getType()).getElementType();
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
}

/// The type of `element` in LLVM's vectors, which knows no floats of 8 bits.
static Type storedAs(Type element) {
  bool isNarrow = isa<FloatType>(element) && element.isIntOrFloat() &&
                  element.getIntOrFloatBitWidth() == 8;
  return isNarrow ? IntegerType::get(element.getContext(), 8) : element;
}

static Value bitsAs(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : arith::BitcastOp::create(b, loc, type, value).getResult();
}

SmallVector<Value> ProductKernel::readRun(linalg::GenericOp of,
                                          PointEmitter &emitter,
                                          OpOperand &operand,
                                          ArrayRef<unsigned> dims,
                                          int64_t count, GoTo goTo) {
  SmallVector<Value> values;
  if (count == 1 || !isByteWise(operand) || runOf(of, operand, dims) < count) {
    for (int64_t lane = 0; lane < count; ++lane) {
      goTo(lane);
      values.push_back(emitter.load(operand));
    }
    return values;
  }
  goTo(0);
  Type element = cast<MemRefType>(operand.get().getType()).getElementType();
  Value all = LLVM::LoadOp::create(
      b, loc, VectorType::get({count}, storedAs(element)),
      addressOf(emitter, operand), count * element.getIntOrFloatBitWidth() / 8);
  for (int64_t lane = 0; lane < count; ++lane) {
    Value one = LLVM::ExtractElementOp::create(
        b, loc, all,
        LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                 b.getI32IntegerAttr(lane)));
    values.push_back(bitsAs(b, loc, one, element));
  }
  return values;
}

void ProductKernel::writeRun(linalg::GenericOp of, PointEmitter &emitter,
                             OpOperand &operand, ArrayRef<unsigned> dims,
                             ArrayRef<Value> values, GoTo goTo) {
  int64_t count = values.size();
  if (count == 1 || !isByteWise(operand) || runOf(of, operand, dims) < count) {
    for (int64_t lane = 0; lane < count; ++lane) {
      goTo(lane);
      emitter.storeOutput(operand, values[lane]);
    }
    return;
  }
  goTo(0);
  Type element = storedAs(values.front().getType());
  Value all = LLVM::PoisonOp::create(b, loc, VectorType::get({count}, element));
  for (int64_t lane = 0; lane < count; ++lane)
    all = LLVM::InsertElementOp::create(
        b, loc, all, bitsAs(b, loc, values[lane], element),
        LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                 b.getI32IntegerAttr(lane)));
  LLVM::StoreOp::create(b, loc, all, addressOf(emitter, operand),
                        count * element.getIntOrFloatBitWidth() / 8);
}

void ProductKernel::storeRun(ArrayRef<Value> sums, GoTo goTo) {
  const Fusion &fusion = product.fusion;
  linalg::GenericOp behind = fusion.behind;
  OpOperand &output = *op.getDpsInitOperand(0);
  ArrayRef<unsigned> columns = product.right.lines;
  int64_t count = sums.size();
  SmallVector<Value> results(count, fusion.start);
  if (!fusion.start)
    results = readRun(op, emitter, output, columns, count, goTo);
  for (auto [result, sum] : llvm::zip(results, sums))
    result = combineOutput(result, sum);
  PointEmitter other(b, behind ? behind : op);
  auto goBehind = [&](int64_t lane) {
    goTo(lane);
    for (auto [mine, theirs] : fusion.dims)
      other.at()[theirs] = emitter.at()[mine];
  };
  if (!behind || fusion.keeps)
    writeRun(op, emitter, output, columns, results, goTo);
  if (!behind)
    return;
  SmallVector<unsigned> theirColumns;
  for (unsigned dim : columns)
    for (auto [mine, theirs] : fusion.dims)
      if (mine == dim)
        theirColumns.push_back(theirs);
  // All is read before anything is written: buffers may be the same.
  DenseMap<OpOperand *, SmallVector<Value>> read;
  for (OpOperand &operand : behind->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) ||
        behind.getMatchingBlockArgument(&operand).use_empty())
      continue;
    // In place of the results, what it finds there is these.
    bool isResults =
        operand.get() == output.get() &&
        behind.getMatchingIndexingMap(&operand) ==
            behind.getMatchingIndexingMap(&behind->getOpOperand(fusion.result));
    read[&operand] = isResults ? results
                               : readRun(behind, other, operand, theirColumns,
                                         count, goBehind);
  }
  SmallVector<SmallVector<Value>> written(behind.getNumDpsInits());
  for (int64_t lane = 0; lane < count; ++lane) {
    goBehind(lane);
    SmallVector<Value> current;
    for (OpOperand &own : behind.getDpsInitsMutable())
      current.push_back(read.contains(&own) ? read[&own][lane] : Value());
    SmallVector<Value> made = other.body(
        current, [&](OpOperand &operand) { return read[&operand][lane]; });
    for (auto [all, value] : llvm::zip(written, made))
      all.push_back(value);
  }
  for (auto [own, values] :
       llvm::zip_equal(behind.getDpsInitsMutable(), written))
    writeRun(behind, other, own, theirColumns, values, goBehind);
}

Value ProductKernel::combineOutput(Value start, Value value) {
  return arith::AddFOp::create(b, loc, start, value);
}

int64_t ProductKernel::chooseSplits(std::pair<int64_t, int64_t> tile) const {
  if (!product.isStatic)
    return 1;
  auto blocksOf = [&](int64_t tileRows, int64_t tileColumns) -> int64_t {
    return llvm::divideCeil(product.rows, tileRows) *
           llvm::divideCeil(product.columns, tileColumns) * product.batches;
  };
  // With fewer blocks than keep the GPU busy the depth is cut as well, so that
  // there are enough of the largest tiles.
  int64_t manyBlocks = blocksOfGpu(op);
  if (product.batches == 0 ||
      blocksOf(tiling.rows, tiling.columns) * 2 > manyBlocks)
    return 1;
  int64_t blocks = blocksOf(tile.first, tile.second);
  return std::clamp<int64_t>(product.depths / kLeastPart, 1,
                             manyBlocks / blocks);
}

/// Adds up the sums of the parts of the depth, in their order: a thread
/// for each 16 bytes of results, or for each.
void ProductKernel::finish() {
  if (splits == 1)
    return;
  constexpr int64_t threads = 256; // [shape]
  int64_t bytes = product.sum.getIntOrFloatBitWidth() / 8;
  int64_t run = product.columns % (16 / bytes) == 0 ? 16 / bytes : 1;
  auto type = VectorType::get({run}, product.sum);
  Value points = gpukernels::product(b, loc, {batch, rows, columns});
  Value runs = div(points, run);
  OpBuilder::InsertionGuard behind(b);
  Value point = mul(beginLaunchOf(b, loc, runs, threads), run);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto loop = scf::ForOp::create(b, loc, index(0), index(splits), index(1),
                                 ValueRange(none));
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value spot = add(
        arith::MulIOp::create(b, loc, loop.getInductionVar(), points), point);
    Value part =
        vector::LoadOp::create(b, loc, type, scratch, spot,
                               /*nontemporal=*/false, llvm::Align(run * bytes));
    Value sum = arith::AddFOp::create(b, loc, loop.getRegionIterArg(0), part);
    scf::YieldOp::create(b, loc, sum);
  }
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < run; ++lane)
    values.push_back(
        vector::ExtractOp::create(b, loc, loop.getResult(0), lane));
  Value column = arith::RemUIOp::create(b, loc, point, columns);
  point = arith::DivUIOp::create(b, loc, point, columns);
  dims.place(b, loc, emitter, product.left.lines,
             arith::RemUIOp::create(b, loc, point, rows));
  dims.place(b, loc, emitter, product.batch,
             arith::DivUIOp::create(b, loc, point, rows));
  SmallVector<SmallVector<Value>> places;
  for (int64_t lane = 0; lane < run; ++lane) {
    dims.place(b, loc, emitter, product.right.lines, add(column, index(lane)));
    places.push_back(
        llvm::map_to_vector(product.right.lines, [&](unsigned dim) -> Value {
          return emitter.at()[dim];
        }));
  }
  storeRun(values, [&](int64_t lane) {
    for (auto [dim, at] : llvm::zip(product.right.lines, places[lane]))
      emitter.at()[dim] = at;
  });
}

void ProductKernel::prepare(std::pair<int64_t, int64_t> tile) {
  rows = dims.count(b, loc, product.left.lines);
  columns = dims.count(b, loc, product.right.lines);
  depth = dims.count(b, loc, product.depth);
  batch = dims.count(b, loc, product.batch);
  splits = chooseSplits(tile);
  if (splits == 1)
    return;
  int64_t count = product.batches * product.rows * product.columns * splits;
  scratch =
      memref::AllocOp::create(b, loc, MemRefType::get({count}, product.sum));
}

void ProductKernel::prepareLike(const ProductKernel &other) {
  rows = other.rows;
  columns = other.columns;
  depth = other.depth;
  batch = other.batch;
  splits = other.splits;
  scratch = other.scratch;
}

gpu::LaunchOp ProductKernel::begin(Value blocks, int64_t bytes) {
  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, tiling.threads);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto area = MemRefType::get({bytes}, b.getI8Type(),
                              MemRefLayoutAttrInterface(), shared);
  Value memory = launch.addWorkgroupAttribution(area, loc);
  Value number = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
  base = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
  thread = launch.getThreadIds().x;
  return launch;
}

void ProductKernel::placePlane(Value plane) {
  first = index(0);
  last = depth;
  if (splits == 1) {
    dims.place(b, loc, emitter, product.batch, plane);
    return;
  }
  // `batch` counts within a part, parts are slowest: as in `scratch`.
  place = plane;
  dims.place(b, loc, emitter, product.batch,
             arith::RemUIOp::create(b, loc, plane, batch));
  int64_t part =
      llvm::alignTo(llvm::divideCeil(product.depths, splits), tiling.depth);
  first = mul(arith::DivUIOp::create(b, loc, plane, batch), part);
  last = arith::MinUIOp::create(b, loc, depth, add(first, index(part)));
}

gpu::LaunchOp ProductKernel::launch(llvm::function_ref<Share()> share,
                                    Step step, Combine combine) {
  OpBuilder::InsertionGuard behind(b);
  Value rowTiles = tiles(tiling.rows, rows);
  Value columnTiles = tiles(tiling.columns, columns);
  Value blocks = gpukernels::product(
      b, loc, {rowTiles, columnTiles, batch, index(splits)});
  gpu::LaunchOp launch =
      begin(blocks, tiling.stages *
                        (tileBytes(product.left) + tileBytes(product.right)));
  Value block = launch.getBlockIds().x;
  auto take = [&](Value count) -> Value {
    Value mine = arith::RemUIOp::create(b, loc, block, count);
    block = arith::DivUIOp::create(b, loc, block, count);
    return mine;
  };
  Value column = mul(take(columnTiles), tiling.columns);
  Value row = mul(take(rowTiles), tiling.rows);
  placePlane(block);

  Share own = share();
  Value none =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(product.sum, 0));
  SmallVector<Value> sums(own.rows.size() * own.columns.size(), none);
  sums = pipeline(row, column, sums, step);
  if (combine)
    sums = combine(own, sums);
  store(own, sums, row, column);
  return launch;
}

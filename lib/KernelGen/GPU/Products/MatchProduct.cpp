//===- MatchProduct.cpp - Contractions that are matrix products -----------===//
#include "Product.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "llvm/ADT/SetVector.h"

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

//===- WidenFactors.cpp - Factors as wide as they are multiplied ----------===//
//
// A tile of a product makes its factors wider each time it reads them, and many
// tiles read an element. What is along the lanes goes through a panel; here the
// other factor is written once more, as wide as it is multiplied. Integers go
// in pairs of 16 bits, which have to be side by side along the sum.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

Operation *cpu::widening(linalg::GenericOp op, unsigned input) {
  BlockArgument argument = op.getBody()->getArgument(input);
  if (!argument.hasOneUse())
    return nullptr;
  Operation *user = *argument.user_begin();
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(user) ? user
                                                                  : nullptr;
}

Value cpu::widened(OpBuilder &builder, Operation *extension, Value value,
                   Type element) {
  Type type = value.getType();
  if (getElementTypeOrSelf(type) == element)
    return value;
  if (auto vector = dyn_cast<VectorType>(type))
    element = vector.clone(element);
  OperationState state(value.getLoc(), extension->getName(), value, element);
  return builder.create(state)->getResult(0);
}

namespace {
/// A factor as it is to be: numbers of `element` through `map`.
struct Factor {
  Type element;
  AffineMap map;
};
} // namespace

/// Whether the elements of `memref` are side by side along its last dim.
static bool isSideBySide(Value memref) {
  return cast<MemRefType>(memref.getType()).isLastDimUnitStride();
}

/// `map`, a projected permutation of `op`'s, with dims that are summed up last.
static AffineMap sumsLast(linalg::GenericOp op, AffineMap map) {
  SmallVector<AffineExpr> kept, summed;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    bool reduces =
        op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
    (reduces ? summed : kept).push_back(expr);
  }
  kept.append(summed);
  return AffineMap::get(map.getNumDims(), 0, kept, map.getContext());
}

/// What input `i` of `op` had better be; nullopt: what it is.
static std::optional<Factor> betterFactor(linalg::GenericOp op, unsigned i,
                                          const ScheduleTarget &target) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(i));
  Value memref = op.getDpsInputs()[i];
  Type element = cast<MemRefType>(memref.getType()).getElementType(),
       other = getElementTypeOrSelf(op.getDpsInputs()[1 - i].getType()),
       sum = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  bool isInteger = element.isInteger(8) && sum.isInteger(32) &&
                   (other.isInteger(8) || other.isInteger(16));
  bool isPair = isInteger || (element.isBF16() && other.isBF16() &&
                              target.dotBf16 && !target.exact && sum.isF32());
  if (isPair) {
    Factor factor{isInteger ? IntegerType::get(op.getContext(), 16) : element,
                  sumsLast(op, map)};
    if (!isInteger && factor.map == map && isSideBySide(memref))
      return std::nullopt;
    return factor;
  }
  if (!element.isF16() && !element.isBF16())
    return std::nullopt;
  return Factor{widening(op, i)->getResult(0).getType(), map};
}

/// The input of `op`, a product, that is not along its lanes, if all that is so
/// far known of these holds: they are along the last dim of the result.
static std::optional<unsigned> inputOfRows(linalg::GenericOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0 || !result.isProjectedPermutation())
    return std::nullopt;
  AffineExpr lanes = result.getResults().back();
  SmallVector<unsigned> found;
  for (auto [i, input] : llvm::enumerate(op.getDpsInputOperands())) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!isa<MemRefType>(input->get().getType()) ||
        partOfComplex(input->get()) || !map.isProjectedPermutation() ||
        !widening(op, i))
      return std::nullopt;
    if (!llvm::is_contained(map.getResults(), lanes))
      found.push_back(i);
  }
  if (found.size() != 1)
    return std::nullopt;
  return found.front();
}

/// How often an element of `op`'s input `i` is read.
static int64_t readsOf(linalg::GenericOp op, unsigned i, ShardSizes &sizes) {
  OpBuilder builder(op);
  Arith arith(builder, op.getLoc());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(i));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t reads = 1;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && !map.isFunctionOfDim(dim))
      reads *=
          std::max<int64_t>(sizeOf(arith, op, dim, ranges, sizes).guess(), 1);
  return reads;
}

/// Writes input `i` of `op` as `factor` before it, and has `op` read that.
static void replaceFactor(linalg::GenericOp op, unsigned i,
                          const Factor &factor) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  OpOperand *input = op.getDpsInputOperand(i);
  Value memref = input->get();
  AffineMap map = op.getMatchingIndexingMap(input);
  // Dims of the new memory, as dims of the old one.
  SmallVector<AffineExpr> places;
  SmallVector<int64_t> shape;
  SmallVector<Value> open;
  auto type = cast<MemRefType>(memref.getType());
  for (AffineExpr expr : factor.map.getResults()) {
    auto found = llvm::find(map.getResults(), expr);
    int64_t place = found - map.getResults().begin();
    places.push_back(b.getAffineDimExpr(place));
    shape.push_back(type.getDimSize(place));
    if (type.isDynamicDim(place))
      open.push_back(memref::DimOp::create(b, loc, memref, place));
  }
  Value better =
      memref::AllocOp::create(b, loc, MemRefType::get(shape, factor.element),
                              open, b.getI64IntegerAttr(64));
  unsigned rank = shape.size();
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank),
                              AffineMap::get(rank, 0, places, b.getContext())};
  Operation *extension = widening(op, i);
  linalg::GenericOp::create(
      b, loc, memref, better, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inner, Location, ValueRange values) {
        linalg::YieldOp::create(
            inner, loc, widened(inner, extension, values[0], factor.element));
      });
  input->set(better);
  SmallVector<AffineMap> all = op.getIndexingMapsArray();
  all[input->getOperandNumber()] = factor.map;
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(all));
  // What is wide already is signed.
  BlockArgument argument = op.getBody()->getArgument(i);
  argument.setType(factor.element);
  Type whole = extension->getResult(0).getType();
  b.setInsertionPoint(extension);
  Value same = argument;
  if (factor.element != whole)
    same = isa<FloatType>(whole)
               ? arith::ExtFOp::create(b, loc, whole, argument).getResult()
               : arith::ExtSIOp::create(b, loc, whole, argument).getResult();
  extension->getResult(0).replaceAllUsesWith(same);
  extension->erase();
}

void cpu::widenFactors(func::FuncOp function, ShardSizes &sizes,
                       const ScheduleTarget &target) {
  SmallVector<linalg::GenericOp> products;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Parts that run at the same time would share the memory.
    if (spmd::contract::Parts::has(op))
      return WalkResult::skip();
    auto product = dyn_cast<linalg::GenericOp>(op);
    if (product && isContraction(product) && canDescribe(product))
      products.push_back(product);
    return WalkResult::advance();
  });
  for (linalg::GenericOp op : products) {
    std::optional<unsigned> input = inputOfRows(op);
    if (!input)
      continue;
    std::optional<Factor> factor = betterFactor(op, *input, target);
    if (factor && readsOf(op, *input, sizes) >= kReadOften &&
        readsOf(op, 1 - *input, sizes) >= kReadOften)
      replaceFactor(op, *input, *factor);
  }
}

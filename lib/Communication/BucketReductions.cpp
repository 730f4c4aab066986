//===- BucketReductions.cpp - Small reductions travel together ------------===//

#include "Buckets.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Slices.h"

namespace shardc {
#define GEN_PASS_DEF_BUCKETREDUCTIONSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static bool mayTravelTogether(Operation *one, Operation *other) {
  auto a = cast<AllReduceOp>(one), b = cast<AllReduceOp>(other);
  return a.getKind() == b.getKind() && a.getAxes() == b.getAxes() &&
         a.getMeshAttr() == b.getMeshAttr() &&
         getElementTypeOrSelf(a.getType()) == getElementTypeOrSelf(b.getType());
}

/// x + y or x y, of sizes.
template <typename OpT>
static OpFoldResult compute(OpBuilder &builder, Location loc, OpFoldResult x,
                            OpFoldResult y) {
  constexpr bool isSum = std::is_same_v<OpT, arith::AddIOp>;
  if (getConstantIntValue(x))
    std::swap(x, y);
  std::optional<int64_t> a = getConstantIntValue(x), b = getConstantIntValue(y);
  if (a && b)
    return builder.getIndexAttr(isSum ? *a + *b : *a * *b);
  if (b == int64_t(!isSum))
    return x;
  Value left = getValueOrCreateConstantIndexOp(builder, loc, x),
        right = getValueOrCreateConstantIndexOp(builder, loc, y);
  return OpT::create(builder, loc, left, right).getResult();
}

static OpFoldResult countElements(OpBuilder &builder, Location loc,
                                  Value value) {
  OpFoldResult count = builder.getIndexAttr(1);
  for (OpFoldResult size : tensor::getMixedSizes(builder, loc, value))
    count = compute<arith::MulIOp>(builder, loc, count, size);
  return count;
}

static SmallVector<ReassociationIndices> allDims(RankedTensorType type) {
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
}

/// `value` as one row of its elements.
static Value flatten(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  if (type.hasStaticShape())
    return stablehlo::ReshapeOp::create(
        builder, loc,
        RankedTensorType::get({type.getNumElements()}, type.getElementType()),
        value);
  return tensor::CollapseShapeOp::create(builder, loc, value, allDims(type));
}

/// `row` in the shape of `like`.
static Value unflatten(OpBuilder &builder, Location loc, Value row,
                       Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  if (type.getRank() == 1)
    return row;
  if (type.hasStaticShape())
    return stablehlo::ReshapeOp::create(builder, loc, type, row);
  return tensor::ExpandShapeOp::create(
      builder, loc, type, row, allDims(type),
      tensor::getMixedSizes(builder, loc, like));
}

/// `size` elements of `row`, from `begin` on.
static Value elementsOf(OpBuilder &builder, Location loc, Value row,
                        OpFoldResult begin, OpFoldResult size) {
  auto type = cast<RankedTensorType>(row.getType());
  std::optional<int64_t> first = getConstantIntValue(begin),
                         count = getConstantIntValue(size);
  auto part = type.clone({count.value_or(ShapedType::kDynamic)});
  if (!type.hasStaticShape() || !first || !count)
    return takePart(builder, loc, part, row, begin, size,
                    OpFoldResult(builder.getIndexAttr(1)));
  return stablehlo::SliceOp::create(
      builder, loc, part, row, builder.getDenseI64ArrayAttr({*first}),
      builder.getDenseI64ArrayAttr({*first + *count}),
      builder.getDenseI64ArrayAttr({1}));
}

/// One reduction of all members side by side, in the place of the last one.
static void combine(Bucket &bucket) {
  auto last = cast<AllReduceOp>(bucket.members.back());
  OpBuilder builder(last);
  SmallVector<Value> flat;
  int64_t total = 0;
  for (Operation *member : bucket.members) {
    flat.push_back(flatten(builder, member->getLoc(),
                           cast<AllReduceOp>(member).getInput()));
    int64_t size = cast<RankedTensorType>(flat.back().getType()).getDimSize(0);
    total = ShapedType::isDynamic(size) || ShapedType::isDynamic(total)
                ? ShapedType::kDynamic
                : total + size;
  }
  auto flatType = RankedTensorType::get(
      {total}, getElementTypeOrSelf(flat.front().getType()));
  Location loc = bucket.joinLocations();
  Value all = stablehlo::ConcatenateOp::create(builder, loc, flatType, flat, 0);
  Value reduced = AllReduceOp::create(builder, loc, flatType, all,
                                      last.getKindAttr(), last.getAxes(),
                                      last.getMeshAttr(), bucket.joinReasons());
  OpFoldResult begin = builder.getIndexAttr(0);
  for (Operation *member : bucket.members) {
    Location at = member->getLoc();
    Value input = cast<AllReduceOp>(member).getInput();
    OpFoldResult size = countElements(builder, at, input);
    member->getResult(0).replaceAllUsesWith(unflatten(
        builder, at, elementsOf(builder, at, reduced, begin, size), input));
    begin = compute<arith::AddIOp>(builder, at, begin, size);
  }
  bucket.retire();
}

namespace {
struct BucketReductionsPass final
    : shardc::impl::BucketReductionsPassBase<BucketReductionsPass> {
  using Base::Base;
  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](Block *block) {
      changed |= bundle(
          *block,
          {memberLimit, bucketLimit, llvm::IsaPred<AllReduceOp>,
           [](Operation *op) { return estimateBytes(op, op->getResult(0)); },
           mayTravelTogether, combine});
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace

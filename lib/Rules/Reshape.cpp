//===- Reshape.cpp - The same elements under another shape ----------------===//
//
// Both shapes are refined into common factors, major to minor. A dim made of
// several factors is cut along the first:
//
//     12      -> 3x4      a=3 b=4:  [4a + b] -> [a, b]
//     3x4     -> 12       a=3 b=4:  [a, b] -> [4a + b], b whole
//     4x6     -> 8x3      a=4 b=2 c=3:  [a, 3b + c] -> [2a + b, c]
//     6x4     -> 4x6      a=2 and, whole, 3, 4, 2, 6:  [3a + r, s] -> [2a + t,
//     u] 2x3x8   -> 3x2x8    only the 8 is shared; 2, 3, 3, 2 are whole
//
// A minor part that arrives cut makes way for the major one: [2, 8 cut] -> 16
// cut is an all-to-all and a local merge.
//
//===----------------------------------------------------------------------===//
#include "RuleUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Support/Slices.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

namespace {
/// One of the two shapes on its way to factors: the factors of each dim so far,
/// major to minor, and what is left of the current dim.
struct Side {
  explicit Side(ArrayRef<int64_t> shape) : shape(shape), factors(shape.size()) {
    skipUnits();
  }

  bool done() const { return dim == shape.size(); }
  /// Gives the current dim a factor of `size`, which divides what is left.
  void take(int64_t factor, int64_t size) {
    factors[dim].push_back(factor);
    left /= size;
    if (left == 1) {
      ++dim;
      skipUnits();
    }
  }
  void skipUnits() {
    while (!done() && shape[dim] == 1)
      ++dim;
    left = done() ? 1 : shape[dim];
  }
  /// Elements in what is left of this dim and all later ones.
  int64_t volume() const {
    int64_t elements = left;
    for (size_t i = dim + 1; i < shape.size(); ++i)
      elements *= shape[i];
    return elements;
  }

  ArrayRef<int64_t> shape;
  SmallVector<SmallVector<int64_t, 2>> factors;
  size_t dim = 0;
  int64_t left = 1;
};
} // namespace

/// The map of a dim with `factors`, major to minor.
static IndexMap mergeOf(const ShardingRule &rule, ArrayRef<int64_t> factors) {
  IndexMap map;
  int64_t coefficient = 1;
  for (int64_t factor : llvm::reverse(factors)) {
    map.terms.push_back({factor, coefficient});
    coefficient *= rule.factors[factor].size;
  }
  std::reverse(map.terms.begin(), map.terms.end());
  return map;
}

static FailureOr<ShardingRule> reshapeRule(stablehlo::ReshapeOp op) {
  Side from(shapeOf(op.getOperand())), to(shapeOf(op.getResult()));
  ShardingRule rule;
  if (llvm::is_contained(from.shape, 0)) {
    rule.operands.push_back(
        newFactors(rule, from.shape, FactorKind::NeedReplication));
    rule.results.push_back(
        newFactors(rule, to.shape, FactorKind::NeedReplication));
    return rule;
  }
  while (!from.done() && !to.done()) {
    int64_t common = std::gcd(from.left, to.left);
    if (common > 1) {
      int64_t factor = rule.addFactor(common);
      from.take(factor, common);
      to.take(factor, common);
      continue;
    }
    // No common factor until both have the same elements left.
    do {
      Side &longer = from.volume() >= to.volume() ? from : to;
      longer.take(rule.addFactor(longer.left, FactorKind::NeedReplication),
                  longer.left);
    } while (from.volume() != to.volume());
  }
  auto mergeAll = [&](const Side &side) {
    TensorRule tensor;
    for (ArrayRef<int64_t> factors : side.factors)
      tensor.dims.push_back(mergeOf(rule, factors));
    return tensor;
  };
  rule.operands.push_back(mergeAll(from));
  rule.results.push_back(mergeAll(to));
  // A minor part of a result dim cannot be cut: its elements would not be one
  // block.
  for (const IndexMap &map : rule.results[0].dims)
    for (const IndexTerm &term :
         llvm::drop_begin(map.terms, map.terms.empty() ? 0 : 1))
      rule.factors[term.factor].kind = FactorKind::NeedReplication;
  // Where a minor part is cut on one side, the major one is cut on the other,
  // and the other way round: an exchange of blocks, where else the dim were
  // gathered.
  for (const TensorRule *tensor : {&rule.operands[0], &rule.results[0]})
    for (const IndexMap &map : tensor->dims)
      for (const IndexTerm &term : map.terms)
        for (const IndexTerm &other : map.terms)
          if (term.factor != other.factor)
            rule.factors[term.factor].carriers.push_back(other.factor);
  return rule;
}

//===----------------------------------------------------------------------===//
// Local form
//===----------------------------------------------------------------------===//

/// True if a term of `map` after the first is cut.
static bool isCutInside(const IndexMap &map, Localization &localization) {
  return llvm::any_of(llvm::drop_begin(map.terms, map.terms.empty() ? 0 : 1),
                      [&](const IndexTerm &term) {
                        return localization.isSharded(term.factor);
                      });
}

/// Dims of two global shapes that hold the same elements, group by group; dims
/// of one element belong to a neighbouring group.
struct DimGroups {
  SmallVector<ReassociationIndices> from, to;
};
static DimGroups matchDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> fromGroup(from.size(), 0), toGroup(to.size(), 0);
  auto skipOnes = [](ArrayRef<int64_t> shape, size_t dim) {
    while (dim < shape.size() && shape[dim] == 1)
      ++dim;
    return dim;
  };
  size_t f = skipOnes(from, 0), t = skipOnes(to, 0), count = 0;
  for (; f < from.size() && t < to.size(); ++count) {
    int64_t left = from[f], right = to[t];
    fromGroup[f] = toGroup[t] = count;
    while (left != right) {
      bool growLeft = left < right;
      size_t &dim = growLeft ? f : t;
      ArrayRef<int64_t> shape = growLeft ? from : to;
      dim = skipOnes(shape, dim + 1);
      (growLeft ? fromGroup : toGroup)[dim] = count;
      (growLeft ? left : right) *= shape[dim];
    }
    f = skipOnes(from, f + 1);
    t = skipOnes(to, t + 1);
  }
  auto collect = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> group) {
    SmallVector<ReassociationIndices> parts(std::max<size_t>(count, 1));
    int64_t current = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (shape[dim] != 1)
        current = group[dim];
      parts[current].push_back(dim);
    }
    return parts;
  };
  return {collect(from, fromGroup), collect(to, toGroup)};
}

/// `value` as `type`, whose dims have `sizes`. `from` and `to` are the global
/// extents of both, which say what belongs together where sizes are unknown.
static Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                       RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                       ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto valueType = cast<RankedTensorType>(value.getType());
  if (valueType == type)
    return value;
  if (type.hasStaticShape() && valueType.hasStaticShape())
    return stablehlo::ReshapeOp::create(builder, loc, type, value);
  DimGroups groups = matchDims(from, to);
  auto merged = [&](RankedTensorType whole,
                    ArrayRef<ReassociationIndices> parts) {
    SmallVector<int64_t> shape;
    for (const ReassociationIndices &part : parts) {
      int64_t count = 1;
      for (int64_t dim : part)
        count = whole.isDynamicDim(dim) || ShapedType::isDynamic(count)
                    ? ShapedType::kDynamic
                    : count * whole.getDimSize(dim);
      shape.push_back(count);
    }
    return whole.clone(shape);
  };
  auto isMerge = [](const ReassociationIndices &part) {
    return part.size() > 1;
  };
  if (llvm::any_of(groups.from, isMerge))
    value = tensor::CollapseShapeOp::create(
        builder, loc, merged(valueType, groups.from), value, groups.from);
  value = castTo(builder, loc, value, merged(type, groups.to));
  if (llvm::any_of(groups.to, isMerge))
    value = tensor::ExpandShapeOp::create(builder, loc, type, value, groups.to,
                                          sizes);
  return value;
}

static RankedTensorType typeOf(Type elementType, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, elementType);
}

/// Splits the dims of the local operand whose minor factors are cut (their
/// needed elements are no block, the operand holds the hull) and drops what
/// this rank does not need. With sizes s of factors of extent f, the dim is
/// padded to s0 * f1 * f2 ..., split, and cut to s0, s1, s2 ...
/// `extents` becomes the global extents of the result's dims.
static Value takeApart(Operation *op, Localization &localization, Value operand,
                       SmallVectorImpl<int64_t> &extents) {
  OpBuilder &builder = localization.builder();
  Location loc = op->getLoc();
  Type elementType = cast<RankedTensorType>(operand.getType()).getElementType();
  const ShardingRule &rule = localization.rule();
  auto times = [&](OpFoldResult size, int64_t factor) -> OpFoldResult {
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      return builder.getIndexAttr(*constant * factor);
    Value scale = arith::ConstantIndexOp::create(builder, loc, factor);
    return arith::MulIOp::create(builder, loc, cast<Value>(size), scale)
        .getResult();
  };
  auto minus = [&](OpFoldResult lhs, OpFoldResult rhs) -> OpFoldResult {
    std::optional<int64_t> a = getConstantIntValue(lhs),
                           b = getConstantIntValue(rhs);
    if (a && b)
      return builder.getIndexAttr(*a - *b);
    return arith::SubIOp::create(
               builder, loc, getValueOrCreateConstantIndexOp(builder, loc, lhs),
               getValueOrCreateConstantIndexOp(builder, loc, rhs))
        .getResult();
  };
  SmallVector<OpFoldResult> none, high, padded, split, kept;
  ArrayRef<int64_t> global = shapeOf(op->getOperand(0));
  extents.clear();
  for (auto [dim, map] : llvm::enumerate(rule.operands[0].dims)) {
    OpFoldResult size = dimOf(builder, loc, operand, dim);
    none.push_back(builder.getIndexAttr(0));
    if (!isCutInside(map, localization)) {
      high.push_back(builder.getIndexAttr(0));
      extents.push_back(global[dim]);
      for (SmallVectorImpl<OpFoldResult> *sizes : {&padded, &split, &kept})
        sizes->push_back(size);
      continue;
    }
    OpFoldResult major = localization.factorSize(map.terms[0].factor);
    padded.push_back(times(major, map.terms[0].coefficient));
    high.push_back(minus(padded.back(), size));
    split.push_back(major);
    kept.push_back(major);
    extents.push_back(rule.factors[map.terms[0].factor].size);
    for (const IndexTerm &term : llvm::drop_begin(map.terms)) {
      extents.push_back(rule.factors[term.factor].size);
      split.push_back(builder.getIndexAttr(extents.back()));
      kept.push_back(localization.factorSize(term.factor));
    }
  }
  Value whole = padWithZeros(builder, loc, operand, none, high,
                             typeOf(elementType, padded));
  Value parts = reshapeTo(builder, loc, whole, typeOf(elementType, split),
                          split, global, extents);
  SmallVector<OpFoldResult> offsets(split.size(), builder.getIndexAttr(0)),
      strides(split.size(), builder.getIndexAttr(1));
  return takePart(builder, loc, typeOf(elementType, kept), parts, offsets, kept,
                  strides);
}

static LocalResults localizeReshape(stablehlo::ReshapeOp op,
                                    Localization &localization) {
  const ShardingRule &rule = localization.rule();
  for (const IndexMap &map : rule.results[0].dims)
    if (isCutInside(map, localization))
      return op.emitOpError("merges dims of which a minor one is cut; cut the "
                            "most major one instead, "
                            "or make the operand whole");
  Value operand = localization.operands()[0];
  SmallVector<int64_t> extents(shapeOf(op.getOperand()));
  if (llvm::any_of(rule.operands[0].dims, [&](const IndexMap &map) {
        return isCutInside(map, localization);
      }))
    operand = takeApart(op, localization, operand, extents);
  Value local = reshapeTo(
      localization.builder(), op.getLoc(), operand, localization.resultType(0),
      resultSizes(localization, 0), extents, shapeOf(op.getResult()));
  return SmallVector<Value>{local};
}

void rules::attachReshape(MLIRContext *context) {
  attach<stablehlo::ReshapeOp, reshapeRule, localizeReshape>(context);
}

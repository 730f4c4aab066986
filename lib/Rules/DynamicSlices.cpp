//===- DynamicSlices.cpp - Slices that start where the program says -------===//
//
// Starts are the same on all ranks. Along a cut dim, a slice asks the ranks
// that own it for rows; of nearly all of a dim it is a window that moves by
// little, and reads past its block by as much. An update is written by the
// ranks that own its place, each its part: it is there whole, or comes from
// those that have the parts.
//
//===----------------------------------------------------------------------===//
#include "Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Layout/ExtentSums.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

static bool isCut(Localization &localization, const IndexMap &map) {
  return llvm::any_of(map.terms, [&](const IndexTerm &term) {
    return localization.isSharded(term.factor);
  });
}

/// The start of a slice of `size` of a dim of `extent` elements, clamped, as an
/// index.
static Value clampedStart(Localization &localization, Location loc, Value start,
                          int64_t extent, int64_t size) {
  OpBuilder &builder = localization.builder();
  auto element = cast<IntegerType>(getElementTypeOrSelf(start.getType()));
  // Unsigned numbers above all i64 would be negative.
  if (element.isUnsigned() && element.getWidth() == 64) {
    if (localization.isOpen(extent) || localization.isOpen(size))
      localization.refuse(
          "extents that are known when the program is compiled");
    auto scalar = RankedTensorType::get({}, element);
    Value most = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(
            DenseElementsAttr::get(scalar, APInt(64, extent - size)))));
    start = stablehlo::MinOp::create(builder, loc, scalar, start, most);
  }
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  if (start.getType() != scalar)
    start = stablehlo::ConvertOp::create(builder, loc, scalar, start);
  Value index = tensor::ExtractOp::create(builder, loc, start, ValueRange());
  index =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto bound = [&](int64_t number) {
    return getValueOrCreateConstantIndexOp(builder, loc,
                                           localization.numberOf(number));
  };
  Value last =
      builder.createOrFold<arith::SubIOp>(loc, bound(extent), bound(size));
  Value raised = arith::MaxSIOp::create(builder, loc, index, zero);
  return arith::MinSIOp::create(builder, loc, raised, last);
}

namespace {
/// A part of a local tensor, cut out along dims that are whole on this rank.
struct LocalPart {
  LocalPart(OpBuilder &builder, Location loc, Value whole)
      : whole(whole), type(cast<RankedTensorType>(whole.getType())),
        offsets(type.getRank(), builder.getIndexAttr(0)),
        strides(type.getRank(), builder.getIndexAttr(1)) {
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(dimOf(builder, loc, whole, d));
  }

  void cut(Localization &localization, int64_t dim, Value start, int64_t size) {
    cut(dim, start, localization.isOpen(size) ? ShapedType::kDynamic : size,
        localization.numberOf(size));
  }
  void cut(int64_t dim, Value start, int64_t size, OpFoldResult sizeValue) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    type = type.clone(shape);
    offsets[dim] = start;
    sizes[dim] = sizeValue;
  }
  bool isEmpty() const { return llvm::is_contained(type.getShape(), 0); }
  Value take(OpBuilder &builder, Location loc) const {
    return takePart(builder, loc, type, whole, offsets, sizes, strides);
  }
  Value putBack(OpBuilder &builder, Location loc, Value part) const {
    return putPart(builder, loc, part, whole, offsets, sizes, strides);
  }

  Value whole;
  RankedTensorType type; ///< of the part
  SmallVector<OpFoldResult> offsets, strides, sizes;
};
} // namespace

/// The starts of `dims`, as one index vector.
static Value indexVector(OpBuilder &builder, Location loc, ValueRange starts,
                         ArrayRef<int64_t> dims) {
  SmallVector<Value> parts;
  Type element = getElementTypeOrSelf(starts[dims.front()].getType());
  for (int64_t dim : dims) {
    auto one = RankedTensorType::get({1}, element);
    parts.push_back(
        stablehlo::ReshapeOp::create(builder, loc, one, starts[dim]));
  }
  if (parts.size() == 1)
    return parts.front();
  auto type =
      RankedTensorType::get({static_cast<int64_t>(parts.size())}, element);
  return stablehlo::ConcatenateOp::create(builder, loc, type, parts, 0);
}

/// `dims` of a tensor are addressed from one index vector on; the others go
/// along.
static RowAccess accessOf(ArrayRef<int64_t> dims, ArrayRef<int64_t> slices) {
  RowAccess access;
  for (auto [i, dim] : llvm::enumerate(dims))
    access.rows.push_back({dim, static_cast<int64_t>(i), slices[dim], dim});
  for (int64_t dim = 0, e = slices.size(); dim < e; ++dim)
    if (!llvm::is_contained(dims, dim))
      access.kept.push_back({dim, dim});
  return access;
}

//===----------------------------------------------------------------------===//
// dynamic_slice
//===----------------------------------------------------------------------===//

/// A window moves by no more than one part in so many of what it takes: then
/// what all positions may read is at most an 8th more. [limit]
static constexpr int64_t kLeastTaken = 8;

/// By how much the start of a slice of `part` of a dim of `size` elements may
/// move, where that is little in all bindings, and no more than what a rank has
/// of a dim that all ranks share; none where it is not.
static std::optional<int64_t> smallMove(stablehlo::DynamicSliceOp op,
                                        int64_t size, int64_t part) {
  std::optional<int64_t> move = size - part;
  if (*move <= 0 || *move > part / kLeastTaken)
    return std::nullopt;
  if (auto module = op->getParentOfType<ModuleOp>())
    for (auto meshOp : module.getOps<spmd::MeshOp>()) {
      spmd::MeshAttr mesh = meshOp.getMesh();
      bool isOpen = mesh.isOpen(size) || mesh.isOpen(part);
      if (*move > part / std::max<int64_t>(1, mesh.getNumRanks()) ||
          (isOpen && constantDifference(mesh.getExtents().getExtents(), size,
                                        part) != move))
        return std::nullopt;
    }
  return move;
}

/// True for dims that the rule takes as windows.
static bool movesLittle(const IndexMap &map) { return map.terms.size() > 1; }

/// Dims taken whole pass: their start is clamped to 0. Of those taken but for a
/// few elements, an iteration may read as many on as there are starts. Along
/// others rows are asked for.
static FailureOr<ShardingRule> dynamicSliceRule(stablehlo::DynamicSliceOp op) {
  ShardingRule rule;
  TensorRule operand, result;
  for (auto [size, part] :
       llvm::zip(shapeOf(op.getOperand()), op.getSliceSizes())) {
    if (size == part) {
      operand.dims.push_back(passingDim(rule, size));
      result.dims.push_back(operand.dims.back());
      continue;
    }
    if (std::optional<int64_t> move = smallMove(op, size, part)) {
      IndexMap map = passingDim(rule, part);
      result.dims.push_back(map);
      map.terms.push_back(
          {rule.addFactor(*move + 1, FactorKind::NeedReplication), 1});
      operand.dims.push_back(map);
      continue;
    }
    int64_t factor = rule.addFactor(size, FactorKind::Distributed);
    rule.factors[factor].travels = true;
    rule.factors[factor].askedBytes =
        bytesOf(op.getResult()) + 8 * double(part);
    operand.dims.push_back(IndexMap::identity(factor));
    result.dims.push_back(part == 1 ? IndexMap() : passingDim(rule, part));
  }
  rule.operands.push_back(operand);
  rule.operands.append(op.getStartIndices().size(), TensorRule());
  rule.results.push_back(result);
  return rule;
}

static LocalResults localizeDynamicSlice(stablehlo::DynamicSliceOp op,
                                         Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  RankedTensorType type = localization.resultType(0);
  Value local = localization.operands()[0];
  ValueRange starts = localization.operands().drop_front();
  ArrayRef<int64_t> extents = shapeOf(op.getOperand()),
                    slices = op.getSliceSizes();
  const ShardingRule &rule = localization.rule();
  SmallVector<int64_t> asked, own;
  for (int64_t d = 0, e = extents.size(); d < e; ++d) {
    if (extents[d] == slices[d])
      continue;
    const IndexMap &map = rule.operands[0].dims[d];
    bool isAsked =
        !movesLittle(map) && (isCut(localization, map) ||
                              isCut(localization, rule.results[0].dims[d]));
    (isAsked ? asked : own).push_back(d);
  }
  bool isStatic = type.hasStaticShape() &&
                  cast<RankedTensorType>(local.getType()).hasStaticShape();
  if (asked.empty() && isStatic) {
    auto slice = cast<stablehlo::DynamicSliceOp>(cloneLocal(op, localization));
    slice.setSliceSizes(type.getShape());
    return SmallVector<Value>{slice.getResult()};
  }
  // Dims of which this rank has all that it takes first: what is left of the
  // operand is small.
  auto isWindow = [&](int64_t d) {
    return movesLittle(rule.operands[0].dims[d]) &&
           localization.isOperandDimLocal(0, d);
  };
  if (!own.empty()) {
    LocalPart part(builder, loc, local);
    for (int64_t d : own) {
      Value start =
          clampedStart(localization, loc, starts[d], extents[d], slices[d]);
      if (!isWindow(d)) {
        part.cut(localization, d, start, slices[d]);
        continue;
      }
      // From the same place of what is read as of the whole; of no elements
      // from none.
      auto index = [&](OpFoldResult value) {
        return getValueOrCreateConstantIndexOp(builder, loc, value);
      };
      OpFoldResult size = localization.resultDimSize(0, d);
      Value last = builder.createOrFold<arith::SubIOp>(
          loc, index(dimOf(builder, loc, local, d)), index(size));
      part.cut(d, arith::MinSIOp::create(builder, loc, start, last),
               type.getDimSize(d), size);
    }
    if (part.isEmpty()) {
      Value zero = neutralElement(builder, loc, spmd::ReductionKind::Sum,
                                  part.type.getElementType());
      local = broadcastScalar(builder, loc, zero, part.type, part.sizes);
    } else {
      local = part.take(builder, loc);
    }
  }
  if (asked.empty())
    return SmallVector<Value>{castTo(builder, loc, local, type)};
  localization.carriesFormulas();
  RowTables tables = {localization.operandTables(0),
                      {localization.wholeTable(asked.size())},
                      localization.resultTables(0)};
  for (int64_t d : own)
    tables.addressed[d] =
        isWindow(d) ? tables.positions[d] : localization.wholeTable(slices[d]);
  Value indices = indexVector(builder, loc, starts, asked);
  return SmallVector<Value>{gatherRows(
      localization, op, accessOf(asked, slices), tables, local, indices, type)};
}

//===----------------------------------------------------------------------===//
// dynamic_update_slice
//===----------------------------------------------------------------------===//

/// Dims replaced whole pass. Of others, owners write what is theirs.
static FailureOr<ShardingRule>
dynamicUpdateSliceRule(stablehlo::DynamicUpdateSliceOp op) {
  ShardingRule rule;
  TensorRule operand, update;
  for (auto [size, part] :
       llvm::zip(shapeOf(op.getOperand()), shapeOf(op.getUpdate()))) {
    if (size == part) {
      operand.dims.push_back(passingDim(rule, size));
      update.dims.push_back(operand.dims.back());
      continue;
    }
    operand.dims.push_back(
        IndexMap::identity(rule.addFactor(size, FactorKind::Distributed)));
    if (part == 1) {
      update.dims.push_back(IndexMap());
      continue;
    }
    int64_t factor = rule.addFactor(part, FactorKind::Distributed);
    rule.factors[factor].travels = true;
    rule.factors[factor].askedBytes =
        bytesOf(op.getUpdate()) + 16 * double(part);
    update.dims.push_back(IndexMap::identity(factor));
  }
  rule.operands = {operand, update};
  rule.operands.append(op.getStartIndices().size(), TensorRule());
  rule.results.push_back(operand);
  return rule;
}

/// The whole update is here: this rank writes the part that is in its block.
static Value writeOwnPart(stablehlo::DynamicUpdateSliceOp op,
                          Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  Value into = localization.operands()[0], update = localization.operands()[1];
  auto type = cast<RankedTensorType>(into.getType()),
       updateType = cast<RankedTensorType>(update.getType());
  if (llvm::is_contained(type.getShape(), 0) ||
      llvm::is_contained(updateType.getShape(), 0))
    return into;
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      from(offsets), sizes, strides(rank, builder.getIndexAttr(1));
  SmallVector<int64_t> shape(updateType.getShape());
  auto index = [&](OpFoldResult value) -> Value {
    if (auto known = getConstantIntValue(value))
      return arith::ConstantIndexOp::create(builder, loc, *known);
    return cast<Value>(value);
  };
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = shapeOf(op.getOperand())[d],
            part = shapeOf(op.getUpdate())[d];
    sizes.push_back(dimOf(builder, loc, update, d));
    if (extent == part)
      continue;
    Value start = clampedStart(localization, loc,
                               localization.operands()[2 + d], extent, part);
    if (!localization.isOperandDimLocal(0, d)) {
      offsets[d] = start;
      continue;
    }
    Value begin = index(localization.resultDimOffset(0, d)),
          size = index(localization.resultDimSize(0, d));
    Value zero = index(builder.getIndexAttr(0)),
          length = index(localization.numberOf(part));
    // In the block's own numbers, cut to the block.
    Value low = arith::SubIOp::create(builder, loc, start, begin);
    Value high = arith::AddIOp::create(builder, loc, low, length);
    auto cutToBlock = [&](Value value) -> Value {
      Value raised = arith::MaxSIOp::create(builder, loc, value, zero);
      return arith::MinSIOp::create(builder, loc, raised, size);
    };
    Value first = cutToBlock(low), last = cutToBlock(high);
    Value count = arith::SubIOp::create(builder, loc, last, first);
    Value skipped = arith::SubIOp::create(builder, loc, first, low);
    // Where nothing is written, what is skipped may be outside of the update.
    skipped = arith::MinSIOp::create(
        builder, loc, arith::MaxSIOp::create(builder, loc, skipped, zero),
        length);
    offsets[d] = first;
    from[d] = skipped;
    sizes[d] = count;
    shape[d] = ShapedType::kDynamic;
  }
  Value part = takePart(builder, loc, updateType.clone(shape), update, from,
                        sizes, strides);
  return putPart(builder, loc, part, into, offsets, sizes, strides);
}

/// The update comes in parts: their rows go to the ranks that own the places.
/// What moves along dims that are whole everywhere is cut out before, and put
/// back.
static Value sendParts(stablehlo::DynamicUpdateSliceOp op,
                       Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  ArrayRef<int64_t> extents = shapeOf(op.getOperand()),
                    parts = shapeOf(op.getUpdate());
  const ShardingRule &rule = localization.rule();
  Value into = localization.operands()[0];
  int64_t rank = extents.size();
  LocalPart part(builder, loc, into);
  SmallVector<int64_t> sent;
  localization.carriesFormulas();
  RowTables tables = {
      localization.operandTables(0), {}, localization.operandTables(1)};
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  SmallVector<Value> starts(rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (extents[d] == parts[d])
      continue;
    Value start =
        clampedStart(localization, loc, localization.operands()[2 + d],
                     extents[d], parts[d]);
    if (isCut(localization, rule.operands[0].dims[d]) ||
        isCut(localization, rule.operands[1].dims[d])) {
      // Starts are clamped, which those of rows are not.
      start =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), start);
      starts[d] = tensor::FromElementsOp::create(builder, loc, scalar, start);
      sent.push_back(d);
      continue;
    }
    part.cut(localization, d, start, parts[d]);
    tables.addressed[d] = localization.wholeTable(parts[d]);
  }
  tables.indices = {localization.wholeTable(sent.size())};
  bool isPart = part.type != into.getType() && !part.isEmpty();
  Value target = isPart ? part.take(builder, loc) : into;
  Value indices = indexVector(builder, loc, starts, sent);
  Value written =
      scatterRows(localization, op, accessOf(sent, parts), tables, target,
                  indices, localization.operands()[1], std::nullopt);
  return isPart ? part.putBack(builder, loc, written) : written;
}

static LocalResults
localizeDynamicUpdateSlice(stablehlo::DynamicUpdateSliceOp op,
                           Localization &localization) {
  ArrayRef<int64_t> extents = shapeOf(op.getOperand()),
                    parts = shapeOf(op.getUpdate());
  const ShardingRule &rule = localization.rule();
  bool isInParts = false, isOwned = false;
  for (int64_t d = 0, e = extents.size(); d < e; ++d) {
    if (extents[d] == parts[d])
      continue;
    isInParts |= isCut(localization, rule.operands[1].dims[d]);
    isOwned |= isCut(localization, rule.operands[0].dims[d]);
  }
  if (!isInParts && !isOwned)
    return localizeByCloning(op, localization);
  if (!isInParts)
    return SmallVector<Value>{writeOwnPart(op, localization)};
  return SmallVector<Value>{sendParts(op, localization)};
}

void rules::attachDynamicSlices(MLIRContext *context) {
  attach<stablehlo::DynamicSliceOp, dynamicSliceRule, localizeDynamicSlice>(
      context);
  attach<stablehlo::DynamicUpdateSliceOp, dynamicUpdateSliceRule,
         localizeDynamicUpdateSlice>(context);
}

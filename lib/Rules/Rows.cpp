//===- Rows.cpp - Local forms that ask for rows by index ------------------===//
#include "Rows.h"
#include "Distribution.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

namespace {

/// An access with dims in the order that the spmd ops want: addressed dims side
/// by side; positions as outer dims, batch, parts of slices, inner dims.
struct CanonicalRows {
  SmallVector<int64_t> addressedOrder; ///< dims of the addressed tensor
  int64_t first = 0;
  SmallVector<int64_t>
      positionsOrder; ///< dims of positions, slices of one left out
};

} // namespace

static CanonicalRows canonicalise(const RowAccess &access) {
  CanonicalRows result;
  int64_t begin = access.rows.front().dim, count = access.rows.size();
  bool isContiguous = access.rows.back().dim == begin + count - 1;
  SmallVector<int64_t> outer, inner;
  SmallVector<int64_t> outerPositions, innerPositions;
  for (auto [dim, position] : access.kept) {
    bool isOuter = isContiguous && dim < begin;
    (isOuter ? outer : inner).push_back(dim);
    (isOuter ? outerPositions : innerPositions).push_back(position);
  }
  result.first = outer.size();
  result.addressedOrder = outer;
  result.positionsOrder = outerPositions;
  for (auto [dim, position] : access.batch)
    result.positionsOrder.push_back(position);
  for (const RowDim &row : access.rows) {
    result.addressedOrder.push_back(row.dim);
    if (row.slice != 1)
      result.positionsOrder.push_back(row.positionsDim);
  }
  llvm::append_range(result.addressedOrder, inner);
  llvm::append_range(result.positionsOrder, innerPositions);
  return result;
}

static Value transposed(OpBuilder &builder, Location loc, Value value,
                        ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return stablehlo::TransposeOp::create(builder, loc, type.clone(shape), value,
                                        builder.getDenseI64ArrayAttr(order));
}

/// `value` as `type`, which has the same elements; `sizes` are all sizes of it.
static Value reshaped(OpBuilder &builder, Location loc, Value value,
                      RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  if (value.getType() == type)
    return value;
  if (type.hasStaticShape() &&
      cast<RankedTensorType>(value.getType()).hasStaticShape())
    return stablehlo::ReshapeOp::create(builder, loc, type, value);
  return stablehlo::DynamicReshapeOp::create(builder, loc, type, value,
                                             shapeTensor(builder, loc, sizes));
}

/// Dims of a tensor that differ by rank or by binding, numbered in `order`.
static ArrayAttr tablesAttr(Localization &localization,
                            ArrayRef<IntervalTable> tables,
                            ArrayRef<int64_t> order) {
  SmallVector<Attribute> attrs;
  for (auto [place, dim] : llvm::enumerate(order))
    if (!tables[dim].axes.empty() || tables[dim].formula.isOpen())
      attrs.push_back(
          localization.exchangeAttr(place, tables[dim], tables[dim]));
  return localization.builder().getArrayAttr(attrs);
}

static Value makePlan(Localization &localization, Operation *op,
                      const RowAccess &access, const RowTables &tables,
                      Value indices, StringRef why) {
  OpBuilder &builder = localization.builder();
  SmallVector<Attribute> rows;
  SmallVector<int64_t> components, slices;
  for (auto [i, row] : llvm::enumerate(access.rows)) {
    IntervalTable part{{}, {Interval{0, row.slice}}};
    if (row.positionsDim >= 0 && row.slice != 1)
      part = tables.positions[row.positionsDim];
    rows.push_back(
        localization.exchangeAttr(i, tables.addressed[row.dim], part));
    components.push_back(row.component);
    slices.push_back(row.slice);
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, tables.indices.size()));
  return spmd::RowPlanOp::create(
      builder, op->getLoc(), builder.getI64Type(), indices,
      builder.getI64IntegerAttr(access.vectorDim),
      builder.getDenseI64ArrayAttr(components),
      builder.getDenseI64ArrayAttr(slices), builder.getArrayAttr(rows),
      tablesAttr(localization, tables.indices, order), localization.meshName(),
      builder.getStringAttr(why));
}

static std::string reasonFor(Operation *op, const RowAccess &access,
                             const RowTables &tables, StringRef what) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "'" << op->getName() << "' " << what << " by index along dim";
  SmallVector<int64_t> cut;
  for (const RowDim &row : access.rows)
    if (!tables.addressed[row.dim].axes.empty())
      cut.push_back(row.dim);
  if (cut.size() != 1)
    os << 's';
  os << ' ';
  llvm::interleaveComma(cut, os);
  os << (cut.empty()      ? "none that is cut"
         : cut.size() > 1 ? ", which are cut"
                          : ", which is cut");
  return text;
}

/// The sizes of this rank's positions, by dim.
static SmallVector<OpFoldResult> sizesOf(Localization &localization,
                                         ArrayRef<IntervalTable> tables) {
  SmallVector<OpFoldResult> sizes;
  for (const IntervalTable &table : tables)
    sizes.push_back(sizeAt(localization, table));
  return sizes;
}

Value rules::gatherRows(Localization &localization, Operation *op,
                        const RowAccess &access, const RowTables &tables,
                        Value operand, Value indices, RankedTensorType type) {
  OpBuilder &builder = localization.builder();
  Location loc = op->getLoc();
  CanonicalRows canonical = canonicalise(access);
  Value plan = makePlan(localization, op, access, tables, indices,
                        reasonFor(op, access, tables, "asks for rows"));
  Value source = transposed(builder, loc, operand, canonical.addressedOrder);
  SmallVector<int64_t> shape;
  for (int64_t dim : canonical.positionsOrder)
    shape.push_back(type.getDimSize(dim));
  Value rows = spmd::GatherRowsOp::create(
      builder, loc, type.clone(shape), plan, source,
      builder.getI64IntegerAttr(canonical.first),
      tablesAttr(localization, tables.addressed, canonical.addressedOrder),
      localization.meshName(),
      builder.getStringAttr(reasonFor(op, access, tables, "takes rows")));
  // Back: dim i of the positions without slices of one is the i-th least of the
  // order, which is at some place of it.
  SmallVector<int64_t> sorted(canonical.positionsOrder), back;
  llvm::sort(sorted);
  for (int64_t dim : sorted)
    back.push_back(llvm::find(canonical.positionsOrder, dim) -
                   canonical.positionsOrder.begin());
  return reshaped(builder, loc, transposed(builder, loc, rows, back), type,
                  sizesOf(localization, tables.positions));
}

Value rules::scatterRows(Localization &localization, Operation *op,
                         const RowAccess &access, const RowTables &tables,
                         Value into, Value indices, Value updates,
                         std::optional<spmd::ReductionKind> kind) {
  OpBuilder &builder = localization.builder();
  Location loc = op->getLoc();
  CanonicalRows canonical = canonicalise(access);
  Value plan = makePlan(localization, op, access, tables, indices,
                        reasonFor(op, access, tables, "sends rows"));
  // Slices of one have no dim of their own.
  auto type = cast<RankedTensorType>(updates.getType());
  SmallVector<int64_t> sorted(canonical.positionsOrder), shape, order;
  llvm::sort(sorted);
  SmallVector<OpFoldResult> all = sizesOf(localization, tables.positions),
                            sizes;
  for (int64_t dim : sorted) {
    shape.push_back(type.getDimSize(dim));
    sizes.push_back(all[dim]);
  }
  for (int64_t dim : canonical.positionsOrder)
    order.push_back(llvm::find(sorted, dim) - sorted.begin());
  Value rows = transposed(
      builder, loc, reshaped(builder, loc, updates, type.clone(shape), sizes),
      order);
  Value target = transposed(builder, loc, into, canonical.addressedOrder);
  spmd::ReductionKindAttr kindAttr;
  if (kind)
    kindAttr = spmd::ReductionKindAttr::get(builder.getContext(), *kind);
  Value result = spmd::ScatterRowsOp::create(
      builder, loc, target.getType(), plan, rows, target, kindAttr,
      builder.getI64IntegerAttr(canonical.first),
      tablesAttr(localization, tables.addressed, canonical.addressedOrder),
      localization.meshName(),
      builder.getStringAttr(reasonFor(op, access, tables, "writes rows")));
  SmallVector<int64_t> back(canonical.addressedOrder.size());
  for (auto [place, dim] : llvm::enumerate(canonical.addressedOrder))
    back[dim] = place;
  return transposed(builder, loc, result, back);
}

bool rules::canScatterRows(Type type, std::optional<spmd::ReductionKind> kind) {
  if (!kind)
    return true;
  bool isArithmetic = *kind == spmd::ReductionKind::Sum ||
                      *kind == spmd::ReductionKind::Product;
  bool isOrder =
      *kind == spmd::ReductionKind::Min || *kind == spmd::ReductionKind::Max;
  if (isa<ComplexType>(type))
    return isArithmetic;
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return isArithmetic || isOrder;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  if (integer.getWidth() == 1)
    return !isArithmetic && !isOrder;
  return integer.getWidth() >= 8;
}

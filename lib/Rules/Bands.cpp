//===- Bands.cpp - Products that read few rows for each result ------------===//
#include "Bands.h"
#include "Distribution.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

/// What makes `value`, before it was laid out for its use.
template <typename OpT> static OpT madeBy(Value value) {
  while (auto reshard = value.getDefiningOp<spmd::ReshardOp>())
    value = reshard.getInput();
  return value.getDefiningOp<OpT>();
}

/// The list that `value` compares the index along dim `rowDim` with, in
/// `direction`: one number a column.
static DenseElementsAttr boundOf(Value value, int64_t rowDim,
                                 stablehlo::ComparisonDirection direction) {
  auto compare = madeBy<stablehlo::CompareOp>(value);
  if (!compare || compare.getComparisonDirection() != direction)
    return {};
  auto rows = madeBy<stablehlo::IotaOp>(compare.getLhs());
  auto repeated = madeBy<stablehlo::BroadcastInDimOp>(compare.getRhs());
  if (!rows || int64_t(rows.getIotaDimension()) != rowDim || !repeated ||
      repeated.getBroadcastDimensions() != ArrayRef<int64_t>{1 - rowDim})
    return {};
  auto list = madeBy<stablehlo::ConstantOp>(repeated.getOperand());
  auto numbers =
      list ? dyn_cast<DenseElementsAttr>(list.getValue()) : DenseElementsAttr();
  return numbers && numbers.getElementType().isInteger(32) &&
                 numbers.getNumElements() == shapeOf(value)[1 - rowDim]
             ? numbers
             : DenseElementsAttr();
}

/// The rows of `matrix` outside of which zeros are selected, one interval a
/// column; none where that is not known.
static SmallVector<Interval, 0> bandOf(Value matrix, int64_t rowDim) {
  auto select = madeBy<stablehlo::SelectOp>(matrix);
  if (shapeOf(matrix).size() != 2 || !select)
    return {};
  auto zero = madeBy<stablehlo::ConstantOp>(select.getOnFalse());
  auto zeros =
      zero ? dyn_cast<DenseElementsAttr>(zero.getValue()) : DenseElementsAttr();
  auto inside = madeBy<stablehlo::AndOp>(select.getPred());
  if (!zeros || !inside ||
      !(matchPattern(zeros, m_AnyZeroFloat()) || matchPattern(zeros, m_Zero())))
    return {};
  DenseElementsAttr begins = boundOf(inside.getLhs(), rowDim,
                                     stablehlo::ComparisonDirection::GE),
                    ends = boundOf(inside.getRhs(), rowDim,
                                   stablehlo::ComparisonDirection::LT);
  if (!begins || !ends)
    return {};
  int64_t size = shapeOf(matrix)[rowDim];
  SmallVector<Interval, 0> rows;
  for (auto [begin, end] :
       llvm::zip_equal(begins.getValues<int32_t>(), ends.getValues<int32_t>()))
    rows.push_back({std::clamp<int64_t>(begin, 0, size),
                    std::clamp<int64_t>(end, begin, size)});
  return rows;
}

std::optional<BandedProduct> rules::bandedProduct(stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  if (!dims.getLhsBatchingDimensions().empty() ||
      dims.getLhsContractingDimensions().size() != 1 ||
      spmd::contract::WholeSum::has(op))
    return std::nullopt;
  int64_t contracted[] = {dims.getLhsContractingDimensions()[0],
                          dims.getRhsContractingDimensions()[0]};
  for (unsigned matrix : {0, 1})
    if (SmallVector<Interval, 0> rows =
            bandOf(op->getOperand(matrix), contracted[matrix]);
        !rows.empty())
      return BandedProduct{matrix, contracted[matrix], contracted[1 - matrix],
                           std::move(rows)};
  return std::nullopt;
}

/// The rows that columns [begin, end) read.
static Interval rowsOf(const BandedProduct &product, Interval columns) {
  Interval hull = {0, 0};
  for (int64_t column = columns.begin; column < columns.end; ++column) {
    Interval rows = product.rows[column];
    if (rows.size() <= 0)
      continue;
    hull = hull.size() <= 0 ? rows
                            : Interval{std::min(hull.begin, rows.begin),
                                       std::max(hull.end, rows.end)};
  }
  return hull;
}

/// Rows that cross the middle, as often as there are borders between two halves
/// at most: of more shards each border has as many.
static int64_t rowsAtBorder(const BandedProduct &product, int64_t numRows) {
  int64_t columns = product.rows.size();
  Interval first = rowsOf(product, {0, columns / 2}),
           second = rowsOf(product, {columns / 2, columns});
  return std::max<int64_t>(0, first.end - numRows / 2) +
         std::max<int64_t>(0, numRows / 2 - second.begin);
}

/// Factors: rows as the matrix has them, which are whole; rows as the other
/// operand has them, which travel; columns; the other operand's other dims.
ShardingRule rules::bandedRule(stablehlo::DotGeneralOp op,
                               const BandedProduct &product) {
  Value matrix = op->getOperand(product.matrix),
        other = op->getOperand(1 - product.matrix);
  int64_t numRows = shapeOf(matrix)[product.rowDim];
  ShardingRule rule;
  rule.operands.resize(2);
  TensorRule &matrixRule = rule.operands[product.matrix],
             &otherRule = rule.operands[1 - product.matrix],
             &result = rule.results.emplace_back();
  matrixRule.dims.resize(2);
  matrixRule.dims[product.rowDim] = wholeDim(rule, numRows);
  IndexMap columns =
      IndexMap::identity(rule.addFactor(shapeOf(matrix)[1 - product.rowDim]));
  matrixRule.dims[1 - product.rowDim] = columns;
  int64_t rows = rule.addFactor(numRows, FactorKind::Distributed);
  rule.factors[rows].travels = true;
  rule.factors[rows].carriers = {columns.terms[0].factor};
  rule.factors[rows].movedBytes =
      bytesOf(other) * static_cast<double>(rowsAtBorder(product, numRows)) /
      static_cast<double>(std::max<int64_t>(1, numRows));
  SmallVector<IndexMap> others;
  for (auto [dim, size] : llvm::enumerate(shapeOf(other))) {
    bool isSummed = int64_t(dim) == product.otherDim;
    otherRule.dims.push_back(isSummed ? IndexMap::identity(rows)
                                      : passingDim(rule, size));
    if (!isSummed)
      others.push_back(otherRule.dims.back());
  }
  if (product.matrix == 0)
    result.dims.push_back(columns);
  result.dims.append(others.begin(), others.end());
  if (product.matrix == 1)
    result.dims.push_back(columns);
  return rule;
}

/// The rows that each rank needs. As many on all of them where that costs
/// nothing: outside of the operand there are zeros, which do not travel.
static IntervalTable rowsNeeded(const BandedProduct &product,
                                Localization &localization, int64_t numRows,
                                const IntervalTable &columns) {
  IntervalTable needed;
  needed.axes = columns.axes;
  int64_t most = 0;
  for (Interval interval : columns.intervals) {
    needed.intervals.push_back(rowsOf(product, interval));
    most = std::max(most, needed.intervals.back().size());
  }
  SmallVector<Interval> widened(needed.intervals);
  for (Interval &rows : widened) {
    if (rows.end == numRows)
      rows.end = rows.begin + most;
    else if (rows.begin == 0)
      rows.begin = rows.end - most;
    if (rows.size() != most)
      return needed;
  }
  needed.intervals.assign(widened.begin(), widened.end());
  return needed;
}

/// The rows `needed` of the local matrix, which has all of them, and zeros
/// outside.
static Value takeRows(const BandedProduct &product, Localization &localization,
                      Location loc, Value matrix, int64_t numRows,
                      const IntervalTable &needed) {
  OpBuilder &builder = localization.builder();
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t below = 0, above = 0;
  for (Interval rows : needed.intervals) {
    below = std::max(below, -rows.begin);
    above = std::max(above, rows.end - numRows);
  }
  SmallVector<OpFoldResult> sizes, zeros(2, builder.getIndexAttr(0)),
      ones(2, builder.getIndexAttr(1));
  for (int64_t dim : {0, 1})
    sizes.push_back(dimOf(builder, loc, matrix, dim));
  if (below > 0 || above > 0) {
    SmallVector<OpFoldResult> low(zeros), high(zeros);
    low[product.rowDim] = builder.getIndexAttr(below);
    high[product.rowDim] = builder.getIndexAttr(above);
    SmallVector<int64_t> shape(type.getShape());
    shape[product.rowDim] = below + numRows + above;
    type = type.clone(shape);
    matrix = padWithZeros(builder, loc, matrix, low, high, type);
  }
  IntervalTable moved = needed;
  for (Interval &rows : moved.intervals)
    rows = {rows.begin + below, rows.end + below};
  SmallVector<OpFoldResult> offsets(zeros);
  offsets[product.rowDim] = beginAt(localization, moved);
  sizes[product.rowDim] = sizeAt(localization, moved);
  SmallVector<int64_t> shape(type.getShape());
  std::optional<int64_t> size = getConstantIntValue(sizes[product.rowDim]);
  shape[product.rowDim] = size ? *size : ShapedType::kDynamic;
  return takePart(builder, loc, type.clone(shape), matrix, offsets, sizes,
                  ones);
}

LocalResults rules::localizeBanded(stablehlo::DotGeneralOp op,
                                   const BandedProduct &product,
                                   Localization &localization) {
  const ShardingRule &rule = localization.rule();
  unsigned other = 1 - product.matrix;
  int64_t rows = rule.operands[other].dims[product.otherDim].terms[0].factor,
          columns = rule.factors[rows].carriers[0];
  SmallVector<Value> operands(localization.operands());
  if (localization.isSharded(rows)) {
    // Which rows are read follows from numbers, not from what is bound.
    if (localization.isBoundLate())
      localization.carriesFormulas();
    int64_t numRows = rule.factors[rows].size;
    SmallVector<IntervalTable> owned = localization.operandTables(other),
                               needed = owned;
    bool isWhole =
        localization.isBoundLate() || !localization.isSharded(columns);
    needed[product.otherDim] =
        isWhole ? localization.wholeTable(numRows)
                : rowsNeeded(product, localization, numRows,
                             localization.factorTable(columns));
    Value zero = neutralElement(
        localization.builder(), op.getLoc(), spmd::ReductionKind::Sum,
        getElementTypeOrSelf(operands[other].getType()));
    operands[other] = localization.exchange(
        operands[other], owned, needed, zero,
        "reads a few rows along a dim that is cut for each of its results");
    if (!isWhole)
      operands[product.matrix] =
          takeRows(product, localization, op.getLoc(), operands[product.matrix],
                   numRows, needed[product.otherDim]);
  }
  return SmallVector<Value>{
      cloneLocal(op, localization, operands)->getResult(0)};
}

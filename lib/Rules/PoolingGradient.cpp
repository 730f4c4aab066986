//===- PoolingGradient.cpp - select_and_scatter ---------------------------===//
//
// Where windows lie side by side and cover the operand, it is cut between them.
// Elsewhere each rank makes its own rows of the result: it fetches all windows
// that reach into them (source, spread apart by the stride) and all that these
// windows look at (operand), and keeps its rows of what comes out.
//
//===----------------------------------------------------------------------===//
#include "RuleUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

namespace {
/// How a dim of select_and_scatter may be cut.
enum class DimForm {
  Apart,      ///< windows side by side that cover the dim: between windows
  Overlapping, ///< anywhere; windows that reach over the cut are done twice
  Whole
};
} // namespace

/// Scattered zeros must change nothing for windows that are none.
static bool addsToZero(stablehlo::SelectAndScatterOp op) {
  return recogniseReduction(op.getScatter(), 1) == spmd::ReductionKind::Sum &&
         isNeutral(op.getInitValue(), spmd::ReductionKind::Sum);
}

static DimForm formOf(stablehlo::SelectAndScatterOp op, size_t dim) {
  int64_t size = shapeOf(op.getOperand())[dim], source = shapeOf(op.getSource())[dim];
  int64_t window = op.getWindowDimensionsOrOnes()[dim], stride = op.getWindowStridesOrOnes()[dim];
  if (op.getPaddingOrZeros()[dim] != std::pair<int64_t, int64_t>(0, 0))
    return DimForm::Whole; // what lies outside must not be selected
  if (window == stride && source * window == size)
    return DimForm::Apart;
  return addsToZero(op) ? DimForm::Overlapping : DimForm::Whole;
}

/// Apart: source o, operand and result o * stride + j. Overlapping: result i, source
/// (i - j) / stride, operand i + k - (window - 1).
static FailureOr<ShardingRule> selectAndScatterRule(stablehlo::SelectAndScatterOp op) {
  SmallVector<int64_t> windows = op.getWindowDimensionsOrOnes(), strides = op.getWindowStridesOrOnes();
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), sourceSizes = shapeOf(op.getSource());
  ShardingRule rule;
  TensorRule operand, source, result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    switch (formOf(op, d)) {
    case DimForm::Whole:
      operand.dims.push_back(wholeDim(rule, sizes[d]));
      source.dims.push_back(wholeDim(rule, sourceSizes[d]));
      result.dims.push_back(operand.dims.back());
      break;
    case DimForm::Apart: {
      source.dims.push_back(passingDim(rule, sourceSizes[d]));
      IndexMap map = source.dims.back();
      if (windows[d] != 1) {
        map.terms[0].coefficient = windows[d];
        map.terms.push_back({rule.addFactor(windows[d], FactorKind::NeedReplication), 1});
      }
      operand.dims.push_back(map);
      result.dims.push_back(map);
      break;
    }
    case DimForm::Overlapping: {
      result.dims.push_back(passingDim(rule, sizes[d]));
      IndexMap in = result.dims.back(), out = in;
      if (windows[d] != 1) {
        out.terms.push_back({rule.addFactor(windows[d], FactorKind::NeedReplication), -1});
        in.terms.push_back({rule.addFactor(2 * windows[d] - 1, FactorKind::NeedReplication), 1});
        in.offset = 1 - windows[d];
      }
      out.baseDilation = strides[d];
      operand.dims.push_back(in);
      source.dims.push_back(out);
      break;
    }
    }
  }
  operand.fill = Fill::Operand; // where no window looks
  operand.fillOperand = 2;
  source.fill = Fill::Operand;
  source.fillOperand = 2;
  rule.operands = {operand, source, TensorRule()};
  rule.results = {result};
  return rule;
}

/// Along cut dims with overlapping windows every position is a window, most of them
/// with nothing to scatter, and the result has window - 1 rows too many on each side.
static LocalResults localizeSelectAndScatter(stablehlo::SelectAndScatterOp op, Localization &localization) {
  SmallVector<int64_t> windows = op.getWindowDimensionsOrOnes(), strides = op.getWindowStridesOrOnes();
  RankedTensorType type = localization.resultType(0);
  auto operandType = cast<RankedTensorType>(localization.operands()[0].getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<bool> isCut(shape.size(), false);
  for (size_t d = 0; d < shape.size(); ++d)
    if (formOf(op, d) == DimForm::Overlapping && localization.isResultDimLocal(0, d)) {
      isCut[d] = true;
      strides[d] = 1;
      shape[d] = operandType.getDimSize(d);
    }
  if (llvm::none_of(isCut, [](bool cut) { return cut; }))
    return localizeByCloning(op, localization);
  OpBuilder &builder = localization.builder();
  auto local = cast<stablehlo::SelectAndScatterOp>(cloneLocal(op, localization));
  local.setWindowStrides(ArrayRef<int64_t>(strides));
  local->getResult(0).setType(type.clone(shape));
  SmallVector<OpFoldResult> offsets, sizes = resultSizes(localization, 0);
  for (size_t d = 0; d < shape.size(); ++d)
    offsets.push_back(builder.getIndexAttr(isCut[d] ? windows[d] - 1 : 0));
  SmallVector<OpFoldResult> ones(shape.size(), builder.getIndexAttr(1));
  Value kept = tensor::ExtractSliceOp::create(builder, op.getLoc(), type, local->getResult(0), offsets, sizes, ones);
  return SmallVector<Value>{kept};
}

void rules::attachPoolingGradient(MLIRContext *context) {
  attach<stablehlo::SelectAndScatterOp, selectAndScatterRule, localizeSelectAndScatter>(context);
}

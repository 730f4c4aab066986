//===- Windows.cpp - Moving windows: pooling and its gradient -------------===//
#include "RuleUtils.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

/// Per dim: result index o, window index j (whole on every rank), and
/// o * stride + j * dilation - low in the dilated operand.
static FailureOr<ShardingRule> reduceWindowRule(stablehlo::ReduceWindowOp op) {
  unsigned count = op.getInputs().size();
  if (count == 0)
    return failure();
  SmallVector<int64_t> strides = op.getWindowStridesOrOnes(),
                       baseDilations = op.getBaseDilationsOrOnes(),
                       windowDilations = op.getWindowDilationsOrOnes();
  SmallVector<std::pair<int64_t, int64_t>> padding = op.getPaddingOrZeros();
  ShardingRule rule;
  TensorRule input, result = newFactors(rule, shapeOf(op.getResult(0)));
  for (auto [d, window] : llvm::enumerate(op.getWindowDimensions())) {
    IndexMap map = result.dims[d];
    map.terms[0].coefficient = strides[d];
    if (window != 1)
      map.terms.push_back({rule.addFactor(window, FactorKind::NeedReplication),
                           windowDilations[d]});
    map.offset = -padding[d].first;
    map.baseDilation = baseDilations[d];
    input.dims.push_back(map);
  }
  for (unsigned i = 0; i < count; ++i) {
    rule.operands.push_back(input);
    rule.operands.back().fill = Fill::Operand;
    rule.operands.back().fillOperand = count + i;
  }
  rule.operands.append(count, TensorRule());
  rule.results.assign(count, result);
  return rule;
}

/// Cut dims arrive padded and dilated.
static LocalResults localizeReduceWindow(stablehlo::ReduceWindowOp op,
                                         Localization &localization) {
  SmallVector<int64_t> baseDilations = op.getBaseDilationsOrOnes(), padding;
  for (auto [d, pad] : llvm::enumerate(op.getPaddingOrZeros())) {
    bool isLocal = localization.isOperandDimLocal(0, d);
    if (isLocal)
      baseDilations[d] = 1;
    padding.append({isLocal ? 0 : pad.first, isLocal ? 0 : pad.second});
  }
  auto local = cast<stablehlo::ReduceWindowOp>(cloneLocal(op, localization));
  local.setBaseDilations(ArrayRef<int64_t>(baseDilations));
  if (!baseDilations.empty()) {
    auto type =
        RankedTensorType::get({static_cast<int64_t>(baseDilations.size()), 2},
                              IntegerType::get(op.getContext(), 64));
    local.setPaddingAttr(
        DenseIntElementsAttr::get(type, ArrayRef<int64_t>(padding)));
  }
  return SmallVector<Value>(local->getResults());
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// Dims that no window moves over pass. Where windows lie side by side and
/// cover the operand (o the window, j the place in it), they are cut between
/// windows: o * stride + j. Other dims are whole.
static FailureOr<ShardingRule>
selectAndScatterRule(stablehlo::SelectAndScatterOp op) {
  SmallVector<int64_t> windows = op.getWindowDimensionsOrOnes(),
                       strides = op.getWindowStridesOrOnes();
  SmallVector<std::pair<int64_t, int64_t>> padding = op.getPaddingOrZeros();
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()),
                    sourceSizes = shapeOf(op.getSource());
  ShardingRule rule;
  TensorRule operand, source;
  for (size_t d = 0; d < sizes.size(); ++d) {
    bool isPadded = padding[d] != std::pair<int64_t, int64_t>(0, 0);
    if (isPadded || windows[d] != strides[d] ||
        sourceSizes[d] * windows[d] != sizes[d]) {
      operand.dims.push_back(wholeDim(rule, sizes[d]));
      source.dims.push_back(wholeDim(rule, sourceSizes[d]));
      continue;
    }
    source.dims.push_back(passingDim(rule, sourceSizes[d]));
    IndexMap map = source.dims.back();
    if (windows[d] != 1) {
      map.terms[0].coefficient = windows[d];
      map.terms.push_back(
          {rule.addFactor(windows[d], FactorKind::NeedReplication), 1});
    }
    operand.dims.push_back(map);
  }
  rule.operands = {operand, source, TensorRule()};
  rule.results = {operand};
  return rule;
}

void rules::attachWindows(MLIRContext *context) {
  attach<stablehlo::ReduceWindowOp, reduceWindowRule, localizeReduceWindow>(
      context);
  attach<stablehlo::SelectAndScatterOp, selectAndScatterRule>(context);
}

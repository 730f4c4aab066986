//===- Windows.cpp - Moving windows: pooling and its gradient -------------===//
#include "Distribution.h"
#include "Scans.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Layout/NearbyExtents.h"
#include "shardc/Support/Slices.h"

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
  if (std::optional<Scan> scan = recogniseScan(op)) {
    Factor &scanned = rule.factors[scan->dim];
    scanned.kind = FactorKind::Distributed;
    for (Value value : op.getInputs())
      scanned.movedBytes +=
          4 * bytesOf(value) / double(std::max<int64_t>(1, scanned.size));
    rule.operands.assign(count, result);
    rule.operands.append(count, TensorRule());
    rule.results.assign(count, result);
    return rule;
  }
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
  if (std::optional<Scan> scan = recogniseScan(op)) {
    if (localization.isResultDimLocal(0, scan->dim))
      return localizeScan(op, *scan, localization);
    return localizeByCloning(op, localization);
  }
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

/// The windows along a dim of a select_and_scatter.
static bool areSideBySide(stablehlo::SelectAndScatterOp op, size_t dim) {
  int64_t window = op.getWindowDimensionsOrOnes()[dim],
          whole = shapeOf(op.getOperand())[dim],
          windows = shapeOf(op.getSource())[dim];
  if (op.getPaddingOrZeros()[dim] != std::pair<int64_t, int64_t>(0, 0) ||
      window != op.getWindowStridesOrOnes()[dim] || windows * window != whole)
    return false;
  // Of open extents it has to hold whatever remainder there is.
  auto module = op->getParentOfType<ModuleOp>();
  if (!module || window == 1)
    return true;
  for (auto meshOp : module.getOps<spmd::MeshOp>())
    if (spmd::MeshAttr mesh = meshOp.getMesh();
        mesh.isOpen(whole) || mesh.isOpen(windows)) {
      Extents extents = mesh.getExtents().getExtents();
      std::vector<std::vector<int64_t>> bindings =
          extentsNearby(extents, window);
      return !bindings.empty() &&
             llvm::all_of(bindings, [&](ArrayRef<int64_t> values) {
               return extents.resolve(windows, values) * window ==
                      extents.resolve(whole, values);
             });
    }
  return true;
}

/// Where windows are side by side and cover the operand (o the window, j the
/// place in it), dims are cut between windows: o * stride + j. Along others the
/// operand and the result are cut anywhere; the source near the windows that
/// touch it, of which those at the cut are needed on both sides.
static FailureOr<ShardingRule>
selectAndScatterRule(stablehlo::SelectAndScatterOp op) {
  SmallVector<int64_t> windows = op.getWindowDimensionsOrOnes(),
                       strides = op.getWindowStridesOrOnes();
  SmallVector<std::pair<int64_t, int64_t>> padding = op.getPaddingOrZeros();
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()),
                    sourceSizes = shapeOf(op.getSource());
  bool isKnown = recogniseReduction(op.getScatter(), 1).has_value();
  ShardingRule rule;
  TensorRule operand, source;
  source.fill = Fill::Clip;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (areSideBySide(op, d)) {
      source.dims.push_back(passingDim(rule, sourceSizes[d]));
      IndexMap map = source.dims.back();
      if (windows[d] != 1) {
        map.terms[0].coefficient = windows[d];
        map.terms.push_back(
            {rule.addFactor(windows[d], FactorKind::NeedReplication), 1});
      }
      operand.dims.push_back(map);
      continue;
    }
    if (!isKnown) {
      operand.dims.push_back(wholeDim(rule, sizes[d]));
      source.dims.push_back(wholeDim(rule, sourceSizes[d]));
      continue;
    }
    int64_t factor = rule.addFactor(sizes[d], FactorKind::Distributed);
    rule.factors[factor].movedBytes = 4 * bytesOf(op.getOperand()) *
                                      double(windows[d]) /
                                      double(std::max<int64_t>(1, sizes[d]));
    operand.dims.push_back(IndexMap::identity(factor));
    IndexMap map = IndexMap::identity(factor);
    if (windows[d] != 1)
      map.terms.push_back(
          {rule.addFactor(windows[d], FactorKind::NeedReplication), -1});
    map.offset = padding[d].first;
    map.baseDilation = strides[d];
    source.dims.push_back(map);
  }
  rule.operands = {operand, source, TensorRule()};
  rule.results = {operand};
  return rule;
}

namespace {
/// Along one dim, what a rank works on so that its part of the result is right.
struct ScatterPart {
  Interval source;    ///< the windows that touch it
  int64_t before = 0; ///< windows that contribute nothing, ahead of those
  int64_t after = 0;  ///< and behind them
  Interval operand;   ///< what all these windows cover of the operand
  Interval kept;      ///< of the rank's part, what is in `operand`
};
} // namespace

/// Padding is an attribute, the same on all ranks, and what it covers is never
/// selected. So a rank inside starts with as many windows more as are in the
/// padding, which add nothing; at the domain's ends there are none to add.
static ScatterPart scatterPart(Interval result, int64_t size,
                               int64_t numWindows, int64_t window,
                               int64_t stride, int64_t low, int64_t high) {
  auto ceilDiv = [](int64_t a, int64_t b) {
    return a <= 0 ? 0 : (a + b - 1) / b;
  };
  ScatterPart part;
  part.kept = {result.begin, result.begin};
  if (result.empty() || result.end - 1 + low < 0)
    return part;
  part.source.begin = ceilDiv(result.begin + low - window + 1, stride);
  part.source.end = std::min(numWindows, (result.end - 1 + low) / stride + 1);
  if (part.source.empty()) {
    part.source = {0, 0};
    return part;
  }
  part.before = std::min(part.source.begin, ceilDiv(low, stride));
  part.after = std::min(numWindows - part.source.end, ceilDiv(high, stride));
  int64_t last = part.source.end + part.after;
  part.operand.begin = (part.source.begin - part.before) * stride;
  part.operand.end =
      last == numWindows ? size : (last - 1) * stride - low + window - high;
  part.kept = intersect(result, part.operand);
  if (part.kept.empty())
    part.kept = {result.begin, result.begin};
  return part;
}

namespace {
/// The same where sizes are said when the program is bound: numbers of one
/// binding, and formulas.
struct BoundScatter {
  IntervalTable source, paddedSource, operand, kept;
};
} // namespace

/// None where padding may be longer than windows are, such that a stretch of
/// the operand is too short to say how many there are.
static std::optional<BoundScatter>
boundScatter(const IntervalTable &result, const IntervalTable &operandDomain,
             const IntervalTable &sourceDomain, int64_t window, int64_t stride,
             int64_t low, int64_t high) {
  // As long as it may be with so many windows.
  int64_t stretch = window - low - high + stride - 1;
  Formula formula = formulaOf(result);
  if (!formula || stretch < 1 || low < 0 || high < 0)
    return std::nullopt;
  int64_t before = (low + stride - 1) / stride,
          after = (high + stride - 1) / stride;
  BoundScatter part;
  for (IntervalTable *table :
       {&part.source, &part.paddedSource, &part.operand, &part.kept})
    table->axes = result.axes;
  Interval windows = sourceDomain.intervals.front(),
           elements = operandDomain.intervals.front();
  for (Interval interval : result.intervals) {
    auto around = [](Interval positions, int64_t step, Interval more) {
      return positions.empty()
                 ? Interval{0, 0}
                 : Interval{step * positions.begin + more.begin,
                            step * (positions.end - 1) + more.end};
    };
    Interval touched =
        elementsAt(around(interval, 1, {low - window + 1, low + 1}), stride);
    Interval source = intersect(windows, touched);
    Interval padded =
        intersect(windows, around(source, 1, {-before, after + 1}));
    Interval operand =
        intersect(elements, around(padded, stride, {0, stretch}));
    Interval kept = intersect(interval, operand);
    part.source.intervals.push_back(source);
    part.paddedSource.intervals.push_back(padded);
    part.operand.intervals.push_back(operand);
    part.kept.intervals.push_back(kept);
  }
  auto around = [](const Formula &positions, int64_t step, Interval more) {
    return Formula::positions(0, {step, 1}, {positions, Formula::same(more)});
  };
  part.source.formula = Formula::kept(
      formulaOf(sourceDomain),
      Formula::elements(around(formula, 1, {low - window + 1, low + 1}),
                        stride));
  part.paddedSource.formula =
      Formula::kept(formulaOf(sourceDomain),
                    around(part.source.formula, 1, {-before, after + 1}));
  part.operand.formula =
      Formula::kept(formulaOf(operandDomain),
                    around(part.paddedSource.formula, stride, {0, stretch}));
  part.kept.formula = Formula::kept(formula, part.operand.formula);
  return part;
}

/// Each rank scatters what the windows that touch its part hold, into the
/// stretch that they cover, and keeps its part of that.
static LocalResults localizeSelectAndScatter(stablehlo::SelectAndScatterOp op,
                                             Localization &localization) {
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()),
                    sourceSizes = shapeOf(op.getSource());
  SmallVector<int64_t> cut;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!areSideBySide(op, d) && localization.isResultDimLocal(0, d))
      cut.push_back(d);
  if (cut.empty())
    return localizeByCloning(op, localization);

  localization.carriesFormulas();
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  size_t numDims = sizes.size();
  SmallVector<IntervalTable> results = localization.resultTables(0),
                             operandTables = localization.operandTables(0),
                             sourceTables = localization.operandTables(1);
  SmallVector<IntervalTable> operandNeeded = operandTables,
                             sourceNeeded = sourceTables,
                             paddedSource = sourceTables, kept = results;
  SmallVector<OpFoldResult> zeros(numDims, builder.getIndexAttr(0)),
      ones(numDims, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sourceLow(zeros), sourceHigh(zeros), offset(zeros),
      low(zeros), high(zeros);
  bool padsResult = false, padsSource = false;
  for (int64_t d : cut) {
    auto [padLow, padHigh] = op.getPaddingOrZeros()[d];
    SmallVector<int64_t> before, after, skipped, below, above;
    for (IntervalTable *table :
         {&operandNeeded[d], &sourceNeeded[d], &paddedSource[d], &kept[d]})
      *table = {results[d].axes, {}};
    for (Interval interval : results[d].intervals) {
      ScatterPart part = scatterPart(
          interval, sizes[d], sourceSizes[d], op.getWindowDimensionsOrOnes()[d],
          op.getWindowStridesOrOnes()[d], padLow, padHigh);
      operandNeeded[d].intervals.push_back(part.operand);
      sourceNeeded[d].intervals.push_back(part.source);
      paddedSource[d].intervals.push_back(
          {part.source.begin - part.before, part.source.end + part.after});
      kept[d].intervals.push_back(part.kept);
      before.push_back(part.before);
      after.push_back(part.after);
      skipped.push_back(
          part.kept.empty() ? 0 : part.kept.begin - part.operand.begin);
      below.push_back(part.kept.begin - interval.begin);
      above.push_back(interval.size() - part.kept.size() - below.back());
      padsResult |= part.kept.size() != interval.size();
      padsSource |= part.before + part.after != 0;
    }
    ArrayRef<int64_t> axes = results[d].axes;
    bool isExtentOpen =
        localization.isOpen(sizes[d]) || localization.isOpen(sourceSizes[d]);
    // Of whichever of the three: what one needs of another is a formula then.
    if (results[d].formula.isOpen() || operandTables[d].formula.isOpen() ||
        sourceTables[d].formula.isOpen() || isExtentOpen) {
      int64_t window = op.getWindowDimensionsOrOnes()[d],
              stride = op.getWindowStridesOrOnes()[d];
      std::optional<BoundScatter> part =
          boundScatter(results[d], localization.wholeTable(sizes[d]),
                       localization.wholeTable(sourceSizes[d]), window, stride,
                       padLow, padHigh);
      if (!part) {
        localization.refuse("how far windows reach into padding");
        continue;
      }
      operandNeeded[d] = part->operand;
      sourceNeeded[d] = part->source;
      paddedSource[d] = part->paddedSource;
      kept[d] = part->kept;
      Formula result = formulaOf(results[d]), source = part->source.formula,
              padded = part->paddedSource.formula;
      auto number = [&](const Formula &formula) {
        return localization.lookup(formula, axes);
      };
      sourceLow[d] = number(Formula::below(source, padded));
      sourceHigh[d] = number(Formula::above(source, padded));
      offset[d] =
          number(Formula::offset(part->kept.formula, part->operand.formula));
      low[d] = number(Formula::below(part->kept.formula, result));
      high[d] = number(Formula::above(part->kept.formula, result));
      // Of the numbers above none says what others would be. Windows that
      // cover all of the dim cover each part of it.
      padsSource |= padLow + padHigh != 0;
      padsResult |= isExtentOpen || window < stride ||
                    (sourceSizes[d] - 1) * stride - padLow + window < sizes[d];
      continue;
    }
    sourceLow[d] = localization.lookup(before, axes);
    sourceHigh[d] = localization.lookup(after, axes);
    offset[d] = localization.lookup(skipped, axes);
    low[d] = localization.lookup(below, axes);
    high[d] = localization.lookup(above, axes);
  }
  Type element = getElementTypeOrSelf(op.getOperand().getType());
  Value operand = localization.exchange(
      localization.operands()[0], operandTables, operandNeeded, {},
      "reads what windows across the cut cover");
  Value source = localization.exchange(
      localization.operands()[1], sourceTables, sourceNeeded, {},
      "needs the windows that touch its block");
  if (padsSource) {
    Value nothing = neutralElement(
        builder, loc, *recogniseReduction(op.getScatter(), 1), element);
    Value scalar =
        tensor::ExtractOp::create(builder, loc, nothing, ValueRange());
    source =
        tensor::PadOp::create(builder, loc, blockType(paddedSource, element),
                              source, sourceLow, sourceHigh, scalar);
  }
  Value init = localization.operands()[2];
  Operation *local = cloneAs(op, localization, {operand, source, init},
                             TypeRange(blockType(operandNeeded, element)));
  Value part =
      takePart(builder, loc, blockType(kept, element), local->getResult(0),
               offset, blockSizes(localization, kept), ones);
  if (padsResult) {
    Value scalar = tensor::ExtractOp::create(builder, loc, init, ValueRange());
    part = tensor::PadOp::create(builder, loc, blockType(results, element),
                                 part, low, high, scalar);
  }
  return SmallVector<Value>{part};
}

void rules::attachWindows(MLIRContext *context) {
  attach<stablehlo::ReduceWindowOp, reduceWindowRule, localizeReduceWindow>(
      context);
  attach<stablehlo::SelectAndScatterOp, selectAndScatterRule,
         localizeSelectAndScatter>(context);
}

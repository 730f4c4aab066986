//===- Scans.cpp - Running reductions along dims that are cut -------------===//
//
// JAX prints cumsum and the like as a reduce_window whose window is as long as
// its dim and padded on one side. A rank reduces its block; one total a rank
// travels to the ranks behind it, which combine those before them to what their
// own scan starts from: one more element ahead of the block.
//
//===----------------------------------------------------------------------===//
#include "Scans.h"
#include "Distribution.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdEnums.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using spmd::ReductionKind;

/// Sums and products show how often they start from the initial value, so it
/// must be their identity; other bodies are taken to start from theirs, as
/// StableHLO asks.
static bool startsFromIdentity(stablehlo::ReduceWindowOp op) {
  unsigned count = op.getInputs().size();
  for (auto [result, init] : llvm::enumerate(op.getInitValues())) {
    std::optional<ReductionKind> kind =
        recogniseReductionOf(op.getBody(), count, result);
    if (kind && !isIdempotent(*kind) && !isNeutral(init, *kind))
      return false;
  }
  return true;
}

std::optional<Scan> rules::recogniseScan(stablehlo::ReduceWindowOp op) {
  std::optional<Scan> scan;
  for (auto [d, window] : llvm::enumerate(op.getWindowDimensions())) {
    auto [low, high] = op.getPaddingOrZeros()[d];
    if (op.getWindowStridesOrOnes()[d] != 1 ||
        op.getBaseDilationsOrOnes()[d] != 1 ||
        (window > 1 && op.getWindowDilationsOrOnes()[d] != 1))
      return std::nullopt;
    if (window == 1 && low == 0 && high == 0)
      continue;
    bool forward = low == window - 1 && high == 0,
         backward = low == 0 && high == window - 1;
    if (scan || window != shapeOf(op.getInputs()[0])[d] ||
        !(forward || backward))
      return std::nullopt;
    scan = {static_cast<int64_t>(d), backward};
  }
  return scan && startsFromIdentity(op) ? scan : std::nullopt;
}

namespace {
class ScanBuilder {
public:
  ScanBuilder(stablehlo::ReduceWindowOp op, Scan scan,
              Localization &localization)
      : op(op), scan(scan), localization(localization),
        builder(localization.builder()), loc(op.getLoc()),
        count(op.getInputs().size()), tables(localization.operandTables(0)) {
    // Narrow sums are rounded once, as the whole one's are.
    Type element = getElementTypeOrSelf(op.getInputs()[0].getType());
    std::optional<ReductionKind> kind = recogniseReduction(op.getBody(), count);
    if (!kind ||
        (*kind != ReductionKind::Sum && *kind != ReductionKind::Product))
      return;
    kindOfWide = *kind;
    if (element.isF16() || element.isBF16())
      wide = wideTotals = builder.getF32Type();
    else if (element.isF32())
      wideTotals = builder.getF64Type();
  }

  SmallVector<Value> run();

private:
  /// `values` with elements of `type`; as they are if that is null.
  SmallVector<Value> as(Type type, ValueRange values);
  /// Lets the body combine elements of `type`; as it is if that is null.
  void fillBody(Region &region, Type type);
  /// Reduces dim `dim` of `values`, which is no part of `lie`.
  SmallVector<Value> reduce(ValueRange values, int64_t dim,
                            ArrayRef<IntervalTable> lie);

  stablehlo::ReduceWindowOp op;
  Scan scan;
  Localization &localization;
  OpBuilder &builder;
  Location loc;
  unsigned count;
  SmallVector<IntervalTable> tables;
  SmallVector<Value> inits;
  /// Sums and products: what the scan accumulates in, and what totals of ranks
  /// are; null where it is their own type. An error in a total is one in all
  /// elements of the ranks behind it.
  Type wide, wideTotals;
  ReductionKind kindOfWide = ReductionKind::Sum;
};
} // namespace

SmallVector<Value> ScanBuilder::as(Type type, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    if (!type || getElementTypeOrSelf(value.getType()) == type)
      return value;
    return stablehlo::ConvertOp::create(
        builder, loc, cast<RankedTensorType>(value.getType()).clone(type),
        value);
  });
}

void ScanBuilder::fillBody(Region &region, Type type) {
  if (!type)
    return;
  region.getBlocks().clear();
  Block &body = region.emplaceBlock();
  auto scalar = RankedTensorType::get({}, type);
  for (unsigned i = 0; i < 2 * count; ++i)
    body.addArgument(scalar, loc);
  OpBuilder inside = OpBuilder::atBlockBegin(&body);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i)
    results.push_back(combine(inside, loc, kindOfWide, body.getArgument(i),
                              body.getArgument(count + i)));
  stablehlo::ReturnOp::create(inside, loc, results);
}

SmallVector<Value> ScanBuilder::reduce(ValueRange values, int64_t dim,
                                       ArrayRef<IntervalTable> lie) {
  SmallVector<Value> operands(values);
  llvm::append_range(operands, as(wideTotals, inits));
  SmallVector<Type> types =
      llvm::map_to_vector(values, [&](Value value) -> Type {
        return blockType(lie, getElementTypeOrSelf(value.getType()));
      });
  // A body that an op of another kind has had.
  OperationState state(loc, stablehlo::ReduceOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttribute("dimensions", builder.getDenseI64ArrayAttr(dim));
  IRMapping mapping;
  op.getBody().cloneInto(state.addRegion(), mapping);
  Operation *result = builder.create(state);
  fillBody(result->getRegion(0), wideTotals);
  return SmallVector<Value>(result->getResults());
}

SmallVector<Value> ScanBuilder::run() {
  int64_t dim = scan.dim, numDims = tables.size();
  SmallVector<Value> inputs =
      as(wide, localization.operands().take_front(count));
  inits = as(wide, localization.operands().drop_front(count));

  // One total a rank, to those behind it.
  SmallVector<int64_t> axes = tables[dim].axes;
  IntervalTable before = onePerRank(localization, axes);
  int64_t ranks = before.intervals.size();
  for (Interval &interval : before.intervals)
    interval = scan.backward ? Interval{interval.end, ranks}
                             : Interval{0, interval.begin};
  SmallVector<IntervalTable> others(tables);
  others.erase(others.begin() + dim);
  SmallVector<Value> totals = reduce(as(wideTotals, inputs), dim, others),
                     received;
  for (Value total : totals)
    received.push_back(
        gatherPartials(localization, total, others, axes, before,
                       "scans a dim that is cut: each rank starts from the "
                       "totals of those before it"));
  SmallVector<Value> starts = reduce(received, 0, others);
  if (wideTotals)
    starts = as(getElementTypeOrSelf(inputs.front().getType()), starts);

  // The block with that element before it (behind it, where the scan runs
  // back).
  SmallVector<IntervalTable> lead(tables), grown(tables);
  lead[dim] = wholeTable(1);
  for (Interval &interval : grown[dim].intervals)
    ++interval.end;
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < numDims; ++d)
    if (d != dim)
      kept.push_back(d);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (auto [start, input] : llvm::zip(starts, inputs)) {
    Type element = getElementTypeOrSelf(input.getType());
    RankedTensorType leadType = blockType(lead, element),
                     type = blockType(grown, element);
    Value raised;
    if (leadType.hasStaticShape())
      raised = stablehlo::BroadcastInDimOp::create(builder, loc, leadType,
                                                   start, kept);
    else
      raised = stablehlo::DynamicBroadcastInDimOp::create(
          builder, loc, leadType, start,
          shapeTensor(builder, loc, blockSizes(localization, lead)), kept);
    SmallVector<Value> parts{raised, input};
    if (scan.backward)
      std::swap(parts[0], parts[1]);
    operands.push_back(
        stablehlo::ConcatenateOp::create(builder, loc, type, parts, dim));
    types.push_back(type);
  }
  operands.append(inits);
  int64_t window = longestBlock(grown[dim]);
  SmallVector<int64_t> windows(numDims, 1), padding(2 * numDims, 0);
  windows[dim] = window;
  padding[2 * dim + (scan.backward ? 1 : 0)] = window - 1;
  auto local = cast<stablehlo::ReduceWindowOp>(
      cloneAs(op, localization, operands, types));
  fillBody(local.getBody(), wide);
  local.setWindowDimensions(windows);
  auto paddingType = RankedTensorType::get({numDims, 2}, builder.getI64Type());
  local.setPaddingAttr(
      DenseIntElementsAttr::get(paddingType, ArrayRef<int64_t>(padding)));
  // Blocks differ in size: the window is as long as the longest.
  spmd::contract::Running::set(local);

  SmallVector<OpFoldResult> offsets(numDims, builder.getIndexAttr(0)),
      strides(numDims, builder.getIndexAttr(1));
  offsets[dim] = builder.getIndexAttr(scan.backward ? 0 : 1);
  SmallVector<Value> results;
  for (auto [i, scanned] : llvm::enumerate(local.getResults())) {
    Value block =
        takePart(builder, loc,
                 blockType(tables, getElementTypeOrSelf(scanned.getType())),
                 scanned, offsets, blockSizes(localization, tables), strides);
    if (wide)
      block = stablehlo::ConvertOp::create(builder, loc,
                                           localization.resultType(i), block);
    results.push_back(block);
  }
  return results;
}

LocalResults rules::localizeScan(stablehlo::ReduceWindowOp op, Scan scan,
                                 Localization &localization) {
  // Its windows are as long as the longest block.
  if (localization.isBoundLate()) {
    int64_t window = op.getWindowDimensions()[scan.dim];
    if (!localization.isOpen(window))
      return runTransposed(op, localization, /*mustBalance=*/false);
    // As long as the dim, whatever that is.
    SmallVector<int64_t> windows(op.getWindowDimensions()),
        padding(2 * windows.size(), 0);
    windows[scan.dim] = 2;
    padding[2 * scan.dim + (scan.backward ? 1 : 0)] = 1;
    OwningOpRef<stablehlo::ReduceWindowOp> running = op.clone();
    running->setWindowDimensions(windows);
    running->setPaddingAttr(DenseIntElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(windows.size()), 2},
                              localization.builder().getI64Type()),
        ArrayRef<int64_t>(padding)));
    spmd::contract::Running::set(*running);
    LocalResults results =
        runTransposed(*running, localization, /*mustBalance=*/false);
    if (succeeded(results))
      for (Value result : *results)
        for (Operation *made = result.getDefiningOp(); made;
             made = made->getNumOperands() ? made->getOperand(0).getDefiningOp()
                                           : nullptr)
          if (isa<stablehlo::ReduceWindowOp>(made)) {
            spmd::contract::Running::set(made);
            break;
          }
    return results;
  }
  return ScanBuilder(op, scan, localization).run();
}

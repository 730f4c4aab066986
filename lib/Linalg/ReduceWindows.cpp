//===- ReduceWindows.cpp - reduce_window ----------------------------------===//
#include "Reducer.h"
#include "WindowCells.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

// The one dim along which a window of stride one, at least as long as the axis
// and padded on one side to reach its end, makes a running reduction. Where the
// axis is no longer than the window on any rank, `local.running` says so.
static std::optional<std::pair<int64_t, bool>>
runningDim(stablehlo::ReduceWindowOp op) {
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  std::optional<std::pair<int64_t, bool>> result;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t window = op.getWindowDimensions()[dim];
    auto [low, high] = op.getPaddingOrZeros()[dim];
    if (op.getWindowStridesOrOnes()[dim] != 1 ||
        op.getBaseDilationsOrOnes()[dim] != 1 ||
        (window > 1 && op.getWindowDilationsOrOnes()[dim] != 1))
      return std::nullopt;
    if (window == 1 && low == 0 && high == 0)
      continue;
    bool forward = low == window - 1 && high == 0,
         backward = low == 0 && high == window - 1;
    bool isLong = type.isDynamicDim(dim) ? spmd::contract::Running::has(op)
                                         : window >= type.getDimSize(dim);
    if (result || !isLong || !(forward || backward))
      return std::nullopt;
    result = {dim, backward};
  }
  return result;
}

// A running reduction takes the initial value in once, a window once for each
// place of padding as well. Sums and products can tell the difference unless it
// is their identity; other bodies are taken to start from theirs.
static bool startsFromIdentity(stablehlo::ReduceWindowOp op) {
  auto isNumber = [](const APFloat &number, double identity) {
    return number.convertToDouble() == identity;
  };
  for (auto [i, init] : llvm::enumerate(op.getInitValues())) {
    auto yield =
        cast<stablehlo::ReturnOp>(op.getBody().front().getTerminator());
    Operation *combiner = yield->getOperand(i).getDefiningOp();
    double identity;
    if (isa_and_nonnull<stablehlo::AddOp>(combiner))
      identity = 0;
    else if (isa_and_nonnull<stablehlo::MulOp>(combiner))
      identity = 1;
    else
      continue;
    DenseElementsAttr value;
    if (!matchPattern(init, m_Constant(&value)) || !value.isSplat())
      return false;
    Type type = value.getElementType();
    bool isIdentity = false;
    if (isa<FloatType>(type)) {
      isIdentity = isNumber(value.getSplatValue<APFloat>(), identity);
    } else if (auto complex = dyn_cast<ComplexType>(type);
               complex && isa<FloatType>(complex.getElementType())) {
      auto number = value.getSplatValue<std::complex<APFloat>>();
      isIdentity =
          isNumber(number.real(), identity) && isNumber(number.imag(), 0);
    } else if (isa<IntegerType>(type)) {
      isIdentity = value.getSplatValue<APInt>() == uint64_t(identity);
    }
    if (!isIdentity)
      return false;
  }
  return true;
}

// The same as an op, on elements of the accumulators' types.
static LogicalResult leaveRunning(Lowerer &l, stablehlo::ReduceWindowOp op,
                                  int64_t axis, bool backward) {
  ImplicitLocOpBuilder &b = l.b;
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  SmallVector<Value> inputs, outs;
  for (auto [source, type] : llvm::zip(op.getInputs(), reducer.types)) {
    Value input = l.tensor(source);
    SmallVector<OpFoldResult> sizes = l.sizes(input);
    Type wide = type;
    if (elementType(input.getType()) != wide)
      input = l.map(input, l.empty(sizes, wide),
                    [&](ValueRange args) -> SmallVector<Value> {
                      return {castFloat(b, args[0], wide)};
                    });
    inputs.push_back(input);
    outs.push_back(l.empty(sizes, wide));
  }
  SmallVector<Value> starts = reducer.init(op.getInitValues());
  auto lines = spmd::LinesOp::create(b, TypeRange(ValueRange(outs)),
                                     spmd::LineKind::Scan, axis, backward,
                                     /*positions=*/false, inputs, starts, outs);
  SmallVector<Value> sums;
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&lines.getBody());
    for (int side = 0; side < 2; ++side)
      for (Type type : reducer.types)
        block->addArgument(type, b.getLoc());
    ValueRange args = block->getArguments();
    sums = reducer.combine(args.take_front(inputs.size()),
                           args.drop_front(inputs.size()));
    if (sums.empty())
      return failure();
    spmd::LineYieldOp::create(b, sums);
  }
  for (auto [result, sum] : llvm::zip(op.getResults(), lines.getResults()))
    l.set(result, reducer.finish(sum, elementType(result.getType())));
  return success();
}

// Along the last dim: a scalar loop for each line. Else one row after another,
// so that the other dims stay vectors.
static LogicalResult lowerRunning(Lowerer &l, stablehlo::ReduceWindowOp op,
                                  int64_t axis, bool backward) {
  ImplicitLocOpBuilder &b = l.b;
  Reducer reducer(l, op.getBody(), op.getResultTypes(), /*isRunning=*/true);
  SmallVector<Value> inputs =
      llvm::map_to_vector(op.getInputs(), [&](Value v) { return l.tensor(v); });
  SmallVector<OpFoldResult> sizes = l.sizes(inputs.front());
  int64_t rank = sizes.size();
  size_t count = inputs.size();
  SmallVector<Value> init = reducer.init(op.getInitValues()), outs;
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), [](Type type) {
        return signlessType(elementType(type));
      });
  for (Type type : types)
    outs.push_back(l.empty(sizes, type));
  Value last = l.value(l.affine(b.getAffineSymbolExpr(0) - 1, sizes[axis]));
  auto position = [&](Value step) -> Value {
    return backward ? arith::SubIOp::create(b, last, step).getResult() : step;
  };
  bool ok = true;
  auto next = [&](ValueRange accumulators, ValueRange elements) {
    SmallVector<Value> values = reducer.combine(accumulators, elements);
    ok &= values.size() == reducer.types.size();
    return ok ? values : SmallVector<Value>(accumulators);
  };
  SmallVector<Value> results;
  if (axis == rank - 1) {
    results = l.loops(
        ArrayRef(sizes).drop_back(), outs,
        [&](ValueRange ivs, ValueRange tensors) {
          SmallVector<Value> carried(tensors);
          carried.append(init);
          SmallVector<Value> line = l.loops(
              sizes.back(), carried, [&](ValueRange step, ValueRange now) {
                SmallVector<Value> at(ivs), elements;
                at.push_back(position(step[0]));
                for (Value input : inputs)
                  elements.push_back(tensor::ExtractOp::create(b, input, at));
                SmallVector<Value> sums = next(now.drop_front(count), elements),
                                   then;
                for (auto [result, tensor] :
                     llvm::zip(reducer.results(sums, types), now))
                  then.push_back(
                      tensor::InsertOp::create(b, result, tensor, at));
                then.append(sums);
                return then;
              });
          line.truncate(count);
          return line;
        });
  } else {
    SmallVector<OpFoldResult> rowSizes(sizes);
    rowSizes.erase(rowSizes.begin() + axis);
    SmallVector<Value> carried(outs);
    for (Value value : init)
      carried.push_back(l.filled(rowSizes, value));
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(inputs.front().getType()).getShape());
    shape.erase(shape.begin() + axis);
    results =
        l.loops(sizes[axis], carried, [&](ValueRange step, ValueRange now) {
          SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
              ones(rank, b.getIndexAttr(1));
          SmallVector<OpFoldResult> extents(sizes);
          offsets[axis] = position(step[0]);
          extents[axis] = b.getIndexAttr(1);
          SmallVector<Value> rows;
          for (Value input : inputs)
            rows.push_back(l.slice(
                input, offsets, extents, ones,
                RankedTensorType::get(shape, elementType(input.getType()))));
          // What goes on, and where that is something else, its results.
          SmallVector<Value> states(now.drop_front(count));
          bool isWide = ArrayRef(reducer.types) != ArrayRef(types);
          if (isWide)
            for (Type type : types)
              states.push_back(l.empty(rowSizes, type));
          size_t going = reducer.types.size();
          SmallVector<AffineMap> maps(count + states.size(),
                                      b.getMultiDimIdentityMap(rank - 1));
          SmallVector<utils::IteratorType> iterators(
              rank - 1, utils::IteratorType::parallel);
          SmallVector<Value> sums =
              l.generic(rows, states, maps, iterators, [&](ValueRange args) {
                SmallVector<Value> sums = next(args.slice(count, going),
                                               args.take_front(count)),
                                   made(sums);
                if (isWide)
                  llvm::append_range(made, reducer.results(sums, types));
                return made;
              });
          SmallVector<Value> then;
          for (auto [sum, tensor] :
               llvm::zip(ArrayRef(sums).take_back(count), now))
            then.push_back(l.insert(sum, tensor, offsets, extents, ones));
          then.append(sums.begin(), sums.begin() + going);
          return then;
        });
  }
  for (auto [result, sum] : llvm::zip(op.getResults(), results))
    l.set(result, sum);
  return success(ok);
}

/// The pad that spreads the only input's elements apart, between what the
/// windows start from; or null.
static stablehlo::PadOp findSpread(stablehlo::ReduceWindowOp op) {
  auto pad = op.getInputs()[0].getDefiningOp<stablehlo::PadOp>();
  DenseElementsAttr between, start;
  if (!pad || (pad.getPaddingValue() != op.getInitValues()[0] &&
               !(matchPattern(pad.getPaddingValue(), m_Constant(&between)) &&
                 matchPattern(op.getInitValues()[0], m_Constant(&start)) &&
                 between == start)))
    return {};
  return llvm::any_of(pad.getInteriorPadding(), [](int64_t n) { return n > 0; })
             ? pad
             : stablehlo::PadOp();
}

/// Windows over elements that are spread apart (gradients of pooling by sums),
/// without the zeros between these. False, and nothing done, where they are of
/// another form.
static FailureOr<bool> lowerSpread(Lowerer &l, stablehlo::ReduceWindowOp op) {
  ImplicitLocOpBuilder &b = l.b;
  if (l.manyThreads || op.getInputs().size() != 1 || !startsFromIdentity(op))
    return false;
  auto type = cast<RankedTensorType>(op.getResultTypes().front());
  stablehlo::PadOp pad = findSpread(op);
  Value input = l.tensor(pad ? pad.getOperand() : op.getInputs()[0]);
  SmallVector<WindowDim> dims;
  bool isSpread = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto [low, high] = op.getPaddingOrZeros()[dim];
    int64_t dilation = op.getBaseDilationsOrOnes()[dim],
            window = op.getWindowDimensions()[dim];
    if (pad) {
      if (dilation != 1 && pad.getInteriorPadding()[dim] != 0)
        return false;
      low += pad.getEdgePaddingLow()[dim] * dilation;
      high += pad.getEdgePaddingHigh()[dim] * dilation;
      dilation *= pad.getInteriorPadding()[dim] + 1;
    }
    OpFoldResult count = l.size(input, dim);
    // By the last element of a window, of which the first one is `low` before.
    WindowDim cells{window, dilation, window - 1 - low, count, count};
    if (!type.isDynamicDim(dim))
      cells.extent = b.getIndexAttr(type.getDimSize(dim));
    else if (!cells.isPoint() || high != 0)
      return false;
    if (op.getWindowStridesOrOnes()[dim] != 1 ||
        (window > 1 && op.getWindowDilationsOrOnes()[dim] != 1))
      return false;
    isSpread |= dilation > 1;
    dims.push_back(cells);
  }
  WindowCells cells(l, dims);
  if (!isSpread || !cells.areFew())
    return false;
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  Value init = reducer.init(op.getInitValues())[0];
  bool ok = true;
  Value result = cells.emit(
      input, l.scalar(op.getInitValues()[0]), init.getType(),
      [&](ArrayRef<WindowCells::Step> steps) {
        Value sum = init;
        for (const WindowCells::Step &step : steps) {
          SmallVector<Value> next = reducer.combine({sum}, step.values);
          ok &= next.size() == 1;
          if (!ok)
            return sum;
          sum = step.reaches
                    ? arith::SelectOp::create(b, step.reaches, next[0], sum)
                          .getResult()
                    : next[0];
        }
        return sum;
      });
  if (!ok)
    return failure();
  l.set(op.getResult(0), reducer.finish(result, type.getElementType()));
  return true;
}

static LogicalResult lowerReduceWindow(Lowerer &l,
                                       stablehlo::ReduceWindowOp op) {
  if (auto running = runningDim(op); running && startsFromIdentity(op))
    return (l.manyThreads ? leaveRunning : lowerRunning)(l, op, running->first,
                                                         running->second);
  FailureOr<bool> spread = lowerSpread(l, op);
  if (failed(spread) || *spread)
    return success(succeeded(spread));
  ImplicitLocOpBuilder &b = l.b;
  MLIRContext *ctx = b.getContext();
  auto type = cast<RankedTensorType>(signlessType(op.getResultTypes().front()));
  int64_t rank = type.getRank();
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  SmallVector<OpFoldResult> low, high;
  SmallVector<int64_t> interior;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto [before, after] = op.getPaddingOrZeros()[dim];
    low.push_back(b.getIndexAttr(before));
    high.push_back(b.getIndexAttr(after));
    interior.push_back(op.getBaseDilationsOrOnes()[dim] - 1);
  }
  SmallVector<Value> ins;
  for (auto [input, init] : llvm::zip(op.getInputs(), op.getInitValues()))
    ins.push_back(l.pad(l.tensor(input), l.scalar(init), low, high, interior));

  SmallVector<int64_t> window;
  SmallVector<AffineExpr> inExprs, windowExprs;
  SmallVector<OpFoldResult> sizes;
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t stride = op.getWindowStridesOrOnes()[dim],
            extent = op.getWindowDimensions()[dim];
    int64_t dilation = op.getWindowDilationsOrOnes()[dim];
    AffineExpr expr = getAffineDimExpr(dim, ctx) * stride;
    if (extent != 1) {
      AffineExpr k = getAffineDimExpr(rank + window.size(), ctx);
      window.push_back(extent);
      windowExprs.push_back(k);
      expr = expr + k * dilation;
    }
    inExprs.push_back(expr);
    OpFoldResult size = b.getIndexAttr(type.getDimSize(dim));
    if (type.isDynamicDim(dim)) {
      int64_t reach = (extent - 1) * dilation + 1;
      size =
          l.affine((s0 - reach).floorDiv(stride) + 1, l.size(ins.front(), dim));
      if (!getConstantIntValue(size))
        size = arith::MaxSIOp::create(b, l.value(size), l.index(0)).getResult();
    }
    sizes.push_back(size);
  }
  unsigned loops = rank + window.size();
  size_t elements = ins.size();
  SmallVector<AffineMap> maps(elements, AffineMap::get(loops, 0, inExprs, ctx));
  if (!window.empty()) {
    // Only its shape is used: it bounds the window's loops.
    ins.push_back(tensor::EmptyOp::create(b, window, reducer.types.front()));
    maps.push_back(AffineMap::get(loops, 0, windowExprs, ctx));
  }
  maps.append(op.getNumResults(), leadingDims(loops, rank, ctx));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(window.size(), utils::IteratorType::reduction);
  return emitReduction(l, op, reducer, ins, elements, sizes, op.getInitValues(),
                       maps, iterators);
}

void shardc::lowering::addReduceWindows(LoweringTable &table) {
  table.op<stablehlo::ReduceWindowOp>(lowerReduceWindow);
}

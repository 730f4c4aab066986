//===- WindowCells.cpp - Elements by the windows that reach them ----------===//
#include "WindowCells.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

/// Most windows of an element that are written out, and most places in one.
static constexpr int64_t kMostSteps = 16, kMostPlaces = 32;

int64_t WindowCells::steps() const {
  int64_t steps = 1;
  for (const WindowDim &dim : dims)
    steps *= dim.covering();
  return steps;
}

bool WindowCells::areFew() const {
  int64_t places = 1, stretches = 1;
  for (const WindowDim &dim : dims) {
    places *= dim.window;
    // A cell that the padding cuts has to be there as a whole.
    auto extent = getConstantIntValue(dim.extent);
    bool isCut = dim.low % dim.stride != 0;
    if (dim.low < 0 || (isCut && (!extent || *extent < dim.stride)))
      return false;
    bool hasTail =
        dim.stride != 1 && (!extent || (*extent + dim.low) % dim.stride != 0);
    stretches *= 1 + isCut + hasTail;
  }
  return steps() <= kMostSteps && places <= kMostPlaces && stretches <= 9;
}

int64_t WindowCells::placeOf(ArrayRef<int64_t> place) const {
  int64_t number = 0;
  for (auto [dim, at] : llvm::zip_equal(dims, place))
    number = number * dim.covering() * dim.stride + at;
  return number;
}

/// Calls `body` for each index below `extents`, the last dim fastest.
static void forEach(ArrayRef<int64_t> extents,
                    llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> at(extents.size(), 0);
  for (bool isDone = false; !isDone;) {
    body(at);
    isDone = true;
    for (size_t dim = at.size(); isDone && dim-- > 0;) {
      isDone = ++at[dim] == extents[dim];
      if (isDone)
        at[dim] = 0;
    }
  }
}

void WindowCells::forPlaces(
    llvm::function_ref<void(ArrayRef<int64_t>)> body) const {
  forEach(llvm::map_to_vector(dims,
                              [](const WindowDim &dim) { return dim.window; }),
          body);
}

SmallVector<WindowCells::Stretch>
WindowCells::stretchesOf(const WindowDim &dim) {
  int64_t stride = dim.stride, cut = dim.low % stride, low = dim.low;
  AffineExpr extent = b.getAffineSymbolExpr(0);
  OpFoldResult one = b.getIndexAttr(1);
  auto number = [&](int64_t value) -> OpFoldResult {
    return b.getIndexAttr(value);
  };
  SmallVector<Stretch> stretches;
  if (cut != 0)
    stretches.push_back(
        {number(low / stride), one, number(stride - cut), number(0), cut});
  int64_t first = llvm::divideCeil(low, stride);
  Stretch main{number(first),
               l.affine((extent + low).floorDiv(stride) - first, dim.extent),
               number(stride), number(first * stride - low)};
  if (!isConstantIntValue(main.count, 0))
    stretches.push_back(main);
  Stretch tail{
      l.affine((extent + low).floorDiv(stride), dim.extent), one,
      l.affine((extent + low) % stride, dim.extent),
      l.affine((extent + low).floorDiv(stride) * stride - low, dim.extent)};
  auto last = getConstantIntValue(tail.first),
       windows = getConstantIntValue(dim.count);
  tail.isBare = dim.covering() == 1 && last && windows && *last >= *windows;
  if (!isConstantIntValue(tail.residues, 0))
    stretches.push_back(tail);
  return stretches;
}

int64_t WindowCells::missingBefore(const WindowDim &dim) const {
  return std::max<int64_t>(dim.covering() - 1 - dim.low / dim.stride, 0);
}

OpFoldResult WindowCells::missingBehind(const WindowDim &dim) {
  OpFoldResult missing = b.getIndexAttr(0);
  for (const Stretch &stretch : stretchesOf(dim)) {
    if (stretch.isBare)
      continue;
    // As many, in sizes that are known later too.
    if (isZeroInteger(stretch.first) && stretch.count == dim.count)
      continue;
    AffineExpr first = b.getAffineSymbolExpr(0),
               count = b.getAffineSymbolExpr(1),
               windows = b.getAffineSymbolExpr(2);
    missing = l.affine(first + count - windows,
                       {stretch.first, stretch.count, dim.count});
  }
  if (auto known = getConstantIntValue(missing))
    return b.getIndexAttr(std::max<int64_t>(*known, 0));
  return arith::MaxSIOp::create(b, l.value(missing), l.index(0)).getResult();
}

bool WindowCells::isInside() {
  return llvm::all_of(dims, [&](const WindowDim &dim) {
    return missingBefore(dim) == 0 && isZeroInteger(missingBehind(dim));
  });
}

Value WindowCells::emitStretches(ArrayRef<Stretch> chosen, ValueRange inputs,
                                 ArrayRef<OpFoldResult> low, Type element,
                                 Value result, Body body) {
  MLIRContext *ctx = b.getContext();
  unsigned rank = dims.size(), loops = 0;
  // A loop along the cells of each dim, and one in the cell where it has more
  // elements than one.
  SmallVector<OpFoldResult> sizes;
  SmallVector<unsigned> cell;
  SmallVector<std::optional<unsigned>> inside;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, stretch] : llvm::zip_equal(dims, chosen)) {
    groups.push_back({int64_t(loops)});
    cell.push_back(loops++);
    sizes.push_back(stretch.count);
    inside.push_back(std::nullopt);
    if (dim.stride == 1)
      continue;
    groups.back().push_back(loops);
    inside.back() = loops++;
    sizes.push_back(stretch.residues);
  }
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : cell)
    exprs.push_back(getAffineDimExpr(loop, ctx));
  AffineMap ofWindow = AffineMap::get(loops, 0, exprs, ctx);

  // What a step reads of each input.
  SmallVector<int64_t> covering = llvm::map_to_vector(
      dims, [](const WindowDim &dim) { return dim.covering(); });
  SmallVector<OpFoldResult> counts = llvm::map_to_vector(
      chosen, [](const Stretch &stretch) { return stretch.count; });
  SmallVector<Value> read;
  SmallVector<SmallVector<int64_t>> back; // by step: windows before the last
  bool isBare = llvm::any_of(
      chosen, [](const Stretch &stretch) { return stretch.isBare; });
  forEach(covering, [&](ArrayRef<int64_t> at) {
    if (isBare)
      return;
    back.emplace_back();
    SmallVector<OpFoldResult> from;
    for (unsigned dim : llvm::seq(rank)) {
      int64_t k = covering[dim] - 1 - at[dim];
      back.back().push_back(k);
      from.push_back(l.affine(s0 + s1 - k, {chosen[dim].first, low[dim]}));
    }
    for (Value input : inputs)
      read.push_back(l.slice(input, from, counts, ones));
  });

  SmallVector<AffineMap> maps(read.size(), ofWindow);
  maps.push_back(b.getMultiDimIdentityMap(loops));
  SmallVector<utils::IteratorType> parallel(loops,
                                            utils::IteratorType::parallel);
  Value made = l.generic(
      read, l.empty(sizes, element), maps, parallel,
      [&](ValueRange args) -> SmallVector<Value> {
        auto number = [&](int64_t value) {
          return l.constant(b.getI32IntegerAttr(value));
        };
        // The place in the last window, by dim; windows before it have the
        // element `stride` places later.
        SmallVector<Value> residues(rank);
        for (unsigned dim : llvm::seq(rank))
          if (inside[dim])
            residues[dim] = arith::IndexCastOp::create(
                b, b.getI32Type(), linalg::IndexOp::create(b, *inside[dim]));
        SmallVector<Step> steps;
        for (const auto &[at, before] : llvm::enumerate(back)) {
          Step &step = steps.emplace_back();
          step.values =
              llvm::to_vector(args.slice(at * inputs.size(), inputs.size()));
          SmallVector<int64_t> first;
          for (unsigned dim : llvm::seq(rank)) {
            int64_t stride = dims[dim].stride;
            first.push_back(chosen[dim].residue + before[dim] * stride);
            if (!residues[dim] ||
                before[dim] * stride + stride <= dims[dim].window)
              continue;
            Value in = arith::CmpIOp::create(
                b, arith::CmpIPredicate::slt, residues[dim],
                number(dims[dim].window - first.back()));
            step.reaches =
                step.reaches
                    ? arith::AndIOp::create(b, step.reaches, in).getResult()
                    : in;
          }
          step.place = number(placeOf(first));
          int64_t unit = 1;
          for (unsigned dim = rank; dim-- > 0;) {
            if (residues[dim])
              step.place = arith::AddIOp::create(
                  b, step.place,
                  arith::MulIOp::create(b, residues[dim], number(unit)));
            unit *= covering[dim] * dims[dim].stride;
          }
        }
        return {body(steps)};
      })[0];
  if (loops != rank)
    made = tensor::CollapseShapeOp::create(b, made, groups);
  if (!result)
    return made;
  SmallVector<OpFoldResult> from, extent;
  for (const Stretch &stretch : chosen) {
    from.push_back(stretch.at);
    extent.push_back(l.affine(s0 * s1, {stretch.count, stretch.residues}));
  }
  return l.insert(made, result, from, extent, ones);
}

Value WindowCells::emit(ValueRange inputs, ValueRange fills, Type element,
                        Body body) {
  SmallVector<OpFoldResult> low, high, extents;
  for (const WindowDim &dim : dims) {
    low.push_back(b.getIndexAttr(missingBefore(dim)));
    high.push_back(missingBehind(dim));
    extents.push_back(dim.extent);
  }
  SmallVector<Value> padded;
  bool pads =
      !llvm::all_of(low, isZeroInteger) || !llvm::all_of(high, isZeroInteger);
  for (auto [input, fill] : llvm::zip_equal(inputs, fills))
    padded.push_back(pads ? l.pad(input, fill, low, high,
                                  SmallVector<int64_t>(dims.size(), 0))
                          : input);

  SmallVector<SmallVector<Stretch>> stretches;
  SmallVector<int64_t> counts;
  for (const WindowDim &dim : dims) {
    stretches.push_back(stretchesOf(dim));
    counts.push_back(stretches.back().size());
  }
  if (llvm::is_contained(counts, 0))
    return l.empty(extents, element);
  bool isOne = llvm::all_of(counts, [](int64_t count) { return count == 1; });
  Value result = isOne ? Value() : l.empty(extents, element);
  forEach(counts, [&](ArrayRef<int64_t> at) {
    SmallVector<Stretch> chosen;
    for (auto [all, which] : llvm::zip_equal(stretches, at))
      chosen.push_back(all[which]);
    result = emitStretches(chosen, padded, low, element, result, body);
  });
  return result;
}

//===- PairSteps.cpp - Blocks of queries against blocks of keys -----------===//
//
// A block of threads has some dozen rows of scores (rows are queries; keys for
// the gradients of keys and values), and meets tile after tile of columns.
// Scores of a tile stay in registers, four threads a row; what becomes of them
// goes to shared memory, and is multiplied into sums that stay in registers.
// Backward, a gradient is a pass of its own that computes the scores again (two
// of the same rows may be one): no two blocks add to one place, so that results
// do not depend on their order.
//
//===----------------------------------------------------------------------===//
#include "../../Common/PairAlgebra.h"
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdPairs.h"
#include "shardc/KernelGen/GPU.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;
using spmd::PairStepOp;

PairSteps::PairSteps(PairStepOp op, bool onWarpgroups, bool shortWeights)
    : op(op), b(op), loc(op.getLoc()), type(shardc::pairs::computeTypeOf(op)),
      numDims(op.getMap(0).getNumDims()), q(numDims - 4), k(numDims - 3),
      d(numDims - 2), e(numDims - 1), start(op.getAt()),
      onWarpgroups(onWarpgroups), shortWeights(shortWeights) {
  lanes = 128 / type.getWidth();
  pitch = kColumns + lanes;
  sizes.assign(numDims, Value());
  known.assign(numDims, 1);
  unsigned number = 0;
  auto take = [&](Value memref) {
    Tensor tensor{memref, op.getMap(number++)};
    auto shape = cast<MemRefType>(memref.getType());
    for (auto [i, expr] : llvm::enumerate(tensor.map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (sizes[dim] && ShapedType::isStatic(known[dim]))
        continue;
      if (sizes[dim] && shape.isDynamicDim(i))
        continue;
      known[dim] = shape.getDimSize(i);
      sizes[dim] = shape.isDynamicDim(i)
                       ? memref::DimOp::create(b, loc, memref, i).getResult()
                       : index(known[dim]);
    }
    return tensor;
  };
  query = take(op.getQuery());
  key = take(op.getKey());
  if (op.getValue())
    value = take(op.getValue());
  for (Value row : op.getRows())
    rows.push_back(take(row));
  for (Value extra : op.getExtras())
    extras.push_back(take(extra));
  for (Value init : op.getInits())
    states.push_back(take(init));
  for (Value &size : sizes)
    if (!size)
      size = index(1);
  at.assign(numDims, Value());
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

Carried PairSteps::carry(Value from, Value to, Value step,
                         const Carried &carried,
                         llvm::function_ref<Carried(Value, Carried)> body) {
  SmallVector<Value> values = carried.flat();
  auto loop = scf::ForOp::create(b, loc, from, to, step, values);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Carried next =
        body(loop.getInductionVar(), carried.with(loop.getRegionIterArgs()));
    // A loop that carries nothing has its end already.
    if (!values.empty())
      scf::YieldOp::create(b, loc, next.flat());
  }
  return carried.with(loop.getResults());
}

Carried PairSteps::overDims(ArrayRef<unsigned> dims, Carried carried,
                            llvm::function_ref<Carried(Carried)> body) {
  if (dims.empty())
    return body(carried);
  return carry(index(0), sizes[dims.front()], index(1), carried,
               [&](Value place, Carried inner) {
                 at[dims.front()] = place;
                 return overDims(dims.drop_front(), inner, body);
               });
}

/// What `body` makes of each score of a thread, by row and column, where `at`
/// stands; it is told whether the score counts (null: it does). Column by
/// column, so that what a column has is in registers for a short while.
SmallVector<Value>
PairSteps::overScores(llvm::function_ref<Value(size_t, Value)> body) {
  int64_t columns = ownColumns();
  SmallVector<Value> made(perThread * columns);
  for (int64_t own = 0; own < columns; ++own)
    for (int64_t row = 0; row < perThread; ++row) {
      placeRow(row);
      Value counts = countsAt(own);
      size_t which = row * columns + own;
      made[which] = body(which, counts);
    }
  return made;
}

/// What a tile of scores, and of the products that their gradients need,
/// becomes; nothing where rows keep all there is.
SmallVector<Value> PairSteps::weigh(const Pass &pass, ArrayRef<Value> raw,
                                    ArrayRef<Value> dps, Carried &carried) {
  if (pass.weigh == Weigh::Weights || pass.weigh == Weigh::Slopes)
    return overScores([&](size_t which, Value counts) {
      Value power = backwardPower(raw[which], counts);
      return pass.weigh == Weigh::Weights
                 ? backwardWeight(power, counts)
                 : backwardSlope(power, raw[which], dps[which], counts);
    });
  if (op.getCombine() != PairCombine::TopK)
    return forwardScores(raw, carried);
  SmallVector<Value> weights;
  for (int64_t row = 0; row < perThread; ++row) {
    placeRow(row);
    for (int64_t own = 0; own < ownColumns(); ++own) {
      placeColumn(own);
      weights.push_back(
          evaluate(op.getScore(), raw[weights.size()], surroundings()));
    }
  }
  return weights;
}

Carried PairSteps::tile(const Pass &pass, Value column, Carried carried) {
  firstColumn = column;
  bool rowsAreQueries = rowDim == q;
  const Tensor &left = rowsAreQueries ? query : key;
  const Tensor &right = rowsAreQueries ? key : query;
  Region *pair = op.getPair().empty() ? nullptr : &op.getPair();
  SmallVector<Value> raw = contract(left, right, d, pair), dps;
  if (pass.weigh == Weigh::Slopes)
    dps = rowsAreQueries ? contract(rows[2], value, e, nullptr)
                         : contract(value, rows[2], e, nullptr);
  SmallVector<Value> weights = weigh(pass, raw, dps, carried);
  if (weights.empty())
    return carried;
  if (tensor) {
    accumulateOnCores(weights, *pass.factor, pass.feature, pass.slab, carried,
                      hasFiniteWeights(pass));
    return carried;
  }
  for (int64_t row = 0; row < perThread; ++row)
    for (int64_t own = 0; own < ownColumns(); ++own)
      LLVM::StoreOp::create(b, loc, weights[row * ownColumns() + own],
                            sharedAt(scoreArea, rowAt(row), columnAt(own)),
                            type.getWidth() / 8);
  if (op.getCombine() == PairCombine::TopK) {
    gpu::BarrierOp::create(b, loc);
    putIntoLists();
  } else {
    accumulate(*pass.factor, pass.feature, pass.slab, carried);
  }
  // The next tile's first barrier comes before anyone writes here again.
  return carried;
}

void PairSteps::begin(const Pass &pass) {
  rowDim = pass.rows;
  columnDim = rowDim == q ? k : q;
  // Other batch dims are gone through inside: what they add goes to one place.
  const Tensor &kept = pass.target ? *pass.target : states[0];
  outer.clear();
  inner.clear();
  for (unsigned dim : llvm::seq(q))
    (kept.has(dim) ? outer : inner).push_back(dim);
}

/// A launch of a block for each `rows` rows; sets where the block stands.
gpu::LaunchOp PairSteps::launchBlocks(int64_t rows, int64_t threads) {
  blockRows = rows;
  SmallVector<Value> counts{
      arith::CeilDivUIOp::create(b, loc, sizes[rowDim], index(rows))};
  for (unsigned dim : outer)
    counts.push_back(sizes[dim]);
  gpu::LaunchOp launch = beginLaunch(b, loc, product(b, loc, counts), threads);
  thread = launch.getThreadIds().x;
  Value block = launch.getBlockIds().x;
  auto take = [&](Value count) -> Value {
    Value mine = arith::RemUIOp::create(b, loc, block, count);
    block = arith::DivUIOp::create(b, loc, block, count);
    return mine;
  };
  firstRow = mul(take(counts[0]), rows);
  for (unsigned dim : outer)
    at[dim] = take(sizes[dim]);
  for (unsigned dim : inner)
    at[dim] = index(0);
  return launch;
}

int64_t PairSteps::parts(const Pass &pass) const {
  return llvm::divideCeil(pass.features, kPart);
}

/// Whether there are as many features as a block has sums of.
bool PairSteps::fills(const Pass &pass) const {
  int64_t all = (firstFeature ? kConsumers : 1) * parts(pass) * kPart;
  return pass.slab + all <= sizeOf(pass.feature);
}

/// Where a thread's total number `i` of a row stands: features side by side, 16
/// bytes at a time.
Value PairSteps::featureAt(const Pass &pass, int64_t i) {
  int64_t part = i / kOwn, own = i % kOwn, begin = pass.slab + part * kPart;
  if (!tensor)
    return add(mul(laneOfRow, lanes),
               index(begin + own / lanes * lanes * kPerRow + own % lanes));
  Value place = add(mul(laneOfRow, 2), index(begin + own / 2 * 8 + own % 2));
  return firstFeature ? add(place, firstFeature) : place;
}

/// What a thread's rows have come to before.
Carried PairSteps::beginRows(const Pass &pass) {
  bool isList = op.getCombine() == PairCombine::TopK;
  Carried carried;
  for (int64_t row = 0; row < perThread; ++row) {
    placeRow(row);
    if (isSoftmax(pass)) {
      carried.most.push_back(load(states[0]));
      carried.sum.push_back(load(states[1]));
    } else if (!pass.target && !isList) {
      carried.sum.push_back(load(states[0]));
    }
    for (int64_t i = 0; i < parts(pass) * kOwn; ++i) {
      Value place = featureAt(pass, i);
      if (firstFeature && !fills(pass)) {
        // Places of their own, for each of many features, would stay in
        // registers until the end.
        auto has = scf::IfOp::create(b, loc, TypeRange(type),
                                     less(place, sizes[pass.feature]), true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(has.thenBlock());
        at[pass.feature] = place;
        scf::YieldOp::create(b, loc, load(*pass.target));
        b.setInsertionPointToStart(has.elseBlock());
        scf::YieldOp::create(b, loc, number(0));
        carried.totals.push_back(has.getResult(0));
        continue;
      }
      at[pass.feature] =
          fills(pass) ? place
                      : smallerIndex(place, sub(sizes[pass.feature], index(1)));
      carried.totals.push_back(load(*pass.target));
    }
  }
  return carried;
}

/// The columns that any of the block's rows meets, from the first of a tile on.
std::pair<Value, Value> PairSteps::columnRange() {
  Value from = index(0), to = sizes[columnDim];
  auto [least, most] = bandOfRows();
  Value origin = add(firstRow, sub(start[rowDim], start[columnDim]));
  if (least) {
    Value begin = largerIndex(add(origin, index(*least)), index(0));
    from = mul(div(begin, tileColumns), tileColumns);
  }
  if (most)
    to = smallerIndex(to, add(origin, index(*most + blockRows)));
  return {from, to};
}

/// Goes over the tiles of columns that any of the block's rows meets.
Carried
PairSteps::overColumns(Carried carried,
                       llvm::function_ref<Carried(Value, Carried)> body) {
  return overDims(inner, carried, [&](Carried now) {
    auto [from, to] = columnRange();
    return carry(from, to, index(tileColumns), now, body);
  });
}

void PairSteps::finishRows(const Pass &pass, const Carried &carried) {
  int64_t own = parts(pass) * kOwn;
  for (int64_t row = 0; row < perThread; ++row) {
    OpBuilder::InsertionGuard guard(b);
    Value mine = add(firstRow, rowAt(row));
    auto inside = scf::IfOp::create(b, loc, less(mine, sizes[rowDim]), false);
    b.setInsertionPointToStart(inside.thenBlock());
    placeRow(row);
    for (int64_t i = 0; i < own; ++i) {
      Value place = featureAt(pass, i);
      OpBuilder::InsertionGuard featureGuard(b);
      if (!fills(pass)) {
        auto has =
            scf::IfOp::create(b, loc, less(place, sizes[pass.feature]), false);
        b.setInsertionPointToStart(has.thenBlock());
      }
      at[pass.feature] = place;
      store(carried.totals[row * own + i], *pass.target);
    }
    if (!pass.last || carried.sum.empty())
      continue;
    auto first = scf::IfOp::create(
        b, loc, compare(arith::CmpIPredicate::eq, laneOfRow, index(0)), false);
    b.setInsertionPointToStart(first.thenBlock());
    if (isSoftmax(pass))
      store(carried.most[row], states[0]);
    store(carried.sum[row], isSoftmax(pass) ? states[1] : states[0]);
  }
}

std::optional<PairSteps::Operands> PairSteps::operandsOf(const Pass &pass,
                                                         int64_t leftLines,
                                                         int64_t numFeatures) {
  bool rowsAreQueries = rowDim == q, fits = true;
  Operands operands;
  auto put = [&](SmallVector<Lines> &to, const Tensor &tensor, unsigned dim,
                 int64_t first, int64_t length) {
    bool isLeft = &to == &operands.lefts;
    fits &= ShapedType::isStatic(sizeOf(dim)) && sizeOf(dim) <= kSlab;
    // A block's rows are brought once.
    fits &= !isLeft || llvm::none_of(inner, [&](unsigned other) {
      return tensor.has(other);
    });
    to.push_back({&tensor, isLeft ? rowDim : columnDim,
                  isLeft ? leftLines : tileColumns, dim, first,
                  static_cast<int64_t>(llvm::alignTo(length, kPart))});
  };
  put(operands.lefts, rowsAreQueries ? query : key, d, 0, sizeOf(d));
  put(operands.tiles, rowsAreQueries ? key : query, d, 0, sizeOf(d));
  if (pass.weigh == Weigh::Slopes) {
    put(operands.lefts, rowsAreQueries ? rows[2] : value, e, 0, sizeOf(e));
    put(operands.tiles, rowsAreQueries ? value : rows[2], e, 0, sizeOf(e));
  }
  if (operands.tiles.front().tensor != pass.factor) {
    operands.factor = operands.tiles.size();
    put(operands.tiles, *pass.factor, pass.feature, pass.slab, numFeatures);
  }
  if (!fits)
    return std::nullopt;
  return operands;
}

gpu::LaunchOp PairSteps::emitPass(const Pass &pass) {
  if (gpu::LaunchOp launch = emitOnCopies(pass))
    return launch;
  OpBuilder::InsertionGuard outside(b);
  begin(pass);
  bool isShort =
      ShapedType::isStatic(sizeOf(rowDim)) && sizeOf(rowDim) <= kRows;
  tensor = fitsTensorCores(pass.weigh, pass.factor);
  tileColumns = kColumns;
  perThread =
      !tensor && (isShort || type.isF64() || pass.features > 128) ? 1 : 2;
  gpu::LaunchOp launch = launchBlocks(perThread * kRows, kThreads);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto area = [&](int64_t lines) {
    Value memory = launch.addWorkgroupAttribution(
        MemRefType::get({lines * pitch}, type, MemRefLayoutAttrInterface(),
                        shared),
        loc);
    Value number =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
  };
  leftArea = area(perThread * kRows);
  rightArea = area(kColumns);
  if (!tensor)
    scoreArea = area(perThread * kRows);
  rowOfThread = div(thread, kPerRow);
  // A warp has 16 rows, and of a thread's two the second is eight below.
  if (tensor)
    rowOfThread =
        add(mul(div(thread, kWarp), 16), div(rem(thread, kWarp), kPerRow));
  laneOfRow = rem(thread, kPerRow);
  Carried carried =
      overColumns(beginRows(pass), [&](Value column, Carried now) {
        return tile(pass, column, now);
      });
  finishRows(pass, carried);
  return launch;
}

/// Passes for all features of `target`: kernels that all GPUs run, and where
/// they fit those for sm_90a, which are done in their stead there; the last
/// launch was one of these if this `isDone`.
void PairSteps::passes(Weigh weigh, unsigned rowDimOf, const Tensor &target,
                       unsigned feature, const Tensor &factor, bool isDone) {
  rowDim = rowDimOf;
  // Backward, fragments leave registers for no more.
  int64_t all = sizeOf(feature), most = kSlab;
  if (weigh != Weigh::Forward &&
      fitsTensorCores(weigh, &factor, /*orWide=*/true))
    most /= 2;
  bool together = false;
  for (int64_t slab = 0; slab < all; slab += most) {
    Pass pass{weigh,
              rowDimOf,
              &target,
              feature,
              &factor,
              slab,
              slab + most >= all,
              std::min(most, all - slab)};
    bool better =
        isDone || together || (onWarpgroups && emitOnWarpgroups(pass));
    // One kernel for all features, where blocks of as many rows do not fit.
    if (!better && onWarpgroups && slab == 0)
      better = together = emitOnWarpgroups(pass, /*together=*/true);
    gpu::LaunchOp launch = emitPass(pass);
    if (better)
      spmd::contract::Otherwise::set(launch);
  }
}

/// The gradient of extra number `which`: a thread for each element, or a block
/// where many pairs add to one.
void PairSteps::extraGradient(unsigned which) {
  OpBuilder::InsertionGuard outside(b);
  tensor = false; // no product rounds these weights
  const Tensor &target = states[3 + which];
  SmallVector<unsigned> own, others;
  for (unsigned dim : llvm::seq(q + 2))
    (target.has(dim) ? own : others).push_back(dim);
  auto countOf = [&](ArrayRef<unsigned> dims) {
    SmallVector<Value> all;
    for (unsigned dim : dims)
      all.push_back(sizes[dim]);
    return product(b, loc, all);
  };
  Value elements = countOf(own), terms = countOf(others);
  bool shares = !target.has(q) || !target.has(k);
  Value point, from, step;
  Value sums;
  if (shares) {
    gpu::LaunchOp launch = beginLaunch(b, loc, elements, kThreads);
    auto space = gpu::AddressSpaceAttr::get(b.getContext(),
                                            gpu::AddressSpace::Workgroup);
    sums = launch.addWorkgroupAttribution(
        MemRefType::get({kThreads}, type, MemRefLayoutAttrInterface(), space),
        loc);
    point = launch.getBlockIds().x;
    from = thread = launch.getThreadIds().x;
    step = index(kThreads);
  } else {
    point = beginLaunchOf(b, loc, elements, kThreads);
    from = index(0);
    step = index(1);
  }
  auto place = [&](ArrayRef<unsigned> dims, Value number) {
    for (unsigned dim : llvm::reverse(dims)) {
      at[dim] = arith::RemUIOp::create(b, loc, number, sizes[dim]);
      number = arith::DivUIOp::create(b, loc, number, sizes[dim]);
    }
  };
  place(own, point);
  auto loop =
      scf::ForOp::create(b, loc, from, terms, step, ValueRange(number(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    place(others, loop.getInductionVar());
    auto dot = [&](const Tensor &x, const Tensor &y, unsigned dim,
                   Region *pair) -> Value {
      auto along = scf::ForOp::create(b, loc, index(0), sizes[dim], index(1),
                                      ValueRange(number(0)));
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToEnd(along.getBody());
      at[dim] = along.getInductionVar();
      Value left = load(x), right = load(y), sum = along.getRegionIterArg(0);
      sum = pair ? arith::AddFOp::create(b, loc, sum,
                                         evaluate(*pair, {left, right}, {}))
                       .getResult()
                 : math::FmaOp::create(b, loc, left, right, sum).getResult();
      scf::YieldOp::create(b, loc, sum);
      return along.getResult(0);
    };
    Value raw =
        dot(query, key, d, op.getPair().empty() ? nullptr : &op.getPair());
    Value dp = dot(rows[2], value, e, nullptr);
    Value counts = inBand();
    if (!counts)
      counts = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value term =
        backwardSlope(backwardPower(raw, counts), raw, dp, counts, 1 + which);
    scf::YieldOp::create(
        b, loc,
        arith::AddFOp::create(b, loc, loop.getRegionIterArg(0), term)
            .getResult());
  }
  Value sum = loop.getResult(0);
  if (shares) {
    memref::StoreOp::create(b, loc, sum, sums, thread);
    for (int64_t half = kThreads / 2; half > 0; half /= 2) {
      gpu::BarrierOp::create(b, loc);
      auto some = scf::IfOp::create(b, loc, less(thread, index(half)), false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      Value mine = memref::LoadOp::create(b, loc, sums, thread);
      Value theirs =
          memref::LoadOp::create(b, loc, sums, add(thread, index(half)));
      memref::StoreOp::create(
          b, loc, arith::AddFOp::create(b, loc, mine, theirs), sums, thread);
    }
    auto first = scf::IfOp::create(
        b, loc, compare(arith::CmpIPredicate::eq, thread, index(0)), false);
    b.setInsertionPointToStart(first.thenBlock());
    sum = memref::LoadOp::create(b, loc, sums, thread);
  }
  store(arith::AddFOp::create(b, loc, load(target), sum), target);
}

void PairSteps::emit() {
  if (op.getBackward()) {
    passes(Weigh::Slopes, q, states[0], d, key);
    bool both = onWarpgroups && emitBothOfKeys();
    passes(Weigh::Slopes, k, states[1], d, query, both);
    passes(Weigh::Weights, k, states[2], e, rows[2], both);
    for (unsigned which : llvm::seq<unsigned>(states.size() - 3))
      extraGradient(which);
    return;
  }
  if (!op.getValue()) {
    emitPass({Weigh::Forward, q, nullptr, e, nullptr, 0, true});
    return;
  }
  bool isSoftmax = op.getCombine() == PairCombine::Softmax;
  passes(Weigh::Forward, q, states[isSoftmax ? 2 : 0], e, value);
}

LogicalResult gpukernels::launchPairStep(PairStepOp op, bool onWarpgroups,
                                         bool shortWeights) {
  if (failed(shardc::pairs::verifyPairStep(op)))
    return failure();
  PairSteps(op, onWarpgroups, shortWeights).emit();
  op.erase();
  return success();
}

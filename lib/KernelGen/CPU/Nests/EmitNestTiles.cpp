//===- EmitNestTiles.cpp - What a nest does in registers ------------------===//
//
// A tile is some vectors of some rows and columns: its accumulators, the
// iterations that add to them, then the epilogue and the stores.
//
//===----------------------------------------------------------------------===//
#include "EmitNest.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

Value NestEmitter::indexOf(const State &state, int dim, int64_t row,
                           int64_t column, int64_t vector, int64_t lanes) {
  Quantity at = state.position[dim];
  if (dim == s.row)
    at = arith.add(at, Quantity::of(row));
  if (dim == s.column)
    at = arith.add(at, Quantity::of(column));
  if (dim != s.vec)
    return arith.get(at);
  at = arith.add(at, Quantity::of(vector * lanes));
  if (lanes == 1)
    return arith.get(at);
  Value step = vector::StepOp::create(
      b, loc, VectorType::get({lanes}, b.getIndexType()));
  return arith::AddIOp::create(b, loc, splat(b, loc, arith.get(at), lanes),
                               step);
}

/// One iteration of the reduction dims for each element of the tile; returns
/// the new accumulators, or what the body yields where nothing is reduced.
/// Ordered by output, row, column, vector.
SmallVector<Value> NestEmitter::emitStep(const State &state, const Tile &tile,
                                         ArrayRef<Value> accumulators) {
  size_t count = tile.rows * tile.columns * tile.vectors;
  SmallVector<Value> results(count * nest.outputs.size());
  std::map<std::tuple<size_t, int64_t, int64_t, int64_t>, Value> loaded;
  // The longer side outermost: what is live beside the accumulators is the
  // shorter one and a single value of the other.
  bool rowsFirst = tile.rows > tile.vectors;
  for (int64_t outer : llvm::seq(rowsFirst ? tile.rows : tile.vectors))
    for (int64_t inner : llvm::seq(rowsFirst ? tile.vectors : tile.rows))
      for (int64_t column : llvm::seq(tile.columns)) {
        int64_t row = rowsFirst ? outer : inner,
                vector = rowsFirst ? inner : outer;
        Value mask = vector + 1 == tile.vectors ? tile.mask : Value();
        SmallVector<Value> arguments;
        for (auto [i, input] : llvm::enumerate(nest.inputs)) {
          if (!input.pointer) {
            arguments.push_back(nest.main.getDpsInputs()[i]);
            continue;
          }
          auto key = std::make_tuple(i, input.usesDim(s.row) ? row : 0,
                                     input.usesDim(s.column) ? column : 0,
                                     input.usesDim(s.vec) ? vector : 0);
          Value &value = loaded[key];
          bool used = !nest.main.getRegionInputArgs()[i].use_empty();
          bool across = isAcross(input, tile, mask);
          if (!value && used && (across || isInterleaved(input, tile))) {
            Value pointer = state.pointers[inputAt(i)];
            SmallVector<Value> rows =
                across ? loadAcross(input, pointer, column, vector)
                       : loadInterleavedRows(input, pointer, tile.rows, column,
                                             vector, mask);
            for (auto [at, loadedRow] : llvm::enumerate(rows))
              loaded[{i, at, std::get<2>(key), vector}] = loadedRow;
          }
          if (!value && used)
            value = load(input, state.pointers[inputAt(i)],
                         tileOffset(input, row, column, vector, s.lanes),
                         s.lanes, int(i) == s.packed ? Value() : mask);
          if (!value) // an input that only gives a shape
            value =
                arith::ConstantOp::create(b, loc, b.getZeroAttr(input.element));
          arguments.push_back(value);
        }
        size_t at = (row * tile.columns + column) * tile.vectors + vector;
        for (auto [i, output] : llvm::enumerate(nest.outputs)) {
          if (!accumulators.empty())
            arguments.push_back(accumulators[i * count + at]);
          else if (nest.main.getRegionOutputArgs()[i].use_empty())
            arguments.push_back(arith::ConstantOp::create(
                b, loc, b.getZeroAttr(output.element)));
          else if (nest.initial[i])
            arguments.push_back(nest.initial[i]);
          else
            arguments.push_back(
                load(output, state.pointers[outputAt(i)],
                     tileOffset(output, row, column, vector, s.lanes), s.lanes,
                     mask));
        }
        SmallVector<Value> yields = evaluateBody(
            b, *nest.main.getBody(), arguments, s.lanes,
            [&](int64_t dim) {
              return indexOf(state, dim, row, column, vector, s.lanes);
            },
            mask,
            [&](memref::LoadOp load) { return loadsAlong(nest, load, s.vec); });
        for (auto [i, value] : llvm::enumerate(yields)) {
          if (!accumulators.empty())
            value = splat(b, loc, value, s.lanes);
          if (s.vecReduces && mask)
            value = arith::SelectOp::create(b, loc, mask, value,
                                            accumulators[i * count + at]);
          results[i * count + at] = value;
        }
      }
  return results;
}

SmallVector<Value> NestEmitter::carrySteps(int dim, const Quantity &from,
                                           const Quantity &to, int64_t step,
                                           const State &state,
                                           ArrayRef<Value> values, Carry body) {
  if (from.fixed && to.fixed && *to.fixed - *from.fixed <= step)
    return *to.fixed > *from.fixed
               ? body(advance(state, dim, from), from, values)
               : SmallVector<Value>(values);
  auto loop = scf::ForOp::create(b, loc, arith.get(from), arith.get(to),
                                 arith.index(step), values);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Quantity at{std::nullopt, loop.getInductionVar()};
  SmallVector<Value> carried(loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, body(advance(state, dim, at), at, carried));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> NestEmitter::emitReductions(size_t level, const State &state,
                                               const Tile &tile,
                                               ArrayRef<Value> accumulators) {
  if (level == s.reductions.size())
    return emitStep(state, tile, accumulators);
  int dim = s.reductions[level];
  const Quantity &size = dim == blocked ? blockSize : nest.dims[dim].size;
  return dim == s.partial
             ? emitPartialSums(level, size, state, tile, accumulators)
             : emitReduction(level, size, state, tile, accumulators);
}

SmallVector<Value> NestEmitter::emitPartialSums(size_t level,
                                                const Quantity &size,
                                                const State &state,
                                                const Tile &tile,
                                                ArrayRef<Value> totals) {
  int dim = s.reductions[level];
  Quantity steps = Quantity::of(s.partialSteps), zero = Quantity::of(0);
  SmallVector<Value> start = neutral(tile);
  if (size.fixed && *size.fixed <= s.partialSteps)
    return combineEach(totals, emitReduction(level, size, state, tile, start));
  // What is left of lanes and pairs is written apart from whole ones.
  bool isLane = s.vecReduces && dim == s.vec;
  bool hasRest = size.fixed ? *size.fixed % s.partialSteps != 0
                            : size.multiple() % s.partialSteps != 0;
  bool isApart = hasRest && (isLane || (isPaired(dim) && size.fixed));
  Quantity whole = size;
  if (isApart)
    whole =
        size.fixed
            ? Quantity::of(*size.fixed / s.partialSteps * s.partialSteps)
            : arith.sub(size, Quantity::of(Value(arith::RemUIOp::create(
                                  b, loc, arith.get(size), arith.get(steps)))));
  SmallVector<Value> sums = carrySteps(
      dim, zero, whole, s.partialSteps, state, totals,
      [&](const State &inner, const Quantity &at, ArrayRef<Value> carried) {
        Quantity count = steps;
        if (hasRest && !isApart)
          count = Quantity::of(Value(arith::MinSIOp::create(
              b, loc, arith.get(arith.sub(size, at)), arith.get(steps))));
        return combineEach(
            carried, isLane ? emitLaneReduction(zero, count, inner, tile, start)
                            : emitReduction(level, count, inner, tile, start));
      });
  if (!isApart)
    return sums;
  return combineEach(
      sums, isLane ? emitLaneReduction(whole, size, state, tile, start)
                   : emitReduction(level, arith.sub(size, whole),
                                   advance(state, dim, whole), tile, start));
}

SmallVector<Value> NestEmitter::emitReduction(size_t level,
                                              const Quantity &size,
                                              const State &state,
                                              const Tile &tile,
                                              ArrayRef<Value> accumulators) {
  int dim = s.reductions[level];
  if (s.vecReduces && dim == s.vec)
    return emitLaneReduction(Quantity::of(0), size, state, tile, accumulators);
  if (isPaired(dim))
    return emitPairs(size, state, tile, accumulators);
  if (s.slides && dim == s.reductions.back())
    return emitSlide(state, tile, accumulators);
  if (s.together > 1 && dim == s.reductions.back())
    return emitTogether(size, state, tile, accumulators);
  return carrySteps(
      dim, Quantity::of(0), size, 1, state, accumulators,
      [&](const State &inner, const Quantity &, ArrayRef<Value> carried) {
        return emitReductions(level + 1, inner, tile, carried);
      });
}

SmallVector<Value> NestEmitter::emitTogether(const Quantity &size,
                                             const State &state,
                                             const Tile &tile,
                                             ArrayRef<Value> accumulators) {
  int dim = s.reductions.back();
  Quantity whole =
      size.fixed
          ? Quantity::of(*size.fixed / s.together * s.together)
          : arith.sub(size,
                      Quantity::of(Value(arith::RemUIOp::create(
                          b, loc, arith.get(size), arith.index(s.together)))));
  SmallVector<Value> start = neutral(tile);
  SmallVector<Value> most = carrySteps(
      dim, Quantity::of(0), whole, s.together, state, accumulators,
      [&](const State &inner, const Quantity &, ArrayRef<Value> carried) {
        auto step = [&](int64_t at) {
          return emitStep(advance(inner, dim, Quantity::of(at)), tile, start);
        };
        std::function<SmallVector<Value>(int64_t, int64_t)> steps =
            [&](int64_t from, int64_t count) {
              return count == 1
                         ? step(from)
                         : combineEach(steps(from, count / 2),
                                       steps(from + count / 2, count / 2));
            };
        return combineEach(carried, steps(0, s.together));
      });
  return carrySteps(
      dim, whole, size, 1, state, most,
      [&](const State &inner, const Quantity &, ArrayRef<Value> carried) {
        return emitStep(inner, tile, carried);
      });
}

SmallVector<Value> NestEmitter::emitSlide(const State &state, const Tile &tile,
                                          ArrayRef<Value> accumulators) {
  int dim = s.reductions.back();
  size_t movedAt = nest.inputs[0].usesDim(s.row) ? 0 : 1, otherAt = 1 - movedAt;
  const Access &moved = nest.inputs[movedAt], &other = nest.inputs[otherAt];
  int64_t terms = *nest.dims[dim].size.fixed,
          slide = *moved.coef[s.row].fixed / *moved.coef[dim].fixed;
  SmallVector<State> at;
  for (int64_t term : llvm::seq(terms))
    at.push_back(advance(state, dim, Quantity::of(term)));
  auto maskOf = [&](int64_t vector) {
    return vector + 1 == tile.vectors ? tile.mask : Value();
  };
  // By vector: what each term multiplies by, the same for all rows.
  SmallVector<SmallVector<Value>> factors(tile.vectors);
  for (int64_t vector : llvm::seq(tile.vectors))
    for (const State &inner : at)
      factors[vector].push_back(load(other, inner.pointers[inputAt(otherAt)],
                                     tileOffset(other, 0, 0, vector, s.lanes),
                                     s.lanes, maskOf(vector)));
  SmallVector<Value> sums(accumulators);
  // In the order of elements, so that each row adds its terms in theirs.
  for (int64_t element : llvm::seq((tile.rows - 1) * slide + terms))
    for (int64_t vector : llvm::seq(tile.vectors)) {
      Quantity offset =
          arith.add(tileOffset(moved, 0, 0, vector, s.lanes),
                    arith.mul(Quantity::of(element), moved.coef[dim]));
      Value loaded = load(moved, state.pointers[inputAt(movedAt)], offset,
                          s.lanes, maskOf(vector));
      for (int64_t row : llvm::seq(tile.rows)) {
        int64_t term = element - row * slide;
        if (term < 0 || term >= terms)
          continue;
        Value &sum = sums[row * tile.vectors + vector];
        SmallVector<Value> arguments(2);
        arguments[movedAt] = loaded;
        arguments[otherAt] = factors[vector][term];
        arguments.push_back(sum);
        SmallVector<Value> yields = evaluateBody(
            b, *nest.main.getBody(), arguments, s.lanes,
            [&](int64_t index) {
              return indexOf(at[term], index, row, 0, vector, s.lanes);
            },
            maskOf(vector));
        sum = splat(b, loc, yields.front(), s.lanes);
      }
    }
  return sums;
}

SmallVector<Value> NestEmitter::emitPairs(const Quantity &size,
                                          const State &state, const Tile &tile,
                                          ArrayRef<Value> accumulators) {
  int dim = s.reductions.back();
  Quantity whole = size.fixed ? Quantity::of(*size.fixed / 2 * 2) : size;
  SmallVector<Value> sums = carrySteps(
      dim, Quantity::of(0), whole, 2, state, accumulators,
      [&](const State &inner, const Quantity &, ArrayRef<Value> carried) {
        return emitPair(inner, tile, carried, false);
      });
  if (!size.fixed || *size.fixed % 2 == 0)
    return sums;
  return emitPair(advance(state, dim, whole), tile, sums, true);
}

Value NestEmitter::addPairs(Value sum, Value x, Value y) {
  auto call = [&](StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, sum.getType(),
                                         b.getStringAttr(name), operands)
        .getResult(0);
  };
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return call("llvm.x86.avx512bf16.dpbf16ps.512", {sum, x, y});
  // With VNNI LLVM makes one instruction of both.
  Value products = call(s.lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                        : s.lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                       : "llvm.x86.sse2.pmadd.wd",
                        {x, y});
  return arith::AddIOp::create(b, loc, sum, products);
}

SmallVector<Value> NestEmitter::emitPair(const State &state, const Tile &tile,
                                         ArrayRef<Value> accumulators,
                                         bool isHalf) {
  size_t rowsAt = inputAt(1 - s.packed), panelAt = inputAt(s.packed);
  const Access &rows = nest.inputs[1 - s.packed];
  auto pairs = VectorType::get({2 * s.lanes}, rows.element);
  auto words = VectorType::get({s.lanes}, b.getI32Type());
  SmallVector<Value> panels, sums(accumulators);
  for (int64_t vector : llvm::seq(tile.vectors))
    panels.push_back(LLVM::LoadOp::create(
        b, loc, pairs,
        pointerAt(nest.inputs[s.packed], state.pointers[panelAt],
                  Quantity::of(2 * vector * s.lanes)),
        elementBytes(rows.element)));
  for (int64_t row : llvm::seq(tile.rows)) {
    Value both = loadPair(1 - s.packed,
                          pointerAt(rows, state.pointers[rowsAt],
                                    tileOffset(rows, row, 0, 0, s.lanes)),
                          isHalf);
    both = vector::BroadcastOp::create(b, loc, words, both);
    both = LLVM::BitcastOp::create(b, loc, pairs, both);
    for (int64_t vector : llvm::seq(tile.vectors)) {
      Value &sum = sums[row * tile.vectors + vector];
      sum = addPairs(sum, both, panels[vector]);
    }
  }
  return sums;
}

/// The innermost reduction, along the lanes.
SmallVector<Value>
NestEmitter::emitLaneReduction(const Quantity &begin, const Quantity &size,
                               const State &state, const Tile &tile,
                               ArrayRef<Value> accumulators) {
  int64_t extent = tile.vectors * s.lanes;
  SmallVector<Value> current(accumulators);
  auto loop = [&](const Quantity &from, const Quantity &to, int64_t step,
                  Carry body) {
    current = carrySteps(s.vec, from, to, step, state, current, body);
  };
  // Accumulators of the first vector only, for what is left over.
  size_t chains = tile.rows * tile.columns * nest.outputs.size();
  auto partial = [&](const State &inner, ArrayRef<Value> values,
                     int64_t vectors, Value mask) {
    Tile part = tile;
    part.vectors = vectors;
    part.mask = mask;
    SmallVector<Value> used;
    for (size_t chain : llvm::seq(chains))
      for (int64_t vector : llvm::seq(vectors))
        used.push_back(values[chain * tile.vectors + vector]);
    SmallVector<Value> next = emitStep(inner, part, used), result(values);
    for (size_t chain : llvm::seq(chains))
      for (int64_t vector : llvm::seq(vectors))
        result[chain * tile.vectors + vector] = next[chain * vectors + vector];
    return result;
  };
  auto whole = [&](const State &inner, const Quantity &,
                   ArrayRef<Value> values) {
    return partial(inner, values, tile.vectors, {});
  };
  auto maskType = VectorType::get({s.lanes}, b.getI1Type());
  if (size.fixed) {
    int64_t full = *size.fixed / extent * extent, rest = *size.fixed - full;
    loop(begin, Quantity::of(full), extent, whole);
    if (rest == 0)
      return current;
    Value mask;
    if (rest % s.lanes)
      mask = vector::CreateMaskOp::create(
          b, loc, maskType, ValueRange{arith.index(rest % s.lanes)});
    return partial(advance(state, s.vec, Quantity::of(full)), current,
                   llvm::divideCeil(rest, s.lanes), mask);
  }
  if (size.multiple() % extent == 0) {
    loop(begin, size, extent, whole);
    return current;
  }
  Value rest =
      arith::RemUIOp::create(b, loc, arith.get(size), arith.index(extent));
  Quantity full = arith.sub(size, Quantity::of(rest));
  loop(begin, full, extent, whole);
  loop(full, size, s.lanes,
       [&](const State &inner, const Quantity &, ArrayRef<Value> values) {
         if (size.multiple() % s.lanes == 0)
           return partial(inner, values, 1, {});
         Quantity left = arith.sub(size, inner.position[s.vec]);
         Value mask = vector::CreateMaskOp::create(b, loc, maskType,
                                                   ValueRange{arith.get(left)});
         return partial(inner, values, 1, mask);
       });
  return current;
}

/// Epilogue and stores for one vector (or scalar) of the tile.
void NestEmitter::finish(const State &state, const Tile &tile, int64_t row,
                         int64_t column, int64_t vector,
                         SmallVector<Value> values, int64_t lanes, Value mask) {
  auto put = [&](const Access &output, size_t place, Value value) {
    Value pointer = state.pointers[place];
    Quantity offset = tileOffset(output, row, column, vector, lanes);
    if (isAcross(output, tile, mask)) {
      SmallVector<Value> &rows = transposed[{place, column, vector}];
      rows.push_back(value);
      if (row + 1 < tile.rows || output.part == 0)
        return;
      if (output.part < 0)
        return storeAcross(output, pointer, column, vector, std::move(rows));
      return storeAcross(
          *all[place - 1], state.pointers[place - 1], column, vector,
          std::move(transposed[{place - 1, column, vector}]), std::move(rows));
    }
    if (isInterleaved(output, tile)) {
      SmallVector<Value> &rows = transposed[{place, column, vector}];
      rows.push_back(value);
      if (row + 1 == tile.rows)
        storeInterleavedRows(output, pointer, column, vector,
                             std::exchange(rows, {}), mask);
      return;
    }
    if (storesRows(output, tile, lanes, mask)) {
      SmallVector<Value> &rows = transposed[{place, column, vector}];
      rows.push_back(value);
      if (int64_t(rows.size()) == lanes || row + 1 == tile.rows)
        storeRows(output, pointer, row + 1 - rows.size(), column, vector,
                  std::exchange(rows, {}));
      return;
    }
    if (output.part < 0 || lanes == 1 || mask || !output.coef[s.vec].is(2))
      return store(output, pointer, offset, value, lanes, mask);
    if (output.part == 0)
      realPart = value;
    else
      storeInterleaved(
          *all[place - 1],
          pointerAt(*all[place - 1], state.pointers[place - 1], offset),
          realPart, value, lanes);
  };
  if (!nest.epilogue) {
    for (auto [i, output] : llvm::enumerate(nest.outputs))
      put(output, outputAt(i), values[i]);
    return;
  }
  SmallVector<Value> arguments;
  for (auto [i, input] : llvm::enumerate(nest.epilogueInputs)) {
    if (int64_t(i) == nest.epilogueOperand)
      arguments.push_back(values[0]);
    else if (!input.pointer)
      arguments.push_back(nest.epilogue.getDpsInputs()[i]);
    else if (isAcross(input, tile, mask)) {
      SmallVector<Value> &rows =
          transposed[{epilogueInputAt(i), column, vector}];
      if (rows.empty())
        rows = loadAcross(input, state.pointers[epilogueInputAt(i)], column,
                          vector);
      arguments.push_back(rows[row]);
    } else
      arguments.push_back(load(input, state.pointers[epilogueInputAt(i)],
                               tileOffset(input, row, column, vector, lanes),
                               lanes, mask));
  }
  for (auto [i, output] : llvm::enumerate(nest.epilogueOutputs)) {
    if (nest.epilogue.getRegionOutputArgs()[i].use_empty())
      arguments.push_back(
          arith::ConstantOp::create(b, loc, b.getZeroAttr(output.element)));
    else
      arguments.push_back(load(output, state.pointers[epilogueOutputAt(i)],
                               tileOffset(output, row, column, vector, lanes),
                               lanes, mask));
  }
  SmallVector<Value> yields = evaluateBody(
      b, *nest.epilogue.getBody(), arguments, lanes, [&](int64_t dim) {
        return indexOf(state, nest.epilogueDims[dim], row, column, vector,
                       lanes);
      });
  for (auto [i, output] : llvm::enumerate(nest.epilogueOutputs))
    put(output, epilogueOutputAt(i), yields[i]);
}

static vector::CombiningKind combiningKind(Operation *op) {
  using Kind = vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case([](arith::MaximumFOp) { return Kind::MAXIMUMF; })
      .Case([](arith::MaxNumFOp) { return Kind::MAXNUMF; })
      .Case([](arith::MinimumFOp) { return Kind::MINIMUMF; })
      .Case([](arith::MinNumFOp) { return Kind::MINNUMF; })
      .Case([](arith::MaxSIOp) { return Kind::MAXSI; })
      .Case([](arith::MaxUIOp) { return Kind::MAXUI; })
      .Case([](arith::MinSIOp) { return Kind::MINSI; })
      .Case([](arith::MinUIOp) { return Kind::MINUI; })
      .Case([](arith::AndIOp) { return Kind::AND; })
      .Case([](arith::OrIOp) { return Kind::OR; })
      .Default([](Operation *) { return Kind::XOR; });
}

Value NestEmitter::combine(size_t i, Value x, Value y) {
  Operation *combiner = combinerOf(nest.main, i);
  OperationState op(loc, combiner->getName(), {x, y}, {x.getType()},
                    combiner->getAttrs());
  op.propertiesAttr = combiner->getPropertiesAsAttribute();
  return b.create(op)->getResult(0);
}

SmallVector<Value> NestEmitter::combineEach(ArrayRef<Value> x,
                                            ArrayRef<Value> y) {
  size_t count = x.size() / nest.outputs.size();
  SmallVector<Value> both;
  for (auto [at, one, other] : llvm::enumerate(x, y))
    both.push_back(combine(at / count, one, other));
  return both;
}

SmallVector<Value> NestEmitter::neutral(const Tile &tile) {
  SmallVector<Value> values;
  for (size_t i : llvm::seq(nest.outputs.size())) {
    Value value = arith::ConstantOp::create(
        b, loc, spmd::neutralElement(combinerOf(nest.main, i)));
    values.append(tile.rows * tile.columns * tile.vectors,
                  splat(b, loc, value, s.lanes));
  }
  return values;
}

void NestEmitter::emitTile(const State &state, const Tile &tile) {
  transposed.clear();
  size_t count = tile.rows * tile.columns * tile.vectors;
  auto each =
      [&](llvm::function_ref<void(int64_t, int64_t, int64_t, size_t)> body) {
        for (int64_t row : llvm::seq(tile.rows))
          for (int64_t column : llvm::seq(tile.columns))
            for (int64_t vector : llvm::seq(tile.vectors))
              body(row, column, vector,
                   (row * tile.columns + column) * tile.vectors + vector);
      };
  auto maskOf = [&](int64_t vector) {
    return vector + 1 == tile.vectors ? tile.mask : Value();
  };
  auto finishEach = [&](ArrayRef<Value> values) {
    each([&](int64_t row, int64_t column, int64_t vector, size_t at) {
      SmallVector<Value> mine;
      for (size_t i : llvm::seq(nest.outputs.size()))
        mine.push_back(values[i * count + at]);
      finish(state, tile, row, column, vector, mine, s.lanes, maskOf(vector));
    });
  };
  if (!nest.reduces())
    return finishEach(emitStep(state, tile, {}));

  if (s.vecReduces)
    return emitLaneSums(state, tile);
  SmallVector<Value> accumulators(count * nest.outputs.size());
  for (auto [i, output] : llvm::enumerate(nest.outputs))
    each([&, i = i, &output = output](int64_t row, int64_t column,
                                      int64_t vector, size_t at) {
      Value value;
      if (nest.initial[i])
        value = nest.initial[i];
      else
        value = load(output, state.pointers[outputAt(i)],
                     tileOffset(output, row, column, vector, s.lanes), s.lanes,
                     maskOf(vector));
      accumulators[i * count + at] = splat(b, loc, value, s.lanes);
    });
  // All that is done here is one partial sum, or a part of one.
  if (llvm::is_contained(s.hoisted, s.partial) && s.partial != blocked)
    return finishEach(combineEach(
        accumulators, emitReductions(0, state, tile, neutral(tile))));
  return finishEach(emitReductions(0, state, tile, accumulators));
}

bool NestEmitter::sumsTogether(const Tile &tile) const {
  auto isAlong = [&](const Access &access) {
    return access.part < 0 && access.isContiguous(s.row);
  };
  return s.row >= 0 && tile.rows >= 4 && tile.rows <= s.lanes &&
         llvm::isPowerOf2_64(tile.rows) &&
         llvm::all_of(nest.stores(), isAlong) &&
         llvm::all_of(nest.epilogueInputs, [&](const Access &input) {
           return !input.usesDim(s.row) || isAlong(input);
         });
}

Value NestEmitter::totalsOfRows(size_t i, ArrayRef<Value> rows) {
  int64_t terms = s.lanes; // of a row
  // The second half of each row's terms is added to the first.
  auto addHalves = [&](Value x, Value y, int64_t blocks) {
    SmallVector<int64_t> low, high;
    for (int64_t block : llvm::seq(blocks))
      for (int64_t term : llvm::seq(terms / 2)) {
        low.push_back(block * terms + term);
        high.push_back(block * terms + terms / 2 + term);
      }
    terms /= 2;
    return combine(i, vector::ShuffleOp::create(b, loc, x, y, low),
                   vector::ShuffleOp::create(b, loc, x, y, high));
  };
  std::function<Value(ArrayRef<Value>)> merge = [&](ArrayRef<Value> some) {
    if (some.size() == 1)
      return terms = s.lanes, some.front();
    size_t half = some.size() / 2;
    Value first = merge(some.take_front(half)),
          second = merge(some.drop_front(half));
    return addHalves(first, second, some.size());
  };
  Value totals = merge(rows);
  while (terms > 1)
    totals = addHalves(totals, totals, rows.size());
  return totals;
}

void NestEmitter::emitLaneSums(const State &state, const Tile &tile) {
  Schedule alongRows;
  alongRows.vec = s.row;
  alongRows.lanes = tile.rows;
  alongRows.column = s.column;
  bool isTogether = sumsTogether(tile);
  NestEmitter across(b, nest, alongRows, /*parts=*/1);
  size_t count = tile.rows * tile.columns * tile.vectors;
  SmallVector<Value> values = emitReductions(0, state, tile, neutral(tile));
  // What the lanes of a row have, of output `i`.
  auto termsOf = [&](size_t i, int64_t row, int64_t column) {
    size_t first = i * count + (row * tile.columns + column) * tile.vectors;
    Value total = values[first];
    for (int64_t vector = 1; vector < tile.vectors; ++vector)
      total = combine(i, total, values[first + vector]);
    return total;
  };
  auto totalOf = [&](size_t i, int64_t row, int64_t column) {
    Value total = termsOf(i, row, column);
    auto lanes = dyn_cast<VectorType>(total.getType());
    if (!lanes)
      return total;
    Operation *combiner = combinerOf(nest.main, i);
    bool isFloat = isa<FloatType>(lanes.getElementType());
    // Without a start, sums of lanes begin with +0.
    Value none;
    if (isa<arith::AddFOp>(combiner))
      none = arith::ConstantOp::create(b, loc, spmd::neutralElement(combiner));
    return Value(vector::ReductionOp::create(
        b, loc, combiningKind(combiner), total, none,
        isFloat ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none));
  };
  // `total` of an output is of `lanes` rows from `row` on, which `emitter` has
  // along its lanes.
  auto finishFrom = [&](NestEmitter &emitter, int64_t row, int64_t column,
                        int64_t lanes,
                        llvm::function_ref<Value(size_t)> total) {
    SmallVector<Value> mine;
    for (auto [i, output] : llvm::enumerate(nest.outputs)) {
      Value start = nest.initial[i];
      if (!start)
        start = emitter.load(output, state.pointers[outputAt(i)],
                             emitter.tileOffset(output, row, column, 0, lanes),
                             lanes, {});
      mine.push_back(combine(i, splat(b, loc, start, lanes), total(i)));
    }
    emitter.finish(state, tile, row, column, 0, mine, lanes, {});
  };
  for (int64_t column : llvm::seq(tile.columns)) {
    if (isTogether)
      finishFrom(across, 0, column, tile.rows, [&](size_t i) {
        SmallVector<Value> rows;
        for (int64_t row : llvm::seq(tile.rows))
          rows.push_back(termsOf(i, row, column));
        return totalsOfRows(i, rows);
      });
    else
      for (int64_t row : llvm::seq(tile.rows))
        finishFrom(*this, row, column, 1,
                   [&](size_t i) { return totalOf(i, row, column); });
  }
}

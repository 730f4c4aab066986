//===- EmitNest.cpp - Write a scheduled nest as loops over vectors --------===//
//
// Loops outside the register tile carry pointers, one an access, so that the
// innermost code holds nothing but loads at fixed distances, arithmetic and
// stores. Accumulators are loop-carried values: they stay in registers.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "shardc/KernelGen/Common.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <functional>
#include <map>

using namespace mlir;

namespace shardc::cpu {

namespace {
/// Where the emission stands: a pointer an access, an index a dim.
struct State {
  SmallVector<Value> pointers;
  SmallVector<Quantity> position;
};

/// Part of a register tile that is being written.
struct Tile {
  int64_t rows = 1, columns = 1, vectors = 1;
  Value mask; // of the last vector, or null
};

class Emitter {
public:
  Emitter(OpBuilder &b, Nest &nest, const Schedule &s)
      : b(b), loc(nest.main.getLoc()), nest(nest), s(s), arith(b, loc) {
    for (auto *list : {&nest.inputs, &nest.outputs, &nest.epilogueInputs,
                       &nest.epilogueOutputs})
      for (Access &access : *list)
        all.push_back(&access);
  }

  void emit();

private:
  void emitBlocks();
  void emitAll(const State &start);
  using Continue = std::function<void(const State &)>;
  using TileContinue = std::function<void(const State &, int64_t, Value)>;

  // Loops.
  State advance(const State &state, int dim, const Quantity &by);
  void forDims(ArrayRef<int> dims, const State &state, const Continue &body);
  void forSteps(int dim, Quantity from, Quantity to, int64_t step,
                const State &state, const Continue &body);
  void forTiles(int dim, int64_t extent, const State &state,
                const TileContinue &body);
  void forVectors(const State &state, const TileContinue &body);

  // Memory.
  Type stored(Type element);
  Value pointerAt(const Access &access, Value pointer, Quantity offset);
  Quantity tileOffset(const Access &access, int64_t row, int64_t column,
                      int64_t vector, int64_t lanes);
  Value fromMemory(Value value, Type element);
  Value load(const Access &access, Value pointer, Quantity offset,
             int64_t lanes, Value mask);
  void store(const Access &access, Value pointer, Quantity offset, Value value,
             int64_t lanes, Value mask);
  Value lanePointers(const Access &access, Value pointer, const Quantity &step);
  /// One instruction where registers are wide enough to have it.
  static bool hasScatter(Type element, int64_t lanes) {
    unsigned bits = element.getIntOrFloatBitWidth();
    return bits >= 32 && bits * lanes == 512;
  }
  Value allLanes() {
    auto type = VectorType::get({s.lanes}, b.getI1Type());
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, true));
  }

  // Tiles.
  void emitTile(const State &state, const Tile &tile);
  SmallVector<Value> emitReductions(size_t level, const State &state,
                                    const Tile &tile,
                                    ArrayRef<Value> accumulators);
  SmallVector<Value> emitLaneReduction(const State &state, const Tile &tile,
                                       ArrayRef<Value> accumulators);
  SmallVector<Value> emitStep(const State &state, const Tile &tile,
                              ArrayRef<Value> accumulators);
  void finish(const State &state, int64_t row, int64_t column, int64_t vector,
              SmallVector<Value> values, int64_t lanes, Value mask);
  Value indexOf(const State &state, int dim, int64_t row, int64_t column,
                int64_t vector, int64_t lanes);
  State pack(const State &state, int64_t vectors, Value mask);

  size_t inputAt(size_t i) const { return i; }
  size_t outputAt(size_t i) const { return nest.inputs.size() + i; }
  size_t epilogueInputAt(size_t i) const {
    return outputAt(nest.outputs.size()) + i;
  }
  size_t epilogueOutputAt(size_t i) const {
    return epilogueInputAt(nest.epilogueInputs.size()) + i;
  }

  OpBuilder &b;
  Location loc;
  Nest &nest;
  const Schedule &s;
  Arith arith;
  SmallVector<Access *> all;
  Value panel; // scratch of the packed operand
  int blocked =
      -1; // the hoisted dim that has steps, and the present step's size
  Quantity blockSize;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

State Emitter::advance(const State &state, int dim, const Quantity &by) {
  State next = state;
  next.position[dim] = arith.add(state.position[dim], by);
  if (by.is(0))
    return next;
  for (auto [i, access] : llvm::enumerate(all))
    if (next.pointers[i] && access->usesDim(dim))
      next.pointers[i] = pointerAt(*access, next.pointers[i],
                                   arith.mul(by, access->coef[dim]));
  return next;
}

void Emitter::forSteps(int dim, Quantity from, Quantity to, int64_t step,
                       const State &state, const Continue &body) {
  if (from.fixed && to.fixed) {
    if (*from.fixed >= *to.fixed)
      return;
    if (*to.fixed - *from.fixed <= step)
      return body(advance(state, dim, from));
  }
  auto loop = scf::ForOp::create(b, loc, arith.get(from), arith.get(to),
                                 arith.index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(advance(state, dim, Quantity{std::nullopt, loop.getInductionVar()}));
}

void Emitter::forDims(ArrayRef<int> dims, const State &state,
                      const Continue &body) {
  if (dims.empty())
    return body(state);
  forSteps(
      dims.front(), Quantity::of(0), nest.dims[dims.front()].size, 1, state,
      [&](const State &inner) { forDims(dims.drop_front(), inner, body); });
}

/// Calls `body` with the number of rows (or columns) of each tile of `dim`.
void Emitter::forTiles(int dim, int64_t extent, const State &state,
                       const TileContinue &body) {
  if (dim < 0)
    return body(state, 1, {});
  const Quantity &size = nest.dims[dim].size;
  if (size.fixed) {
    int64_t full = *size.fixed / extent * extent;
    forSteps(dim, Quantity::of(0), Quantity::of(full), extent, state,
             [&](const State &inner) { body(inner, extent, {}); });
    if (full < *size.fixed)
      body(advance(state, dim, Quantity::of(full)), *size.fixed - full, {});
    return;
  }
  if (extent == 1)
    return forSteps(dim, Quantity::of(0), size, 1, state,
                    [&](const State &inner) { body(inner, 1, {}); });
  Value rest =
      arith::RemUIOp::create(b, loc, arith.get(size), arith.index(extent));
  Quantity full = arith.sub(size, Quantity::of(rest));
  forSteps(dim, Quantity::of(0), full, extent, state,
           [&](const State &inner) { body(inner, extent, {}); });
  forSteps(dim, full, size, 1, state,
           [&](const State &inner) { body(inner, 1, {}); });
}

/// Calls `body` with the number of vectors and the mask of the last of them.
void Emitter::forVectors(const State &state, const TileContinue &body) {
  int dim = s.vec;
  if (dim < 0)
    return body(state, 1, {});
  const Quantity &size = nest.dims[dim].size;
  int64_t extent = s.vectors * s.lanes;
  auto maskType = VectorType::get({s.lanes}, b.getI1Type());
  if (size.fixed) {
    int64_t full = *size.fixed / extent * extent, rest = *size.fixed - full;
    forSteps(dim, Quantity::of(0), Quantity::of(full), extent, state,
             [&](const State &inner) { body(inner, s.vectors, {}); });
    if (rest == 0)
      return;
    Value mask;
    if (rest % s.lanes)
      mask = vector::CreateMaskOp::create(
          b, loc, maskType, ValueRange{arith.index(rest % s.lanes)});
    body(advance(state, dim, Quantity::of(full)),
         llvm::divideCeil(rest, s.lanes), mask);
    return;
  }
  Quantity full = size;
  if (extent > 1) {
    Value rest =
        arith::RemUIOp::create(b, loc, arith.get(size), arith.index(extent));
    full = arith.sub(size, Quantity::of(rest));
  }
  forSteps(dim, Quantity::of(0), full, extent, state,
           [&](const State &inner) { body(inner, s.vectors, {}); });
  if (extent == 1)
    return;
  forSteps(dim, full, size, s.lanes, state, [&](const State &inner) {
    if (s.lanes == 1)
      return body(inner, 1, {});
    Quantity left = arith.sub(size, inner.position[dim]);
    Value mask = vector::CreateMaskOp::create(b, loc, maskType,
                                              ValueRange{arith.get(left)});
    body(inner, 1, mask);
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Type Emitter::stored(Type element) {
  if (element.isInteger(1))
    return b.getI8Type();
  if (element.isIndex())
    return b.getI64Type();
  return element;
}

Value Emitter::pointerAt(const Access &access, Value pointer, Quantity offset) {
  if (offset.is(0))
    return pointer;
  Type element = stored(access.element);
  // A constant index has 29 bits in MLIR, with its sign; more are a value.
  if (offset.fixed && llvm::isInt<LLVM::kGEPConstantBitWidth>(*offset.fixed))
    return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{int32_t(*offset.fixed)},
                               LLVM::GEPNoWrapFlags::inbounds);
  Value at =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), arith.get(offset));
  return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{at},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Quantity Emitter::tileOffset(const Access &access, int64_t row, int64_t column,
                             int64_t vector, int64_t lanes) {
  Quantity offset = Quantity::of(0);
  if (access.usesDim(s.row))
    offset =
        arith.add(offset, arith.mul(Quantity::of(row), access.coef[s.row]));
  if (access.usesDim(s.column))
    offset = arith.add(offset,
                       arith.mul(Quantity::of(column), access.coef[s.column]));
  if (access.usesDim(s.vec))
    offset = arith.add(
        offset, arith.mul(Quantity::of(vector * lanes), access.coef[s.vec]));
  return offset;
}

/// A value as memory holds it, as `element`.
Value Emitter::fromMemory(Value value, Type element) {
  if (element.isInteger(1)) {
    Type type = element;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = VectorType::get(vector.getShape(), element);
    return arith::TruncIOp::create(b, loc, type, value);
  }
  if (element.isIndex()) {
    Type type = element;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = VectorType::get(vector.getShape(), element);
    return arith::IndexCastOp::create(b, loc, type, value);
  }
  return value;
}

Value Emitter::lanePointers(const Access &access, Value pointer,
                            const Quantity &step) {
  auto indices = VectorType::get({s.lanes}, b.getIndexType());
  Value lanes = vector::StepOp::create(b, loc, indices);
  Value scale = splat(b, loc, arith.get(step), s.lanes);
  Value offsets = arith::MulIOp::create(b, loc, lanes, scale);
  offsets = arith::IndexCastOp::create(
      b, loc, VectorType::get({s.lanes}, b.getI64Type()), offsets);
  Type type =
      VectorType::get({s.lanes}, LLVM::LLVMPointerType::get(b.getContext()));
  return LLVM::GEPOp::create(b, loc, type, stored(access.element), pointer,
                             ValueRange{offsets});
}

/// Loads a vector along `vec`, or a scalar where the access does not move with
/// it or `lanes` is 1.
Value Emitter::load(const Access &access, Value pointer, Quantity offset,
                    int64_t lanes, Value mask) {
  Type element = stored(access.element);
  pointer = pointerAt(access, pointer, offset);
  unsigned bytes = elementBytes(element);
  if (lanes == 1 || !access.usesDim(s.vec))
    return fromMemory(LLVM::LoadOp::create(b, loc, element, pointer, bytes),
                      access.element);
  auto type = VectorType::get({lanes}, element);
  const Quantity &step = access.coef[s.vec];
  Value result;
  if (mask) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    if (step.is(1))
      result =
          LLVM::MaskedLoadOp::create(b, loc, type, pointer, mask, zero, bytes);
    else
      result = LLVM::masked_gather::create(b, loc, type,
                                           lanePointers(access, pointer, step),
                                           mask, ValueRange{zero}, bytes);
  } else if (step.is(1)) {
    result = LLVM::LoadOp::create(b, loc, type, pointer, bytes);
  } else if (step.is(-1)) {
    pointer = pointerAt(access, pointer, Quantity::of(1 - lanes));
    result = LLVM::LoadOp::create(b, loc, type, pointer, bytes);
    SmallVector<int64_t> order;
    for (int64_t lane : llvm::seq(lanes))
      order.push_back(lanes - 1 - lane);
    result = vector::ShuffleOp::create(b, loc, result, result, order);
  } else if (step.is(2)) {
    // The second load ends with the last element wanted.
    Value lowHalf = LLVM::LoadOp::create(b, loc, type, pointer, bytes);
    Value second = pointerAt(access, pointer, Quantity::of(lanes - 1));
    Value highHalf = LLVM::LoadOp::create(b, loc, type, second, bytes);
    SmallVector<int64_t> order;
    for (int64_t lane : llvm::seq(lanes))
      order.push_back(2 * lane < lanes ? 2 * lane : 2 * lane + 1);
    result = vector::ShuffleOp::create(b, loc, lowHalf, highHalf, order);
  } else if (hasScatter(element, lanes)) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    result = LLVM::masked_gather::create(b, loc, type,
                                         lanePointers(access, pointer, step),
                                         allLanes(), ValueRange{zero}, bytes);
  } else {
    SmallVector<Value> elements;
    for (int64_t lane : llvm::seq(lanes)) {
      Value at =
          pointerAt(access, pointer, arith.mul(Quantity::of(lane), step));
      elements.push_back(LLVM::LoadOp::create(b, loc, element, at, bytes));
    }
    result = vector::FromElementsOp::create(b, loc, type, elements);
  }
  return fromMemory(result, access.element);
}

void Emitter::store(const Access &access, Value pointer, Quantity offset,
                    Value value, int64_t lanes, Value mask) {
  Type element = stored(access.element);
  pointer = pointerAt(access, pointer, offset);
  unsigned bytes = elementBytes(element);
  value = splat(b, loc, value, lanes);
  Type type = element;
  if (lanes > 1)
    type = VectorType::get({lanes}, element);
  if (access.element.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, type, value);
  else if (access.element.isIndex())
    value = arith::IndexCastOp::create(b, loc, type, value);
  if (lanes == 1) {
    LLVM::StoreOp::create(b, loc, value, pointer, bytes);
    return;
  }
  const Quantity &step = access.coef[s.vec];
  if (step.is(1)) {
    if (mask)
      LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, bytes);
    else
      LLVM::StoreOp::create(b, loc, value, pointer, bytes);
    return;
  }
  if (mask || hasScatter(element, lanes)) {
    LLVM::masked_scatter::create(b, loc, value,
                                 lanePointers(access, pointer, step),
                                 mask ? mask : allLanes(), bytes);
    return;
  }
  for (int64_t lane : llvm::seq(lanes)) {
    Value at = pointerAt(access, pointer, arith.mul(Quantity::of(lane), step));
    LLVM::StoreOp::create(
        b, loc, vector::ExtractOp::create(b, loc, value, lane), at, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value Emitter::indexOf(const State &state, int dim, int64_t row, int64_t column,
                       int64_t vector, int64_t lanes) {
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
SmallVector<Value> Emitter::emitStep(const State &state, const Tile &tile,
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
          if (!value && !nest.main.getRegionInputArgs()[i].use_empty())
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
            b, *nest.main.getBody(), arguments, s.lanes, [&](int64_t dim) {
              return indexOf(state, dim, row, column, vector, s.lanes);
            });
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

SmallVector<Value> Emitter::emitReductions(size_t level, const State &state,
                                           const Tile &tile,
                                           ArrayRef<Value> accumulators) {
  if (level == s.reductions.size())
    return emitStep(state, tile, accumulators);
  int dim = s.reductions[level];
  if (s.vecReduces && dim == s.vec)
    return emitLaneReduction(state, tile, accumulators);
  const Quantity &size = dim == blocked ? blockSize : nest.dims[dim].size;
  if (size.is(1))
    return emitReductions(level + 1, state, tile, accumulators);
  auto loop = scf::ForOp::create(b, loc, arith.index(0), arith.get(size),
                                 arith.index(1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  State inner =
      advance(state, dim, Quantity{std::nullopt, loop.getInductionVar()});
  SmallVector<Value> carried(loop.getRegionIterArgs());
  SmallVector<Value> next = emitReductions(level + 1, inner, tile, carried);
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// The innermost reduction, along the lanes.
SmallVector<Value> Emitter::emitLaneReduction(const State &state,
                                              const Tile &tile,
                                              ArrayRef<Value> accumulators) {
  const Quantity &size = nest.dims[s.vec].size;
  int64_t extent = tile.vectors * s.lanes;
  SmallVector<Value> current(accumulators);
  auto loop =
      [&](Quantity from, Quantity to, int64_t step,
          llvm::function_ref<SmallVector<Value>(const State &, ArrayRef<Value>)>
              body) {
        if (from.fixed && to.fixed && *to.fixed - *from.fixed <= step) {
          if (*to.fixed > *from.fixed)
            current = body(advance(state, s.vec, from), current);
          return;
        }
        auto op = scf::ForOp::create(b, loc, arith.get(from), arith.get(to),
                                     arith.index(step), current);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(op.getBody());
        State inner =
            advance(state, s.vec, Quantity{std::nullopt, op.getInductionVar()});
        SmallVector<Value> next =
            body(inner, SmallVector<Value>(op.getRegionIterArgs()));
        scf::YieldOp::create(b, loc, next);
        current = llvm::to_vector_of<Value>(op.getResults());
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
  auto whole = [&](const State &inner, ArrayRef<Value> values) {
    return partial(inner, values, tile.vectors, {});
  };
  auto maskType = VectorType::get({s.lanes}, b.getI1Type());
  if (size.fixed) {
    int64_t full = *size.fixed / extent * extent, rest = *size.fixed - full;
    loop(Quantity::of(0), Quantity::of(full), extent, whole);
    if (rest == 0)
      return current;
    Value mask;
    if (rest % s.lanes)
      mask = vector::CreateMaskOp::create(
          b, loc, maskType, ValueRange{arith.index(rest % s.lanes)});
    return partial(advance(state, s.vec, Quantity::of(full)), current,
                   llvm::divideCeil(rest, s.lanes), mask);
  }
  Value rest =
      arith::RemUIOp::create(b, loc, arith.get(size), arith.index(extent));
  Quantity full = arith.sub(size, Quantity::of(rest));
  loop(Quantity::of(0), full, extent, whole);
  loop(full, size, s.lanes, [&](const State &inner, ArrayRef<Value> values) {
    Quantity left = arith.sub(size, inner.position[s.vec]);
    Value mask = vector::CreateMaskOp::create(b, loc, maskType,
                                              ValueRange{arith.get(left)});
    return partial(inner, values, 1, mask);
  });
  return current;
}

/// Epilogue and stores for one vector (or scalar) of the tile.
void Emitter::finish(const State &state, int64_t row, int64_t column,
                     int64_t vector, SmallVector<Value> values, int64_t lanes,
                     Value mask) {
  if (!nest.epilogue) {
    for (auto [i, output] : llvm::enumerate(nest.outputs))
      store(output, state.pointers[outputAt(i)],
            tileOffset(output, row, column, vector, lanes), values[i], lanes,
            mask);
    return;
  }
  SmallVector<Value> arguments;
  for (auto [i, input] : llvm::enumerate(nest.epilogueInputs)) {
    if (int64_t(i) == nest.epilogueOperand)
      arguments.push_back(values[0]);
    else if (!input.pointer)
      arguments.push_back(nest.epilogue.getDpsInputs()[i]);
    else
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
    store(output, state.pointers[epilogueOutputAt(i)],
          tileOffset(output, row, column, vector, lanes), yields[i], lanes,
          mask);
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

void Emitter::emitTile(const State &state, const Tile &tile) {
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
  if (!nest.reduces()) {
    SmallVector<Value> values = emitStep(state, tile, {});
    each([&](int64_t row, int64_t column, int64_t vector, size_t at) {
      SmallVector<Value> mine;
      for (size_t i : llvm::seq(nest.outputs.size()))
        mine.push_back(values[i * count + at]);
      finish(state, row, column, vector, mine, s.lanes, maskOf(vector));
    });
    return;
  }

  SmallVector<Value> accumulators(count * nest.outputs.size());
  for (auto [i, output] : llvm::enumerate(nest.outputs))
    each([&, i = i, &output = output](int64_t row, int64_t column,
                                      int64_t vector, size_t at) {
      Value value;
      if (s.vecReduces)
        value = arith::ConstantOp::create(
            b, loc, *arith::getNeutralElement(combinerOf(nest.main, i)));
      else if (nest.initial[i])
        value = nest.initial[i];
      else
        value = load(output, state.pointers[outputAt(i)],
                     tileOffset(output, row, column, vector, s.lanes), s.lanes,
                     maskOf(vector));
      accumulators[i * count + at] = splat(b, loc, value, s.lanes);
    });
  SmallVector<Value> values = emitReductions(0, state, tile, accumulators);

  if (!s.vecReduces) {
    each([&](int64_t row, int64_t column, int64_t vector, size_t at) {
      SmallVector<Value> mine;
      for (size_t i : llvm::seq(nest.outputs.size()))
        mine.push_back(values[i * count + at]);
      finish(state, row, column, vector, mine, s.lanes, maskOf(vector));
    });
    return;
  }
  for (int64_t row : llvm::seq(tile.rows))
    for (int64_t column : llvm::seq(tile.columns)) {
      SmallVector<Value> mine;
      for (auto [i, output] : llvm::enumerate(nest.outputs)) {
        Operation *combiner = combinerOf(nest.main, i);
        auto combine = [&](Value x, Value y) -> Value {
          OperationState op(loc, combiner->getName(), {x, y}, {x.getType()},
                            combiner->getAttrs());
          op.propertiesAttr = combiner->getPropertiesAsAttribute();
          return b.create(op)->getResult(0);
        };
        size_t first = i * count + (row * tile.columns + column) * tile.vectors;
        Value total = values[first];
        for (int64_t vector = 1; vector < tile.vectors; ++vector)
          total = combine(total, values[first + vector]);
        if (isa<VectorType>(total.getType()))
          total = vector::ReductionOp::create(
              b, loc, combiningKind(combiner), total,
              isa<FloatType>(getElementTypeOrSelf(total.getType()))
                  ? arith::FastMathFlags::reassoc
                  : arith::FastMathFlags::none);
        Value start = nest.initial[i];
        if (!start)
          start = load(output, state.pointers[outputAt(i)],
                       tileOffset(output, row, column, 0, 1), 1, {});
        mine.push_back(combine(start, total));
      }
      finish(state, row, column, 0, mine, 1, {});
    }
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

/// Copies what this tile of vectors reads of the packed operand to scratch, its
/// vectors side by side, and returns a state in which the operand is read
/// there.
State Emitter::pack(const State &state, int64_t vectors, Value mask) {
  Access &input = nest.inputs[s.packed];
  SmallVector<int> dims;
  for (int dim : s.reductions)
    if (input.usesDim(dim))
      dims.push_back(dim);
  Access target;
  target.element = input.element;
  target.coef.assign(nest.dims.size(), Quantity::of(0));
  target.coef[s.vec] = Quantity::of(1);
  Quantity step = Quantity::of(s.vectors * s.lanes);
  for (int dim : llvm::reverse(dims)) {
    target.coef[dim] = step;
    step = arith.mul(step, dim == blocked ? Quantity::of(s.block)
                                          : nest.dims[dim].size);
  }
  std::function<void(ArrayRef<int>, const State &, Value)> copy =
      [&](ArrayRef<int> rest, const State &from, Value to) {
        if (rest.empty()) {
          for (int64_t vector : llvm::seq(vectors)) {
            Value lastMask = vector + 1 == vectors ? mask : Value();
            Value value = load(input, from.pointers[inputAt(s.packed)],
                               tileOffset(input, 0, 0, vector, s.lanes),
                               s.lanes, lastMask);
            store(target, to, Quantity::of(vector * s.lanes), value, s.lanes,
                  {});
          }
          return;
        }
        forSteps(
            rest.front(), Quantity::of(0),
            rest.front() == blocked ? blockSize : nest.dims[rest.front()].size,
            1, from, [&](const State &inner) {
              Quantity moved = arith.mul(arith.sub(inner.position[rest.front()],
                                                   from.position[rest.front()]),
                                         target.coef[rest.front()]);
              copy(rest.drop_front(), inner, pointerAt(target, to, moved));
            });
      };
  // Against the lanes, element by element, the lanes outermost: reads then run
  // along memory where a reduction dim does.
  if (!input.coef[s.vec].is(1)) {
    Quantity count =
        mask ? arith.sub(nest.dims[s.vec].size, state.position[s.vec])
             : Quantity::of(vectors * s.lanes);
    State only = state;
    for (auto [i, pointer] : llvm::enumerate(only.pointers))
      if (i != inputAt(s.packed))
        pointer = {};
    std::function<void(ArrayRef<int>, const State &, Value)> scalars =
        [&](ArrayRef<int> rest, const State &from, Value to) {
          if (rest.empty()) {
            Value value = load(input, from.pointers[inputAt(s.packed)],
                               Quantity::of(0), 1, {});
            return store(target, to, Quantity::of(0), value, 1, {});
          }
          int dim = rest.front();
          Quantity size = dim == s.vec     ? count
                          : dim == blocked ? blockSize
                                           : nest.dims[dim].size;
          forSteps(dim, Quantity::of(0), size, 1, from,
                   [&](const State &inner) {
                     Quantity steps =
                         arith.sub(inner.position[dim], from.position[dim]);
                     scalars(rest.drop_front(), inner,
                             pointerAt(target, to,
                                       arith.mul(steps, target.coef[dim])));
                   });
        };
    SmallVector<int> order{s.vec};
    order.append(dims);
    scalars(order, only, panel);
    State next = state;
    next.pointers[inputAt(s.packed)] = panel;
    input = target;
    input.pointer = panel;
    return next;
  }
  // Only the operand itself moves while it is copied.
  State only = state;
  for (auto [i, pointer] : llvm::enumerate(only.pointers))
    if (i != inputAt(s.packed))
      pointer = {};
  copy(dims, only, panel);
  State next = state;
  next.pointers[inputAt(s.packed)] = panel;
  input = target;
  input.pointer = panel;
  return next;
}

void Emitter::emit() {
  if (!s.hoisted.empty())
    return emitBlocks();
  State start;
  for (Access *access : all)
    start.pointers.push_back(access->pointer);
  start.position.assign(nest.dims.size(), Quantity::of(0));
  emitAll(start);
}

/// Hoisted reduction dims around everything; outputs are summed up in memory.
void Emitter::emitBlocks() {
  State start;
  for (Access *access : all)
    start.pointers.push_back(access->pointer);
  start.position.assign(nest.dims.size(), Quantity::of(0));
  SmallVector<int> parallel;
  for (int dim : llvm::seq<int>(nest.dims.size()))
    if (!nest.dims[dim].reduces)
      parallel.push_back(dim);
  for (auto [i, output] : llvm::enumerate(nest.outputs)) {
    if (!nest.initial[i])
      continue;
    forDims(parallel, start, [&, i = i, &output = output](const State &state) {
      store(output, state.pointers[outputAt(i)], Quantity::of(0),
            nest.initial[i], 1, {});
    });
    nest.initial[i] = {};
  }
  forDims(ArrayRef(s.hoisted).drop_back(), start, [&](const State &state) {
    int dim = s.hoisted.back();
    const Quantity &size = nest.dims[dim].size;
    if (s.block == 1)
      return forDims(dim, state, [&](const State &inner) { emitAll(inner); });
    blocked = dim;
    forSteps(dim, Quantity::of(0), size, s.block, state,
             [&](const State &inner) {
               blockSize = Quantity::of(s.block);
               if (!size.fixed || *size.fixed % s.block != 0) {
                 Quantity left = arith.sub(size, inner.position[dim]);
                 blockSize = Quantity::of(Value(arith::MinSIOp::create(
                     b, loc, arith.get(left), arith.index(s.block))));
               }
               emitAll(inner);
             });
    blocked = -1;
  });
}

/// The outer loops and tiles, from `start`.
void Emitter::emitAll(const State &start) {
  auto rows = [&](const State &state, const Continue &body, Tile &tile) {
    forTiles(s.row, s.rows, state,
             [&](const State &inner, int64_t count, Value) {
               tile.rows = count;
               forTiles(s.column, s.columns, inner,
                        [&](const State &innermost, int64_t count, Value) {
                          tile.columns = count;
                          body(innermost);
                        });
             });
  };
  Tile tile;
  if (s.vecReduces || s.packed < 0) {
    forDims(s.outer, start, [&](const State &state) {
      rows(
          state,
          [&](const State &inner) {
            if (s.vecReduces) {
              tile.vectors = s.vectors;
              return emitTile(inner, tile);
            }
            forVectors(inner, [&](const State &innermost, int64_t vectors,
                                  Value mask) {
              tile.vectors = vectors;
              tile.mask = mask;
              emitTile(innermost, tile);
            });
          },
          tile);
    });
    return;
  }

  // Scratch for one panel.
  Access original = nest.inputs[s.packed];
  Quantity elements = Quantity::of(s.vectors * s.lanes);
  for (int dim : s.reductions)
    if (original.usesDim(dim))
      elements = arith.mul(elements, dim == blocked ? Quantity::of(s.block)
                                                    : nest.dims[dim].size);
  Quantity bytes =
      arith.mul(elements, Quantity::of(elementBytes(original.element)));
  auto type = MemRefType::get(
      {bytes.fixed ? *bytes.fixed : ShapedType::kDynamic}, b.getI8Type());
  SmallVector<Value> sizes;
  if (!bytes.fixed)
    sizes.push_back(bytes.value);
  Value scratch =
      memref::AllocOp::create(b, loc, type, sizes, b.getI64IntegerAttr(64));
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, scratch);
  address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  panel = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);

  SmallVector<int> before, after;
  for (int dim : s.outer)
    (original.usesDim(dim) ? before : after).push_back(dim);
  forDims(before, start, [&](const State &state) {
    forVectors(state, [&](const State &inner, int64_t vectors, Value mask) {
      tile.vectors = vectors;
      tile.mask = mask;
      State packedState = pack(inner, vectors, mask);
      forDims(after, packedState, [&](const State &most) {
        rows(most, [&](const State &last) { emitTile(last, tile); }, tile);
      });
      nest.inputs[s.packed] = original;
    });
  });
}

void emitNest(OpBuilder &builder, Nest &nest, const Schedule &schedule) {
  Emitter(builder, nest, schedule).emit();
}

} // namespace shardc::cpu

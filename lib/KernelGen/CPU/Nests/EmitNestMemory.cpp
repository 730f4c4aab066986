//===- EmitNestMemory.cpp - Loads and stores of a nest's vectors ----------===//
#include "EmitNest.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

Type NestEmitter::stored(Type element) {
  if (element.isInteger(1))
    return b.getI8Type();
  if (element.isIndex())
    return b.getI64Type();
  return element;
}

Value NestEmitter::pointerAt(const Access &access, Value pointer,
                             Quantity offset) {
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

Quantity NestEmitter::tileOffset(const Access &access, int64_t row,
                                 int64_t column, int64_t vector,
                                 int64_t lanes) {
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
Value NestEmitter::fromMemory(Value value, Type element) {
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

Value NestEmitter::lanePointers(const Access &access, Value pointer,
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
Value NestEmitter::load(const Access &access, Value pointer, Quantity offset,
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
    else if (isShortStep(access, s.vec, lanes))
      result = loadApart(access, pointer, lanes, mask);
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
    result = loadEverySecond(access, pointer, lanes);
  } else if (isShortStep(access, s.vec, lanes)) {
    result = loadApart(access, pointer, lanes, /*mask=*/{});
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

SmallVector<Value> NestEmitter::loadAcross(const Access &access, Value pointer,
                                           int64_t column, int64_t vector) {
  Type element = stored(access.element);
  auto type = VectorType::get({s.lanes}, element);
  Quantity first = tileOffset(access, 0, column, vector, s.lanes);
  SmallVector<Value> vectors;
  for (int64_t lane : llvm::seq(s.lanes)) {
    Quantity step = arith.mul(Quantity::of(lane), access.coef[s.vec]);
    Value at = pointerAt(access, pointer, arith.add(first, step));
    if (access.part < 0)
      vectors.push_back(
          LLVM::LoadOp::create(b, loc, type, at, elementBytes(element)));
    else
      vectors.push_back(loadEverySecond(access, at, s.lanes));
  }
  transpose(b, loc, vectors);
  for (Value &value : vectors)
    value = fromMemory(value, access.element);
  return vectors;
}

void NestEmitter::storeAcross(const Access &access, Value pointer,
                              int64_t column, int64_t vector,
                              SmallVector<Value> rows) {
  Quantity first = tileOffset(access, 0, column, vector, s.lanes);
  for (Value &value : rows)
    value = toMemory(value, access.element, s.lanes);
  transpose(b, loc, rows);
  for (auto [lane, value] : llvm::enumerate(rows)) {
    Quantity step = arith.mul(Quantity::of(lane), access.coef[s.vec]);
    storeVector(access, value,
                pointerAt(access, pointer, arith.add(first, step)));
  }
}

void NestEmitter::storeAcross(const Access &access, Value pointer,
                              int64_t column, int64_t vector,
                              SmallVector<Value> re, SmallVector<Value> im) {
  Quantity first = tileOffset(access, 0, column, vector, s.lanes);
  for (SmallVector<Value> *rows : {&re, &im}) {
    for (Value &value : *rows)
      value = splat(b, loc, value, s.lanes);
    transpose(b, loc, *rows);
  }
  for (int64_t lane : llvm::seq(s.lanes)) {
    Quantity step = arith.mul(Quantity::of(lane), access.coef[s.vec]);
    storeInterleaved(access, pointerAt(access, pointer, arith.add(first, step)),
                     re[lane], im[lane], s.lanes);
  }
}

Value NestEmitter::gatherLanes(ArrayRef<Value> vectors, ArrayRef<int64_t> which,
                               ArrayRef<int64_t> places) {
  int64_t lanes = places.size();
  // One more vector at a time.
  Value result;
  for (auto [i, vector] : llvm::enumerate(vectors)) {
    if (!llvm::is_contained(which, int64_t(i)))
      continue;
    SmallVector<int64_t> order;
    for (int64_t lane : llvm::seq(lanes))
      order.push_back(which[lane] == int64_t(i)
                          ? (result ? lanes : 0) + places[lane]
                          : lane);
    result = vector::ShuffleOp::create(b, loc, result ? result : vector, vector,
                                       order);
  }
  return result;
}

SmallVector<Value> NestEmitter::interleavedMasks(Value mask, int64_t rows) {
  SmallVector<Value> masks(rows);
  if (!mask)
    return masks;
  int64_t lanes = s.lanes;
  for (int64_t vector : llvm::seq(rows)) {
    SmallVector<int64_t> order;
    for (int64_t lane : llvm::seq(lanes))
      order.push_back((vector * lanes + lane) / rows);
    masks[vector] = vector::ShuffleOp::create(b, loc, mask, mask, order);
  }
  return masks;
}

SmallVector<Value> NestEmitter::loadInterleavedRows(const Access &access,
                                                    Value pointer, int64_t rows,
                                                    int64_t column,
                                                    int64_t vector,
                                                    Value mask) {
  int64_t lanes = s.lanes;
  Quantity first = tileOffset(access, 0, column, vector, lanes);
  unsigned bytes = elementBytes(access.element);
  auto type = VectorType::get({lanes}, stored(access.element));
  SmallVector<Value> whole, result;
  for (auto [i, lanesIn] : llvm::enumerate(interleavedMasks(mask, rows))) {
    Value at =
        pointerAt(access, pointer, arith.add(first, Quantity::of(i * lanes)));
    if (lanesIn) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      whole.push_back(
          LLVM::MaskedLoadOp::create(b, loc, type, at, lanesIn, zero, bytes));
    } else {
      whole.push_back(LLVM::LoadOp::create(b, loc, type, at, bytes));
    }
  }
  for (int64_t row : llvm::seq(rows)) {
    SmallVector<int64_t> which, places;
    for (int64_t lane : llvm::seq(lanes)) {
      which.push_back((lane * rows + row) / lanes);
      places.push_back((lane * rows + row) % lanes);
    }
    result.push_back(
        fromMemory(gatherLanes(whole, which, places), access.element));
  }
  return result;
}

void NestEmitter::storeInterleavedRows(const Access &access, Value pointer,
                                       int64_t column, int64_t vector,
                                       SmallVector<Value> rows, Value mask) {
  int64_t lanes = s.lanes, count = rows.size();
  for (Value &row : rows)
    row = toMemory(row, access.element, lanes);
  Quantity first = tileOffset(access, 0, column, vector, lanes);
  for (auto [i, lanesIn] : llvm::enumerate(interleavedMasks(mask, count))) {
    SmallVector<int64_t> which, places;
    for (int64_t lane : llvm::seq(lanes)) {
      which.push_back((i * lanes + lane) % count);
      places.push_back((i * lanes + lane) / count);
    }
    Value mixed = gatherLanes(rows, which, places);
    Value at =
        pointerAt(access, pointer, arith.add(first, Quantity::of(i * lanes)));
    if (lanesIn)
      LLVM::MaskedStoreOp::create(b, loc, mixed, at, lanesIn,
                                  elementBytes(access.element));
    else
      storeVector(access, mixed, at);
  }
}

void NestEmitter::storeRows(const Access &access, Value pointer, int64_t first,
                            int64_t column, int64_t vector,
                            SmallVector<Value> rows) {
  int64_t count = rows.size();
  for (Value &value : rows)
    value = toMemory(value, access.element, s.lanes);
  rows.resize(s.lanes, rows.back());
  transpose(b, loc, rows);
  Value mask;
  if (count < s.lanes) {
    SmallVector<bool> isRow(s.lanes, false);
    std::fill_n(isRow.begin(), count, true);
    auto type = VectorType::get({s.lanes}, b.getI1Type());
    mask =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, isRow));
  }
  Quantity start = tileOffset(access, first, column, vector, s.lanes);
  unsigned bytes = elementBytes(access.element);
  for (auto [lane, value] : llvm::enumerate(rows)) {
    Quantity step = arith.mul(Quantity::of(lane), access.coef[s.vec]);
    Value at = pointerAt(access, pointer, arith.add(start, step));
    if (mask)
      LLVM::MaskedStoreOp::create(b, loc, value, at, mask, bytes);
    else
      LLVM::StoreOp::create(b, loc, value, at, bytes);
  }
}

Value NestEmitter::loadEverySecond(const Access &access, Value pointer,
                                   int64_t lanes) {
  auto type = VectorType::get({lanes}, stored(access.element));
  unsigned bytes = elementBytes(access.element);
  // The second load ends with the last element wanted.
  Value lowHalf = LLVM::LoadOp::create(b, loc, type, pointer, bytes);
  Value second = pointerAt(access, pointer, Quantity::of(lanes - 1));
  Value highHalf = LLVM::LoadOp::create(b, loc, type, second, bytes);
  SmallVector<int64_t> order;
  for (int64_t lane : llvm::seq(lanes))
    order.push_back(2 * lane < lanes ? 2 * lane : 2 * lane + 1);
  return vector::ShuffleOp::create(b, loc, lowHalf, highHalf, order);
}

Quantity NestEmitter::wordAt(int64_t word, int64_t step, int64_t lanes) {
  // The last vector ends with the last element.
  return Quantity::of(word + 1 < step ? word * lanes
                                      : (lanes - 1) * (step - 1));
}

/// Of each element of vector `word`, which begins with element `first`, the
/// lane that it is where lanes are `step` elements apart; `none` of those
/// between lanes.
static SmallVector<int64_t> lanesIn(int64_t word, int64_t first, int64_t step,
                                    int64_t lanes, int64_t none) {
  SmallVector<int64_t> result(lanes, none);
  for (int64_t lane : llvm::seq(lanes))
    if (lane * step / lanes == word)
      result[lane * step - first] = lane;
  return result;
}

Value NestEmitter::maskOfWord(int64_t word, int64_t step, int64_t lanes,
                              Value mask) {
  int64_t first = *wordAt(word, step, lanes).fixed;
  SmallVector<int64_t> order = lanesIn(word, first, step, lanes, lanes);
  auto type = VectorType::get({lanes}, b.getI1Type());
  if (!mask) {
    auto isLane =
        llvm::map_to_vector(order, [&](int64_t lane) { return lane < lanes; });
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(isLane)));
  }
  // Lane `lanes` of the two is the first of `none`.
  Value none =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, false));
  return vector::ShuffleOp::create(b, loc, mask, none, order);
}

Value NestEmitter::loadApart(const Access &access, Value pointer, int64_t lanes,
                             Value mask) {
  int64_t step = *access.coef[s.vec].fixed;
  auto type = VectorType::get({lanes}, stored(access.element));
  unsigned bytes = elementBytes(access.element);
  SmallVector<Value> whole;
  for (int64_t word : llvm::seq(step)) {
    Value at = pointerAt(access, pointer, wordAt(word, step, lanes));
    if (mask)
      whole.push_back(LLVM::MaskedLoadOp::create(
          b, loc, type, at, maskOfWord(word, step, lanes, mask),
          arith::ConstantOp::create(b, loc, b.getZeroAttr(type)).getResult(),
          bytes));
    else
      whole.push_back(LLVM::LoadOp::create(b, loc, type, at, bytes));
  }
  SmallVector<int64_t> which(lanes), places(lanes);
  for (int64_t word : llvm::seq(step)) {
    int64_t first = *wordAt(word, step, lanes).fixed;
    for (auto [place, lane] :
         llvm::enumerate(lanesIn(word, first, step, lanes, /*none=*/-1)))
      if (lane >= 0) {
        which[lane] = word;
        places[lane] = place;
      }
  }
  return gatherLanes(whole, which, places);
}

void NestEmitter::storeApart(const Access &access, Value pointer, Value value,
                             int64_t lanes, Value mask) {
  int64_t step = *access.coef[s.vec].fixed;
  for (int64_t word : llvm::seq(step)) {
    int64_t first = *wordAt(word, step, lanes).fixed;
    // What is between lanes is not stored.
    SmallVector<int64_t> order = lanesIn(word, first, step, lanes, /*none=*/0);
    LLVM::MaskedStoreOp::create(
        b, loc, vector::ShuffleOp::create(b, loc, value, value, order),
        pointerAt(access, pointer, Quantity::of(first)),
        maskOfWord(word, step, lanes, mask), elementBytes(access.element));
  }
}

void NestEmitter::storeInterleaved(const Access &access, Value pointer,
                                   Value re, Value im, int64_t lanes) {
  re = splat(b, loc, re, lanes);
  im = splat(b, loc, im, lanes);
  for (int64_t half : {0, 1}) {
    SmallVector<int64_t> order;
    for (int64_t lane : llvm::seq(lanes))
      order.push_back(half * lanes / 2 + lane / 2 + (lane % 2) * lanes);
    Value mixed = vector::ShuffleOp::create(b, loc, re, im, order);
    LLVM::StoreOp::create(
        b, loc, mixed, pointerAt(access, pointer, Quantity::of(half * lanes)),
        elementBytes(access.element));
  }
}

Value NestEmitter::toMemory(Value value, Type element, int64_t lanes) {
  value = splat(b, loc, value, lanes);
  Type type = stored(element);
  if (lanes > 1)
    type = VectorType::get({lanes}, type);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, value);
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, type, value);
  return value;
}

void NestEmitter::store(const Access &access, Value pointer, Quantity offset,
                        Value value, int64_t lanes, Value mask) {
  Type element = stored(access.element);
  pointer = pointerAt(access, pointer, offset);
  unsigned bytes = elementBytes(element);
  value = toMemory(value, access.element, lanes);
  if (lanes == 1) {
    LLVM::StoreOp::create(b, loc, value, pointer, bytes);
    return;
  }
  const Quantity &step = access.coef[s.vec];
  if (step.is(1)) {
    if (mask)
      LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, bytes);
    else
      storeVector(access, value, pointer);
    return;
  }
  if (storesApart(access, s.vec, lanes)) {
    storeApart(access, pointer, value, lanes, mask);
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

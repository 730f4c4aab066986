//===- VectorCode.cpp - Small matrices by vectors -------------------------===//
//
// What kernels on tiles are made of: contractions on register tiles, folds
// across lanes, an exponential.
//
//===----------------------------------------------------------------------===//
#include "PairKernels.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace shardc::cpu {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void VectorCode::loop(Quantity from, Quantity to, int64_t step, Body body) {
  if (from.fixed && to.fixed) {
    if (*from.fixed >= *to.fixed)
      return;
    if (*to.fixed - *from.fixed <= step)
      return body(arith.get(from));
  }
  auto loop = scf::ForOp::create(b, loc, arith.get(from), arith.get(to),
                                 arith.index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

static Type stored(OpBuilder &b, Type element) {
  if (element.isInteger(1))
    return b.getI8Type();
  return element.isIndex() ? b.getI64Type() : element;
}

Value VectorCode::pointerAt(Value pointer, Type element, Quantity offset) {
  if (offset.is(0))
    return pointer;
  Type unit = stored(b, element);
  if (offset.fixed && llvm::isInt<LLVM::kGEPConstantBitWidth>(*offset.fixed))
    return LLVM::GEPOp::create(b, loc, pointer.getType(), unit, pointer,
                               ArrayRef<LLVM::GEPArg>{int32_t(*offset.fixed)},
                               LLVM::GEPNoWrapFlags::inbounds);
  Value by =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), arith.get(offset));
  return LLVM::GEPOp::create(b, loc, pointer.getType(), unit, pointer,
                             ArrayRef<LLVM::GEPArg>{by},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Matrix VectorCode::at(const Matrix &matrix, Quantity row, Quantity column) {
  Quantity offset =
      arith.add(arith.mul(row, matrix.row), arith.mul(column, matrix.column));
  return {pointerAt(matrix.pointer, matrix.element, offset), matrix.element,
          matrix.row, matrix.column};
}

Value VectorCode::number(double value, int64_t count) {
  TypedAttr scalar = b.getFloatAttr(type, value);
  if (count == 1)
    return arith::ConstantOp::create(b, loc, scalar);
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({count}, type), scalar));
}

Value VectorCode::load(Value pointer, Type element, int64_t count, Value mask) {
  unsigned bytes = elementBytes(element);
  Type memory = element, wanted = type;
  if (count > 1) {
    memory = VectorType::get({count}, element);
    wanted = VectorType::get({count}, type);
  }
  Value value;
  if (mask && count > 1) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(memory));
    value =
        LLVM::MaskedLoadOp::create(b, loc, memory, pointer, mask, zero, bytes);
  } else {
    value = LLVM::LoadOp::create(b, loc, memory, pointer, bytes);
  }
  if (element == type)
    return value;
  if (element.getIntOrFloatBitWidth() < type.getWidth())
    return arith::ExtFOp::create(b, loc, wanted, value);
  return arith::TruncFOp::create(b, loc, wanted, value);
}

void VectorCode::store(Value value, Value pointer, Value mask) {
  unsigned bytes = type.getWidth() / 8;
  if (mask && isa<VectorType>(value.getType()))
    LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, bytes);
  else
    LLVM::StoreOp::create(b, loc, value, pointer, bytes);
}

Value VectorCode::firstLanes(Quantity count) {
  return vector::CreateMaskOp::create(b, loc,
                                      VectorType::get({lanes}, b.getI1Type()),
                                      ValueRange{arith.get(count)});
}

Value VectorCode::scratch(Quantity count) {
  constexpr int64_t kAlignment = 64; // of a vector's bytes [format]
  Quantity bytes, first;
  {
    // The size is the same for all parts.
    OpBuilder::InsertionGuard guard(b);
    if (partLoop)
      b.setInsertionPoint(partLoop);
    bytes = arith.roundUp(arith.mul(count, Quantity::of(type.getWidth() / 8)),
                          kAlignment);
    Quantity all = arith.mul(bytes, Quantity::of(parts));
    Value memory = pool;
    if (!pool) {
      auto buffer = MemRefType::get(
          {all.fixed ? *all.fixed : ShapedType::kDynamic}, b.getI8Type());
      memory = memref::AllocOp::create(
          b, loc, buffer, all.fixed ? ValueRange() : ValueRange(all.value),
          b.getI64IntegerAttr(kAlignment));
    }
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    first = Quantity::of(address);
    if (pool) {
      first = arith.add(first, used);
      used = arith.add(used, all);
    }
  }
  if (partLoop)
    first = arith.add(
        first, arith.mul(Quantity::of(partLoop.getInductionVar()), bytes));
  Value address =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), arith.get(first));
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

void VectorCode::copy(const Matrix &from, Value to, Quantity rows,
                      Quantity columns, int64_t pitch, int64_t padRows,
                      bool transposed) {
  // Zeros first where not all is written.
  Quantity written = transposed ? rows : columns;
  if (!written.is(pitch) ||
      (padRows && !(transposed ? columns : rows).is(padRows))) {
    Quantity all =
        arith.mul(Quantity::of(pitch), padRows      ? Quantity::of(padRows)
                                       : transposed ? columns
                                                    : rows);
    loop(Quantity::of(0), all, lanes, [&](Value i) {
      store(number(0, lanes), pointerAt(to, type, Quantity::of(i)));
    });
  }
  if (!transposed && from.column.is(1)) {
    loop(Quantity::of(0), rows, 1, [&](Value row) {
      Matrix line = at(from, Quantity::of(row), Quantity::of(0));
      Value target = pointerAt(
          to, type, arith.mul(Quantity::of(row), Quantity::of(pitch)));
      auto move = [&](Quantity column, Value mask) {
        store(load(pointerAt(line.pointer, from.element, column), from.element,
                   lanes, mask),
              pointerAt(target, type, column), mask);
      };
      Quantity full = Quantity::of(0);
      if (columns.fixed)
        full = Quantity::of(*columns.fixed / lanes * lanes);
      loop(Quantity::of(0), full, lanes,
           [&](Value column) { move(Quantity::of(column), {}); });
      loop(full, columns, lanes, [&](Value column) {
        move(Quantity::of(column),
             firstLanes(arith.sub(columns, Quantity::of(column))));
      });
    });
    return;
  }
  Quantity across = Quantity::of(0); // rows that go in whole vectors
  if (transposed && from.column.is(1) && columns.fixed)
    across = copyAcross(from, to, rows, *columns.fixed, pitch);
  loop(across, rows, 1, [&](Value row) {
    loop(Quantity::of(0), columns, 1, [&](Value column) {
      Quantity i = Quantity::of(row), j = Quantity::of(column);
      Value value = load(at(from, i, j).pointer, from.element, 1);
      Quantity place = transposed
                           ? arith.add(arith.mul(j, Quantity::of(pitch)), i)
                           : arith.add(arith.mul(i, Quantity::of(pitch)), j);
      store(value, pointerAt(to, type, place));
    });
  });
}

Quantity VectorCode::copyAcross(const Matrix &from, Value to, Quantity rows,
                                int64_t columns, int64_t pitch) {
  Quantity whole = arith.roundDown(rows, lanes);
  auto square = [&](Quantity row, Quantity column, int64_t width) {
    Value mask;
    if (width < lanes)
      mask = firstLanes(Quantity::of(width));
    SmallVector<Value> vectors;
    for (int64_t lane : llvm::seq(lanes))
      vectors.push_back(
          load(at(from, arith.add(row, Quantity::of(lane)), column).pointer,
               from.element, lanes, mask));
    transpose(b, loc, vectors);
    for (auto [i, vector] :
         llvm::enumerate(ArrayRef<Value>(vectors).take_front(width))) {
      Quantity line = arith.add(column, Quantity::of(int64_t(i)));
      store(vector,
            pointerAt(to, type,
                      arith.add(arith.mul(line, Quantity::of(pitch)), row)));
    }
  };
  int64_t squares = columns / lanes * lanes;
  loop(Quantity::of(0), whole, lanes, [&](Value at) {
    Quantity row = Quantity::of(at);
    loop(Quantity::of(0), Quantity::of(squares), lanes,
         [&](Value column) { square(row, Quantity::of(column), lanes); });
    if (int64_t rest = columns - squares)
      square(row, Quantity::of(squares), rest);
  });
  return whole;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value VectorCode::multiplyAdd(Value x, Value y, Value z) {
  if (isa<VectorType>(x.getType()))
    return vector::FMAOp::create(b, loc, x, y, z);
  return math::FmaOp::create(b, loc, x, y, z);
}

// Compare and select in this order is one instruction on x86.
Value VectorCode::greater(Value x, Value y) {
  Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, loc, is, x, y);
}
Value VectorCode::smaller(Value x, Value y) {
  Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  return arith::SelectOp::create(b, loc, is, x, y);
}

Value VectorCode::power(Value x) {
  if (!type.isF32() && !type.isF64())
    return math::ExpOp::create(b, loc, x);
  bool isDouble = type.isF64();
  auto shape = dyn_cast<VectorType>(x.getType());
  int64_t count = shape ? shape.getNumElements() : 1;
  auto constant = [&](double value) { return number(value, count); };
  Type word = b.getIntegerType(isDouble ? 64 : 32), bits = word;
  if (shape)
    bits = VectorType::get({count}, bits);
  // exp(x) = 2^n * 2^r with n the integer next to x log2(e). Adding 1.5 * 2^23
  // (2^52) rounds to it and leaves it in the low bits.
  Value lowest = constant(isDouble ? -708.39641853226408 : -87.33654022216797);
  Value bounded = greater(lowest, x);
  Value magic = constant(isDouble ? 6755399441055744.0 : 12582912.0);
  Value log2e =
      constant(isDouble ? 1.4426950408889634 : 1.44269502162933349609375);
  Value shifted = multiplyAdd(bounded, log2e, magic);
  Value n = arith::SubFOp::create(b, loc, shifted, magic);
  Value p;
  if (isDouble) {
    // e^r on [-log(2) / 2, log(2) / 2] by its series: the next term is below
    // 4e-18.
    Value r = multiplyAdd(n, constant(-0.693147180369123816490), bounded);
    r = multiplyAdd(n, constant(-1.90821492927058770002e-10), r);
    double factorial = 6227020800.0; // of 13
    p = constant(1.0 / factorial);
    for (int power = 13; power > 0; --power)
      p = multiplyAdd(p, r, constant(1.0 / (factorial /= power)));
  } else {
    Value r = multiplyAdd(bounded, log2e, arith::NegFOp::create(b, loc, n));
    r = multiplyAdd(bounded, constant(1.92596299e-8), r);
    // 2^r on [-1/2, 1/2], fitted for the least relative error (1e-7).
    p = constant(0.0013276465);
    for (double coefficient :
         {0.009675542, 0.055507135, 0.2402212, 0.69314694, 1.0})
      p = multiplyAdd(p, r, constant(coefficient));
  }
  auto mantissa = b.getIntegerAttr(word, isDouble ? 52 : 23);
  Value places = arith::ConstantOp::create(
      b, loc,
      shape
          ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(bits), mantissa))
          : TypedAttr(mantissa));
  Value exponent = arith::ShLIOp::create(
      b, loc, arith::BitcastOp::create(b, loc, bits, shifted), places);
  Value sum = arith::AddIOp::create(
      b, loc, arith::BitcastOp::create(b, loc, bits, p), exponent);
  Value result = arith::BitcastOp::create(b, loc, x.getType(), sum);
  Value vanishes =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, lowest);
  return arith::SelectOp::create(b, loc, vanishes, constant(0), result);
}

Value VectorCode::combine(Value x, Value y, Fold kind) {
  switch (kind) {
  case Fold::Sum:
    return arith::AddFOp::create(b, loc, x, y);
  case Fold::Max:
    return greater(x, y);
  case Fold::Maximum:
    return arith::MaximumFOp::create(b, loc, x, y);
  case Fold::Minimum:
    return arith::MinimumFOp::create(b, loc, x, y);
  }
  llvm_unreachable("all kinds are listed");
}

Value VectorCode::fold(Value vector, Fold kind) {
  auto shape = dyn_cast<VectorType>(vector.getType());
  if (!shape)
    return vector;
  // Halves onto each other.
  for (int64_t width = shape.getNumElements(); width > 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i : llvm::seq(width / 2)) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Value x = vector::ShuffleOp::create(b, loc, vector, vector, low);
    Value y = vector::ShuffleOp::create(b, loc, vector, vector, high);
    vector = combine(x, y, kind);
  }
  return vector::ExtractOp::create(b, loc, vector, 0);
}

Value VectorCode::foldAll(ArrayRef<Value> vectors, Fold kind) {
  // Vectors that hold the same part of those of 512 bits, by that part.
  size_t parts = std::max<size_t>(512 / (lanes * type.getWidth()), 1);
  SmallVector<Value> folded;
  for (size_t part = 0; part < std::min(parts, vectors.size()); ++part) {
    SmallVector<Value> level;
    for (size_t i = part; i < vectors.size(); i += parts)
      level.push_back(vectors[i]);
    while (level.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2)
        next.push_back(combine(level[i], level[i + 1], kind));
      if (level.size() % 2)
        next.push_back(level.back());
      level = next;
    }
    folded.push_back(level.front());
  }
  // Where there are fewer, those that are not there would add nothing.
  for (size_t half = parts / 2; half > 0; half /= 2)
    for (size_t part = 0; part < half && part + half < folded.size(); ++part)
      folded[part] = combine(folded[part], folded[part + half], kind);
  return fold(folded.front(), kind);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

void VectorCode::contract(const Contraction &c) {
  int64_t most = registers == 32 ? 4 : 2;
  auto block = [&](Quantity column, int64_t vectors, Value mask) {
    Contraction part = c;
    part.b = at(c.b, Quantity::of(0), column);
    part.c = at(c.c, Quantity::of(0), column);
    contractBlock(part, vectors, mask);
  };
  if (!c.columns.fixed) {
    loop(Quantity::of(0), c.columns, lanes, [&](Value column) {
      block(Quantity::of(column), 1,
            firstLanes(arith.sub(c.columns, Quantity::of(column))));
    });
    return;
  }
  int64_t count = llvm::divideCeil(*c.columns.fixed, lanes);
  int64_t whole = *c.columns.fixed / lanes / most * most;
  loop(Quantity::of(0), Quantity::of(whole * lanes), most * lanes,
       [&](Value column) { block(Quantity::of(column), most, {}); });
  if (int64_t rest = count - whole) {
    Value mask;
    if (int64_t last = *c.columns.fixed % lanes)
      mask = firstLanes(Quantity::of(last));
    block(Quantity::of(whole * lanes), rest, mask);
  }
}

/// All rows of `vectors` vectors of columns.
void VectorCode::contractBlock(const Contraction &c, int64_t vectors,
                               Value mask) {
  // Accumulators, a row of b and one element of a.
  int64_t rows = std::min<int64_t>((registers - 1 - vectors) / vectors, 16);
  if (registers == 32)
    rows = vectors == 4 ? 6 : vectors == 3 ? 8 : vectors == 2 ? 12 : 16;
  auto tile = [&](Quantity row, int64_t count) {
    Contraction part = c;
    part.a = at(c.a, row, Quantity::of(0));
    part.c = at(c.c, row, Quantity::of(0));
    if (c.scale)
      part.scale = pointerAt(c.scale, type, row);
    contractTile(part, count, vectors, mask);
  };
  if (c.rows.fixed) {
    int64_t whole = *c.rows.fixed / rows * rows;
    loop(Quantity::of(0), Quantity::of(whole), rows,
         [&](Value row) { tile(Quantity::of(row), rows); });
    if (int64_t rest = *c.rows.fixed - whole)
      tile(Quantity::of(whole), rest);
    return;
  }
  Value rest =
      arith::RemUIOp::create(b, loc, arith.get(c.rows), arith.index(rows));
  Quantity whole = arith.sub(c.rows, Quantity::of(rest));
  loop(Quantity::of(0), whole, rows,
       [&](Value row) { tile(Quantity::of(row), rows); });
  loop(whole, c.rows, 1, [&](Value row) { tile(Quantity::of(row), 1); });
}

void VectorCode::contractTile(const Contraction &c, int64_t rows,
                              int64_t vectors, Value mask) {
  auto place = [&](const Matrix &matrix, int64_t row, int64_t vector) {
    return at(matrix, Quantity::of(row), Quantity::of(vector * lanes)).pointer;
  };
  auto maskOf = [&](int64_t vector) {
    return vector + 1 == vectors ? mask : Value();
  };
  SmallVector<Value> sums;
  for (int64_t row : llvm::seq(rows)) {
    Value factor;
    if (c.start == Contraction::Start::Scaled)
      factor = splat(load(pointerAt(c.scale, type, Quantity::of(row)), type, 1),
                     lanes);
    for (int64_t vector : llvm::seq(vectors)) {
      if (c.start == Contraction::Start::Zero) {
        sums.push_back(number(0, lanes));
        continue;
      }
      Value value = load(place(c.c, row, vector), type, lanes, maskOf(vector));
      sums.push_back(
          factor ? arith::MulFOp::create(b, loc, value, factor).getResult()
                 : value);
    }
  }
  auto step = [&](Value index, ValueRange carried) {
    Matrix a = at(c.a, Quantity::of(0), Quantity::of(index));
    Matrix rhs = at(c.b, Quantity::of(index), Quantity::of(0));
    SmallVector<Value> line, next;
    for (int64_t vector : llvm::seq(vectors))
      line.push_back(load(place(rhs, 0, vector), type, lanes, maskOf(vector)));
    for (int64_t row : llvm::seq(rows)) {
      Value x = splat(
          load(at(a, Quantity::of(row), Quantity::of(0)).pointer, type, 1),
          lanes);
      for (int64_t vector : llvm::seq(vectors)) {
        Value sum = carried[row * vectors + vector];
        if (!c.pair) {
          next.push_back(multiplyAdd(x, line[vector], sum));
          continue;
        }
        Value term = evaluateBody(b, c.pair->front(), {x, line[vector]}, lanes,
                                  [](int64_t) { return Value(); })
                         .front();
        next.push_back(arith::AddFOp::create(b, loc, sum, splat(term, lanes)));
      }
    }
    return next;
  };
  auto reduction = scf::ForOp::create(
      b, loc, arith.index(0), arith.get(c.reductions), arith.index(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(reduction.getBody());
    scf::YieldOp::create(
        b, loc,
        step(reduction.getInductionVar(), reduction.getRegionIterArgs()));
  }
  for (int64_t row : llvm::seq(rows))
    for (int64_t vector : llvm::seq(vectors))
      store(reduction.getResult(row * vectors + vector),
            place(c.c, row, vector), maskOf(vector));
}

} // namespace shardc::cpu

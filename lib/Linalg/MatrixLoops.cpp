//===- MatrixLoops.cpp - Loops over the elements of matrices --------------===//
#include "MatrixLoops.h"

using namespace mlir;
using namespace shardc::lowering;

Value shardc::lowering::copyOf(Lowerer &l, Value tensor) {
  Value out = l.empty(l.sizes(tensor), elementType(tensor.getType()));
  return l.map(tensor, out,
               [](ValueRange args) { return SmallVector<Value>{args[0]}; });
}

Type shardc::lowering::wideType(Type type) {
  Type f64 = Float64Type::get(type.getContext());
  return isa<ComplexType>(type) ? Type(ComplexType::get(f64)) : f64;
}

Value shardc::lowering::castElement(Elements &e, Value x, Type type) {
  auto part = cast<FloatType>(Elements::realType(type));
  Real re{&e.b, castFloat(e.b, e.re(x).v, part)};
  if (!isa<ComplexType>(type))
    return re.v;
  return e.make(type, re, Real{&e.b, castFloat(e.b, e.im(x).v, part)});
}

Value shardc::lowering::castTensor(Lowerer &l, Value tensor, Type type) {
  Value out = l.empty(l.sizes(tensor), type);
  Elements e{l.b};
  return l.map(tensor, out, [&](ValueRange args) {
    return SmallVector<Value>{castElement(e, args[0], type)};
  });
}

MatrixLoops::Values MatrixLoops::range(Value from, Value to, ValueRange carried,
                                       Body body) {
  auto loop = scf::ForOp::create(b, from, to, index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

MatrixLoops::Values MatrixLoops::repeat(int64_t limit, ValueRange carried,
                                        Body body) {
  // Carried along: whether to go on, and how often it went.
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  Values init{yes, index(0)};
  init.append(carried.begin(), carried.end());
  SmallVector<Type> types =
      llvm::map_to_vector(init, [](Value v) { return v.getType(); });
  SmallVector<Location> locs(types.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, init);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                       before->getArgument(1), index(limit));
  Value goOn = arith::AndIOp::create(b, inside, before->getArgument(0));
  scf::ConditionOp::create(b, goOn, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Values next =
      body(after->getArgument(1), after->getArguments().drop_front(2));
  Value number = plus(after->getArgument(1), 1);
  next.insert(next.begin() + 1, number);
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(2));
}

MatrixLoops::Values
MatrixLoops::overBatch(ArrayRef<OpFoldResult> sizes, ValueRange carried,
                       llvm::function_ref<Values(ValueRange)> body) {
  return l.loops(sizes, carried, [&](ValueRange at, ValueRange now) {
    batch.assign(at.begin(), at.end());
    return body(now);
  });
}

Value MatrixLoops::get(Value tensor, ValueRange at) {
  Values where(batch);
  where.append(at.begin(), at.end());
  return tensor::ExtractOp::create(b, tensor, where);
}

Value MatrixLoops::set(Value tensor, ValueRange at, Value value) {
  Values where(batch);
  where.append(at.begin(), at.end());
  return tensor::InsertOp::create(b, value, tensor, where);
}

Value MatrixLoops::swap(Value tensor, ValueRange x, ValueRange y) {
  Value atX = get(tensor, x), atY = get(tensor, y);
  tensor = set(tensor, x, atY);
  return set(tensor, y, atX);
}

Real MatrixLoops::largest(Value tensor, Value rows, Value columns) {
  Type real = Elements::realType(elementType(tensor.getType()));
  Value start = numberConstant(b, real, 0);
  Value found = range(index(0), rows, start, [&](Value i, ValueRange x) {
    return range(index(0), columns, x, [&](Value j, ValueRange y) {
      Value here = get(tensor, {i, j});
      Real size = abs(e.re(here));
      if (Elements::isComplex(here))
        size = larger(size, abs(e.im(here)));
      return Values{larger(Real{&b, y[0]}, size).v};
    });
  })[0];
  return {&b, found};
}

std::pair<Real, Real> MatrixLoops::intoRange(Real largest, Type real) {
  Real one = largest.of(1);
  if (!real.isF64())
    return {one, one};
  Value isSmall =
      compare(arith::CmpFPredicate::OLT, largest, largest.of(0x1p-400));
  Value isLarge =
      compare(arith::CmpFPredicate::OGT, largest, largest.of(0x1p400));
  Real up = largest.of(0x1p600), down = largest.of(0x1p-600);
  return {choose(isSmall, up, choose(isLarge, down, one)),
          choose(isSmall, down, choose(isLarge, up, one))};
}

std::pair<Value, Value> MatrixLoops::reflect(Value matrix, Value pivot,
                                             Value column, Value rows) {
  Type element = elementType(matrix.getType()), f64 = b.getF64Type();
  auto real = cast<FloatType>(Elements::realType(element));
  Value below = plus(pivot, 1);
  Value alpha = get(matrix, {pivot, column});
  auto widen = [&](Real x) {
    return Real{&b, castFloat(b, x.v, cast<FloatType>(f64))};
  };
  // In f64, whose squares of f32 do not overflow; f64 is scaled.
  Real start = widen(e.re(alpha)).of(0);
  Real factor = start.of(1), inverse = factor;
  if (real.isF64()) {
    auto largest = range(pivot, rows, start.v, [&](Value i, ValueRange so) {
      Value x = get(matrix, {i, column});
      Real size = larger(Real{&b, so[0]}, abs(e.re(x)));
      if (Elements::isComplex(x))
        size = larger(size, abs(e.im(x)));
      return Values{size.v};
    })[0];
    std::tie(factor, inverse) = intoRange(Real{&b, largest}, real);
  }
  auto scaled = [&](Real x) { return widen(x) * factor; };
  Value squares = range(below, rows, start.v, [&](Value i, ValueRange sum) {
    Value x = get(matrix, {i, column});
    Real re = scaled(e.re(x)), im = scaled(e.im(x)), so{&b, sum[0]};
    return Values{
        (Elements::isComplex(x) ? so + (re * re + im * im) : so + re * re).v};
  })[0];
  Real tail{&b, squares}, re = scaled(e.re(alpha)), im = scaled(e.im(alpha));
  Value tailZero = equal(tail, tail.of(0)), imZero = equal(im, im.of(0));
  Value nothing = both(tail, tailZero, imZero);
  Real norm = sqrt(tail + re * re + im * im);
  Real beta = choose(nothing, re, -copySign(norm, re));
  Real one = re.of(1);
  Real divisor = choose(nothing, one, beta);
  auto narrow = [&](Real x) { return Real{&b, castFloat(b, x.v, real)}; };
  Value tau =
      e.make(element, narrow(choose(nothing, re.of(0), (beta - re) / divisor)),
             narrow(choose(nothing, re.of(0), -im / divisor)));
  // The reflector's tail: the column's, over alpha - beta. In f64 too: a
  // denormal difference of narrower floats has too few digits.
  Type wide = wideType(element);
  Value unit = e.make(wide, one, re.of(0)), apart = e.make(wide, re - beta, im);
  Value by = e.select(nothing, unit, apart);
  Value packed = range(below, rows, matrix, [&](Value i, ValueRange t) {
    Value x = castElement(e, get(t[0], {i, column}), wide);
    if (real.isF64())
      x = e.scale(x, factor);
    x = castElement(e, e.divide(x, by), element);
    return Values{set(t[0], {i, column}, x)};
  })[0];
  Value left = e.make(element, narrow(beta * inverse), narrow(re.of(0)));
  return {set(packed, {pivot, column}, left), tau};
}

// Row by row, in which elements are side by side: the sums of all columns
// first.
Value MatrixLoops::applyLeft(Value matrix, Value pivot, Value column,
                             Value factor, Value rows, Value from, Value to,
                             Value reflectors) {
  auto type = cast<RankedTensorType>(matrix.getType());
  Value below = plus(pivot, 1);
  auto reflector = [&](Value now, Value i) {
    return get(reflectors ? reflectors : now, {i, column});
  };
  auto sumAt = [&](Value sums, Value j) -> Value {
    return tensor::ExtractOp::create(b, sums, j);
  };
  auto withSum = [&](Value sums, Value j, Value sum) -> Value {
    return tensor::InsertOp::create(b, sum, sums, j);
  };
  OpFoldResult width = b.getIndexAttr(type.getShape().back());
  Value sums = l.empty(width, type.getElementType());
  sums = range(from, to, sums, [&](Value j, ValueRange w) -> Values {
    return {withSum(w[0], j, get(matrix, {pivot, j}))};
  })[0];
  sums = range(below, rows, sums, [&](Value i, ValueRange w) -> Values {
    Value v = e.conjugate(reflector(matrix, i));
    return range(from, to, w, [&](Value j, ValueRange so) -> Values {
      Value term = e.multiply(v, get(matrix, {i, j}));
      return {withSum(so[0], j, e.add(sumAt(so[0], j), term))};
    });
  })[0];
  Values stepped =
      range(from, to, {matrix, sums}, [&](Value j, ValueRange t) -> Values {
        Value step = e.multiply(factor, sumAt(t[1], j));
        Value top = e.subtract(get(t[0], {pivot, j}), step);
        return {set(t[0], {pivot, j}, top), withSum(t[1], j, step)};
      });
  return range(below, rows, stepped[0], [&](Value i, ValueRange t) -> Values {
    Value v = reflector(t[0], i);
    return range(from, to, t, [&](Value j, ValueRange u) -> Values {
      Value product = e.multiply(v, sumAt(stepped[1], j));
      return {set(u[0], {i, j}, e.subtract(get(u[0], {i, j}), product))};
    });
  })[0];
}

Value MatrixLoops::applyRight(Value matrix, Value pivot, Value column,
                              Value factor, Value rows, Value to) {
  Value below = plus(pivot, 1);
  return range(index(0), to, matrix, [&](Value i, ValueRange t) {
    Value first = get(t[0], {i, pivot});
    // Rows of v are columns here.
    Value sum = range(below, rows, first, [&](Value j, ValueRange so) {
      Value term = e.multiply(get(t[0], {i, j}), get(t[0], {j, column}));
      return Values{e.add(so[0], term)};
    })[0];
    Value step = e.multiply(sum, factor);
    Value changed = set(t[0], {i, pivot}, e.subtract(first, step));
    return range(below, rows, changed, [&](Value j, ValueRange u) {
      Value v = e.conjugate(get(u[0], {j, column}));
      Value x = e.subtract(get(u[0], {i, j}), e.multiply(step, v));
      return Values{set(u[0], {i, j}, x)};
    });
  })[0];
}

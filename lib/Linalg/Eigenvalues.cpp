//===- Eigenvalues.cpp - Matrices of any kind -----------------------------===//
//
// Schur's form, eigenvectors, and QR with pivots, as loops on elements. QR
// iterations with implicit shifts: Francis's double ones for real matrices,
// Wilkinson's single ones for complex ones, computed in f64 (Golub and Van
// Loan, Matrix Computations, chapter 7).
//
//===----------------------------------------------------------------------===//
#include "MatrixLoops.h"

#include "shardc/Dialect/Solver/IR/Solver.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;
using arith::CmpIPredicate;

namespace {
using Values = SmallVector<Value>;

/// Loops with what these algorithms need besides.
struct Iterations : MatrixLoops {
  Value cmp(CmpIPredicate how, Value x, Value y) {
    return arith::CmpIOp::create(b, how, x, y);
  }
  Value minus(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value least(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value negated(Value x) {
    Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    return arith::XOrIOp::create(b, x, yes);
  }
  /// The body, once where `condition` holds.
  Values when(Value condition, ValueRange carried,
              function_ref<Values(ValueRange)> body) {
    Value times = arith::SelectOp::create(b, condition, index(1), index(0));
    return range(index(0), times, carried,
                 [&](Value, ValueRange now) { return body(now); });
  }
  Value zero(Value like) { return numberConstant(b, like.getType(), 0); }
  /// intoRange for the sizes of a few f64 numbers. What dependent columns leave
  /// gets smaller from step to step, until squares of it are null.
  std::pair<Real, Real> intoRangeOf(ArrayRef<Real> sizes) {
    Real sum = sizes.front();
    for (Real size : sizes.drop_front())
      sum = sum + size;
    return intoRange(sum, b.getF64Type());
  }
  Real sizeOf(Value x) { return abs(e.re(x)) + abs(e.im(x)); }

  /// x' = conj(c) x + conj(s) y, y' = c y - s x of rows p and q, columns
  /// `from` below `to`.
  Value rotateRows(Value matrix, Value p, Value q, Value c, Value s, Value from,
                   Value to) {
    return range(from, to, matrix, [&](Value j, ValueRange t) {
      Value x = get(t[0], {p, j}), y = get(t[0], {q, j});
      Value first =
          e.add(e.multiply(e.conjugate(c), x), e.multiply(e.conjugate(s), y));
      Value second = e.subtract(e.multiply(c, y), e.multiply(s, x));
      Value half = set(t[0], {p, j}, first);
      return Values{set(half, {q, j}, second)};
    })[0];
  }
  /// The adjoint of the same from the right, on rows below `to`.
  Value rotateColumns(Value matrix, Value p, Value q, Value c, Value s,
                      Value to) {
    return range(index(0), to, matrix, [&](Value i, ValueRange t) {
      Value x = get(t[0], {i, p}), y = get(t[0], {i, q});
      Value first = e.add(e.multiply(x, c), e.multiply(y, s));
      Value second = e.subtract(e.multiply(y, e.conjugate(c)),
                                e.multiply(x, e.conjugate(s)));
      Value half = set(t[0], {i, p}, first);
      return Values{set(half, {i, q}, second)};
    })[0];
  }
};
} // namespace

static int64_t dimOf(Value tensor, int64_t fromEnd) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getDimSize(type.getRank() - fromEnd);
}

//===----------------------------------------------------------------------===//
// QR with pivots
//===----------------------------------------------------------------------===//

// LAPACK's geqp3, with norms that are computed anew.
static LogicalResult lowerPivotedQr(Lowerer &l, solver::PivotedQrOp op) {
  Iterations m{{l}};
  ImplicitLocOpBuilder &b = l.b;
  Value a = l.tensor(op.getA()), fixed = l.tensor(op.getFixed());
  Type element = elementType(a.getType()), number = b.getI32Type();
  int64_t n = dimOf(a, 1), least = std::min(dimOf(a, 2), n);
  Value rows = m.index(dimOf(a, 2)), columns = m.index(n);
  SmallVector<OpFoldResult> batch = batchOf(l.sizes(a)), tauSizes(batch);
  tauSizes.push_back(b.getIndexAttr(least));
  auto swapColumns = [&](Value matrix, Value i, Value j) {
    return m.range(m.index(0), rows, matrix, [&](Value r, ValueRange t) {
      return Values{m.swap(t[0], {r, i}, {r, j})};
    })[0];
  };
  auto body = [&](ValueRange now) -> Values {
    Value none = l.zero(number);
    Values front = m.range(
        m.index(0), columns, {m.index(0), now[0], now[1]},
        [&](Value j, ValueRange s) {
          Value here = arith::IndexCastOp::create(b, number, m.plus(j, 1));
          Value order = m.set(s[2], j, here);
          Value isFixed = m.cmp(CmpIPredicate::ne, m.get(fixed, j), none);
          Value to = m.e.select(isFixed, s[0], j);
          Value count = m.e.select(isFixed, m.plus(s[0], 1), s[0]);
          return Values{count, swapColumns(s[1], j, to), m.swap(order, j, to)};
        });
    Value first = front[0];
    Real most{
        &b, castFloat(b, m.largest(front[1], rows, columns).v, b.getF64Type())};
    return m.range(
        m.index(0), m.index(least), {front[1], front[2], now[2]},
        [&](Value k, ValueRange s) {
          // The longest column of those that are left.
          Real factor = m.intoRange(most, Elements::realType(element)).first;
          Real nothing{&b, numberConstant(b, b.getF64Type(), -1)};
          Values best =
              m.range(k, columns, {k, nothing.v}, [&](Value j, ValueRange so) {
                Value sum = m.range(
                    k, rows, numberConstant(b, b.getF64Type(), 0),
                    [&](Value i, ValueRange part) {
                      Value x = m.get(s[0], {i, j});
                      FloatType f64 = b.getF64Type();
                      Real re = Real{&b, castFloat(b, m.e.re(x).v, f64)},
                           im = Real{&b, castFloat(b, m.e.im(x).v, f64)};
                      re = re * factor, im = im * factor;
                      return Values{(Real{&b, part[0]} + re * re + im * im).v};
                    })[0];
                Value longer = compare(arith::CmpFPredicate::OGT, Real{&b, sum},
                                       Real{&b, so[1]});
                return Values{m.e.select(longer, j, so[0]),
                              m.e.select(longer, sum, so[1])};
              });
          Value isFree = m.cmp(CmpIPredicate::uge, k, first);
          Value pivot = m.e.select(isFree, best[0], k);
          auto [packed, tau] =
              m.reflect(swapColumns(s[0], k, pivot), k, k, rows);
          Value changed = m.applyLeft(packed, k, k, m.e.conjugate(tau), rows,
                                      m.plus(k, 1), columns);
          return Values{changed, m.swap(s[1], k, pivot), m.set(s[2], k, tau)};
        });
  };
  Value taus = l.filled(tauSizes, l.zero(element)),
        order = l.filled(l.sizes(fixed), l.zero(number));
  auto results =
      m.overBatch(batch, {castTensor(l, a, element), order, taus}, body);
  l.set(op.getPacked(), results[0]);
  l.set(op.getOrder(), results[1]);
  l.set(op.getTaus(), results[2]);
  return success();
}

//===----------------------------------------------------------------------===//
// Schur's form
//===----------------------------------------------------------------------===//

/// Where the last block that still hangs together begins: the row after the
/// last subdiagonal element, up to row `high`, that is as good as zero, and is
/// zero afterwards. Small is what LAPACK's lahqr takes for it with this unit of
/// rounding (Ahues and Tisseur, LAPACK working note 122).
static Values splitOff(Iterations &m, Value t, Value high, double unit) {
  using arith::CmpFPredicate;
  Value low = m.range(
      m.index(1), m.plus(high, 1), m.index(0), [&](Value i, ValueRange s) {
        Value before = m.minus(i, m.index(1));
        Value upper = m.get(t, {before, before}), lower = m.get(t, {i, i});
        Real under = m.e.modulus(m.get(t, {i, before})),
             above = m.e.modulus(m.get(t, {before, i}));
        Real first = m.e.modulus(upper), last = m.e.modulus(lower),
             apart = m.e.modulus(m.e.subtract(upper, lower));
        Real far = larger(last, apart), near = smaller(last, apart);
        Real most = larger(under, above), least = smaller(under, above);
        Real scale = far + most;
        Value isSmall =
            compare(CmpFPredicate::OLE, under, (first + last) * unit);
        Value isApart = compare(CmpFPredicate::OLE, least * (most / scale),
                                near * (far / scale) * unit);
        Value isTiny = compare(CmpFPredicate::OLE, under, under.of(0x1p-1000));
        Value isEnd =
            arith::OrIOp::create(m.b, m.both(isSmall, isApart), isTiny);
        return Values{m.e.select(isEnd, i, s[0])};
      })[0];
  Value before = m.e.select(m.cmp(CmpIPredicate::eq, low, m.index(0)), low,
                            m.minus(low, m.index(1)));
  Value is = m.cmp(CmpIPredicate::ne, low, before);
  Value under = m.get(t, {low, before});
  return {low, m.set(t, {low, before}, m.e.select(is, m.zero(under), under))};
}

/// A block of two rows from `p` on of a real matrix: triangular, if its
/// eigenvalues are real, else with one number twice on its diagonal.
static Values standardise(Iterations &m, Value t, Value v, Value p,
                          Value size) {
  ImplicitLocOpBuilder &b = m.b;
  Value q = m.plus(p, 1);
  Real a{&b, m.get(t, {p, p})}, up{&b, m.get(t, {p, q})},
      down{&b, m.get(t, {q, p})}, d{&b, m.get(t, {q, q})};
  // Only proportions count.
  Real factor = m.intoRangeOf({abs(a), abs(up), abs(down), abs(d)}).first;
  a = a * factor, up = up * factor, down = down * factor, d = d * factor;
  Real half = (a - d) * 0.5;
  Real discriminant = half * half + up * down;
  Value isReal = compare(arith::CmpFPredicate::OGE, discriminant, a.of(0));
  Real root = sqrt(abs(discriminant));
  // Real: the eigenvector (z, down).
  Real z = half + copySign(root, half);
  Real length = sqrt(z * z + down * down);
  Value isNull = equal(length, a.of(0));
  Real safe = choose(isNull, a.of(1), length);
  Real realC = choose(isNull, a.of(1), z / safe),
       realS = choose(isNull, a.of(0), down / safe);
  // Complex: equal diagonal elements.
  Real sigma = up + down, apart = a - d;
  Real tau = sqrt(sigma * sigma + apart * apart);
  Value isEqual = equal(apart, a.of(0));
  Real safeTau = choose(isEqual, a.of(1), tau);
  Real pairC = choose(isEqual, a.of(1), sqrt((abs(sigma) / safeTau + 1) * 0.5));
  Real pairS = choose(isEqual, a.of(0),
                      -(half / (safeTau * pairC)) * copySign(a.of(1), sigma));
  Value c = choose(isReal, realC, pairC).v, s = choose(isReal, realS, pairS).v;
  Value rows = m.rotateRows(t, p, q, c, s, p, size);
  Value rotated = m.rotateColumns(rows, p, q, c, s, m.plus(q, 1));
  Real first{&b, m.get(rotated, {p, p})}, second{&b, m.get(rotated, {q, q})};
  Real mean = (first + second) * 0.5;
  rotated = m.set(rotated, {p, p}, choose(isReal, first, mean).v);
  rotated = m.set(rotated, {q, q}, choose(isReal, second, mean).v);
  Real under{&b, m.get(rotated, {q, p})};
  rotated = m.set(rotated, {q, p}, choose(isReal, a.of(0), under).v);
  return {rotated, m.rotateColumns(v, p, q, c, s, size)};
}

namespace {
/// Whether a step has unusual shifts, and whether they are from the end.
struct Unusual {
  Value is, isFromEnd;
};
/// Two shifts, as their parts: a pair of conjugates, or one number twice.
struct Shifts {
  Real first, firstPart, second, secondPart;
};
} // namespace

/// The eigenvalues of the last two rows; of two real ones that which is nearer
/// to the last element, twice. After some steps without success unusual ones,
/// from the end or from the begin of the rows.
static Shifts shiftsOf(Iterations &m, Value t, Value low, Value high,
                       Unusual unusual) {
  ImplicitLocOpBuilder &b = m.b;
  auto at = [&](Value i, Value j) { return Real{&b, m.get(t, {i, j})}; };
  Value high1 = m.minus(high, m.index(1)), high2 = m.minus(high1, m.index(1)),
        low1 = m.plus(low, 1), low2 = m.plus(low, 2);
  Real size =
      choose(unusual.isFromEnd, abs(at(high, high1)) + abs(at(high1, high2)),
             abs(at(low1, low)) + abs(at(low2, low1)));
  Real corner =
      choose(unusual.isFromEnd, at(high, high), at(low, low)) + size * 0.75;
  Real h11 = choose(unusual.is, corner, at(high1, high1)),
       h21 = choose(unusual.is, size, at(high, high1)),
       h12 = choose(unusual.is, size * -0.4375, at(high1, high)),
       h22 = choose(unusual.is, corner, at(high, high));
  Real zero = size.of(0), unit = size.of(1);
  Real scale = abs(h11) + abs(h12) + abs(h21) + abs(h22);
  scale = choose(equal(scale, zero), unit, scale);
  h11 = h11 / scale, h21 = h21 / scale, h12 = h12 / scale, h22 = h22 / scale;
  Real mean = (h11 + h22) * 0.5;
  Real determinant = (h11 - mean) * (h22 - mean) - h12 * h21;
  Real root = sqrt(abs(determinant));
  Value isPair = compare(arith::CmpFPredicate::OGE, determinant, zero);
  Real up = mean + root, down = mean - root;
  Value isUp =
      compare(arith::CmpFPredicate::OLE, abs(up - h22), abs(down - h22));
  Real value = choose(isPair, mean, choose(isUp, up, down)) * scale;
  Real part = choose(isPair, root * scale, zero);
  return {value, part, value, -part};
}

/// One double step of Francis's on rows `low` to `high` of a real matrix, as
/// LAPACK's dlahqr does it: so Schur's form is the one that others find.
static Values stepReal(Iterations &m, Value t, Value v, Value low, Value high,
                       Unusual unusual, Value size, double unitOfRounding) {
  ImplicitLocOpBuilder &b = m.b;
  auto at = [&](Value matrix, Value i, Value j) {
    return Real{&b, m.get(matrix, {i, j})};
  };
  Value one = m.index(1);
  Value high1 = m.minus(high, one);
  Shifts shifts = shiftsOf(m, t, low, high, unusual);
  // The first column of the product of both shifted matrices, from the last row
  // on from which on a step changes nothing above.
  Real none{&b, numberConstant(b, b.getF64Type(), 0)};
  Values begin = m.range(
      low, high1, {low, none.v, none.v, none.v}, [&](Value i, ValueRange s) {
        Value i1 = m.plus(i, 1), i2 = m.plus(i, 2);
        Value before =
            m.e.select(m.cmp(CmpIPredicate::eq, i, low), i, m.minus(i, one));
        Real h00 = at(t, i, i), h11 = at(t, i1, i1);
        Real under = abs(at(t, i1, i));
        Real scale = abs(h00 - shifts.second) + abs(shifts.secondPart) + under;
        scale = choose(equal(scale, none), none.of(1), scale);
        Real h10 = at(t, i1, i) / scale;
        Real p = h10 * at(t, i, i1) +
                 (h00 - shifts.first) * ((h00 - shifts.second) / scale) -
                 shifts.firstPart * (shifts.secondPart / scale);
        Real q = h10 * (h00 + h11 - shifts.first - shifts.second);
        Real r = h10 * at(t, i2, i1);
        Real by = abs(p) + abs(q) + abs(r);
        by = choose(equal(by, none), none.of(1), by);
        p = p / by, q = q / by, r = r / by;
        Real lost = abs(at(t, i, before)) * (abs(q) + abs(r));
        Real kept = abs(p) * (abs(at(t, before, before)) + abs(h00) + abs(h11));
        Value isHere =
            compare(arith::CmpFPredicate::OLE, lost, kept * unitOfRounding);
        isHere =
            arith::OrIOp::create(b, isHere, m.cmp(CmpIPredicate::eq, i, low));
        return Values{m.e.select(isHere, i, s[0]),
                      choose(isHere, p, Real{&b, s[1]}).v,
                      choose(isHere, q, Real{&b, s[2]}).v,
                      choose(isHere, r, Real{&b, s[3]}).v};
      });
  Value start = begin[0];
  Real p0{&b, begin[1]}, q0{&b, begin[2]}, r0{&b, begin[3]};
  Value hasBefore = m.cmp(CmpIPredicate::ugt, start, low);
  return m.range(start, high, {t, v}, [&](Value k, ValueRange s) {
    Value isFirst = m.cmp(CmpIPredicate::eq, k, start);
    Value hasThird = m.cmp(CmpIPredicate::ult, k, high1);
    Value k1 = m.plus(k, 1), k2 = m.least(m.plus(k, 2), high);
    Value before =
        m.e.select(m.cmp(CmpIPredicate::eq, k, m.index(0)), k, m.minus(k, one));
    Real zero = p0.of(0), unit = p0.of(1);
    Real p = choose(isFirst, p0, at(s[0], k, before));
    Real q = choose(isFirst, q0, at(s[0], k1, before));
    Real r = choose(isFirst, r0, choose(hasThird, at(s[0], k2, before), zero));
    // I - beta (1, v1, v2) (1, v1, v2)^T takes (p, q, r) to (-norm, 0, 0).
    auto [factor, inverse] = m.intoRangeOf({abs(p), abs(q), abs(r)});
    p = p * factor, q = q * factor, r = r * factor;
    Real tail = q * q + r * r;
    Real norm = copySign(sqrt(p * p + tail), p);
    Value isNull = equal(tail, zero);
    Real pivot = choose(isNull, unit, p + norm);
    Real v1 = choose(isNull, zero, q / pivot),
         v2 = choose(isNull, zero, r / pivot);
    Real beta = choose(isNull, zero, pivot / choose(isNull, unit, norm));
    auto kept = [&](Value matrix, Value i, Real next) {
      return m.set(matrix, {i, before},
                   choose(isFirst, at(matrix, i, before), next).v);
    };
    // What is above the first row is small, and turned where it is.
    Value above = m.both(isFirst, hasBefore);
    Real was = at(s[0], k, before);
    Value turned =
        m.set(s[0], {k, before}, choose(above, was * (1 - beta), was).v);
    Value matrix = kept(turned, k, choose(isNull, p, -norm) * inverse);
    matrix = kept(matrix, k2, zero);
    matrix = kept(matrix, k1, zero);
    auto reflect = [&](Value now, std::array<Value, 2> first,
                       std::array<Value, 2> second,
                       std::array<Value, 2> third) {
      Real a{&b, m.get(now, first)}, c{&b, m.get(now, second)},
          d{&b, m.get(now, third)};
      Real step = beta * (a + v1 * c + v2 * d);
      now = m.set(now, first, (a - step).v);
      now = m.set(now, second, (c - step * v1).v);
      // At the end the third is the second, and v2 is zero.
      Real last{&b, m.get(now, third)};
      return Values{m.set(now, third, (last - step * v2).v)};
    };
    matrix = m.range(k, size, matrix, [&](Value j, ValueRange u) {
      return reflect(u[0], {k, j}, {k1, j}, {k2, j});
    })[0];
    Value until = m.plus(m.least(m.plus(k, 3), high), 1);
    matrix = m.range(m.index(0), until, matrix, [&](Value i, ValueRange u) {
      return reflect(u[0], {i, k}, {i, k1}, {i, k2});
    })[0];
    Value vectors = m.range(m.index(0), size, s[1], [&](Value i, ValueRange u) {
      return reflect(u[0], {i, k}, {i, k1}, {i, k2});
    })[0];
    return Values{matrix, vectors};
  });
}

/// One step with Wilkinson's shift on rows `low` to `high` of a complex matrix.
static Values stepComplex(Iterations &m, Value t, Value v, Value low,
                          Value high, Value isUnusual, Value size) {
  ImplicitLocOpBuilder &b = m.b;
  Elements &e = m.e;
  Type type = elementType(t.getType());
  Value one = m.index(1);
  Value high1 = m.minus(high, one);
  Value a = m.get(t, {high1, high1}), up = m.get(t, {high1, high}),
        down = m.get(t, {high, high1}), d = m.get(t, {high, high});
  auto [factor, inverse] =
      m.intoRangeOf({m.sizeOf(a), m.sizeOf(up), m.sizeOf(down), m.sizeOf(d)});
  for (Value *x : {&a, &up, &down, &d})
    *x = e.scale(*x, factor);
  Value half = e.scale(e.subtract(a, d), e.re(a).of(0.5));
  Value product = e.multiply(up, down);
  Value root = complexSqrt(b, e.add(e.multiply(half, half), product));
  Value plus = e.add(half, root), minus = e.subtract(half, root);
  Value isPlus =
      compare(arith::CmpFPredicate::OGE, e.square(plus), e.square(minus));
  Value divisor = e.select(isPlus, plus, minus);
  Real zero = e.re(a).of(0), unit = zero.of(1);
  Value isNull = equal(e.square(divisor), zero);
  Value safe = e.select(isNull, e.make(type, unit, zero), divisor);
  Value usual = e.select(isNull, d, e.subtract(d, e.divide(product, safe)));
  Value unusual = e.add(d, e.make(type, e.modulus(down) * 0.75, zero));
  Value shift = e.scale(e.select(isUnusual, unusual, usual), inverse);
  return m.range(low, high, {t, v}, [&](Value k, ValueRange s) {
    Value isFirst = m.cmp(CmpIPredicate::eq, k, low);
    Value k1 = m.plus(k, 1);
    Value before =
        e.select(m.cmp(CmpIPredicate::eq, k, m.index(0)), k, m.minus(k, one));
    Value x = e.select(isFirst, e.subtract(m.get(s[0], {k, k}), shift),
                       m.get(s[0], {k, before}));
    Value y =
        e.select(isFirst, m.get(s[0], {k1, k}), m.get(s[0], {k1, before}));
    Real factor = m.intoRangeOf({m.sizeOf(x), m.sizeOf(y)}).first;
    x = e.scale(x, factor), y = e.scale(y, factor);
    Real norm = sqrt(e.square(x) + e.square(y));
    Value isZero = equal(norm, zero);
    Real inverse = unit / choose(isZero, unit, norm);
    Value c = e.select(isZero, e.make(type, unit, zero), e.scale(x, inverse));
    Value sine =
        e.select(isZero, e.make(type, zero, zero), e.scale(y, inverse));
    Value matrix = m.rotateRows(s[0], k, k1, c, sine, before, size);
    Value under = m.get(matrix, {k1, before});
    matrix = m.set(matrix, {k1, before},
                   e.select(isFirst, under, e.make(type, zero, zero)));
    Value until = m.plus(m.least(m.plus(k, 2), high), 1);
    matrix = m.rotateColumns(matrix, k, k1, c, sine, until);
    return Values{matrix, m.rotateColumns(s[1], k, k1, c, sine, size)};
  });
}

/// Steps for one eigenvalue after which an unusual shift is tried, and steps
/// for each row of a matrix that are surely enough.
static constexpr int64_t kUsualSteps = 10, kStepsPerRow = 40;

static LogicalResult lowerSchur(Lowerer &l, solver::SchurOp op) {
  Iterations m{{l}};
  ImplicitLocOpBuilder &b = l.b;
  Value h = l.tensor(op.getH()), q = l.tensor(op.getQ());
  Type narrow = elementType(h.getType()), wide = wideType(narrow);
  bool isComplex = isa<ComplexType>(wide);
  bool isF64 = Elements::realType(narrow).isF64();
  double unit = isF64 ? 0x1p-52 : 0x1p-23;
  int64_t n = dimOf(h, 1);
  Value size = m.index(n);
  auto body = [&](ValueRange now) -> Values {
    // Reflectors are not of H. What is no number stays none.
    Real none{&b, numberConstant(b, b.getF64Type(), 0)};
    Values cleared =
        m.range(m.index(0), size, {now[0], none.v}, [&](Value i, ValueRange s) {
          return m.range(m.index(0), size, s, [&](Value j, ValueRange u) {
            Value x = m.get(u[0], {i, j});
            Value isUnder = m.cmp(CmpIPredicate::ugt, i, m.plus(j, 1));
            Value kept = m.e.select(isUnder, m.zero(x), x);
            Real poison = Real{&b, u[1]} + (m.e.re(kept) - m.e.re(kept)) +
                          (m.e.im(kept) - m.e.im(kept));
            return Values{m.set(u[0], {i, j}, kept), poison.v};
          });
        });
    auto each = [&](Value matrix, llvm::function_ref<Value(Value)> change) {
      return m.range(m.index(0), size, matrix, [&](Value i, ValueRange s) {
        return m.range(m.index(0), size, s, [&](Value j, ValueRange u) {
          return Values{m.set(u[0], {i, j}, change(m.get(u[0], {i, j})))};
        });
      })[0];
    };
    auto [factor, inverse] = m.intoRange(m.largest(cleared[0], size, size),
                                         Elements::realType(narrow));
    if (isF64)
      cleared[0] =
          each(cleared[0], [&](Value x) { return m.e.scale(x, factor); });
    Value isNumber =
        compare(arith::CmpFPredicate::OEQ, Real{&b, cleared[1]}, none);
    // Rows above `high` that are not done, and how often a step was made for
    // the last.
    Value start = m.e.select(isNumber, size, m.index(0));
    Values done = m.repeat(
        kStepsPerRow * std::max<int64_t>(n, 1),
        {start, m.index(0), cleared[0], now[1]},
        [&](Value, ValueRange s) -> Values {
          Value left = s[0];
          Value isLeft = m.cmp(CmpIPredicate::ugt, left, m.index(1));
          Values next = m.when(
              isLeft, {s[0], s[1], s[2], s[3]}, [&](ValueRange u) -> Values {
                Value high = m.minus(u[0], m.index(1));
                Values split = splitOff(m, u[2], high, unit);
                Value low = split[0], length = m.minus(high, low);
                Value isOne = m.cmp(CmpIPredicate::eq, length, m.index(0)),
                      isTwo = m.cmp(CmpIPredicate::eq, length, m.index(1));
                auto isEach = [&](int64_t steps) {
                  Value left = arith::RemUIOp::create(b, u[1], m.index(steps));
                  return m.cmp(CmpIPredicate::eq, left, m.index(steps - 1));
                };
                Unusual unusual{isEach(kUsualSteps), isEach(2 * kUsualSteps)};
                Values matrices{split[1], u[3]};
                Value isStep = m.negated(isOne), drop = isOne;
                Value count = m.index(1);
                if (!isComplex) {
                  matrices = m.when(isTwo, matrices, [&](ValueRange w) {
                    return standardise(m, w[0], w[1], low, size);
                  });
                  isStep = m.both(isStep, m.negated(isTwo));
                  drop = arith::OrIOp::create(b, isOne, isTwo);
                  count = m.e.select(isTwo, m.index(2), m.index(1));
                }
                matrices = m.when(isStep, matrices, [&](ValueRange w) {
                  return isComplex ? stepComplex(m, w[0], w[1], low, high,
                                                 unusual.is, size)
                                   : stepReal(m, w[0], w[1], low, high, unusual,
                                              size, unit);
                });
                Value rest = m.e.select(drop, m.minus(u[0], count), u[0]);
                Value tried = m.e.select(drop, m.index(0), m.plus(u[1], 1));
                return {rest, tried, matrices[0], matrices[1]};
              });
          return {isLeft, next[0], next[1], next[2], next[3]};
        });
    Value isDone =
        m.both(isNumber, m.cmp(CmpIPredicate::ule, done[0], m.index(1)));
    Real poison = choose(isDone, none, none / none);
    auto marked = [&](Value x) {
      return m.e.add(x, m.e.make(x.getType(), poison));
    };
    Value t = each(done[2], [&](Value x) {
      return marked(isF64 ? m.e.scale(x, inverse) : x);
    });
    return {t, each(done[3], marked)};
  };
  auto results =
      m.overBatch(batchOf(l.sizes(h)),
                  {castTensor(l, h, wide), castTensor(l, q, wide)}, body);
  l.set(op.getT(), castTensor(l, results[0], narrow));
  l.set(op.getV(), castTensor(l, results[1], narrow));
  return success();
}

//===----------------------------------------------------------------------===//
// Eigenvectors
//===----------------------------------------------------------------------===//

static LogicalResult lowerEigenvectors(Lowerer &l, solver::EigenvectorsOp op) {
  Iterations m{{l}};
  ImplicitLocOpBuilder &b = l.b;
  Elements &e = m.e;
  Value t = l.tensor(op.getT()), v = l.tensor(op.getV());
  Type narrow = elementType(t.getType()), wide = wideType(narrow);
  Value size = m.index(dimOf(t, 1));
  t = castTensor(l, t, wide);
  v = castTensor(l, v, wide);
  double epsilon = Elements::realType(narrow).isF32() ? 0x1p-24 : 0x1p-53;
  Real zero{&b, numberConstant(b, b.getF64Type(), 0)}, unit = zero.of(1);
  bool isF64 = Elements::realType(narrow).isF64();
  auto body = [&](ValueRange now) -> Values {
    Real norm = m.largest(t, size, size),
         factor = m.intoRange(norm, Elements::realType(narrow)).first;
    norm = norm * factor;
    auto at = [&](Value i, Value j) {
      Value x = m.get(t, {i, j});
      return isF64 ? e.scale(x, factor) : x;
    };
    return m.range(
        m.index(0), size, {now[0], now[1]}, [&](Value k, ValueRange s) {
          // (T - t_kk) y = 0, from row k upwards.
          Value corner = at(k, k);
          Value column = m.set(s[0], k, e.make(wide, unit, zero));
          column = m.range(
              m.index(0), k, column, [&](Value iteration, ValueRange y) {
                Value i = m.minus(m.minus(k, m.index(1)), iteration);
                Value sum =
                    m.range(m.plus(i, 1), m.plus(k, 1), l.zero(wide),
                            [&](Value j, ValueRange so) {
                              return Values{e.add(
                                  so[0], e.multiply(at(i, j), m.get(y[0], j)))};
                            })[0];
                Value apart = e.subtract(corner, at(i, i));
                // Equal eigenvalues are moved apart a little. Where there are
                // several zeros, y grows by 1/least at each.
                Real least =
                    larger(larger(e.modulus(corner) * epsilon, norm * 0x1p-400),
                           zero.of(0x1p-900));
                Value isClose =
                    compare(arith::CmpFPredicate::OLT, e.modulus(apart), least);
                Value divisor =
                    e.select(isClose, e.make(wide, least, zero), apart);
                Value quotient = e.divide(sum, divisor);
                Real part = larger(abs(e.re(quotient)), abs(e.im(quotient)));
                Value isLarge =
                    compare(arith::CmpFPredicate::OGT, part, zero.of(0x1p300));
                Value end = e.select(isLarge, m.plus(k, 1), i);
                return m.range(i, end, m.set(y[0], i, quotient),
                               [&](Value j, ValueRange w) {
                                 Value x = e.divideByReal(m.get(w[0], j), part);
                                 return Values{m.set(w[0], j, x)};
                               });
              })[0];
          // V y, its norm, its largest element.
          Values made = m.range(
              m.index(0), size,
              {s[1], zero.v, zero.v, e.make(wide, unit, zero), m.index(0)},
              [&](Value i, ValueRange u) {
                Value x = m.range(
                    m.index(0), m.plus(k, 1), l.zero(wide),
                    [&](Value j, ValueRange so) {
                      return Values{e.add(so[0], e.multiply(m.get(v, {i, j}),
                                                            m.get(column, j)))};
                    })[0];
                Real square = e.square(x), sum{&b, u[1]}, most{&b, u[2]};
                Value isMore = compare(arith::CmpFPredicate::OGT, square, most);
                return Values{m.set(u[0], {i, k}, x), (sum + square).v,
                              choose(isMore, square, most).v,
                              e.select(isMore, x, u[3]),
                              e.select(isMore, i, u[4])};
              });
          Real length = sqrt(Real{&b, made[1]}), tip = e.modulus(made[3]);
          Value isNull = equal(length, zero);
          Value phase = e.scale(e.conjugate(made[3]),
                                unit / (tip * choose(isNull, unit, length)));
          Value matrix =
              m.range(m.index(0), size, made[0], [&](Value i, ValueRange u) {
                Value x = e.multiply(m.get(u[0], {i, k}), phase);
                Value isTip = m.cmp(CmpIPredicate::eq, i, made[4]);
                // Rounding left the largest an imaginary part.
                Value kept = e.select(isTip, e.make(wide, e.re(x), zero), x);
                return Values{m.set(u[0], {i, k}, kept)};
              })[0];
          return Values{column, matrix};
        });
  };
  SmallVector<OpFoldResult> sizes = l.sizes(t), vectorSizes(sizes);
  vectorSizes.pop_back();
  Value columns = l.filled(vectorSizes, l.zero(wide)),
        start = l.filled(sizes, l.zero(wide));
  auto results = m.overBatch(batchOf(sizes), {columns, start}, body);
  l.set(op.getX(), castTensor(l, results[1], narrow));
  return success();
}

void shardc::lowering::addEigenvalues(LoweringTable &table) {
  table.op<solver::PivotedQrOp>(lowerPivotedQr);
  table.op<solver::SchurOp>(lowerSchur);
  table.op<solver::EigenvectorsOp>(lowerEigenvectors);
}

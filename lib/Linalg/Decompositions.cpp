//===- Decompositions.cpp - The solver dialect ----------------------------===//
//
// Factorisations as loops on elements, matrix by matrix of a batch: LU in
// LAPACK's conventions, eigenvalues and singular values by Jacobi rotations,
// computed in f64. Those of larger matrices are left to the runtime.
//
//===----------------------------------------------------------------------===//
#include "MatrixLoops.h"
#include "RowSolver.h"

#include "shardc/Dialect/Kernel/IR/KernelMatrices.h"
#include "shardc/Dialect/Solver/IR/Solver.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

static SmallVector<OpFoldResult> with(ArrayRef<OpFoldResult> batch,
                                      ArrayRef<OpFoldResult> last) {
  SmallVector<OpFoldResult> sizes(batch);
  sizes.append(last.begin(), last.end());
  return sizes;
}

static int64_t rowsOf(Value matrices) {
  auto type = cast<RankedTensorType>(matrices.getType());
  return type.getDimSize(type.getRank() - 2);
}
static int64_t columnsOf(Value matrices) {
  auto type = cast<RankedTensorType>(matrices.getType());
  return type.getDimSize(type.getRank() - 1);
}

static Value cmp(ImplicitLocOpBuilder &b, arith::CmpIPredicate how, Value x,
                 Value y) {
  return arith::CmpIOp::create(b, how, x, y);
}

//===----------------------------------------------------------------------===//
// LU
//===----------------------------------------------------------------------===//

namespace {
/// Factors one matrix of a batch after another, in place.
class LuFactors {
public:
  LuFactors(Lowerer &l, Value a)
      : l(l), b(l.b), m{l}, element(elementType(a.getType())),
        number(b.getI32Type()), rows(rowsOf(a)), columns(columnsOf(a)),
        solver(l, element, /*forward=*/true) {}

  /// The matrix, its pivots, what they make of the order of rows, and the first
  /// pivot that was zero (from one on; zero if none was).
  using State = SmallVector<Value>;
  State factor(ValueRange batch, ValueRange given);

private:
  /// What LAPACK compares: of a complex number, the sum of its parts' sizes.
  Real size(Value x) {
    return Elements::isComplex(x) ? abs(m.e.re(x)) + abs(m.e.im(x))
                                  : abs(m.e.re(x));
  }
  Value toNumber(Value index) {
    return arith::IndexCastOp::create(b, number, index);
  }
  /// Exchanges row k with that of its pivot; `divisor` is what is to divide all
  /// that is below it.
  State choosePivot(Value k, ValueRange now, Value &divisor);
  Value divideBelow(Value k, Value divisor, Value packed);
  /// Takes row k from the rows below, in columns behind k and before `to`.
  Value subtractRow(Value k, Value to, Value packed);
  /// Both, row by row, in a block of columns: an element of each row stands in
  /// a line of the cache with what it is multiplied by.
  Value eliminate(Value k, Value divisor, Value from, Value to, Value packed);
  /// Columns `from` and `count` - 1 behind it, and what columns behind those
  /// take from them.
  State factorBlock(OpFoldResult from, int64_t count, ValueRange now);

  Lowerer &l;
  ImplicitLocOpBuilder &b;
  MatrixLoops m;
  Type element, number;
  int64_t rows, columns;
  RowSolver solver;
};
} // namespace

LuFactors::State LuFactors::choosePivot(Value k, ValueRange now,
                                        Value &divisor) {
  Value below = m.plus(k, 1), one = numberConstant(b, element, 1);
  Value first = size(m.get(now[0], {k, k})).v;
  auto best = m.range(
      below, m.index(rows), {k, first}, [&](Value i, ValueRange so) -> State {
        Real candidate = size(m.get(now[0], {i, k}));
        Value better =
            compare(arith::CmpFPredicate::OGT, candidate, Real{&b, so[1]});
        return {m.e.select(better, i, so[0]),
                m.e.select(better, candidate.v, so[1])};
      });
  Value pivot = best[0];
  Value packed = m.range(m.index(0), m.index(columns), now[0],
                         [&](Value j, ValueRange t) -> State {
                           return {m.swap(t[0], {k, j}, {pivot, j})};
                         })[0];
  Value where = m.set(now[1], k, toNumber(pivot));
  Value order = m.swap(now[2], k, pivot);
  Value diagonal = m.get(packed, {k, k});
  Value isZero =
      compare(arith::CmpFPredicate::OEQ, size(diagonal), size(l.zero(element)));
  divisor = m.e.select(isZero, one, diagonal);
  Value known = m.get(now[3], {});
  Value unset = cmp(b, arith::CmpIPredicate::eq, known, l.zero(number));
  Value isFirst = arith::AndIOp::create(b, unset, isZero);
  Value flag = m.e.select(isFirst, toNumber(below), known);
  return {packed, where, order, m.set(now[3], {}, flag)};
}

Value LuFactors::divideBelow(Value k, Value divisor, Value packed) {
  return m.range(m.plus(k, 1), m.index(rows), packed,
                 [&](Value i, ValueRange t) -> State {
                   Value factor = m.e.divide(m.get(t[0], {i, k}), divisor);
                   return {m.set(t[0], {i, k}, factor)};
                 })[0];
}

Value LuFactors::subtractRow(Value k, Value to, Value packed) {
  Value below = m.plus(k, 1);
  return m.range(
      below, m.index(rows), packed, [&](Value i, ValueRange t) -> State {
        Value factor = m.get(t[0], {i, k});
        return m.range(below, to, t, [&](Value j, ValueRange u) -> State {
          Value above = m.get(u[0], {k, j});
          Value less =
              m.e.subtract(m.get(u[0], {i, j}), m.e.multiply(factor, above));
          return {m.set(u[0], {i, j}, less)};
        });
      })[0];
}

Value LuFactors::eliminate(Value k, Value divisor, Value from, Value to,
                           Value packed) {
  return m.range(
      m.plus(k, 1), m.index(rows), packed, [&](Value i, ValueRange t) -> State {
        Value factor = m.e.divide(m.get(t[0], {i, k}), divisor);
        // All of the block's columns, so that it is known how many they are.
        Value row = m.range(from, to, t, [&](Value j, ValueRange u) -> State {
          Value above = m.get(u[0], {k, j}), here = m.get(u[0], {i, j});
          Value less = m.e.subtract(here, m.e.multiply(factor, above));
          Value isBehind = cmp(b, arith::CmpIPredicate::ugt, j, k);
          return {m.set(u[0], {i, j}, m.e.select(isBehind, less, here))};
        })[0];
        return {m.set(row, {i, k}, factor)};
      })[0];
}

LuFactors::State LuFactors::factorBlock(OpFoldResult from, int64_t count,
                                        ValueRange now) {
  OpFoldResult many = b.getIndexAttr(count), none = b.getIndexAttr(0),
               end = solver.sum(from, many);
  Value to = l.value(end);
  Value first = l.value(from);
  State state = m.range(first, to, now, [&](Value k, ValueRange s) {
    Value divisor;
    State next = choosePivot(k, s, divisor);
    next[0] = eliminate(k, divisor, first, to, next[0]);
    return next;
  });
  OpFoldResult width = solver.difference(b.getIndexAttr(columns), end),
               height = solver.difference(b.getIndexAttr(rows), end);
  if (isConstantIntValue(width, 0))
    return state;
  // The block's rows behind its columns, each less those above it.
  Span block{from, many}, behind{end, width}, all{none, width},
      below{end, height};
  Value found = copyOf(l, solver.part(state[0], block, behind));
  found =
      solver.overRows(many, found, [&](OpFoldResult i, Span known, Value x) {
        Value row = solver.lessRows(
            copyOf(l, solver.row(x, i, all)),
            solver.row(state[0], solver.sum(from, i), {from, known.size}),
            /*conjugate=*/false, solver.part(x, known, all));
        return solver.insert(row, x, solver.just(i), all);
      });
  state[0] = solver.insert(found, state[0], block, behind);
  if (isConstantIntValue(height, 0))
    return state;
  // And what is left of the matrix, less a product.
  Value factors = copyOf(l, solver.part(state[0], below, block));
  Value rest = solver.lessProduct(solver.part(state[0], below, behind), factors,
                                  /*turned=*/false, /*conjugate=*/false, found);
  state[0] = solver.insert(rest, state[0], below, behind);
  return state;
}

LuFactors::State LuFactors::factor(ValueRange batch, ValueRange given) {
  m.batch.assign(batch.begin(), batch.end());
  solver.at(batch);
  State state(given);
  state[2] = m.range(m.index(0), m.index(rows), given[2],
                     [&](Value i, ValueRange p) -> State {
                       return {m.set(p[0], i, toNumber(i))};
                     })[0];
  int64_t least = std::min(rows, columns);
  // Where many threads share the work, loops without anything else are one
  // kernel; and small matrices have nothing to share.
  if (l.manyThreads || least < 2 * kBlockRows)
    return m.range(m.index(0), m.index(least), state,
                   [&](Value k, ValueRange now) {
                     Value divisor;
                     State next = choosePivot(k, now, divisor);
                     next[0] = divideBelow(k, divisor, next[0]);
                     next[0] = subtractRow(k, m.index(columns), next[0]);
                     return next;
                   });
  OpFoldResult blocks = b.getIndexAttr(least / kBlockRows);
  state = l.loops(blocks, state, [&](ValueRange at, ValueRange now) {
    OpFoldResult from =
        l.affine(b.getAffineSymbolExpr(0) * kBlockRows, OpFoldResult(at[0]));
    return factorBlock(from, kBlockRows, now);
  });
  int64_t rest = least % kBlockRows;
  return rest ? factorBlock(b.getIndexAttr(least - rest), rest, state) : state;
}

static LogicalResult lowerLu(Lowerer &l, solver::LuOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Value a = l.tensor(op.getA());
  int64_t least = std::min(rowsOf(a), columnsOf(a));
  SmallVector<OpFoldResult> batch = batchOf(l.sizes(a));
  Value zero = l.zero(b.getI32Type());
  Value pivots = l.filled(with(batch, {b.getIndexAttr(least)}), zero);
  Value order = l.filled(with(batch, {b.getIndexAttr(rowsOf(a))}), zero);
  Value info = l.filled(batch, zero);
  LuFactors factors(l, a);
  auto results = l.loops(
      batch, {copyOf(l, a), pivots, order, info},
      [&](ValueRange at, ValueRange now) { return factors.factor(at, now); });
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    l.set(result, value);
  return success();
}

static LogicalResult lowerPermutation(Lowerer &l, solver::PermutationOp op) {
  MatrixLoops m{l};
  ImplicitLocOpBuilder &b = l.b;
  Value pivots = l.tensor(op.getPivots());
  SmallVector<OpFoldResult> sizes = l.sizes(pivots);
  Value count = l.value(sizes.pop_back_val());
  int64_t rows =
      cast<RankedTensorType>(op.getPermutation().getType()).getShape().back();
  Value last = m.index(std::max<int64_t>(rows - 1, 0));
  auto body = [&](ValueRange now) -> SmallVector<Value> {
    Value identity =
        m.range(m.index(0), m.index(rows), now, [&](Value i, ValueRange p) {
          Value number = arith::IndexCastOp::create(b, b.getI32Type(), i);
          return SmallVector<Value>{m.set(p[0], i, number)};
        })[0];
    return m.range(m.index(0), count, identity, [&](Value i, ValueRange p) {
      Value to =
          arith::IndexCastUIOp::create(b, b.getIndexType(), m.get(pivots, i));
      return SmallVector<Value>{
          m.swap(p[0], i, arith::MinUIOp::create(b, to, last).getResult())};
    });
  };
  Value start = l.empty(with(sizes, {b.getIndexAttr(rows)}), b.getI32Type());
  l.set(op.getPermutation(), m.overBatch(sizes, start, body)[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

namespace {
/// A rotation of columns p and q: x_p' = c x_p - s x_q phase, x_q' = s x_p + c
/// x_q phase, that makes [[alpha, gamma], [conj(gamma), beta]] diagonal.
struct Rotation {
  Real c, s;
  Value phase;
};
} // namespace

static Rotation rotationOf(MatrixLoops &m, Real alpha, Real beta, Value gamma,
                           Value rotate) {
  Real size = m.e.modulus(gamma);
  Real one = size.of(1), zero = size.of(0);
  Real safe = choose(rotate, size, one);
  Real theta = (beta - alpha) / (safe * 2);
  Real root = sqrt(theta * theta + 1);
  Real t = copySign(one / (abs(theta) + root), theta);
  Real c = one / sqrt(t * t + 1);
  // exp(-i phi) of gamma = |gamma| exp(i phi).
  Value phase = m.e.divideByReal(m.e.conjugate(gamma), safe);
  Value unit = m.e.make(gamma.getType(), one, zero);
  return {choose(rotate, c, one), choose(rotate, t * c, zero),
          m.e.select(rotate, phase, unit)};
}

/// Rotates columns p and q of `tensor` in rows below `rows`.
static Value rotateColumns(MatrixLoops &m, Value tensor, Value p, Value q,
                           Value rows, const Rotation &by) {
  return m.range(m.index(0), rows, tensor, [&](Value r, ValueRange t) {
    Value x = m.get(t[0], {r, p});
    Value y = m.e.multiply(m.get(t[0], {r, q}), by.phase);
    Value first = m.e.subtract(m.e.scale(x, by.c), m.e.scale(y, by.s));
    Value second = m.e.add(m.e.scale(x, by.s), m.e.scale(y, by.c));
    Value half = m.set(t[0], {r, p}, first);
    return SmallVector<Value>{m.set(half, {r, q}, second)};
  })[0];
}

/// Each pair p < q below `n`.
static SmallVector<Value> overPairs(
    MatrixLoops &m, int64_t n, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  return m.range(m.index(0), m.index(n), carried, [&](Value p, ValueRange s) {
    return m.range(m.plus(p, 1), m.index(n), s,
                   [&](Value q, ValueRange t) { return body(p, q, t); });
  });
}

/// Sorts `keys` (a vector) in ascending or descending order, and the columns
/// of the matrices behind it along.
static SmallVector<Value> sortColumns(MatrixLoops &m, int64_t n,
                                      bool descending, Value keys,
                                      ValueRange matrices) {
  ImplicitLocOpBuilder &b = m.b;
  SmallVector<Value> all{keys};
  all.append(matrices.begin(), matrices.end());
  auto how = descending ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  return m.range(m.index(0), m.index(n), all, [&](Value i, ValueRange now) {
    auto best =
        m.range(m.plus(i, 1), m.index(n), {i, m.get(now[0], i)},
                [&](Value j, ValueRange so) {
                  Value key = m.get(now[0], j);
                  Value better = compare(how, Real{&b, key}, Real{&b, so[1]});
                  return SmallVector<Value>{m.e.select(better, j, so[0]),
                                            m.e.select(better, key, so[1])};
                });
    SmallVector<Value> next{m.swap(now[0], i, best[0])};
    for (Value matrix : now.drop_front())
      next.push_back(m.range(m.index(0), m.index(rowsOf(matrix)), matrix,
                             [&](Value r, ValueRange t) {
                               return SmallVector<Value>{
                                   m.swap(t[0], {r, i}, {r, best[0]})};
                             })[0]);
    return next;
  });
}

/// Sweeps of rotations that are surely enough: they converge quadratically.
static constexpr int64_t kMaxSweeps = 40;

/// The smallest normal f64 over its epsilon: products above it have all digits.
static constexpr double kLeastProduct = 0x1p-970;

static double epsilonOf(Type real) { return real.isF32() ? 0x1p-23 : 0x1p-52; }

/// NaN where the largest modulus is NaN or infinite, else 0: matrices with such
/// elements have neither eigenvalues nor singular values, and no vectors.
static Real poisonOf(Real largest) { return largest - largest; }

/// The identity, to which `poison` is added everywhere.
static Value identityOf(MatrixLoops &m, Value size, Value into, Real poison) {
  Type type = elementType(into.getType());
  Value off = m.e.make(type, poison), on = m.e.make(type, poison + 1);
  return m.range(m.index(0), size, into, [&](Value i, ValueRange s) {
    return m.range(m.index(0), size, s, [&](Value j, ValueRange t) {
      Value isOn = cmp(m.b, arith::CmpIPredicate::eq, i, j);
      return SmallVector<Value>{m.set(t[0], {i, j}, m.e.select(isOn, on, off))};
    });
  })[0];
}

/// Rotations of fewer rows cost less than a call of the runtime, and than its
/// reduction to a tridiagonal matrix.
static constexpr int64_t kReducedRows = 16;

/// By the runtime, which is there on hosts. Something has to stand for what
/// nobody reads.
static LogicalResult callEigh(Lowerer &l, solver::EighOp op) {
  Value a = l.tensor(op.getA());
  Type element = elementType(a.getType());
  SmallVector<OpFoldResult> sizes = l.sizes(a);
  SmallVector<Value> inits{
      l.empty(ArrayRef(sizes).drop_back(), Elements::realType(element))};
  bool hasVectors = !op.getVectors().use_empty();
  if (hasVectors)
    inits.push_back(l.empty(sizes, element));
  auto call = spmd::EighOp::create(l.b, TypeRange(ValueRange(inits)),
                                   !op.getLower(), l.fixedLevel, a, inits);
  l.set(op.getValues(), call.getResult(0));
  l.set(op.getVectors(), hasVectors ? call.getResult(1) : a);
  return success();
}

static LogicalResult lowerEigh(Lowerer &l, solver::EighOp op) {
  if (!l.manyThreads && rowsOf(l.tensor(op.getA())) >= kReducedRows)
    return callEigh(l, op);
  MatrixLoops m{l};
  ImplicitLocOpBuilder &b = l.b;
  Value a = l.tensor(op.getA());
  int64_t n = rowsOf(a);
  Type narrow = elementType(a.getType()), real = Elements::realType(narrow),
       wide = wideType(narrow), f64 = b.getF64Type();
  SmallVector<OpFoldResult> sizes = l.sizes(a), batch = batchOf(sizes);
  Value size = m.index(n);
  auto body = [&](ValueRange now) -> SmallVector<Value> {
    // The Hermitian matrix of one triangle.
    Value whole = m.range(m.index(0), size, now[0], [&](Value i, ValueRange s) {
      return m.range(m.index(0), m.plus(i, 1), s, [&](Value j, ValueRange t) {
        Value x =
            op.getLower() ? m.get(a, {i, j}) : m.e.conjugate(m.get(a, {j, i}));
        x = castElement(m.e, x, wide);
        Value diagonal = cmp(b, arith::CmpIPredicate::eq, i, j);
        x = m.e.select(diagonal, m.e.make(wide, m.e.re(x)), x);
        Value half = m.set(t[0], {i, j}, x);
        return SmallVector<Value>{m.set(half, {j, i}, m.e.conjugate(x))};
      });
    })[0];
    Real largest = m.largest(whole, size, size), poison = poisonOf(largest);
    auto [factor, inverse] = m.intoRange(largest, real);
    if (real.isF64())
      whole = m.range(m.index(0), size, whole, [&](Value i, ValueRange s) {
        return m.range(m.index(0), size, s, [&](Value j, ValueRange t) {
          Value x = m.e.scale(m.get(t[0], {i, j}), factor);
          return SmallVector<Value>{m.set(t[0], {i, j}, x)};
        });
      })[0];
    Value vectors = identityOf(m, size, now[1], poison);
    Real limit = largest * factor * (epsilonOf(real) / 64);
    Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
    auto rotated =
        m.repeat(kMaxSweeps, {whole, vectors}, [&](Value, ValueRange s) {
          return overPairs(
              m, n, {no, s[0], s[1]}, [&](Value p, Value q, ValueRange t) {
                Value gamma = m.get(t[1], {p, q});
                Value rotate = compare(arith::CmpFPredicate::OGT,
                                       m.e.modulus(gamma), limit);
                Rotation by =
                    rotationOf(m, m.e.re(m.get(t[1], {p, p})),
                               m.e.re(m.get(t[1], {q, q})), gamma, rotate);
                Value rows = m.e.select(rotate, size, m.index(0));
                Value matrix = rotateColumns(m, t[1], p, q, rows, by);
                // And the rows, by the adjoint.
                matrix = m.range(
                    m.index(0), rows, matrix, [&](Value r, ValueRange u) {
                      Value x = m.get(u[0], {p, r});
                      Value y = m.e.multiply(m.get(u[0], {q, r}),
                                             m.e.conjugate(by.phase));
                      Value first =
                          m.e.subtract(m.e.scale(x, by.c), m.e.scale(y, by.s));
                      Value second =
                          m.e.add(m.e.scale(x, by.s), m.e.scale(y, by.c));
                      Value half = m.set(u[0], {p, r}, first);
                      return SmallVector<Value>{m.set(half, {q, r}, second)};
                    })[0];
                Value zero = l.zero(wide);
                Value above = m.get(matrix, {p, q}),
                      under = m.get(matrix, {q, p});
                matrix = m.set(matrix, {p, q}, m.e.select(rotate, zero, above));
                matrix = m.set(matrix, {q, p}, m.e.select(rotate, zero, under));
                Value any = arith::OrIOp::create(b, t[0], rotate);
                return SmallVector<Value>{
                    any, matrix, rotateColumns(m, t[2], p, q, rows, by)};
              });
        });
    Value values =
        m.range(m.index(0), size, now[2], [&](Value i, ValueRange s) {
          Real x = m.e.re(m.get(rotated[0], {i, i})) * inverse + poison;
          return SmallVector<Value>{m.set(s[0], i, x.v)};
        })[0];
    auto sorted = sortColumns(m, n, false, values, rotated[1]);
    return {rotated[0], sorted[1], sorted[0]};
  };
  Value matrix = l.filled(sizes, l.zero(wide)),
        vectors = l.filled(sizes, l.zero(wide)),
        values = l.filled(with(batch, {sizes.back()}), l.zero(f64));
  auto results = m.overBatch(batch, {matrix, vectors, values}, body);
  l.set(op.getVectors(), castTensor(l, results[1], narrow));
  l.set(op.getValues(), castTensor(l, results[2], real));
  return success();
}

/// By the runtime, as above.
static LogicalResult callSvd(Lowerer &l, solver::OrthogonalizeOp op) {
  Value a = l.tensor(op.getA());
  Type element = elementType(a.getType());
  SmallVector<OpFoldResult> sizes = l.sizes(a), squares = sizes,
                            vectors = sizes;
  squares[squares.size() - 2] = sizes.back();
  vectors.erase(vectors.end() - 2);
  SmallVector<Value> inits{l.empty(vectors, Elements::realType(element))};
  bool hasVectors = !op.getW().use_empty() || !op.getV().use_empty();
  if (hasVectors)
    inits.append({l.empty(sizes, element), l.empty(squares, element)});
  auto call = spmd::SvdOp::create(l.b, TypeRange(ValueRange(inits)),
                                  l.fixedLevel, a, inits);
  l.set(op.getSigma(), call.getResult(0));
  l.set(op.getW(), hasVectors ? call.getResult(1) : a);
  l.set(op.getV(), hasVectors ? call.getResult(2) : l.empty(squares, element));
  return success();
}

static LogicalResult lowerOrthogonalize(Lowerer &l,
                                        solver::OrthogonalizeOp op) {
  if (!l.manyThreads && columnsOf(l.tensor(op.getA())) >= kReducedRows)
    return callSvd(l, op);
  MatrixLoops m{l};
  ImplicitLocOpBuilder &b = l.b;
  Value a = l.tensor(op.getA());
  int64_t rows = rowsOf(a), n = columnsOf(a);
  Type narrow = elementType(a.getType()), real = Elements::realType(narrow),
       wide = wideType(narrow), f64 = b.getF64Type();
  SmallVector<OpFoldResult> sizes = l.sizes(a), batch = batchOf(sizes);
  Value height = m.index(rows), width = m.index(n);
  auto body = [&](ValueRange now) -> SmallVector<Value> {
    // Scaled, so that squares neither overflow nor vanish.
    Real largest = m.largest(now[0], height, width), poison = poisonOf(largest);
    Real one = largest.of(1);
    Value usable = both(
        largest, compare(arith::CmpFPredicate::OGT, largest, largest.of(0)),
        compare(arith::CmpFPredicate::OLT, largest,
                largest.of(std::numeric_limits<double>::infinity())));
    Real scale = choose(usable, largest, one);
    Value w = m.range(m.index(0), height, now[0], [&](Value i, ValueRange s) {
      return m.range(m.index(0), width, s, [&](Value j, ValueRange t) {
        Value x = m.e.divideByReal(m.get(t[0], {i, j}), scale);
        return SmallVector<Value>{m.set(t[0], {i, j}, x)};
      });
    })[0];
    Value v = identityOf(m, width, now[1], poison);
    Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
    double limit = epsilonOf(real) * (real.isF32() ? 1.0 / 64 : 2.0);
    auto rotated = m.repeat(kMaxSweeps, {w, v}, [&](Value, ValueRange s) {
      return overPairs(
          m, n, {no, s[0], s[1]}, [&](Value p, Value q, ValueRange t) {
            Value zero = numberConstant(b, f64, 0), none = l.zero(wide);
            auto sums = m.range(
                m.index(0), height, {zero, zero, none},
                [&](Value r, ValueRange so) {
                  Value x = m.get(t[1], {r, p}), y = m.get(t[1], {r, q});
                  Value xy = m.e.multiply(m.e.conjugate(x), y);
                  return SmallVector<Value>{(Real{&b, so[0]} + m.e.square(x)).v,
                                            (Real{&b, so[1]} + m.e.square(y)).v,
                                            m.e.add(so[2], xy)};
                });
            Real alpha{&b, sums[0]}, beta{&b, sums[1]};
            // What is left of dependent columns shrinks with each sweep; its
            // products are meaningless once they are nearly denormal.
            Real bound = larger(sqrt(alpha) * sqrt(beta) * limit,
                                alpha.of(kLeastProduct));
            Value rotate =
                compare(arith::CmpFPredicate::OGT, m.e.modulus(sums[2]), bound);
            Rotation by = rotationOf(m, alpha, beta, sums[2], rotate);
            Value high = m.e.select(rotate, height, m.index(0)),
                  wideRows = m.e.select(rotate, width, m.index(0));
            Value any = arith::OrIOp::create(b, t[0], rotate);
            return SmallVector<Value>{
                any, rotateColumns(m, t[1], p, q, high, by),
                rotateColumns(m, t[2], p, q, wideRows, by)};
          });
    });
    Value norms =
        m.range(m.index(0), width, now[2], [&](Value j, ValueRange s) {
          Value zero = numberConstant(b, f64, 0);
          Value sum =
              m.range(m.index(0), height, zero, [&](Value r, ValueRange so) {
                Value x = m.get(rotated[0], {r, j});
                return SmallVector<Value>{(Real{&b, so[0]} + m.e.square(x)).v};
              })[0];
          Real norm = sqrt(Real{&b, sum}) * scale + poison;
          return SmallVector<Value>{m.set(s[0], j, norm.v)};
        })[0];
    auto sorted = sortColumns(m, n, true, norms, rotated);
    Real whole = scale + poison;
    Value back =
        m.range(m.index(0), height, sorted[1], [&](Value i, ValueRange s) {
          return m.range(m.index(0), width, s, [&](Value j, ValueRange t) {
            Value x = m.e.scale(m.get(t[0], {i, j}), whole);
            return SmallVector<Value>{m.set(t[0], {i, j}, x)};
          });
        })[0];
    return {back, sorted[2], sorted[0]};
  };
  Value v = l.filled(with(batch, {sizes.back(), sizes.back()}), l.zero(wide)),
        sigma = l.filled(with(batch, {sizes.back()}), l.zero(f64));
  auto results = m.overBatch(batch, {castTensor(l, a, wide), v, sigma}, body);
  l.set(op.getW(), castTensor(l, results[0], narrow));
  l.set(op.getV(), castTensor(l, results[1], narrow));
  l.set(op.getSigma(), castTensor(l, results[2], real));
  return success();
}

//===----------------------------------------------------------------------===//
// Tridiagonal systems
//===----------------------------------------------------------------------===//

/// `pivot`, or where `number` over it is not finite, what takes its place: as
/// much more as `growth`, and as makes the quotient a finite one.
static Value perturb(MatrixLoops &m, Value pivot, Value number, Real growth) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(growth.v.getType()).getFloatSemantics();
  double least = APFloat::getSmallestNormalized(semantics).convertToDouble();
  Real size = m.e.modulus(pivot), needed = m.e.modulus(number) * least;
  Value isZero = equal(size, size.of(0));
  Value isSmall = both(size, less(size, 1),
                       compare(arith::CmpFPredicate::OGT, needed, size));
  Value isMoved = arith::OrIOp::create(m.b, isZero, isSmall);
  // By no more than one: what is not finite then stays so.
  Real by =
      copySign(smaller(larger(growth, needed), size.of(1)), m.e.re(pivot));
  return m.e.select(isMoved, m.e.add(pivot, m.e.make(pivot.getType(), by)),
                    pivot);
}

// Elimination row by row, each time with the larger of two rows; a third
// diagonal fills up where rows are exchanged.
static LogicalResult lowerTridiagonalSolve(Lowerer &l,
                                           solver::TridiagonalSolveOp op) {
  MatrixLoops m{l};
  ImplicitLocOpBuilder &b = l.b;
  Value lower = l.tensor(op.getLower()), rhs = l.tensor(op.getB());
  Type element = elementType(rhs.getType());
  SmallVector<OpFoldResult> sizes = l.sizes(rhs), batch = batchOf(sizes);
  int64_t n = rowsOf(rhs);
  Value rows = m.index(n), columns = l.value(sizes.back()), one = m.index(1);
  Value zero = l.zero(element);
  auto body = [&](ValueRange now) -> SmallVector<Value> {
    // d, u: the diagonals; f: the one that fills up; x: right-hand sides.
    auto eliminated = m.range(
        m.index(0), m.index(std::max<int64_t>(n - 1, 0)), now,
        [&](Value i, ValueRange s) {
          Value next = m.plus(i, 1);
          Value here = m.get(s[0], i), below = m.get(lower, next);
          Value swap = compare(arith::CmpFPredicate::OLT, m.e.modulus(here),
                               m.e.modulus(below));
          // Rows (here, u, 0) and (below, d, v) of this column and the next
          // two.
          Value u = m.get(s[1], i), d = m.get(s[0], next),
                v = m.get(s[1], next);
          Value p0 = m.e.select(swap, below, here), p1 = m.e.select(swap, d, u),
                p2 = m.e.select(swap, v, zero);
          Value q0 = m.e.select(swap, here, below), q1 = m.e.select(swap, u, d),
                q2 = m.e.select(swap, zero, v);
          Value factor = m.e.divide(q0, p0);
          if (op.getPerturbed()) { // below a zero there is nothing else
            Real size = m.e.modulus(p0);
            factor = m.e.select(equal(size, size.of(0)), zero, factor);
          }
          auto less = [&](Value x, Value y) {
            return m.e.subtract(x, m.e.multiply(factor, y));
          };
          Value diagonal = m.set(m.set(s[0], i, p0), next, less(q1, p1));
          Value upper = m.set(m.set(s[1], i, p1), next, less(q2, p2));
          Value fill = m.set(s[2], i, p2);
          Value x =
              m.range(m.index(0), columns, s[3], [&](Value j, ValueRange t) {
                Value first = m.get(t[0], {i, j}),
                      second = m.get(t[0], {next, j});
                Value top = m.e.select(swap, second, first),
                      other = m.e.select(swap, first, second);
                Value half = m.set(t[0], {i, j}, top);
                return SmallVector<Value>{
                    m.set(half, {next, j}, less(other, top))};
              })[0];
          return SmallVector<Value>{diagonal, upper, fill, x};
        });
    Value last = arith::SubIOp::create(b, rows, one);
    // The largest modulus of the triangular factor, times epsilon.
    Real growth{&b, l.zero(Elements::realType(element))};
    if (op.getPerturbed()) {
      auto largest = [&](Value tensor, int64_t behind) {
        growth.v = m.range(
            m.index(0), m.index(std::max<int64_t>(n - behind, 0)), growth.v,
            [&](Value i, ValueRange s) {
              Real size = m.e.modulus(m.get(tensor, i)), so{&b, s[0]};
              Value isMore = compare(arith::CmpFPredicate::OGT, size, so);
              return SmallVector<Value>{m.e.select(isMore, size.v, s[0])};
            })[0];
      };
      for (auto [behind, tensor] :
           llvm::enumerate(ValueRange(eliminated).take_front(3)))
        largest(tensor, static_cast<int64_t>(behind));
      const llvm::fltSemantics &semantics =
          cast<FloatType>(growth.v.getType()).getFloatSemantics();
      double epsilon =
          std::ldexp(1, 1 - int(APFloat::semanticsPrecision(semantics)));
      Real scaled = growth * epsilon;
      Value isZero = equal(scaled, scaled.of(0));
      growth.v = m.e.select(isZero, scaled.of(epsilon).v, scaled.v);
    }
    Value x = m.range(
        m.index(0), rows, eliminated[3], [&](Value iteration, ValueRange s) {
          Value i = arith::SubIOp::create(b, last, iteration);
          // Past the end: the last row, times zero.
          Value one1 = arith::MinSIOp::create(b, m.plus(i, 1), last),
                two = arith::MinSIOp::create(b, m.plus(i, 2), last);
          Value hasOne = cmp(b, arith::CmpIPredicate::ult, m.plus(i, 1), rows),
                hasTwo = cmp(b, arith::CmpIPredicate::ult, m.plus(i, 2), rows);
          return m.range(m.index(0), columns, s, [&](Value j, ValueRange t) {
            Value first =
                m.e.multiply(m.get(eliminated[1], i), m.get(t[0], {one1, j}));
            Value second =
                m.e.multiply(m.get(eliminated[2], i), m.get(t[0], {two, j}));
            Value sum = m.e.subtract(m.get(t[0], {i, j}),
                                     m.e.select(hasOne, first, zero));
            sum = m.e.subtract(sum, m.e.select(hasTwo, second, zero));
            Value pivot = m.get(eliminated[0], i);
            if (op.getPerturbed())
              pivot = perturb(m, pivot, sum, growth);
            Value quotient = m.e.divide(sum, pivot);
            return SmallVector<Value>{m.set(t[0], {i, j}, quotient)};
          });
        })[0];
    return {eliminated[0], eliminated[1], eliminated[2], x};
  };
  Value diagonal = copyOf(l, l.tensor(op.getDiagonal())),
        upper = copyOf(l, l.tensor(op.getUpper())),
        fill = l.filled(l.sizes(lower), zero), x = copyOf(l, rhs);
  auto results = m.overBatch(batch, {diagonal, upper, fill, x}, body);
  l.set(op.getX(), results[3]);
  return success();
}

void shardc::lowering::addDecompositions(LoweringTable &table) {
  table.op<solver::LuOp>(lowerLu);
  table.op<solver::PermutationOp>(lowerPermutation);
  table.op<solver::EighOp>(lowerEigh);
  table.op<solver::OrthogonalizeOp>(lowerOrthogonalize);
  table.op<solver::TridiagonalSolveOp>(lowerTridiagonalSolve);
}

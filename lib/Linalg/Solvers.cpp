//===- Solvers.cpp - cholesky and triangular_solve ------------------------===//
//
// Both find the rows of a matrix one after another, each from those before it:
//
//   row i = (given row i - sum over known k of factor(i, k) row k) / pivot(i)
//
// What rows of earlier blocks take from a block is one product; the rest goes
// row by row. The terms of an element are subtracted in one order, whatever the
// blocks. Where many threads share the work, it goes element by element: loops
// without anything else are one kernel, and nobody waits for a pivot.
//
//===----------------------------------------------------------------------===//
#include "MatrixLoops.h"
#include "RowSolver.h"

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

// The element of a batch of matrices at (row, column), conjugated if asked.
static Value elementAt(Lowerer &l, Value tensor, ValueRange batch, Value row,
                       Value column, bool conjugate) {
  SmallVector<Value> at(batch);
  at.append({row, column});
  Value value = tensor::ExtractOp::create(l.b, tensor, at);
  return conjugate ? Elements{l.b}.conjugate(value) : value;
}

static Value withElement(Lowerer &l, Value tensor, ValueRange batch, Value row,
                         Value column, Value value) {
  SmallVector<Value> at(batch);
  at.append({row, column});
  return tensor::InsertOp::create(l.b, value, tensor, at);
}

// L[i, j] = (A[i, j] - sum of L[i, k] conj(L[j, k]) over k < j) / L[j, j], and
// the root of the same difference on the diagonal. The upper factor is read and
// written with rows and columns exchanged, conjugated.
static void factorByElements(Lowerer &l, stablehlo::CholeskyOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Elements e{b};
  Value a = l.tensor(op.getA());
  Type type = elementType(a.getType());
  SmallVector<OpFoldResult> sizes = l.sizes(a);
  bool lower = op.getLower();
  auto read = [&](Value tensor, ValueRange batch, Value i, Value j) {
    return lower ? elementAt(l, tensor, batch, i, j, false)
                 : elementAt(l, tensor, batch, j, i, true);
  };
  auto write = [&](Value tensor, ValueRange batch, Value i, Value j,
                   Value value) {
    return lower ? withElement(l, tensor, batch, i, j, value)
                 : withElement(l, tensor, batch, j, i, e.conjugate(value));
  };
  auto difference = [&](Value factor, ValueRange batch, Value i, Value j) {
    return l.loops(OpFoldResult(j), read(a, batch, i, j),
                   [&](ValueRange k, ValueRange sum) {
                     Value x = read(factor, batch, i, k[0]),
                           y = e.conjugate(read(factor, batch, j, k[0]));
                     return SmallVector<Value>{
                         e.subtract(sum[0], e.multiply(x, y))};
                   })[0];
  };
  SmallVector<OpFoldResult> rows(sizes);
  rows.pop_back();
  Value zeros = l.filled(sizes, l.zero(type));
  SmallVector<Value> result =
      l.loops(rows, zeros, [&](ValueRange at, ValueRange factors) {
        ValueRange batch = at.drop_back();
        Value i = at.back();
        Value row = l.loops(
            OpFoldResult(i), factors, [&](ValueRange j, ValueRange now) {
              Value above = difference(now[0], batch, i, j[0]);
              Value pivot = read(now[0], batch, j[0], j[0]);
              return SmallVector<Value>{
                  write(now[0], batch, i, j[0], e.divide(above, pivot))};
            })[0];
        Value root = e.squareRoot(difference(row, batch, i, i));
        return SmallVector<Value>{write(row, batch, i, i, root)};
      });
  l.set(op, result.front());
}

// Substitution through T = op(A): rows of X from the left, columns from the
// right, first those that need no other.
static void solveByElements(Lowerer &l, stablehlo::TriangularSolveOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Elements e{b};
  Value a = l.tensor(op.getA()), rhs = l.tensor(op.getB());
  Type type = elementType(a.getType());
  bool left = op.getLeftSide();
  bool transposed = op.getTransposeA() != stablehlo::Transpose::NO_TRANSPOSE;
  bool adjoint = op.getTransposeA() == stablehlo::Transpose::ADJOINT;
  bool lower = op.getLower() != transposed; // of T
  bool forward = left == lower;
  SmallVector<OpFoldResult> sizes = l.sizes(rhs);
  int64_t rank = sizes.size();
  OpFoldResult n = sizes[left ? rank - 2 : rank - 1],
               others = sizes[left ? rank - 1 : rank - 2];
  auto matrix = [&](ValueRange batch, Value i, Value j) {
    return transposed ? elementAt(l, a, batch, j, i, adjoint)
                      : elementAt(l, a, batch, i, j, false);
  };
  Value one = l.index(1),
        last = l.value(l.affine(b.getAffineSymbolExpr(0) - 1, n));
  SmallVector<OpFoldResult> nest(ArrayRef(sizes).drop_back(2));
  nest.append({n, others});
  Value start = l.empty(sizes, type);
  SmallVector<Value> result =
      l.loops(nest, start, [&](ValueRange at, ValueRange now) {
        ValueRange batch = at.drop_back(2);
        Value step = at[at.size() - 2], other = at.back();
        // The unknown of this step, and how many are known: those before it, or
        // in backward order those after it.
        Value i =
            forward ? step : arith::SubIOp::create(b, last, step).getResult();
        auto position = [&](Value k) {
          return left ? std::pair(k, other) : std::pair(other, k);
        };
        auto [row, column] = position(i);
        Value sum = l.loops(
            OpFoldResult(step), elementAt(l, rhs, batch, row, column, false),
            [&](ValueRange iteration, ValueRange sums) {
              Value k = iteration[0];
              if (!forward) {
                Value next = arith::AddIOp::create(b, i, one);
                k = arith::AddIOp::create(b, next, iteration[0]);
              }
              auto [knownRow, knownColumn] = position(k);
              Value x =
                  elementAt(l, now[0], batch, knownRow, knownColumn, false);
              Value t = left ? matrix(batch, i, k) : matrix(batch, k, i);
              return SmallVector<Value>{e.subtract(sums[0], e.multiply(t, x))};
            })[0];
        if (!op.getUnitDiagonal())
          sum = e.divide(sum, matrix(batch, i, i));
        return SmallVector<Value>{
            withElement(l, now[0], batch, row, column, sum)};
      });
  l.set(op, result.front());
}

//===----------------------------------------------------------------------===//
// By blocks of rows
//===----------------------------------------------------------------------===//

/// The last two dims exchanged if asked, and each element conjugated; with
/// `upper`, of what stands on and above the diagonal, and zeros below it.
static Value transpose(Lowerer &l, Value tensor, bool isTransposed,
                       bool conjugate, bool upper = false) {
  ImplicitLocOpBuilder &b = l.b;
  SmallVector<OpFoldResult> sizes = l.sizes(tensor);
  unsigned rank = sizes.size();
  auto at = llvm::map_to_vector(
      llvm::seq(rank), [&](unsigned i) { return b.getAffineDimExpr(i); });
  if (isTransposed) {
    std::swap(sizes[rank - 2], sizes[rank - 1]);
    std::swap(at[rank - 2], at[rank - 1]);
  }
  Type element = elementType(tensor.getType());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value zero = l.zero(element);
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    Value x = conjugate ? Elements{b}.conjugate(args[0]) : args[0];
    if (!upper)
      return {x};
    Value row = linalg::IndexOp::create(b, rank - (isTransposed ? 1 : 2)),
          column = linalg::IndexOp::create(b, rank - (isTransposed ? 2 : 1));
    Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, row, column);
    return {arith::SelectOp::create(b, is, x, zero)};
  };
  return l
      .generic(tensor, l.empty(sizes, element),
               {AffineMap::get(rank, 0, at, b.getContext()),
                b.getMultiDimIdentityMap(rank)},
               iterators, body)
      .front();
}

// A = R^H R, R upper triangular: the factor of row k in row i is conj(R[k, i]),
// and the square of the pivot is what is left at it. The lower factor is R^H.
static LogicalResult lowerCholesky(Lowerer &l, stablehlo::CholeskyOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Value a = l.tensor(op.getA());
  Type type = elementType(a.getType());
  if (l.manyThreads) {
    factorByElements(l, op);
    return success();
  }
  bool lower = op.getLower();
  Value given =
      lower ? transpose(l, a, /*isTransposed=*/true, /*conjugate=*/true) : a;
  SmallVector<OpFoldResult> sizes = l.sizes(given);
  OpFoldResult n = sizes.back();
  RowSolver s(l, type, /*forward=*/true);
  // All of a row, whose elements before the pivot are of no use: this many at a
  // time that vectors are whole.
  auto row = [&](OpFoldResult i, Span known, Value block, Span columns) {
    Value x = s.lessRows(copyOf(l, s.row(block, i, columns)),
                         s.column(block, known, i), /*conjugate=*/true,
                         s.part(block, known, columns));
    Value at = l.value(i);
    Value root = Elements{b}.squareRoot(tensor::ExtractOp::create(b, x, at));
    Value found = tensor::InsertOp::create(b, root, s.quotient(x, root), at);
    return s.insert(found, block, s.just(i), columns);
  };
  auto block = [&](Span rows, Span known, Value now) {
    Span rest{rows.from, s.difference(n, rows.from)};
    Value x = copyOf(l, s.part(given, rows, rest));
    x = s.lessProduct(x, s.part(now, known, rows), /*isTransposed=*/true,
                      /*conjugate=*/true, s.part(now, known, rest));
    x = s.overRows(rows.size, x, [&](OpFoldResult i, Span known, Value x) {
      return row(i, known, x, {b.getIndexAttr(0), rest.size});
    });
    return s.insert(x, now, rows, rest);
  };
  Value factor =
      s.overBatch(ArrayRef(sizes).drop_back(2), l.empty(sizes, type),
                  [&](Value now) { return s.overBlocks(n, now, block); });
  l.set(op, transpose(l, factor, lower, /*conjugate=*/lower, /*upper=*/true));
  return success();
}

// T X = B for T = op(A); X T = B as T^T X^T = B^T. The factors are T's.
static LogicalResult lowerTriangularSolve(Lowerer &l,
                                          stablehlo::TriangularSolveOp op) {
  Value a = l.tensor(op.getA()), rhs = l.tensor(op.getB());
  Type type = elementType(a.getType());
  if (l.manyThreads) {
    solveByElements(l, op);
    return success();
  }
  bool left = op.getLeftSide();
  bool transposed = op.getTransposeA() != stablehlo::Transpose::NO_TRANSPOSE;
  bool adjoint = op.getTransposeA() == stablehlo::Transpose::ADJOINT;
  // Whether the factor of row k in row i is A[k, i], and not A[i, k].
  bool isTransposed = transposed == left;
  if (!left)
    rhs = transpose(l, rhs, /*isTransposed=*/true, /*conjugate=*/false);
  SmallVector<OpFoldResult> sizes = l.sizes(rhs);
  OpFoldResult n = sizes[sizes.size() - 2];
  Span all{l.b.getIndexAttr(0), sizes.back()};
  RowSolver s(l, type, /*forward=*/op.getLower() != isTransposed);
  auto factors = [&](Span rows, Span known) {
    return isTransposed ? s.part(a, known, rows) : s.part(a, rows, known);
  };
  auto block = [&](Span rows, Span known, Value now) {
    Value x = copyOf(l, s.part(rhs, rows, all));
    x = s.lessProduct(x, factors(rows, known), isTransposed, adjoint,
                      s.part(now, known, all));
    Value diagonal = s.part(a, rows, rows);
    x = s.overRows(rows.size, x, [&](OpFoldResult i, Span known, Value x) {
      auto pivot = [&]() -> Value {
        if (op.getUnitDiagonal())
          return {};
        Value pivot = s.number(diagonal, i, i);
        return adjoint ? Elements{l.b}.conjugate(pivot) : pivot;
      };
      // A row of one element is none of a vector.
      if (isConstantIntValue(all.size, 1)) {
        auto factor = [&](OpFoldResult k) {
          return isTransposed ? s.number(diagonal, k, i)
                              : s.number(diagonal, i, k);
        };
        return s.withElement(x, i, known, factor, adjoint, pivot());
      }
      Value of = isTransposed ? s.column(diagonal, known, i)
                              : s.row(diagonal, i, known);
      Value found = s.lessRows(copyOf(l, s.row(x, i, all)), of, adjoint,
                               s.part(x, known, all));
      if (Value by = pivot())
        found = s.quotient(found, by);
      return s.insert(found, x, s.just(i), all);
    });
    return s.insert(x, now, rows, all);
  };
  Value x = s.overBatch(ArrayRef(sizes).drop_back(2), l.empty(sizes, type),
                        [&](Value now) { return s.overBlocks(n, now, block); });
  l.set(op,
        left ? x : transpose(l, x, /*isTransposed=*/true, /*conjugate=*/false));
  return success();
}

void shardc::lowering::addSolvers(LoweringTable &table) {
  table.op<stablehlo::CholeskyOp>(lowerCholesky);
  table.op<stablehlo::TriangularSolveOp>(lowerTriangularSolve);
}

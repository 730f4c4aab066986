//===- Solvers.cpp - cholesky and triangular_solve ------------------------===//
//
// Row by row, on elements: these matrices are small beside what surrounds them.
//
//===----------------------------------------------------------------------===//
#include "MatrixLoops.h"

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

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
static LogicalResult lowerCholesky(Lowerer &l, stablehlo::CholeskyOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Elements e{b};
  Value a = l.tensor(op.getA());
  Type type = elementType(a.getType());
  if (type.isBF16() || type.isF16())
    return emitOpUnsupported(op, " for elements of type ") << type;
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
  return success();
}

// Substitution through T = op(A): rows of X from the left, columns from the
// right, first those that need no other.
static LogicalResult lowerTriangularSolve(Lowerer &l,
                                          stablehlo::TriangularSolveOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Elements e{b};
  Value a = l.tensor(op.getA()), rhs = l.tensor(op.getB());
  Type type = elementType(a.getType());
  if (type.isBF16() || type.isF16())
    return emitOpUnsupported(op, " for elements of type ") << type;
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
            [&](ValueRange turn, ValueRange sums) {
              Value k = turn[0];
              if (!forward) {
                Value next = arith::AddIOp::create(b, i, one);
                k = arith::AddIOp::create(b, next, turn[0]);
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
  return success();
}

void shardc::lowering::addSolvers(LoweringTable &table) {
  table.op<stablehlo::CholeskyOp>(lowerCholesky);
  table.op<stablehlo::TriangularSolveOp>(lowerTriangularSolve);
}

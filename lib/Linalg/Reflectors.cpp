//===- Reflectors.cpp - QR and Hessenberg's form --------------------------===//
//
// By Householder's reflectors, in LAPACK's conventions: larger matrices are
// left to the runtime, which is there on hosts; others are loops on elements.
//
//===----------------------------------------------------------------------===//
#include "Reflectors.h"
#include "MatrixLoops.h"

#include "shardc/Dialect/Kernel/IR/KernelMatrices.h"
#include "shardc/Dialect/Solver/IR/Solver.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;
using Values = MatrixLoops::Values;

static int64_t dimOf(Value tensor, int64_t fromEnd) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getDimSize(type.getRank() - fromEnd);
}

/// Loops over fewer columns of a square matrix cost less than a call of the
/// runtime; over fewer rows of Hessenberg's form, less than its panels.
static constexpr int64_t kReflectedColumns = 16, kReducedRows = 48;

/// Of few columns the runtime has vectors along the rows, where loops have them
/// along the columns: so it is for tall matrices of as many multiplications.
static bool isForRuntime(Lowerer &l, Value matrices, int64_t from) {
  int64_t rows = dimOf(matrices, 2), columns = dimOf(matrices, 1);
  bool isTall = columns >= 2 && rows >= 8 * columns &&
                rows * columns * columns >= from * from * from;
  return !l.manyThreads && (std::min(rows, columns) >= from || isTall);
}

/// Sizes of taus: `count` for each matrix.
static SmallVector<OpFoldResult> tauSizes(Lowerer &l, Value matrices,
                                          int64_t count) {
  SmallVector<OpFoldResult> sizes = batchOf(l.sizes(matrices));
  sizes.push_back(l.b.getIndexAttr(count));
  return sizes;
}

/// Packed matrices and taus, by an op of the runtime.
template <typename OpT, typename SourceT>
static void callRuntime(Lowerer &l, SourceT op, int64_t count) {
  Value a = l.tensor(op.getA());
  Type element = elementType(a.getType());
  Value inits[] = {l.empty(l.sizes(a), element),
                   l.empty(tauSizes(l, a, count), element)};
  auto call = OpT::create(l.b, TypeRange(ValueRange(inits)), l.fixedLevel, a,
                          ValueRange(inits));
  l.set(op.getPacked(), call.getResult(0));
  l.set(op.getTaus(), call.getResult(1));
}

static LogicalResult lowerQr(Lowerer &l, solver::QrOp op) {
  MatrixLoops m{l};
  Value a = l.tensor(op.getA());
  Value rows = m.index(dimOf(a, 2)), columns = m.index(dimOf(a, 1));
  int64_t least = std::min(dimOf(a, 2), dimOf(a, 1));
  if (isForRuntime(l, a, kReflectedColumns)) {
    callRuntime<spmd::QrOp>(l, op, least);
    return success();
  }
  Value taus =
      l.filled(tauSizes(l, a, least), l.zero(elementType(a.getType())));
  auto body = [&](ValueRange now) -> SmallVector<Value> {
    return m.range(m.index(0), m.index(least), now, [&](Value k, ValueRange s) {
      auto [packed, tau] = m.reflect(s[0], k, k, rows);
      // H^H from the left on the columns behind.
      packed = m.applyLeft(packed, k, k, m.e.conjugate(tau), rows, m.plus(k, 1),
                           columns);
      return SmallVector<Value>{packed, m.set(s[1], k, tau)};
    });
  };
  auto results = m.overBatch(batchOf(l.sizes(a)), {copyOf(l, a), taus}, body);
  l.set(op.getPacked(), results[0]);
  l.set(op.getTaus(), results[1]);
  return success();
}

// H1 (H2 (... Hk I)): the last reflector first.
static LogicalResult lowerHouseholderProduct(Lowerer &l,
                                             solver::HouseholderProductOp op) {
  MatrixLoops m{l};
  ImplicitLocOpBuilder &b = l.b;
  Value a = l.tensor(op.getPacked()), taus = l.tensor(op.getTaus());
  if (isForRuntime(l, a, kReflectedColumns)) {
    Value init = l.empty(l.sizes(a), elementType(a.getType()));
    auto call = spmd::HouseholderProductOp::create(
        b, TypeRange(ValueRange(init)), l.fixedLevel, a, taus,
        ValueRange(init));
    l.set(op.getQ(), call.getResult(0));
    return success();
  }
  Value rows = m.index(dimOf(a, 2)), columns = m.index(dimOf(a, 1));
  Value count =
      m.index(cast<RankedTensorType>(taus.getType()).getShape().back());
  Type element = elementType(a.getType());
  SmallVector<OpFoldResult> sizes = l.sizes(a);
  Value one = numberConstant(b, element, 1);
  auto body = [&](ValueRange now) -> SmallVector<Value> {
    Value identity =
        m.range(m.index(0), columns, now[0], [&](Value i, ValueRange q) {
          return SmallVector<Value>{m.set(q[0], {i, i}, one)};
        })[0];
    return m.range(m.index(0), count, identity,
                   [&](Value iteration, ValueRange q) {
                     Value last = arith::SubIOp::create(b, count, m.index(1));
                     Value k = arith::SubIOp::create(b, last, iteration);
                     // Columns before are still zero in all of its rows.
                     Value changed = m.applyLeft(q[0], k, k, m.get(taus, k),
                                                 rows, k, columns,
                                                 /*reflectors=*/a);
                     return SmallVector<Value>{changed};
                   });
  };
  Value zeros = l.filled(sizes, l.zero(element));
  l.set(op.getQ(), m.overBatch(batchOf(sizes), zeros, body)[0]);
  return success();
}

static LogicalResult lowerHessenberg(Lowerer &l, solver::HessenbergOp op) {
  MatrixLoops m{l};
  Value a = l.tensor(op.getA());
  int64_t n = dimOf(a, 1), count = std::max<int64_t>(n - 1, 0);
  if (isForRuntime(l, a, kReducedRows)) {
    callRuntime<spmd::HessenbergOp>(l, op, count);
    return success();
  }
  Value size = m.index(n);
  auto body = [&](ValueRange now) -> Values {
    return m.range(m.index(0), m.index(count), now, [&](Value k, ValueRange s) {
      Value next = m.plus(k, 1);
      auto [packed, tau] = m.reflect(s[0], next, k, size);
      Value right = m.applyRight(packed, next, k, tau, size, size);
      Value left =
          m.applyLeft(right, next, k, m.e.conjugate(tau), size, next, size);
      return Values{left, m.set(s[1], k, tau)};
    });
  };
  Value taus =
      l.filled(tauSizes(l, a, count), l.zero(elementType(a.getType())));
  auto results = m.overBatch(batchOf(l.sizes(a)), {copyOf(l, a), taus}, body);
  l.set(op.getPacked(), results[0]);
  l.set(op.getTaus(), results[1]);
  return success();
}

void shardc::lowering::addReflectors(LoweringTable &table) {
  table.op<solver::QrOp>(lowerQr);
  table.op<solver::HouseholderProductOp>(lowerHouseholderProduct);
  table.op<solver::HessenbergOp>(lowerHessenberg);
}

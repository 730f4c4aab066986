//===- RowSolver.cpp - Rows of matrices, by blocks ------------------------===//
#include "RowSolver.h"
#include "AnyOrder.h"

using namespace mlir;
using namespace shardc::lowering;

Value RowSolver::overBatch(ArrayRef<OpFoldResult> sizes, Value state,
                           MatrixBody body) {
  return l.loops(sizes, state, [&](ValueRange at, ValueRange now) {
    batch.assign(at.begin(), at.end());
    return SmallVector<Value>{body(now[0])};
  })[0];
}

Value RowSolver::overBlocks(OpFoldResult n, Value state, BlockBody body) {
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  OpFoldResult blocks = l.affine(s0.floorDiv(kBlockRows), n),
               inBlocks = l.affine(s0.floorDiv(kBlockRows) * kBlockRows, n);
  auto visit = [&](OpFoldResult known, OpFoldResult size, Value now) {
    OpFoldResult unknown = difference(n, known), zero = b.getIndexAttr(0);
    return forward
               ? body({known, size}, {zero, known}, now)
               : body({difference(unknown, size), size}, {unknown, known}, now);
  };
  if (!isConstantIntValue(blocks, 0))
    state = l.loops(blocks, state, [&](ValueRange at, ValueRange now) {
      OpFoldResult known = l.affine(s0 * kBlockRows, OpFoldResult(at[0]));
      return SmallVector<Value>{
          visit(known, b.getIndexAttr(kBlockRows), now[0])};
    })[0];
  // Rows that fill no block are the last ones to be found.
  OpFoldResult rest = difference(n, inBlocks);
  return isConstantIntValue(rest, 0) ? state : visit(inBlocks, rest, state);
}

Value RowSolver::overRows(OpFoldResult n, Value state, RowBody body) {
  return l.loops(n, state, [&](ValueRange at, ValueRange now) {
    OpFoldResult known = at[0], unknown = difference(n, known);
    Value next = forward ? body(known, {b.getIndexAttr(0), known}, now[0])
                         : body(difference(unknown, b.getIndexAttr(1)),
                                {unknown, known}, now[0]);
    return SmallVector<Value>{next};
  })[0];
}

std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
RowSolver::place(Value tensor, Span rows, Span columns) {
  SmallVector<OpFoldResult> offsets;
  if (cast<RankedTensorType>(tensor.getType()).getRank() > 2)
    offsets = batch;
  SmallVector<OpFoldResult> sizes(offsets.size(), b.getIndexAttr(1));
  offsets.append({rows.from, columns.from});
  sizes.append({rows.size, columns.size});
  return {offsets, sizes};
}

Value RowSolver::slice(Value tensor, Span rows, Span columns,
                       ArrayRef<OpFoldResult> kept) {
  auto [offsets, sizes] = place(tensor, rows, columns);
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  auto shape = llvm::map_to_vector(kept, [](OpFoldResult size) {
    return getConstantIntValue(size).value_or(ShapedType::kDynamic);
  });
  return l.slice(tensor, offsets, sizes, ones,
                 RankedTensorType::get(shape, element));
}

Value RowSolver::part(Value tensor, Span rows, Span columns) {
  return slice(tensor, rows, columns, {rows.size, columns.size});
}
Value RowSolver::row(Value tensor, OpFoldResult row, Span columns) {
  return slice(tensor, just(row), columns, columns.size);
}
Value RowSolver::column(Value tensor, Span rows, OpFoldResult column) {
  return slice(tensor, rows, just(column), rows.size);
}

Value RowSolver::number(Value tensor, OpFoldResult row, OpFoldResult column) {
  SmallVector<Value> at;
  for (OpFoldResult offset : place(tensor, just(row), just(column)).first)
    at.push_back(l.value(offset));
  return tensor::ExtractOp::create(b, tensor, at);
}

Value RowSolver::insert(Value update, Value tensor, Span rows, Span columns) {
  auto [offsets, sizes] = place(tensor, rows, columns);
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  return l.insert(update, tensor, offsets, sizes, ones);
}

Value RowSolver::less(Value sum, Value factor, Value x) {
  if (Elements::isComplex(factor))
    return e.subtract(sum, multiply(factor, x));
  // As a sum, which kernels know.
  Value total = e.add(sum, e.multiply(arith::NegFOp::create(b, factor), x));
  markRoundedOnce(total);
  return total;
}

Value RowSolver::subtractProducts(Value x, Value factors, bool conjugate,
                                  Value rows, ArrayRef<AffineMap> maps) {
  SmallVector<utils::IteratorType> iterators(maps[0].getNumDims(),
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    Value factor = conjugate ? e.conjugate(args[0]) : args[0];
    return {less(args[2], factor, args[1])};
  };
  return l.generic({factors, rows}, x, maps, iterators, body).front();
}

Value RowSolver::lessProduct(Value x, Value factors, bool isTransposed,
                             bool conjugate, Value rows) {
  // Before the first block no row is known.
  if (cast<RankedTensorType>(rows.getType()).getDimSize(0) == 0)
    return x;
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, b.getContext());
  };
  return subtractProducts(
      x, factors, conjugate, rows,
      {isTransposed ? map(k, i) : map(i, k), map(k, j), map(i, j)});
}

Value RowSolver::lessRows(Value x, Value factors, bool conjugate, Value rows) {
  AffineExpr j = b.getAffineDimExpr(0), k = b.getAffineDimExpr(1);
  auto map = [&](ArrayRef<AffineExpr> at) {
    return AffineMap::get(2, 0, at, b.getContext());
  };
  return subtractProducts(x, factors, conjugate, rows,
                          {map(k), map({k, j}), map(j)});
}

Value RowSolver::withElement(Value x, OpFoldResult row, Span known,
                             llvm::function_ref<Value(OpFoldResult)> factor,
                             bool conjugate, Value pivot) {
  OpFoldResult zero = b.getIndexAttr(0);
  Value start = number(x, row, zero);
  Value sum =
      l.loops(known.size, start, [&](ValueRange iteration, ValueRange sums) {
        OpFoldResult k =
            l.affine(b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1),
                     {known.from, iteration[0]});
        Value of = conjugate ? e.conjugate(factor(k)) : factor(k);
        return SmallVector<Value>{less(sums[0], of, number(x, k, zero))};
      })[0];
  if (pivot)
    sum = e.divide(sum, pivot);
  return tensor::InsertOp::create(b, sum, x,
                                  ValueRange{l.value(row), l.index(0)});
}

Value RowSolver::quotient(Value x, Value y) {
  return l.map(x, l.empty(l.sizes(x), element),
               [&](ValueRange args) -> SmallVector<Value> {
                 return {e.divide(args[0], y)};
               });
}

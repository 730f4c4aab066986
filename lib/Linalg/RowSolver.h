//===- RowSolver.h - Rows of matrices, by blocks ----------------*- C++ -*-===//
//
// What solvers are written with that find rows from those before them: parts
// of matrices of a batch, and what known rows take from others, as products.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_ROWSOLVER_H
#define SHARDC_LIB_LINALG_ROWSOLVER_H

#include "MatrixLoops.h"

namespace shardc::lowering {

/// Rows of a block: half as many, on average, are subtracted row by row.
constexpr int64_t kBlockRows = 32;

/// `size` rows or columns.
struct Span {
  mlir::OpFoldResult from, size;
};

/// Finds rows, a matrix of a batch after another.
class RowSolver {
public:
  RowSolver(Lowerer &l, mlir::Type element, bool forward)
      : l(l), b(l.b), element(element), forward(forward) {}

  /// The matrix of a batch that is meant.
  void at(mlir::ValueRange position) {
    batch.assign(position.begin(), position.end());
  }
  using MatrixBody = llvm::function_ref<mlir::Value(mlir::Value)>;
  /// `state`, changed by `body` for each matrix of a batch of these sizes.
  mlir::Value overBatch(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                        mlir::Value state, MatrixBody body);

  /// Given the rows to be found, the known rows, and what is found so far.
  using BlockBody = llvm::function_ref<mlir::Value(Span, Span, mlir::Value)>;
  /// Walks blocks of `n` rows.
  mlir::Value overBlocks(mlir::OpFoldResult n, mlir::Value state,
                         BlockBody body);
  using RowBody =
      llvm::function_ref<mlir::Value(mlir::OpFoldResult, Span, mlir::Value)>;
  /// Walks `n` rows.
  mlir::Value overRows(mlir::OpFoldResult n, mlir::Value state, RowBody body);

  /// Part of a matrix: a tensor's of the batch that is under way, or a tensor
  /// of two dims.
  mlir::Value part(mlir::Value tensor, Span rows, Span columns);
  mlir::Value row(mlir::Value tensor, mlir::OpFoldResult row, Span columns);
  mlir::Value column(mlir::Value tensor, Span rows, mlir::OpFoldResult column);
  mlir::Value number(mlir::Value tensor, mlir::OpFoldResult row,
                     mlir::OpFoldResult column);
  mlir::Value insert(mlir::Value update, mlir::Value tensor, Span rows,
                     Span columns);

  /// x - factors rows, of matrices; `isTransposed`: with the factors'
  /// transpose.
  mlir::Value lessProduct(mlir::Value x, mlir::Value factors, bool isTransposed,
                          bool conjugate, mlir::Value rows);
  /// The same of one row: a vector of factors.
  mlir::Value lessRows(mlir::Value x, mlir::Value factors, bool conjugate,
                       mlir::Value rows);
  /// `x`, of one column, with element `row` less those that are `known` times
  /// their factors, over `pivot` unless that is null.
  mlir::Value
  withElement(mlir::Value x, mlir::OpFoldResult row, Span known,
              llvm::function_ref<mlir::Value(mlir::OpFoldResult)> factor,
              bool conjugate, mlir::Value pivot);
  /// x / y, y a number.
  mlir::Value quotient(mlir::Value x, mlir::Value y);

  mlir::OpFoldResult difference(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return l.affine(b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1),
                    {x, y});
  }
  mlir::OpFoldResult sum(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return l.affine(b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1),
                    {x, y});
  }
  Span just(mlir::OpFoldResult index) { return {index, b.getIndexAttr(1)}; }

private:
  /// As products of matrices multiply.
  mlir::Value multiply(mlir::Value x, mlir::Value y) {
    return Elements::isComplex(x) ? complexMultiplyPlainly(b, {x, y})
                                  : e.multiply(x, y);
  }
  mlir::Value slice(mlir::Value tensor, Span rows, Span columns,
                    llvm::ArrayRef<mlir::OpFoldResult> kept);
  /// Offsets and sizes in `tensor`.
  std::pair<llvm::SmallVector<mlir::OpFoldResult>,
            llvm::SmallVector<mlir::OpFoldResult>>
  place(mlir::Value tensor, Span rows, Span columns);
  /// `sum` less `factor` times `x`: rounded alike whether rows are found as
  /// vectors or element by element.
  mlir::Value less(mlir::Value sum, mlir::Value factor, mlir::Value x);
  mlir::Value subtractProducts(mlir::Value x, mlir::Value factors,
                               bool conjugate, mlir::Value rows,
                               llvm::ArrayRef<mlir::AffineMap> maps);

  Lowerer &l;
  mlir::ImplicitLocOpBuilder &b;
  Elements e{l.b};
  mlir::Type element;
  bool forward; ///< whether the first row is known first, or the last
  llvm::SmallVector<mlir::OpFoldResult> batch;
};

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_ROWSOLVER_H

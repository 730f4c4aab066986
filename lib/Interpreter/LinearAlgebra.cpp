//===- LinearAlgebra.cpp - Factors and solutions of matrices --------------===//
//
// Textbook algorithms on complex numbers of f64, matrix by matrix, rounded at
// the end. What they give is unique, or LAPACK's by its definition; where a
// result's sign is nobody's (eigenvectors, singular vectors), it is not known.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;
using Complex = std::complex<double>;

namespace {
struct Matrix {
  int64_t rows, columns;
  std::vector<Complex> elements;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), elements(rows * columns) {}
  Complex &operator()(int64_t i, int64_t j) {
    return elements[i * columns + j];
  }
  Complex operator()(int64_t i, int64_t j) const {
    return elements[i * columns + j];
  }
};
} // namespace

/// Matrix number `batch` of the last two dims.
static Matrix matrixOf(const Array &array, int64_t batch) {
  Matrix matrix(array.dim(array.rank() - 2), array.dim(array.rank() - 1));
  for (size_t i = 0; i < matrix.elements.size(); ++i) {
    Element e = array[batch * matrix.elements.size() + i];
    matrix.elements[i] = array.format().isComplex() ? e.complex() : e.real;
  }
  return matrix;
}

static void store(Array &array, int64_t place, Complex value) {
  if (array.format().isComplex())
    array.put(place, value);
  else
    array.put(place, value.real());
}

static void store(Array &array, int64_t batch, const Matrix &matrix) {
  for (size_t i = 0; i < matrix.elements.size(); ++i)
    store(array, batch * matrix.elements.size() + i, matrix.elements[i]);
}

static ArrayRef<int64_t> batchesOf(const Array &matrices) {
  return matrices.shape().drop_back(2);
}

static int64_t countMatrices(const Array &array) {
  return countElements(batchesOf(array));
}

/// Of a rank's batches the type need not say how many there are.
static Array resultOf(Operation *op, size_t number, ArrayRef<int64_t> batches) {
  Shape shape(
      cast<RankedTensorType>(op->getResult(number).getType()).getShape());
  for (size_t d = 0; d < std::min(batches.size(), shape.size()); ++d)
    if (ShapedType::isDynamic(shape[d]))
      shape[d] = batches[d];
  return Array(formatOf(op->getResult(number)), shape);
}

/// A letter or a number of a call's options.
static int64_t option(Operation *op, StringRef name, int64_t otherwise) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  if (!config)
    config = dyn_cast_or_null<DictionaryAttr>(
        cast<stablehlo::CustomCallOp>(op).getBackendConfigAttr());
  Attribute value = config ? config.get(name) : Attribute();
  if (auto flag = dyn_cast_or_null<BoolAttr>(value))
    return flag.getValue();
  if (auto number = dyn_cast_or_null<IntegerAttr>(value))
    return number.getValue().getZExtValue();
  return otherwise;
}

//===----------------------------------------------------------------------===//
// Cholesky and triangular systems
//===----------------------------------------------------------------------===//

/// L with a = L L^H, of the lower triangle of `a`; NaN where there is none.
static Matrix cholesky(const Matrix &a, bool isLower) {
  Matrix l = a;
  for (int64_t j = 0; j < a.rows; ++j)
    for (int64_t i = j; i < a.rows; ++i) {
      Complex sum = isLower ? a(i, j) : std::conj(a(j, i));
      for (int64_t k = 0; k < j; ++k)
        sum -= l(i, k) * std::conj(l(j, k));
      if (i == j)
        l(j, j) = sum.real() > 0 ? std::sqrt(sum.real())
                                 : std::numeric_limits<double>::quiet_NaN();
      else
        l(i, j) = sum / l(j, j);
    }
  return l;
}

static FailureOr<Values> evaluateCholesky(Evaluator &, stablehlo::CholeskyOp op,
                                          ArrayRef<Array> in) {
  Array result = in[0];
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix a = matrixOf(in[0], batch), l = cholesky(a, op.getLower()), out = a;
    // The other triangle is nobody's; XLA leaves zeros.
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < a.rows; ++j)
        out(i, j) = op.getLower() ? (j <= i ? l(i, j) : 0)
                                  : (i <= j ? std::conj(l(j, i)) : 0);
    store(result, batch, out);
  }
  return Values{result};
}

static FailureOr<Values> callPotrf(Evaluator &, Operation *op,
                                   ArrayRef<Array> in) {
  bool isLower = option(op, "uplo", 'L') == 'L' || option(op, "lower", 0) == 1;
  Values results = {in[0], resultOf(op, 1, batchesOf(in[0]))};
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix a = matrixOf(in[0], batch), l = cholesky(a, isLower), out = a;
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j <= i; ++j)
        (isLower ? out(i, j) : out(j, i)) =
            isLower ? l(i, j) : std::conj(l(i, j));
    store(results[0], batch, out);
  }
  return results;
}

namespace {
/// What a triangular matrix is, and how it is taken: op(a) is `a`, its
/// transpose or its adjoint.
struct Triangle {
  bool isLower = true;
  bool isUnit = false; ///< its diagonal is ones, whatever is stored there
  stablehlo::Transpose op = stablehlo::Transpose::NO_TRANSPOSE;

  bool isAdjoint() const { return op == stablehlo::Transpose::ADJOINT; }
  bool isTurned() const {
    return isAdjoint() || op == stablehlo::Transpose::TRANSPOSE;
  }
};
} // namespace

/// x with op(a) x = b.
static Matrix solveLeft(const Matrix &a, const Matrix &b,
                        const Triangle &triangle) {
  auto at = [&](int64_t i, int64_t j) {
    Complex value = triangle.isTurned() ? a(j, i) : a(i, j);
    return triangle.isAdjoint() ? std::conj(value) : value;
  };
  bool isForward = triangle.isLower != triangle.isTurned();
  Matrix x = b;
  for (int64_t column = 0; column < b.columns; ++column)
    for (int64_t step = 0; step < a.rows; ++step) {
      int64_t i = isForward ? step : a.rows - 1 - step;
      Complex sum = b(i, column);
      for (int64_t j = isForward ? 0 : i + 1, e = isForward ? i : a.rows; j < e;
           ++j)
        sum -= at(i, j) * x(j, column);
      x(i, column) = triangle.isUnit ? sum : sum / at(i, i);
    }
  return x;
}

static Matrix transposed(const Matrix &a) {
  Matrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      t(j, i) = a(i, j);
  return t;
}

/// x with op(a) x = b, or else with x op(a) = b, matrix by matrix.
static Array solveAll(const Array &a, const Array &b, bool isLeft,
                      const Triangle &triangle) {
  Array result = b;
  for (int64_t batch = 0; batch < countMatrices(b); ++batch) {
    Matrix left = matrixOf(a, batch), right = matrixOf(b, batch);
    if (isLeft) {
      store(result, batch, solveLeft(left, right, triangle));
      continue;
    }
    // x op(a) = b is op(a)^T x^T = b^T; of an adjoint, the conjugate is left.
    if (triangle.isAdjoint())
      for (Complex &element : left.elements)
        element = std::conj(element);
    Triangle turned = triangle;
    turned.op = triangle.isTurned() ? stablehlo::Transpose::NO_TRANSPOSE
                                    : stablehlo::Transpose::TRANSPOSE;
    store(result, batch,
          transposed(solveLeft(left, transposed(right), turned)));
  }
  return result;
}

static FailureOr<Values>
evaluateTriangularSolve(Evaluator &, stablehlo::TriangularSolveOp op,
                        ArrayRef<Array> in) {
  return Values{
      solveAll(in[0], in[1], op.getLeftSide(),
               {op.getLower(), op.getUnitDiagonal(), op.getTransposeA()})};
}

static FailureOr<Values> callTrsm(Evaluator &, Operation *op,
                                  ArrayRef<Array> in) {
  const Array &a = in[0], &b = in[1];
  bool isLeft = option(op, "side", 'L') == 'L';
  if (b.rank() != a.rank() || b.shape().drop_back(2) != a.shape().drop_back(2))
    return op->emitError() << "has other batches of right sides than of "
                              "systems";
  int64_t unknowns = a.dim(a.rank() - 1),
          given = b.dim(b.rank() - (isLeft ? 2 : 1));
  if (given != unknowns)
    return op->emitError() << "solves systems of " << unknowns
                           << " unknowns for " << given;
  int64_t transpose = option(op, "trans_x", 'N');
  auto turn = transpose == 'T'   ? stablehlo::Transpose::TRANSPOSE
              : transpose == 'C' ? stablehlo::Transpose::ADJOINT
                                 : stablehlo::Transpose::NO_TRANSPOSE;
  return Values{solveAll(
      a, b, isLeft,
      {option(op, "uplo", 'L') == 'L', option(op, "diag", 'N') == 'U', turn})};
}

//===----------------------------------------------------------------------===//
// LU and QR
//===----------------------------------------------------------------------===//

/// LAPACK's size of a complex number where pivots are chosen.
static double sizeOf(Complex value) {
  return std::fabs(value.real()) + std::fabs(value.imag());
}

/// In place, rows exchanged; the row taken at each step.
static std::vector<int64_t> factorize(Matrix &a) {
  std::vector<int64_t> pivots;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (sizeOf(a(i, k)) > sizeOf(a(pivot, k)))
        pivot = i;
    pivots.push_back(pivot);
    for (int64_t j = 0; j < a.columns && pivot != k; ++j)
      std::swap(a(k, j), a(pivot, j));
    for (int64_t i = k + 1; i < a.rows && a(k, k) != 0.0; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j)
        a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return pivots;
}

static std::vector<int64_t> permutationOf(ArrayRef<int64_t> pivots,
                                          int64_t rows) {
  std::vector<int64_t> permutation(rows);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (size_t k = 0; k < pivots.size(); ++k)
    std::swap(permutation[k], permutation[pivots[k]]);
  return permutation;
}

/// LAPACK's: pivots from one, and an info of zero.
static FailureOr<Values> callGetrf(Evaluator &, Operation *op,
                                   ArrayRef<Array> in) {
  Values results = {in[0], resultOf(op, 1, batchesOf(in[0])),
                    resultOf(op, 2, batchesOf(in[0]))};
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix a = matrixOf(in[0], batch);
    std::vector<int64_t> pivots = factorize(a);
    store(results[0], batch, a);
    for (auto [k, pivot] : llvm::enumerate(pivots))
      results[1].set(batch * pivots.size() + k).integer = pivot + 1;
  }
  return results;
}

/// XLA's: pivots from zero, and the permutation.
static FailureOr<Values> callLuDecomposition(Evaluator &, Operation *op,
                                             ArrayRef<Array> in) {
  Values results = {in[0], resultOf(op, 1, batchesOf(in[0])),
                    resultOf(op, 2, batchesOf(in[0]))};
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix a = matrixOf(in[0], batch);
    std::vector<int64_t> pivots = factorize(a),
                         permutation = permutationOf(pivots, a.rows);
    store(results[0], batch, a);
    for (auto [k, pivot] : llvm::enumerate(pivots))
      results[1].set(batch * pivots.size() + k).integer = pivot;
    for (auto [k, row] : llvm::enumerate(permutation))
      results[2].set(batch * permutation.size() + k).integer = row;
  }
  return results;
}

/// Our own: as XLA's, and the number from 1 of the first zero on U's diagonal.
static FailureOr<Values> evaluateLu(Evaluator &evaluator, Operation *op,
                                    ArrayRef<Array> in) {
  FailureOr<Values> results = callLuDecomposition(evaluator, op, in);
  if (failed(results))
    return failure();
  Array info = resultOf(op, 3, batchesOf(in[0]));
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix u = matrixOf((*results)[0], batch);
    for (int64_t k = std::min(u.rows, u.columns) - 1; k >= 0; --k)
      if (u(k, k) == 0.0)
        info.set(batch).integer = k + 1;
  }
  results->push_back(info);
  return results;
}

static FailureOr<Values> callPivots(Evaluator &, Operation *op,
                                    ArrayRef<Array> in) {
  Array result = resultOf(op, 0, in[0].shape().drop_back(in[0].rank() != 0));
  if (in[0].rank() == 0 || result.rank() != in[0].rank())
    return op->emitError() << "has pivots of " << in[0].rank()
                           << " dims for a permutation of " << result.rank();
  int64_t count = in[0].dim(in[0].rank() - 1),
          rows = result.dim(result.rank() - 1);
  for (int64_t batch = 0; count != 0 && batch < in[0].size() / count; ++batch) {
    SmallVector<int64_t> pivots;
    for (int64_t k = 0; k < count; ++k)
      pivots.push_back(in[0].integer(batch * count + k));
    for (int64_t pivot : pivots)
      if (pivot < 0 || pivot >= rows || count > rows)
        return op->emitError() << "exchanges row " << pivot << " of " << rows;
    for (auto [k, row] : llvm::enumerate(permutationOf(pivots, rows)))
      result.set(batch * rows + k).integer = row;
  }
  return Values{result};
}

/// Reflectors below the diagonal, R on and above it, and their factors.
static FailureOr<Values> callGeqrf(Evaluator &, Operation *op,
                                   ArrayRef<Array> in) {
  Values results = {in[0], resultOf(op, 1, batchesOf(in[0]))};
  for (size_t i = 2; i < op->getNumResults(); ++i)
    results.push_back(resultOf(op, i, batchesOf(in[0])));
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix a = matrixOf(in[0], batch);
    int64_t count = std::min(a.rows, a.columns);
    for (int64_t k = 0; k < count; ++k) {
      // LAPACK's larfg: H = 1 - tau v v^H, with H^H x = beta e_1.
      double below = 0;
      for (int64_t i = k + 1; i < a.rows; ++i)
        below += std::norm(a(i, k));
      Complex alpha = a(k, k), tau = 0;
      if (below != 0 || alpha.imag() != 0) {
        double beta =
            -std::copysign(std::sqrt(std::norm(alpha) + below), alpha.real());
        tau = Complex((beta - alpha.real()) / beta, -alpha.imag() / beta);
        for (int64_t i = k + 1; i < a.rows; ++i)
          a(i, k) /= alpha - beta;
        a(k, k) = beta;
        for (int64_t j = k + 1; j < a.columns; ++j) {
          Complex product = a(k, j);
          for (int64_t i = k + 1; i < a.rows; ++i)
            product += std::conj(a(i, k)) * a(i, j);
          product *= std::conj(tau);
          a(k, j) -= product;
          for (int64_t i = k + 1; i < a.rows; ++i)
            a(i, j) -= a(i, k) * product;
        }
      }
      store(results[1], batch * count + k, tau);
    }
    store(results[0], batch, a);
  }
  return results;
}

/// The first columns of the product of the reflectors.
static FailureOr<Values> callOrgqr(Evaluator &, Operation *op,
                                   ArrayRef<Array> in) {
  Values results = {in[0]};
  for (size_t i = 1; i < op->getNumResults(); ++i)
    results.push_back(resultOf(op, i, batchesOf(in[0])));
  if (in[1].rank() == 0)
    return Evaluator::unknown(op, "reflectors with one factor");
  int64_t count = in[1].dim(in[1].rank() - 1), rank = in[0].rank(),
          most = std::min(in[0].dim(rank - 2), in[0].dim(rank - 1));
  if (count > most)
    return op->emitError() << "has " << count << " factors for " << most
                           << " reflectors";
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    Matrix v = matrixOf(in[0], batch), q(v.rows, v.columns);
    for (int64_t i = 0; i < std::min(v.rows, v.columns); ++i)
      q(i, i) = 1;
    for (int64_t k = count - 1; k >= 0; --k) {
      Element e = in[1][batch * count + k];
      Complex tau = in[1].format().isComplex() ? e.complex() : e.real;
      for (int64_t j = 0; j < q.columns; ++j) {
        Complex product = q(k, j);
        for (int64_t i = k + 1; i < v.rows; ++i)
          product += std::conj(v(i, k)) * q(i, j);
        product *= tau;
        q(k, j) -= product;
        for (int64_t i = k + 1; i < v.rows; ++i)
          q(i, j) -= v(i, k) * product;
      }
    }
    store(results[0], batch, q);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Eigenvalues
//===----------------------------------------------------------------------===//

/// Eigenvalues of a Hermitian matrix, ascending, by Jacobi's rotations.
static std::vector<double> hermitianEigenvalues(Matrix a, bool isLower) {
  int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j)
      (isLower ? a(j, i) : a(i, j)) = std::conj(isLower ? a(i, j) : a(j, i));
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double size = std::abs(a(p, q));
        off += size * size;
        if (size == 0)
          continue;
        Complex phase = a(p, q) / size;
        double theta = (a(q, q).real() - a(p, p).real()) / (2 * size);
        double t = std::copysign(1, theta) /
                   (std::fabs(theta) + std::sqrt(theta * theta + 1));
        double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int64_t k = 0; k < n; ++k) {
          Complex x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * std::conj(phase) * y;
          a(k, q) = s * phase * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          Complex x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * phase * y;
          a(q, k) = s * std::conj(phase) * x + c * y;
        }
      }
    if (off < 1e-300)
      break;
  }
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(a(i, i).real());
  llvm::sort(values);
  return values;
}

static FailureOr<Values> eigenvaluesOf(Operation *op, ArrayRef<Array> in,
                                       bool isLower) {
  if (!op->getResult(0).use_empty())
    return Evaluator::unknown(op, "eigenvectors, whose sign is nobody's");
  Values results = {in[0]};
  for (size_t i = 1; i < op->getNumResults(); ++i)
    results.push_back(resultOf(op, i, batchesOf(in[0])));
  for (int64_t batch = 0; batch < countMatrices(in[0]); ++batch) {
    std::vector<double> values =
        hermitianEigenvalues(matrixOf(in[0], batch), isLower);
    for (auto [i, value] : llvm::enumerate(values))
      results[1].put(batch * values.size() + i, value);
  }
  return results;
}

static FailureOr<Values> callSyevd(Evaluator &, Operation *op,
                                   ArrayRef<Array> in) {
  return eigenvaluesOf(op, in, option(op, "uplo", 'L') == 'L');
}

static FailureOr<Values> evaluateEigh(Evaluator &, solver::EighOp op,
                                      ArrayRef<Array> in) {
  return eigenvaluesOf(op, in, op.getLower());
}

/// `handler` for calls whose first operand is matrices.
static Handler onMatrices(size_t operands, size_t results, bool isSquare,
                          const Handler &handler) {
  return withForm(operands, results,
                  [isSquare, handler](Evaluator &evaluator, Operation *op,
                                      ArrayRef<Array> in) -> FailureOr<Values> {
                    const Array &a = in[0];
                    if (a.rank() < 2)
                      return op->emitError() << "has an operand of " << a.rank()
                                             << " dims, expected matrices";
                    int64_t rows = a.dim(a.rank() - 2),
                            columns = a.dim(a.rank() - 1);
                    if (isSquare && rows != columns)
                      return op->emitError()
                             << "has matrices of " << rows << " x " << columns
                             << ", expected square ones";
                    return handler(evaluator, op, in);
                  });
}

void shardc::interpreter::addLinearAlgebra(Table &table) {
  table.add<stablehlo::CholeskyOp>(evaluateCholesky);
  table.add<stablehlo::TriangularSolveOp>(evaluateTriangularSolve);
  table.add<solver::EighOp>(evaluateEigh);
  table.handlers[solver::LuOp::getOperationName()] = evaluateLu;
  table.handlers[solver::PermutationOp::getOperationName()] = callPivots;
  table.handlers[solver::QrOp::getOperationName()] = callGeqrf;
  table.handlers[solver::HouseholderProductOp::getOperationName()] = callOrgqr;
  auto &calls = table.customCalls;
  Handler potrf = onMatrices(1, 2, /*isSquare=*/true, callPotrf),
          getrf = onMatrices(1, 3, /*isSquare=*/false, callGetrf),
          geqrf = onMatrices(1, 2, /*isSquare=*/false, callGeqrf),
          orgqr = onMatrices(2, 1, /*isSquare=*/false, callOrgqr),
          syevd = onMatrices(1, 2, /*isSquare=*/true, callSyevd);
  for (StringRef type : {"s", "d", "c", "z"}) {
    auto add = [&](StringRef what, Handler handler) {
      calls[("lapack_" + type + what + "_ffi").str()] = handler;
    };
    bool isReal = type == "s" || type == "d";
    add("potrf", potrf);
    add("getrf", getrf);
    add("trsm", onMatrices(2, 1, /*isSquare=*/true, callTrsm));
    add("geqrf", geqrf);
    add(isReal ? "orgqr" : "ungqr", orgqr);
    add(isReal ? "syevd" : "heevd", syevd);
  }
  calls["cusolver_potrf_ffi"] = potrf;
  calls["cusolver_getrf_ffi"] = getrf;
  calls["cusolver_geqrf_ffi"] = calls["Qr"] = geqrf;
  calls["cusolver_orgqr_ffi"] =
      calls["ProductOfElementaryHouseholderReflectors"] = orgqr;
  calls["cusolver_syevd_ffi"] = syevd;
  calls["LuDecomposition"] =
      onMatrices(1, 3, /*isSquare=*/false, callLuDecomposition);
  calls["cu_lu_pivots_to_permutation"] = withForm(1, 1, callPivots);
}

//===- Fourier.cpp - Transforms by their definition -----------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;
using Complex = std::complex<double>;

/// exp(2 pi i k / size); a quarter of the circle is exactly i, so that sums of
/// reals have no imaginary dust that chooses a branch later.
static Complex root(int64_t k, int64_t size) {
  static const Complex quarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  int64_t quarter = 4 * k / size, rest = 4 * k - quarter * size;
  Complex phase = quarters[quarter % 4];
  return rest == 0 ? phase : phase * std::polar(1.0, M_PI / 2 * rest / size);
}

/// Sum over n of x[n] exp(sign 2 pi i k n / N), along `dim`.
static Array transform(const Array &x, int64_t dim, double sign) {
  int64_t size = x.dim(dim);
  std::vector<Complex> roots;
  for (int64_t k = 0; k < size; ++k)
    roots.push_back(sign > 0 ? root(k, size) : std::conj(root(k, size)));
  Array result(x.format(), x.shape());
  int64_t next = 0;
  forEachIndex(x.shape(), [&](ArrayRef<int64_t> index) {
    Shape from(index);
    Complex sum = 0;
    for (int64_t n = 0; n < size; ++n) {
      from[dim] = n;
      sum += x.at(from).complex() * roots[index[dim] * n % size];
    }
    result.set(next++) = Element::of(sum);
  });
  return result;
}

/// `x` with `size` elements along its last dim: cut, or with zeros behind.
static Array resized(const Array &x, int64_t size) {
  Shape shape(x.shape());
  shape.back() = size;
  Array result(x.format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    result.set(next++) = index.back() < x.dim(x.rank() - 1)
                             ? x.at(index)
                             : Element::of(Complex(0, 0));
  });
  return result;
}

static FailureOr<Values> evaluateFft(Evaluator &evaluator, stablehlo::FftOp op,
                                     ArrayRef<Array> in) {
  ArrayRef<int64_t> length = op.getFftLength();
  stablehlo::FftType kind = op.getFftType();
  bool isInverse =
      kind == stablehlo::FftType::IFFT || kind == stablehlo::FftType::IRFFT;
  // Computed in f64 throughout.
  Format wide{Format::Complex, 64, true, &llvm::APFloat::IEEEdouble()},
      format = formatOf(op.getResult());
  Array x(wide, in[0].shape());
  for (int64_t i = 0; i < x.size(); ++i)
    x.set(i) = Element::of(
        Complex(in[0][i].real, in[0].format().isComplex() ? in[0][i].imag : 0));
  int64_t first = x.rank() - length.size(), last = x.rank() - 1;
  int64_t work = 0;
  for (int64_t size : length)
    work += size * countElements(x.shape());
  if (failed(evaluator.spend(op, work)))
    return failure();
  double sign = isInverse ? 1 : -1;
  // A real signal's transform has the second half of its last dim conjugated:
  // all other dims are transformed before it is made whole.
  for (int64_t dim = first; dim < last; ++dim)
    x = transform(x, dim, sign);
  if (kind == stablehlo::FftType::IRFFT) {
    int64_t size = length.back();
    Array half = x;
    x = resized(x, size);
    int64_t next = 0;
    forEachIndex(x.shape(), [&](ArrayRef<int64_t> index) {
      // The first element, and the middle one, are real.
      Shape from(index);
      bool isMirrored = index.back() > size / 2;
      from.back() = isMirrored ? size - index.back() : index.back();
      Complex value =
          from.back() < half.dim(last) ? half.at(from).complex() : 0;
      if (from.back() == 0 || 2 * from.back() == size)
        value = value.real();
      x.set(next++) = Element::of(isMirrored ? std::conj(value) : value);
    });
  }
  x = transform(x, last, sign);
  if (kind == stablehlo::FftType::RFFT && length.back() > 0)
    x = resized(x, length.back() / 2 + 1);
  double scale =
      isInverse ? 1.0 / std::max<int64_t>(countElements(length), 1) : 1;
  Array result(format, x.shape());
  for (int64_t i = 0; i < result.size(); ++i)
    if (format.isComplex())
      result.put(i, x[i].complex() * scale);
    else
      result.put(i, x[i].real * scale);
  return Values{result};
}

void shardc::interpreter::addFourier(Table &table) {
  table.add<stablehlo::FftOp>(evaluateFft);
}

//===- ReproducibleProducts.cpp - Products and transforms in any cut ------===//
#include "Reproducible.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::import::reproducible;
using namespace shardc::stablehlo;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

using Contract = llvm::function_ref<Value(ExactSums &, Value, Value)>;

/// The sums of products of `lhs` and `rhs` that `contract` takes, of floats, in
/// elements of f64.
static Value exactProduct(ExactSums &sums, Value lhs, ArrayRef<int64_t> lhsDims,
                          Value rhs, ArrayRef<int64_t> rhsDims,
                          ExactSums::Count count, Contract contract) {
  return sums.sumOfProducts(
      lhs, lhsDims, rhs, rhsDims, count,
      [&](Value x, Value y) { return contract(sums, x, y); });
}

static LogicalResult rewriteProduct(Operation *op, ArrayRef<int64_t> lhsDims,
                                    ArrayRef<int64_t> rhsDims,
                                    ArrayRef<int64_t> sizes,
                                    Contract contract) {
  RankedTensorType type = Ops::typeOf(op->getResult(0));
  if (spmd::contract::WholeSum::has(op) || !isRounded(type) || isOne(sizes) ||
      llvm::is_contained(sizes, 0) || type.getNumElements() == 0)
    return success();
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  ExactSums sums(op);
  Ops &ops = sums.ops;
  ExactSums::Count count = sums.countOf(meshOf(op), sizes);
  if (isFloat(lhs) && isFloat(rhs) && isa<FloatType>(type.getElementType())) {
    Value sum = exactProduct(sums, lhs, lhsDims, rhs, rhsDims, count, contract);
    replace(op, sums.finish(sum, type.getElementType()));
    return success();
  }
  if (!isComplex(lhs) || !isComplex(rhs) ||
      !isa<ComplexType>(type.getElementType()))
    return refuse(op, "its factors are of different kinds");
  Type part =
      cast<ComplexType>(Ops::typeOf(lhs).getElementType()).getElementType();
  auto real = [&](Value x) -> Value {
    return RealOp::create(ops.b, Ops::withElement(x, part), x);
  };
  auto imaginary = [&](Value x) -> Value {
    return ImagOp::create(ops.b, Ops::withElement(x, part), x);
  };
  auto multiply = [&](Value x, Value y) {
    return exactProduct(sums, x, lhsDims, y, rhsDims, count, contract);
  };
  Value lhsRe = real(lhs), lhsIm = imaginary(lhs), rhsRe = real(rhs),
        rhsIm = imaginary(rhs);
  Value re = ops.op<SubtractOp>(multiply(lhsRe, rhsRe), multiply(lhsIm, rhsIm));
  Value im = ops.op<AddOp>(multiply(lhsRe, rhsIm), multiply(lhsIm, rhsRe));
  Type resultPart = cast<ComplexType>(type.getElementType()).getElementType();
  Value joined = ComplexOp::create(ops.b, type, sums.finish(re, resultPart),
                                   sums.finish(im, resultPart));
  replace(op, joined);
  return success();
}

LogicalResult reproducible::rewrite(DotGeneralOp op) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  ArrayRef<int64_t> lhsDims = numbers.getLhsContractingDimensions(),
                    rhsDims = numbers.getRhsContractingDimensions();
  return rewriteProduct(
      op, lhsDims, rhsDims, sizesOf(op.getLhs(), lhsDims),
      [&](ExactSums &sums, Value x, Value y) -> Value {
        return DotGeneralOp::create(
            sums.ops.b,
            Ops::withElement(op.getResult(), sums.ops.b.getF64Type()), x, y,
            numbers, /*precision_config=*/nullptr, /*algorithm=*/nullptr);
      });
}

LogicalResult reproducible::rewrite(ConvolutionOp op) {
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  // What one image and one feature of the result are made of.
  auto allBut = [](Value value, int64_t kept) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < Ops::typeOf(value).getRank(); ++dim)
      if (dim != kept)
        dims.push_back(dim);
    return dims;
  };
  SmallVector<int64_t> lhsDims = allBut(op.getLhs(),
                                        numbers.getInputBatchDimension()),
                       rhsDims =
                           allBut(op.getRhs(),
                                  numbers.getKernelOutputFeatureDimension());
  return rewriteProduct(
      op, lhsDims, rhsDims, sizesOf(op.getRhs(), rhsDims),
      [&](ExactSums &sums, Value x, Value y) -> Value {
        OperationState state(
            op.getLoc(), op->getName(), {x, y},
            {Ops::withElement(op.getResult(), sums.ops.b.getF64Type())});
        state.propertiesAttr = op->getPropertiesAsAttribute();
        return sums.ops.b.create(state)->getResult(0);
      });
}

//===----------------------------------------------------------------------===//
// fft
//===----------------------------------------------------------------------===//

/// A transform of several dims is one of each after the other, in one order
/// whatever is cut, and a line is transformed where it is whole.
LogicalResult reproducible::rewrite(FftOp op) {
  Ops ops(op);
  Value value = op.getOperand();
  int64_t rank = Ops::typeOf(value).getRank(), last = rank - 1;
  ArrayRef<int64_t> lengths = op.getFftLength();
  int64_t first = rank - static_cast<int64_t>(lengths.size());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq(first, rank));
  FftType kind = op.getFftType();
  // The real side of the last dim comes first or last of all.
  if (kind == FftType::RFFT)
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
  auto swapped = [&](Value from, int64_t dim) -> Value {
    if (dim == last)
      return from;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                         shape(Ops::typeOf(from).getShape());
    std::swap(order[dim], order[last]);
    std::swap(shape[dim], shape[last]);
    return TransposeOp::create(ops.b, Ops::typeOf(from).clone(shape), from,
                               order);
  };
  for (int64_t dim : dims) {
    bool isOwn = dim == last;
    FftType each = isOwn                    ? kind
                   : kind == FftType::RFFT  ? FftType::FFT
                   : kind == FftType::IRFFT ? FftType::IFFT
                                            : kind;
    Value transposed = swapped(value, dim);
    SmallVector<int64_t> shape(Ops::typeOf(transposed).getShape());
    if (isOwn)
      shape.back() = Ops::typeOf(op.getResult()).getDimSize(last);
    Type element = isOwn ? Ops::typeOf(op.getResult()).getElementType()
                         : Ops::typeOf(transposed).getElementType();
    auto transform =
        FftOp::create(ops.b, RankedTensorType::get(shape, element), transposed,
                      each, ArrayRef<int64_t>{lengths[dim - first]});
    spmd::contract::WholeLines::set(transform);
    value = swapped(transform.getResult(), dim);
  }
  replace(op, value);
  return success();
}

//===- Shapes.cpp - Constants, and elements in other places ---------------===//
#include "Evaluator.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

/// The integers of a one-dimensional array.
static Shape integersOf(const Array &array) {
  Shape values;
  for (int64_t i = 0; i < array.size(); ++i)
    values.push_back(array.integer(i));
  return values;
}

/// The sizes in a one-dimensional array; an error on `op` for one below 0.
static FailureOr<Shape> sizesOf(Operation *op, const Array &array) {
  Shape sizes = integersOf(array);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0)
      return op->emitError() << "has " << size << " elements in dim " << dim
                             << " when it runs, expected 0 or more";
  return sizes;
}

template <typename OpT>
static FailureOr<Values> evaluateConstant(Evaluator &, OpT op,
                                          ArrayRef<Array>) {
  std::optional<Array> array = Array::read(op.getValue());
  if (!array)
    return Evaluator::unknown(op, "a constant of elements of another kind");
  return Values{*array};
}

static FailureOr<Values>
evaluateConstantLike(Evaluator &, chlo::ConstantLikeOp op, ArrayRef<Array> in) {
  Array result(in[0].format(), in[0].shape());
  auto value = DenseElementsAttr::get(
      RankedTensorType::get({}, cast<TypedAttr>(op.getValue()).getType()),
      ArrayRef<Attribute>(op.getValue()));
  result.fill((*Array::read(value))[0]);
  return Values{result};
}

static Array countAlong(Format format, ArrayRef<int64_t> shape, int64_t dim) {
  Array result(format, shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    if (format.isInteger())
      result.put(next++, index[dim]);
    else if (format.isFloat())
      result.put(next++, static_cast<double>(index[dim]));
    else
      result.put(next++, std::complex<double>(index[dim], 0));
  });
  return result;
}

static FailureOr<Values> evaluateIota(Evaluator &, stablehlo::IotaOp op,
                                      ArrayRef<Array>) {
  auto type = cast<RankedTensorType>(op.getType());
  assert(type.hasStaticShape() && "the op's verifier asks for it");
  return Values{countAlong(formatOf(op.getResult()), type.getShape(),
                           op.getIotaDimension())};
}

static FailureOr<Values> evaluateDynamicIota(Evaluator &,
                                             stablehlo::DynamicIotaOp op,
                                             ArrayRef<Array> in) {
  FailureOr<Shape> shape = sizesOf(op, in[0]);
  if (failed(shape))
    return failure();
  return Values{
      countAlong(formatOf(op.getResult()), *shape, op.getIotaDimension())};
}

static FailureOr<Values> broadcastTo(Operation *op, const Array &operand,
                                     ArrayRef<int64_t> dims,
                                     ArrayRef<int64_t> shape) {
  for (auto [from, to] : llvm::enumerate(dims))
    if (operand.dim(from) != 1 && operand.dim(from) != shape[to])
      return op->emitError()
             << "spreads dim " << from << " of " << operand.dim(from)
             << " elements along one of " << shape[to]
             << " when it runs, expected 1 or as many";
  Array result(operand.format(), shape);
  Shape from(operand.rank());
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (int64_t d = 0; d < operand.rank(); ++d)
      from[d] = operand.dim(d) == 1 ? 0 : index[dims[d]];
    result.set(next++) = operand.at(from);
  });
  return Values{result};
}

static FailureOr<Values> evaluateBroadcastInDim(Evaluator &,
                                                stablehlo::BroadcastInDimOp op,
                                                ArrayRef<Array> in) {
  Shape shape(cast<RankedTensorType>(op.getType()).getShape());
  for (auto [i, dim] : llvm::enumerate(op.getBroadcastDimensions()))
    if (ShapedType::isDynamic(shape[dim]))
      shape[dim] = in[0].dim(i);
  assert(llvm::none_of(shape, ShapedType::isDynamic) &&
         "the op's verifier asks for an operand's dim");
  return broadcastTo(op, in[0], op.getBroadcastDimensions(), shape);
}

static FailureOr<Values>
evaluateDynamicBroadcast(Evaluator &, stablehlo::DynamicBroadcastInDimOp op,
                         ArrayRef<Array> in) {
  FailureOr<Shape> shape = sizesOf(op, in[1]);
  if (failed(shape))
    return failure();
  return broadcastTo(op, in[0], op.getBroadcastDimensions(), *shape);
}

static FailureOr<Values>
evaluateBroadcast(Evaluator &, stablehlo::BroadcastOp op, ArrayRef<Array> in) {
  Shape shape(op.getBroadcastSizes()), dims;
  for (int64_t d = 0; d < in[0].rank(); ++d) {
    dims.push_back(shape.size());
    shape.push_back(in[0].dim(d));
  }
  return broadcastTo(op, in[0], dims, shape);
}

static FailureOr<Values> evaluateReshape(Evaluator &, stablehlo::ReshapeOp op,
                                         ArrayRef<Array> in) {
  Shape shape(cast<RankedTensorType>(op.getType()).getShape());
  int64_t known = 1, open = 0;
  for (int64_t size : shape)
    ShapedType::isDynamic(size) ? ++open : known *= size;
  if (open > 1 || (open == 1 && known == 0))
    return Evaluator::unknown(op, "reshape to several unknown sizes");
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = in[0].size() / known;
  if (countElements(shape) != in[0].size())
    return op.emitError() << "has " << in[0].size()
                          << " elements when it runs, expected "
                          << countElements(shape);
  return Values{in[0].reshaped(shape)};
}

static FailureOr<Values> evaluateDynamicReshape(Evaluator &,
                                                stablehlo::DynamicReshapeOp op,
                                                ArrayRef<Array> in) {
  FailureOr<Shape> shape = sizesOf(op, in[1]);
  if (failed(shape))
    return failure();
  if (countElements(*shape) != in[0].size())
    return op.emitError() << "has " << in[0].size()
                          << " elements when it runs, expected "
                          << countElements(*shape);
  return Values{in[0].reshaped(*shape)};
}

static FailureOr<Values>
evaluateTranspose(Evaluator &, stablehlo::TransposeOp op, ArrayRef<Array> in) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(in[0].dim(dim));
  Array result(in[0].format(), shape);
  Shape from(shape.size());
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [i, dim] : llvm::enumerate(permutation))
      from[dim] = index[i];
    result.set(next++) = in[0].at(from);
  });
  return Values{result};
}

static FailureOr<Values> evaluateReverse(Evaluator &, stablehlo::ReverseOp op,
                                         ArrayRef<Array> in) {
  Array result(in[0].format(), in[0].shape());
  int64_t next = 0;
  forEachIndex(in[0].shape(), [&](ArrayRef<int64_t> index) {
    Shape from(index);
    for (int64_t dim : op.getDimensions())
      from[dim] = in[0].dim(dim) - 1 - index[dim];
    result.set(next++) = in[0].at(from);
  });
  return Values{result};
}

/// All elements one behind the other, bit by bit, lowest first.
static std::vector<bool> allBits(const Array &array) {
  std::vector<bool> bits;
  auto append = [&](uint64_t word) {
    for (unsigned i = 0; i < array.format().bits; ++i)
      bits.push_back(word >> i & 1);
  };
  for (int64_t i = 0; i < array.size(); ++i) {
    append(array.format().isInteger() ? array[i].integer
                                      : bitsOf(array.format(), array[i].real));
    if (array.format().isComplex())
      append(bitsOf(array.format(), array[i].imag));
  }
  return bits;
}

static FailureOr<Values> evaluateBitcast(Evaluator &,
                                         stablehlo::BitcastConvertOp op,
                                         ArrayRef<Array> in) {
  std::vector<bool> bits = allBits(in[0]);
  Format format = formatOf(op.getResult());
  auto widthOf = [](const Format &f) {
    return f.bits * (f.isComplex() ? 2 : 1);
  };
  Shape shape(in[0].shape());
  unsigned from = widthOf(in[0].format()), to = widthOf(format);
  if (from > to)
    shape.push_back(from / to);
  else if (from < to)
    shape.pop_back();
  Array result(format, shape);
  size_t next = 0;
  auto word = [&] {
    uint64_t value = 0;
    for (unsigned i = 0; i < format.bits; ++i)
      value |= uint64_t(bits[next++]) << i;
    return value;
  };
  for (int64_t i = 0; i < result.size(); ++i) {
    if (format.isInteger()) {
      result.put(i, static_cast<int64_t>(word()));
      continue;
    }
    result.set(i).real = floatOf(format, word());
    if (format.isComplex())
      result.set(i).imag = floatOf(format, word());
  }
  return Values{result};
}

static FailureOr<Values> evaluateDimensionSize(Evaluator &,
                                               stablehlo::GetDimensionSizeOp op,
                                               ArrayRef<Array> in) {
  return Values{Array::scalar(Format::int32(),
                              Element::of(in[0].dim(op.getDimension())))};
}

static FailureOr<Values> takeSlice(Operation *op, const Array &operand,
                                   ArrayRef<int64_t> starts,
                                   ArrayRef<int64_t> limits,
                                   ArrayRef<int64_t> strides) {
  Shape box;
  for (auto [dim, start, limit, stride] :
       llvm::enumerate(starts, limits, strides)) {
    int64_t size = operand.dim(dim);
    if (start < 0 || limit > size || stride < 1)
      return op->emitError()
             << "takes " << start << ':' << limit << " by " << stride
             << " of dim " << dim << " when it runs, expected a step of 1 or "
             << "more, inside of its " << size << " elements";
    box.push_back(std::max<int64_t>((limit - start + stride - 1) / stride, 0));
  }
  return Values{operand.slice(starts, box, strides)};
}

static FailureOr<Values> evaluateSlice(Evaluator &, stablehlo::SliceOp op,
                                       ArrayRef<Array> in) {
  return takeSlice(op, in[0], op.getStartIndices(), op.getLimitIndices(),
                   op.getStrides());
}

static FailureOr<Values>
evaluateRealDynamicSlice(Evaluator &, stablehlo::RealDynamicSliceOp op,
                         ArrayRef<Array> in) {
  return takeSlice(op, in[0], integersOf(in[1]), integersOf(in[2]),
                   integersOf(in[3]));
}

static FailureOr<Values> evaluateConcatenate(Evaluator &,
                                             stablehlo::ConcatenateOp op,
                                             ArrayRef<Array> in) {
  return Values{Array::joined(in, op.getDimension())};
}

static Array padArray(const Array &operand, Element value,
                      ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                      ArrayRef<int64_t> interior) {
  Shape shape;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    int64_t size = operand.dim(d),
            inner = size + (size > 0 ? (size - 1) * interior[d] : 0);
    shape.push_back(std::max<int64_t>(low[d] + inner + high[d], 0));
  }
  Array result(operand.format(), shape);
  result.fill(value);
  Shape to(operand.rank());
  int64_t next = 0;
  forEachIndex(operand.shape(), [&](ArrayRef<int64_t> index) {
    bool isInside = true;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      to[d] = low[d] + index[d] * (interior[d] + 1);
      isInside &= to[d] >= 0 && to[d] < shape[d];
    }
    if (isInside)
      result.set(to) = operand[next];
    ++next;
  });
  return result;
}

static FailureOr<Values> evaluatePad(Evaluator &, stablehlo::PadOp op,
                                     ArrayRef<Array> in) {
  return Values{padArray(in[0], in[1][0], op.getEdgePaddingLow(),
                         op.getEdgePaddingHigh(), op.getInteriorPadding())};
}

static FailureOr<Values> evaluateDynamicPad(Evaluator &,
                                            stablehlo::DynamicPadOp op,
                                            ArrayRef<Array> in) {
  return Values{padArray(in[0], in[1][0], integersOf(in[2]), integersOf(in[3]),
                         integersOf(in[4]))};
}

void shardc::interpreter::addShapes(Table &table) {
  table.add<stablehlo::ConstantOp>(evaluateConstant<stablehlo::ConstantOp>);
  table.add<chlo::ConstantOp>(evaluateConstant<chlo::ConstantOp>);
  table.add<sdy::ConstantOp>(evaluateConstant<sdy::ConstantOp>);
  table.add<chlo::ConstantLikeOp>(evaluateConstantLike);
  table.add<stablehlo::IotaOp>(evaluateIota);
  table.add<stablehlo::DynamicIotaOp>(evaluateDynamicIota);
  table.add<stablehlo::BroadcastInDimOp>(evaluateBroadcastInDim);
  table.add<stablehlo::DynamicBroadcastInDimOp>(evaluateDynamicBroadcast);
  table.add<stablehlo::BroadcastOp>(evaluateBroadcast);
  table.add<stablehlo::ReshapeOp>(evaluateReshape);
  table.add<stablehlo::DynamicReshapeOp>(evaluateDynamicReshape);
  table.add<stablehlo::TransposeOp>(evaluateTranspose);
  table.add<stablehlo::ReverseOp>(evaluateReverse);
  table.add<stablehlo::BitcastConvertOp>(evaluateBitcast);
  table.add<stablehlo::GetDimensionSizeOp>(evaluateDimensionSize);
  table.add<stablehlo::SliceOp>(evaluateSlice);
  table.add<stablehlo::RealDynamicSliceOp>(evaluateRealDynamicSlice);
  table.add<stablehlo::ConcatenateOp>(evaluateConcatenate);
  table.add<stablehlo::PadOp>(evaluatePad);
  table.add<stablehlo::DynamicPadOp>(evaluateDynamicPad);
}

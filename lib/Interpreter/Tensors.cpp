//===- Tensors.cpp - Ops of tensor and arith on one rank ------------------===//
#include "Evaluator.h"
#include "Ranks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <algorithm>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

/// The number of each of `mixed`, of which operands are the next of `in`.
static Shape numbersOf(ArrayRef<int64_t> mixed, ArrayRef<Array> in,
                       size_t &next) {
  Shape numbers;
  for (int64_t number : mixed)
    numbers.push_back(ShapedType::isDynamic(number) ? in[next++].integer()
                                                    : number);
  return numbers;
}

/// The shape that `type` says, its open sizes taken in order from the dims of
/// `actual` that are not dropped.
static Shape reducedShape(RankedTensorType type, ArrayRef<int64_t> actual) {
  Shape shape;
  size_t from = 0;
  for (int64_t size : type.getShape()) {
    int64_t left = type.getRank() - shape.size();
    // Dims of one are dropped where the type has fewer.
    while (from + left < actual.size() && actual[from] == 1 && size != 1)
      ++from;
    shape.push_back(from < actual.size() ? actual[from++] : 1);
  }
  return shape;
}

/// `array` under another shape, of as many elements.
static FailureOr<Values> reshape(Operation *op, const Array &array,
                                 ArrayRef<int64_t> shape) {
  if (countElements(shape) != array.size())
    return op->emitError() << "gives " << array.size()
                           << " elements the shape of " << countElements(shape);
  return Values{array.reshaped(shape)};
}

static FailureOr<Values> extractSlice(Evaluator &, tensor::ExtractSliceOp op,
                                      ArrayRef<Array> in) {
  size_t next = 1;
  Shape offsets = numbersOf(op.getStaticOffsets(), in, next),
        sizes = numbersOf(op.getStaticSizes(), in, next),
        strides = numbersOf(op.getStaticStrides(), in, next);
  for (int64_t d = 0; d < in[0].rank(); ++d)
    if (sizes[d] < 0 ||
        (sizes[d] > 0 &&
         (offsets[d] < 0 ||
          offsets[d] + (sizes[d] - 1) * strides[d] >= in[0].dim(d))))
      return op.emitError()
             << "reads outside of its operand in dim " << d << ": " << sizes[d]
             << " from " << offsets[d] << " on, of " << in[0].dim(d);
  Array part = in[0].slice(offsets, sizes, strides);
  return reshape(op, part, reducedShape(op.getType(), sizes));
}

static FailureOr<Values> insertSlice(Evaluator &, tensor::InsertSliceOp op,
                                     ArrayRef<Array> in) {
  size_t next = 2;
  Shape offsets = numbersOf(op.getStaticOffsets(), in, next),
        sizes = numbersOf(op.getStaticSizes(), in, next),
        strides = numbersOf(op.getStaticStrides(), in, next);
  if (llvm::any_of(strides, [](int64_t stride) { return stride != 1; }))
    return Evaluator::unknown(op, "a slice with strides that is put in");
  for (int64_t d = 0; d < in[1].rank(); ++d)
    if (sizes[d] > 0 &&
        (offsets[d] < 0 || offsets[d] + sizes[d] > in[1].dim(d)))
      return op.emitError() << "writes outside of its operand in dim " << d;
  if (countElements(sizes) != in[0].size())
    return op.emitError() << "puts in " << in[0].size()
                          << " elements where there are "
                          << countElements(sizes);
  Array result = in[1];
  result.write(in[0].reshaped(sizes), offsets);
  return Values{result};
}

static FailureOr<Values> padTensor(Evaluator &evaluator, tensor::PadOp op,
                                   ArrayRef<Array> in) {
  size_t next = 1;
  Shape low = numbersOf(op.getStaticLow(), in, next),
        high = numbersOf(op.getStaticHigh(), in, next), shape;
  Values zeros(in[0].rank(),
               Array::scalar(indexFormat(), Element::of(int64_t(0))));
  FailureOr<Values> value = evaluator.apply(op.getRegion(), zeros);
  if (failed(value))
    return failure();
  for (int64_t d = 0; d < in[0].rank(); ++d) {
    if (low[d] < 0 || high[d] < 0)
      return op.emitError() << "pads by a negative amount";
    shape.push_back(low[d] + in[0].dim(d) + high[d]);
  }
  Array result(in[0].format(), shape);
  result.fill((*value)[0][0]);
  result.write(in[0], low);
  return Values{result};
}

static FailureOr<Values> concatenate(Evaluator &, tensor::ConcatOp op,
                                     ArrayRef<Array> in) {
  auto joined = static_cast<int64_t>(op.getDim());
  for (const Array &part : in)
    for (int64_t d = 0; d < part.rank(); ++d)
      if (d != joined && part.dim(d) != in[0].dim(d))
        return op.emitError() << "joins parts of " << part.dim(d) << " and "
                              << in[0].dim(d) << " elements in dim " << d;
  return Values{Array::joined(in, op.getDim())};
}

static FailureOr<Values> expandShape(Evaluator &, tensor::ExpandShapeOp op,
                                     ArrayRef<Array> in) {
  size_t next = 1;
  return reshape(op, in[0], numbersOf(op.getStaticOutputShape(), in, next));
}

static FailureOr<Values> collapseShape(Evaluator &, tensor::CollapseShapeOp op,
                                       ArrayRef<Array> in) {
  Shape shape;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= in[0].dim(dim);
    shape.push_back(size);
  }
  return Values{in[0].reshaped(shape)};
}

static FailureOr<Values> fromElements(Evaluator &, tensor::FromElementsOp op,
                                      ArrayRef<Array> in) {
  Array result(formatOf(op.getResult()), op.getType().getShape());
  for (auto [i, element] : llvm::enumerate(in))
    result.set(i) = element[0];
  return Values{result};
}

/// Whoever reads it before it is written is found.
static FailureOr<Values> empty(Evaluator &, tensor::EmptyOp op,
                               ArrayRef<Array> in) {
  size_t next = 0;
  Array result(formatOf(op.getResult()),
               numbersOf(op.getType().getShape(), in, next));
  result.fill(poison(result.format()));
  return Values{result};
}

static FailureOr<Values> extractElement(Evaluator &, tensor::ExtractOp op,
                                        ArrayRef<Array> in) {
  Shape at;
  for (auto [d, index] : llvm::enumerate(in.drop_front())) {
    at.push_back(index.integer());
    if (at.back() < 0 || at.back() >= in[0].dim(d))
      return op.emitError()
             << "reads element " << at.back() << " of " << in[0].dim(d);
  }
  return Values{Array::scalar(in[0].format(), in[0].at(at))};
}

static FailureOr<Values> dimOf(Evaluator &, tensor::DimOp op,
                               ArrayRef<Array> in) {
  int64_t dim = in[1].integer();
  if (dim < 0 || dim >= in[0].rank())
    return op.emitError() << "asks for dim " << dim << " of " << in[0].rank();
  return Values{Array::scalar(indexFormat(), Element::of(in[0].dim(dim)))};
}

static FailureOr<Values> forward(Evaluator &, Operation *op,
                                 ArrayRef<Array> in) {
  return Values{in[0]};
}

static FailureOr<Values> constant(Evaluator &, arith::ConstantOp op,
                                  ArrayRef<Array>) {
  if (auto elements = dyn_cast<ElementsAttr>(op.getValue()))
    if (std::optional<Array> array = Array::read(elements))
      return Values{*array};
  Format format = formatOf(op.getResult());
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return Values{Array::scalar(
        format, Element::of(format.wrap(integer.getValue().getSExtValue())))};
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    return Values{Array::scalar(format, Element::of(real.getValueAsDouble()))};
  return Evaluator::unknown(op, "a constant of this kind");
}

/// Between integers of any width, and indices.
static FailureOr<Values> castInteger(Evaluator &, Operation *op,
                                     ArrayRef<Array> in) {
  Format format = formatOf(op->getResult(0));
  Array result(format, in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, in[0][i].integer);
  return Values{result};
}

static FailureOr<Values> convertInteger(Evaluator &, arith::SIToFPOp op,
                                        ArrayRef<Array> in) {
  Format format = formatOf(op.getResult());
  Array result(format, in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, double(in[0][i].integer));
  return Values{result};
}

template <int64_t (*function)(int64_t, int64_t)>
static FailureOr<Values> onIntegers(Evaluator &, Operation *op,
                                    ArrayRef<Array> in) {
  if (in[0].shape() != in[1].shape())
    return op->emitError() << "has operands of different shapes when it runs";
  Format format = formatOf(op->getResult(0));
  Array result(format, in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, function(in[0][i].integer, in[1][i].integer));
  return Values{result};
}

// As the processor computes them: modulo 2^64. What is undefined, a division by
// zero or of the least number by -1, is no trap.
static int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
static int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
static int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
static int64_t over(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? minus(0, a) : a / b;
}
static int64_t modulo(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
static int64_t least(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t most(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t bothBits(int64_t a, int64_t b) { return a & b; }
static int64_t anyBits(int64_t a, int64_t b) { return a | b; }
static int64_t differingBits(int64_t a, int64_t b) { return a ^ b; }
static int64_t ceilOver(int64_t a, int64_t b) {
  return over(a, b) + (modulo(a, b) != 0 && (a < 0) == (b < 0));
}
static int64_t floorOver(int64_t a, int64_t b) {
  return over(a, b) - (modulo(a, b) != 0 && (a < 0) != (b < 0));
}

static FailureOr<Values> applyMap(Evaluator &, Operation *op,
                                  ArrayRef<Array> in) {
  // Dims, then symbols.
  Type index = IndexType::get(op->getContext());
  SmallVector<Attribute> operands, made;
  for (const Array &operand : in)
    operands.push_back(IntegerAttr::get(index, operand.integer()));
  if (failed(op->getAttrOfType<AffineMapAttr>("map").getValue().constantFold(
          operands, made)))
    return Evaluator::unknown(op, "a map of indices that divides by zero");
  return Values{Array::scalar(
      indexFormat(), Element::of(cast<IntegerAttr>(made.front()).getInt()))};
}

static FailureOr<Values> compareIntegers(Evaluator &, arith::CmpIOp op,
                                         ArrayRef<Array> in) {
  int64_t a = in[0].integer(), b = in[1].integer();
  uint64_t x = a, y = b;
  bool holds = false;
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    holds = a == b;
    break;
  case arith::CmpIPredicate::ne:
    holds = a != b;
    break;
  case arith::CmpIPredicate::slt:
    holds = a < b;
    break;
  case arith::CmpIPredicate::sle:
    holds = a <= b;
    break;
  case arith::CmpIPredicate::sgt:
    holds = a > b;
    break;
  case arith::CmpIPredicate::sge:
    holds = a >= b;
    break;
  case arith::CmpIPredicate::ult:
    holds = x < y;
    break;
  case arith::CmpIPredicate::ule:
    holds = x <= y;
    break;
  case arith::CmpIPredicate::ugt:
    holds = x > y;
    break;
  case arith::CmpIPredicate::uge:
    holds = x >= y;
    break;
  }
  return Values{Array::scalar(Format::boolean(), Element::of(int64_t(holds)))};
}

static FailureOr<Values> selectOne(Evaluator &, arith::SelectOp op,
                                   ArrayRef<Array> in) {
  if (in[0].rank() != 0)
    return Evaluator::unknown(op, "a choice element by element");
  return Values{in[0].integer() != 0 ? in[1] : in[2]};
}

void shardc::interpreter::addTensors(Table &table) {
  table.add<tensor::ExtractSliceOp>(extractSlice);
  table.add<tensor::InsertSliceOp>(insertSlice);
  table.add<tensor::PadOp>(padTensor);
  table.add<tensor::ConcatOp>(concatenate);
  table.add<tensor::ExpandShapeOp>(expandShape);
  table.add<tensor::CollapseShapeOp>(collapseShape);
  table.add<tensor::FromElementsOp>(fromElements);
  table.add<tensor::ExtractOp>(extractElement);
  table.add<tensor::DimOp>(dimOf);
  table.add<tensor::EmptyOp>(empty);
  table.handlers["tensor.cast"] = forward;
  table.add<arith::ConstantOp>(constant);
  table.add<arith::CmpIOp>(compareIntegers);
  table.add<arith::SelectOp>(selectOne);
  table.add<arith::SIToFPOp>(convertInteger);
  table.handlers["arith.index_cast"] = table.handlers["arith.extsi"] =
      table.handlers["arith.trunci"] = castInteger;
  table.handlers["affine.apply"] = applyMap;
  table.handlers["arith.addi"] = onIntegers<plus>;
  table.handlers["arith.subi"] = onIntegers<minus>;
  table.handlers["arith.muli"] = onIntegers<times>;
  table.handlers["arith.divsi"] = table.handlers["arith.divui"] =
      onIntegers<over>;
  table.handlers["arith.ceildivsi"] = table.handlers["arith.ceildivui"] =
      onIntegers<ceilOver>;
  table.handlers["arith.floordivsi"] = onIntegers<floorOver>;
  table.handlers["arith.remsi"] = table.handlers["arith.remui"] =
      onIntegers<modulo>;
  table.handlers["arith.minsi"] = table.handlers["arith.minui"] =
      onIntegers<least>;
  table.handlers["arith.maxsi"] = table.handlers["arith.maxui"] =
      onIntegers<most>;
  table.handlers["arith.andi"] = onIntegers<bothBits>;
  table.handlers["arith.ori"] = onIntegers<anyBits>;
  table.handlers["arith.xori"] = onIntegers<differingBits>;
}

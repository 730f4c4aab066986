//===- Contractions.cpp - Sums of products --------------------------------===//
//
// Summed in f64 and rounded to the result's type once; integers modulo theirs.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {
/// A sum of products of elements of any format.
struct Sum {
  Format lhs, rhs, result;
  std::complex<double> complex = 0;
  double real = 0;
  uint64_t integer = 0;

  void add(const Element &a, const Element &b) {
    if (lhs.isInteger() && rhs.isInteger())
      integer +=
          static_cast<uint64_t>(a.integer) * static_cast<uint64_t>(b.integer);
    else if (lhs.isFloat() && rhs.isFloat())
      real += a.real * b.real;
    else
      complex += valueOf(lhs, a) * valueOf(rhs, b);
  }
  Element get() const {
    bool isInteger = lhs.isInteger() && rhs.isInteger(),
         isReal = lhs.isFloat() && rhs.isFloat();
    std::complex<double> value =
        isInteger ? static_cast<double>(static_cast<int64_t>(integer))
        : isReal  ? real
                  : complex;
    // Booleans are added by "or".
    if (result.isBoolean() && isInteger)
      return Element::of(int64_t(integer != 0));
    if (result.isInteger())
      return Element::of(result.wrap(
          isInteger ? integer : static_cast<int64_t>(value.real())));
    if (result.isFloat())
      return Element::of(result.round(value.real()));
    return Element::of(std::complex<double>(result.round(value.real()),
                                            result.round(value.imag())));
  }
  static std::complex<double> valueOf(const Format &format, const Element &e) {
    if (format.isInteger())
      return static_cast<double>(e.integer);
    return {e.real, format.isComplex() ? e.imag : 0};
  }
};
} // namespace

/// The dims of `rank` that are in neither list, ascending.
static Shape freeDims(int64_t rank, ArrayRef<int64_t> batching,
                      ArrayRef<int64_t> contracting) {
  Shape free;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batching, d) && !llvm::is_contained(contracting, d))
      free.push_back(d);
  return free;
}

static Shape sizesOf(const Array &array, ArrayRef<int64_t> dims) {
  Shape sizes;
  for (int64_t dim : dims)
    sizes.push_back(array.dim(dim));
  return sizes;
}

/// `array` with its dims in the order `dims`.
static Array permuted(const Array &array, ArrayRef<int64_t> dims) {
  Array result(array.format(), sizesOf(array, dims));
  Shape from(array.rank());
  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    for (auto [i, dim] : llvm::enumerate(dims))
      from[dim] = index[i];
    result.set(next++) = array.at(from);
  });
  return result;
}

static Array dotGeneral(const Array &lhs, const Array &rhs, Format format,
                        ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                        ArrayRef<int64_t> lhsContract,
                        ArrayRef<int64_t> rhsContract) {
  Shape lhsFree = freeDims(lhs.rank(), lhsBatch, lhsContract),
        rhsFree = freeDims(rhs.rank(), rhsBatch, rhsContract);
  // Both as batches of matrices whose last dim is summed over.
  auto order = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                  ArrayRef<int64_t> c) {
    Shape dims(a);
    dims.append(b.begin(), b.end());
    dims.append(c.begin(), c.end());
    return dims;
  };
  Array a = permuted(lhs, order(lhsBatch, lhsFree, lhsContract)),
        b = permuted(rhs, order(rhsBatch, rhsFree, rhsContract));
  int64_t batches = countElements(sizesOf(lhs, lhsBatch)),
          rows = countElements(sizesOf(lhs, lhsFree)),
          columns = countElements(sizesOf(rhs, rhsFree)),
          depth = countElements(sizesOf(lhs, lhsContract));
  Shape shape = order(sizesOf(lhs, lhsBatch), sizesOf(lhs, lhsFree),
                      sizesOf(rhs, rhsFree));
  Array result(format, shape);
  int64_t next = 0;
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        Sum sum{lhs.format(), rhs.format(), format};
        for (int64_t k = 0; k < depth; ++k)
          sum.add(a[(batch * rows + row) * depth + k],
                  b[(batch * columns + column) * depth + k]);
        result.set(next++) = sum.get();
      }
  return result;
}

static FailureOr<Values> evaluateDotGeneral(Evaluator &evaluator,
                                            stablehlo::DotGeneralOp op,
                                            ArrayRef<Array> in) {
  auto dims = op.getDotDimensionNumbers();
  int64_t depth =
      countElements(sizesOf(in[0], dims.getLhsContractingDimensions()));
  Array result = dotGeneral(
      in[0], in[1], formatOf(op.getResult()), dims.getLhsBatchingDimensions(),
      dims.getRhsBatchingDimensions(), dims.getLhsContractingDimensions(),
      dims.getRhsContractingDimensions());
  if (failed(evaluator.spend(op, result.size() * depth)))
    return failure();
  return Values{result};
}

static FailureOr<Values> evaluateDot(Evaluator &, stablehlo::DotOp op,
                                     ArrayRef<Array> in) {
  int64_t last = in[0].rank() - 1, first = 0;
  return Values{
      dotGeneral(in[0], in[1], formatOf(op.getResult()), {}, {}, last, first)};
}

/// Rows of groups, one behind the other; of each group its own product.
static FailureOr<Values> evaluateRaggedDot(Evaluator &, chlo::RaggedDotOp op,
                                           ArrayRef<Array> in) {
  auto dims = op.getRaggedDotDimensionNumbers();
  if (dims.getLhsRaggedDimensions().size() != 1 || in[2].rank() != 1)
    return Evaluator::unknown(op, "ragged_dot of several ragged dims, or with "
                                  "group sizes for each batch");
  int64_t ragged = dims.getLhsRaggedDimensions()[0], groups = in[2].size();
  const Array &lhs = in[0], &rhs = in[1];
  Format format = formatOf(op.getResult());
  bool isContracted =
      llvm::is_contained(dims.getLhsContractingDimensions(), ragged);
  if (llvm::is_contained(dims.getLhsBatchingDimensions(), ragged))
    return Values{dotGeneral(lhs, rhs, format, dims.getLhsBatchingDimensions(),
                             dims.getRhsBatchingDimensions(),
                             dims.getLhsContractingDimensions(),
                             dims.getRhsContractingDimensions())};
  // A group's elements of an operand; zeros elsewhere.
  auto only = [&](const Array &operand, int64_t dim, int64_t begin,
                  int64_t end) {
    Array part = operand;
    int64_t next = 0;
    forEachIndex(operand.shape(), [&](ArrayRef<int64_t> index) {
      if (index[dim] < begin || index[dim] >= end)
        part.set(next) = Element();
      ++next;
    });
    return part;
  };
  std::optional<Array> result;
  int64_t begin = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t end = begin + in[2].integer(group);
    Array rows = only(lhs, ragged, begin, end), matrix = rhs;
    if (!isContracted) {
      // The group's own matrix, its dim gone.
      int64_t dim = dims.getRhsGroupDimensions()[0];
      Shape starts(rhs.rank(), 0), box(rhs.shape());
      starts[dim] = group;
      box[dim] = 1;
      matrix = rhs.slice(starts, box);
      box.erase(box.begin() + dim);
      matrix = matrix.reshaped(box);
    }
    auto without = [&](ArrayRef<int64_t> list) {
      Shape shifted;
      for (int64_t d : list)
        shifted.push_back(
            !isContracted && d > dims.getRhsGroupDimensions()[0] ? d - 1 : d);
      return shifted;
    };
    Array product =
        dotGeneral(rows, matrix, format, dims.getLhsBatchingDimensions(),
                   without(dims.getRhsBatchingDimensions()),
                   dims.getLhsContractingDimensions(),
                   without(dims.getRhsContractingDimensions()));
    if (isContracted) {
      Shape shape(product.shape());
      shape.insert(shape.begin(), groups);
      if (!result)
        result = Array(format, shape);
      shape[0] = 1;
      Shape starts(shape.size(), 0);
      starts[0] = group;
      result->write(product.reshaped(shape), starts);
    } else if (!result) {
      result = product;
    } else {
      // Rows of other groups are zeros here.
      for (int64_t i = 0; i < product.size(); ++i)
        if (format.isInteger())
          result->put(i, (*result)[i].integer + product[i].integer);
        else
          result->set(i) =
              Element::of((*result)[i].complex() + product[i].complex());
    }
    begin = end;
  }
  if (result)
    return Values{*result};
  // Without groups nothing is added up.
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (!type.hasStaticShape())
    return Evaluator::unknown(op, "ragged_dot without groups, of open shape");
  return Values{Array(format, type.getShape())};
}

//===----------------------------------------------------------------------===//
// Products by named dims
//===----------------------------------------------------------------------===//

/// Sums over all letters that the result lacks, of products of one element of
/// each operand.
static FailureOr<Values> einsum(Evaluator &evaluator, Operation *op,
                                StringRef config, ArrayRef<Array> in) {
  auto [left, result] = config.split("->");
  SmallVector<StringRef> names;
  left.split(names, ',');
  for (StringRef &name : names)
    name = name.trim();
  result = result.trim();
  // Letters in the order of their loops: the result's, then those summed over.
  std::string letters = result.str();
  for (StringRef name : names)
    for (char letter : name)
      if (!StringRef(letters).contains(letter))
        letters += letter;
  Shape extents(letters.size(), -1);
  auto unknown = [&] {
    return Evaluator::unknown(op, "config \"" + config + "\"");
  };
  if (names.size() != in.size())
    return unknown();
  for (auto [name, array] : llvm::zip_equal(names, in)) {
    if (static_cast<int64_t>(name.size()) != array.rank())
      return unknown();
    for (auto [dim, letter] : llvm::enumerate(name)) {
      int64_t &extent = extents[letters.find(letter)];
      // A letter twice in one operand is a diagonal, which no exporter writes.
      if (name.count(letter) != 1 || (extent >= 0 && extent != array.dim(dim)))
        return unknown();
      extent = array.dim(dim);
    }
  }
  auto shape = ArrayRef(extents).take_front(result.size()),
       summed = ArrayRef(extents).drop_front(result.size());
  if (llvm::is_contained(extents, -1) || // a letter of the result alone
      llvm::any_of(result, [&](char c) { return result.count(c) != 1; }))
    return unknown();
  if (failed(evaluator.spend(op, countElements(extents))))
    return failure();
  Format one = in[0].format(), format = formatOf(op->getResult(0));
  Array made(format, shape);
  int64_t next = 0;
  auto elementOf = [&](size_t operand, ArrayRef<int64_t> outer,
                       ArrayRef<int64_t> inner) {
    Shape index;
    for (char letter : names[operand]) {
      size_t at = letters.find(letter);
      index.push_back(at < outer.size() ? outer[at] : inner[at - outer.size()]);
    }
    return in[operand].at(index);
  };
  Element unit = one.isInteger() ? Element::of(int64_t(1)) : Element::of(1.0);
  forEachIndex(shape, [&](ArrayRef<int64_t> outer) {
    Sum sum{one, in.back().format(), format};
    forEachIndex(summed, [&](ArrayRef<int64_t> inner) {
      sum.add(elementOf(0, outer, inner),
              in.size() == 1 ? unit : elementOf(1, outer, inner));
    });
    made.set(next++) = sum.get();
  });
  return Values{made};
}

static FailureOr<Values> evaluateEinsum(Evaluator &evaluator,
                                        stablehlo::EinsumOp op,
                                        ArrayRef<Array> in) {
  return einsum(evaluator, op, op.getEinsumConfig(), in);
}

static FailureOr<Values> evaluateUnaryEinsum(Evaluator &evaluator,
                                             stablehlo::UnaryEinsumOp op,
                                             ArrayRef<Array> in) {
  return einsum(evaluator, op, op.getEinsumConfig(), in);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
struct Window {
  SmallVector<int64_t> strides, lhsDilation, rhsDilation;
  SmallVector<std::pair<int64_t, int64_t>> padding;
  SmallVector<bool> reversal;
};
} // namespace

template <typename OpT> static Window windowOf(OpT op, size_t dims) {
  Window window;
  auto fill = [&](std::optional<ArrayRef<int64_t>> given) {
    return given ? SmallVector<int64_t>(*given) : SmallVector<int64_t>(dims, 1);
  };
  window.strides = fill(op.getWindowStrides());
  window.lhsDilation = fill(op.getLhsDilation());
  window.rhsDilation = fill(op.getRhsDilation());
  window.padding.assign(dims, {0, 0});
  window.reversal.assign(dims, false);
  if (std::optional<ArrayRef<bool>> reversal = op.getWindowReversal())
    window.reversal.assign(reversal->begin(), reversal->end());
  return window;
}

static Array convolve(const Array &lhs, const Array &rhs, Format format,
                      stablehlo::ConvDimensionNumbersAttr dims,
                      const Window &window, int64_t featureGroups,
                      int64_t batchGroups, ArrayRef<int64_t> type) {
  size_t spatial = dims.getInputSpatialDimensions().size();
  int64_t batch = lhs.dim(dims.getInputBatchDimension()),
          outputs = rhs.dim(dims.getKernelOutputFeatureDimension()),
          depth = rhs.dim(dims.getKernelInputFeatureDimension());
  Shape shape(lhs.rank()), kernel;
  shape[dims.getOutputBatchDimension()] = batch / batchGroups;
  shape[dims.getOutputFeatureDimension()] = outputs;
  for (size_t d = 0; d < spatial; ++d) {
    int64_t size = lhs.dim(dims.getInputSpatialDimensions()[d]),
            width = rhs.dim(dims.getKernelSpatialDimensions()[d]);
    int64_t dilated = size == 0 ? 0 : (size - 1) * window.lhsDilation[d] + 1;
    int64_t padded =
        dilated + window.padding[d].first + window.padding[d].second;
    int64_t reach = width == 0 ? 0 : (width - 1) * window.rhsDilation[d] + 1;
    int64_t output = dims.getOutputSpatialDimensions()[d];
    shape[output] =
        padded < reach ? 0 : (padded - reach) / window.strides[d] + 1;
    // Sums of nothing: as many as the type says.
    if (width == 0 && ShapedType::isStatic(type[output]))
      shape[output] = type[output];
    kernel.push_back(width);
  }
  Array result(format, shape);
  int64_t next = 0;
  Shape from(lhs.rank()), weight(rhs.rank());
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Sum sum{lhs.format(), rhs.format(), format};
    int64_t output = index[dims.getOutputFeatureDimension()];
    // Outputs of group g see features, or batches, of group g.
    int64_t featureGroup = output / (outputs / featureGroups),
            batchGroup = output / (outputs / batchGroups);
    from[dims.getInputBatchDimension()] =
        index[dims.getOutputBatchDimension()] +
        batchGroup * (batch / batchGroups);
    weight[dims.getKernelOutputFeatureDimension()] = output;
    forEachIndex(kernel, [&](ArrayRef<int64_t> at) {
      for (size_t d = 0; d < spatial; ++d) {
        int64_t place =
            index[dims.getOutputSpatialDimensions()[d]] * window.strides[d] +
            at[d] * window.rhsDilation[d] - window.padding[d].first;
        int64_t dim = dims.getInputSpatialDimensions()[d];
        if (place < 0 || place % window.lhsDilation[d] != 0 ||
            place / window.lhsDilation[d] >= lhs.dim(dim))
          return;
        from[dim] = place / window.lhsDilation[d];
        weight[dims.getKernelSpatialDimensions()[d]] =
            window.reversal[d] ? kernel[d] - 1 - at[d] : at[d];
      }
      for (int64_t feature = 0; feature < depth; ++feature) {
        from[dims.getInputFeatureDimension()] = featureGroup * depth + feature;
        weight[dims.getKernelInputFeatureDimension()] = feature;
        sum.add(lhs.at(from), rhs.at(weight));
      }
    });
    result.set(next++) = sum.get();
  });
  return result;
}

static FailureOr<Values> evaluateConvolution(Evaluator &evaluator,
                                             stablehlo::ConvolutionOp op,
                                             ArrayRef<Array> in) {
  auto dims = op.getDimensionNumbers();
  Window window = windowOf(op, dims.getInputSpatialDimensions().size());
  if (auto padding = op.getPadding()) {
    auto values = padding->getValues<int64_t>();
    for (size_t d = 0; d < window.padding.size(); ++d)
      window.padding[d] = {values[2 * d], values[2 * d + 1]};
  }
  Array result = convolve(in[0], in[1], formatOf(op.getResult()), dims, window,
                          op.getFeatureGroupCount(), op.getBatchGroupCount(),
                          op.getType().getShape());
  int64_t outputs = in[1].dim(dims.getKernelOutputFeatureDimension());
  if (failed(evaluator.spend(
          op, outputs == 0 ? 0 : result.size() * (in[1].size() / outputs))))
    return failure();
  return Values{result};
}

static FailureOr<Values> evaluateDynamicConv(Evaluator &,
                                             stablehlo::DynamicConvOp op,
                                             ArrayRef<Array> in) {
  auto dims = op.getDimensionNumbers();
  Window window = windowOf(op, dims.getInputSpatialDimensions().size());
  for (size_t d = 0; d < window.padding.size(); ++d)
    window.padding[d] = {in[2].integer(2 * d), in[2].integer(2 * d + 1)};
  return Values{convolve(in[0], in[1], formatOf(op.getResult()), dims, window,
                         op.getFeatureGroupCount(), op.getBatchGroupCount(),
                         op.getType().getShape())};
}

void shardc::interpreter::addContractions(Table &table) {
  table.add<stablehlo::DotGeneralOp>(evaluateDotGeneral);
  table.add<stablehlo::DotOp>(evaluateDot);
  table.add<chlo::RaggedDotOp>(evaluateRaggedDot);
  table.add<stablehlo::EinsumOp>(evaluateEinsum);
  table.add<stablehlo::UnaryEinsumOp>(evaluateUnaryEinsum);
  table.add<stablehlo::ConvolutionOp>(evaluateConvolution);
  table.add<stablehlo::DynamicConvOp>(evaluateDynamicConv);
}

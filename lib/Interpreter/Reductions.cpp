//===- Reductions.cpp - Many elements to one, windows, normalisation ------===//
#include "Evaluator.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {
/// Combines tuples of elements by a region, one after the other.
class Reducer {
public:
  Reducer(Evaluator &evaluator, Region &region, ArrayRef<Array> initial)
      : evaluator(evaluator), region(region), initial(initial) {
    Operation *single =
        initial.size() == 1 ? evaluator.singleOp(region) : nullptr;
    combine = single ? evaluator.binaryOf(single) : nullptr;
    // Sums of floats are kept in f64 and rounded at the end: no order is right.
    isSum = single && isa<stablehlo::AddOp>(single) &&
            initial[0].format().isFloat();
    format = initial[0].format();
    if (isSum)
      format.semantics = &llvm::APFloat::IEEEdouble();
  }

  void start() {
    values.clear();
    for (const Array &value : initial)
      values.push_back(value);
    one = initial[0][0];
  }
  LogicalResult add(ArrayRef<Array> inputs, int64_t at) {
    if (combine) {
      one = combine(format, one, inputs[0][at]);
      return success();
    }
    Values arguments = values;
    for (const Array &input : inputs)
      arguments.push_back(input.elementAt(at));
    FailureOr<Values> made = evaluator.apply(region, arguments);
    if (failed(made))
      return failure();
    values = *made;
    return success();
  }
  void finish(MutableArrayRef<Array> results, int64_t at) {
    if (combine) {
      results[0].set(at) =
          isSum ? Element::of(initial[0].format().round(one.real)) : one;
      return;
    }
    for (auto [result, value] : llvm::zip_equal(results, values))
      result.set(at) = value[0];
  }

private:
  Evaluator &evaluator;
  Region &region;
  ArrayRef<Array> initial;
  Binary combine = nullptr;
  bool isSum = false;
  Format format;
  Element one;
  Values values;
};
} // namespace

static FailureOr<Values> evaluateReduce(Evaluator &evaluator,
                                        stablehlo::ReduceOp op,
                                        ArrayRef<Array> in) {
  size_t count = in.size() / 2;
  ArrayRef<Array> inputs = in.take_front(count), initial = in.drop_front(count);
  Shape kept, reduced, keptDims, reducedDims;
  for (int64_t d = 0; d < inputs[0].rank(); ++d) {
    bool isReduced = llvm::is_contained(op.getDimensions(), d);
    (isReduced ? reduced : kept).push_back(inputs[0].dim(d));
    (isReduced ? reducedDims : keptDims).push_back(d);
  }
  Values results;
  for (const Array &input : inputs)
    results.push_back(Array(input.format(), kept));
  Reducer reducer(evaluator, op.getBody(), initial);
  if (failed(evaluator.spend(op, inputs[0].size())))
    return failure();
  bool isFailed = false;
  int64_t next = 0;
  Shape from(inputs[0].rank());
  forEachIndex(kept, [&](ArrayRef<int64_t> index) {
    for (auto [i, dim] : llvm::enumerate(keptDims))
      from[dim] = index[i];
    reducer.start();
    forEachIndex(reduced, [&](ArrayRef<int64_t> inner) {
      for (auto [i, dim] : llvm::enumerate(reducedDims))
        from[dim] = inner[i];
      isFailed = isFailed || failed(reducer.add(inputs, inputs[0].flat(from)));
    });
    reducer.finish(results, next++);
  });
  if (isFailed)
    return failure();
  return results;
}

namespace {
/// Windows over dims that are dilated and padded.
struct Windows {
  Shape sizes, strides, baseDilations, windowDilations;
  SmallVector<std::pair<int64_t, int64_t>> padding;

  Shape resultShape(ArrayRef<int64_t> shape) const {
    Shape result;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t dilated =
          shape[d] == 0 ? 0 : (shape[d] - 1) * baseDilations[d] + 1;
      int64_t padded = dilated + padding[d].first + padding[d].second;
      int64_t reach =
          sizes[d] == 0 ? 0 : (sizes[d] - 1) * windowDilations[d] + 1;
      result.push_back(padded < reach ? 0 : (padded - reach) / strides[d] + 1);
    }
    return result;
  }
  /// Visits the elements of `shape` in the window at `index`, in order;
  /// `outside` is called for what is no element.
  void visit(
      ArrayRef<int64_t> shape, ArrayRef<int64_t> index,
      llvm::function_ref<void(ArrayRef<int64_t>)> visitor,
      llvm::function_ref<void()> outside = [] {}) const {
    Shape from(shape.size());
    forEachIndex(sizes, [&](ArrayRef<int64_t> at) {
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t place = index[d] * strides[d] + at[d] * windowDilations[d] -
                        padding[d].first;
        if (place < 0 || place % baseDilations[d] != 0 ||
            place / baseDilations[d] >= shape[d]) {
          outside();
          return;
        }
        from[d] = place / baseDilations[d];
      }
      visitor(from);
    });
  }
};
} // namespace

static Shape orOnes(std::optional<ArrayRef<int64_t>> given, size_t rank) {
  return given ? Shape(*given) : Shape(rank, 1);
}

template <typename OpT>
static SmallVector<std::pair<int64_t, int64_t>> paddingOf(OpT op, size_t rank) {
  SmallVector<std::pair<int64_t, int64_t>> padding(rank, {0, 0});
  if (auto given = op.getPadding()) {
    auto values = given->template getValues<int64_t>();
    for (size_t d = 0; d < rank; ++d)
      padding[d] = {values[2 * d], values[2 * d + 1]};
  }
  return padding;
}

static FailureOr<Values> evaluateReduceWindow(Evaluator &evaluator,
                                              stablehlo::ReduceWindowOp op,
                                              ArrayRef<Array> in) {
  size_t count = in.size() / 2, rank = in[0].rank();
  ArrayRef<Array> inputs = in.take_front(count), initial = in.drop_front(count);
  Windows windows{Shape(op.getWindowDimensions()),
                  orOnes(op.getWindowStrides(), rank),
                  orOnes(op.getBaseDilations(), rank),
                  orOnes(op.getWindowDilations(), rank), paddingOf(op, rank)};
  Shape shape = windows.resultShape(inputs[0].shape());
  Values results;
  for (const Array &input : inputs)
    results.push_back(Array(input.format(), shape));
  if (failed(evaluator.spend(op, countElements(shape) *
                                     countElements(windows.sizes))))
    return failure();
  Reducer reducer(evaluator, op.getBody(), initial);
  bool isFailed = false;
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    reducer.start();
    // Padding, and holes between dilated elements, hold the initial values.
    windows.visit(
        inputs[0].shape(), index,
        [&](ArrayRef<int64_t> from) {
          isFailed =
              isFailed || failed(reducer.add(inputs, inputs[0].flat(from)));
        },
        [&] { isFailed = isFailed || failed(reducer.add(initial, 0)); });
    reducer.finish(results, next++);
  });
  if (isFailed)
    return failure();
  return results;
}

static FailureOr<Values>
evaluateSelectAndScatter(Evaluator &evaluator, stablehlo::SelectAndScatterOp op,
                         ArrayRef<Array> in) {
  const Array &operand = in[0], &source = in[1];
  size_t rank = operand.rank();
  Windows windows{orOnes(op.getWindowDimensions(), rank),
                  orOnes(op.getWindowStrides(), rank), Shape(rank, 1),
                  Shape(rank, 1), paddingOf(op, rank)};
  Array result(operand.format(), operand.shape());
  result.fill(in[2][0]);
  bool isFailed = false;
  int64_t next = 0;
  forEachIndex(source.shape(), [&](ArrayRef<int64_t> index) {
    int64_t place = next++, chosen = -1;
    windows.visit(operand.shape(), index, [&](ArrayRef<int64_t> from) {
      int64_t candidate = operand.flat(from);
      if (isFailed || chosen < 0) {
        chosen = candidate;
        return;
      }
      FailureOr<Values> keeps =
          evaluator.apply(op.getSelect(), {operand.elementAt(chosen),
                                           operand.elementAt(candidate)});
      if ((isFailed = failed(keeps)))
        return;
      if ((*keeps)[0][0].integer == 0)
        chosen = candidate;
    });
    if (isFailed || chosen < 0)
      return;
    FailureOr<Values> sum = evaluator.apply(
        op.getScatter(), {result.elementAt(chosen), source.elementAt(place)});
    if ((isFailed = failed(sum)))
      return;
    result.set(chosen) = (*sum)[0][0];
  });
  if (isFailed)
    return failure();
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Normalisation over all dims but that of features
//===----------------------------------------------------------------------===//

namespace {
/// Sums of a function of the elements, one for each feature.
std::vector<double>
sumByFeature(const Array &array, int64_t dim,
             llvm::function_ref<double(int64_t, int64_t)> term) {
  std::vector<double> sums(array.dim(dim), 0);
  int64_t next = 0;
  forEachIndex(array.shape(), [&](ArrayRef<int64_t> index) {
    sums[index[dim]] += term(next, index[dim]);
    ++next;
  });
  return sums;
}
} // namespace

static Array normalise(const Array &x, const Array &scale, const Array &offset,
                       ArrayRef<double> mean, ArrayRef<double> variance,
                       double epsilon, int64_t dim) {
  Array result(x.format(), x.shape());
  int64_t next = 0;
  forEachIndex(x.shape(), [&](ArrayRef<int64_t> index) {
    int64_t f = index[dim];
    result.put(next, (x[next].real - mean[f]) /
                             std::sqrt(variance[f] + epsilon) * scale[f].real +
                         offset[f].real);
    ++next;
  });
  return result;
}

static FailureOr<Values>
evaluateBatchNormInference(Evaluator &, stablehlo::BatchNormInferenceOp op,
                           ArrayRef<Array> in) {
  std::vector<double> mean, variance;
  for (int64_t f = 0; f < in[3].size(); ++f) {
    mean.push_back(in[3][f].real);
    variance.push_back(in[4][f].real);
  }
  return Values{normalise(in[0], in[1], in[2], mean, variance,
                          op.getEpsilon().convertToDouble(),
                          op.getFeatureIndex())};
}

static FailureOr<Values>
evaluateBatchNormTraining(Evaluator &, stablehlo::BatchNormTrainingOp op,
                          ArrayRef<Array> in) {
  const Array &x = in[0];
  int64_t dim = op.getFeatureIndex();
  int64_t features = x.dim(dim);
  double count = features == 0 ? 1 : double(x.size()) / features;
  // Sums first: of equal numbers the mean is that number, the variance zero.
  std::vector<double> mean =
      sumByFeature(x, dim, [&](int64_t i, int64_t) { return x[i].real; });
  for (double &sum : mean)
    sum /= count;
  std::vector<double> variance =
      sumByFeature(x, dim, [&](int64_t i, int64_t f) {
        return (x[i].real - mean[f]) * (x[i].real - mean[f]);
      });
  for (double &sum : variance)
    sum /= count;
  Array means(x.format(), features), variances(x.format(), features);
  for (int64_t f = 0; f < features; ++f) {
    means.put(f, mean[f]);
    variances.put(f, variance[f]);
  }
  return Values{normalise(x, in[1], in[2], mean, variance,
                          op.getEpsilon().convertToDouble(), dim),
                means, variances};
}

static FailureOr<Values> evaluateBatchNormGrad(Evaluator &,
                                               stablehlo::BatchNormGradOp op,
                                               ArrayRef<Array> in) {
  const Array &x = in[0], &scale = in[1], &mean = in[2], &variance = in[3],
              &dy = in[4];
  int64_t dim = op.getFeatureIndex();
  int64_t features = x.dim(dim);
  double epsilon = op.getEpsilon().convertToDouble(),
         count = features == 0 ? 1 : double(x.size()) / features;
  auto centred = [&](int64_t i, int64_t f) { return x[i].real - mean[f].real; };
  auto deviation = [&](int64_t f) {
    return std::sqrt(variance[f].real + epsilon);
  };
  std::vector<double> sums =
      sumByFeature(x, dim, [&](int64_t i, int64_t) { return dy[i].real; });
  std::vector<double> products = sumByFeature(
      x, dim, [&](int64_t i, int64_t f) { return dy[i].real * centred(i, f); });
  Array dx(x.format(), x.shape()), dscale(x.format(), features),
      doffset(x.format(), features);
  int64_t next = 0;
  forEachIndex(x.shape(), [&](ArrayRef<int64_t> index) {
    int64_t f = index[dim];
    double s = deviation(f);
    dx.put(next, scale[f].real / s *
                     (dy[next].real - sums[f] / count -
                      centred(next, f) * products[f] / (s * s * count)));
    ++next;
  });
  for (int64_t f = 0; f < features; ++f) {
    dscale.put(f, products[f] / deviation(f));
    doffset.put(f, sums[f]);
  }
  return Values{dx, dscale, doffset};
}

void shardc::interpreter::addReductions(Table &table) {
  table.add<stablehlo::ReduceOp>(evaluateReduce);
  table.add<stablehlo::ReduceWindowOp>(evaluateReduceWindow);
  table.add<stablehlo::SelectAndScatterOp>(evaluateSelectAndScatter);
  table.add<stablehlo::BatchNormInferenceOp>(evaluateBatchNormInference);
  table.add<stablehlo::BatchNormTrainingOp>(evaluateBatchNormTraining);
  table.add<stablehlo::BatchNormGradOp>(evaluateBatchNormGrad);
}

//===- Sorting.cpp - Sorts and the largest of a dim -----------------------===//
#include "Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

using Order = llvm::SmallVector<int64_t>;

/// Merges the sorted halves of `order`; `isBefore` may fail.
static LogicalResult
mergeSort(Order &order,
          llvm::function_ref<FailureOr<bool>(int64_t, int64_t)> isBefore) {
  if (order.size() < 2)
    return success();
  Order left(order.begin(), order.begin() + order.size() / 2),
      right(order.begin() + order.size() / 2, order.end());
  if (failed(mergeSort(left, isBefore)) || failed(mergeSort(right, isBefore)))
    return failure();
  size_t l = 0, r = 0;
  for (int64_t &place : order) {
    bool takesRight = l == left.size();
    if (!takesRight && r < right.size()) {
      FailureOr<bool> before = isBefore(right[r], left[l]);
      if (failed(before))
        return failure();
      takesRight = *before; // else the left one: equal ones keep their order
    }
    place = takesRight ? right[r++] : left[l++];
  }
  return success();
}

/// For every line of `shape` along `dim`: its elements' flat positions, to be
/// put in another order. `sorted` gets the place of each line's first element,
/// the order, and the step between elements.
static LogicalResult forEachLine(
    ArrayRef<int64_t> shape, int64_t dim,
    llvm::function_ref<LogicalResult(int64_t first, int64_t step)> visit) {
  Shape outer(shape);
  int64_t step = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d)
    step *= shape[d];
  outer[dim] = 1;
  LogicalResult result = success();
  forEachIndex(outer, [&](ArrayRef<int64_t> index) {
    if (failed(result))
      return;
    int64_t first = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      first = first * shape[d] + index[d];
    result = visit(first, step);
  });
  return result;
}

static FailureOr<Values>
evaluateSort(Evaluator &evaluator, stablehlo::SortOp op, ArrayRef<Array> in) {
  int64_t rank = in[0].rank(), dim = op.getDimension() < 0
                                         ? op.getDimension() + rank
                                         : op.getDimension();
  Values results(in);
  if (rank == 0)
    return results;
  LogicalResult done = forEachLine(
      in[0].shape(), dim, [&](int64_t first, int64_t step) -> LogicalResult {
        Order order(in[0].dim(dim));
        std::iota(order.begin(), order.end(), 0);
        auto isBefore = [&](int64_t a, int64_t b) -> FailureOr<bool> {
          Values arguments;
          for (const Array &operand : in) {
            arguments.push_back(operand.elementAt(first + a * step));
            arguments.push_back(operand.elementAt(first + b * step));
          }
          FailureOr<Values> answer =
              evaluator.apply(op.getComparator(), arguments);
          if (failed(answer))
            return failure();
          return (*answer)[0][0].integer != 0;
        };
        if (failed(mergeSort(order, isBefore)))
          return failure();
        for (auto [result, operand] : llvm::zip_equal(results, in))
          for (auto [place, from] : llvm::enumerate(order))
            result.set(first + place * step) = operand[first + from * step];
        return success();
      });
  if (failed(done))
    return failure();
  return results;
}

/// The first `count` of each line in the order that `isBefore` says, stably.
static LogicalResult
takeFirst(const Array &operand, int64_t dim, int64_t count, Array &values,
          Array &indices,
          llvm::function_ref<FailureOr<bool>(int64_t, int64_t)> isBefore) {
  Shape shape(operand.shape());
  shape[dim] = count;
  values = Array(operand.format(), shape);
  indices = Array(Format::int32(), shape);
  int64_t size = operand.dim(dim);
  return forEachLine(
      operand.shape(), dim, [&](int64_t first, int64_t step) -> LogicalResult {
        Order order(size);
        std::iota(order.begin(), order.end(), 0);
        if (failed(mergeSort(order, [&](int64_t a, int64_t b) {
              return isBefore(first + a * step, first + b * step);
            })))
          return failure();
        // The line's place among those of the result: outer * count * step +
        // inner.
        int64_t outer = first / (step * size), inner = first % step;
        for (int64_t k = 0; k < count; ++k) {
          values.set(outer * count * step + k * step + inner) =
              operand[first + order[k] * step];
          indices.set(outer * count * step + k * step + inner).integer =
              order[k];
        }
        return success();
      });
}

static FailureOr<Values> topK(Operation *op, const Array &operand, int64_t k) {
  if (operand.rank() == 0 || k < 0 || k > operand.dim(operand.rank() - 1))
    return op->emitError() << "takes " << k << " of "
                           << (operand.rank() == 0
                                   ? 1
                                   : operand.dim(operand.rank() - 1))
                           << " elements";
  Array values, indices;
  // NaN comes first, as the largest.
  auto isLarger = [&](int64_t a, int64_t b) -> FailureOr<bool> {
    const Format &format = operand.format();
    if (format.isInteger())
      return format.isSigned
                 ? operand[a].integer > operand[b].integer
                 : uint64_t(operand[a].integer) > uint64_t(operand[b].integer);
    double x = operand[a].real, y = operand[b].real;
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) && !std::isnan(y);
    return x > y || (x == 0 && y == 0 && !std::signbit(x) && std::signbit(y));
  };
  if (failed(
          takeFirst(operand, operand.rank() - 1, k, values, indices, isLarger)))
    return failure();
  return Values{values, indices};
}

static FailureOr<Values> evaluateTopK(Evaluator &, chlo::TopKOp op,
                                      ArrayRef<Array> in) {
  return topK(op, in[0], op.getK());
}

static FailureOr<Values> callTopK(Evaluator &, Operation *op,
                                  ArrayRef<Array> in) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.attributes");
  if (!config)
    config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto k = config ? config.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest = config ? config.getAs<BoolAttr>("largest") : BoolAttr();
  if (!k || (largest && !largest.getValue()) || in.size() != 1)
    return Evaluator::unknown(op, "mhlo.topk of this form");
  return topK(op, in[0], k.getInt());
}

/// Exact: the approximation that XLA's CPU makes is none. By the comparator
/// that it is given.
static FailureOr<Values> callApproxTopK(Evaluator &evaluator, Operation *op,
                                        ArrayRef<Array> in) {
  auto call = cast<stablehlo::CustomCallOp>(op);
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  if (!config)
    config = dyn_cast_or_null<DictionaryAttr>(call.getBackendConfigAttr());
  auto dimAttr =
      config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
  if (!dimAttr || in.size() != 4 || call.getCalledComputations().size() != 1)
    return Evaluator::unknown(op, "ApproxTopK of this form");
  auto compare = evaluator.lookup<func::FuncOp>(
      op, cast<FlatSymbolRefAttr>(call.getCalledComputations()[0]));
  if (!compare)
    return Evaluator::unknown(op, "ApproxTopK without its comparator");
  int64_t dim = dimAttr.getInt();
  const Array &operand = in[0], &numbers = in[1];
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || dim < 0 || dim >= type.getRank() ||
      type.getRank() != operand.rank() || operand.shape() != numbers.shape())
    return Evaluator::unknown(op, "ApproxTopK of such shapes");
  int64_t count = type.getDimSize(dim);
  if (count < 0 || count > operand.dim(dim))
    return op->emitError() << "takes " << count << " of " << operand.dim(dim)
                           << " elements";
  Array values, places;
  auto isBefore = [&](int64_t a, int64_t b) -> FailureOr<bool> {
    FailureOr<Values> answer = evaluator.apply(
        compare.getBody(), {operand.elementAt(a), operand.elementAt(b),
                            numbers.elementAt(a), numbers.elementAt(b)});
    if (failed(answer))
      return failure();
    return (*answer)[0][0].integer != 0;
  };
  if (failed(takeFirst(operand, dim, count, values, places, isBefore)))
    return failure();
  // The second operand rides along.
  Array taken(numbers.format(), places.shape());
  int64_t next = 0;
  forEachIndex(places.shape(), [&](ArrayRef<int64_t> index) {
    Shape from(index);
    from[dim] = places[next].integer;
    taken.set(next++) = numbers.at(from);
  });
  return Values{values, taken};
}

void shardc::interpreter::addSorting(Table &table) {
  table.add<stablehlo::SortOp>(evaluateSort);
  table.add<chlo::TopKOp>(evaluateTopK);
  table.customCalls["mhlo.topk"] = callTopK;
  table.customCalls["ApproxTopK"] = withForm(4, 2, callApproxTopK);
}

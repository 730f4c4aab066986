//===- InterpreterAddressing.cpp - Indices, order, whole dims -------------===//
#include "InterpreterOps.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::test;
using Operands = ArrayRef<Tensor>;

//===----------------------------------------------------------------------===//
// gather and scatter
//===----------------------------------------------------------------------===//

/// The vector of start indices at `batch`, a position in the dims of `indices`
/// other than `vectorDim`.
static Index startsAt(const Tensor &indices, int64_t vectorDim,
                      ArrayRef<int64_t> batch) {
  Index at(batch), starts;
  if (vectorDim == static_cast<int64_t>(indices.shape.size()))
    return {indices.at(at)};
  at.insert(at.begin() + vectorDim, 0);
  for (int64_t i = 0; i < indices.shape[vectorDim]; ++i) {
    at[vectorDim] = i;
    starts.push_back(indices.at(at));
  }
  return starts;
}

/// The element of `index` at the dims in `dims`, or at all others.
static Index pick(ArrayRef<int64_t> index, ArrayRef<int64_t> dims,
                  bool inside) {
  Index result;
  for (size_t d = 0; d < index.size(); ++d)
    if (llvm::is_contained(dims, static_cast<int64_t>(d)) == inside)
      result.push_back(index[d]);
  return result;
}

static int64_t batchPlace(int64_t dim, int64_t vectorDim) {
  return dim < vectorDim ? dim : dim - 1;
}

static Tensor gather(const Tensor &operand, const Tensor &indices,
                     ArrayRef<int64_t> sliceSizes,
                     stablehlo::GatherDimensionNumbersAttr dims) {
  int64_t vectorDim = dims.getIndexVectorDim();
  auto isDropped = [&](int64_t d) {
    return llvm::is_contained(dims.getCollapsedSliceDims(), d) ||
           llvm::is_contained(dims.getOperandBatchingDims(), d);
  };
  Index batchShape, offsetShape, shape;
  for (int64_t d = 0; d < static_cast<int64_t>(indices.shape.size()); ++d)
    if (d != vectorDim)
      batchShape.push_back(indices.shape[d]);
  for (size_t d = 0; d < sliceSizes.size(); ++d)
    if (!isDropped(d))
      offsetShape.push_back(sliceSizes[d]);
  size_t nextBatch = 0, nextOffset = 0;
  for (size_t d = 0; d < batchShape.size() + offsetShape.size(); ++d)
    shape.push_back(
        llvm::is_contained(dims.getOffsetDims(), static_cast<int64_t>(d))
            ? offsetShape[nextOffset++]
            : batchShape[nextBatch++]);
  Tensor result(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index batch = pick(index, dims.getOffsetDims(), false),
          offset = pick(index, dims.getOffsetDims(), true);
    Index starts = startsAt(indices, vectorDim, batch),
          from(operand.shape.size(), 0);
    for (size_t i = 0; i < starts.size(); ++i) {
      int64_t d = dims.getStartIndexMap()[i];
      from[d] =
          std::clamp<int64_t>(starts[i], 0, operand.shape[d] - sliceSizes[d]);
    }
    for (size_t i = 0; i < dims.getOperandBatchingDims().size(); ++i)
      from[dims.getOperandBatchingDims()[i]] =
          batch[batchPlace(dims.getStartIndicesBatchingDims()[i], vectorDim)];
    size_t next = 0;
    for (size_t d = 0; d < from.size(); ++d)
      if (!isDropped(d))
        from[d] += offset[next++];
    result.at(index) = operand.at(from);
  });
  return result;
}

static std::vector<Tensor> scatter(stablehlo::ScatterOp op, Operands operands,
                                   Environment &environment) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  size_t count = op.getInputs().size();
  int64_t vectorDim = dims.getIndexVectorDim();
  const Tensor &indices = operands[count];
  std::vector<Tensor> results(operands.begin(), operands.begin() + count);
  forEachIndex(operands[count + 1].shape, [&](ArrayRef<int64_t> index) {
    Index batch = pick(index, dims.getUpdateWindowDims(), false),
          window = pick(index, dims.getUpdateWindowDims(), true);
    Index starts = startsAt(indices, vectorDim, batch),
          to(results[0].shape.size(), 0);
    for (size_t i = 0; i < starts.size(); ++i)
      to[dims.getScatterDimsToOperandDims()[i]] = starts[i];
    for (size_t i = 0; i < dims.getInputBatchingDims().size(); ++i)
      to[dims.getInputBatchingDims()[i]] =
          batch[batchPlace(dims.getScatterIndicesBatchingDims()[i], vectorDim)];
    size_t next = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(to.size()); ++d)
      if (!llvm::is_contained(dims.getInsertedWindowDims(), d) &&
          !llvm::is_contained(dims.getInputBatchingDims(), d))
        to[d] += window[next++];
    if (!results[0].contains(to))
      return;
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(Tensor::scalar(results[i].at(to)));
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(Tensor::scalar(operands[count + 1 + i].at(index)));
    std::vector<Tensor> combined =
        apply(op.getUpdateComputation(), arguments, environment);
    for (size_t i = 0; i < count; ++i)
      results[i].at(to) = combined[i].data[0];
  });
  return results;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Calls `visit` with the index of the first element of each line along `dim`.
static void forEachLine(ArrayRef<int64_t> shape, int64_t dim,
                        function_ref<void(Index)> visit) {
  Index outer(shape);
  if (outer[dim] == 0)
    return;
  outer[dim] = 1;
  forEachIndex(outer, [&](ArrayRef<int64_t> index) { visit(Index(index)); });
}

static std::vector<Tensor> sort(stablehlo::SortOp op, Operands operands,
                                Environment &environment) {
  int64_t dim = static_cast<int64_t>(op.getDimension());
  if (dim < 0)
    dim += operands[0].shape.size();
  std::vector<Tensor> results(operands.begin(), operands.end());
  forEachLine(operands[0].shape, dim, [&](Index index) {
    auto at = [&](const Tensor &tensor, int64_t i) {
      index[dim] = i;
      return tensor.at(index);
    };
    std::vector<int64_t> order(operands[0].shape[dim]);
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    auto isLess = [&](int64_t a, int64_t b) {
      std::vector<Tensor> arguments;
      for (const Tensor &operand : operands) {
        arguments.push_back(Tensor::scalar(at(operand, a)));
        arguments.push_back(Tensor::scalar(at(operand, b)));
      }
      return apply(op.getComparator(), arguments, environment)[0].data[0] != 0;
    };
    // Stable: of equals, the earlier comes first.
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return isLess(a, b) || (!isLess(b, a) && a < b);
    });
    for (size_t k = 0; k < operands.size(); ++k)
      for (size_t i = 0; i < order.size(); ++i) {
        int64_t value = at(operands[k], order[i]);
        index[dim] = i;
        results[k].at(index) = value;
      }
  });
  return results;
}

static std::vector<Tensor> topK(Operation *op, const Tensor &operand) {
  int64_t dim = static_cast<int64_t>(operand.shape.size()) - 1;
  Index shape = operand.shape;
  shape[dim] =
      cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(dim);
  Tensor values(shape), places(shape);
  forEachLine(operand.shape, dim, [&](Index index) {
    std::vector<std::pair<int64_t, int64_t>> order;
    for (int64_t i = 0; i < operand.shape[dim]; ++i) {
      index[dim] = i;
      order.push_back({-operand.at(index), i});
    }
    llvm::sort(order);
    for (int64_t i = 0; i < shape[dim]; ++i) {
      index[dim] = i;
      values.at(index) = -order[i].first;
      places.at(index) = order[i].second;
    }
  });
  return {values, places};
}

//===----------------------------------------------------------------------===//
// Whole dims: hashes of all that an element depends on
//===----------------------------------------------------------------------===//

/// Every element is a hash of its place within the last dims of result `number`
/// and of all elements of each operand in the same batch.
static Tensor hashOfBatch(Operation *op, Operands operands, size_t batchDims,
                          unsigned number = 0) {
  auto type = cast<RankedTensorType>(op->getResult(number).getType());
  Index shape(ArrayRef(operands.back().shape).take_front(batchDims));
  for (size_t d = batchDims; d < static_cast<size_t>(type.getRank()); ++d)
    shape.push_back(type.getDimSize(d));
  Tensor result(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index values(index.drop_front(batchDims));
    values.push_back(number);
    for (const Tensor &operand : operands)
      forEachIndex(operand.shape, [&](ArrayRef<int64_t> from) {
        if (from.take_front(batchDims) == index.take_front(batchDims))
          values.push_back(operand.at(from));
      });
    result.at(index) = hashOf(op->getName().getStringRef(), values);
  });
  return result;
}

/// An element depends on the whole matrix and on its own column of b (row, if
/// the matrix stands on the right).
static Tensor triangularSolve(stablehlo::TriangularSolveOp op, const Tensor &a,
                              const Tensor &b) {
  size_t batchDims = b.shape.size() - 2,
         own = op.getLeftSide() ? batchDims + 1 : batchDims;
  size_t place = op.getLeftSide() ? batchDims : batchDims + 1;
  Tensor result(b.shape);
  forEachIndex(b.shape, [&](ArrayRef<int64_t> index) {
    Index values{index[place]};
    for (const Tensor *tensor : {&a, &b})
      forEachIndex(tensor->shape, [&](ArrayRef<int64_t> from) {
        if (from.take_front(batchDims) == index.take_front(batchDims) &&
            (tensor == &a || from[own] == index[own]))
          values.push_back(tensor->at(from));
      });
    result.at(index) = hashOf("triangular_solve", values);
  });
  return result;
}

/// An element depends on its matrix's diagonals and on its own column of b.
static Tensor tridiagonalSolve(Operands operands) {
  const Tensor &b = operands[3];
  size_t batchDims = b.shape.size() - 2;
  Tensor result(b.shape);
  forEachIndex(b.shape, [&](ArrayRef<int64_t> index) {
    Index values{index[batchDims]};
    for (const Tensor &operand : operands)
      forEachIndex(operand.shape, [&](ArrayRef<int64_t> from) {
        if (from.take_front(batchDims) == index.take_front(batchDims) &&
            (&operand != &b || from.back() == index.back()))
          values.push_back(operand.at(from));
      });
    result.at(index) = hashOf("tridiagonal_solve", values);
  });
  return result;
}

/// Factorisations: all results of all elements of a matrix of the batch.
static std::vector<Tensor> solve(Operation *op, Operands operands) {
  size_t ownDims = isa<solver::PermutationOp>(op) ? 1 : 2;
  std::vector<Tensor> results;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    results.push_back(
        hashOfBatch(op, operands, operands[0].shape.size() - ownDims, i));
  return results;
}

std::vector<Tensor> shardc::test::runAddressing(Operation *op,
                                                Operands operands,
                                                Environment &environment) {
  using Results = std::vector<Tensor>;
  if (op->getName().getStringRef() == "chlo.top_k")
    return topK(op, operands[0]);
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case([&](stablehlo::GatherOp o) {
        return Results{gather(operands[0], operands[1], o.getSliceSizes(),
                              o.getDimensionNumbers())};
      })
      .Case([&](stablehlo::DynamicGatherOp o) {
        Index sizes(operands[2].data.begin(), operands[2].data.end());
        return Results{
            gather(operands[0], operands[1], sizes, o.getDimensionNumbers())};
      })
      .Case([&](stablehlo::ScatterOp o) {
        return scatter(o, operands, environment);
      })
      .Case([&](stablehlo::SortOp o) { return sort(o, operands, environment); })
      .Case([&](stablehlo::FftOp o) {
        return Results{hashOfBatch(
            o, operands, operands[0].shape.size() - o.getFftLength().size())};
      })
      .Case([&](stablehlo::CholeskyOp o) {
        return Results{hashOfBatch(o, operands, operands[0].shape.size() - 2)};
      })
      .Case([&](stablehlo::TriangularSolveOp o) {
        return Results{triangularSolve(o, operands[0], operands[1])};
      })
      .Case([&](solver::TridiagonalSolveOp) {
        return Results{tridiagonalSolve(operands)};
      })
      .Default([&](Operation *o) {
        return isa<solver::SolverDialect>(o->getDialect()) ? solve(o, operands)
                                                           : Results();
      });
}

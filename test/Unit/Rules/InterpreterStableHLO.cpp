//===- InterpreterStableHLO.cpp - Shapes, windows, contractions -----------===//
//
// Each function follows the definition of its op: what element a result index
// reads. Nothing here is taken from the rules.
//
//===----------------------------------------------------------------------===//
#include "InterpreterOps.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::test;
using Operands = ArrayRef<Tensor>;

static Index shapeOf(const Tensor &tensor) {
  Index shape;
  for (int64_t size : tensor.data)
    shape.push_back(size);
  return shape;
}

static Tensor scalarAt(const Tensor &tensor, ArrayRef<int64_t> index) {
  return Tensor::scalar(tensor.at(index));
}

//===----------------------------------------------------------------------===//
// Shapes and parts
//===----------------------------------------------------------------------===//

static Tensor broadcast(const Tensor &operand, ArrayRef<int64_t> dims,
                        ArrayRef<int64_t> shape) {
  Tensor result(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index from;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (operand.shape[d] != 1 && operand.shape[d] != shape[dims[d]])
        llvm::report_fatal_error("interpreter: broadcast of a dim that is "
                                 "neither 1 nor the result's");
      from.push_back(operand.shape[d] == 1 ? 0 : index[dims[d]]);
    }
    result.at(index) = operand.at(from);
  });
  return result;
}

static Tensor iota(int64_t dim, ArrayRef<int64_t> shape) {
  Tensor result(shape);
  forEachIndex(shape,
               [&](ArrayRef<int64_t> index) { result.at(index) = index[dim]; });
  return result;
}

static Tensor reshape(const Tensor &operand, ArrayRef<int64_t> shape) {
  Tensor result(shape);
  if (result.data.size() != operand.data.size())
    llvm::report_fatal_error(
        "interpreter: reshape changes the number of elements");
  result.data = operand.data;
  return result;
}

static Tensor transpose(const Tensor &operand, ArrayRef<int64_t> permutation) {
  Index shape;
  for (int64_t dim : permutation)
    shape.push_back(operand.shape[dim]);
  Tensor result(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index from(index.size());
    for (size_t d = 0; d < index.size(); ++d)
      from[permutation[d]] = index[d];
    result.at(index) = operand.at(from);
  });
  return result;
}

static Tensor reverse(const Tensor &operand, ArrayRef<int64_t> dims) {
  Tensor result(operand.shape);
  forEachIndex(operand.shape, [&](ArrayRef<int64_t> index) {
    Index from(index);
    for (int64_t dim : dims)
      from[dim] = operand.shape[dim] - 1 - index[dim];
    result.at(index) = operand.at(from);
  });
  return result;
}

static Tensor slice(const Tensor &operand, ArrayRef<int64_t> starts,
                    ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) {
  Index shape;
  for (size_t d = 0; d < starts.size(); ++d)
    shape.push_back((limits[d] - starts[d] + strides[d] - 1) / strides[d]);
  Tensor result(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index from;
    for (size_t d = 0; d < index.size(); ++d)
      from.push_back(starts[d] + index[d] * strides[d]);
    result.at(index) = operand.at(from);
  });
  return result;
}

static Tensor pad(const Tensor &operand, int64_t value, ArrayRef<int64_t> low,
                  ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  Index shape;
  for (size_t d = 0; d < low.size(); ++d)
    shape.push_back(low[d] + operand.shape[d] +
                    std::max<int64_t>(operand.shape[d] - 1, 0) * interior[d] +
                    high[d]);
  Tensor result(shape, value);
  forEachIndex(operand.shape, [&](ArrayRef<int64_t> index) {
    Index to;
    for (size_t d = 0; d < index.size(); ++d)
      to.push_back(low[d] + index[d] * (interior[d] + 1));
    if (result.contains(to))
      result.at(to) = operand.at(index);
  });
  return result;
}

static Tensor concatenate(Operands operands, int64_t dim) {
  Index shape = operands[0].shape;
  shape[dim] = 0;
  for (const Tensor &operand : operands)
    shape[dim] += operand.shape[dim];
  Tensor result(shape);
  int64_t start = 0;
  for (const Tensor &operand : operands) {
    forEachIndex(operand.shape, [&](ArrayRef<int64_t> index) {
      Index to(index);
      to[dim] += start;
      result.at(to) = operand.at(index);
    });
    start += operand.shape[dim];
  }
  return result;
}

static Index clampedStarts(Operands starts, ArrayRef<int64_t> shape,
                           ArrayRef<int64_t> sizes) {
  Index result;
  for (size_t d = 0; d < shape.size(); ++d)
    result.push_back(
        std::clamp<int64_t>(starts[d].data[0], 0, shape[d] - sizes[d]));
  return result;
}

static Tensor dynamicSlice(const Tensor &operand, Operands starts,
                           ArrayRef<int64_t> sizes) {
  Index first = clampedStarts(starts, operand.shape, sizes);
  Tensor result(sizes);
  forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
    Index from;
    for (size_t d = 0; d < index.size(); ++d)
      from.push_back(first[d] + index[d]);
    result.at(index) = operand.at(from);
  });
  return result;
}

static Tensor dynamicUpdateSlice(const Tensor &operand, const Tensor &update,
                                 Operands starts) {
  Index first = clampedStarts(starts, operand.shape, update.shape);
  Tensor result = operand;
  forEachIndex(update.shape, [&](ArrayRef<int64_t> index) {
    Index to;
    for (size_t d = 0; d < index.size(); ++d)
      to.push_back(first[d] + index[d]);
    result.at(to) = update.at(index);
  });
  return result;
}

static Tensor bitcast(const Tensor &operand, unsigned fromWidth,
                      unsigned toWidth) {
  if (fromWidth == toWidth)
    return operand;
  int64_t parts = std::max(fromWidth, toWidth) / std::min(fromWidth, toWidth);
  Index shape = operand.shape;
  if (fromWidth > toWidth)
    shape.push_back(parts);
  else
    shape.pop_back();
  Tensor result(shape);
  for (size_t i = 0; i < std::max(operand.data.size(), result.data.size());
       ++i) {
    if (fromWidth > toWidth)
      result.data[i] = hashOf(
          "part", {operand.data[i / parts], static_cast<int64_t>(i % parts)});
    else
      result.data[i / parts] =
          hashOf("join", {result.data[i / parts], operand.data[i]});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions and windows
//===----------------------------------------------------------------------===//

static std::vector<Tensor> reduce(stablehlo::ReduceOp op, Operands operands,
                                  Environment &environment) {
  size_t count = operands.size() / 2;
  Index shape, kept;
  for (size_t d = 0; d < operands[0].shape.size(); ++d) {
    if (llvm::is_contained(op.getDimensions(), static_cast<int64_t>(d)))
      continue;
    shape.push_back(operands[0].shape[d]);
    kept.push_back(d);
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < count; ++i)
    results.emplace_back(shape, operands[count + i].data[0]);
  forEachIndex(operands[0].shape, [&](ArrayRef<int64_t> index) {
    Index to;
    for (int64_t d : kept)
      to.push_back(index[d]);
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(scalarAt(results[i], to));
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(scalarAt(operands[i], index));
    std::vector<Tensor> combined = apply(op.getBody(), arguments, environment);
    for (size_t i = 0; i < count; ++i)
      results[i].at(to) = combined[i].data[0];
  });
  return results;
}

namespace {
/// A moving window over one dim.
struct Window {
  int64_t size, stride, low, high, baseDilation, dilation;

  int64_t count(int64_t extent) const {
    int64_t dilated = extent == 0 ? 0 : (extent - 1) * baseDilation + 1;
    int64_t padded = low + dilated + high;
    int64_t reach = size == 0 ? 0 : (size - 1) * dilation + 1;
    return padded <= 0 || reach > padded ? 0 : (padded - reach) / stride + 1;
  }
  /// The element that window `o` has at place `w`; -1 for none.
  int64_t element(int64_t o, int64_t w, int64_t extent) const {
    int64_t position = o * stride + w * dilation - low;
    if (position < 0 || position % baseDilation != 0 ||
        position / baseDilation >= extent)
      return -1;
    return position / baseDilation;
  }
};
} // namespace

static std::vector<Tensor> reduceWindow(stablehlo::ReduceWindowOp op,
                                        Operands operands,
                                        Environment &environment) {
  size_t count = operands.size() / 2, dims = operands[0].shape.size();
  std::vector<Window> windows;
  Index shape, windowShape(op.getWindowDimensions());
  for (size_t d = 0; d < dims; ++d) {
    auto [low, high] = op.getPaddingOrZeros()[d];
    windows.push_back({windowShape[d], op.getWindowStridesOrOnes()[d], low,
                       high, op.getBaseDilationsOrOnes()[d],
                       op.getWindowDilationsOrOnes()[d]});
    shape.push_back(windows.back().count(operands[0].shape[d]));
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < count; ++i)
    results.emplace_back(shape, operands[count + i].data[0]);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    forEachIndex(windowShape, [&](ArrayRef<int64_t> place) {
      Index from;
      for (size_t d = 0; d < dims; ++d)
        from.push_back(
            windows[d].element(index[d], place[d], operands[0].shape[d]));
      // Outside stands the initial value, which is combined as well.
      std::vector<Tensor> arguments;
      for (size_t i = 0; i < count; ++i)
        arguments.push_back(scalarAt(results[i], index));
      for (size_t i = 0; i < count; ++i)
        arguments.push_back(operands[i].contains(from)
                                ? scalarAt(operands[i], from)
                                : Tensor::scalar(operands[count + i].data[0]));
      std::vector<Tensor> combined =
          apply(op.getBody(), arguments, environment);
      for (size_t i = 0; i < count; ++i)
        results[i].at(index) = combined[i].data[0];
    });
  });
  return results;
}

static Tensor selectAndScatter(stablehlo::SelectAndScatterOp op,
                               Operands operands, Environment &environment) {
  const Tensor &operand = operands[0], &source = operands[1];
  Tensor result(operand.shape, operands[2].data[0]);
  Index windowShape(op.getWindowDimensionsOrOnes());
  forEachIndex(source.shape, [&](ArrayRef<int64_t> index) {
    std::optional<Index> selected;
    forEachIndex(windowShape, [&](ArrayRef<int64_t> place) {
      Index at;
      for (size_t d = 0; d < place.size(); ++d)
        at.push_back(index[d] * op.getWindowStridesOrOnes()[d] + place[d] -
                     op.getPaddingOrZeros()[d].first);
      if (!operand.contains(at))
        return;
      if (!selected ||
          !apply(op.getSelect(),
                 {scalarAt(operand, *selected), scalarAt(operand, at)},
                 environment)[0]
               .data[0])
        selected = at;
    });
    if (selected)
      result.at(*selected) =
          apply(op.getScatter(),
                {scalarAt(result, *selected), scalarAt(source, index)},
                environment)[0]
              .data[0];
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static int64_t multiplyAdd(int64_t sum, int64_t lhs, int64_t rhs,
                           bool logical) {
  if (logical)
    return sum | (lhs & rhs);
  return static_cast<int64_t>(static_cast<uint64_t>(sum) +
                              static_cast<uint64_t>(lhs) *
                                  static_cast<uint64_t>(rhs));
}

static Tensor dot(const Tensor &lhs, const Tensor &rhs,
                  ArrayRef<int64_t> lhsBatching, ArrayRef<int64_t> rhsBatching,
                  ArrayRef<int64_t> lhsContracting,
                  ArrayRef<int64_t> rhsContracting, bool logical) {
  Index lhsFree, rhsFree, shape, contracted;
  for (int64_t d : lhsBatching)
    shape.push_back(lhs.shape[d]);
  for (int64_t d = 0; d < static_cast<int64_t>(lhs.shape.size()); ++d)
    if (!llvm::is_contained(lhsBatching, d) &&
        !llvm::is_contained(lhsContracting, d)) {
      lhsFree.push_back(d);
      shape.push_back(lhs.shape[d]);
    }
  for (int64_t d = 0; d < static_cast<int64_t>(rhs.shape.size()); ++d)
    if (!llvm::is_contained(rhsBatching, d) &&
        !llvm::is_contained(rhsContracting, d)) {
      rhsFree.push_back(d);
      shape.push_back(rhs.shape[d]);
    }
  for (int64_t d : lhsContracting)
    contracted.push_back(lhs.shape[d]);
  Tensor result(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index l(lhs.shape.size()), r(rhs.shape.size());
    size_t next = 0;
    for (size_t i = 0; i < lhsBatching.size(); ++i, ++next)
      l[lhsBatching[i]] = r[rhsBatching[i]] = index[next];
    for (int64_t d : lhsFree)
      l[d] = index[next++];
    for (int64_t d : rhsFree)
      r[d] = index[next++];
    forEachIndex(contracted, [&](ArrayRef<int64_t> k) {
      for (size_t i = 0; i < k.size(); ++i) {
        l[lhsContracting[i]] = k[i];
        r[rhsContracting[i]] = k[i];
      }
      result.at(index) =
          multiplyAdd(result.at(index), lhs.at(l), rhs.at(r), logical);
    });
  });
  return result;
}

static Tensor convolution(stablehlo::ConvolutionOp op, const Tensor &lhs,
                          const Tensor &rhs) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  int64_t featureGroups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  size_t spatial = dims.getInputSpatialDimensions().size();
  std::vector<Window> windows;
  Index windowShape, shape(lhs.shape.size());
  for (size_t d = 0; d < spatial; ++d) {
    auto [low, high] = op.getPaddingOrZeros()[d];
    windowShape.push_back(rhs.shape[dims.getKernelSpatialDimensions()[d]]);
    windows.push_back({windowShape[d], op.getWindowStridesOrOnes()[d], low,
                       high, op.getLhsDilationOrOnes()[d],
                       op.getRhsDilationOrOnes()[d]});
    int64_t output = dims.getOutputSpatialDimensions()[d];
    shape[output] =
        windows[d].count(lhs.shape[dims.getInputSpatialDimensions()[d]]);
    // Sums of nothing: as many as the type says.
    if (windowShape[d] == 0 && !op.getType().isDynamicDim(output))
      shape[output] = op.getType().getDimSize(output);
  }
  int64_t outputFeatures = rhs.shape[dims.getKernelOutputFeatureDimension()];
  int64_t batch = lhs.shape[dims.getInputBatchDimension()] / batchGroups;
  int64_t inputFeatures = rhs.shape[dims.getKernelInputFeatureDimension()];
  if (lhs.shape[dims.getInputFeatureDimension()] !=
          inputFeatures * featureGroups ||
      lhs.shape[dims.getInputBatchDimension()] % batchGroups != 0 ||
      outputFeatures % (featureGroups * batchGroups) != 0)
    llvm::report_fatal_error(
        "interpreter: convolution with groups that do not divide");
  shape[dims.getOutputBatchDimension()] = batch;
  shape[dims.getOutputFeatureDimension()] = outputFeatures;
  Tensor result(shape);
  bool logical = isBool(op.getResult().getType());
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t feature = index[dims.getOutputFeatureDimension()];
    int64_t featureGroup = feature / (outputFeatures / featureGroups);
    int64_t batchGroup = feature / (outputFeatures / batchGroups);
    Index l(lhs.shape.size()), r(rhs.shape.size());
    l[dims.getInputBatchDimension()] =
        index[dims.getOutputBatchDimension()] +
        (batchGroups > 1 ? batchGroup * batch : 0);
    r[dims.getKernelOutputFeatureDimension()] = feature;
    forEachIndex(windowShape, [&](ArrayRef<int64_t> place) {
      for (size_t d = 0; d < spatial; ++d) {
        l[dims.getInputSpatialDimensions()[d]] = windows[d].element(
            index[dims.getOutputSpatialDimensions()[d]], place[d],
            lhs.shape[dims.getInputSpatialDimensions()[d]]);
        r[dims.getKernelSpatialDimensions()[d]] =
            op.getWindowReversalOrFalse()[d] ? windowShape[d] - 1 - place[d]
                                             : place[d];
      }
      for (int64_t i = 0; i < inputFeatures; ++i) {
        l[dims.getInputFeatureDimension()] =
            (featureGroups > 1 ? featureGroup * inputFeatures : 0) + i;
        r[dims.getKernelInputFeatureDimension()] = i;
        if (lhs.contains(l))
          result.at(index) =
              multiplyAdd(result.at(index), lhs.at(l), rhs.at(r), logical);
      }
    });
  });
  return result;
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

std::vector<Tensor> shardc::test::runStableHLO(Operation *op, Operands operands,
                                               Environment &environment) {
  using Results = std::vector<Tensor>;
  if (op->hasTrait<stablehlo::ElementwiseTrait>())
    return {elementwise(op, operands)};
  auto staticShape = [&] {
    return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  };
  bool logical = op->getNumResults() > 0 && isBool(op->getResult(0).getType());
  auto widthOf = [](Value value) {
    return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  };
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case([&](stablehlo::ConstantOp o) {
        return Results{constantOf(o.getValue())};
      })
      .Case([&](stablehlo::IotaOp o) {
        return Results{iota(o.getIotaDimension(), staticShape())};
      })
      .Case([&](stablehlo::DynamicIotaOp o) {
        return Results{iota(o.getIotaDimension(), shapeOf(operands[0]))};
      })
      .Case([&](stablehlo::BroadcastInDimOp o) {
        return Results{
            broadcast(operands[0], o.getBroadcastDimensions(), staticShape())};
      })
      .Case([&](stablehlo::DynamicBroadcastInDimOp o) {
        return Results{broadcast(operands[0], o.getBroadcastDimensions(),
                                 shapeOf(operands[1]))};
      })
      .Case([&](stablehlo::BroadcastOp o) {
        Index dims;
        for (size_t d = 0; d < operands[0].shape.size(); ++d)
          dims.push_back(d + o.getBroadcastSizes().size());
        return Results{broadcast(operands[0], dims, staticShape())};
      })
      .Case([&](stablehlo::ReshapeOp) {
        return Results{reshape(operands[0], staticShape())};
      })
      .Case([&](stablehlo::DynamicReshapeOp) {
        return Results{reshape(operands[0], shapeOf(operands[1]))};
      })
      .Case([&](stablehlo::TransposeOp o) {
        return Results{transpose(operands[0], o.getPermutation())};
      })
      .Case([&](stablehlo::ReverseOp o) {
        return Results{reverse(operands[0], o.getDimensions())};
      })
      .Case([&](stablehlo::SliceOp o) {
        return Results{slice(operands[0], o.getStartIndices(),
                             o.getLimitIndices(), o.getStrides())};
      })
      .Case([&](stablehlo::PadOp o) {
        return Results{pad(operands[0], operands[1].data[0],
                           o.getEdgePaddingLow(), o.getEdgePaddingHigh(),
                           o.getInteriorPadding())};
      })
      .Case([&](stablehlo::ConcatenateOp o) {
        return Results{concatenate(operands, o.getDimension())};
      })
      .Case([&](stablehlo::DynamicSliceOp o) {
        return Results{dynamicSlice(operands[0], operands.drop_front(),
                                    o.getSliceSizes())};
      })
      .Case([&](stablehlo::DynamicUpdateSliceOp) {
        return Results{dynamicUpdateSlice(operands[0], operands[1],
                                          operands.drop_front(2))};
      })
      .Case([&](stablehlo::BitcastConvertOp o) {
        return Results{bitcast(operands[0], widthOf(o.getOperand()),
                               widthOf(o.getResult()))};
      })
      .Case([&](stablehlo::OptimizationBarrierOp) {
        return Results(operands.begin(), operands.end());
      })
      .Case([&](stablehlo::ReduceOp o) {
        return reduce(o, operands, environment);
      })
      .Case([&](stablehlo::ReduceWindowOp o) {
        return reduceWindow(o, operands, environment);
      })
      .Case([&](stablehlo::SelectAndScatterOp o) {
        return Results{selectAndScatter(o, operands, environment)};
      })
      .Case([&](stablehlo::DotGeneralOp o) {
        stablehlo::DotDimensionNumbersAttr dims = o.getDotDimensionNumbers();
        return Results{dot(
            operands[0], operands[1], dims.getLhsBatchingDimensions(),
            dims.getRhsBatchingDimensions(), dims.getLhsContractingDimensions(),
            dims.getRhsContractingDimensions(), logical)};
      })
      .Case([&](stablehlo::DotOp) {
        int64_t last = operands[0].shape.size() - 1;
        return Results{
            dot(operands[0], operands[1], {}, {}, {last}, {0}, logical)};
      })
      .Case([&](stablehlo::ConvolutionOp o) {
        return Results{convolution(o, operands[0], operands[1])};
      })
      .Default([&](Operation *other) {
        return runAddressing(other, operands, environment);
      });
}

//===- InferShapes.cpp - Shapes of results from shapes of operands --------===//
#include "InferShapes.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

using Shape = SmallVector<int64_t>;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t import::windowPositions(int64_t size, int64_t window, int64_t stride,
                                int64_t low, int64_t high, int64_t baseDilation,
                                int64_t windowDilation) {
  int64_t padded = low + high + (size == 0 ? 0 : (size - 1) * baseDilation + 1);
  int64_t reach = (window - 1) * windowDilation + 1;
  return padded < reach ? 0 : (padded - reach) / stride + 1;
}

static Shape shapeOfDot(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  Shape shape;
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  for (int64_t dim : dims.getLhsBatchingDimensions())
    shape.push_back(lhs[dim]);
  auto add = [&](ArrayRef<int64_t> sizes, ArrayRef<int64_t> batch,
                 ArrayRef<int64_t> summed) {
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(batch, static_cast<int64_t>(dim)) &&
          !llvm::is_contained(summed, static_cast<int64_t>(dim)))
        shape.push_back(size);
  };
  add(lhs, dims.getLhsBatchingDimensions(), dims.getLhsContractingDimensions());
  add(rhs, dims.getRhsBatchingDimensions(), dims.getRhsContractingDimensions());
  return shape;
}

static Shape shapeOfConvolution(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  Shape shape(lhs.size());
  shape[dims.getOutputBatchDimension()] =
      lhs[dims.getInputBatchDimension()] /
      static_cast<int64_t>(op.getBatchGroupCount());
  shape[dims.getOutputFeatureDimension()] =
      rhs[dims.getKernelOutputFeatureDimension()];
  auto strides = op.getWindowStridesOrOnes(),
       lhsDilation = op.getLhsDilationOrOnes(),
       rhsDilation = op.getRhsDilationOrOnes();
  auto padding = op.getPaddingOrZeros();
  for (size_t i = 0; i < padding.size(); ++i)
    shape[dims.getOutputSpatialDimensions()[i]] = import::windowPositions(
        lhs[dims.getInputSpatialDimensions()[i]],
        rhs[dims.getKernelSpatialDimensions()[i]], strides[i], padding[i].first,
        padding[i].second, lhsDilation[i], rhsDilation[i]);
  return shape;
}

static Shape shapeOfReduce(ReduceOp op) {
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0])))
    if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)))
      shape.push_back(size);
  return shape;
}

static Shape shapeOfReduceWindow(ReduceWindowOp op) {
  Shape shape;
  auto strides = op.getWindowStridesOrOnes(),
       base = op.getBaseDilationsOrOnes(),
       dilations = op.getWindowDilationsOrOnes();
  auto padding = op.getPaddingOrZeros();
  for (auto [i, size] : llvm::enumerate(shapeOf(op.getInputs()[0])))
    shape.push_back(import::windowPositions(
        size, op.getWindowDimensions()[i], strides[i], padding[i].first,
        padding[i].second, base[i], dilations[i]));
  return shape;
}

static Shape shapeOfFft(FftOp op) {
  Shape shape(shapeOf(op.getOperand()));
  auto lengths = op.getFftLength();
  for (auto [i, length] : llvm::enumerate(lengths))
    shape[shape.size() - lengths.size() + i] = length;
  if (op.getFftType() == FftType::RFFT && !lengths.empty() &&
      lengths.back() > 0)
    shape.back() = lengths.back() / 2 + 1;
  return shape;
}

/// The last dim of narrower elements holds the parts of one wider element.
static Shape shapeOfBitcast(BitcastConvertOp op) {
  auto bits = [](Value value) {
    Type type = getElementTypeOrSelf(value.getType());
    auto complex = dyn_cast<ComplexType>(type);
    return complex ? 2 * complex.getElementType().getIntOrFloatBitWidth()
                   : type.getIntOrFloatBitWidth();
  };
  Shape shape(shapeOf(op.getOperand()));
  unsigned from = bits(op.getOperand()), to = bits(op.getResult());
  if (from > to)
    shape.push_back(from / to);
  else if (from < to && !shape.empty())
    shape.pop_back();
  return shape;
}

static Shape topKShape(chlo::TopKOp op) {
  Shape shape(shapeOf(op->getOperand(0)));
  shape.back() = op.getK();
  return shape;
}

/// The shape of all results, for ops whose results share one.
static FailureOr<Shape> commonShape(Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Shape>>(op)
      .Case([](DotGeneralOp op) { return shapeOfDot(op); })
      .Case([](ConvolutionOp op) { return shapeOfConvolution(op); })
      .Case([](ReduceOp op) { return shapeOfReduce(op); })
      .Case([](ReduceWindowOp op) { return shapeOfReduceWindow(op); })
      .Case([](FftOp op) { return shapeOfFft(op); })
      .Case([](BitcastConvertOp op) { return shapeOfBitcast(op); })
      .Case([](chlo::TopKOp op) { return topKShape(op); })
      .Case([](TriangularSolveOp op) { return Shape(shapeOf(op.getB())); })
      .Case<ReverseOp, SelectAndScatterOp, SortOp, ScatterOp, CholeskyOp,
            BatchNormInferenceOp, AllReduceOp, CollectivePermuteOp,
            CollectiveBroadcastOp, sdy::ShardingConstraintOp>(
          [](Operation *op) { return Shape(shapeOf(op->getOperand(0))); })
      .Default([](Operation *op) -> FailureOr<Shape> {
        if (!op->hasTrait<ElementwiseTrait>() || op->getNumOperands() == 0)
          return failure();
        // Scalars stand for whole tensors in select and clamp.
        Shape shape;
        for (Value operand : op->getOperands())
          if (shapeOf(operand).size() >= shape.size())
            shape = Shape(shapeOf(operand));
        return shape;
      });
}

LogicalResult import::inferResultShapes(Operation *op) {
  auto isDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  if (llvm::none_of(op->getResultTypes(), isDynamic))
    return success();
  if (llvm::any_of(op->getOperandTypes(),
                   [](Type type) { return !isa<RankedTensorType>(type); }))
    return emitUnsupported(op, "shapes of the results of '")
           << op->getName()
           << "' cannot be inferred: it has operands that are "
              "no tensors";
  SmallVector<Type> types;
  if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
    llvm::append_range(types, op->getOperandTypes());
  } else if (auto shape = commonShape(op); succeeded(shape)) {
    for (Type type : op->getResultTypes())
      types.push_back(cast<RankedTensorType>(type).clone(*shape));
  } else if (isa<BatchNormTrainingOp, BatchNormGradOp>(op)) {
    // One result for each element, and two for each feature.
    for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
      types.push_back(cast<RankedTensorType>(type).clone(
          shapeOf(op->getOperand(i == 0 ? 0 : 1))));
  } else if (auto infer = dyn_cast<InferTypeOpInterface>(op)) {
    if (failed(infer.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return failure();
  }
  if (types.size() != op->getNumResults() || llvm::any_of(types, isDynamic))
    return emitUnsupported(op, "shapes of the results of '")
           << op->getName() << "', " << op->getResultTypes()
           << ", cannot be inferred from its operands";
  for (auto [result, type] : llvm::zip(op->getResults(), types)) {
    // Sizes that the program states must be those that come out.
    auto stated = cast<RankedTensorType>(result.getType()),
         found = cast<RankedTensorType>(type);
    if (failed(verifyCompatibleShape(stated, found)))
      return op->emitOpError("has a result of type ")
             << stated << ", but its operands lead to " << found;
    result.setType(found.clone(stated.getElementType()));
  }
  return success();
}

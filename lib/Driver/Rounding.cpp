//===- Rounding.cpp - What tf32 may change of results ---------------------===//

#include "shardc/Driver/Rounding.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "shardc/Dialect/StableHLO/IR/Precision.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace shardc {
namespace {

/// What factors of one product lose, of their product.
constexpr double kTf32 = 0x1p-9, kBf16Weight = 0x1p-9, kF16Weight = 0x1p-12;
/// What sums of products of 8-bit floats lose, which tensor cores of sm_90a cut
/// to some 14 bits as they add.
constexpr double kShortSum = 0x1p-9;
/// At most this many ops are between an exponential and the product of its
/// weights.
constexpr int kWeightDepth = 12;

class Rounding {
public:
  explicit Rounding(int64_t openExtent) : openExtent(openExtent) {}

  /// Squares of the bounds of what `region` gives for those of its arguments.
  SmallVector<double> run(Region &region, ArrayRef<double> arguments) {
    SmallVector<double> results;
    if (region.empty())
      return results;
    for (auto [i, argument] : llvm::enumerate(region.getArguments()))
      squares[argument] = i < arguments.size() ? arguments[i] : 0;
    for (Operation &op : region.front()) {
      if (op.hasTrait<OpTrait::IsTerminator>()) {
        for (Value value : op.getOperands())
          results.push_back(squares.lookup(value));
        return results;
      }
      run(op);
    }
    return results;
  }

private:
  int64_t openExtent;
  DenseMap<Value, double> squares;
  SmallVector<Operation *> calls;

  void run(Operation &op) {
    SmallVector<double> operands =
        llvm::map_to_vector(op.getOperands(), [&](Value operand) {
          return squares.lookup(operand);
        });
    double most = 0, sum = 0;
    for (double square : operands) {
      most = std::max(most, square);
      sum += square;
    }
    double each = most;
    if (isa<stablehlo::DotGeneralOp, stablehlo::DotOp,
            stablehlo::ConvolutionOp>(op)) {
      double own = ownOf(op);
      each = sum + own * own;
    } else if (isa<stablehlo::MulOp, stablehlo::DivOp>(op)) {
      each = sum;
    }
    for (Value result : op.getResults())
      squares[result] = each;
    auto take = [&](ArrayRef<double> found) {
      for (auto [result, square] : llvm::zip(op.getResults(), found))
        squares[result] = std::max(squares[result], square);
    };
    // A region has the op's operands, or its last ones, or none.
    for (Region &region : op.getRegions()) {
      ArrayRef<double> given = operands;
      size_t count = region.getNumArguments();
      SmallVector<double> found =
          run(region, given.take_back(std::min(count, given.size())));
      bool isCondition =
          isa<stablehlo::WhileOp>(op) && region.getRegionNumber() == 0;
      if (!isCondition)
        take(found);
    }
    if (auto call = dyn_cast<CallOpInterface>(op))
      if (auto callee =
              dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
          callee && calls.size() < 64) {
        calls.push_back(callee);
        take(run(callee.getFunctionBody(), operands));
        calls.pop_back();
      }
  }

  int64_t extent(Value value, int64_t dim) const {
    auto type = cast<RankedTensorType>(value.getType());
    return type.isDynamicDim(dim) ? openExtent : type.getDimSize(dim);
  }

  /// How many products an element of the result of `op` is the sum of.
  double lengthOf(Operation &op) const {
    double length = 1;
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      for (int64_t dim :
           dot.getDotDimensionNumbers().getLhsContractingDimensions())
        length *= extent(dot.getLhs(), dim);
    } else if (auto dot = dyn_cast<stablehlo::DotOp>(op)) {
      length = extent(dot.getRhs(), 0);
    } else {
      auto convolution = cast<stablehlo::ConvolutionOp>(op);
      Value rhs = convolution.getRhs();
      int64_t rank = cast<RankedTensorType>(rhs.getType()).getRank();
      for (int64_t dim = 0; dim < rank; ++dim)
        if (dim !=
            convolution.getDimensionNumbers().getKernelOutputFeatureDimension())
          length *= extent(rhs, dim);
    }
    return length;
  }

  /// The type that holds all digits of `value`, which may be of a wider one.
  static Type narrowest(Value value) {
    for (int i = 0; i < kWeightDepth; ++i) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getNumOperands() != 1 ||
          !isa<stablehlo::ConvertOp, stablehlo::TransposeOp,
               stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op))
        break;
      Type from = getElementTypeOrSelf(op->getOperand(0).getType());
      if (!isa<FloatType>(from) ||
          from.getIntOrFloatBitWidth() >
              getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth())
        break;
      value = op->getOperand(0);
    }
    return getElementTypeOrSelf(value.getType());
  }

  static bool isOfExponential(Value value, int depth = kWeightDepth) {
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0)
      return false;
    if (isa<stablehlo::ExpOp>(op))
      return true;
    return isa<stablehlo::ConvertOp, stablehlo::TransposeOp,
               stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
               stablehlo::MulOp, stablehlo::DivOp, stablehlo::SubtractOp,
               stablehlo::SelectOp, func::CallOp>(op) &&
           llvm::any_of(op->getOperands(), [&](Value operand) {
             return isOfExponential(operand, depth - 1);
           });
  }

  /// What rounding the factors of `op` may change of it.
  double ownOf(Operation &op) const {
    StringRef asked = stablehlo::tensorFloatOf(&op);
    if (asked != "default" && asked != "tf32")
      return 0;
    Type lhs = narrowest(op.getOperand(0)), rhs = narrowest(op.getOperand(1));
    double step = 0;
    // tf32 holds 16-bit floats as they are.
    if (getElementTypeOrSelf(op.getOperand(0).getType()).isF32() &&
        (lhs.isF32() || rhs.isF32()))
      step = kTf32;
    auto isNarrow = [](Value value) {
      Type type = getElementTypeOrSelf(value.getType());
      return isa<Float8E4M3FNType, Float8E5M2Type>(type);
    };
    if (asked == "default" && isNarrow(op.getOperand(0)) &&
        isNarrow(op.getOperand(1)))
      step = kShortSum;
    if (isOfExponential(op.getOperand(0)) || isOfExponential(op.getOperand(1)))
      for (Type type : {lhs, rhs}) {
        if (type.isBF16())
          step = std::max(step, kBf16Weight);
        if (type.isF16())
          step = std::max(step, kF16Weight);
      }
    return step * std::sqrt(lengthOf(op));
  }
};
} // namespace

std::vector<double> roundingOfResults(func::FuncOp main, int64_t openExtent) {
  std::vector<double> bounds;
  for (double square : Rounding(openExtent).run(main.getBody(), {}))
    bounds.push_back(std::sqrt(square));
  return bounds;
}

} // namespace shardc

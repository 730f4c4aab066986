//===- RaggedDot.cpp - Products of groups of rows as ops ------------------===//
//
// JAX says these in common ops for CPUs, and leaves them to others. The left
// operand is written down once for each group, zero where others lie; groups
// are then one more dim that is contracted (each has a matrix of its own), or
// one of the result's (each sums for itself).
//
//===----------------------------------------------------------------------===//
#include "RaggedDot.h"
#include "OpBuilding.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using stablehlo::DotGeneralOp;

/// Where elements of `lhs` belong to group g: [g, shape of lhs], of i1. Dim i
/// of `sizes` but its last goes along dim `outer[i]` of lhs.
static Value groupMask(Ops &ops, Value sizes, ArrayRef<int64_t> outer,
                       int64_t ragged, ArrayRef<int64_t> shape) {
  RankedTensorType type = Ops::typeOf(sizes);
  int64_t rank = type.getRank(), groups = type.getShape().back();
  Type number = ops.b.getI64Type();
  sizes = ops.convert(sizes, number);
  // Where each group ends: sums over those up to it, in one more dim.
  SmallVector<int64_t> tableShape(type.getShape());
  tableShape.push_back(groups);
  auto table = RankedTensorType::get(tableShape, number);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  dims.push_back(rank);
  Value spread = ops.broadcast(sizes, tableShape, dims);
  Value upTo =
      ops.compare("GE", ops.iota(table, rank - 1), ops.iota(table, rank));
  Value counted = ops.select(upTo, spread, ops.splat(table, 0));
  Value ends = ops.reduce<stablehlo::AddOp>(counted, 0, {rank});
  Value begins = ops.op<stablehlo::SubtractOp>(ends, sizes);
  SmallVector<int64_t> maskShape{groups};
  maskShape.append(shape.begin(), shape.end());
  auto mask = RankedTensorType::get(maskShape, number);
  SmallVector<int64_t> places =
      llvm::map_to_vector(outer, [](int64_t dim) { return dim + 1; });
  places.push_back(0);
  // Dims of a broadcast may be in any order.
  Value at = ops.iota(mask, ragged + 1);
  Value from = ops.compare("GE", at, ops.broadcast(begins, maskShape, places));
  Value to = ops.compare("LT", at, ops.broadcast(ends, maskShape, places));
  return ops.op<stablehlo::AndOp>(from, to);
}

static SmallVector<int64_t> shifted(ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

LogicalResult import::decomposeRaggedDot(chlo::RaggedDotOp op) {
  Ops ops(op);
  auto dims = op.getRaggedDotDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs(), sizes = op.getGroupSizes();
  RankedTensorType type = Ops::typeOf(lhs),
                   result = Ops::typeOf(op.getResult());
  if (!type.hasStaticShape() || !Ops::typeOf(rhs).hasStaticShape() ||
      !Ops::typeOf(sizes).hasStaticShape())
    return success(); // refused later, with its line
  ArrayRef<int64_t> batch = dims.getLhsBatchingDimensions(),
                    contracting = dims.getLhsContractingDimensions();
  int64_t ragged = dims.getLhsRaggedDimensions()[0];
  bool isBatch = llvm::is_contained(batch, ragged),
       isContracting = llvm::is_contained(contracting, ragged);
  auto product = [&](Value a, ArrayRef<int64_t> aBatch,
                     ArrayRef<int64_t> aContracting,
                     ArrayRef<int64_t> bContracting) -> Value {
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(
        op.getContext(), aBatch, dims.getRhsBatchingDimensions(), aContracting,
        bContracting);
    SmallVector<int64_t> shape;
    for (int64_t dim : aBatch)
      shape.push_back(Ops::typeOf(a).getDimSize(dim));
    auto addFree = [&](Value value, ArrayRef<int64_t> some,
                       ArrayRef<int64_t> others) {
      for (auto [dim, size] : llvm::enumerate(Ops::typeOf(value).getShape()))
        if (!llvm::is_contained(some, int64_t(dim)) &&
            !llvm::is_contained(others, int64_t(dim)))
          shape.push_back(size);
    };
    addFree(a, aBatch, aContracting);
    addFree(rhs, dims.getRhsBatchingDimensions(), bContracting);
    return DotGeneralOp::create(ops.b, result.clone(shape), a, rhs, numbers,
                                ArrayAttr(), stablehlo::DotAlgorithmAttr());
  };
  Value value;
  if (isBatch) {
    value =
        product(lhs, batch, contracting, dims.getRhsContractingDimensions());
  } else {
    // Dims of the group sizes: batches, then what is before the ragged dim.
    SmallVector<int64_t> outer;
    if (Ops::typeOf(sizes).getRank() > 1) {
      outer.assign(batch.begin(), batch.end());
      if (isContracting)
        for (int64_t dim : contracting) {
          if (dim == ragged)
            break;
          outer.push_back(dim);
        }
      else
        for (int64_t dim = 0; dim < ragged; ++dim)
          if (!llvm::is_contained(batch, dim) &&
              !llvm::is_contained(contracting, dim))
            outer.push_back(dim);
    }
    SmallVector<int64_t> expected;
    for (int64_t dim : outer)
      expected.push_back(type.getDimSize(dim));
    if (Ops::typeOf(sizes).getShape().drop_back() != ArrayRef(expected))
      return op.emitOpError("has group sizes of type ")
             << sizes.getType() << ", expected one list, or one for each of "
             << outer.size() << " dims before the ragged one";
    Value mask = groupMask(ops, sizes, outer, ragged, type.getShape());
    ArrayRef<int64_t> shape = Ops::typeOf(mask).getShape();
    Value copies = ops.broadcast(
        lhs, shape, llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1)));
    Value parts = ops.select(mask, copies, ops.splat(Ops::typeOf(copies), 0));
    SmallVector<int64_t> left = shifted(contracting),
                         right(dims.getRhsContractingDimensions());
    if (!isContracting) {
      left.push_back(0);
      right.push_back(dims.getRhsGroupDimensions()[0]);
    }
    value = product(parts, shifted(batch), left, right);
    if (isContracting && !batch.empty()) {
      // Groups come before batches.
      SmallVector<int64_t> order{int64_t(batch.size())};
      for (int64_t dim = 0; dim < Ops::typeOf(value).getRank(); ++dim)
        if (dim != int64_t(batch.size()))
          order.push_back(dim);
      SmallVector<int64_t> permuted =
          llvm::map_to_vector(order, [&](int64_t dim) {
            return Ops::typeOf(value).getDimSize(dim);
          });
      value = stablehlo::TransposeOp::create(ops.b, result.clone(permuted),
                                             value, order);
    }
  }
  if (value.getType() != result)
    return op.emitOpError("has a result of type ")
           << result << ", expected " << value.getType();
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

LogicalResult import::decomposeMulhi(chlo::MulhiOp op) {
  Ops ops(op);
  RankedTensorType type = Ops::typeOf(op.getResult());
  auto integer = cast<IntegerType>(type.getElementType());
  unsigned width = integer.getWidth();
  bool isSigned = !integer.isUnsigned();
  if (width < 2 || width > 64 || !type.hasStaticShape())
    return emitOpUnsupported(op, " for elements of type ") << integer;
  auto wideType = [&](bool sign) {
    return IntegerType::get(op.getContext(), 64,
                            sign ? IntegerType::Signless
                                 : IntegerType::Unsigned);
  };
  auto shift = [&](Value value, unsigned bits, bool keepSign) -> Value {
    Value count = ops.splatBits(Ops::typeOf(value), bits);
    return keepSign ? ops.op<stablehlo::ShiftRightArithmeticOp>(value, count)
                    : ops.op<stablehlo::ShiftRightLogicalOp>(value, count);
  };
  Value result;
  if (width <= 32) {
    Value a = ops.convert(op.getLhs(), wideType(isSigned)),
          b = ops.convert(op.getRhs(), wideType(isSigned));
    Value product = ops.op<stablehlo::MulOp>(a, b);
    result = ops.convert(shift(product, width, isSigned), integer);
  } else {
    // Halves, of which the upper ones carry the sign.
    Value mask = ops.splatBits(type, 0xFFFFFFFF);
    auto low = [&](Value value) -> Value {
      return ops.op<stablehlo::AndOp>(value, mask);
    };
    Value a0 = low(op.getLhs()), a1 = shift(op.getLhs(), 32, isSigned),
          b0 = low(op.getRhs()), b1 = shift(op.getRhs(), 32, isSigned);
    Value carry = shift(ops.op<stablehlo::MulOp>(a0, b0), 32, false);
    Value middle =
        ops.op<stablehlo::AddOp>(ops.op<stablehlo::MulOp>(a1, b0), carry);
    Value other =
        ops.op<stablehlo::AddOp>(ops.op<stablehlo::MulOp>(a0, b1), low(middle));
    Value top = ops.op<stablehlo::AddOp>(ops.op<stablehlo::MulOp>(a1, b1),
                                         shift(middle, 32, isSigned));
    result = ops.op<stablehlo::AddOp>(top, shift(other, 32, isSigned));
  }
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

//===- RankValues.cpp - Numbers that follow from the rank -----------------===//

#include "RankValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;

using Numbers = SmallVector<APInt>;
using Known = std::optional<Numbers>;

/// The integer type of a tensor of one element; null for others.
static IntegerType integerOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() != 1)
    return {};
  return dyn_cast<IntegerType>(tensor.getElementType());
}

static bool isUnsigned(IntegerType type) {
  return type.isUnsigned() || type.getWidth() == 1;
}

static bool compare(stablehlo::ComparisonDirection direction, const APInt &a,
                    const APInt &b, bool isUnsigned) {
  bool less = isUnsigned ? a.ult(b) : a.slt(b);
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return a == b;
  case stablehlo::ComparisonDirection::NE:
    return a != b;
  case stablehlo::ComparisonDirection::LT:
    return less;
  case stablehlo::ComparisonDirection::LE:
    return less || a == b;
  case stablehlo::ComparisonDirection::GT:
    return !less && a != b;
  case stablehlo::ComparisonDirection::GE:
    return !less;
  }
  llvm_unreachable("all directions are listed");
}

/// What `op` makes of two numbers; nullopt for an op that is not known, and for
/// a division that has no answer.
static std::optional<APInt> combine(Operation *op, const APInt &a,
                                    const APInt &b, bool isUnsigned) {
  using Result = std::optional<APInt>;
  bool divides =
      !b.isZero() && (isUnsigned || !(a.isMinSignedValue() && b.isAllOnes()));
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](stablehlo::AddOp) { return a + b; })
      .Case([&](stablehlo::SubtractOp) { return a - b; })
      .Case([&](stablehlo::MulOp) { return a * b; })
      .Case([&](stablehlo::DivOp) {
        return divides ? Result(isUnsigned ? a.udiv(b) : a.sdiv(b))
                       : std::nullopt;
      })
      .Case([&](stablehlo::RemOp) {
        return divides ? Result(isUnsigned ? a.urem(b) : a.srem(b))
                       : std::nullopt;
      })
      .Case([&](stablehlo::MaxOp) {
        return isUnsigned ? llvm::APIntOps::umax(a, b)
                          : llvm::APIntOps::smax(a, b);
      })
      .Case([&](stablehlo::MinOp) {
        return isUnsigned ? llvm::APIntOps::umin(a, b)
                          : llvm::APIntOps::smin(a, b);
      })
      .Case([&](stablehlo::AndOp) { return a & b; })
      .Case([&](stablehlo::OrOp) { return a | b; })
      .Case([&](stablehlo::XorOp) { return a ^ b; })
      .Case([&](stablehlo::CompareOp op) {
        return APInt(1, compare(op.getComparisonDirection(), a, b, isUnsigned));
      })
      .Default(std::nullopt);
}

const Numbers *RankValues::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second.get();
  Known result = integerOf(value.getType()) ? evaluate(value) : std::nullopt;
  std::unique_ptr<Numbers> &entry = known[value];
  if (result)
    entry = std::make_unique<Numbers>(std::move(*result));
  return entry.get();
}

Known RankValues::evaluate(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto manual = dyn_cast<spmd::ManualOp>(argument.getOwner()->getParentOp());
    const Numbers *outer =
        manual ? get(manual.getInputs()[argument.getArgNumber()]) : nullptr;
    return outer ? Known(*outer) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  IntegerType type = integerOf(value.getType());
  int64_t numRanks = mesh.getNumRanks();
  if (auto manual = dyn_cast<spmd::ManualOp>(op)) {
    const Numbers *inner =
        get(manual.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber()));
    return inner ? Known(*inner) : std::nullopt;
  }
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    return dense ? Known(Numbers(numRanks, *dense.value_begin<APInt>()))
                 : std::nullopt;
  }
  Numbers result;
  if (isa<stablehlo::PartitionIdOp>(op)) {
    for (int64_t rank = 0; rank < numRanks; ++rank)
      result.push_back(APInt(type.getWidth(), rank,
                             /*isSigned=*/false, /*implicitTrunc=*/true));
    return result;
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    // An entry of a table.
    auto table = slice.getOperand().getDefiningOp<stablehlo::ConstantOp>();
    auto dense = table ? dyn_cast<DenseIntElementsAttr>(table.getValue())
                       : DenseIntElementsAttr();
    if (!dense || cast<ShapedType>(dense.getType()).getRank() != 1 ||
        dense.empty())
      return std::nullopt;
    Value index = slice.getStartIndices().front();
    const Numbers *entries = get(index);
    if (!entries)
      return std::nullopt;
    bool unsignedIndex = isUnsigned(integerOf(index.getType()));
    auto values = llvm::to_vector(dense.getValues<APInt>());
    for (const APInt &entry : *entries) {
      uint64_t place = !unsignedIndex && entry.isNegative()
                           ? 0
                           : entry.getLimitedValue(values.size() - 1);
      result.push_back(values[place]);
    }
    return result;
  }
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<const Numbers *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(get(operand));
    if (!operands.back())
      return std::nullopt;
  }
  IntegerType first =
      operands.empty() ? IntegerType() : integerOf(op->getOperand(0).getType());
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op)) {
      result.push_back((*operands[0])[rank]);
    } else if (isa<stablehlo::ConvertOp>(op)) {
      const APInt &number = (*operands[0])[rank];
      if (type.getWidth() == 1)
        result.push_back(APInt(1, !number.isZero()));
      else
        result.push_back(isUnsigned(first)
                             ? number.zextOrTrunc(type.getWidth())
                             : number.sextOrTrunc(type.getWidth()));
    } else if (isa<stablehlo::NotOp>(op)) {
      result.push_back(~(*operands[0])[rank]);
    } else if (isa<stablehlo::NegOp>(op)) {
      result.push_back(-(*operands[0])[rank]);
    } else if (isa<stablehlo::SelectOp>(op)) {
      result.push_back(
          (*operands[(*operands[0])[rank].isZero() ? 2 : 1])[rank]);
    } else {
      std::optional<APInt> number;
      if (operands.size() == 2)
        number = combine(op, (*operands[0])[rank], (*operands[1])[rank],
                         isUnsigned(first));
      if (!number)
        return std::nullopt;
      result.push_back(*number);
    }
  }
  return result;
}

Value RankValues::localize(Operation *op, OpBuilder &builder,
                           RankTables &tables) {
  if (op->getNumResults() != 1 || isa<stablehlo::ConstantOp>(op))
    return {};
  IntegerType type = integerOf(op->getResult(0).getType());
  const Numbers *numbers = type ? get(op->getResult(0)) : nullptr;
  if (!numbers)
    return {};
  // The fewest axes that distinguish the values.
  ArrayRef<int64_t> sizes = mesh.getAxisSizes();
  SmallVector<int64_t> axes, table;
  for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
    bool matters = false;
    for (int64_t rank = 0; rank < mesh.getNumRanks() && !matters; ++rank)
      matters =
          (*numbers)[rank] != (*numbers)[firstAlong(sizes, {&axis, 1}, rank)];
    if (matters)
      axes.push_back(axis);
  }
  table.resize(tables.countCoordinates(axes));
  for (auto [rank, number] : llvm::enumerate(*numbers))
    table[coordinateAlong(sizes, axes, rank)] =
        isUnsigned(type) ? static_cast<int64_t>(number.getZExtValue())
                         : number.getSExtValue();
  Location loc = op->getLoc();
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  OpFoldResult entry = tables.lookup(table, axes);
  if (auto constant = dyn_cast<Attribute>(entry)) {
    APInt number(type.getWidth(),
                 static_cast<uint64_t>(cast<IntegerAttr>(constant).getInt()),
                 /*isSigned=*/false,
                 /*implicitTrunc=*/true);
    return stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(DenseElementsAttr::get(result, number))));
  }
  auto i64 = builder.getI64Type();
  Value number =
      arith::IndexCastOp::create(builder, loc, i64, cast<Value>(entry));
  SmallVector<int64_t> shape(result.getShape());
  Value local = tensor::FromElementsOp::create(
      builder, loc, RankedTensorType::get(shape, i64), number);
  return stablehlo::ConvertOp::create(builder, loc, result, local);
}

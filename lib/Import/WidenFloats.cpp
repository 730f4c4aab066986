//===- WidenFloats.cpp - Floats of four and six bits ----------------------===//
//
// f8E4M3FN has every number of f4E2M1FN, f6E2M3FN and f6E3M2FN, so values of
// these are kept in it. What computes them does so in f32 and is rounded to
// their numbers. Arguments and results, of the program and of calls of the
// host, have their own types: a byte each.
//
//===----------------------------------------------------------------------===//
#include "OpBuilding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_WIDENFLOATSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

static bool isNarrow(Type type) {
  return isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType>(
      getElementTypeOrSelf(type));
}

static Type wide(Type type) {
  Type element = Float8E4M3FNType::get(type.getContext());
  return isNarrow(type) ? cast<RankedTensorType>(type).clone(element) : type;
}

static bool hasNarrow(TypeRange types) { return llvm::any_of(types, isNarrow); }

/// `value`, of f32, rounded to the nearest number of `narrow`, ties to even.
/// NaN, which `narrow` lacks, becomes -0, as LLVM and ml_dtypes have it.
static Value roundTo(Ops &ops, Value value, Type narrow) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(narrow).getFloatSemantics();
  RankedTensorType type = Ops::typeOf(value);
  auto bits = type.clone(ops.b.getI32Type());
  double largest = APFloat::getLargest(semantics).convertToDouble();
  int fraction = APFloat::semanticsPrecision(semantics) - 1,
      least = APFloat::semanticsMinExponent(semantics);
  Value high = ops.splat(type, largest), low = ops.splat(type, -largest);
  Value inside = ops.op<MaxOp>(ops.op<MinOp>(value, high), low);
  // How far apart numbers are here: a power of two, by the exponent.
  Value word = BitcastConvertOp::create(ops.b, bits, inside);
  Value exponent = ops.op<AndOp>(word, ops.splatBits(bits, 0x7F800000));
  exponent =
      ops.op<MaxOp>(exponent, ops.splatBits(bits, uint64_t(127 + least) << 23));
  Value shifted = ops.op<SubtractOp>(
      exponent, ops.splatBits(bits, uint64_t(fraction) << 23));
  Value step = BitcastConvertOp::create(ops.b, type, shifted);
  Value steps =
      RoundNearestEvenOp::create(ops.b, type, ops.op<DivOp>(inside, step));
  Value rounded = ops.op<MulOp>(steps, step);
  Value isNumber = ops.compare("EQ", value, value);
  return ops.select(isNumber, rounded, ops.splat(type, -0.0));
}

/// Ops that move values, compare them or choose among them.
static bool keepsNumbers(Operation *op) {
  return isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::DataFlowEdgeOp,
             sdy::ManualComputationOp, sdy::ReturnOp, sdy::AllGatherOp,
             sdy::AllSliceOp, sdy::AllToAllOp, sdy::CollectivePermuteOp,
             AllGatherOp, AllToAllOp, CollectivePermuteOp, ReshapeOp,
             TransposeOp, SliceOp, ConcatenateOp, BroadcastInDimOp, PadOp,
             ReverseOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp,
             SelectOp, CompareOp, IsFiniteOp, MaxOp, MinOp, NegOp, AbsOp,
             ClampOp, WhileOp, CaseOp, IfOp, ReturnOp, OptimizationBarrierOp,
             SortOp, ScatterOp, ReduceOp, ReduceWindowOp, func::ReturnOp>(op);
}

/// Gives `op`, whose operands are wide already, wide results.
static LogicalResult widen(Operation *op) {
  bool writes = hasNarrow(op->getResultTypes());
  Ops ops(op);
  if (auto constant = dyn_cast<ConstantOp>(op); constant && writes) {
    auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!values)
      return emitUnsupported(op, "a constant of ") << constant.getType();
    auto type = cast<RankedTensorType>(wide(constant.getType()));
    auto convert = [&](APFloat number) {
      bool lost;
      number.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &lost);
      return number;
    };
    SmallVector<APFloat> numbers;
    if (values.isSplat())
      numbers.push_back(convert(values.getSplatValue<APFloat>()));
    else
      for (const APFloat &number : values.getValues<APFloat>())
        numbers.push_back(convert(number));
    Value copy =
        ConstantOp::create(ops.b, DenseElementsAttr::get(type, numbers));
    op->replaceAllUsesWith(ValueRange(copy));
    op->erase();
    return success();
  }
  bool isConversion = isa<ConvertOp>(op);
  if (writes && !keepsNumbers(op)) {
    bool isComputed = op->hasTrait<ElementwiseTrait>() || isa<IotaOp>(op);
    if (!isComputed || op->getNumResults() != 1)
      return emitUnsupported(op, "'")
             << op->getName() << "' at " << userLocation(op->getLoc())
             << " of floats of four or six bits; convert around it";
    // In f32, and back.
    Type narrow = getElementTypeOrSelf(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands())
      if (isConversion || isa<FloatType>(getElementTypeOrSelf(operand.get())))
        operand.set(ops.convert(operand.get(), ops.b.getF32Type()));
    Value result = op->getResult(0);
    auto type = Ops::typeOf(result).clone(ops.b.getF32Type());
    ops.b.setInsertionPointAfter(op);
    Value computed = isConversion ? op->getOperand(0) : result;
    if (!isConversion)
      result.setType(type);
    Value rounded = roundTo(ops, computed, narrow);
    Value kept = ops.convert(rounded, Float8E4M3FNType::get(op->getContext()));
    if (isConversion) {
      result.replaceAllUsesWith(kept);
      op->erase();
    } else {
      Operation *first = computed.getDefiningOp()->getNextNode();
      // All that reads the result but the rounding, which begins behind it.
      result.replaceUsesWithIf(kept, [&](OpOperand &use) {
        for (Operation *at = first; at; at = at->getNextNode()) {
          if (at == use.getOwner())
            return false;
          if (at == kept.getDefiningOp())
            break;
        }
        return true;
      });
    }
    return success();
  }
  for (Value result : op->getResults())
    result.setType(wide(result.getType()));
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(wide(argument.getType()));
  return success();
}

/// Lets the host, which `op` calls, see the types that it knows: those that
/// operands had are in `given`.
static void keepBorder(spmd::HostCallOp op, TypeRange given) {
  OpBuilder builder(op);
  for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), given))
    if (isNarrow(type))
      operand.set(ConvertOp::create(builder, op.getLoc(), type, operand.get()));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (isNarrow(result.getType())) {
      auto copy = ConvertOp::create(builder, op.getLoc(),
                                    wide(result.getType()), result);
      result.replaceAllUsesExcept(copy, copy);
    }
}

/// Gives what comes in, and has a narrow type, a wide copy that is used in its
/// place.
static void widenArguments(func::FuncOp main) {
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  for (BlockArgument argument : main.getArguments()) {
    if (!isNarrow(argument.getType()))
      continue;
    auto copy = ConvertOp::create(builder, argument.getLoc(),
                                  wide(argument.getType()), argument);
    argument.replaceAllUsesExcept(copy, copy);
  }
}

/// Gives what goes out the narrow types that callers know; what is checked
/// stays wide. Returns the function's types.
static SmallVector<Type> narrowResults(func::FuncOp main) {
  Operation *end = main.getBody().front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    bool isSeen = isNarrow(type) && !spmd::contract::Check::ofResult(main, i);
    types.push_back(isSeen ? type : wide(type));
    if (isSeen)
      end->setOperand(i, ConvertOp::create(builder, end->getLoc(), type,
                                           end->getOperand(i)));
  }
  return types;
}

namespace {
struct WidenFloatsPass final
    : shardc::impl::WidenFloatsPassBase<WidenFloatsPass> {
  using Base::Base;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    SmallVector<Operation *> ops;
    llvm::DenseMap<Operation *, SmallVector<Type>> hostCalls;
    bool any = hasNarrow(main.getArgumentTypes());
    main.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == main)
        return;
      ops.push_back(op);
      if (isa<spmd::HostCallOp>(op))
        hostCalls[op] = llvm::to_vector(op->getOperandTypes());
      any |=
          hasNarrow(op->getOperandTypes()) || hasNarrow(op->getResultTypes());
    });
    if (!any)
      return;
    for (Operation *op : ops)
      if (isa<BitcastConvertOp>(op) && (hasNarrow(op->getOperandTypes()) ||
                                        hasNarrow(op->getResultTypes()))) {
        emitUnsupported(op, "'")
            << op->getName() << "' at " << userLocation(op->getLoc())
            << " of floats of four or six bits; convert around it";
        return signalPassFailure();
      }
    widenArguments(main);
    for (Operation *op : ops)
      if (auto call = dyn_cast<spmd::HostCallOp>(op))
        keepBorder(call, hostCalls[op]);
      else if (failed(widen(op)))
        return signalPassFailure();
    main.setFunctionType(FunctionType::get(
        &getContext(), main.getArgumentTypes(), narrowResults(main)));
  }
};
} // namespace

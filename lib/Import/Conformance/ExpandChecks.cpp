//===- ExpandChecks.cpp - The checks of conformance files -----------------===//
//
// What a conformance file expects is said by ops of the check dialect, or by
// custom calls of their names. Here both become the ops that CollectChecks
// takes; `check.eq`, which has a result, is said in StableHLO.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/ConformancePasses.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace shardc;
using stablehlo::CustomCallOp;

namespace shardc {
#define GEN_PASS_DEF_EXPANDCHECKSPASS
#include "shardc/Import/ConformancePasses.h.inc"
} // namespace shardc

static InFlightDiagnostic refuse(CustomCallOp call) {
  return call.emitError("custom call @") << call.getCallTargetName() << " ";
}

/// As custom calls, expectations have tolerances of their own.
static LogicalResult expandCheck(CustomCallOp call) {
  StringRef what = call.getCallTargetName();
  if (call.getInputs().size() != 2 || call.getNumResults() != 0 ||
      call.getInputs()[0].getType() != call.getInputs()[1].getType())
    return refuse(call) << "expects two operands of one type and no result";
  OpBuilder builder(call);
  Value got = call.getInputs()[0], expected = call.getInputs()[1];
  if (what == "check.expect_eq")
    check::ExpectEqOp::create(builder, call.getLoc(), got, expected);
  else if (what == "check.expect_almost_eq")
    check::ExpectAlmostEqOp::create(builder, call.getLoc(), got, expected,
                                    builder.getF64FloatAttr(1e-3));
  else
    check::ExpectCloseOp::create(builder, call.getLoc(), got, expected,
                                 builder.getI64IntegerAttr(3),
                                 builder.getI64IntegerAttr(0));
  call.erase();
  return success();
}

static LogicalResult expandEq(CustomCallOp call) {
  if (call.getInputs().size() != 2 || call.getNumResults() != 1 ||
      call.getInputs()[0].getType() != call.getInputs()[1].getType())
    return refuse(call) << "expects two operands of one type and one result";
  OpBuilder builder(call);
  auto eq = check::EqOp::create(builder, call.getLoc(), call.getResultTypes(),
                                call.getInputs()[0], call.getInputs()[1]);
  call.replaceAllUsesWith(eq);
  call.erase();
  return success();
}

/// Says `check.eq` in StableHLO: floats within 1e-4 or equal (infinities),
/// others equal; of all elements where the result is a scalar.
static LogicalResult expandEqOp(check::EqOp op) {
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  if (resultType.getRank() != 0 && resultType.getShape() != type.getShape())
    return op.emitOpError("has a result of type ")
           << resultType << ", expected one element or the shape of " << type;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto predicate = type.clone(builder.getI1Type());
  auto compare = [&](stablehlo::ComparisonDirection how, Value a,
                     Value b) -> Value {
    return stablehlo::CompareOp::create(
        builder, predicate, a, b,
        stablehlo::ComparisonDirectionAttr::get(builder.getContext(), how),
        nullptr);
  };
  Value equal =
      compare(stablehlo::ComparisonDirection::EQ, op.getLhs(), op.getRhs());
  auto isNear = [&](Value lhs, Value rhs) -> Value {
    auto part = cast<RankedTensorType>(lhs.getType());
    Value difference = stablehlo::SubtractOp::create(builder, part, lhs, rhs);
    Value distance = stablehlo::AbsOp::create(builder, part, difference);
    Value limit = stablehlo::ConstantOp::create(
        builder, DenseElementsAttr::get(
                     part, builder.getFloatAttr(part.getElementType(), 1e-4)));
    return compare(stablehlo::ComparisonDirection::LE, distance, limit);
  };
  Value near;
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    auto part = type.clone(complex.getElementType());
    Value lhs = stablehlo::RealOp::create(builder, part, op.getLhs()),
          rhs = stablehlo::RealOp::create(builder, part, op.getRhs());
    Value real = isNear(lhs, rhs);
    lhs = stablehlo::ImagOp::create(builder, part, op.getLhs());
    rhs = stablehlo::ImagOp::create(builder, part, op.getRhs());
    near = stablehlo::AndOp::create(builder, predicate, real, isNear(lhs, rhs));
  } else if (isa<FloatType>(type.getElementType())) {
    near = isNear(op.getLhs(), op.getRhs());
  }
  if (near)
    equal = stablehlo::OrOp::create(builder, predicate, equal, near);
  if (resultType != predicate) {
    auto scalar = RankedTensorType::get({}, builder.getI1Type());
    Value yes = stablehlo::ConstantOp::create(
        builder, DenseElementsAttr::get(scalar, true));
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    auto reduce = stablehlo::ReduceOp::create(builder, TypeRange(scalar), equal,
                                              yes, dims);
    Block &body = reduce.getBody().emplaceBlock();
    Value a = body.addArgument(scalar, op.getLoc()),
          b = body.addArgument(scalar, op.getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    Value both = stablehlo::AndOp::create(inside, op.getLoc(), scalar, a, b);
    stablehlo::ReturnOp::create(inside, op.getLoc(), both);
    equal = reduce.getResult(0);
  }
  op.getResult().replaceAllUsesWith(equal);
  op.erase();
  return success();
}

/// Conformance files may call the function that they run as they like.
static void nameMain(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return;
  func::FuncOp only = *functions.begin();
  bool checks = false;
  only.walk([&](Operation *op) {
    checks |= isa_and_nonnull<check::CheckDialect>(op->getDialect());
  });
  if (checks && only.getNumArguments() == 0)
    only.setSymName("main");
}

namespace {
struct ExpandChecksPass final
    : shardc::impl::ExpandChecksPassBase<ExpandChecksPass> {
  void runOnOperation() override {
    SmallVector<CustomCallOp> calls;
    getOperation().walk([&](CustomCallOp call) { calls.push_back(call); });
    for (CustomCallOp call : calls) {
      auto expand = llvm::StringSwitch<LogicalResult (*)(CustomCallOp)>(
                        call.getCallTargetName())
                        .Cases({"check.expect_eq", "check.expect_almost_eq",
                                "check.expect_close"},
                               expandCheck)
                        .Case("check.eq", expandEq)
                        .Default(nullptr);
      if (expand && failed(expand(call)))
        return signalPassFailure();
    }
    SmallVector<check::EqOp> tests;
    getOperation().walk([&](check::EqOp op) { tests.push_back(op); });
    for (check::EqOp op : tests)
      if (failed(expandEqOp(op)))
        return signalPassFailure();
    nameMain(getOperation());
  }
};
} // namespace

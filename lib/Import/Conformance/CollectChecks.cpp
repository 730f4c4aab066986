//===- CollectChecks.cpp - Expectations as results ------------------------===//
//
// What a check op looks at becomes two more results of @main, got and expected,
// which no stage after import treats in a way of its own; whoever runs the
// program compares them. In a loop's body or a branch whether it holds is one
// i1, which is carried out.
//
//===----------------------------------------------------------------------===//
#include "../OpBuilding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/ConformancePasses.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

namespace shardc {
#define GEN_PASS_DEF_COLLECTCHECKSPASS
#include "shardc/Import/ConformancePasses.h.inc"
} // namespace shardc

namespace {
/// One expectation: the operands, the constant in place of the second, and how
/// they are compared.
struct Check {
  Value got, expected;
  ElementsAttr constant;
  spmd::CheckAttr how;
};
} // namespace

/// Fails, with a diagnostic, where `op` asks for a tolerance or a distance that
/// no two numbers have.
static FailureOr<Check> describe(Operation *op) {
  Check check;
  MLIRContext *context = op->getContext();
  auto how = [&](spmd::CheckKind kind, FloatAttr tolerance = {},
                 uint64_t minUlps = 0, uint64_t maxUlps = 0) {
    return spmd::CheckAttr::getChecked([op] { return op->emitOpError(); },
                                       context, kind, tolerance, minUlps,
                                       maxUlps);
  };
  auto almost = [&](const APFloat &tolerance) {
    return how(spmd::CheckKind::AlmostEqual,
               FloatAttr::get(Float64Type::get(context), tolerance));
  };
  check.got = op->getOperand(0);
  if (op->getNumOperands() > 1)
    check.expected = op->getOperand(1);
  if (auto eq = dyn_cast<check::ExpectEqConstOp>(op)) {
    check.constant = eq.getValue();
    check.how = how(spmd::CheckKind::Equal);
  } else if (isa<check::ExpectEqOp>(op)) {
    check.how = how(spmd::CheckKind::Equal);
  } else if (auto near = dyn_cast<check::ExpectAlmostEqOp>(op)) {
    check.how = almost(near.getTolerance());
  } else if (auto near = dyn_cast<check::ExpectAlmostEqConstOp>(op)) {
    check.constant = near.getValue();
    check.how = almost(near.getTolerance());
  } else {
    auto close = cast<check::ExpectCloseOp>(op);
    check.how = how(spmd::CheckKind::Close, FloatAttr(),
                    close.getMinUlpDifference(), close.getMaxUlpDifference());
  }
  if (!check.how)
    return failure();
  return check;
}

//===----------------------------------------------------------------------===//
// Checks in loops and branches
//===----------------------------------------------------------------------===//

/// Floats as integers that are as far apart as there are numbers between them
/// between them; zeros are one.
static Value orderOf(Ops &ops, Value value) {
  unsigned width = Ops::typeOf(value).getElementTypeBitWidth();
  auto type = Ops::withElement(value, ops.b.getIntegerType(width));
  Value bits = stablehlo::BitcastConvertOp::create(ops.b, type, value);
  bits = ops.convert(bits, ops.b.getI64Type());
  RankedTensorType wide = Ops::typeOf(bits);
  Value zero = ops.splat(wide, 0);
  Value least = ops.splatBits(wide, ~uint64_t(0) << (width - 1));
  Value mirrored = ops.op<stablehlo::SubtractOp>(least, bits);
  return ops.select(ops.compare("LT", bits, zero), mirrored, bits);
}

/// Whether a check holds, as one i1, at its place; null where that cannot be
/// said in ops.
static Value holds(Operation *op, Check &check) {
  Ops ops(op);
  RankedTensorType type = Ops::typeOf(check.got);
  Type element = type.getElementType();
  Value got = check.got, expected = check.expected, equal;
  auto either = [&](Value x, Value y) { return ops.op<stablehlo::OrOp>(x, y); };
  auto both = [&](Value x, Value y) { return ops.op<stablehlo::AndOp>(x, y); };
  auto nans = [&] {
    return both(ops.compare("NE", got, got),
                ops.compare("NE", expected, expected));
  };
  bool isFloat = isa<FloatType>(element);
  spmd::CheckKind kind = check.how.getKind();
  if (kind == spmd::CheckKind::Equal || isa<IntegerType>(element)) {
    equal = ops.compare("EQ", got, expected);
  } else if (!isFloat || element.getIntOrFloatBitWidth() < 16) {
    return {};
  } else if (kind == spmd::CheckKind::AlmostEqual) {
    double tolerance = check.how.getTolerance().getValueAsDouble();
    Value apart =
        ops.op<stablehlo::AbsOp>(ops.op<stablehlo::SubtractOp>(got, expected));
    Value near = ops.compare("LE", apart, ops.splat(type, tolerance));
    equal = either(either(near, ops.compare("EQ", got, expected)), nans());
  } else {
    Value distance = ops.op<stablehlo::AbsOp>(ops.op<stablehlo::SubtractOp>(
        orderOf(ops, got), orderOf(ops, expected)));
    RankedTensorType wide = Ops::typeOf(distance);
    Value inside = both(
        ops.compare("LE", distance, ops.splat(wide, check.how.getMaxUlps())),
        ops.compare("GE", distance, ops.splat(wide, check.how.getMinUlps())));
    auto finite = [&](Value x) -> Value {
      return stablehlo::IsFiniteOp::create(
          ops.b, Ops::withElement(x, ops.b.getI1Type()), x);
    };
    inside = both(inside, both(finite(got), finite(expected)));
    Value infinities = both(ops.compare("EQ", got, expected),
                            ops.op<stablehlo::NotOp>(finite(got)));
    equal = either(either(inside, infinities), nans());
  }
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return ops.reduce<stablehlo::AndOp>(equal, 1, dims);
}

/// Carries `flag`, which is known in a region of `op`, out of it: the result is
/// false if it was false in any iteration. Null for ops whose regions do not
/// run in order.
static Value carryOut(Operation *op, Value flag) {
  Region *inside = flag.getParentRegion();
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto yes = [&](OpBuilder &at) -> Value {
    auto type = RankedTensorType::get({}, at.getI1Type());
    return stablehlo::ConstantOp::create(at, loc,
                                         DenseElementsAttr::get(type, true));
  };
  auto grow = [&](ValueRange operands) {
    SmallVector<Type> types(op->getResultTypes());
    types.push_back(flag.getType());
    OperationState state(loc, op->getName(), operands, types, op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *twin = builder.create(state);
    op->replaceAllUsesWith(twin->getResults().drop_back());
    op->erase();
    return Value(twin->getResults().back());
  };
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    if (inside == &loop.getCond())
      return {};
    SmallVector<Value> operands(loop.getOperands());
    operands.push_back(yes(builder));
    loop.getCond().addArgument(flag.getType(), loc);
    Value before = loop.getBody().addArgument(flag.getType(), loc);
    Operation *end = loop.getBody().front().getTerminator();
    OpBuilder at(end);
    Value now = stablehlo::AndOp::create(at, loc, flag.getType(), before, flag);
    end->insertOperands(end->getNumOperands(), now);
    return grow(operands);
  }
  if (!isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
    return {};
  for (Region &region : op->getRegions()) {
    Operation *end = region.front().getTerminator();
    OpBuilder at(end);
    Value held = &region == inside ? flag : yes(at);
    end->insertOperands(end->getNumOperands(), held);
  }
  return grow(op->getOperands());
}

/// What checks are called that stand for others.
using Names = llvm::DenseMap<Operation *, StringAttr>;

/// Puts a check on one i1 in @main in the place of `op`, which is in a
/// region, and has its name.
static LogicalResult hoist(func::FuncOp main, Operation *op, Names &names) {
  auto refuse = [&](Operation *parent) {
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op->getLoc())
           << " is in a region of '" << parent->getName()
           << "', where it cannot be followed";
  };
  for (Operation *parent = op->getParentOp(); parent != main;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<stablehlo::WhileOp>(parent);
    if ((!loop && !isa<stablehlo::CaseOp, stablehlo::IfOp>(parent)) ||
        (loop && loop.getCond().isAncestor(op->getParentRegion())))
      return refuse(parent);
  }
  FailureOr<Check> check = describe(op);
  if (failed(check))
    return failure();
  if (check->constant) {
    OpBuilder builder(op);
    check->expected =
        stablehlo::ConstantOp::create(builder, op->getLoc(), check->constant);
  }
  Value flag = holds(op, *check);
  if (!flag)
    return refuse(op->getParentOp());
  while (flag.getParentRegion() != &main.getBody())
    flag = carryOut(flag.getParentRegion()->getParentOp(), flag);
  OpBuilder builder(main.getContext());
  builder.setInsertionPointAfterValue(flag);
  auto yes =
      DenseElementsAttr::get(cast<RankedTensorType>(flag.getType()), true);
  names[check::ExpectEqConstOp::create(builder, op->getLoc(), flag, yes)] =
      op->getName().getIdentifier();
  op->erase();
  return success();
}

static LogicalResult collectChecks(func::FuncOp main) {
  SmallVector<Operation *> checks;
  Names names;
  auto find = [&] {
    checks.clear();
    main.walk([&](Operation *op) {
      if (isa_and_nonnull<check::CheckDialect>(op->getDialect()))
        checks.push_back(op);
    });
  };
  find();
  for (Operation *op : checks) {
    if (op->getParentOp() != main && failed(hoist(main, op, names)))
      return failure();
  }
  find();
  Operation *terminator = main.getBody().front().getTerminator();
  for (Operation *op : checks) {
    FailureOr<Check> check = describe(op);
    if (failed(check))
      return failure();
    OpBuilder builder(op);
    if (check->constant)
      check->expected =
          stablehlo::ConstantOp::create(builder, op->getLoc(), check->constant);
    unsigned at = main.getNumResults();
    StringAttr inside = names.lookup(op);
    StringRef name = inside ? inside.getValue() : op->getName().getStringRef();
    auto expected = spmd::CheckAttr::get(
        op->getContext(), spmd::CheckKind::Expected, FloatAttr(), 0, 0);
    auto attrs = [&](bool got) {
      NamedAttrList list;
      list.set(spmd::contract::Name::name(),
               builder.getStringAttr(
                   (name + " at " + userLocation(op->getLoc())).str()));
      list.set(spmd::contract::Check::name(), got ? check->how : expected);
      return list.getDictionary(op->getContext());
    };
    if (failed(main.insertResult(at, check->got.getType(), attrs(true))) ||
        failed(
            main.insertResult(at + 1, check->expected.getType(), attrs(false))))
      return failure();
    terminator->insertOperands(at, {check->got, check->expected});
    op->erase();
  }
  return success();
}

namespace {
struct CollectChecksPass final
    : shardc::impl::CollectChecksPassBase<CollectChecksPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(
            collectChecks(getOperation().lookupSymbol<func::FuncOp>("main"))))
      signalPassFailure();
  }
};
} // namespace

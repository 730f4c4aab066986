//===- CollectChecks.cpp - Expectations as results ------------------------===//
//
// What a check op looks at becomes two more results of @main, got and expected,
// which no stage after import treats in a way of its own; whoever runs the
// program compares them.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_COLLECTCHECKSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {
/// One expectation: the operands, the constant in place of the second, and how
/// they are compared, as `spmd.check` says it.
struct Check {
  Value got, expected;
  ElementsAttr constant;
  std::string how;
};
} // namespace

static Check describe(Operation *op) {
  Check check;
  llvm::raw_string_ostream how(check.how);
  check.got = op->getOperand(0);
  if (op->getNumOperands() > 1)
    check.expected = op->getOperand(1);
  if (auto eq = dyn_cast<check::ExpectEqConstOp>(op)) {
    check.constant = eq.getValue();
    how << "eq";
  } else if (isa<check::ExpectEqOp>(op)) {
    how << "eq";
  } else if (auto almost = dyn_cast<check::ExpectAlmostEqOp>(op)) {
    how << "almost_eq " << almost.getTolerance().convertToDouble();
  } else if (auto almost = dyn_cast<check::ExpectAlmostEqConstOp>(op)) {
    check.constant = almost.getValue();
    how << "almost_eq " << almost.getTolerance().convertToDouble();
  } else {
    auto close = cast<check::ExpectCloseOp>(op);
    how << "close " << close.getMinUlpDifference() << " "
        << close.getMaxUlpDifference();
  }
  return check;
}

static LogicalResult collectChecks(func::FuncOp main) {
  SmallVector<Operation *> checks;
  main.walk([&](Operation *op) {
    if (isa_and_nonnull<check::CheckDialect>(op->getDialect()))
      checks.push_back(op);
  });
  Operation *terminator = main.getBody().front().getTerminator();
  for (Operation *op : checks) {
    if (op->getParentOp() != main)
      return op->emitError("unsupported: '")
             << op->getName() << "' at " << userLocation(op->getLoc())
             << " stands in a region of '" << op->getParentOp()->getName()
             << "', where it may run any number of times";
    Check check = describe(op);
    OpBuilder builder(op);
    if (check.constant)
      check.expected =
          stablehlo::ConstantOp::create(builder, op->getLoc(), check.constant);
    unsigned at = main.getNumResults();
    auto attrs = [&](bool got) {
      NamedAttrList list;
      list.set("spmd.name",
               builder.getStringAttr((op->getName().getStringRef() + " at " +
                                      userLocation(op->getLoc()))
                                         .str()));
      list.set("spmd.check",
               builder.getStringAttr(got ? check.how : "expected"));
      return list.getDictionary(op->getContext());
    };
    if (failed(main.insertResult(at, check.got.getType(), attrs(true))) ||
        failed(
            main.insertResult(at + 1, check.expected.getType(), attrs(false))))
      return failure();
    terminator->insertOperands(at, {check.got, check.expected});
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

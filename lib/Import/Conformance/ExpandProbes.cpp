//===- ExpandProbes.cpp - Values that tests look at -----------------------===//
#include "ExpandProbes.h"
#include "../OpBuilding.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/Interpreter/IR/Interpreter.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

/// The value that `probe`, in the body of `loop`, sees in the iteration that
/// `check` asks for. The loop carries how many iterations there were, and the
/// value of this one; a check that it came at all stands before `check`.
static Value carryOut(stablehlo::WhileOp loop, interpreter::ProbeOp probe,
                      check::ExpectSerializedEqOp check) {
  OpBuilder builder(check);
  uint32_t iteration = check.getIteration();
  Block *block = probe->getBlock();
  Location loc = loop.getLoc();
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Type type = probe.getType();
  OpBuilder before(loop);
  Ops outer(loop);
  Value zero = outer.splat(scalar, 0);
  Value none = outer.splat(cast<RankedTensorType>(type), 0);
  SmallVector<Value> operands(loop.getOperands());
  operands.append({zero, none});
  Block &cond = loop.getCond().front();
  cond.addArgument(scalar, loc);
  cond.addArgument(type, loc);
  Value count = block->addArgument(scalar, loc);
  Value kept = block->addArgument(type, loc);
  Operation *end = block->getTerminator();
  Ops inner(end);
  Value wanted = inner.splat(scalar, iteration), one = inner.splat(scalar, 1);
  Value isIt = inner.compare("EQ", count, wanted);
  Value chosen = inner.select(isIt, probe.getOperand(), kept);
  Value more = inner.op<stablehlo::AddOp>(count, one);
  end->insertOperands(end->getNumOperands(), {more, chosen});
  SmallVector<Type> types(loop.getResultTypes());
  types.append({scalar, type});
  auto longer = stablehlo::WhileOp::create(before, loc, types, operands);
  longer->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  longer.getCond().takeBody(loop.getCond());
  longer.getBody().takeBody(loop.getBody());
  loop.replaceAllUsesWith(longer.getResults().drop_back(2));
  loop.erase();
  // An iteration that never came is one that does not hold.
  Ops after(check);
  Value tripCount = longer.getResults()[longer.getNumResults() - 2];
  Value came = after.compare("GT", tripCount, after.splat(scalar, iteration));
  auto yes = RankedTensorType::get({}, builder.getI1Type());
  Value expected = after.splatBits(yes, 1);
  check::ExpectEqOp::create(builder, check.getLoc(), came, expected);
  return longer.getResults().back();
}

LogicalResult import::expandProbes(ModuleOp module) {
  SmallVector<check::ExpectSerializedEqOp> checks;
  SmallVector<interpreter::ProbeOp> probes;
  SmallVector<interpreter::PrintOp> prints;
  module.walk([&](Operation *op) {
    if (auto check = dyn_cast<check::ExpectSerializedEqOp>(op))
      checks.push_back(check);
    else if (auto probe = dyn_cast<interpreter::ProbeOp>(op))
      probes.push_back(probe);
    else if (auto print = dyn_cast<interpreter::PrintOp>(op))
      prints.push_back(print);
  });
  for (interpreter::PrintOp print : prints) {
    print.replaceAllUsesWith(print.getOperand());
    print.erase();
  }
  llvm::StringMap<interpreter::ProbeOp> byName;
  for (interpreter::ProbeOp probe : probes)
    if (!byName.try_emplace(probe.getProbeId(), probe).second)
      return probe.emitOpError("has the name \"")
             << probe.getProbeId() << "\" of another probe";
  for (check::ExpectSerializedEqOp check : checks) {
    auto refuse = [&](const Twine &why) {
      return emitUnsupported(check, "'")
             << check->getName() << "' at " << userLocation(check.getLoc())
             << " names the probe \"" << check.getProbeId() << "\", " << why;
    };
    auto found = byName.find(check.getProbeId());
    if (found == byName.end())
      return refuse("which is not in this module");
    interpreter::ProbeOp probe = found->second;
    uint32_t iteration = check.getIteration();
    Block *block = probe->getBlock();
    Value seen;
    OpBuilder builder(check);
    if (block == check->getBlock() && probe->isBeforeInBlock(check)) {
      if (iteration != 0)
        return refuse("which is reached once, but asks for iteration " +
                      Twine(iteration));
      seen = probe.getOperand();
    } else {
      auto loop = dyn_cast<stablehlo::WhileOp>(block->getParentOp());
      if (!loop || block->getParent() != &loop.getBody() ||
          loop->getBlock() != check->getBlock() ||
          !loop->isBeforeInBlock(check))
        return refuse("which is in a region that cannot be followed");
      seen = carryOut(loop, probe, check);
    }
    check::ExpectEqOp::create(builder, check.getLoc(), check.getExpected(),
                              seen);
    check.erase();
  }
  for (interpreter::ProbeOp probe : probes) {
    probe.replaceAllUsesWith(probe.getOperand());
    probe.erase();
  }
  return success();
}

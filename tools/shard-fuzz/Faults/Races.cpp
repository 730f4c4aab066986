//===- Races.cpp - What keeps ranks and threads apart, left out -----------===//

#include "Plant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;
using namespace shardc::spmd;

/// Waits for readers of a source come after what is behind them.
static bool releaseTooLate(ModuleOp module) {
  bool any = false;
  for (ReleaseSiteOp op : all<ReleaseSiteOp>(module)) {
    Operation *next = op->getNextNode(), *place = next;
    // More sites than these are never unreleased.
    constexpr int kMostSites = 3;
    int sites = 0;
    while (!place->hasTrait<OpTrait::IsTerminator>() &&
           !(isa<RunSiteOp>(place) && ++sites == kMostSites))
      place = place->getNextNode();
    if (place == next)
      continue;
    op->moveBefore(place);
    any = true;
  }
  return any;
}

/// Each part of a loop goes on to the end of the last one.
static bool shareToTheEnd(ModuleOp module) {
  bool any = false;
  module.walk([&](scf::ForOp loop) {
    if (!contract::Parts::has(loop))
      return;
    loop.walk([&](arith::SelectOp select) {
      auto isLast = select.getCondition().getDefiningOp<arith::CmpIOp>();
      if (!isLast || isLast.getPredicate() != arith::CmpIPredicate::eq ||
          !select.getType().isIndex())
        return;
      select.getResult().replaceAllUsesWith(select.getTrueValue());
      any = true;
    });
  });
  return any;
}

ArrayRef<Fault> shardc::fuzz::raceFaults() {
  static const Fault faults[] = {
      {"source-changes-before-its-release", releaseTooLate, "spmd-release-late",
       "while,scan,while_until,stencil,roll,reduce_window"},
      {"memory-of-a-source-goes-on-before-its-release", releaseTooLate,
       "spmd-plan-arena"},
      {"each-part-goes-on-to-the-end", shareToTheEnd,
       "spmd-generate-cpu-kernels"},
  };
  return faults;
}

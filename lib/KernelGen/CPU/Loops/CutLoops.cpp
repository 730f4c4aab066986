//===- CutLoops.cpp - Loops of single elements in parts, for threads ------===//
//
// Scans, scatters and solvers are loops that lowering wrote down, not nests of
// linalg. Parts of one may run at the same time where none touches what another
// one writes. Three things show that, each with a way to cut in a file of its
// own: CutIterations, CutShares, CutPositions.
//
// In all of these each element is computed by one part as the whole loop does
// it, so the bits do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//
#include "CutLoops.h"
#include "../Nests/Nest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Machine/Cost.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_CUTLOOPSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

using namespace shardc;
using namespace shardc::cpu::loops;

scf::ForOp cpu::loops::beginParts(scf::ForOp nest, int64_t parts) {
  OpBuilder b(nest);
  Location loc = nest.getLoc();
  auto index = [&](int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  auto loop = scf::ForOp::create(b, loc, index(0), index(parts), index(1));
  spmd::contract::Parts::set(loop, b.getI64IntegerAttr(parts));
  return loop;
}

/// About how many elements `block` reads or writes.
static double elementsIn(Block &block) {
  double elements = 0;
  for (Operation &op : block) {
    double times = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      times = tripsOf(loop);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (int64_t range : generic.getStaticLoopRanges())
        times *= ShapedType::isDynamic(range) ? cpu::Quantity{}.guess() : range;
      elements += times;
      continue;
    } else if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      elements += 0.5;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        elements += times * elementsIn(inner);
  }
  return elements;
}

/// Cuts `nest` in parts if that gains time; false if it is as it was.
static bool cutLoop(scf::ForOp nest, int64_t parts) {
  if (nest->getNumResults())
    return false;
  Cost cost(machineOf(nest));
  // About as many bytes as an element that is read and written has.
  double seconds = cost.access(8 * tripsOf(nest) * elementsIn(*nest.getBody()));
  if (seconds < cost.getMachine().forkSeconds)
    return false;
  SmallVector<memref::AllocOp> buffers;
  std::optional<SmallVector<Access>> accesses = accessesIn(nest, buffers);
  auto writes = [](const Access &access) { return access.writes; };
  if (!accesses || llvm::none_of(*accesses, writes) ||
      llvm::any_of(*accesses, [&](const Access &access) {
        return access.writes && !isFixedIn(access.root, nest) &&
               !access.root.getDefiningOp<memref::AllocOp>();
      }))
    return false;
  return cutIterations(nest, *accesses, buffers, parts) ||
         (buffers.empty() && (cutShares(nest, *accesses, parts) ||
                              cutPositions(nest, *accesses, parts)));
}

/// Cuts loops of `region`, outer ones first.
static void cutLoopsIn(Region &region, int64_t parts) {
  for (Operation &op : llvm::make_early_inc_range(region.getOps())) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (isa<linalg::LinalgOp>(op) || spmd::contract::Parts::has(&op) ||
        (loop && cutLoop(loop, parts)))
      continue;
    for (Region &inner : op.getRegions())
      cutLoopsIn(inner, parts);
  }
}

namespace {
struct CutLoopsPass final : shardc::impl::CutLoopsPassBase<CutLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (threads > 1)
      cutLoopsIn(getOperation().getBody(), threads);
  }
};
} // namespace

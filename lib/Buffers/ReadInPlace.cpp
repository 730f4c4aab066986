//===- ReadInPlace.cpp - Arguments that an exchange leaves in place -------===//
//
// Where sizes are open, arguments that an op combines are moved to where one of
// them lies. In most bindings they are there already, and the exchange copies.
// What it receives is read there in place of a copy, where nothing but reading
// is done with it: the runtime says which, when the program runs.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

namespace shardc {
#define GEN_PASS_DEF_READINPLACEPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// True if nothing is done with `buffer`, which `site` writes, but reading it
/// and parts of it.
static bool isOnlyRead(Value buffer, RunSiteOp site) {
  return llvm::all_of(buffer.getUses(), [&](OpOperand &operand) {
    Operation *op = operand.getOwner();
    if (isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
            op))
      return isOnlyRead(op->getResult(0), site);
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return operand.get() != copy.getTarget();
    if (isa<linalg::LinalgOp, PairStepOp>(op))
      return cast<DestinationStyleOpInterface>(op).isDpsInput(&operand);
    if (auto other = dyn_cast<RunSiteOp>(op))
      return other == site || !llvm::is_contained(other.getInits(), buffer);
    return isa<memref::DimOp, memref::LoadOp, StartSiteOp, ReleaseSiteOp>(op);
  });
}

/// The buffer that `op` writes, if that may be the argument which it reads as
/// well; else nothing.
static memref::AllocOp findCopy(RunSiteOp op, const shardrt::SiteTable &table,
                                int64_t numInputs) {
  const shardrt::Site &site = table.sites[op.getSite()];
  BlockArgument argument = argumentOf(op);
  if (site.kind != shardrt::SiteKind::Exchange || site.inPlace ||
      op.getInits().size() != 1 || op.getAccumulates() || !argument ||
      argument.getArgNumber() >= numInputs)
    return {};
  // Other sizes are known: then something moves.
  bool isOpen = llvm::any_of(site.exchange.dims, [](const DimExchange &dim) {
    return static_cast<bool>(dim.ownedFormula);
  });
  auto copy = op.getInits().front().getDefiningOp<memref::AllocOp>();
  // A region that the program cuts itself has blocks of known sizes.
  Type type = op.getInputs().front().getType();
  return isOpen && copy &&
                 memref::CastOp::areCastCompatible(type, copy.getType()) &&
                 copy.getType().getLayout().isIdentity() && isOnlyRead(copy, op)
             ? copy
             : memref::AllocOp();
}

namespace {
struct ReadInPlacePass final
    : shardc::impl::ReadInPlacePassBase<ReadInPlacePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ArrayAttr inputs = contract::EntryInputs::get(module);
    if (!hasSites(module) || !inputs)
      return;
    FailureOr<shardrt::SiteTable> table = readSites(module);
    if (failed(table))
      return signalPassFailure();
    SmallVector<std::pair<RunSiteOp, memref::AllocOp>> copies;
    module.walk([&](RunSiteOp op) {
      if (memref::AllocOp copy = findCopy(op, *table, inputs.size()))
        copies.push_back({op, copy});
    });
    for (auto [site, copy] : copies) {
      // Whatever reads it comes behind what it may be.
      if (Operation *view = site.getInputs().front().getDefiningOp())
        view->moveBefore(&view->getBlock()->front());
      OpBuilder builder(copy);
      builder.setInsertionPointAfter(copy);
      auto received =
          ReceivedOp::create(builder, copy.getLoc(), copy, site.getSite());
      // Its sizes are those of the buffer.
      copy->replaceUsesWithIf(ValueRange{received}, [&](OpOperand &operand) {
        return operand.getOwner() != received &&
               !isa<memref::DimOp>(operand.getOwner());
      });
    }
  }
};
} // namespace

//===- LeaveBlocks.cpp - Exchanges for windows move margins alone ---------===//
//
// An exchange before a window writes the rank's own block into the middle of
// its result, between what others own. Of a large block that is a pass over
// memory by itself, for one op that reads it. That op can have the block from
// where it is, a part at a time; whoever writes its kernel knows the parts. So
// the exchange moves the margins, and the copy of the block is an op like any
// other.
//
//===----------------------------------------------------------------------===//
#include "UpdateSites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdSites.h"
#include "shardc/Support/ElementBytes.h"

namespace shardc {
#define GEN_PASS_DEF_LEAVEBLOCKSPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// What `site` writes, if that is large and one reduction alone reads it.
static memref::AllocOp findWindowed(RunSiteOp site) {
  if (site.getInits().size() != 1 || site.getAccumulates())
    return {};
  auto buffer = site.getInits()[0].getDefiningOp<memref::AllocOp>();
  auto block = dyn_cast<MemRefType>(site.getInputs()[0].getType());
  if (!buffer || buffer->getBlock() != site->getBlock() || !block ||
      !block.hasStaticShape() || !buffer.getType().hasStaticShape() ||
      block.getRank() != buffer.getType().getRank() ||
      buffer.getType().getNumElements() *
              elementBytes(buffer.getType().getElementType()) <=
          machineOf(site).cacheBytes)
    return {};
  linalg::LinalgOp reader;
  auto isReader = [&](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!op || reader || !op.isDpsInput(&use) || !op.getNumReductionLoops() ||
        op->getBlock() != site->getBlock())
      return false;
    reader = op;
    return true;
  };
  for (OpOperand &use : buffer->getUses()) {
    if (use.getOwner() == site)
      continue;
    auto view = dyn_cast<memref::ExpandShapeOp>(use.getOwner());
    if (view ? !view->hasOneUse() || !isReader(*view->use_begin())
             : !isReader(use))
      return {};
  }
  return reader ? buffer : memref::AllocOp();
}

/// Where each rank's block of `type` begins in what it needs, by dim; nothing
/// where that is not the same for all, or a block is not in what is needed.
static std::optional<SmallVector<int64_t>>
beginningOfBlock(const Exchange &exchange, MemRefType type) {
  SmallVector<int64_t> low(type.getRank(), 0);
  for (const DimExchange &dim : exchange.dims) {
    for (auto [owned, needed] : llvm::zip_equal(dim.owned, dim.needed)) {
      if (owned.begin < needed.begin || owned.end > needed.end ||
          owned.end - owned.begin != type.getDimSize(dim.dim))
        return std::nullopt;
      int64_t here = owned.begin - needed.begin;
      if (&owned != &dim.owned.front() && low[dim.dim] != here)
        return std::nullopt;
      low[dim.dim] = here;
    }
  }
  return low;
}

/// Lets nothing arrive but what is before and behind the own block in dims that
/// are cut; false if there is no such thing.
static bool leaveBlock(Exchange &exchange) {
  using Table = std::vector<Interval>;
  std::vector<Table> all;
  for (const DimExchange &dim : exchange.dims)
    all.push_back(dim.needed);
  for (auto [at, dim] : llvm::enumerate(exchange.dims)) {
    if (dim.owned.size() < 2)
      continue;
    Table before, behind;
    bool anyBefore = false, anyBehind = false;
    for (auto [owned, needed] : llvm::zip_equal(dim.owned, dim.needed)) {
      before.push_back({needed.begin, owned.begin});
      behind.push_back({owned.end, needed.end});
      anyBefore |= needed.begin < owned.begin;
      anyBehind |= owned.end < needed.end;
    }
    for (auto [any, table] :
         {std::pair(anyBefore, before), std::pair(anyBehind, behind)}) {
      if (!any)
        continue;
      exchange.parts.push_back(all);
      exchange.parts.back()[at] = table;
    }
  }
  return !exchange.parts.empty();
}

namespace {
struct LeaveBlocksPass final
    : shardc::impl::LeaveBlocksPassBase<LeaveBlocksPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!hasSites(module))
      return;
    FailureOr<shardrt::SiteTable> sites = readSites(module);
    if (failed(sites))
      return signalPassFailure();
    bool changed = false;
    for (RunSiteOp op : exchangesOfOneOp(module, *sites)) {
      shardrt::Site &site = sites->sites[op.getSite()];
      if (!site.exchange.parts.empty())
        continue;
      memref::AllocOp buffer = findWindowed(op);
      if (!buffer)
        continue;
      Value block = op.getInputs()[0];
      auto type = cast<MemRefType>(block.getType());
      std::optional<SmallVector<int64_t>> low =
          beginningOfBlock(site.exchange, type);
      if (!low || !leaveBlock(site.exchange))
        continue;
      changed = true;
      OpBuilder b(op);
      b.setInsertionPointAfter(op);
      SmallVector<OpFoldResult> offsets, sizes,
          ones(type.getRank(), b.getIndexAttr(1));
      for (auto [from, size] : llvm::zip_equal(*low, type.getShape())) {
        offsets.push_back(b.getIndexAttr(from));
        sizes.push_back(b.getIndexAttr(size));
      }
      Value box = memref::SubViewOp::create(b, op.getLoc(), buffer, offsets,
                                            sizes, ones);
      memref::CopyOp::create(b, op.getLoc(), block, box);
    }
    if (changed)
      updateSites(module, *sites);
  }
};
} // namespace

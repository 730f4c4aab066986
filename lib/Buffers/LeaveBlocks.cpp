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
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Support/ElementBytes.h"

namespace shardc {
#define GEN_PASS_DEF_LEAVEBLOCKSPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// Bytes of what `exchange` makes, on the rank that needs most; nothing where
/// that is open.
static std::optional<int64_t> bytesNeeded(const Exchange &exchange,
                                          MemRefType type) {
  int64_t bytes = elementBytes(type.getElementType());
  for (int64_t dim : llvm::seq(type.getRank())) {
    int64_t size = type.getDimSize(dim);
    if (ShapedType::isDynamic(size)) {
      size = -1;
      for (const DimExchange &other : exchange.dims)
        for (const Interval &needed : other.needed)
          if (other.dim == dim)
            size = std::max(size, needed.end - needed.begin);
      if (size < 0)
        return std::nullopt;
    }
    bytes *= size;
  }
  return bytes;
}

/// What `site` writes, if that is large and one reduction alone reads it.
static memref::AllocOp findWindowed(RunSiteOp site, const Exchange &exchange) {
  if (site.getInits().size() != 1 || site.getAccumulates())
    return {};
  auto buffer = site.getInits()[0].getDefiningOp<memref::AllocOp>();
  auto block = dyn_cast<MemRefType>(site.getInputs()[0].getType());
  if (!buffer || buffer->getBlock() != site->getBlock() || !block ||
      block.getRank() != buffer.getType().getRank() ||
      block.getNumDynamicDims() > 1 ||
      bytesNeeded(exchange, buffer.getType()).value_or(0) <=
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

/// True for a rank that has nothing along a dim, and needs nothing.
static bool isNothing(const Interval &owned, const Interval &needed) {
  return owned.begin >= owned.end && needed.begin >= needed.end;
}

/// Where each rank's block of `type` begins in what it needs, by dim; nothing
/// where that is not the same for all, or a block is not in what is needed.
static std::optional<SmallVector<int64_t>>
beginningOfBlock(const Exchange &exchange, MemRefType type) {
  SmallVector<int64_t> low(type.getRank(), 0);
  SmallVector<bool> isCut(type.getRank(), false);
  for (const DimExchange &dim : exchange.dims) {
    // What is bound later is said by formulas, and parts of it are not.
    if (dim.ownedFormula.isOpen() || dim.neededFormula.isOpen())
      return std::nullopt;
    std::optional<int64_t> first;
    for (auto [owned, needed] : llvm::zip_equal(dim.owned, dim.needed)) {
      if (isNothing(owned, needed))
        continue;
      int64_t here = owned.begin - needed.begin;
      if (owned.begin < needed.begin || owned.end > needed.end ||
          first.value_or(here) != here)
        return std::nullopt;
      first = here;
    }
    low[dim.dim] = first.value_or(0);
    isCut[dim.dim] = true;
  }
  for (int64_t dim : llvm::seq(type.getRank()))
    if (type.isDynamicDim(dim) && !isCut[dim])
      return std::nullopt;
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
      if (isNothing(owned, needed)) {
        before.push_back(needed);
        behind.push_back(needed);
        continue;
      }
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
      memref::AllocOp buffer = findWindowed(op, site.exchange);
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
      for (int64_t from : *low)
        offsets.push_back(b.getIndexAttr(from));
      for (int64_t dim : llvm::seq(type.getRank()))
        sizes.push_back(
            type.isDynamicDim(dim)
                ? memref::DimOp::create(b, op.getLoc(), block, dim).getResult()
                : OpFoldResult(b.getIndexAttr(type.getDimSize(dim))));
      Value box = memref::SubViewOp::create(b, op.getLoc(), buffer, offsets,
                                            sizes, ones);
      memref::CopyOp::create(b, op.getLoc(), block, box);
    }
    if (changed)
      updateSites(module, *sites);
  }
};
} // namespace

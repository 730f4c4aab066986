//===- PadInExchanges.cpp - Exchanges that pad what they receive ----------===//
//
// A window over a shard needs a halo in the dims that are cut and zeros in
// those that are not. What the exchange receives would be copied once more for
// the sake of these zeros: into the middle of a buffer whose edges are filled.
// An exchange fills what is outside the domain in any dim, so it can write
// the padded buffer itself.
//
//===----------------------------------------------------------------------===//
#include "UpdateSites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"

namespace shardc {
#define GEN_PASS_DEF_PADINEXCHANGESPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
/// What an exchange receives, and the padded buffer that gets a copy of it.
struct Padded {
  memref::AllocOp received, whole;
  memref::CopyOp copy;
  memref::SubViewOp box; ///< of `whole`, which `copy` writes
  linalg::FillOp fill;   ///< of all of `whole`, before that
};
} // namespace

/// The number that every element of `buffer` is; null if it is no constant.
static Attribute splatOf(Value buffer) {
  auto get = buffer.getDefiningOp<memref::GetGlobalOp>();
  auto global = get ? SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                          get, get.getNameAttr())
                    : memref::GlobalOp();
  auto value =
      global
          ? dyn_cast_or_null<DenseElementsAttr>(global.getConstantInitValue())
          : DenseElementsAttr();
  return value && value.isSplat() ? value.getSplatValue<Attribute>()
                                  : Attribute();
}

/// True if the runtime fills with what `fill` fills with.
static bool fillsAlike(RunSiteOp site, linalg::FillOp fill) {
  Attribute value;
  if (!matchPattern(fill.getInputs().front(), m_Constant(&value)))
    return false;
  if (site.getInputs().size() > 1)
    return splatOf(site.getInputs()[1]) == value;
  // Without an element of its own an exchange fills with bits of zero.
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isPosZero();
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getValue().isZero();
}

/// The copy that pads what `site` receives; nullopt if there is none, or if
/// anything else is done with either buffer before.
static std::optional<Padded> findPadded(RunSiteOp site) {
  Padded found;
  if (site.getInits().size() != 1 || site.getAccumulates())
    return std::nullopt;
  found.received = site.getInits()[0].getDefiningOp<memref::AllocOp>();
  if (!found.received || found.received->getBlock() != site->getBlock())
    return std::nullopt;
  for (OpOperand &use : found.received->getUses()) {
    auto copy = dyn_cast<memref::CopyOp>(use.getOwner());
    if (copy && !found.copy && use.get() == copy.getSource()) {
      found.copy = copy;
      continue;
    }
    // Dims that are padded have known sizes, and are not asked for.
    auto size = dyn_cast<memref::DimOp>(use.getOwner());
    std::optional<int64_t> dim =
        size ? size.getConstantIndex() : std::optional<int64_t>();
    if (use.getOwner() != site &&
        !(dim && found.received.getType().isDynamicDim(*dim)))
      return std::nullopt;
  }
  Block *block = site->getBlock();
  if (!found.copy || found.copy->getBlock() != block ||
      !site->isBeforeInBlock(found.copy))
    return std::nullopt;
  found.box = found.copy.getTarget().getDefiningOp<memref::SubViewOp>();
  found.whole = found.box
                    ? found.box.getSource().getDefiningOp<memref::AllocOp>()
                    : memref::AllocOp();
  if (!found.whole || found.whole->getBlock() != block ||
      !found.box.hasUnitStride() ||
      found.box.getType().getRank() != found.whole.getType().getRank())
    return std::nullopt;
  for (Operation *user : found.whole->getUsers()) {
    auto fill = dyn_cast<linalg::FillOp>(user);
    if (fill && !found.fill && fill->getBlock() == block &&
        fill->isBeforeInBlock(found.copy)) {
      found.fill = fill;
      continue;
    }
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (user != found.box &&
        (!ancestor || !found.copy->isBeforeInBlock(ancestor)))
      return std::nullopt;
  }
  for (Operation *user : found.box->getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (user != found.copy &&
        (!ancestor || !found.copy->isBeforeInBlock(ancestor)))
      return std::nullopt;
  }
  if (!found.fill || !fillsAlike(site, found.fill))
    return std::nullopt;
  return found;
}

/// True if dim `dim` of the padded buffer is as large as that of what is
/// received, whatever that is.
static bool isSameSize(Padded padded, int64_t dim) {
  MemRefType type = padded.received.getType(), whole = padded.whole.getType();
  if (!isZeroInteger(padded.box.getMixedOffsets()[dim]) ||
      type.isDynamicDim(dim) != whole.isDynamicDim(dim))
    return false;
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim) == whole.getDimSize(dim);
  Value size = padded.whole.getDynamicSizes()[whole.getDynamicDimIndex(dim)];
  auto known = size.getDefiningOp<memref::DimOp>();
  return size ==
             padded.received.getDynamicSizes()[type.getDynamicDimIndex(dim)] ||
         (known && known.getSource() == padded.received.getResult() &&
          known.getConstantIndex() == dim);
}

/// Makes `exchange` pad as the copy does; false, and nothing done, if it
/// cannot: what it pads must be whole in each rank.
static bool addPadding(Padded padded, Exchange &exchange) {
  MemRefType type = padded.received.getType(), whole = padded.whole.getType();
  if (!exchange.parts.empty() ||
      exchange.globalShape.size() != size_t(type.getRank()))
    return false;
  std::vector<DimExchange> added;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (isSameSize(padded, dim))
      continue;
    std::optional<int64_t> low =
        getConstantIntValue(padded.box.getMixedOffsets()[dim]);
    bool moves = llvm::any_of(exchange.dims, [&](const DimExchange &other) {
      return other.dim == dim;
    });
    int64_t size = type.getDimSize(dim);
    if (!low || moves || type.isDynamicDim(dim) || whole.isDynamicDim(dim) ||
        exchange.globalShape[dim] != size)
      return false;
    DimExchange &extra = added.emplace_back();
    extra.dim = dim;
    extra.owned = {{0, size}};
    extra.needed = {{-*low, whole.getDimSize(dim) - *low}};
  }
  if (added.empty())
    return false;
  llvm::append_range(exchange.dims, added);
  return true;
}

/// `site` writes the padded buffer, in place of the buffer that it received
/// into.
static void writePadded(RunSiteOp site, Padded padded) {
  OpBuilder builder(padded.received);
  auto whole = memref::AllocOp::create(
      builder, padded.whole.getLoc(), padded.whole.getType(),
      padded.received.getDynamicSizes(), padded.whole.getAlignmentAttr());
  padded.copy.erase();
  padded.fill.erase();
  site.getInitsMutable()[0].set(whole);
  if (padded.box->use_empty())
    padded.box.erase();
  SmallVector<memref::DimOp> sizes;
  for (Operation *user : padded.received->getUsers())
    sizes.push_back(cast<memref::DimOp>(user));
  padded.whole.replaceAllUsesWith(whole.getResult());
  padded.whole.erase();
  for (memref::DimOp size : sizes)
    size.getSourceMutable().set(whole);
  padded.received.erase();
}

namespace {
struct PadInExchangesPass final
    : shardc::impl::PadInExchangesPassBase<PadInExchangesPass> {
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
      std::optional<Padded> padded = findPadded(op);
      if (!padded || !addPadding(*padded, site.exchange))
        continue;
      writePadded(op, *padded);
      changed = true;
    }
    if (changed)
      updateSites(module, *sites);
  }
};
} // namespace

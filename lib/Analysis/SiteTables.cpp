//===- SiteTables.cpp - Sites between attributes and the runtime's table --===//
#include "shardc/Analysis/SiteTables.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/Local.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

// Both number kinds and reductions alike: the runtime has none for "none".
static_assert(int(SiteKind::Exchange) == int(shardrt::SiteKind::Exchange) &&
              int(SiteKind::AllReduce) == int(shardrt::SiteKind::AllReduce) &&
              int(SiteKind::ReduceScatter) ==
                  int(shardrt::SiteKind::ReduceScatter) &&
              int(SiteKind::RowPlan) == int(shardrt::SiteKind::RowPlan) &&
              int(SiteKind::GatherRows) == int(shardrt::SiteKind::GatherRows) &&
              int(SiteKind::ScatterRows) ==
                  int(shardrt::SiteKind::ScatterRows));

static shardrt::Reduction toRuntime(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return shardrt::Reduction::Sum;
  case ReductionKind::Product:
    return shardrt::Reduction::Product;
  case ReductionKind::Min:
    return shardrt::Reduction::Min;
  case ReductionKind::Max:
    return shardrt::Reduction::Max;
  case ReductionKind::And:
    return shardrt::Reduction::And;
  case ReductionKind::Or:
    return shardrt::Reduction::Or;
  case ReductionKind::Xor:
    return shardrt::Reduction::Xor;
  }
  llvm_unreachable("all kinds are listed");
}

bool shardc::hasSites(ModuleOp module) {
  // With sites and no table readSites says what is missing.
  return contract::Sites::has(module) || runsSites(module);
}

static std::vector<int64_t> toVector(DenseI64ArrayAttr numbers) {
  return numbers ? std::vector<int64_t>(numbers.asArrayRef().begin(),
                                        numbers.asArrayRef().end())
                 : std::vector<int64_t>();
}

static std::vector<DimExchange> toExchanges(ArrayAttr dims, MeshAttr mesh) {
  std::vector<DimExchange> list;
  if (dims)
    for (auto dim : dims.getAsRange<DimExchangeAttr>())
      list.push_back(dim.getExchange(mesh));
  return list;
}

static shardrt::Site toRuntime(SiteAttr attr, MeshAttr mesh) {
  auto textOf = [](StringAttr text) { return text ? text.str() : ""; };
  shardrt::Site site;
  site.kind = static_cast<shardrt::SiteKind>(attr.getKind());
  site.report = attr.getReport().str();
  site.type = *elementTypeOf(attr.getType());
  if (attr.getReduction())
    site.reduction = toRuntime(*attr.getReduction());
  site.name = textOf(attr.getName());
  site.location = textOf(attr.getLocation());
  site.inPlace = attr.getInPlace();
  site.releasedLater = attr.getReleasedLater();
  if (ArrayAttr group = attr.getGroup())
    for (auto axis : group.getAsRange<StringAttr>())
      site.groupAxes.push_back(mesh.getAxisIndex(axis));
  site.exchange.meshShape.assign(mesh.getAxisSizes().begin(),
                                 mesh.getAxisSizes().end());
  site.exchange.globalShape = toVector(attr.getShape());
  site.exchange.dims = toExchanges(attr.getDims(), mesh);
  if (ArrayAttr parts = attr.getParts())
    for (auto part : parts.getAsRange<ExchangePartAttr>())
      site.exchange.parts.push_back(part.getTables());
  if (SiteRowsAttr rows = attr.getRows()) {
    site.rows.vectorDim = rows.getVectorDim();
    site.rows.first = rows.getFirst();
    site.rows.gathers = rows.getGathers();
    site.rows.scatters = rows.getScatters();
    site.rows.components = toVector(rows.getComponents());
    site.rows.slices = toVector(rows.getSlices());
    site.rows.dims = toExchanges(rows.getDims(), mesh);
  }
  return site;
}

FailureOr<shardrt::SiteTable> shardc::readSites(ModuleOp module) {
  SiteTableAttr attr = contract::Sites::get(module);
  if (!attr)
    return module.emitError() << "module has no '" << contract::Sites::name()
                              << "'; run --spmd-lower-communication first";
  shardrt::SiteTable table;
  MeshAttr mesh = attr.getMesh();
  for (auto [name, size] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    table.axisNames.push_back(name.str());
    table.meshShape.push_back(size);
  }
  for (auto [i, site] :
       llvm::enumerate(attr.getSites().getAsRange<SiteAttr>())) {
    if (!elementTypeOf(site.getType()))
      return module.emitError()
             << "site " << i << " moves elements of type " << site.getType()
             << ", which the runtime cannot";
    table.sites.push_back(toRuntime(site, mesh));
  }
  WalkResult numbers = module.walk([&](Operation *op) {
    int64_t number = 0;
    if (auto run = dyn_cast<RunSiteOp>(op))
      number = run.getSite();
    else if (auto start = dyn_cast<StartSiteOp>(op))
      number = start.getSite();
    else if (auto release = dyn_cast<ReleaseSiteOp>(op))
      number = release.getSite();
    else
      return WalkResult::advance();
    if (number >= 0 && number < static_cast<int64_t>(table.sites.size()))
      return WalkResult::advance();
    op->emitOpError() << "is site " << number << ", but the module's '"
                      << contract::Sites::name() << "' has "
                      << table.sites.size();
    return WalkResult::interrupt();
  });
  if (numbers.wasInterrupted())
    return failure();
  return table;
}

BlockArgument shardc::argumentOf(RunSiteOp site) {
  Value input = site.getInputs().front();
  if (auto joined = input.getDefiningOp<memref::CollapseShapeOp>())
    input = joined.getSrc();
  auto argument = dyn_cast<BlockArgument>(input);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

std::optional<shardrt::ElementType> shardc::elementTypeOf(Type type) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
#define SHARDRT_MATCH(NAME, CODE, SPELLING, BYTES)                             \
  if (spelling == SPELLING)                                                    \
    return shardrt::ElementType::NAME;
  SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_MATCH)
#undef SHARDRT_MATCH
  return std::nullopt;
}

//===- UpdateSites.cpp - What passes on buffers decide of sites -----------===//
#include "UpdateSites.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/Local.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

void shardc::updateSites(ModuleOp module, const shardrt::SiteTable &table) {
  SiteTableAttr attr = contract::Sites::get(module);
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> sites;
  for (auto [old, site] :
       llvm::zip_equal(attr.getSites().getAsRange<SiteAttr>(), table.sites)) {
    ArrayAttr dims = old.getDims();
    if (dims && dims.size() < site.exchange.dims.size()) {
      SmallVector<Attribute> all(dims.getValue());
      for (const DimExchange &dim :
           llvm::drop_begin(site.exchange.dims, dims.size()))
        all.push_back(DimExchangeAttr::get(context, attr.getMesh(), dim));
      dims = ArrayAttr::get(context, all);
    }
    ArrayAttr parts = old.getParts();
    if (!parts && !site.exchange.parts.empty()) {
      SmallVector<Attribute> all;
      for (const auto &part : site.exchange.parts)
        all.push_back(ExchangePartAttr::get(context, part));
      parts = ArrayAttr::get(context, all);
    }
    sites.push_back(
        SiteAttr::get(context, old.getKind(), old.getReport(), old.getType(),
                      old.getReduction(), old.getName(), old.getLocation(),
                      site.inPlace, site.releasedLater, old.getGroup(),
                      old.getShape(), dims, parts, old.getRows()));
  }
  contract::Sites::set(module,
                       SiteTableAttr::get(context, attr.getMesh(),
                                          ArrayAttr::get(context, sites)));
}

SmallVector<RunSiteOp>
shardc::exchangesOfOneOp(ModuleOp module, const shardrt::SiteTable &table) {
  SmallVector<int> count(table.sites.size(), 0);
  SmallVector<RunSiteOp> ops;
  module.walk([&](RunSiteOp op) {
    ++count[op.getSite()];
    ops.push_back(op);
  });
  llvm::erase_if(ops, [&](RunSiteOp op) {
    const shardrt::Site &site = table.sites[op.getSite()];
    return site.kind != shardrt::SiteKind::Exchange || site.inPlace ||
           count[op.getSite()] != 1;
  });
  return ops;
}

//===- UpdateSites.h - What passes on buffers decide of sites ---*- C++ -*-===//
#ifndef SHARDC_LIB_BUFFERS_UPDATESITES_H
#define SHARDC_LIB_BUFFERS_UPDATESITES_H

#include "shardc/Analysis/SiteTables.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

namespace shardc {

/// Writes back what passes on buffers decide of each site: whether it is in
/// place, whether it is released later, dims that were added at the end, and
/// the parts of what it needs where it had none.
void updateSites(mlir::ModuleOp module, const shardrt::SiteTable &table);

/// Exchanges into a buffer of their own, of sites that are in the program once.
llvm::SmallVector<spmd::RunSiteOp>
exchangesOfOneOp(mlir::ModuleOp module, const shardrt::SiteTable &table);

} // namespace shardc

#endif // SHARDC_LIB_BUFFERS_UPDATESITES_H

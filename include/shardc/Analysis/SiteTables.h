//===- SiteTables.h - Sites as attributes and as tables ---------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_SITETABLES_H
#define SHARDC_ANALYSIS_SITETABLES_H

#include "mlir/IR/BuiltinOps.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardrt/ElementType.h"
#include "shardrt/Sites.h"

namespace shardc {

/// True if `module` has numbered sites.
bool hasSites(mlir::ModuleOp module);
/// The sites of `module` as the runtime reads them; emits an error if it has
/// none, or moves elements that the runtime cannot.
mlir::FailureOr<shardrt::SiteTable> readSites(mlir::ModuleOp module);
/// The runtime's code of an element type; nullopt if it has none.
std::optional<shardrt::ElementType> elementTypeOf(mlir::Type type);
/// The argument of a function that `site` reads, perhaps with dims joined; null
/// where it reads something else.
mlir::BlockArgument argumentOf(spmd::RunSiteOp site);

} // namespace shardc

#endif // SHARDC_ANALYSIS_SITETABLES_H

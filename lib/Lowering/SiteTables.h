//===- SiteTables.h - Site tables as attributes of a module -----*- C++ -*-===//
#ifndef SHARDC_LIB_LOWERING_SITETABLES_H
#define SHARDC_LIB_LOWERING_SITETABLES_H

#include "mlir/IR/BuiltinOps.h"
#include "shardrt/ElementType.h"
#include "shardrt/Sites.h"

namespace shardc {

/// The tables of all sites of a program, from `--spmd-lower-communication`
/// until the artifact holds them (runtime/include/shardrt/Sites.h).
inline constexpr llvm::StringLiteral kSiteWordsAttrName = "spmd.site_words";
inline constexpr llvm::StringLiteral kSiteStringsAttrName = "spmd.site_strings";

/// True if `module` has numbered sites.
bool hasSites(mlir::ModuleOp module);
/// Reads the tables of a module that has them; emits an error if they are
/// damaged.
mlir::FailureOr<shardrt::SiteTable> readSites(mlir::ModuleOp module);
/// The runtime's code of an element type; nullopt if it has none.
std::optional<shardrt::ElementType> elementTypeOf(mlir::Type type);
void writeSites(mlir::ModuleOp module, const shardrt::SiteTable &table);

} // namespace shardc

#endif // SHARDC_LIB_LOWERING_SITETABLES_H

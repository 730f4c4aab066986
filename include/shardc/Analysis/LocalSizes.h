//===- LocalSizes.h - Sizes of local dims, by rank --------------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_LOCALSIZES_H
#define SHARDC_ANALYSIS_LOCALSIZES_H

#include "mlir/IR/Value.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace shardc {

/// Returns how many elements dim `dim` of `value`, a tensor of the local view,
/// has on each rank of `mesh`; nullopt where the IR does not say. A static dim
/// is the same everywhere; a `?` is followed to the exchange, slice or lookup
/// that made it, through elementwise ops and loops.
std::optional<llvm::SmallVector<int64_t>>
getLocalSizes(mlir::Value value, int64_t dim, spmd::MeshAttr mesh);

/// Returns the axes of `mesh` along which that number differs, also where
/// sizes follow from what is bound; nullopt where the IR does not say.
std::optional<llvm::SetVector<mlir::StringAttr>>
getSizeAxes(mlir::Value value, int64_t dim, spmd::MeshAttr mesh);

/// Returns the elements of `value` on each rank of `mesh`, or nullopt;
/// INT64_MAX where there are more.
std::optional<llvm::SmallVector<int64_t>> getLocalElements(mlir::Value value,
                                                           spmd::MeshAttr mesh);

/// The same in the binding by which costs are estimated, where sizes follow
/// from what is bound.
std::optional<llvm::SmallVector<int64_t>>
estimateLocalElements(mlir::Value value, spmd::MeshAttr mesh);

} // namespace shardc

#endif // SHARDC_ANALYSIS_LOCALSIZES_H

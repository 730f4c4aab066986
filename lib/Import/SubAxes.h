//===- SubAxes.h - Parts of axes as axes of their own -----------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_SUBAXES_H
#define SHARDC_LIB_IMPORT_SUBAXES_H

#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "llvm/ADT/MapVector.h"
#include <set>

namespace shardc {

/// An axis that is used in parts is cut where any part begins or ends: "x" of 8
/// with parts `(1)2` and `(4)2` becomes "x.0"=2, "x.1"=2, "x.2"=2. Ranks keep
/// their row-major numbers.
class SubAxes {
public:
  /// Notes the parts that `axis` uses. Requires verified shardings.
  void use(sdy::AxisRefAttr axis);
  /// The mesh with cut axes; null, with a diagnostic, if parts overlap without
  /// one being made of the others.
  spmd::MeshAttr refine(sdy::MeshAttr mesh, mlir::MLIRContext *context,
                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
  /// Appends the axes of the refined mesh that `axis` stands for.
  void expand(sdy::AxisRefAttr axis, llvm::SmallVectorImpl<mlir::StringAttr> &axes) const;

private:
  struct Part {
    int64_t preSize, size;
    mlir::StringAttr name;
  };
  /// By axis name, where parts begin or end: products of sizes so far.
  llvm::MapVector<mlir::StringAttr, std::set<int64_t>> cuts;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<Part>> parts;
};

} // namespace shardc

#endif // SHARDC_LIB_IMPORT_SUBAXES_H

//===- MeshAxes.h - The axes that make all meshes of a module ---*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_MESHAXES_H
#define SHARDC_LIB_IMPORT_MESHAXES_H

#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include <set>

namespace shardc {

/// One mesh in the place of all that a module names. Ranks are the positions of
/// the first one, row-major. An axis that is used in parts, or that another
/// mesh cuts, is cut where any part begins or ends: "x" of 8 with parts `(1)2`
/// and
/// `(4)2` becomes "x.0"=2, "x.1"=2, "x.2"=2; beside a mesh "a"=2, "b"=4 it
/// becomes "x.0"=2, "x.1"=4, which are "a" and "b".
class MeshAxes {
public:
  /// Adds a mesh with axes. False if it is of another number of devices than
  /// one.
  bool add(sdy::MeshAttr mesh);
  /// The first one, of more than one device if there is such; null if there is
  /// none.
  sdy::MeshAttr getFirst() const { return first; }
  /// Notes the part of an axis of `mesh` that `axis` is. Requires verified
  /// shardings.
  void use(sdy::MeshAttr mesh, sdy::AxisRefAttr axis);
  /// The one mesh; null, with a diagnostic, if parts overlap without one being
  /// made of the others.
  spmd::MeshAttr
  refine(llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
  /// Appends the axes of the one mesh that `axis` of `mesh` stands for.
  void expand(sdy::MeshAttr mesh, sdy::AxisRefAttr axis,
              llvm::SmallVectorImpl<mlir::StringAttr> &axes) const;

private:
  /// Ranks of one axis, `size` of them, each `stride` behind the one before.
  struct Axis {
    int64_t size, stride;
    mlir::StringAttr name;
  };

  sdy::MeshAttr first;
  /// Strides at which some axis or part of one begins.
  std::set<int64_t> cuts;
  llvm::SmallVector<Axis> axes;
};

} // namespace shardc

#endif // SHARDC_LIB_IMPORT_MESHAXES_H

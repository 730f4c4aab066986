//===- Mesh.h - Ranks by their coordinates ----------------------*- C++ -*-===//
#ifndef SHARDC_LIB_INTERPRETER_MESH_H
#define SHARDC_LIB_INTERPRETER_MESH_H

#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Interpreter/Array.h"

namespace shardc::interpreter {

/// A mesh whose devices are numbered row-major.
struct Mesh {
  llvm::SmallVector<llvm::StringRef> names;
  Shape sizes;

  int64_t indexOf(llvm::StringRef name) const {
    return llvm::find(names, name) - names.begin();
  }
  /// How far apart in number two neighbours along `axis` are.
  int64_t stepOf(int64_t axis) const {
    int64_t step = 1;
    for (size_t later = axis + 1; later < sizes.size(); ++later)
      step *= sizes[later];
    return step;
  }
  int64_t coordinate(int64_t device, int64_t axis) const {
    return device / stepOf(axis) % sizes[axis];
  }
};

/// One of Shardy's, as it is written.
struct AxisMesh : Mesh {
  AxisMesh() = default;
  /// Of Shardy or of StableHLO.
  template <typename MeshAttr> explicit AxisMesh(MeshAttr attr) {
    for (auto axis : attr.getAxes()) {
      names.push_back(axis.getName());
      sizes.push_back(axis.getSize());
    }
  }
};

} // namespace shardc::interpreter

#endif // SHARDC_LIB_INTERPRETER_MESH_H

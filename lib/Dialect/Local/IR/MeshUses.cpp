//===- MeshUses.cpp - Axes that an op names -------------------------------===//
#include "MeshUses.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

SmallVector<StringAttr> spmd::axisNames(ArrayAttr axes) {
  return llvm::map_to_vector(
      axes, [](Attribute axis) { return cast<StringAttr>(axis); });
}

LogicalResult spmd::verifyAxes(Operation *op, FlatSymbolRefAttr meshName,
                               ArrayRef<StringAttr> axes,
                               SymbolTableCollection &symbols, MeshAttr &mesh) {
  auto meshOp = symbols.lookupNearestSymbolFrom<MeshOp>(op, meshName);
  if (!meshOp)
    return op->emitOpError() << "names unknown mesh " << meshName;
  mesh = meshOp.getMesh();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (mesh.getAxisIndex(axis.getValue()) < 0)
      return op->emitOpError() << "names axis \"" << axis.getValue()
                               << "\", but mesh " << meshName << " is " << mesh;
    if (llvm::is_contained(axes.take_front(i), axis))
      return op->emitOpError()
             << "names axis \"" << axis.getValue() << "\" twice";
  }
  return success();
}

int64_t spmd::countCoordinates(MeshAttr mesh, ArrayRef<StringAttr> axes) {
  int64_t count = 1;
  for (StringAttr axis : axes)
    count *= mesh.getAxisSize(axis.getValue());
  return count;
}

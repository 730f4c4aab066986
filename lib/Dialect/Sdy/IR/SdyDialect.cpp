//===- SdyDialect.cpp - The dialect and what ODS generates ----------------===//
#include "shardc/Dialect/Sdy/IR/Sdy.h"

#include "SdyBytecode.h"
#include "SdyText.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::sdy;

#include "shardc/Dialect/Sdy/IR/SdyDialect.cpp.inc"
#include "shardc/Dialect/Sdy/IR/SdyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Sdy/IR/SdyAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Sdy/IR/SdyOps.cpp.inc"

namespace {
/// Every op may move into a caller or a region of ours.
struct SdyInliner final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void SdyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Sdy/IR/SdyOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Sdy/IR/SdyAttrs.cpp.inc"
      >();
  addInterfaces<SdyInliner>();
  addBytecode(this);
}

Operation *SdyDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

MeshAxisAttr MeshAttr::getAxis(StringRef name) const {
  const MeshAxisAttr *axis = llvm::find_if(
      getAxes(), [&](MeshAxisAttr a) { return a.getName() == name; });
  return axis == getAxes().end() ? MeshAxisAttr() : *axis;
}

int64_t MeshAttr::getTotalSize() const {
  int64_t size = 1;
  for (MeshAxisAttr axis : getAxes())
    size *= axis.getSize();
  return size;
}

int64_t AxisRefAttr::getSize(MeshAttr mesh) const {
  if (getSubAxisInfo())
    return getSubAxisInfo().getSize();
  MeshAxisAttr axis = mesh.getAxis(getName());
  return axis ? axis.getSize() : 0;
}

MeshAttr TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto symbol = dyn_cast<FlatSymbolRefAttr>(getMeshOrRef());
  auto definition =
      symbol ? SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, symbol)
             : MeshOp();
  return definition ? definition.getMesh() : MeshAttr();
}

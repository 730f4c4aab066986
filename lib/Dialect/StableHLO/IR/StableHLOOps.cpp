//===- StableHLOOps.cpp - The dialect and what ODS generates --------------===//
#include "StableHLOBytecode.h"
#include "shardc/Dialect/StableHLO/IR/Precision.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

#include "AssemblyFormat.h"
#include "Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

#include "shardc/Dialect/StableHLO/IR/StableHLODialect.cpp.inc"
#include "shardc/Dialect/StableHLO/IR/StableHLOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOTypes.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"

namespace {
/// Every op may move into a caller or a region of ours.
struct StableHLOInliner final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
};
} // namespace

void StablehloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "shardc/Dialect/StableHLO/IR/StableHLOTypes.cpp.inc"
      >();
  addInterfaces<StableHLOInliner>();
  addBytecode(this);
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

//===- PairsDialect.cpp - The pairs dialect -----------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Pairs/IR/PairsDialect.cpp.inc"

void PairsDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Pairs/IR/PairsOps.cpp.inc"
      >();
}

#include "shardc/Dialect/Pairs/IR/PairsEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Pairs/IR/PairsAttributes.cpp.inc"

#include "shardc/Dialect/Pairs/IR/PairsInterfaces.cpp.inc"

void PairsDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Pairs/IR/PairsAttributes.cpp.inc"
      >();
}

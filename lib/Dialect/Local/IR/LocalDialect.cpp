//===- LocalDialect.cpp - The local dialect -----------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Local/IR/LocalDialect.cpp.inc"

void LocalDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Local/IR/LocalCommunication.cpp.inc"
      ,
#define GET_OP_LIST
#include "shardc/Dialect/Local/IR/LocalValues.cpp.inc"
      >();
}

Operation *LocalDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

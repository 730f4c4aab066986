//===- CheckOps.cpp - The check dialect -----------------------------------===//
#include "shardc/Dialect/Check/IR/Check.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::check;

#include "shardc/Dialect/Check/IR/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Check/IR/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Check/IR/CheckOps.cpp.inc"
      >();
}

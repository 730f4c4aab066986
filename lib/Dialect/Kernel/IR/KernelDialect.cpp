//===- KernelDialect.cpp - The kernel dialect ---------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Kernel/IR/KernelMatrices.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/Local.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Kernel/IR/KernelDialect.cpp.inc"

void KernelDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Kernel/IR/KernelLines.cpp.inc"
      ,
#define GET_OP_LIST
#include "shardc/Dialect/Kernel/IR/KernelMatrices.cpp.inc"
      ,
#define GET_OP_LIST
#include "shardc/Dialect/Kernel/IR/KernelSites.cpp.inc"
      >();
}

//===- InterpreterOps.cpp - The interpreter dialect -----------------------===//
#include "shardc/Dialect/Interpreter/IR/Interpreter.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

#include "shardc/Dialect/Interpreter/IR/InterpreterDialect.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Interpreter/IR/InterpreterOps.cpp.inc"

void InterpreterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Interpreter/IR/InterpreterOps.cpp.inc"
      >();
}

/// Older files name functions by strings.
static bool isName(Attribute attr) {
  return isa<FlatSymbolRefAttr, StringAttr>(attr);
}

LogicalResult RunParallelOp::verify() {
  size_t partitions = 0;
  for (Attribute row : getPrograms()) {
    auto names = dyn_cast<ArrayAttr>(row);
    if (!names || names.empty() || !llvm::all_of(names, isName))
      return emitOpError("has programs ")
             << getPrograms() << ", expected a list of names for each replica";
    if (partitions != 0 && names.size() != partitions)
      return emitOpError("has ")
             << names.size() << " programs in a replica, but " << partitions
             << " in the first";
    partitions = names.size();
  }
  if (partitions == 0)
    return emitOpError("has no program, expected at least one");
  if (getInfeed() && !llvm::all_of(*getInfeed(), isName))
    return emitOpError("has infeed ") << *getInfeed() << ", expected names";
  return success();
}
